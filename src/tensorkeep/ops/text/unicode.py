"""Text as characters: decoded, encoded, transcoded, and by script."""

from __future__ import annotations

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import op
from tensorkeep.ops.ragged.rows import checked_splits, splits_of
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.shared.shape_rules import same, with_rank
from tensorkeep.ops.text._encodings import Decoded, check_replacement, codec_of, decode_all, encode, is_character
from tensorkeep.ops.text._unicode_scripts import scripts
from tensorkeep.shapes import Shape

_ERRORS = (
    "errors: {'strict', 'replace', 'ignore'} = 'replace'",
    "replacement_char: int = 65533",
    "replace_control_characters: bool = false",
)
_VECTOR = Shape((None,))


def _replace_malformed(
    found: Decoded, replacement: int, replace_control_characters: bool, ignore: bool
) -> tuple[list[int], list[int]]:
    """The characters and where they start; what is malformed, or to be replaced, is replaced or left out."""
    code_points, starts = found.code_points, found.starts
    if not found.malformed and not (replace_control_characters and any(c < 0x20 for c in code_points)):
        return code_points, starts
    wrong = [i in found.malformed or (replace_control_characters and c < 0x20) for i, c in enumerate(code_points)]
    if not ignore:
        return [replacement if bad else c for c, bad in zip(code_points, wrong, strict=True)], starts
    kept = [i for i, bad in enumerate(wrong) if not bad]
    return [code_points[i] for i in kept], [starts[i] for i in kept]


def _malformed_error() -> InvalidArgumentError:
    return InvalidArgumentError("Invalid formatting on input string")


# ------------------------------------------------------------------------------------------------- Decoding

unicode_decode = op(
    "UnicodeDecode(input: string) -> row_splits: Tsplits, char_values: int32",
    "input_encoding: string",
    *_ERRORS,
    "Tsplits: {int32, int64} = int64",
)
unicode_decode_with_offsets = op(
    "UnicodeDecodeWithOffsets(input: string) -> row_splits: Tsplits, char_values: int32, char_to_byte_starts: int64",
    "input_encoding: string",
    *_ERRORS,
    "Tsplits: {int32, int64} = int64",
)


def _row_splits(input: Tensor) -> Shape:
    count = input.static_shape.element_count()
    return Shape((None if count is None else count + 1,))


@unicode_decode.shape
def unicode_decode_shape(input: Tensor) -> tuple[Shape, Shape]:
    return _row_splits(input), _VECTOR


@unicode_decode_with_offsets.shape
def unicode_decode_with_offsets_shape(input: Tensor) -> tuple[Shape, Shape, Shape]:
    return _row_splits(input), _VECTOR, _VECTOR


@unicode_decode_with_offsets.kernel
def unicode_decode_with_offsets_kernel(
    input: Array,
    *,
    input_encoding: bytes,
    errors: bytes,
    replacement_char: int,
    replace_control_characters: bool,
    Tsplits: DType,  # noqa: N803
) -> tuple[Array, Array, Array]:
    codec, replacement = codec_of(input_encoding), check_replacement(replacement_char)
    code_points: list[int] = []
    starts: list[int] = []
    lengths: list[int] = []
    for found in decode_all(np.asarray(input, object).reshape(-1).tolist(), codec):
        if found.malformed and errors == b"strict":
            raise _malformed_error()
        row, places = _replace_malformed(found, replacement, replace_control_characters, errors == b"ignore")
        code_points += row
        starts += places
        lengths.append(len(row))
    return splits_of(lengths, Tsplits.array_dtype), np.array(code_points, np.int32), np.array(starts, np.int64)


@unicode_decode.kernel
def unicode_decode_kernel(
    input: Array,
    *,
    input_encoding: bytes,
    errors: bytes,
    replacement_char: int,
    replace_control_characters: bool,
    Tsplits: DType,  # noqa: N803
) -> tuple[Array, Array]:
    splits, code_points, _ = unicode_decode_with_offsets_kernel(
        input,
        input_encoding=input_encoding,
        errors=errors,
        replacement_char=replacement_char,
        replace_control_characters=replace_control_characters,
        Tsplits=Tsplits,
    )
    return splits, code_points


# ------------------------------------------------------------------------------------------------- Encoding

unicode_encode = op(
    "UnicodeEncode(input_values: int32, input_splits: Tsplits) -> output: string",
    "errors: {'ignore', 'replace', 'strict'} = 'replace'",
    "output_encoding: {'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}",
    "replacement_char: int = 65533",
    "Tsplits: {int32, int64} = int64",
)


@unicode_encode.shape
def unicode_encode_shape(input_values: Tensor, input_splits: Tensor) -> Shape:
    with_rank(input_values, 1)
    count = with_rank(input_splits, 1)[0]
    if count == 0:
        raise InvalidArgumentError("Dimension size, given by the splits, must be at least 1 but is 0")
    return Shape((None if count is None else count - 1,))


@unicode_encode.kernel
def unicode_encode_kernel(
    input_values: Array, input_splits: Array, *, errors: bytes, output_encoding: bytes, replacement_char: int
) -> Array:
    replacement = check_replacement(replacement_char)
    splits = checked_splits(input_splits, len(input_values), "input_splits").tolist()
    found = []
    for c in input_values.tolist():
        if is_character(c):
            found.append(c)
        elif errors == b"strict":
            raise InvalidArgumentError("Code point is out of range for Unicode, or a noncharacter.")
        else:
            found.append(replacement if errors == b"replace" else -1)
    output = np.empty(len(splits) - 1, object)
    for row in range(len(output)):
        output[row] = encode([c for c in found[splits[row] : splits[row + 1]] if c >= 0], output_encoding)
    return output


# ---------------------------------------------------------------------------------------------- Transcoding

unicode_transcode = op(
    "UnicodeTranscode(input: string) -> output: string",
    "input_encoding: string",
    "output_encoding: {'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}",
    *_ERRORS,
)
unicode_transcode.shape(same)


@unicode_transcode.kernel
def unicode_transcode_kernel(
    input: Array,
    *,
    input_encoding: bytes,
    output_encoding: bytes,
    errors: bytes,
    replacement_char: int,
    replace_control_characters: bool,
) -> Array:
    codec, replacement = codec_of(input_encoding), check_replacement(replacement_char)
    texts = np.asarray(input, object)
    output = np.empty(texts.size, object)
    for i, found in enumerate(decode_all(texts.reshape(-1).tolist(), codec)):
        if errors == b"strict":
            is_control = replace_control_characters and any(c < 0x20 for c in found.code_points)
            if found.malformed or is_control:
                raise _malformed_error()
        row, _ = _replace_malformed(found, replacement, replace_control_characters, errors == b"ignore")
        output[i] = encode(row, output_encoding)
    return output.reshape(texts.shape)


# --------------------------------------------------------------------------------------------------- Scripts

unicode_script = op("UnicodeScript(input: int32) -> output: int32")
unicode_script.shape(same)


@unicode_script.kernel
def unicode_script_kernel(input: Array) -> Array:
    return scripts(np.asarray(input))
