"""Arrays without elements, which end the process in some of ONNX Runtime's operators: where they may come up.

ONNX Runtime 1.31 divides by a size of zero, or takes no memory for it and fails an assertion, in the operators of
`ENDS_PROCESS`; no exception can be caught then. What goes into a part is seen to have elements before each run; here it
is followed through the part's graph which of its values have elements whenever all inputs do. An operator of the list
that may be given any other is not run there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeAlias

import numpy as np
import onnx_ir as ir

ENDS_PROCESS: Final[dict[str, tuple[int, ...]]] = {
    "Conv": (1,),
    "Einsum": (0, 1),
    "GRU": (0, 1, 2),
    "LSTM": (0, 1, 2),
    "STFT": (2,),
    "Unique": (0,),
}
"""The operators of ONNX that rules write and that end the process, or never end, on empty arrays: by which inputs.

Found by giving each operator that a rule writes empty arrays in a process of its own, with ONNX Runtime 1.31.
"""

ENDS_PROCESS_FUSED: Final[dict[str, str]] = {"LayerNormalization": "Add"}
"""The operators that ONNX Runtime makes one of with what they are given, if that comes of these, however many in a row;
the one that it makes (SkipLayerNormalization) ends the process where one of the sums' terms is empty, and others not.

Found in the same way, with all neighbours that ONNX Runtime 1.31 makes one operator of.
"""

_ELEMENTWISE: Final = (
    "Abs", "Acos", "Acosh", "Add", "And", "Asin", "Asinh", "Atan", "Atanh", "BitShift", "BitwiseAnd", "BitwiseNot",
    "BitwiseOr", "BitwiseXor", "Cast", "Ceil", "Celu", "Clip", "Cos", "Cosh", "Div", "Elu", "Equal", "Erf", "Exp",
    "Floor", "Gelu", "Greater", "GreaterOrEqual", "HardSigmoid", "HardSwish", "Identity", "IsInf", "IsNaN", "LeakyRelu",
    "Less", "LessOrEqual", "Log", "Max", "Mean", "Min", "Mish", "Mod", "Mul", "Neg", "Not", "Or", "PRelu", "Pow",
    "Reciprocal", "Relu", "Round", "Selu", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Sub",
    "Sum", "Tan", "Tanh", "ThresholdedRelu", "Where", "Xor",
)  # fmt: skip
_OF_ALL: Final = frozenset((  # whose results have elements if all that they take has
    *_ELEMENTWISE, "Einsum", "GRU", "Gather", "GatherElements", "GatherND", "Gemm", "LSTM", "MatMul", "MatMulInteger",
    "RNN",
))  # fmt: skip
_OF_FIRST: Final = frozenset((  # whose results have elements if the first that they take has
    "ArgMax", "ArgMin", "BatchNormalization", "CumSum", "DepthToSpace", "DequantizeLinear", "Flatten",
    "GlobalAveragePool", "GlobalMaxPool", "GroupNormalization", "InstanceNormalization", "LRN", "LayerNormalization",
    "LogSoftmax", "LpNormalization", "QuantizeLinear", "RMSNormalization", "ReduceL1", "ReduceL2", "ReduceLogSum",
    "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare", "Reshape",
    "ReverseSequence", "ScatterElements", "ScatterND", "Softmax", "Squeeze", "Transpose", "Trilu", "Unique",
    "Unsqueeze",
))  # fmt: skip
_SAME_NUMBERS: Final = frozenset(  # whose elements are all among those of the first that they take
    ("Cast", "Expand", "Flatten", "Gather", "Identity", "Reshape", "Slice", "Split", "Squeeze", "Tile", "Unsqueeze")
)
_ALL: Final = 1 << 30  # an end of a slice that is beyond any axis

_Rule: TypeAlias = Callable[["FilledValues", ir.Node], bool]


class FilledValues:
    """Which values of a graph have elements whenever all of the graph's inputs do; looked at node by node."""

    def __init__(self, may_be_empty: Iterable[ir.Value] = ()) -> None:
        """`may_be_empty` are inputs that may have none."""
        self._filled: dict[ir.Value, bool] = dict.fromkeys(may_be_empty, False)

    def dangers(self, nodes: Iterable[ir.Node]) -> list[ir.Node]:
        """Looks at further nodes, in their order; gives those that might end the process."""
        return [node for node in nodes if self._look(node)]

    def is_filled(self, value: ir.Value | None) -> bool:
        """Whether a value is known to have elements. Inputs that are left out, and those of the part, count as such."""
        if value is None:
            return True
        if value.const_value is not None:
            return bool(value.const_value.size)
        sizes = None if value.shape is None else list(value.shape)
        if sizes is not None and 0 in sizes:
            return False
        if sizes is not None and all(isinstance(size, int) for size in sizes):
            return True
        return self._filled.get(value, value.producer() is None)

    def are_positive(self, value: ir.Value | None) -> bool:
        """Whether all elements of a value of sizes are known to be above zero."""
        if value is None:
            return False
        if value.const_value is not None:
            array = value.const_value.numpy()
            return array.dtype.kind in "iuf" and bool((array > 0).all())
        node = value.producer()
        if node is None or node.domain:
            return False
        if node.op_type == "Shape":
            return self.is_filled(node.inputs[0])
        if node.op_type in _SAME_NUMBERS:
            return self.are_positive(node.inputs[0])
        return node.op_type in ("Concat", "Max", "Min", "Mul", "Add") and all(map(self.are_positive, node.inputs))

    def _look(self, node: ir.Node) -> bool:
        """Notes what a node's results are. Whether it, or one in its graphs, might end the process."""
        if any(attr.type == ir.AttributeType.GRAPH for attr in node.attributes.values()):
            return self._look_inside(node)
        rule = _RULES.get(node.op_type) if not node.domain else None
        if node.op_type in _OF_ALL and not node.domain:
            found = all(map(self.is_filled, node.inputs))
        elif node.op_type in _OF_FIRST and not node.domain:
            found = self.is_filled(node.inputs[0])
        else:
            found = rule is not None and rule(self, node)
        for value in node.outputs:
            self._filled[value] = found
        if node.domain:
            return False
        taken = (node.inputs[at] for at in ENDS_PROCESS.get(node.op_type, ()) if at < len(node.inputs))
        return not all(map(self.is_filled, (*taken, *_of_fused(node))))

    def _look_inside(self, node: ir.Node) -> bool:
        if node.op_type == "If":
            return self._look_at_branches(node)
        if node.op_type == "Loop":
            return self._look_at_loop(node)
        danger = False
        for graph in _graphs_of(node):
            self._filled.update(dict.fromkeys(graph.inputs, False))
            danger |= bool(self.dangers(graph))
        self._filled.update(dict.fromkeys(node.outputs, False))
        return danger

    def _look_at_branches(self, node: ir.Node) -> bool:
        branches = list(_graphs_of(node))
        found = [node for branch in branches for node in self.dangers(branch)]
        for at, value in enumerate(node.outputs):
            self._filled[value] = all(self.is_filled(branch.outputs[at]) for branch in branches)
        return bool(found)

    def _look_at_loop(self, node: ir.Node) -> bool:
        """What a round is given has elements if what the loop begins with has, and what each round gives."""
        (body,) = _graphs_of(node)
        starts = node.inputs[2:]
        carried = [self.is_filled(value) for value in starts]
        while True:
            self._filled.update(zip(body.inputs[2:], carried, strict=True))
            danger = bool(self.dangers(body))
            after = [was and self.is_filled(value) for was, value in zip(carried, body.outputs[1:], strict=False)]
            if after == carried:
                break
            carried = after
        for at, value in enumerate(node.outputs):
            self._filled[value] = at < len(carried) and carried[at]
        return danger


