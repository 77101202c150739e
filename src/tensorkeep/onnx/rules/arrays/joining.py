"""Values put together and taken apart along an axis: Pack, Concat, Split, DynamicStitch and their like."""

from __future__ import annotations

import numpy as np

from tensorkeep.dtypes import BOOL, INT32, INT64, STRING
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.arrays.shapes import filled_array
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.size_vectors import Part, axes_of, computed_size, counted_indices, reshaped_value, vector
from tensorkeep.onnx.terms import Term


def known_axis(to: OnnxGraph, axis: Term, term: Term) -> int:
    """An axis that must be known before the model runs, counted from the front if the rank is known."""
    found = int(to.known_array(axis, "its axis").reshape(-1)[0])
    if found < 0 and (term.is_complex or term.rank is not None):
        found += to.known_rank(term)
    return found


@rule("Pack", takes_complex=True)
def pack(to: OnnxGraph, values: list[Term], *, axis: int) -> Term:
    if values[0].is_complex and axis < 0:
        axis += to.known_rank(values[0]) + 1
    return to.concat([to.unsqueeze(term, [axis]) for term in values], axis)


@rule("Unpack", takes_complex=True)
def unpack(to: OnnxGraph, value: Term, *, num: int, axis: int) -> list[list[Term]]:
    if value.is_complex and axis < 0:
        axis += to.known_rank(value)
    if to.model.is_for_engine and value.size(axis) is None:
        to.refuse("it is not known whether it has as many parts")
    if not num:
        to.refuse("it has no outputs")
    if num == 1:
        return [[to.squeeze(value, [axis])]]
    return [[to.node("Gather", value, to.constant(place), axis=axis) for place in range(num)]]


@rule("ConcatV2", takes_complex=True)
def concat_v2(to: OnnxGraph, values: list[Term], axis: Term) -> Term:
    return to.concat(values, known_axis(to, axis, values[0]))


@rule("Concat", takes_complex=True)
def concat(to: OnnxGraph, concat_dim: Term, values: list[Term]) -> Term:
    return to.concat(values, known_axis(to, concat_dim, values[0]))


@rule("ParallelConcat", takes_complex=True)
def parallel_concat(to: OnnxGraph, values: list[Term]) -> Term:
    return to.concat(values, 0)


