"""Strings: joined, split, matched, converted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorkeep.dtypes import FLOAT32, INT32, STRING, DType
from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.graph.arguments import AxisLike, DTypeLike, TensorLike, emit
from tensorkeep.graph.building import chosen_name, graph_of, name_scope
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.shared.expressions import constant as number
from tensorkeep.ops.shared.expressions import minus, rank_of
from tensorkeep.ops.text import strings as string_ops
from tensorkeep.tf1.functions import composites  # noqa: F401 - so that sessions fetch and feed sparse tensors
from tensorkeep.tf1.functions.arrays.shapes import either
from tensorkeep.tf1.functions.constants import constant


def string_join(inputs: Sequence[Any], separator: str = "", name: str | None = None) -> Tensor:
    """Strings one after the other, element by element; scalars stretch."""
    return emit(string_ops.string_join, inputs, separator=separator, name=name)


def as_string(
    input: TensorLike,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Tensor:
    """Numbers as text."""
    attrs: dict[str, Any] = {"precision": precision, "scientific": scientific, "shortest": shortest}
    return emit(string_ops.as_string, input, width=width, fill=fill, name=name, **attrs)


def string_format(
    template: str,
    inputs: Tensor | Sequence[TensorLike],
    placeholder: str = "{}",
    summarize: int = 3,
    name: str | None = None,
) -> Tensor:
    """The template with a shortened text of a tensor for each placeholder."""
    if isinstance(inputs, Tensor):
        inputs = [inputs]
    count = template.count(placeholder)
    if count != len(inputs):
        raise InvalidArgumentError(
            f"The template expects {count} tensors, but the inputs only has {len(inputs)}. Please ensure the number "
            "of placeholders in template matches inputs length."
        )
    attrs: dict[str, Any] = {"template": template, "placeholder": placeholder, "summarize": summarize}
    return emit(string_ops.string_format, inputs, name=name, **attrs)


def regex_full_match(input: TensorLike, pattern: TensorLike, name: str | None = None) -> Tensor:
    """Whether strings match a pattern from beginning to end."""
    if isinstance(pattern, str | bytes):
        return emit(string_ops.static_regex_full_match, input, pattern=pattern, name=name)
    return emit(string_ops.regex_full_match, input, pattern, name=name)


def regex_replace(
    input: TensorLike, pattern: TensorLike, rewrite: TensorLike, replace_global: bool = True, name: str | None = None
) -> Tensor:
    """Strings in which what matches a pattern is rewritten, with \\1 and the like for its groups."""
    if isinstance(pattern, str | bytes) and isinstance(rewrite, str | bytes):
        static: dict[str, Any] = {"pattern": pattern, "rewrite": rewrite, "replace_global": replace_global}
        return emit(string_ops.static_regex_replace, input, name=name, **static)
    return emit(string_ops.regex_replace, input, pattern, rewrite, replace_global=replace_global, name=name)


def string_split(
    source: TensorLike,
    sep: TensorLike | None = None,
    skip_empty: bool = True,
    delimiter: TensorLike | None = None,
    result_type: str = "SparseTensor",
    name: str | None = None,
) -> SparseTensor:
    """A vector of strings, each split at any of the characters of `sep`, as a sparse matrix."""
    _check_result_type(result_type)
    with name_scope(chosen_name(name, "StringSplit"), graph_of([source])):
        mark = either("sep", sep, "delimiter", delimiter)
        mark = convert(" " if mark is None else mark, STRING)
        source = convert(source, STRING)
        return SparseTensor(*string_ops.string_split(source, mark, skip_empty=skip_empty))


def strings_split(
    input: TensorLike | None = None,
    sep: TensorLike | None = None,
    maxsplit: int = -1,
    result_type: str = "SparseTensor",
    source: TensorLike | None = None,
    name: str | None = None,
) -> SparseTensor:
    """A string or a vector of strings, each split at `sep` or at white space, as a sparse matrix."""
    input = either("input", input, "source", source)
    _check_result_type(result_type)
    with name_scope(chosen_name(name, "StringSplit"), graph_of([input])):
        input = convert(input, STRING, "input")
        if input.static_shape.rank == 0:
            input = emit("ExpandDims", input, 0)
        if input.static_shape.rank != 1:
            raise UnimplementedError("strings.split of more than a vector needs ragged tensors")
        mark = convert("" if sep is None else sep, STRING)
        return SparseTensor(*string_ops.string_split_v2(input, mark, maxsplit=maxsplit))


def _check_result_type(result_type: str) -> None:
    if result_type == "RaggedTensor":
        raise UnimplementedError("ragged tensors are not supported: ask for a SparseTensor")
    if result_type != "SparseTensor":
        raise InvalidArgumentError("result_type must be 'RaggedTensor' or 'SparseTensor'.")


def string_lower(input: TensorLike, encoding: str = "", name: str | None = None) -> Tensor:
    """Strings in small letters: those of ASCII, or of all alphabets with encoding "utf-8"."""
    return emit(string_ops.string_lower, input, encoding=encoding, name=name)


def string_upper(input: TensorLike, encoding: str = "", name: str | None = None) -> Tensor:
    """Strings in capital letters: those of ASCII, or of all alphabets with encoding "utf-8"."""
    return emit(string_ops.string_upper, input, encoding=encoding, name=name)


def string_strip(input: TensorLike, name: str | None = None) -> Tensor:
    """Strings without white space at either end."""
    return emit(string_ops.string_strip, input, name=name)


def string_length(input: TensorLike, name: str | None = None, unit: str = "BYTE") -> Tensor:
    """How long strings are, in bytes or, with unit "UTF8_CHAR", in characters."""
    return emit(string_ops.string_length, input, unit=unit, name=name)


def substr(input: TensorLike, pos: TensorLike, len: TensorLike, name: str | None = None, unit: str = "BYTE") -> Tensor:
    """A part of each string."""
    return emit(string_ops.substr, input, pos, len, unit=unit, name=name)


def reduce_join(
    inputs: TensorLike,
    axis: AxisLike = None,
    keep_dims: bool | None = None,
    separator: str = "",
    name: str | None = None,
    reduction_indices: AxisLike = None,
    keepdims: bool | None = None,
) -> Tensor:
    """Strings joined along axes, along all of them by default."""
    keepdims = either("keepdims", keepdims, "keep_dims", keep_dims)
    axis = either("axis", axis, "reduction_indices", reduction_indices)
    with name_scope("ReduceJoin", graph_of([inputs, axis])):
        inputs = convert(inputs)
        if axis is None:
            axis = _all_axes(inputs)
        attrs: dict[str, Any] = {"keep_dims": keepdims, "separator": separator}
        return emit(string_ops.reduce_join, inputs, axis, name=name, **attrs)


def _all_axes(inputs: Tensor) -> Tensor:
    rank = inputs.static_shape.rank
    if rank is not None:
        return constant(np.arange(rank - 1, -1, -1), INT32)
    start = minus(rank_of(inputs), 1)
    with name_scope("range") as scope:
        limit, step = number(-1, name="limit"), number(-1, name="delta")
        return emit("Range", start, limit, step, name=scope)


def unsorted_segment_join(
    inputs: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, separator: str = "", name: str | None = None
) -> Tensor:
    """Strings of each segment joined."""
    return emit(string_ops.unsorted_segment_join, inputs, segment_ids, num_segments, separator=separator, name=name)


def string_to_number(
    string_tensor: TensorLike | None = None,
    out_type: DTypeLike = FLOAT32,
    name: str | None = None,
    input: TensorLike | None = None,
) -> Tensor:
    """The numbers that strings state."""
    string_tensor = either("input", input, "string_tensor", string_tensor)
    return emit(string_ops.string_to_number, string_tensor, out_type=DType.of(out_type), name=name)


def string_to_hash_bucket(
    string_tensor: TensorLike | None = None,
    num_buckets: int | None = None,
    name: str | None = None,
    input: TensorLike | None = None,
) -> Tensor:
    """The bucket of each string, by a hash that may change."""
    string_tensor = either("input", input, "string_tensor", string_tensor)
    return emit(string_ops.string_to_hash_bucket, string_tensor, num_buckets=num_buckets, name=name)


def string_to_hash_bucket_fast(input: TensorLike, num_buckets: int, name: str | None = None) -> Tensor:
    """The bucket of each string, by a fast hash that will not change."""
    return emit(string_ops.string_to_hash_bucket_fast, input, num_buckets=num_buckets, name=name)


def string_to_hash_bucket_strong(
    input: TensorLike, num_buckets: int, key: Sequence[int], name: str | None = None
) -> Tensor:
    """The bucket of each string, by a keyed hash that nobody can steer who does not know the key."""
    return emit(string_ops.string_to_hash_bucket_strong, input, num_buckets=num_buckets, key=key, name=name)


def encode_base64(input: TensorLike, pad: bool = False, name: str | None = None) -> Tensor:
    """Strings in base64, with the alphabet that is safe in addresses."""
    return emit(string_ops.encode_base64, input, pad=pad, name=name)


def decode_base64(input: TensorLike, name: str | None = None) -> Tensor:
    """What strings in base64 stand for, with the alphabet that is safe in addresses, padded or not."""
    return emit(string_ops.decode_base64, input, name=name)


__all__ = [
    "as_string",
    "decode_base64",
    "encode_base64",
    "reduce_join",
    "regex_full_match",
    "regex_replace",
    "string_format",
    "string_join",
    "string_length",
    "string_lower",
    "string_split",
    "string_strip",
    "string_to_hash_bucket",
    "string_to_hash_bucket_fast",
    "string_to_hash_bucket_strong",
    "string_to_number",
    "string_upper",
    "strings_split",
    "substr",
    "unsorted_segment_join",
]