def why_dangerous(node: ir.Node) -> str:
    """Why a node that might end the process is not run."""
    if node.op_type in ENDS_PROCESS_FUSED:
        kind = f"{node.op_type} after {ENDS_PROCESS_FUSED[node.op_type]}"
    else:
        kind = node.op_type if node.op_type in ENDS_PROCESS else f"an operator in its {node.op_type}"
    return f"ONNX Runtime may end the process where {kind} is given an array without elements, as it might be here"


def _of_fused(node: ir.Node) -> Iterator[ir.Value | None]:
    """The inputs of the operators before a node that ONNX Runtime fuses with it."""
    before = ENDS_PROCESS_FUSED.get(node.op_type)
    pending = [node.inputs[0]] if before else []
    while pending:
        value = pending.pop()
        maker = None if value is None else value.producer()
        if maker is not None and maker.op_type == before and not maker.domain:
            yield from maker.inputs
            pending.extend(maker.inputs)


def _graphs_of(node: ir.Node) -> Iterator[ir.Graph]:
    for attr in node.attributes.values():
        if attr.type == ir.AttributeType.GRAPH:
            yield attr.as_graph()


def _known_integers(value: ir.Value | None) -> list[int] | None:
    """The elements of a constant vector of integers."""
    if value is None or value.const_value is None:
        return None
    return [int(item) for item in np.asarray(value.const_value.numpy()).reshape(-1)]


