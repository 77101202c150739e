"""Shapes of values and values of other shapes: Shape, Reshape, Transpose, Tile, Fill, Pad and their like."""

from __future__ import annotations

from math import prod

import numpy as np

from tensorkeep.dtypes import BFLOAT16, BOOL, FLOAT32, FLOAT64, INT32, INT64, STRING, DType
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.known_sizes import sizes_of
from tensorkeep.onnx.rules.carriers import carried_node
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.size_vectors import (
    END,
    FRONT,
    Part,
    axes_of,
    computed_size,
    counted_indices,
    parts_of,
    product,
    reshaped_value,
    scalar,
    vector,
    whole_vector,
)
from tensorkeep.onnx.terms import SizeOf, Term, axis_size, element_type
from tensorkeep.proto.tensors import array_of_tensor

# ---------------------------------------------------------------------------------------------------- Sizes


@rule("Shape", takes_complex=True)
def shape(to: OnnxGraph, input: Term, *, out_type: DType) -> Term:
    return to.cast(to.shape(input), out_type)


@rule("ShapeN", takes_complex=True)
def shape_n(to: OnnxGraph, input: list[Term], *, out_type: DType) -> list[list[Term]]:
    return [[to.cast(to.shape(term), out_type) for term in input]]


@rule("Size", takes_complex=True)
def size(to: OnnxGraph, input: Term, *, out_type: DType) -> Term:
    if input.dims is not None:
        return to.cast(scalar(to, product(to, axes_of(input))), out_type)
    return to.cast(to.reduce("ReduceProd", to.shape(input), [0]), out_type)


@rule("Rank", takes_complex=True)
def rank(to: OnnxGraph, input: Term) -> Term:
    if input.rank is not None:
        return to.constant(input.rank, INT32)
    return to.cast(to.squeeze(to.shape(to.shape(input)), [0]), INT32)


# ---------------------------------------------------------------------------------------------------- Other shapes


@rule("Reshape", takes_complex=True)
def reshape(to: OnnxGraph, tensor: Term, shape: Term) -> Term:
    """Sizes that are the input's own are copied, and one that is not known follows, so that none is computed.

    Of a shape of which nothing is known before the model runs, the open size is computed, as ONNX does not settle it
    where there is nothing in a tensor. Before opset 14 a size that turns out to be 0 copies the input's.
    """
    if shape.array is None and shape.sizes is None and shape.size(0) not in (0, 1):
        return _reshaped_at_random(to, tensor, shape)
    sizes = sizes_of(shape)
    if sizes is None or (-1 in sizes and 0 in sizes and tensor.element_count is None):
        return _reshaped_at_random(to, tensor, shape)
    return reshaped_value(to, tensor, parts_of(to, shape), trusted=not to.model.is_for_engine, whole=shape)


def _reshaped_at_random(to: OnnxGraph, tensor: Term, shape: Term) -> Term:
    sizes = to.cast(shape, INT64)
    if to.opset < 14:
        if tensor.element_count == 0:
            to.require_opset(14, "nothing in a shape that is computed")
        return to.reshape(tensor, sizes)
    one = to.constant(1)
    own = to.shape(tensor)
    count = to.reduce("ReduceProd", _without_zeros(to, own), [0])
    rest = to.reduce("ReduceProd", to.node("Abs", _without_zeros(to, sizes)), [0])
    open_size = to.node("Div", count, to.node("Max", rest, one))
    if tensor.element_count is None or not tensor.element_count:  # nothing, in no size that is 0
        is_empty = to.node("Equal", to.reduce("ReduceProd", own, [0]), to.constant(0), dtype=BOOL)
        has_zero = to.node("Equal", to.reduce("ReduceProd", sizes, [0]), to.constant(0), dtype=BOOL)
        hidden = to.node("And", is_empty, to.node("Not", has_zero), dtype=BOOL)
        open_size = to.node("Where", hidden, to.constant(0), open_size, dtype=INT64)
    resolved = to.node("Where", to.node("Equal", sizes, to.constant(-1), dtype=BOOL), open_size, sizes, dtype=INT64)
    if tensor.is_complex:
        resolved = to.concat([resolved, to.constant(np.array([2]))], 0)
    return to.node("Reshape", tensor, resolved, allowzero=1)


