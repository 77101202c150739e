"""Values put in places given by index: ScatterNd, TensorScatterUpdate and its like.

Where several values go to one place and are to be summed, they are put there by ScatterElements: ONNX Runtime's
ScatterND loses some of them where several threads work on it.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tensorkeep.dtypes import BOOL, INT64, STRING, DType
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.arrays.gathering import checked_indices
from tensorkeep.onnx.rules.arrays.shapes import filled_array
from tensorkeep.onnx.rules.carriers import carried_node, carrier
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.size_vectors import (
    Part,
    all_known,
    axes_of,
    computed_size,
    parts_of,
    product,
    reshaped_value,
    scalar,
    vector,
    whole_vector,
)
from tensorkeep.onnx.terms import Term

REDUCTIONS: Final = {"add": 16, "mul": 16, "max": 18, "min": 18}
"""What values that go to one place become, and since when ONNX knows it."""


def carrier_of_reduction(reduction: str, dtype: DType) -> DType:
    """The type in which values that go to one place are joined."""
    return carrier("ReduceSum" if reduction in ("add", "mul") else "ReduceMax", dtype)


def put_rows(to: OnnxGraph, whole: Term, places: Term, rows: Term, reduction: str) -> Term:
    """A value with rows put into it, at places of its first axis, joined with what is there by a reduction."""
    to.require_opset(REDUCTIONS[reduction], f"to put several values in one place ({reduction})")
    wide = carrier_of_reduction(reduction, rows.dtype)
    more = to.known_rank(rows) - 1 + rows.is_complex
    if more:
        places = to.node("Expand", _with_axes(to, places, more), to.node("Shape", rows, dtype=INT64))
    found = to.node("ScatterElements", to.cast(whole, wide), places, to.cast(rows, wide), axis=0, reduction=reduction)
    return to.cast(found, rows.dtype)


def _with_axes(to: OnnxGraph, places: Term, more: int) -> Term:
    return to.unsqueeze(places, list(range(1, more + 1)))


def put_at(
    to: OnnxGraph, whole: Term, sizes: list[Part] | None, indices: Term, updates: Term, reduction: str | None
) -> Term:
    """A value of known rank and sizes with updates put into it."""
    depth = indices.size(-1)
    places = to.cast(checked_indices(to, indices), INT64)
    if reduction is None:
        if depth == 0:
            to.refuse("its indices have no coordinates")
        return to.node("ScatterND", whole, places, updates)
    outer = to.known_rank(indices) - 1
    if depth is None or sizes is None:
        to.refuse("it is not known how many axes its indices are for")
    if depth == 0:
        to.refuse("its indices have no coordinates")
    rest = sizes[depth:]
    flat = whole if depth == 1 else reshaped_value(to, whole, [product(to, sizes[:depth]), *rest])
    rows = updates if outer == 1 else _rows(to, updates, rest)
    numbers = linear_places(to, places, sizes[:depth]) if depth > 1 else _last_taken(to, places, outer)
    if outer != 1:
        numbers = to.reshape(numbers, [-1])
    flat.dims = (None,) * (1 + len(rest))
    rows.dims = (None,) * (1 + len(rest))
    found = put_rows(to, flat, numbers, rows, reduction)
    return found if depth == 1 else reshaped_value(to, found, sizes)


def _rows(to: OnnxGraph, updates: Term, rest: list[Part]) -> Term:
    return reshaped_value(to, updates, [-1, *rest]) if rest or updates.is_complex else to.reshape(updates, [-1])


def _last_taken(to: OnnxGraph, places: Term, outer: int) -> Term:
    """Indices whose last axis has size 1, without that axis."""
    return to.squeeze(places, [outer])


def linear_places(to: OnnxGraph, places: Term, sizes: list[Part]) -> Term:
    """Indices of several coordinates as numbers of all elements in a row."""
    strides = vector(to, [product(to, sizes[at + 1 :]) for at in range(len(sizes))])
    rank = to.known_rank(places)
    return to.reduce("ReduceSum", to.node("Mul", places, strides, dims=places.dims), [rank - 1])


def _check_policy(to: OnnxGraph, policy: bytes) -> None:
    if policy.upper() == b"IGNORE":
        to.refuse("ONNX does not pass over indices that lead nowhere")
    if to.model.is_for_engine:
        to.refuse("indices that lead nowhere are not found out")


@rule("ScatterNd", takes_complex=True)
def scatter_nd(to: OnnxGraph, indices: Term, updates: Term, shape: Term, *, bad_indices_policy: bytes) -> Term:
    """Updates of one place are summed. Where no place is given twice, as for known indices, nothing is."""
    _check_policy(to, bad_indices_policy)
    nothing = np.array(b"" if updates.dtype is STRING else 0, updates.dtype.array_dtype)
    sizes = parts_of(to, shape)
    whole = filled_array(to, whole_vector(to, shape), to.constant(nothing, updates.dtype))
    if all_known(sizes) is not None and 0 in sizes:
        return whole
    is_once = indices.array is not None and _are_distinct(indices.array)
    if updates.dtype is STRING and not is_once:
        to.refuse("strings that go to one place are to be put together, which ONNX does not do")
    return put_at(to, whole, sizes, indices, updates, None if is_once else "add")


def _are_distinct(indices: np.ndarray) -> bool:
    if not indices.shape[-1]:
        return False
    rows = indices.reshape(-1, indices.shape[-1])
    return len(np.unique(rows, axis=0)) == len(rows)


@rule("ScatterNdNonAliasingAdd", takes_complex=True)
def scatter_nd_non_aliasing_add(
    to: OnnxGraph, input: Term, indices: Term, updates: Term, *, bad_indices_policy: bytes
) -> Term:
    return _tensor_scattered(to, input, indices, updates, bad_indices_policy, "add")


@rule("TensorScatterUpdate", takes_complex=True)
def tensor_scatter_update(
    to: OnnxGraph, tensor: Term, indices: Term, updates: Term, *, bad_indices_policy: bytes
) -> Term:
    """Of several updates of one place TensorFlow says that any may stay, as ONNX does."""
    return _tensor_scattered(to, tensor, indices, updates, bad_indices_policy, None)


@rule("TensorScatterAdd", takes_complex=True)
def tensor_scatter_add(to: OnnxGraph, tensor: Term, indices: Term, updates: Term, *, bad_indices_policy: bytes) -> Term:
    return _tensor_scattered(to, tensor, indices, updates, bad_indices_policy, "add")


@rule("TensorScatterSub", takes_complex=True)
def tensor_scatter_sub(to: OnnxGraph, tensor: Term, indices: Term, updates: Term, *, bad_indices_policy: bytes) -> Term:
    zero = to.constant(np.array(0, updates.dtype.array_dtype), updates.dtype)
    if updates.is_complex:
        less = to.node("Neg", updates, dims=updates.dims)
    else:
        less = carried_node(to, "Sub", zero, updates, data=(0, 1), dims=updates.dims)
    return _tensor_scattered(to, tensor, indices, less, bad_indices_policy, "add")


@rule("TensorScatterMax")
def tensor_scatter_max(to: OnnxGraph, tensor: Term, indices: Term, updates: Term, *, bad_indices_policy: bytes) -> Term:
    return _tensor_scattered(to, tensor, indices, updates, bad_indices_policy, "max")


@rule("TensorScatterMin")
def tensor_scatter_min(to: OnnxGraph, tensor: Term, indices: Term, updates: Term, *, bad_indices_policy: bytes) -> Term:
    return _tensor_scattered(to, tensor, indices, updates, bad_indices_policy, "min")


def _tensor_scattered(
    to: OnnxGraph, tensor: Term, indices: Term, updates: Term, policy: bytes, reduction: str | None
) -> Term:
    _check_policy(to, policy)
    if updates.dtype is STRING and reduction is not None:
        to.refuse("ONNX does not put strings together by index")
    if updates.dtype is BOOL and reduction is not None:
        to.refuse("ONNX does not join booleans by index")
    return put_at(to, tensor, axes_of(tensor) if tensor.dims is not None else None, indices, updates, reduction)


# ---------------------------------------------------------------------------------------------------- In place


@rule("InplaceUpdate", "InplaceAdd", "InplaceSub")
def inplace(to: OnnxGraph, x: Term, i: Term, v: Term) -> Term:
    """Rows put into a value; indices below zero count from the end, as in ONNX. Of rows for one place any may stay."""
    assert to.operation is not None
    if to.model.is_for_engine:
        to.refuse("indices that lead nowhere are not found out")
    size = axes_of(x)[0] if to.known_rank(x) else 0
    places = to.node("Mod", to.cast(i, INT64), scalar(to, computed_size(to, "Max", size, 1)), dims=i.dims)
    how = to.operation.type.removeprefix("Inplace")
    if how == "Update":
        return to.node("ScatterND", x, to.unsqueeze(places, [1]), v)
    if how == "Sub":
        zero = to.constant(np.array(0, v.dtype.array_dtype), v.dtype)
        v = carried_node(to, "Sub", zero, v, data=(0, 1), dims=v.dims)
    return put_rows(to, x, places, v, "add")