# ---------------------------------------------------------------------------------------------------------- operators


def _some(filled: FilledValues, node: ir.Node) -> bool:
    return any(map(filled.is_filled, node.inputs))


def _as_many(filled: FilledValues, node: ir.Node) -> bool:
    return filled.is_filled(node.inputs[0]) and filled.are_positive(node.inputs[1])


def _of_shape(filled: FilledValues, node: ir.Node) -> bool:
    return filled.are_positive(node.inputs[0])


def _is_filled_pad(filled: FilledValues, node: ir.Node) -> bool:
    amounts = _known_integers(node.inputs[1])
    return filled.is_filled(node.inputs[0]) and amounts is not None and min(amounts, default=0) >= 0


def _is_filled_resize(filled: FilledValues, node: ir.Node) -> bool:
    sizes = node.inputs[3] if len(node.inputs) > 3 else None
    return filled.is_filled(node.inputs[0]) and filled.are_positive(sizes)


def _is_filled_slice(filled: FilledValues, node: ir.Node) -> bool:
    """Whether a slice surely has elements: each axis that is cut keeps one whatever its size, or is known to be above
    zero.
    """
    if not filled.is_filled(node.inputs[0]):
        return False
    starts, ends = _known_integers(node.inputs[1]), _known_integers(node.inputs[2])
    axes = _known_integers(node.inputs[3]) if len(node.inputs) > 3 else None
    steps = _known_integers(node.inputs[4]) if len(node.inputs) > 4 and node.inputs[4] is not None else None
    if starts is None or ends is None:
        return False
    axes = list(range(len(starts))) if axes is None else axes
    steps = [1] * len(starts) if steps is None else steps
    return all(
        _keeps_some(start, end, step) or _is_sized(node.outputs[0], axis)
        for start, end, step, axis in zip(starts, ends, steps, axes, strict=True)
    )


def _keeps_some(start: int, end: int, step: int) -> bool:
    """Whether a cut leaves something of an axis of any size above zero."""
    if step > 0:
        return (start == 0 and end >= 1) or (start == -1 and end >= _ALL)
    return (start == -1 or start >= _ALL) and end <= -_ALL


def _is_sized(value: ir.Value, axis: int) -> bool:
    """Whether the size of an axis is a known number above zero."""
    shape = value.shape
    if shape is None or not -len(shape) <= axis < len(shape):
        return False
    size = shape[axis]
    return isinstance(size, int) and size > 0


def _parts(filled: FilledValues, node: ir.Node) -> bool:
    axis = node.attributes.get_int("axis", 0)
    return filled.is_filled(node.inputs[0]) and all(_is_sized(value, axis) for value in node.outputs)


def _is_filled_window(filled: FilledValues, node: ir.Node) -> bool:
    """Whether a convolution or pool surely has elements: its windows fit even into an axis of size one with its
    padding.
    """
    if not all(map(filled.is_filled, node.inputs)):
        return False
    sizes = _window(node)
    if sizes is None:
        return False
    if node.attributes.get_string("auto_pad", "NOTSET").startswith("SAME"):
        return True
    pads = list(node.attributes.get_ints("pads", [0] * 2 * len(sizes)))
    spread = list(node.attributes.get_ints("dilations", [1] * len(sizes)))
    return all(
        _is_sized(node.outputs[0], at + 2) or pads[at] + pads[at + len(sizes)] >= (size - 1) * spread[at]
        for at, size in enumerate(sizes)
    )


def _window(node: ir.Node) -> Sequence[int] | None:
    """The sizes of the windows of a convolution or pool; None if they are not known."""
    if "kernel_shape" in node.attributes:
        return list(node.attributes.get_ints("kernel_shape", ()))
    weights = node.inputs[1] if len(node.inputs) > 1 else None
    shape = None if weights is None else weights.shape
    sizes = [] if shape is None else [size for size in list(shape)[2:] if isinstance(size, int)]
    return sizes if shape is not None and len(sizes) == len(shape) - 2 else None


_RULES: Final[dict[str, _Rule]] = {
    "AveragePool": _is_filled_window,
    "Concat": _some,
    "ConstantOfShape": _of_shape,
    "Conv": _is_filled_window,
    "Expand": _as_many,
    "MaxPool": _is_filled_window,
    "OneHot": _as_many,
    "Pad": _is_filled_pad,
    "Resize": _is_filled_resize,
    "Slice": _is_filled_slice,
    "Split": _parts,
    "Tile": _as_many,
    "TopK": _as_many,
}
