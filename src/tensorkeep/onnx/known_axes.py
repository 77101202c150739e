"""Which axes of values are of one size, though that size is not known: as many rows as the input has.

    y = Relu(BiasAdd(MatMul(x, w), b))        the first axis of y is of the size of x's

What is known of the result of an operation is told by the shapes of its inputs: where one of its sizes can only be that
of one input's axis, it is. A shape that a graph computes from any of those values is then the same shape.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from math import prod
from typing import Final, TypeAlias

from tensorkeep.graph.graph import Operation
from tensorkeep.onnx.known_sizes import Sizes, sizes_of
from tensorkeep.onnx.terms import Size, SizeOf, Term, axis_size

_Find: TypeAlias = Callable[[Operation, Sequence[Term], int], "Sizes | None"]


def known_axes(op: Operation, inputs: Sequence[Term], rank: int) -> Sizes | None:
    """The sizes of the axes of an operation's first result, as far as they are sizes of its inputs' axes."""
    find = _KNOWN.get(op.type)
    if find is None:
        return None
    found = find(op, inputs, rank)
    return found if found is not None and len(found) == rank else None


def all_axes(term: Term) -> Sizes | None:
    """The sizes of a value's axes; None if not even their number is known."""
    return None if term.dims is None else tuple(axis_size(term, axis) for axis in range(len(term.dims)))


def are_same_axes(one: Term, other: Term, count: int | None = None) -> bool:
    """Whether two values are known to have the same shape, or the same sizes of their first axes."""
    first, second = all_axes(one), all_axes(other)
    return first is not None and second is not None and first[:count] == second[:count]


def quotient(whole: Sequence[Size], part: Sequence[Size]) -> Size:
    """The product of some sizes divided by that of others, if that is known to be a number or the size of one axis."""
    if None in whole or None in part:
        return None
    more, fewer = (Counter(size for size in sizes if isinstance(size, SizeOf)) for sizes in (whole, part))
    if fewer - more:
        return None
    left = list((more - fewer).elements())
    above, below = (prod(size for size in sizes if isinstance(size, int)) for sizes in (whole, part))
    if not below or above % below:
        return None
    factor = above // below
    if not left:
        return factor
    return left[0] if len(left) == 1 and factor == 1 else None


# ---------------------------------------------------------------------------------------------------- Families


def _same(op: Operation, inputs: Sequence[Term], rank: int) -> Sizes | None:
    return all_axes(inputs[0])


def _broadcast(op: Operation, inputs: Sequence[Term], rank: int) -> Sizes | None:
    return _broadcast_sizes(inputs, rank)


def _broadcast_sizes(inputs: Sequence[Term], rank: int) -> Sizes | None:
    """The sizes of a broadcast result: of each axis the one size that the inputs have there, apart from ones."""
    shapes = [all_axes(term) for term in inputs]
    if any(shape is None for shape in shapes):
        return None
    found: list[Size] = []
    for back in range(rank, 0, -1):
        sizes = {shape[-back] for shape in shapes if shape is not None and len(shape) >= back}
        wider = sizes - {1}
        found.append(wider.pop() if len(wider) == 1 else None)
    return tuple(found)


def _rows(op: Operation, inputs: Sequence[Term], rank: int) -> Sizes | None:
    """The sizes of the result of an operation on images and the like, of which only the number of images is known."""
    return (axis_size(inputs[0], 0), *[None] * (rank - 1)) if inputs[0].dims and rank else None


def _matmul(op: Operation, inputs: Sequence[Term], rank: int) -> Sizes | None:
    first, second = all_axes(inputs[0]), all_axes(inputs[1])
    if first is None or second is None or len(first) != 2 or len(second) != 2:
        return None
    return first[1 if op.attr("transpose_a") else 0], second[0 if op.attr("transpose_b") else 1]


def _batch_matmul(op: Operation, inputs: Sequence[Term], rank: int) -> Sizes | None:
    first, second = all_axes(inputs[0]), all_axes(inputs[1])
    if first is None or second is None or len(first) < 2 or len(second) < 2 or rank < 2:
        return None
    batch: list[Size] = []
    for back in range(rank, 2, -1):
        sizes = {shape[-back] for shape in (first, second) if len(shape) >= back} - {1}
        batch.append(sizes.pop() if len(sizes) == 1 else None)
    return (*batch, first[-1 if op.attr("adj_x") else -2], second[-2 if op.attr("adj_y") else -1])


