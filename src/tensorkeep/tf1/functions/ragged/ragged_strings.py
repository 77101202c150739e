"""Text in rows: split into words, bytes and characters, encoded again, and in runs of words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorkeep.dtypes import INT32, STRING
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import TensorLike, emit
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.text import ngrams as ngram_ops
from tensorkeep.ops.text import strings as string_ops
from tensorkeep.ops.text import unicode as unicode_ops
from tensorkeep.tf1.functions.arrays import shapes
from tensorkeep.tf1.functions.arrays.shapes import either, reshape, scope_of
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.parsing import strings
from tensorkeep.tf1.functions.ragged.arrays import expand_dims
from tensorkeep.tf1.functions.ragged.factories import map_flat_values
from tensorkeep.tf1.functions.ragged.ragged_tensor import (
    RaggedLike,
    RaggedTensor,
    Values,
    as_ragged,
    as_ragged_or_tensor,
)


def _rows_of(sparse: SparseTensor) -> RaggedTensor:
    """The rows of a sparse matrix that is filled from the left."""
    rows, count = sparse.indices[:, 0], sparse.dense_shape[0]
    return RaggedTensor.from_value_rowids(sparse.values, rows, count, validate=False)


# --------------------------------------------------------------------------------------------------- Splitting


def bytes_split(input: RaggedLike, name: str | None = None) -> Values:
    """The bytes of each string."""
    with scope_of(name, "StringsByteSplit", input):
        input = as_ragged_or_tensor(input, name="input")
        if isinstance(input, RaggedTensor):
            return input.with_flat_values(bytes_split(input.flat_values))
        rank = input.static_shape.rank
        if rank is None:
            raise InvalidArgumentError("input must have a statically-known rank.")
        if rank == 0:
            return bytes_split(shapes.stack([input]))[0]
        if rank > 1:
            return bytes_split(RaggedTensor.from_tensor(input))
        indices, values, shape = string_ops.string_split(input, "", skip_empty=False)
        return RaggedTensor.from_value_rowids(values, indices[:, 0], shape[0], validate=False)


def _sparse_split(input: Tensor, sep: Any, maxsplit: int) -> SparseTensor:
    mark = convert("" if sep is None else sep, STRING)
    return SparseTensor(*string_ops.string_split_v2(input, mark, maxsplit=maxsplit))


def _ragged_split(input: Any, sep: Any, maxsplit: int, name: str | None = None) -> Any:
    with scope_of(name, "StringSplit", input):
        input = as_ragged_or_tensor(input, STRING, name="input")
        if isinstance(input, RaggedTensor):
            return input.with_flat_values(_ragged_split(input.flat_values, sep, maxsplit))
        rank = input.static_shape.rank
        if rank == 0:
            return _ragged_split(shapes.stack([input]), sep, maxsplit)[0]
        if rank is not None and rank > 1:
            return _ragged_split(RaggedTensor.from_tensor(input), sep, maxsplit)
        return _rows_of(_sparse_split(input, sep, maxsplit))


def strings_split(
    input: RaggedLike | None = None,
    sep: TensorLike | None = None,
    maxsplit: int = -1,
    result_type: str = "SparseTensor",
    source: RaggedLike | None = None,
    name: str | None = None,
) -> Values | SparseTensor:
    """Strings, each split at `sep` or at white space, as a sparse or as a ragged tensor."""
    input = either("input", input, "source", source)
    with scope_of(name, "StringSplit", input):
        given: Any = input
        text: Any = as_ragged_or_tensor(given, STRING, name="input")
        if text.shape.rank == 0:
            text = shapes.expand_dims(text, 0)
        if result_type == "RaggedTensor":
            found: Values | SparseTensor = _ragged_split(text, sep, maxsplit)
            return found
        _check_result_type(result_type)
        if text.shape.rank == 1:
            return _sparse_split(text, sep, maxsplit)
        return as_ragged(_ragged_split(text, sep, maxsplit)).to_sparse()


def string_split(
    source: TensorLike,
    sep: TensorLike | None = None,
    skip_empty: bool = True,
    delimiter: TensorLike | None = None,
    result_type: str = "SparseTensor",
    name: str | None = None,
) -> Values | SparseTensor:
    """A vector of strings, each split at any of the characters of `sep`, as a sparse or as a ragged tensor."""
    with scope_of(name, "StringSplit", source):
        mark = either("sep", sep, "delimiter", delimiter)
        mark = convert(" " if mark is None else mark, STRING)
        sparse = SparseTensor(*string_ops.string_split(convert(source, STRING), mark, skip_empty=skip_empty))
        if result_type == "RaggedTensor":
            return _rows_of(sparse)
        _check_result_type(result_type)
        return sparse


def _check_result_type(result_type: str) -> None:
    if result_type != "SparseTensor":
        raise InvalidArgumentError("result_type must be 'RaggedTensor' or 'SparseTensor'.")


# -------------------------------------------------------------------------------------------------- Characters


def unicode_script(input: TensorLike, name: str | None = None) -> Tensor:
    """The script of each character, by its number in ICU."""
    return emit(unicode_ops.unicode_script, input, name=name)


def unicode_transcode(
    input: TensorLike,
    input_encoding: str,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Tensor:
    """Strings in another encoding."""
    attrs: dict[str, Any] = {"errors": errors, "replacement_char": replacement_char}
    return emit(
        unicode_ops.unicode_transcode,
        input,
        input_encoding=input_encoding,
        output_encoding=output_encoding,
        replace_control_characters=replace_control_characters,
        name=name,
        **attrs,
    )


def unicode_encode(
    input: RaggedLike,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    name: str | None = None,
) -> Values:
    """The strings that the characters of the last dimension make."""
    with scope_of(name, "UnicodeEncode", input):
        tensor = as_ragged_or_tensor(input)
        rank = tensor.shape.rank
        if rank is None:
            raise InvalidArgumentError("Rank of input_tensor must be statically known.")
        if rank == 0:
            raise InvalidArgumentError("input_tensor's rank must be at least 1.")
        options = (output_encoding, errors, replacement_char)
        if isinstance(tensor, RaggedTensor):
            found: Values = _encode_rows(tensor, options)
            return found
        if rank == 2:
            return unicode_encode(RaggedTensor.from_tensor(tensor), *options)
        if rank > 2:
            flat = reshape(tensor, shapes.stack([-1, shape_of(tensor)[-1]]))
            return reshape(unicode_encode(flat, *options), tensor.shape[:-1])
        splits = shapes.stack([0, shape_of(tensor, out_type=INT32)[0]])
        rows = RaggedTensor.from_row_splits(tensor, splits, validate=False)
        return reshape(unicode_encode(rows, *options), [])


def _encode_rows(tensor: RaggedTensor, options: tuple[str, str, int]) -> Any:
    if (tensor.flat_values.static_shape.rank or 1) > 1:
        return tensor.with_flat_values(unicode_encode(tensor.flat_values, *options))
    if tensor.ragged_rank > 1:
        return tensor.with_values(unicode_encode(tensor.values, *options))
    encoding, errors, replacement = options
    attrs: dict[str, Any] = {"output_encoding": encoding, "errors": errors, "replacement_char": replacement}
    return unicode_ops.unicode_encode(tensor.values, tensor.row_splits, **attrs)


def _decode_characters(input: Any, attrs: dict[str, Any], with_offsets: bool) -> tuple[Any, Any]:
    """The characters of strings, and the bytes that they start at if these are asked for."""
    input = as_ragged_or_tensor(input, name="input")
    rank = input.shape.rank
    if rank is None:
        raise InvalidArgumentError("Rank of `input` must be statically known.")
    if rank > 1:
        if not isinstance(input, RaggedTensor):
            input = RaggedTensor.from_tensor(input, ragged_rank=rank - 1)
        elif input.ragged_rank < rank - 1:
            deeper = rank - input.ragged_rank - 1
            input = input.with_flat_values(RaggedTensor.from_tensor(input.flat_values, ragged_rank=deeper))
    flat = reshape(input.flat_values if isinstance(input, RaggedTensor) else input, [-1])
    op = unicode_ops.unicode_decode_with_offsets if with_offsets else unicode_ops.unicode_decode
    result = op(flat, **attrs)

    def rows(values: Any) -> Any:
        if rank == 0:
            return values
        made = RaggedTensor.from_row_splits(values, result.row_splits, validate=False)
        return input.with_flat_values(made) if rank > 1 else made

    characters = rows(result.char_values)
    return characters, rows(result.char_to_byte_starts) if with_offsets else None


def _decoding(encoding: str, errors: str, replacement: int, replace_control: bool = False) -> dict[str, Any]:
    return {
        "input_encoding": encoding,
        "errors": errors,
        "replacement_char": replacement,
        "replace_control_characters": replace_control,
    }


def unicode_decode(
    input: RaggedLike,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Values:
    """The characters of each string, as numbers."""
    with scope_of(name, "UnicodeDecode", input):
        attrs = _decoding(input_encoding, errors, replacement_char, replace_control_characters)
        found: Values = _decode_characters(input, attrs, False)[0]
        return found


def unicode_decode_with_offsets(
    input: TensorLike,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The characters of each string, as numbers, and the bytes that they start at."""
    with scope_of(name, "UnicodeDecodeWithOffsets", input):
        attrs = _decoding(input_encoding, errors, replacement_char, replace_control_characters)
        return _decode_characters(input, attrs, True)