def _without_zeros(to: OnnxGraph, sizes: Term) -> Term:
    if sizes.array is not None:
        return to.constant(np.where(sizes.array == 0, 1, sizes.array))
    return to.node("Where", to.node("Equal", sizes, to.constant(0), dtype=BOOL), to.constant(1), sizes, dtype=INT64)


@rule("ExpandDims", takes_complex=True)
def expand_dims(to: OnnxGraph, input: Term, dim: Term) -> Term:
    if dim.array is not None:
        if input.is_complex:
            to.known_rank(input)
        return to.unsqueeze(input, [int(dim.array.item())])
    if input.is_complex:
        to.refuse("the place of the new axis is computed while the model runs")
    dims = None if input.dims is None else (None,) * (len(input.dims) + 1)
    return to.node("Unsqueeze", input, to.reshape(to.cast(dim, INT64), [1]), dims=dims)


@rule("Squeeze", takes_complex=True)
def squeeze(to: OnnxGraph, input: Term, *, squeeze_dims: list[int]) -> Term:
    axes = list(dict.fromkeys(squeeze_dims))
    if not axes and input.dims is not None and None not in input.dims:
        return to.squeeze(input, [axis for axis, size in enumerate(input.dims) if size == 1])
    if input.is_complex:
        to.known_rank(input)
        if not axes:
            to.refuse("it is not known which axes of its input are of size 1")
    if axes and input.rank is not None:
        axes = list(dict.fromkeys(axis % input.rank for axis in axes))
    return to.squeeze(input, axes) if axes else to.node("Squeeze", input)


@rule("Transpose", takes_complex=True)
def transpose(to: OnnxGraph, x: Term, perm: Term) -> Term:
    order = [int(axis) for axis in to.known_array(perm, "the order of its axes").reshape(-1)]
    return to.transpose(x, [axis % len(order) for axis in order])


@rule("ConjugateTranspose", takes_complex=True)
def conjugate_transpose(to: OnnxGraph, x: Term, perm: Term) -> Term:
    turned = transpose(to, x, perm)
    if not x.is_complex:
        return turned
    part = np.float32 if x.dtype.name == "complex64" else np.float64
    return to.node("Mul", turned, np.array([1, -1], part))


# ---------------------------------------------------------------------------------------------------- Repeated values


def filled_array(to: OnnxGraph, sizes: Term, value: Term) -> Term:
    """One value in all places of an array with these sizes."""
    if value.array is not None and value.dtype is not STRING and not value.is_complex:
        if sizes.array is not None and prod(sizes.array.tolist()) <= 64:
            return to.constant(np.full(sizes.array, value.array, value.dtype.array_dtype), value.dtype)
        known = None if sizes.array is None else tuple(int(size) for size in sizes.array)
        wide = FLOAT32 if value.dtype is BFLOAT16 and to.opset < 20 else value.dtype
        attr = np.asarray(value.array, wide.array_dtype).reshape(1)
        return to.cast(to.node("ConstantOfShape", sizes, dtype=wide, dims=known, value=attr), value.dtype)
    if value.is_complex:
        sizes = to.concat([sizes, to.constant(np.array([2]))], 0)
    return carried_node(to, "Expand", value, sizes)


@rule("Fill", takes_complex=True)
def fill(to: OnnxGraph, dims: Term, value: Term) -> Term:
    return filled_array(to, whole_vector(to, dims), value)


def _filled_like(to: OnnxGraph, x: Term, value: object) -> Term:
    return filled_array(to, to.shape(x), to.constant(np.array(value, x.dtype.array_dtype), x.dtype))


@rule("ZerosLike", takes_complex=True)
def zeros_like(to: OnnxGraph, x: Term) -> Term:
    return _filled_like(to, x, b"" if x.dtype is STRING else 0)


@rule("OnesLike", takes_complex=True)
def ones_like(to: OnnxGraph, x: Term) -> Term:
    return _filled_like(to, x, 1)


