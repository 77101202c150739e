"""Parts of values, cut out and replaced: Slice, XLA's slices, and StridedSlice with its masks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tensorkeep.dtypes import BOOL, INT64, STRING
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.arrays.shapes import filled_array
from tensorkeep.onnx.rules.carriers import carried_node
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.size_vectors import (
    END,
    FRONT,
    Part,
    all_known,
    axes_of,
    parts_of,
    product,
    reshaped_value,
    scalar,
    vector,
    whole_vector,
)
from tensorkeep.onnx.terms import SizeOf, Term, axis_size


@rule("Slice", takes_complex=True)
def slice_rule(to: OnnxGraph, input: Term, begin: Term, size: Term) -> Term:
    """Along each axis that is cut, from a place on so many elements; all that follow if that is -1."""
    rank = to.known_rank(input)
    starts, sizes = parts_of(to, begin, rank), parts_of(to, size, rank)
    if to.model.is_for_engine:
        _check_inside(to, input, starts, sizes)
    cut = [axis for axis in range(rank) if not _is_whole(input, axis, starts[axis], sizes[axis])]
    if not cut:
        return input
    ends = [_end(starts[axis], sizes[axis]) for axis in cut]
    known = [end for end in ends if end is not None]
    first = vector(to, [starts[axis] for axis in cut])
    if len(known) == len(ends):
        last = vector(to, known)
    else:
        counts = vector(to, [sizes[axis] for axis in cut])
        last = to.node("Add", first, counts)
        if any(not isinstance(sizes[axis], int | SizeOf) for axis in cut) or -1 in [sizes[axis] for axis in cut]:
            is_open = to.node("Equal", counts, to.constant(-1), dtype=BOOL)
            last = to.node("Where", is_open, to.constant(END), last, dtype=INT64)
    return to.slice(input, first, last, cut)


def _is_whole(input: Term, axis: int, start: Part, size: Part) -> bool:
    return isinstance(start, int) and start == 0 and (size == -1 or size == axis_size(input, axis))


def _end(start: Part, size: Part) -> Part | None:
    """Where a part ends, if that need not be computed."""
    if isinstance(size, int) and size == -1:
        return END
    if isinstance(start, int) and isinstance(size, int):
        return start + size
    return size if isinstance(start, int) and start == 0 and isinstance(size, SizeOf) else None


def _check_inside(to: OnnxGraph, input: Term, starts: Sequence[Part], sizes: Sequence[Part]) -> None:
    """Refuses parts that may reach outside: ONNX cuts what is there, TensorFlow fails."""
    for axis, (start, size) in enumerate(zip(starts, sizes, strict=True)):
        whole = input.size(axis)
        if _is_whole(input, axis, start, size):
            continue
        if whole is None or not isinstance(start, int) or not isinstance(size, int):
            to.refuse("it is not known whether its input has such a part")


# ---------------------------------------------------------------------------------------------------- StridedSlice


@dataclass(frozen=True, slots=True)
class Cut:
    """What a slice's entry does to one axis of the input."""

    axis: int
    begin: Part | None
    """None: from the end where it starts."""
    end: Part | None
    step: Part
    shrinks: bool

    @property
    def is_whole(self) -> bool:
        starts = self.begin is None or self.begin == 0
        return not self.shrinks and starts and (self.end is None or self.end == END) and self.step == 1