def _einsum(op: Operation, inputs: Sequence[Term], rank: int) -> Sizes | None:
    equation = op.attr("equation")
    assert isinstance(equation, bytes)
    left, _, right = equation.decode().replace(" ", "").partition("->")
    if "." in left or len(left.split(",")) != len(inputs):
        return None
    by_label: dict[str, Size] = {}
    for labels, term in zip(left.split(","), inputs, strict=True):
        sizes = all_axes(term)
        if sizes is None or len(sizes) != len(labels):
            return None
        for label, size in zip(labels, sizes, strict=True):
            if size != 1:
                by_label.setdefault(label, size)
    return tuple(by_label.get(label) for label in right)


def _reduced(op: Operation, inputs: Sequence[Term], rank: int) -> Sizes | None:
    sizes, axes = all_axes(inputs[0]), inputs[1].array
    if sizes is None or axes is None:
        return None
    gone = {int(axis) % len(sizes) for axis in axes.reshape(-1)} if sizes else set()
    if op.attr("keep_dims"):
        return tuple(1 if axis in gone else size for axis, size in enumerate(sizes))
    return tuple(size for axis, size in enumerate(sizes) if axis not in gone)


def _one_axis_less(op: Operation, inputs: Sequence[Term], rank: int) -> Sizes | None:
    sizes, axis = all_axes(inputs[0]), inputs[1].array
    if not sizes or axis is None:
        return None
    at = int(axis.reshape(-1)[0]) % len(sizes)
    return (*sizes[:at], *sizes[at + 1 :])


# ---------------------------------------------------------------------------------------------------- Other shapes


def _transposed_sizes(op: Operation, inputs: Sequence[Term], rank: int) -> Sizes | None:
    sizes, order = all_axes(inputs[0]), inputs[1].array
    return None if sizes is None or order is None else tuple(sizes[int(axis)] for axis in order.reshape(-1))


def _reshaped_sizes(op: Operation, inputs: Sequence[Term], rank: int) -> Sizes | None:
    """The sizes that the new shape says; one that it leaves open (-1) follows from the sizes of the input."""
    given, wanted = all_axes(inputs[0]), sizes_of(inputs[1])
    if wanted is None or wanted.count(-1) > 1:
        return wanted
    if -1 not in wanted:
        return wanted
    at = wanted.index(-1)
    others = (*wanted[:at], *wanted[at + 1 :])
    return (*wanted[:at], None if given is None else quotient(given, others), *wanted[at + 1 :])


def _expanded_sizes(op: Operation, inputs: Sequence[Term], rank: int) -> Sizes | None:
    sizes, axis = all_axes(inputs[0]), inputs[1].array
    if sizes is None or axis is None:
        return None
    at = int(axis.item()) % (len(sizes) + 1)
    return (*sizes[:at], 1, *sizes[at:])


def _squeezed_sizes(op: Operation, inputs: Sequence[Term], rank: int) -> Sizes | None:
    sizes, axes = all_axes(inputs[0]), op.attr("squeeze_dims")
    if sizes is None or not axes:
        return None
    assert isinstance(axes, list | tuple)
    gone = {int(axis) % len(sizes) for axis in axes}
    return tuple(size for axis, size in enumerate(sizes) if axis not in gone)


def _packed_sizes(op: Operation, inputs: Sequence[Term], rank: int) -> Sizes | None:
    sizes, axis = all_axes(inputs[0]), op.attr("axis")
    assert isinstance(axis, int)
    at = axis % rank
    return None if sizes is None else (*sizes[:at], len(inputs), *sizes[at:])


def _concatenated_sizes(op: Operation, inputs: Sequence[Term], rank: int) -> Sizes | None:
    values = inputs[:-1] if op.type == "ConcatV2" else inputs[1:]
    axis = (inputs[-1] if op.type == "ConcatV2" else inputs[0]).array
    shapes = [all_axes(term) for term in values]
    if axis is None or not rank:
        return None
    at = int(axis.reshape(-1)[0]) % rank
    found: list[Size] = []
    for number in range(rank):
        sizes = [shape[number] for shape in shapes if shape is not None and len(shape) == rank]
        found.append(None if number == at else next((size for size in sizes if size is not None), None))
    return tuple(found)


