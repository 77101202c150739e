"""How much a graph computes: floating-point operations, told from shapes alone.

A multiplication and an addition are two operations. Dimensions that are not known, such as the number of examples,
count as 1; ops of which the shapes are not known at all are left out, and so are those that only move data. The numbers
of TensorFlow's profiler are the same where it has some.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, Final

import tensorkeep.ops.every  # noqa: F401 - a graph may have any op
from tensorkeep.errors import TensorKeepError
from tensorkeep.graph.functions import attrs_key, find_function, function_body, shape_key
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.messages.attrs import FunctionRef
from tensorkeep.graph.messages.graph_def import import_graph
from tensorkeep.io.showing.progress import Progress
from tensorkeep.proto.messages import FunctionDef, GraphDef
from tensorkeep.shapes import Shape

_DEEPEST: Final = 50  # functions that call functions
_TOLD_EVERY: Final = 500  # nodes
_CALLS: Final = ("f", "body", "then_branch", "else_branch")

_SIMPLE: Final = (
    *("Abs", "Add", "AddV2", "AssignAdd", "AssignSub", "BiasAdd", "Ceil", "Cos", "Div", "Equal", "Erf", "Exp", "Expm1"),
    *("Floor", "FloorDiv", "FloorMod", "Greater", "GreaterEqual", "LeakyRelu", "Less", "LessEqual", "Log", "Log1p"),
    *("Maximum", "Minimum", "Mul", "Neg", "NotEqual", "Pow", "RealDiv", "Reciprocal", "Relu", "Relu6", "Round", "Sign"),
    *("Sin", "Sqrt", "Square", "Sub"),
)
_PER_ELEMENT: Final[dict[str, int]] = {
    **dict.fromkeys(_SIMPLE, 1),
    **dict.fromkeys(("Rsqrt", "SquaredDifference", "Xdivy", "Xlogy"), 2),
    "RsqrtGrad": 4,
    **dict.fromkeys(("Elu", "Selu", "Sigmoid", "Softplus", "Softsign", "Tanh"), 4),
    **dict.fromkeys(("LogSoftmax", "Softmax", "FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"), 5),
}

_PROFILED: Final = frozenset(
    (
        *("Add", "AddN", "AddV2", "ArgMax", "ArgMin", "AssignAdd", "AssignSub", "AvgPool", "AvgPoolGrad", "BiasAdd"),
        *("BiasAddGrad", "Conv2D", "Conv2DBackpropFilter", "Conv2DBackpropInput", "Conv3D", "DepthwiseConv2dNative"),
        *("Equal", "Greater", "GreaterEqual", "L2Loss", "Less", "LessEqual", "Log", "MatMul", "MaxPool"),
        *("MaxPoolGrad", "Maximum", "Mean", "Minimum", "Mul", "Neg", "NotEqual", "Pow", "RealDiv", "Reciprocal"),
        *("Rsqrt", "RsqrtGrad", "Softmax", "Square", "SquaredDifference", "Sub", "Sum"),
        *("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Dilation2D"),
    )
)
"""The ops of which TensorFlow's profiler counts operations, in graphs of TensorFlow 1; tests/interop proves it."""
_OF_LAST_CHANNELS: Final = (
    *("AvgPool", "AvgPoolGrad", "Conv2DBackpropFilter", "Conv2DBackpropInput", "MaxPool", "MaxPoolGrad"),
)
"""Of which it counts them only if channels come last."""


@dataclass(frozen=True)
class Cost:
    """Floating-point operations, if all of a graph runs once."""

    by_op: Mapping[str, int]
    """The most expensive op first."""
    unknown: Mapping[str, int]
    """How often each op occurs of which nothing can be said, as its shapes are not known."""

    @property
    def total(self) -> int:
        return sum(self.by_op.values())


@dataclass(frozen=True)
class NodeCost:
    """What is known of one node without running it."""

    operations: int | None
    """Floating-point operations of one run; 0 if it only moves data, None if its shapes are not known."""
    outputs: tuple[str, ...]
    """The type and shape of each output: "float32 [?,10]"."""


def graph_cost(graph_def: GraphDef) -> Cost:
    """What a graph costs, with the functions that it calls. A TensorKeepError if it is no sound graph."""
    return _count_graph(graph_def, None)