@rule("StridedSlice", takes_complex=True)
def strided_slice(
    to: OnnxGraph,
    input: Term,
    begin: Term,
    end: Term,
    strides: Term,
    *,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> Term:
    """One Slice for all axes that are cut, a Gather for an axis of which one place is taken, and new axes at the end.

    A place before zero counts from the end, and bounds outside of the axis are moved to its ends, as in ONNX.
    """
    count = next((term.size(0) for term in (begin, end, strides) if term.size(0) is not None), None)
    bounds = [parts_of(to, term, count) for term in (begin, end, strides)]
    cuts: list[Cut] = []
    new_axes: list[int] = []
    kept = axis = 0  # axes of the result so far, and of the input
    entries = len(bounds[0])
    for entry in range(entries):
        bit = 1 << entry
        if ellipsis_mask & bit:
            after = sum(1 for later in range(entry + 1, entries) if not new_axis_mask >> later & 1)
            whole = to.known_rank(input) - axis - after
            kept, axis = kept + whole, axis + whole
        elif new_axis_mask & bit:
            new_axes.append(kept)
            kept += 1
        else:
            first = None if begin_mask & bit and not shrink_axis_mask & bit else bounds[0][entry]
            last = (
                None
                if end_mask & bit or _is_size(bounds[1][entry], input, axis, bounds[2][entry])
                else bounds[1][entry]
            )
            shrinks = bool(shrink_axis_mask & bit)
            cuts.append(Cut(axis, first, last, bounds[2][entry], shrinks))
            kept, axis = kept + (not shrinks), axis + 1
    if input.is_complex:
        to.known_rank(input)
    dims = input.dims
    found = to.unsqueeze(_cut_value(to, input, [cut for cut in cuts if not cut.is_whole]), new_axes)
    if found.dims is None and dims is not None:
        found.dims = (None,) * (len(dims) + len(new_axes) - sum(cut.shrinks for cut in cuts))
    return found


def _is_size(bound: Part, input: Term, axis: int, step: Part) -> bool:
    """Whether a bound is the size of the axis, and so the end of a slice that goes forward."""
    forward = isinstance(step, int) and step > 0
    return forward and isinstance(bound, SizeOf) and input.dims is not None and bound == axis_size(input, axis)


def _cut_value(to: OnnxGraph, input: Term, cuts: list[Cut]) -> Term:
    """The part of a value that is left after all cuts."""
    points = [cut for cut in cuts if cut.shrinks]
    by_gather = [cut for cut in points if len(points) == 1 or not isinstance(cut.begin, int)]
    ranges = [cut for cut in cuts if cut not in by_gather]
    dims = input.dims
    if ranges:
        input = _sliced_value(to, input, ranges)
    gone = [cut.axis for cut in points if cut not in by_gather]
    if input.dims is None and dims is not None:
        input.dims = tuple(None for _ in dims)
    input = to.squeeze(input, gone)
    for cut in reversed(by_gather):
        assert cut.begin is not None
        at = cut.axis - sum(axis < cut.axis for axis in gone)
        place = cut.begin
        index = to.constant(place) if isinstance(place, int) else to.squeeze(vector(to, [place]), [0])
        left = None if input.dims is None else (*input.dims[:at], *input.dims[at + 1 :])
        input = to.node("Gather", input, index, dims=left, axis=at)
    return input


def _sliced_value(to: OnnxGraph, input: Term, cuts: list[Cut]) -> Term:
    steps = [1 if cut.shrinks else cut.step for cut in cuts]
    if all_known(steps) is None:
        return _sliced_at_random(to, input, cuts, steps)
    starts: list[Part] = []
    ends: list[Part] = []
    for cut, step in zip(cuts, steps, strict=True):
        assert isinstance(step, int)
        if cut.shrinks:
            assert isinstance(cut.begin, int)
            starts.append(cut.begin)
            ends.append(END if cut.begin == -1 else cut.begin + 1)
        else:
            starts.append((0 if step > 0 else END) if cut.begin is None else cut.begin)
            ends.append((END if step > 0 else FRONT) if cut.end is None else cut.end)
    given = None if all(step == 1 for step in steps) else [step for step in steps if isinstance(step, int)]
    return to.slice(input, vector(to, starts), vector(to, ends), [cut.axis for cut in cuts], given)


def _sliced_at_random(to: OnnxGraph, input: Term, cuts: list[Cut], steps: list[Part]) -> Term:
    """For steps that are computed: bounds that are left open depend on which way they go."""
    by = vector(to, steps)
    is_back = to.node("Less", by, to.constant(0), dtype=BOOL)
    bounds: list[Term] = []
    for told, ahead, back in (([cut.begin for cut in cuts], 0, END), ([cut.end for cut in cuts], END, FRONT)):
        found = vector(to, [0 if bound is None else bound for bound in told])
        if None in told:
            usual = to.node("Where", is_back, to.constant(back), to.constant(ahead), dtype=INT64)
            is_open = to.constant(np.array([bound is None for bound in told]))
            found = to.node("Where", is_open, usual, found, dtype=INT64)
        bounds.append(found)
    return to.node("Slice", input, *bounds, to.constant([cut.axis for cut in cuts]), by)


# ---------------------------------------------------------------------------------------------------- Parts replaced


def _numbered_places(to: OnnxGraph, sizes: list[Part]) -> Term:
    """An array of these sizes whose elements are their numbers: what is cut from it says where that was."""
    count = scalar(to, product(to, sizes))
    dims = tuple(size if isinstance(size, int) else None for size in sizes)
    numbers = to.node("Range", to.constant(0), count, to.constant(1))
    return to.node("Reshape", numbers, vector(to, sizes), dims=dims, allowzero=1 if to.opset >= 14 else None)


def _replaced_places(to: OnnxGraph, whole: Term, sizes: list[Part], places: Term, values: Term) -> Term:
    """A value with others in the places that are given by their numbers."""
    flat = to.reshape(whole, [-1])
    put = to.node("ScatterElements", flat, to.reshape(places, [-1]), to.reshape(values, [-1]), axis=0)
    put.dims = (None,)
    return reshaped_value(to, put, sizes)


@rule("TensorStridedSliceUpdate")
def tensor_strided_slice_update(
    to: OnnxGraph,
    input: Term,
    begin: Term,
    end: Term,
    strides: Term,
    value: Term,
    *,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> Term:
    """The numbers of all elements are cut as the value would be; there the new values go."""
    to.known_rank(input)
    sizes = axes_of(input)
    places = strided_slice(
        to,
        _numbered_places(to, sizes),
        begin,
        end,
        strides,
        begin_mask=begin_mask,
        end_mask=end_mask,
        ellipsis_mask=ellipsis_mask,
        new_axis_mask=new_axis_mask,
        shrink_axis_mask=shrink_axis_mask,
    )
    if to.model.is_for_engine:
        to.refuse("a value of a shape that does not fit is not found out")
    stretched = carried_node(to, "Expand", value, to.node("Shape", places, dtype=INT64))
    return _replaced_places(to, input, sizes, places, stretched)


@rule("StridedSliceGrad")
def strided_slice_grad(
    to: OnnxGraph,
    shape: Term,
    begin: Term,
    end: Term,
    strides: Term,
    dy: Term,
    *,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> Term:
    """Zeros of the given shape, with the gradient in the places that the slice took."""
    nothing = to.constant(np.array(b"" if dy.dtype is STRING else 0, dy.dtype.array_dtype), dy.dtype)
    whole = filled_array(to, whole_vector(to, shape), nothing)
    whole.dims = tuple(size if isinstance(size, int) else None for size in parts_of(to, shape))
    return tensor_strided_slice_update(
        to,
        whole,
        begin,
        end,
        strides,
        dy,
        begin_mask=begin_mask,
        end_mask=end_mask,
        ellipsis_mask=ellipsis_mask,
        new_axis_mask=new_axis_mask,
        shrink_axis_mask=shrink_axis_mask,
    )


def _moved_inside(to: OnnxGraph, starts: Term, sizes: list[Part], counts: list[Part]) -> Term:
    """Where a part begins, or as near to that as it fits in."""
    last = to.node("Sub", vector(to, sizes), vector(to, counts))
    first = to.node("Max", whole_vector(to, starts), to.constant(0))
    return to.node("Min", first, last)


@rule("XlaDynamicSlice")
def xla_dynamic_slice(to: OnnxGraph, input: Term, start_indices: Term, size_indices: Term) -> Term:
    rank = to.known_rank(input)
    if to.model.is_for_engine:
        to.refuse("it is not known whether its input has such a part")
    if not rank:
        return input
    counts = parts_of(to, size_indices, rank)
    begin = _moved_inside(to, start_indices, axes_of(input), counts)
    return to.slice(input, begin, to.node("Add", begin, vector(to, counts)), list(range(rank)))


@rule("XlaDynamicUpdateSlice")
def xla_dynamic_update_slice(to: OnnxGraph, input: Term, update: Term, indices: Term) -> Term:
    """The numbers of all elements are cut as the part is; there the new values go."""
    rank = to.known_rank(input)
    if to.model.is_for_engine:
        to.refuse("it is not known whether its input has such a part")
    if not rank:
        return update
    to.known_rank(update)
    sizes, counts = axes_of(input), axes_of(update)
    begin = _moved_inside(to, indices, sizes, counts)
    end = to.node("Add", begin, vector(to, counts))
    places = to.slice(_numbered_places(to, sizes), begin, end, list(range(rank)))
    return _replaced_places(to, input, sizes, places, update)
