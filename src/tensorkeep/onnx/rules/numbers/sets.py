"""Sets in the rows of arrays: what is in both, in one of them, or in the first alone."""

from __future__ import annotations

import numpy as np

from tensorkeep.dtypes import BOOL, INT64, STRING
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.arrays.selecting import largest
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.rules.strings.text import leave_to_kernels
from tensorkeep.onnx.size_vectors import axes_of, product, vector
from tensorkeep.onnx.terms import Term


@rule("DenseToDenseSetOperation")
def dense_to_dense_set_operation(
    to: OnnxGraph, set1: Term, set2: Term, *, set_operation: bytes
) -> tuple[Term, Term, Term]:
    """The members of each row, sorted, each once: those of equals that come first, and that are in what is wanted."""
    leave_to_kernels(to, "sets")
    rank, wanted = to.known_rank(set1), set_operation.lower()
    if set1.dtype is STRING:
        to.refuse("ONNX does not sort strings")
    if 0 in (set1.size(-1), set2.size(-1)):
        to.refuse("a set has no members")
    first, second = (to.cast(_rows(to, term, rank), INT64) for term in (set1, set2))
    if wanted == b"b-a":
        first, second, wanted = second, first, b"a-b"
    members = to.concat([first, second], 1) if wanted == b"union" else first
    length = to.shape(members, 1, 2)
    ordered, _ = largest(to, members, length, is_largest=False)
    chosen = _first_of_equals(to, ordered)
    if wanted != b"union":
        is_other = _is_in(to, ordered, second)
        if wanted == b"a-b":
            is_other = to.node("Not", is_other)
        chosen = to.node("And", chosen, is_other)
    return _as_sparse(to, set1, rank, ordered, chosen)


def _rows(to: OnnxGraph, sets: Term, rank: int) -> Term:
    """Sets as the rows of a matrix."""
    return sets if rank == 2 else to.reshape(sets, vector(to, [-1, *axes_of(sets, rank - 1)]))


def _first_of_equals(to: OnnxGraph, ordered: Term) -> Term:
    """Which members of sorted rows differ from the one before them: the first of each run of equal ones."""
    end = np.iinfo(np.int64).max
    after, before = to.slice(ordered, [1], [end], [1]), to.slice(ordered, [0], [-1], [1])
    changes = to.node("Not", to.node("Equal", after, before, dtype=BOOL))
    start = to.slice(ordered, [0], [1], [1])
    return to.concat([to.node("Equal", start, start, dtype=BOOL), changes], 1)


def _is_in(to: OnnxGraph, members: Term, others: Term) -> Term:
    """Which members of each row are in that row of others."""
    same = to.node("Equal", to.unsqueeze(members, [2]), to.unsqueeze(others, [1]), dtype=BOOL)
    return to.node("Greater", to.reduce("ReduceSum", to.cast(same, INT64), [2]), to.constant(0), dtype=BOOL)


def _as_sparse(to: OnnxGraph, groups: Term, rank: int, ordered: Term, chosen: Term) -> tuple[Term, Term, Term]:
    """The chosen members of rows as a sparse tensor: where they are, what they are, and what holds them."""
    places = to.transpose(to.node("NonZero", chosen, dtype=INT64, dims=(2, None)), [1, 0])
    numbers = to.cast(chosen, INT64)
    counted = to.node("Sub", to.node("CumSum", numbers, to.constant(1)), to.constant(1))
    columns = to.unsqueeze(to.node("GatherND", counted, places, dims=(None,)), [1])
    rows = to.slice(places, [0], [1], [1])
    rows.dims = (None, 1)
    sizes = axes_of(groups, 0, rank - 1)
    whole = vector(to, sizes)
    if rank > 2:
        strides = vector(to, [product(to, sizes[at + 1 :]) for at in range(rank - 1)])
        rows = to.node("Mod", to.node("Div", rows, strides), whole)
    most = to.concat([to.reduce("ReduceSum", numbers, [1]), to.constant(np.zeros(1, np.int64))], 0)
    longest = to.unsqueeze(to.reduce("ReduceMax", most, [0]), [0])
    values = to.cast(to.node("GatherND", ordered, places, dims=(None,)), groups.dtype)
    return to.concat([rows, columns], 1), values, to.concat([whole, longest], 0)