@rule("Empty")
def empty(to: OnnxGraph, shape: Term, *, dtype: DType) -> Term:
    nothing = to.constant(np.array(b"" if dtype is STRING else 0, dtype.array_dtype), dtype)
    return filled_array(to, whole_vector(to, shape), nothing)


@rule("Tile", takes_complex=True)
def tile(to: OnnxGraph, input: Term, multiples: Term) -> Term:
    if multiples.array is not None and not np.any(multiples.array != 1):
        return input
    times = whole_vector(to, multiples)
    if input.is_complex:
        times = to.concat([times, to.constant(np.array([1]))], 0)
    return carried_node(to, "Tile", input, times)


@rule("BroadcastTo", takes_complex=True)
def broadcast_to(to: OnnxGraph, input: Term, shape: Term) -> Term:
    """ONNX's Expand also lets the input be larger than the shape: a shape that is computed is taken to be right."""
    if to.model.is_for_engine and (shape.array is None or input.dims is None or None in input.dims):
        to.refuse("it is not known whether its input has such a shape")
    if shape.array is not None and input.dims == tuple(int(size) for size in shape.array):
        return input
    sizes = whole_vector(to, shape)
    if input.is_complex:
        sizes = to.concat([sizes, to.constant(np.array([2]))], 0)
        missing = 0 if shape.size(0) is None else (shape.size(0) or 0) - to.known_rank(input)
        input = to.unsqueeze(input, list(range(missing)))
    return carried_node(to, "Expand", input, sizes)


@rule("BroadcastArgs")
def broadcast_args(to: OnnxGraph, s0: Term, s1: Term) -> Term:
    """Sizes of 1 take the other shape's; the shorter one has sizes of 1 put before it."""
    if to.model.is_for_engine:
        to.refuse("shapes that do not fit together are not found out")
    first, second = whole_vector(to, s0), whole_vector(to, s1)
    lengths = [axis_size(term, 0) for term in (first, second)]
    if lengths[0] != lengths[1] or not isinstance(lengths[0], int):
        most = computed_size(to, "Max", *(length if length is not None else 0 for length in lengths))
        first, second = (_after_ones(to, term, most) for term in (first, second))
    is_one = to.node("Equal", first, to.constant(1), dtype=BOOL)
    return to.cast(to.node("Where", is_one, second, first, dtype=INT64), s0.dtype)


def _after_ones(to: OnnxGraph, sizes: Term, length: Part) -> Term:
    own = axis_size(sizes, 0)
    assert own is not None
    ones = filled_array(to, vector(to, [computed_size(to, "Sub", length, own)]), to.constant(1))
    return to.concat([ones, sizes], 0)


@rule("OneHot")
def one_hot(to: OnnxGraph, indices: Term, depth: Term, on_value: Term, off_value: Term, *, axis: int) -> Term:
    """By comparison with 0, 1, 2, …: ONNX's OneHot counts indices below zero from the end, TensorFlow passes them over.

    The type of the result is carried by another if ONNX Runtime's Where does not take it.
    """
    if indices.dtype.name in ("int8", "uint8"):
        indices = to.cast(indices, INT32)
    rank = to.known_rank(indices)
    at = rank if axis == -1 else axis
    count = parts_of(to, depth, 1)[0]
    if to.model.is_for_engine and not isinstance(count, int | SizeOf):
        to.refuse("a number of classes below zero is not found out")
    classes = to.cast(counted_indices(to, count), indices.dtype)
    if at < rank:
        classes = to.unsqueeze(classes, list(range(1, rank - at + 1)))
    is_hot = to.node("Equal", to.unsqueeze(indices, [at]), classes, dtype=BOOL)
    on, off = on_value.array, off_value.array
    if on is not None and off is not None and on_value.dtype is not STRING and on == 1 and off == 0:
        return to.cast(is_hot, on_value.dtype)
    return carried_node(to, "Where", is_hot, on_value, off_value, data=(1, 2))


# ---------------------------------------------------------------------------------------------------- Paddings