@rule("Split", takes_complex=True)
def split(to: OnnxGraph, split_dim: Term, value: Term, *, num_split: int) -> list[list[Term]]:
    """Equal parts along an axis. Their sizes are written out: ONNX Runtime fails without them on empty values."""
    axis = known_axis(to, split_dim, value)
    size = value.size(axis)
    if num_split == 1:
        return [[value]]
    if size is not None:
        return [list(to.split(value, [size // num_split] * num_split, axis))]
    each = to.node("Div", to.shape(value, axis, axis + 1), to.constant(num_split))
    sizes = to.node("Expand", each, to.constant(np.array([num_split])))
    return [list(to.node_with_outputs("Split", [value, sizes], num_split, attrs={"axis": axis}))]


@rule("SplitV", takes_complex=True)
def split_v(to: OnnxGraph, value: Term, size_splits: Term, split_dim: Term, *, num_split: int) -> list[list[Term]]:
    axis = known_axis(to, split_dim, value)
    whole = value.size(axis)
    sizes = None if size_splits.array is None else [int(size) for size in size_splits.array]
    if sizes is not None and whole is not None:
        rest = whole - sum(size for size in sizes if size != -1)
        return [list(to.split(value, [rest if size == -1 else size for size in sizes], axis))]
    if sizes is not None and -1 not in sizes:
        return [list(to.split(value, sizes, axis))]
    own: Part = to.shape(value, axis, axis + 1) if whole is None else whole
    if sizes is not None:
        rest_size = computed_size(to, "Sub", own, sum(size for size in sizes if size != -1))
        given = vector(to, [rest_size if size == -1 else size for size in sizes])
    else:
        given = _open_size_found(to, to.cast(size_splits, INT64), vector(to, [own]))
    if num_split == 1:
        return [[value]]
    return [list(to.node_with_outputs("Split", [value, given], num_split, attrs={"axis": axis}))]


def _open_size_found(to: OnnxGraph, sizes: Term, whole: Term) -> Term:
    """Sizes of parts, with what is left in the place of the one that is -1."""
    rest = to.node("Sub", whole, to.node("Add", to.reduce("ReduceSum", sizes, [0]), to.constant(1)))
    is_open = to.node("Equal", sizes, to.constant(-1), dtype=BOOL)
    return to.node("Where", is_open, rest, sizes, dtype=INT64)


# ---------------------------------------------------------------------------------------------------- By index


def as_rows(to: OnnxGraph, data: Term, outer: int) -> Term:
    """A value with its first axes made one."""
    rank = to.known_rank(data)
    if outer == 1:
        return data
    if outer == 0:
        return to.unsqueeze(data, [0])
    return reshaped_value(to, data, [-1, *axes_of(data, outer)]) if rank > outer else to.reshape(data, [-1])


def as_vector(to: OnnxGraph, places: Term) -> Term:
    """Indices of any shape in one axis."""
    return places if places.rank == 1 else to.reshape(places, [-1])


@rule("DynamicPartition", takes_complex=True)
def dynamic_partition(to: OnnxGraph, data: Term, partitions: Term, *, num_partitions: int) -> list[list[Term]]:
    if to.model.is_for_engine:
        to.refuse("numbers of parts that are not there are not found out")
    rows = as_rows(to, data, to.known_rank(partitions))
    places = as_vector(to, partitions)
    if places.array is not None:
        found = [np.flatnonzero(places.array == number) for number in range(num_partitions)]
        return [[to.node("Gather", rows, chosen, axis=0) for chosen in found]]
    return [
        [
            to.node("Compress", rows, to.node("Equal", places, to.constant(number, INT32), dtype=BOOL), axis=0)
            for number in range(num_partitions)
        ]
    ]


@rule("DynamicStitch", "ParallelDynamicStitch", takes_complex=True)
def dynamic_stitch(to: OnnxGraph, indices: list[Term], data: list[Term]) -> Term:
    """For each row of the result, the last of the given rows that is to go there; zeros where there is none.

    Which row that is, is found first: ONNX leaves open what is written twice to one place.
    """
    rows = to.concat([as_rows(to, term, to.known_rank(places)) for places, term in zip(indices, data, strict=True)], 0)
    known = [places.array for places in indices if places.array is not None]
    if len(known) == len(indices):
        return _stitched_rows(to, rows, np.concatenate([places.reshape(-1) for places in known]), data[0], indices[0])
    if to.model.is_for_engine:
        to.refuse("indices below zero are not found out")
    places = to.concat([as_vector(to, term) for term in indices], 0)
    one = to.constant(np.array([1], np.int32))
    last = to.reduce("ReduceMax", to.concat([places, to.constant(np.array([-1], np.int32))], 0), [0], keepdims=True)
    count = to.node("Add", last, one)
    nowhere = filled_array(to, to.cast(count, INT64), to.constant(-1))
    total = to.shape(places)
    reduction = "max" if to.opset >= 18 else None
    source = to.node("ScatterElements", nowhere, places, counted_indices(to, total), axis=0, reduction=reduction)
    return to.node("Gather", to.concat([rows, _empty_row(to, data[0], indices[0])], 0), source, axis=0)


def _stitched_rows(to: OnnxGraph, rows: Term, places: np.ndarray, data: Term, index: Term) -> Term:
    """The result for indices that are known."""
    to.require_listed(int(places.max(initial=-1)) + 1)
    source = np.full(int(places.max(initial=-1)) + 1, -1, np.int64)
    for at, place in enumerate(places.tolist()):
        source[place] = at
    if np.array_equal(source, np.arange(len(places))):
        return rows
    if -1 in source:
        rows = to.concat([rows, _empty_row(to, data, index)], 0)
    return to.node("Gather", rows, source, axis=0)


def _empty_row(to: OnnxGraph, data: Term, index: Term) -> Term:
    """A row of zeros, which the index -1 leads to if it is behind all others."""
    nothing = np.array(b"" if data.dtype is STRING else 0, data.dtype.array_dtype)
    sizes: list[Part] = [1, *axes_of(data, to.known_rank(index))]
    return filled_array(to, vector(to, sizes), to.constant(nothing, data.dtype))