def node_costs(graph_def: GraphDef, progress: Progress | None = None) -> dict[tuple[str, str], NodeCost]:
    """What is known of each node, by the name of its function (empty for the graph itself) and its own name.

    A function that is called with several shapes is told for the first. A TensorKeepError if it is no sound graph.
    `progress` is told how many nodes are done, and of how many at most; what it raises ends the work.
    """
    found: dict[tuple[str, str], NodeCost] = {}
    _count_graph(graph_def, found, progress)
    return found


def profiled_operations(op: Operation) -> int | None:
    """What TensorFlow's profiler counts of an operation: 0 of those it does not know, None if shapes are incomplete."""
    if op.type not in _PROFILED:
        return 0
    rule = _rule(op.type)
    assert rule is not None, f"every op that is profiled has a rule, but {op.type} has none"
    looked_at = (*op.inputs[:2], op.outputs[0])
    if not all(tensor.static_shape.is_fully_known for tensor in looked_at):
        return None
    is_last = op.attrs.get("data_format", b"NHWC") == b"NHWC"
    if not is_last and op.type in _OF_LAST_CHANNELS:
        return None
    return rule(op)


def _count_graph(
    graph_def: GraphDef, nodes: dict[tuple[str, str], NodeCost] | None, progress: Progress | None = None
) -> Cost:
    graph = Graph()
    import_graph(graph_def, graph, name="")
    library = {function.signature.name: function for function in graph_def.library.function}
    total = len(graph_def.node) + sum(len(function.node_def) for function in graph_def.library.function)
    tell = (lambda done: None) if progress is None else (lambda done: progress(min(done, total), total))
    counted = _Counting(library, nodes, tell).counts(graph, 0)
    return Cost(dict(counted.known.most_common()), dict(counted.unknown.most_common()))


@dataclass
class _Counts:
    known: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)


class _Counting:
    """Counts each function once for the shapes that it is called with: functions may call others without number."""

    def __init__(
        self,
        library: Mapping[str, FunctionDef],
        nodes: dict[tuple[str, str], NodeCost] | None,
        tell: Callable[[int], None],
    ) -> None:
        self._library = library
        self._nodes = nodes
        self._tell = tell
        """Told how many nodes are done."""
        self._done = 0
        self._of_functions: dict[Any, _Counts | None] = {}

    def counts(self, graph: Graph, depth: int, function: str = "") -> _Counts:
        found = _Counts()
        for op in graph.operations:
            if self._done % _TOLD_EVERY == 0:
                self._tell(self._done)
            self._done += 1
            rule = _rule(op.type)
            cost = 0 if rule is None else rule(op)
            if self._nodes is not None and (function, op.name) not in self._nodes:
                self._nodes[function, op.name] = NodeCost(cost, tuple(map(_output_text, op.outputs)))
            if rule is not None:
                _count(found, op, cost)
            elif depth < _DEEPEST:
                for name in _CALLS:
                    self._call(found, op, name, depth)
        return found

    def _call(self, found: _Counts, op: Operation, name: str, depth: int) -> None:
        function = op.attrs.get(name)
        if not isinstance(function, FunctionRef) or function.name not in self._library:
            return
        arguments = op.inputs[1:] if name.endswith("_branch") else op.inputs
        shapes = [tensor.static_shape for tensor in arguments]
        key = (function.name, attrs_key(function.attrs), tuple(map(shape_key, shapes)), depth)
        if key not in self._of_functions:
            self._of_functions[key] = self._body(function, shapes, depth)
        inner = self._of_functions[key]
        if inner is None:
            found.unknown[op.type] += 1
            return
        found.known.update(inner.known)
        found.unknown.update(inner.unknown)

    def _body(self, function: FunctionRef, shapes: Sequence[Shape], depth: int) -> _Counts | None:
        try:
            body = function_body(find_function(function.name, self._library), self._library, function.attrs, shapes)
        except TensorKeepError:
            return None
        return self.counts(body.graph, depth + 1, function.name)


def _output_text(tensor: Tensor) -> str:
    shape = tensor.static_shape
    sizes = "?" if shape.rank is None else f"[{','.join('?' if size is None else str(size) for size in shape)}]"
    return f"{tensor.dtype.base_dtype.name} {sizes}"


def _count(found: _Counts, op: Operation, cost: int | None) -> None:
    if cost is None:
        found.unknown[op.type] += 1
    elif cost:
        found.known[op.type] += cost