@rule("Pad", takes_complex=True)
def pad(to: OnnxGraph, input: Term, paddings: Term) -> Term:
    return padded_value(to, input, paddings, None)


@rule("PadV2")
def pad_v2(to: OnnxGraph, input: Term, paddings: Term, constant_values: Term) -> Term:
    if constant_values.array is not None and constant_values.dtype is not STRING and not constant_values.array.any():
        return padded_value(to, input, paddings, None)
    return padded_value(to, input, paddings, constant_values)


def padded_value(to: OnnxGraph, input: Term, paddings: Term, value: Term | None) -> Term:
    """A value with something around it; zeros if that is None."""
    if input.rank == 0 or (paddings.array is not None and not paddings.array.any()):
        return input
    amounts = _amounts(to, input, paddings)
    if input.dtype is STRING:
        return _padded_strings(to, input, amounts, value)
    return carried_node(to, "Pad", input, amounts, value, data=(0, 2))


def _amounts(to: OnnxGraph, input: Term, paddings: Term) -> Term:
    """Paddings in the order of ONNX: all that come before, then all that come after."""
    if paddings.array is not None:
        before, after = paddings.array.astype(np.int64).T if paddings.array.size else ((), ())
        pair = [0] if input.is_complex else []
        return to.constant(np.array([*before, *pair, *after, *pair], np.int64))
    if input.is_complex or to.model.is_for_engine:
        to.refuse("how much is put around its input is computed while the model runs")
    return to.reshape(to.transpose(to.cast(paddings, INT64), [1, 0]), [-1])


def _padded_strings(to: OnnxGraph, input: Term, amounts: Term, value: Term | None) -> Term:
    """By places, as ONNX Runtime puts nothing around strings: each takes one of the strings, or what is behind them."""
    count = scalar(to, product(to, axes_of(input)))
    places = to.node("Reshape", counted_indices(to, count), to.shape(input))
    wide = to.node("Pad", places, amounts, count)
    rest = value if value is not None else to.constant(np.array(b"", object), STRING)
    return to.node("Gather", to.concat([to.reshape(input, [-1]), to.unsqueeze(rest, [0])], 0), wide, axis=0)


@rule("MirrorPad", takes_complex=True)
def mirror_pad(to: OnnxGraph, input: Term, paddings: Term, *, mode: bytes) -> Term:
    """Mirrored at the outermost elements by ONNX's Pad; between them and what is put around by indices."""
    rank = to.known_rank(input)
    if not rank:
        return input
    reflects = mode == b"REFLECT"
    is_plain = input.dtype is not STRING and not input.is_complex
    if paddings.array is None:
        if not reflects or not is_plain:
            to.refuse("how much is put around its input is computed while the model runs")
        return carried_node(to, "Pad", input, _amounts(to, input, paddings), mode="reflect")
    amounts = [(int(before), int(after)) for before, after in paddings.array]
    sizes = [input.size(axis) for axis in range(rank)]
    cut = [axis for axis in range(rank) if any(amounts[axis])]
    fits = [size is not None and max(amounts[axis]) <= size - reflects for axis, size in enumerate(sizes)]
    if to.model.is_for_engine and not all(fits[axis] for axis in cut):
        to.refuse("it is not known whether its input is large enough for what is put around it")
    if reflects and is_plain and cut:
        return carried_node(to, "Pad", input, _amounts(to, input, paddings), mode="reflect")
    for axis in cut:
        input = _mirrored_axis(to, input, axis, sizes[axis], amounts[axis], int(reflects))
    return input


def _mirrored_axis(
    to: OnnxGraph, input: Term, axis: int, size: int | None, amounts: tuple[int, int], edge: int
) -> Term:
    """One axis with its mirror images before and behind; `edge` elements lie on each mirror itself."""
    before, after = amounts
    if size is not None:
        to.require_listed(before + size + after)
        places = np.arange(-before, size + after)
        places = np.where(places < 0, edge - 1 - places, places)
        places = np.where(places >= size, 2 * size - edge - 1 - places, places)
        return to.node("Gather", input, places, axis=axis)
    parts = [input]
    if before:
        end = 0 if edge else FRONT
        parts.insert(0, to.slice(input, [before - 1 + edge], [end], [axis], [-1]))
    if after:
        parts.append(to.slice(input, [-1 - edge], [-1 - edge - after], [axis], [-1]))
    return to.concat(parts, axis)