def unicode_split(
    input: TensorLike,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    name: str | None = None,
) -> Values:
    """The characters of each string, as strings."""
    with scope_of(name, "UnicodeSplit", input):
        characters, _ = _decode_characters(input, _decoding(input_encoding, errors, replacement_char), False)
        return unicode_encode(expand_dims(characters, -1), input_encoding, errors, replacement_char)


def unicode_split_with_offsets(
    input: TensorLike,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The characters of each string, as strings, and the bytes that they start at."""
    with scope_of(name, "UnicodeSplitWithOffsets", input):
        characters, offsets = _decode_characters(input, _decoding(input_encoding, errors, replacement_char), True)
        return unicode_encode(expand_dims(characters, -1), input_encoding, errors, replacement_char), offsets


# --------------------------------------------------------------------------------------------------- Runs of words


def ngrams(
    data: RaggedLike,
    ngram_width: int | Sequence[int],
    separator: str = " ",
    pad_values: str | bytes | tuple[str, str] | None = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> Values:
    """All runs of `ngram_width` neighbouring strings of each row, joined with a separator."""
    with scope_of(name, "StringNGrams", data):
        left, right = _paddings(pad_values)
        if padding_width is not None and padding_width < 1:
            raise InvalidArgumentError("padding_width must be greater than 0.")
        if padding_width is not None and pad_values is None:
            raise InvalidArgumentError("pad_values must be provided if padding_width is set.")
        data = as_ragged_or_tensor(data, STRING, name="data")
        options = (ngram_width, separator, pad_values, padding_width, preserve_short_sequences, name)
        dense_shape = None
        if isinstance(data, Tensor):
            dense_shape = shapes.concat([shape_of(data)[:-1], [-1]], axis=0)
            rank = data.static_shape.rank
            if not rank:
                raise InvalidArgumentError("Rank of data must be known, and be greater than 0.")
            if rank == 1:
                return ngrams(RaggedTensor.from_row_starts(data, [0], validate=False), *options)[0]
            data = RaggedTensor.from_tensor(data, ragged_rank=rank - 1)
        if data.ragged_rank > 1:
            output = data.with_values(ngrams(data.values, *options))
        else:
            width = 0 if pad_values is None else -1 if padding_width is None else padding_width
            output = _row_ngrams(data, ngram_width, separator, (left, right, width), preserve_short_sequences)
        return output if dense_shape is None else reshape(output.flat_values, dense_shape)


def _row_ngrams(data: RaggedTensor, width: Any, separator: str, pads: tuple[str, str, int], short: bool) -> Any:
    widths = list(width) if isinstance(width, list | tuple) else [width]
    if any(one < 1 for one in widths):
        raise InvalidArgumentError(f"All ngram_widths must be greater than 0. Got {width}")
    attrs: dict[str, Any] = {"left_pad": pads[0], "right_pad": pads[1], "pad_width": pads[2]}
    found, splits = ngram_ops.string_ngrams(
        data.flat_values,
        data.row_splits,
        separator=separator,
        ngram_widths=widths,
        preserve_short_sequences=short,
        **attrs,
    )
    return RaggedTensor.from_row_splits(found, splits, validate=False)


def _paddings(pad_values: Any) -> tuple[Any, Any]:
    if pad_values is None:
        return "", ""
    left, right = pad_values if isinstance(pad_values, list | tuple) else (pad_values, pad_values)
    if not isinstance(left, str | bytes) or not isinstance(right, str | bytes):
        raise WrongTypeError("pad_values must be a string, tuple of strings, or None.")
    return left, right


def string_join(inputs: Sequence[RaggedLike], separator: str = "", name: str | None = None) -> RaggedTensor:
    """Ragged tensors of strings of one shape, joined element by element."""
    with scope_of(name, "RaggedStringJoin", *inputs):
        return as_ragged(map_flat_values(strings.string_join, inputs, separator))


__all__ = [
    "bytes_split",
    "ngrams",
    "string_split",
    "strings_split",
    "unicode_decode",
    "unicode_decode_with_offsets",
    "unicode_encode",
    "unicode_script",
    "unicode_split",
    "unicode_split_with_offsets",
    "unicode_transcode",
]
