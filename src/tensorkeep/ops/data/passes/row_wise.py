"""Functions of an element as functions of many elements, where what they compute is the same row by row.

The body of such a function is built anew with one more dimension, the first, on all that depends on the element. Only
ops are taken whose results for a row are the same bits whatever stands in the other rows; a body with any other op, or
with one that keeps a state, is left as it is, and called for each element.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import RESOURCE, VARIANT
from tensorkeep.graph.building import building
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.functions import FunctionBody
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.messages.attrs import FunctionRef
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.ops.data.passes.mapping import ManyRows
from tensorkeep.ops.data.passes.rows import Columns
from tensorkeep.ops.shared.expressions import constant
from tensorkeep.runtime.context import KernelContext
from tensorkeep.shapes import Shape

# One input, of which every element is computed by itself.
_ELEMENT_WISE: Final = frozenset(
    {
        "Abs", "Cast", "Ceil", "DecodeRaw", "Exp", "Expm1", "Floor", "Identity", "Inv", "IsFinite", "IsInf", "IsNan",
        "Log", "Log1p", "LogicalNot", "Neg", "OnesLike", "Reciprocal", "RegexReplace", "Relu", "Relu6", "Rint", "Round",
        "Rsqrt", "Sigmoid", "Sign", "Snapshot", "Softplus", "Sqrt", "Square", "StaticRegexReplace", "StopGradient",
        "StringLength", "StringLower", "StringStrip", "StringToHashBucket", "StringToHashBucketFast", "StringToNumber",
        "StringUpper", "Tanh", "ZerosLike",
    }
)  # fmt: skip
# What chooses which operations run, or runs them again: a body with these is one of several.
_CONTROL_FLOW: Final = frozenset(("Enter", "Exit", "LoopCond", "Merge", "NextIteration", "Switch"))
# Two or three inputs, which are brought to one shape from their last dimensions on.
_BROADCASTING: Final = frozenset(
    {
        "Add", "AddV2", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Equal", "FloorDiv", "FloorMod", "Greater",
        "GreaterEqual", "Less", "LessEqual", "LogicalAnd", "LogicalOr", "Maximum", "Minimum", "Mod", "Mul", "NotEqual",
        "Pow", "RealDiv", "SelectV2", "SquaredDifference", "Sub", "TruncateDiv", "TruncateMod",
    }
)  # fmt: skip


class _NotRowWiseError(Exception):
    """An op whose result for a row may depend on other rows, or that nobody has said it of."""


@dataclass(frozen=True)
class _Value:
    """A tensor of the new body, and whether it has the dimension of the rows."""

    tensor: Tensor
    is_rowed: bool
    shape: Shape
    """That of one row."""


@dataclass(frozen=True)
class RowWiseProgram:
    """What computes a function of an element for many elements."""

    call: Callable[..., Sequence[Any]]
    rowed: Sequence[bool]
    """Which of its results have the dimension of the rows."""


def row_wise_program(ctx: KernelContext, reference: FunctionRef, captured: int) -> RowWiseProgram | None:
    """A function of an element, and of so many tensors from outside, for many elements at once; None if it is none."""
    rowed: list[bool] = []

    def rewrite(body: FunctionBody) -> FunctionBody | None:
        try:
            found, flags = row_wise_body(body, len(body.inputs) - captured)
        except _NotRowWiseError:
            return None
        rowed[:] = flags
        return found

    program = ctx.rewritten_function(reference, rewrite)
    return None if program is None or not any(rowed) else RowWiseProgram(program, rowed)


def many_rows(program: RowWiseProgram, captured: Sequence[Any]) -> ManyRows:
    """Such a program with the tensors from outside."""

    def call(columns: Columns) -> Columns:
        count = len(columns)
        results = program.call(*columns.arrays, *captured)
        return Columns(
            [_row_results(value, is_row, count) for value, is_row in zip(results, program.rowed, strict=True)], count
        )

    return call


def _row_results(value: Any, is_rowed: bool, count: int) -> Array:
    if not is_rowed:
        return np.broadcast_to(np.asarray(value), (count, *np.shape(value)))
    if np.shape(value)[:1] != (count,):
        raise ValueError(f"{count} rows became {np.shape(value)}")
    return np.asarray(value)


def row_wise_body(body: FunctionBody, components: int) -> tuple[FunctionBody, list[bool]]:
    """The body for many rows, and which of its outputs have the dimension of the rows."""
    if body.controls:
        raise _NotRowWiseError
    graph = Graph()
    graph.functions.update(body.graph.functions)
    body.graph.infer_shapes()
    values: dict[Tensor, _Value] = {}
    inputs: list[Tensor] = []
    with building(graph):
        for position, tensor in enumerate(body.inputs):
            is_rowed = position < components
            shape = tensor.static_shape
            if is_rowed and tensor.dtype in (RESOURCE, VARIANT):
                raise _NotRowWiseError
            told = _with_rows(shape) if is_rowed else shape
            made = get_op("Placeholder")(dtype=tensor.dtype, shape=told, name=tensor.op.name)
            values[tensor] = _Value(made, is_rowed, shape)
            inputs.append(made)
        for op in body.graph.operations:
            if op.outputs and op.outputs[0] not in values:
                _add(op, values, graph)
    outputs = [values[tensor] for tensor in body.outputs]
    made_body = FunctionBody(body.name, graph, tuple(inputs), tuple(value.tensor for value in outputs), ())
    return made_body, [value.is_rowed for value in outputs]


def _with_rows(shape: Shape) -> Shape:
    return Shape(None) if shape.dims is None else Shape((None, *shape.dims))


def _add(op: Operation, values: dict[Tensor, _Value], graph: Graph) -> None:
    """Adds what an operation is for many rows."""
    if (
        op.spec.schema.is_stateful
        or op.spec.capabilities
        or op.type in op.graph.functions
        or op.type.removeprefix("Ref") in _CONTROL_FLOW
    ):
        raise _NotRowWiseError
    inputs = [values[tensor] for tensor in op.inputs]
    if not any(value.is_rowed for value in inputs):
        made = graph.add_operation(op.spec, op.name, [value.tensor for value in inputs], dict(op.attrs))
        graph.infer_shapes()
        values.update((tensor, _Value(new, False, tensor.static_shape)) for tensor, new in _pairs(op, made))
        return
    rule = _RULES.get(op.type)
    if rule is None:
        raise _NotRowWiseError
    new_inputs, attrs = rule(op, inputs)
    made = graph.add_operation(op.spec, op.name, new_inputs, {**op.attrs, **attrs})
    graph.infer_shapes()
    values.update((tensor, _Value(new, True, tensor.static_shape)) for tensor, new in _pairs(op, made))


def _pairs(op: Operation, made: Operation) -> Sequence[tuple[Tensor, Tensor]]:
    return list(zip(op.outputs, made.outputs, strict=True))


# --------------------------------------------------------------------------------------------------------------- Rules

_Rule = Callable[[Operation, Sequence[_Value]], tuple[list[Tensor], dict[str, Any]]]


def _rank(value: _Value) -> int:
    if value.shape.rank is None:
        raise _NotRowWiseError
    return value.shape.rank


def _known_array(value: _Value) -> Array:
    """The value of an input that is a constant."""
    found = None if value.is_rowed else constant_value(value.tensor)
    if found is None:
        raise _NotRowWiseError
    return found


def _only_first(inputs: Sequence[_Value]) -> None:
    if not inputs[0].is_rowed or any(value.is_rowed for value in inputs[1:]):
        raise _NotRowWiseError


def _element_wise(op: Operation, inputs: Sequence[_Value]) -> tuple[list[Tensor], dict[str, Any]]:
    _only_first(inputs)
    return [value.tensor for value in inputs], {}


def _broadcasting(op: Operation, inputs: Sequence[_Value]) -> tuple[list[Tensor], dict[str, Any]]:
    largest = max(_rank(value) for value in inputs)
    return [_widen_tensor(value, largest) for value in inputs], {}


def _widen_tensor(value: _Value, rank: int) -> Tensor:
    """A tensor with rows, whose other dimensions stand where those of a larger rank are."""
    found = value.tensor
    for _ in range(rank - _rank(value) if value.is_rowed else 0):
        found = get_op("ExpandDims")(found, constant(1))
    return found


def _parsing(op: Operation, inputs: Sequence[_Value]) -> tuple[list[Tensor], dict[str, Any]]:
    """Examples: a batch of them, of features that every row has in one size."""
    _only_first(inputs)
    is_fixed = all(shape.dims is not None and None not in shape.dims for shape in op.attr("dense_shapes"))
    if _rank(inputs[0]) or op.attr("num_sparse") or op.attr("ragged_value_types") or not is_fixed:
        raise _NotRowWiseError
    if constant_value(inputs[1].tensor) is None or _known_array(inputs[1]).size:
        raise _NotRowWiseError
    return [value.tensor for value in inputs], {}


def _reshaping(op: Operation, inputs: Sequence[_Value]) -> tuple[list[Tensor], dict[str, Any]]:
    _only_first(inputs)
    sizes = _known_array(inputs[1]).tolist()
    if -1 in sizes:
        dims = inputs[0].shape.dims
        if dims is None or None in dims:
            raise _NotRowWiseError
        others = int(np.prod([size for size in sizes if size != -1], dtype=np.int64))
        total = int(np.prod([size or 0 for size in dims], dtype=np.int64))
        if not others or total % others:
            raise _NotRowWiseError
        sizes = [total // others if size == -1 else size for size in sizes]
    if 0 in sizes:
        raise _NotRowWiseError
    return [inputs[0].tensor, constant(np.array([-1, *sizes], np.int32))], {"Tshape": constant(0).dtype}


def _expanding(op: Operation, inputs: Sequence[_Value]) -> tuple[list[Tensor], dict[str, Any]]:
    _only_first(inputs)
    axis = int(_known_array(inputs[1]).reshape(-1)[0])
    return [inputs[0].tensor, constant(axis + (axis >= 0))], {"Tdim": constant(0).dtype}


def _squeezing(op: Operation, inputs: Sequence[_Value]) -> tuple[list[Tensor], dict[str, Any]]:
    axes = list(op.attr("squeeze_dims") or ())
    if not axes:
        dims = inputs[0].shape.dims
        if dims is None or None in dims:
            raise _NotRowWiseError
        axes = [axis for axis, size in enumerate(dims) if size == 1]
        if not axes:
            raise _NotRowWiseError
    return [inputs[0].tensor], {"squeeze_dims": tuple(axis + (axis >= 0) for axis in axes)}


def _slicing(op: Operation, inputs: Sequence[_Value]) -> tuple[list[Tensor], dict[str, Any]]:
    _only_first(inputs)
    parts = [_known_array(value) for value in inputs[1:]]
    dtype = inputs[1].tensor.dtype
    heads = [0, 0, 1]
    tensors = [constant(np.concatenate([[head], part]), dtype) for head, part in zip(heads, parts, strict=True)]
    masks = {name: op.attr(name) << 1 for name in ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask")}
    whole = {name: op.attr(name) << 1 | 1 for name in ("begin_mask", "end_mask")}
    return [inputs[0].tensor, *tensors], {**masks, **whole}


def _one_hot(op: Operation, inputs: Sequence[_Value]) -> tuple[list[Tensor], dict[str, Any]]:
    _only_first(inputs)
    axis = op.attr("axis")
    return [value.tensor for value in inputs], {"axis": axis + (axis >= 0)}


def _packing(op: Operation, inputs: Sequence[_Value]) -> tuple[list[Tensor], dict[str, Any]]:
    axis = op.attr("axis")
    if not all(value.is_rowed for value in inputs):
        raise _NotRowWiseError
    return [value.tensor for value in inputs], {"axis": axis + (axis >= 0)}


def _concatenating(op: Operation, inputs: Sequence[_Value]) -> tuple[list[Tensor], dict[str, Any]]:
    *parts, axis = inputs
    at = int(_known_array(axis))
    if not all(value.is_rowed for value in parts):
        raise _NotRowWiseError
    return [*(value.tensor for value in parts), constant(at + (at >= 0))], {"Tidx": constant(0).dtype}


def _transposing(op: Operation, inputs: Sequence[_Value]) -> tuple[list[Tensor], dict[str, Any]]:
    _only_first(inputs)
    order = _known_array(inputs[1])
    return [inputs[0].tensor, constant(np.array([0, *(order + 1)], np.int32))], {"Tperm": constant(0).dtype}


_RULES: Final[dict[str, _Rule]] = {
    **dict.fromkeys(_ELEMENT_WISE, _element_wise),
    **dict.fromkeys(_BROADCASTING, _broadcasting),
    "ConcatV2": _concatenating,
    "ExpandDims": _expanding,
    "OneHot": _one_hot,
    "Pack": _packing,
    "ParseExampleV2": _parsing,
    "Reshape": _reshaping,
    "Squeeze": _squeezing,
    "StridedSlice": _slicing,
    "Transpose": _transposing,
}