# ---------------------------------------------------------------------------------------------------- Another order


def reversed_along(to: OnnxGraph, term: Term, axes: list[int]) -> Term:
    if not axes:
        return term
    count = len(axes)
    return to.slice(term, [END] * count, [FRONT] * count, axes, [-1] * count)


@rule("ReverseV2", takes_complex=True)
def reverse_v2(to: OnnxGraph, tensor: Term, axis: Term) -> Term:
    if axis.array is not None:
        rank = to.known_rank(tensor) if axis.array.size else 0
        return reversed_along(to, tensor, [int(item) % rank for item in axis.array])
    if tensor.is_complex or to.model.is_for_engine:
        to.refuse("its axes are computed while the model runs")
    return _reversed_at_random(to, tensor, to.cast(axis, INT64))


@rule("Reverse", takes_complex=True)
def reverse(to: OnnxGraph, tensor: Term, dims: Term) -> Term:
    if tensor.rank == 0:
        return tensor
    if dims.array is not None:
        return reversed_along(to, tensor, [int(axis) for axis in np.flatnonzero(dims.array)])
    return _reversed_at_random(to, tensor, to.reshape(to.node("NonZero", dims, dtype=INT64), [-1]))


def _reversed_at_random(to: OnnxGraph, tensor: Term, axes: Term) -> Term:
    each = to.shape(axes)
    starts, ends, steps = (filled_array(to, each, to.constant(number)) for number in (END, FRONT, -1))
    return to.node("Slice", tensor, starts, ends, axes, steps)


@rule("ReverseSequence")
def reverse_sequence(to: OnnxGraph, input: Term, seq_lengths: Term, *, seq_dim: int, batch_dim: int) -> Term:
    """ONNX wants sequences and their steps in the first two axes."""
    if to.model.is_for_engine:
        to.refuse("lengths that are too large are not found out")
    lengths = to.cast(seq_lengths, INT64)
    if {seq_dim, batch_dim} == {0, 1}:
        return to.node("ReverseSequence", input, lengths, batch_axis=batch_dim, time_axis=seq_dim)
    rest = [axis for axis in range(to.known_rank(input)) if axis not in (seq_dim, batch_dim)]
    order = [batch_dim, seq_dim, *rest]
    turned = to.node("ReverseSequence", to.transpose(input, order), lengths, batch_axis=0, time_axis=1)
    return to.transpose(turned, [order.index(axis) for axis in range(len(order))])


@rule("Roll", takes_complex=True)
def roll(to: OnnxGraph, input: Term, shift: Term, axis: Term) -> Term:
    """Along each axis, the elements that are as many places before as they are shifted."""
    rank = to.known_rank(input)
    if axis.array is None:
        if to.model.is_for_engine:
            to.refuse("axes that are not there are not found out")
        axes = list(range(rank))
        shifts = [_shift_along(to, at, shift, axis, rank) for at in axes]
    else:
        axes = [int(item) for item in axis.array.reshape(-1)]
        shifts = parts_of(to, shift, len(axes))
    for at, by in zip(axes, shifts, strict=True):
        size = axis_size(input, at % rank)
        assert size is not None
        if isinstance(by, int) and isinstance(size, int):
            if size and by % size:
                to.require_listed(size)
                places = to.constant((np.arange(size) - by) % size)
                input = to.node("Gather", input, places, dims=input.dims, axis=at % rank)
            continue
        before = to.node("Sub", counted_indices(to, size), scalar(to, by))
        places = to.node("Mod", before, scalar(to, computed_size(to, "Max", size, 1)))
        input = to.node("Gather", input, places, dims=input.dims, axis=at % rank)
    return input


