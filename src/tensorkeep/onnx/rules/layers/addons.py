"""What decoders and clusters of TensorFlow's contrib and addons compute: beams read back, the nearest centers."""

from __future__ import annotations

from tensorkeep.dtypes import BOOL, FLOAT32, INT64
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.arrays.selecting import largest
from tensorkeep.onnx.rules.arrays.shapes import filled_array
from tensorkeep.onnx.rules.loops.control_flow import counted_rounds
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.size_vectors import END, FRONT, axes_of, computed_size, counted_indices, parts_of, scalar, vector
from tensorkeep.onnx.terms import Term


@rule("GatherTree", "Addons>GatherTree")
def gather_tree(to: OnnxGraph, step_ids: Term, parent_ids: Term, max_sequence_lengths: Term, end_token: Term) -> Term:
    """The words of each beam, from its last one back by the beam that each came from; all after its end is the end."""
    if to.model.is_for_engine:
        to.refuse("that a beam comes from one that is not there is not found out")
    if to.known_rank(step_ids) != 3:
        to.refuse("its beams have not three axes")
    steps, batch, width = axes_of(step_ids)
    shape = vector(to, [batch, width])
    start = to.node("Expand", to.unsqueeze(counted_indices(to, width), [0]), shape, dims=(None, None))
    lengths = to.unsqueeze(to.cast(max_sequence_lengths, INT64), [1])
    ends = filled_array(to, shape, end_token)
    ends.dims = (None, None)
    last = to.node("Sub", scalar(to, steps), to.constant(1), dims=())

    def once(inner: OnnxGraph, number: Term, given: list[Term]) -> list[Term]:
        (parents,) = given
        step = inner.node("Sub", last, number, dims=())
        words, before = (
            inner.node("GatherElements", inner.node("Gather", ids, step, axis=0), parents, axis=1)
            for ids in (step_ids, parent_ids)
        )
        is_within = inner.node("Less", step, lengths, dtype=BOOL)
        found = inner.node("Where", is_within, words, ends, dtype=step_ids.dtype, dims=(None, None))
        before = inner.node("Where", is_within, inner.cast(before, INT64), parents, dtype=INT64, dims=(None, None))
        return [before, found]

    _, backwards = counted_rounds(to, steps, [start], once)
    beams = to.slice(backwards, [END], [FRONT], [0], [-1])
    is_end = to.cast(to.node("Equal", beams, end_token, dtype=BOOL), INT64)
    has_ended = to.node("Greater", to.node("CumSum", is_end, to.constant(0)), to.constant(0), dtype=BOOL)
    return to.node("Where", has_ended, end_token, beams, dtype=step_ids.dtype, dims=step_ids.dims)


@rule("NearestNeighbors")
def nearest_neighbors(to: OnnxGraph, points: Term, centers: Term, k: Term) -> tuple[Term, Term]:
    """The centers that are nearest to each point, and the squares of their distances."""
    if to.model.is_for_engine:
        to.refuse("that points and centers are of one space is not found out")
    halves = [to.node("Mul", to.reduce("ReduceSumSquare", rows, [1]), to.constant(0.5, FLOAT32)) for rows in
              (points, centers)]  # fmt: skip
    products = to.node("MatMul", points, to.node("Transpose", centers, perm=[1, 0]))
    away = to.node("Sub", to.unsqueeze(halves[1], [0]), products, dims=(points.size(0), centers.size(0)))
    if centers.dims is None:
        to.refuse("it is not known how many axes its centers have; tell their shape, by --shape")
    count = computed_size(to, "Min", parts_of(to, k, 1)[0], axes_of(centers)[0])
    nearest, places = largest(to, away, vector(to, [count]), is_largest=False)
    squares = to.node("Mul", to.node("Add", to.unsqueeze(halves[0], [1]), nearest), to.constant(2.0, FLOAT32))
    return places, to.node("Max", squares, to.constant(0.0, FLOAT32))