def _parts(op: Operation, inputs: Sequence[Term], rank: int) -> Sizes | None:
    """The sizes of parts along an axis: those of the other axes."""
    value, axis = (inputs[1], inputs[0]) if op.type == "Split" else (inputs[0], inputs[-1])
    sizes = all_axes(value)
    if not sizes or axis.array is None:
        return None
    at = int(axis.array.reshape(-1)[0]) % len(sizes)
    return tuple(None if number == at else size for number, size in enumerate(sizes))


def _strided_sizes(op: Operation, inputs: Sequence[Term], rank: int) -> Sizes | None:
    """The sizes of a strided slice, of which those of axes that are not cut are known."""
    sizes = all_axes(inputs[0])
    bounds = [sizes_of(term) for term in inputs[1:4]]
    if sizes is None or any(bound is None for bound in bounds):
        return None
    begin, end, step = (bound or () for bound in bounds)
    masks = {name: op.attr(f"{name}_mask") for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")}
    numbers = {name: mask if isinstance(mask, int) else 0 for name, mask in masks.items()}
    found: list[Size] = []
    axis, entries = 0, len(begin)
    for entry in range(entries):
        if numbers["ellipsis"] >> entry & 1:
            after = sum(1 for later in range(entry + 1, entries) if not numbers["new_axis"] >> later & 1)
            whole = max(len(sizes) - axis - after, 0)
            found.extend(sizes[axis : axis + whole])
            axis += whole
        elif numbers["new_axis"] >> entry & 1:
            found.append(1)
        else:
            if axis >= len(sizes):
                return None
            starts = bool(numbers["begin"] >> entry & 1) or begin[entry] == 0
            ends = bool(numbers["end"] >> entry & 1) or end[entry] == sizes[axis]
            if not numbers["shrink_axis"] >> entry & 1:
                found.append(sizes[axis] if starts and ends and step[entry] == 1 else None)
            axis += 1
    return (*found, *sizes[axis:])


def _sliced_sizes(op: Operation, inputs: Sequence[Term], rank: int) -> Sizes | None:
    sizes, begin, size = all_axes(inputs[0]), sizes_of(inputs[1]), sizes_of(inputs[2])
    if sizes is None or begin is None or size is None:
        return size
    whole = [start == 0 and count == -1 for start, count in zip(begin, size, strict=True)]
    return tuple(
        own if is_whole else None if count == -1 else count
        for own, count, is_whole in zip(sizes, size, whole, strict=True)
    )


def _gathered_sizes(op: Operation, inputs: Sequence[Term], rank: int) -> Sizes | None:
    sizes, places = all_axes(inputs[0]), all_axes(inputs[1])
    axis = inputs[2].array if op.type == "GatherV2" else None
    if sizes is None or places is None or (op.type == "GatherV2" and (axis is None or op.attr("batch_dims"))):
        return None
    at = 0 if axis is None else int(axis.reshape(-1)[0]) % max(len(sizes), 1)
    return (*sizes[:at], *places, *sizes[at + 1 :])


def _gathered_rows(op: Operation, inputs: Sequence[Term], rank: int) -> Sizes | None:
    places = all_axes(inputs[1])
    return None if places is None or op.attr("batch_dims") else (*places, *[None] * (rank - len(places)))


def _as_told(place: int) -> _Find:
    def find(op: Operation, inputs: Sequence[Term], rank: int) -> Sizes | None:
        return sizes_of(inputs[place])

    return find


def _tiled_sizes(op: Operation, inputs: Sequence[Term], rank: int) -> Sizes | None:
    sizes, times = all_axes(inputs[0]), sizes_of(inputs[1])
    if sizes is None or times is None or len(times) != len(sizes):
        return None
    return tuple(size if many == 1 else many if size == 1 else None for size, many in zip(sizes, times, strict=True))


def _padded_sizes(op: Operation, inputs: Sequence[Term], rank: int) -> Sizes | None:
    sizes, amounts = all_axes(inputs[0]), inputs[1].array
    if sizes is None or amounts is None:
        return None
    return tuple(None if around.any() else size for size, around in zip(sizes, amounts, strict=True))


def _one_hot(op: Operation, inputs: Sequence[Term], rank: int) -> Sizes | None:
    sizes, axis = all_axes(inputs[0]), op.attr("axis")
    assert isinstance(axis, int)
    at = rank - 1 if axis == -1 else axis
    return None if sizes is None else (*sizes[:at], None, *sizes[at:])


_SAME: Final = (
    "Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BiasAdd", "BiasAddV1", "Cast", "Ceil",
    "CheckNumerics", "ClipByValue", "Cos", "Cosh", "Cumprod", "Cumsum", "Digamma", "Elu", "Erf", "Erfc", "Exp",
    "Expm1", "FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVars", "Floor", "FusedBatchNorm", "FusedBatchNormV2",
    "FusedBatchNormV3", "Inv", "InvertPermutation", "IsFinite", "IsInf", "IsNan", "LRN", "LeakyRelu", "Lgamma",
    "Log", "Log1p", "LogSoftmax", "LogicalNot", "MatrixBandPart", "Neg", "OnesLike", "Reciprocal", "Relu", "Relu6",
    "Reverse", "ReverseSequence", "ReverseV2", "Rint", "Roll", "Round", "Rsqrt", "Selu", "Sigmoid", "Sign", "Sin",
    "Sinh", "Softmax", "Softplus", "Softsign", "Sqrt", "Square", "Tan", "Tanh", "ZerosLike",
)  # fmt: skip
_JOINED: Final = (
    "Add", "AddV2", "Atan2", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "DivNoNan", "Equal", "FloorDiv",
    "FloorMod", "Greater", "GreaterEqual", "Less", "LessEqual", "LogicalAnd", "LogicalOr", "Maximum", "Minimum",
    "Mod", "Mul", "MulNoNan", "NotEqual", "Pow", "RealDiv", "SelectV2", "SquaredDifference", "Sub", "TruncateDiv",
    "TruncateMod", "Xdivy", "Xlogy",
)  # fmt: skip
_ROWS: Final = (
    "AvgPool", "AvgPool3D", "Conv2D", "Conv3D", "DepthToSpace", "DepthwiseConv2dNative", "ExtractImagePatches",
    "MaxPool", "MaxPool3D", "MaxPoolV2", "ResizeArea", "ResizeBicubic", "ResizeBilinear", "ResizeNearestNeighbor",
    "SpaceToDepth",
)  # fmt: skip

_KNOWN: Final[dict[str, _Find]] = {
    **dict.fromkeys(_SAME, _same),
    **dict.fromkeys(_JOINED, _broadcast),
    **dict.fromkeys(_ROWS, _rows),
    **dict.fromkeys(("All", "Any", "Max", "Mean", "Min", "Prod", "Sum", "EuclideanNorm"), _reduced),
    **dict.fromkeys(("ArgMax", "ArgMin"), _one_axis_less),
    **dict.fromkeys(("BatchMatMul", "BatchMatMulV2"), _batch_matmul),
    **dict.fromkeys(("Concat", "ConcatV2"), _concatenated_sizes),
    **dict.fromkeys(("Gather", "GatherV2"), _gathered_sizes),
    **dict.fromkeys(("Pad", "PadV2", "MirrorPad"), _padded_sizes),
    **dict.fromkeys(("Split", "SplitV"), _parts),
    "BroadcastTo": _as_told(1),
    "Einsum": _einsum,
    "ExpandDims": _expanded_sizes,
    "Fill": _as_told(0),
    "MatMul": _matmul,
    "OneHot": _one_hot,
    "Pack": _packed_sizes,
    "Reshape": _reshaped_sizes,
    "ResourceGather": _gathered_rows,
    "Slice": _sliced_sizes,
    "Squeeze": _squeezed_sizes,
    "StridedSlice": _strided_sizes,
    "Tile": _tiled_sizes,
    "Transpose": _transposed_sizes,
}