def _shift_along(to: OnnxGraph, at: int, shift: Term, axis: Term, rank: int) -> Part:
    """How many places one axis is shifted by, if the axes are computed: the sum of all shifts that name it."""
    wide = to.cast(axis, INT64)
    is_it = to.node("Equal", to.node("Mod", wide, to.constant(rank)), to.constant(at), dtype=BOOL)
    its_own = to.node("Where", is_it, to.cast(shift, INT64), to.constant(0), dtype=INT64)
    return to.node("ReduceSum", its_own, dtype=INT64, dims=(), keepdims=0)


@rule("InvertPermutation")
def invert_permutation(to: OnnxGraph, x: Term) -> Term:
    if to.model.is_for_engine:
        to.refuse("numbers that are no permutation are not found out")
    size = axis_size(x, 0) if x.dims is not None else to.shape(x)
    assert size is not None
    return to.node("ScatterElements", x, x, to.cast(counted_indices(to, size), x.dtype), axis=0)


@rule("UnravelIndex")
def unravel_index(to: OnnxGraph, indices: Term, dims: Term) -> Term:
    """The places, along each axis, of elements given by their numbers: for negative ones negative, as in C."""
    if to.model.is_for_engine:
        to.refuse("numbers of elements that are not there are not found out")
    sizes = parts_of(to, dims)
    wide = to.cast(indices, INT64)
    strides = [vector(to, [product(to, sizes[at:])]) for at in range(len(sizes) + 1)]
    below, within = to.concat(strides[1:], 0), to.concat(strides[:-1], 0)
    if to.known_rank(indices):
        below, within, wide = to.unsqueeze(below, [1]), to.unsqueeze(within, [1]), to.unsqueeze(wide, [0])
    rest = to.node("Sub", wide, to.node("Mul", to.node("Div", wide, within), within))
    return to.cast(to.node("Div", rest, below), dims.dtype)


# ---------------------------------------------------------------------------------------------------- Bits


@rule("Bitcast")
def bitcast(to: OnnxGraph, input: Term, *, type: DType) -> Term:
    """Between integers of one width a cast keeps the bits. ONNX has a BitCast since opset 26, of one width too."""
    given, wanted = input.dtype.base_dtype, type.base_dtype
    plain = [name.removeprefix("q") for name in (given.name, wanted.name)]
    if plain[0] == plain[1]:
        return to.cast(input, wanted)
    if given.itemsize != wanted.itemsize:
        to.refuse("ONNX does not take the bits of a number apart, nor puts them together")
    if given.is_integer and wanted.is_integer:
        return to.cast(input, wanted)
    if to.opset < 26 and given in (FLOAT32, FLOAT64) and not to.model.is_for_engine and _asks_for_sign(to, wanted):
        return _sign_bit(to, input, wanted)
    to.require_opset(26, "BitCast")
    return to.node("BitCast", input, dtype=wanted, to=int(element_type(wanted)))


def _asks_for_sign(to: OnnxGraph, wanted: DType) -> bool:
    """Whether of the bits of a number only the one is used that says that it is below zero."""
    users = [] if to.operation is None else to.operation.outputs[0].consumers()
    ends = [tensor.op for op in users if op.type == "BitwiseAnd" for tensor in op.inputs if tensor.op.type == "Const"]
    if not wanted.is_integer or not users or len(ends) != len(users):
        return False
    lowest = np.iinfo(wanted.array_dtype).min
    return all(np.all(array_of_tensor(op.attr("value"), op.name) == lowest) for op in ends)


def _sign_bit(to: OnnxGraph, input: Term, wanted: DType) -> Term:
    """The lowest number of a type where numbers are below zero, or a zero is; what is no number has no sign."""
    zero = to.like(input, 0)
    of_zeros = to.node("Less", to.node("Reciprocal", input), zero, dtype=BOOL)
    below = to.node("Or", to.node("Less", input, zero, dtype=BOOL), of_zeros, dtype=BOOL)
    ends = [to.constant(np.array(number, wanted.array_dtype)) for number in (np.iinfo(wanted.array_dtype).min, 0)]
    return to.node("Where", below, *ends, dtype=wanted)