def _rule(op_type: str) -> Callable[[Operation], int | None] | None:
    if op_type in _PER_ELEMENT:
        return lambda op: _times(_PER_ELEMENT[op_type], _dims(op.outputs[0]))
    return _RULES.get(op_type)


def _dims(tensor: Tensor) -> list[int] | None:
    """The dimensions of a tensor, 1 for those that are not known; None if not even their number is."""
    shape = tensor.static_shape
    return None if shape.rank is None else [1 if size is None else size for size in shape]


def _times(factor: int, *lists: list[int] | None) -> int | None:
    """The product of a factor and all dimensions; None if some are not known."""
    total = factor
    for dims in lists:
        if dims is None:
            return None
        total *= prod(dims)
    return total


def _matrix_product(op: Operation) -> int | None:
    first, out = _dims(op.inputs[0]), _dims(op.outputs[0])
    if first is None or len(first) < 2:
        return None
    is_turned = op.attrs.get("transpose_a") or op.attrs.get("adj_x")
    return _times(2 * first[-2 if is_turned else -1], out)


def _convolution(op: Operation) -> int | None:
    """Every element of the output is a sum over the filter, of which the last dimension counts the outputs."""
    kernel = _dims(op.inputs[1])
    return None if kernel is None else _times(2 * prod(kernel[:-1]), _dims(op.outputs[0]))


def _depthwise(op: Operation) -> int | None:
    kernel = _dims(op.inputs[1])
    return None if kernel is None else _times(2 * prod(kernel[:2]), _dims(op.outputs[0]))


def _convolution_to_input(op: Operation) -> int | None:
    """A transposed convolution, or the gradient of one: every element that comes in is spread over the filter."""
    return _window_operations(op, op.outputs[0], op.inputs[1])


def _convolution_to_filter(op: Operation) -> int | None:
    return _window_operations(op, op.inputs[0], op.outputs[0])


def _window_operations(op: Operation, images: Tensor, filters: Tensor) -> int | None:
    """Of every stride-th place of images, all of the filter: the profiler's number, whatever the padding."""
    kernel, strides = _dims(filters), op.attrs.get("strides") or ()
    if kernel is None:
        return None
    total = _times(2 * prod(kernel) // max(kernel[-2], 1), _dims(images))
    return None if total is None else total // prod(int(stride) for stride in strides)


def _pooling(op: Operation) -> int | None:
    window: Any = op.attrs.get("ksize") or ()
    return _times(prod(int(size) for size in window), _dims(op.outputs[0]))


def _pooling_gradient(op: Operation) -> int | None:
    """A mean is spread with a factor; for a maximum the window is gone through again."""
    window: Any = op.attrs.get("ksize") or ()
    area = prod(int(size) for size in window)
    return _times(2 * area if op.type == "AvgPoolGrad" else area + 1, _dims(op.inputs[1]))


def _reduction(op: Operation) -> int | None:
    """Every element that comes in is taken up once, and a mean is divided in the end."""
    taken, left = _times(1, _dims(op.inputs[0])), _times(1, _dims(op.outputs[0]))
    if taken is None or left is None:
        return None
    return taken if op.type == "Mean" else max(taken - left, 0)


def _sum_of_many(op: Operation) -> int | None:
    return _times(len(op.inputs) - 1, _dims(op.inputs[0]))


def _half_of_squares(op: Operation) -> int | None:
    size = _times(1, _dims(op.inputs[0]))
    return None if size is None else 3 * size - 1


_RULES: Final[dict[str, Callable[[Operation], int | None]]] = {
    **dict.fromkeys(("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"), _matrix_product),
    **dict.fromkeys(("Conv2D", "Conv3D"), _convolution),
    **dict.fromkeys(("DepthwiseConv2dNative", "Dilation2D"), _depthwise),
    "Conv2DBackpropFilter": _convolution_to_filter,
    "Conv2DBackpropInput": _convolution_to_input,
    **dict.fromkeys(("AvgPoolGrad", "MaxPoolGrad"), _pooling_gradient),
    **dict.fromkeys(("AvgPool", "AvgPool3D", "MaxPool", "MaxPool3D"), _pooling),
    **dict.fromkeys(("ArgMax", "ArgMin", "BiasAddGrad", "Max", "Mean", "Min", "Prod", "Sum"), _reduction),
    "AddN": _sum_of_many,
    "L2Loss": _half_of_squares,
}
