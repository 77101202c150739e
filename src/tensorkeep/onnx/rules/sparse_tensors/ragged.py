"""Ragged tensors: values in rows of different lengths, gathered, counted up, made dense and sparse."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tensorkeep.dtypes import BOOL, INT64, VARIANT, DType
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.not_in_onnx import CUT
from tensorkeep.onnx.rules.arrays.shapes import filled_array
from tensorkeep.onnx.rules.carriers import carried_node
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.size_vectors import (
    Part,
    axes_of,
    computed_size,
    counted_indices,
    parts_of,
    product,
    reshaped_value,
    scalar,
    vector,
)
from tensorkeep.onnx.terms import Term


def _check(to: OnnxGraph) -> None:
    if to.model.is_for_engine:
        to.refuse("splits that part something else than what is there are not found out")


# ---------------------------------------------------------------------------------------------------- Variants


@dataclass(frozen=True)
class HeldRagged:
    """A ragged tensor that was made one value, or one value for each of its rows."""

    splits: tuple[Term, ...]
    values: Term


@rule("RaggedTensorToVariant")
def ragged_tensor_to_variant(
    to: OnnxGraph, rt_nested_splits: list[Term], rt_dense_values: Term, *, batched_input: bool
) -> Term:
    """A term that only holds the splits and values: ONNX has no ragged values, and what takes it apart reads them
    there.
    """
    _check(to)
    held = HeldRagged(tuple(rt_nested_splits), rt_dense_values)
    return Term(VARIANT, (None,) if batched_input else (), held=held)


@rule("RaggedTensorFromVariant")
def ragged_tensor_from_variant(
    to: OnnxGraph,
    encoded_ragged: Term,
    *,
    output_ragged_rank: int,
    Tvalues: DType,  # noqa: N803
    Tsplits: DType,  # noqa: N803
) -> tuple[list[Term], Term]:
    """What a ragged tensor was before it was made one value."""
    held = encoded_ragged.held
    if not isinstance(held, HeldRagged):
        to.refuse("no value of ONNX has several ragged tensors, or one with its row splits; " + CUT)
    splits, values = held.splits, held.values
    if len(splits) != output_ragged_rank or values.dtype is not Tvalues or any(s.dtype is not Tsplits for s in splits):
        to.refuse("it takes another ragged tensor out than was put in")
    return list(splits), values


# ---------------------------------------------------------------------------------------------------- Rows


def _lengths(to: OnnxGraph, splits: Term) -> Term:
    """How many elements each row has."""
    return to.node("Sub", to.slice(splits, [1], [np.iinfo(np.int64).max], [0]), to.slice(splits, [0], [-1], [0]))


@rule("RaggedGather")
def ragged_gather(
    to: OnnxGraph, params_nested_splits: list[Term], params_dense_values: Term, indices: Term
) -> tuple[list[Term], Term]:
    """Rows of different lengths, by index: how long each is, and then where its elements are."""
    rank = to.known_rank(indices)
    _check(to)
    found: list[Term] = []
    if rank > 1:
        to.refuse("indices of several axes into rows of different lengths have no rule")
    rows = to.cast(to.reshape(indices, [-1]), INT64)
    for splits in params_nested_splits:
        rows, lengths_end = _elements_of_rows(to, to.cast(splits, INT64), rows)
        found.append(to.cast(lengths_end, splits.dtype))
    return found[1 - rank :], to.node("Gather", params_dense_values, rows, axis=0)


def _elements_of_rows(to: OnnxGraph, splits: Term, rows: Term) -> tuple[Term, Term]:
    """The places of the elements of some rows, one row after the other, and where in them each row ends."""
    starts = to.node("Gather", splits, rows, axis=0)
    ends = to.node("Gather", splits, to.node("Add", rows, to.constant(1)), axis=0)
    return flat_ranges(to, starts, to.node("Sub", ends, starts))


def flat_ranges(to: OnnxGraph, starts: Term, lengths: Term) -> tuple[Term, Term]:
    """Numbers from each start on, so many as its length says, one after the other; and the splits between them.

    With the total of all lengths before it taken from its start, each row's numbers are those of all elements. Which
    row an element is of is found by how many rows end at or before it.
    """
    ends = to.node("CumSum", lengths, to.constant(0))
    splits = to.concat([to.constant(np.zeros(1, np.int64)), ends], 0)
    total = to.reduce("ReduceSum", lengths, [0], keepdims=True)
    numbers = to.node("Range", to.constant(0), to.squeeze(total, [0]), to.constant(1))
    row = row_of_elements(to, ends, numbers)
    shift = to.node("Sub", starts, to.node("Sub", ends, lengths))
    return to.node("Add", numbers, to.node("Gather", shift, row, axis=0)), splits


def row_of_elements(to: OnnxGraph, ends: Term, numbers: Term) -> Term:
    """For each of the elements, in which row it is: how many of the ends are not above its number."""
    if to.opset >= 16:  # by marks where rows end, added up
        marks = filled_array(to, to.node("Add", to.shape(numbers), to.constant(1)), to.constant(0))
        ones = filled_array(to, to.shape(ends), to.constant(1))
        marked = to.node("ScatterElements", marks, ends, ones, axis=0, reduction="add")
        return to.slice(to.node("CumSum", marked, to.constant(0)), [0], [-1], [0])
    reached = to.node("LessOrEqual", to.unsqueeze(ends, [0]), to.unsqueeze(numbers, [1]), dtype=BOOL)
    return to.reduce("ReduceSum", to.cast(reached, INT64), [1])


@rule("RaggedRange")
def ragged_range(
    to: OnnxGraph,
    starts: Term,
    limits: Term,
    deltas: Term,
    *,
    Tsplits: DType,  # noqa: N803
) -> tuple[Term, Term]:
    """Ranges of whole numbers. Fractions are refused: TensorFlow adds them up one by one, with their rounding."""
    if not starts.dtype.is_integer:
        to.refuse("numbers with a fraction are added up one by one")
    _check(to)
    first, last, step = (to.cast(term, INT64) for term in (starts, limits, deltas))
    if all(term.rank == 0 for term in (starts, limits, deltas)):
        first = to.unsqueeze(first, [0])
    distance = to.node("Sub", last, first)
    signs = to.node("Sign", step)
    away = to.node("Mul", distance, signs)
    size = to.node("Abs", step)
    counts = to.node("Div", to.node("Add", away, to.node("Sub", size, to.constant(1))), size)
    lengths = to.node(
        "Where", to.node("Greater", away, to.constant(0), dtype=BOOL), counts, to.constant(0), dtype=INT64
    )
    lengths.dims = (None,)
    numbers, splits = flat_ranges(to, to.node("Mul", lengths, to.constant(0)), lengths)
    ends = to.slice(splits, [1], [np.iinfo(np.int64).max], [0])
    total = to.shape(numbers)
    row = row_of_elements(to, ends, counted_indices(to, total))
    each_start = to.node("Gather", to.node("Expand", first, to.shape(lengths)), row, axis=0)
    each_step = to.node("Gather", to.node("Expand", step, to.shape(lengths)), row, axis=0)
    values = to.node("Add", each_start, to.node("Mul", numbers, each_step))
    return to.cast(splits, Tsplits), to.cast(values, starts.dtype)


@rule("RaggedTensorToSparse")
def ragged_tensor_to_sparse(
    to: OnnxGraph, rt_nested_splits: list[Term], rt_dense_values: Term
) -> tuple[Term, Term, Term]:
    """For each value the row that it is in and its place there, for each axis of rows."""
    _check(to)
    if to.known_rank(rt_dense_values) != 1:
        to.refuse("values of several axes in rows of different lengths have no rule")
    rows = counted_indices(to, axes_of(rt_dense_values)[0])
    columns: list[Term] = []
    widths: list[Part] = []
    for splits in reversed(rt_nested_splits):
        wide = to.cast(splits, INT64)
        ends = to.slice(wide, [1], [np.iinfo(np.int64).max], [0])
        last = to.slice(wide, [-1], [np.iinfo(np.int64).max], [0])
        numbers = to.node("Range", to.constant(0), to.squeeze(last, [0]), to.constant(1))
        parents = row_of_elements(to, ends, numbers)
        inside = to.node("Sub", numbers, to.node("Gather", wide, parents, axis=0))
        columns.insert(0, to.node("Gather", inside, rows, axis=0))
        lengths = to.concat([_lengths(to, wide), to.constant(np.zeros(1, np.int64))], 0)
        widths.insert(0, to.reduce("ReduceMax", lengths, [0], keepdims=True))
        rows = to.node("Gather", parents, rows, axis=0)
    columns.insert(0, rows)
    first = rt_nested_splits[0]
    widths.insert(0, computed_size(to, "Sub", axes_of(first)[0], 1))
    indices = to.concat([to.unsqueeze(column, [1]) for column in columns], 1)
    return indices, rt_dense_values, vector(to, widths)


@rule("RaggedTensorToTensor")
def ragged_tensor_to_tensor(
    to: OnnxGraph,
    shape: Term,
    values: Term,
    default_value: Term,
    row_partition_tensors: list[Term],
    *,
    row_partition_types: list[bytes],
) -> Term:
    """Each value at its row and its place there; values that are beyond the shape asked for go to a place cut off."""
    _check(to)
    to.require_opset(14, "a size that may be 0")
    kinds, tensors = list(row_partition_types), list(row_partition_tensors)
    if kinds[0] == b"FIRST_DIM_SIZE":
        first: Part = parts_of(to, tensors[0], 1)[0]
        kinds, tensors = kinds[1:], tensors[1:]
    else:
        first = computed_size(to, "Sub", axes_of(tensors[0])[0], 1)
    levels = [_level(to, to.cast(tensor, INT64), kind) for tensor, kind in zip(tensors, kinds, strict=True)]
    inner = axes_of(values, 1) if to.known_rank(values) > 1 else []
    rank = 1 + len(levels) + len(inner)
    told = [-1] * rank if shape.rank == 0 else parts_of(to, shape, rank)
    found = [first, *(widest for _, _, widest in levels), *inner]
    sizes = [_told_or_found(to, size, own) for size, own in zip(told, found, strict=True)]
    places = counted_indices(to, first)
    places = _beyond(to, places, places, sizes[0])
    for (row, inside, _), size in zip(levels, sizes[1:], strict=False):
        parents = to.node("Gather", places, row, axis=0)
        places = to.node("Add", to.node("Mul", parents, scalar(to, size)), inside)
        places = _beyond(to, places, inside, size, parents)
    outer = product(to, sizes[: 1 + len(levels)])
    is_out = to.node("Less", places, to.constant(0), dtype=BOOL)
    places = to.node("Where", is_out, scalar(to, outer), places, dtype=INT64)
    rows = vector(to, [computed_size(to, "Add", outer, 1), *inner])
    has_axes = default_value.rank != 0
    whole = carried_node(to, "Expand", default_value, rows) if has_axes else filled_array(to, rows, default_value)
    put = to.node("ScatterND", whole, to.unsqueeze(places, [1]), values)
    cut = to.slice(put, [0], [-1], [0])
    cut.dims = (None,) * (1 + len(inner))
    return reshaped_value(to, cut, sizes)


def _level(to: OnnxGraph, tensor: Term, kind: bytes) -> tuple[Term, Term, Part]:
    """Of an axis of rows: for each element its row and its place in it, and the length of the longest row."""
    if kind == b"ROW_SPLITS":
        ends = to.slice(tensor, [1], [np.iinfo(np.int64).max], [0])
        last = to.slice(tensor, [-1], [np.iinfo(np.int64).max], [0])
        numbers = to.node("Range", to.constant(0), to.squeeze(last, [0]), to.constant(1))
        row = row_of_elements(to, ends, numbers)
        inside = to.node("Sub", numbers, to.node("Gather", tensor, row, axis=0))
    elif kind == b"VALUE_ROWIDS":
        numbers = counted_indices(to, axes_of(tensor)[0])
        before = to.node("Less", to.unsqueeze(tensor, [0]), to.unsqueeze(tensor, [1]), dtype=BOOL)
        inside = to.node("Sub", numbers, to.reduce("ReduceSum", to.cast(before, INT64), [1]))
        row = tensor
    else:
        to.refuse(f"rows parted by {kind.decode()} have no rule")
    longest = to.reduce("ReduceMax", to.concat([inside, to.constant(np.array([-1]))], 0), [0], keepdims=True)
    return row, inside, to.node("Add", longest, to.constant(1), dims=(1,))


def _told_or_found(to: OnnxGraph, told: Part, found: Part) -> Part:
    """The size that is asked for or, if that is -1, the one that was found."""
    if isinstance(told, int):
        return found if told == -1 else told
    asked = vector(to, [told])
    is_open = to.node("Less", asked, to.constant(0), dtype=BOOL)
    return to.node("Where", is_open, vector(to, [found]), asked, dtype=INT64, dims=(1,))


def _beyond(to: OnnxGraph, places: Term, inside: Term, size: Part, parents: Term | None = None) -> Term:
    """Places, but -1 for what is outside of the size, or of a row that is."""
    is_out = to.node("GreaterOrEqual", inside, scalar(to, size), dtype=BOOL)
    if parents is not None:
        is_lost = to.node("Less", parents, to.constant(0), dtype=BOOL)
        is_out = to.node("Or", is_out, is_lost, dtype=BOOL)
    return to.node("Where", is_out, to.constant(-1), places, dtype=INT64)
