"""Checks of the shapes and types of tensors, and what graphs have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tensorkeep.dtypes import INT32, INT64
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import ShapeLike, TensorLike
from tensorkeep.graph.building import control_dependencies, current_graph, graph_of, name_scope
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import identity, squeeze
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.assertions import assert_equal, assert_scalar
from tensorkeep.tf1.functions.numbers.elementwise import add_n
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum

_INTEGERS: Final = (INT32, INT64)


def assert_scalar_int(tensor: TensorLike, name: str | None = None) -> Tensor:
    """The tensor, which must be one number of the type int32 or int64."""
    with name_scope(name or "assert_scalar_int"):
        found = convert(tensor)
        if found.dtype.base_dtype not in _INTEGERS:
            raise InvalidArgumentError(f"Expected int32 or int64 for {found.name}, got {found.dtype.name}")
        return assert_scalar(found)


def remove_squeezable_dimensions(
    predictions: TensorLike, labels: TensorLike, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Predictions and labels of one rank: whichever has a dimension more loses its last one, if that is of size 1."""
    with name_scope(name or "remove_squeezable_dimensions"):
        first, second = convert(predictions), convert(labels)
        more, less = first.static_shape.rank, second.static_shape.rank
        if more is None or less is None or abs(more - less) != 1:
            return first, second
        longer = first if more > less else second
        if longer.get_shape()[-1].value not in (None, 1):
            return first, second
        return (squeeze(first, [-1]), second) if more > less else (first, squeeze(second, [-1]))


def reduce_sum_n(tensors: Sequence[TensorLike], name: str | None = None) -> Tensor:
    """The sum of all elements of all tensors."""
    if not tensors:
        raise InvalidArgumentError("No tensors provided")
    with name_scope(name or "reduce_sum_n"):
        sums = [reduce_sum(tensor, name=f"{convert(tensor).op.name.replace('/', '_')}_sum") for tensor in tensors]
        return sums[0] if len(sums) == 1 else add_n(sums)


def with_shape(expected_shape: ShapeLike, tensor: TensorLike) -> Tensor:
    """The tensor, with a check of its shape: before running where that is known, and else in the run."""
    found = convert(tensor)
    if isinstance(expected_shape, Tensor):
        known = constant_value(expected_shape)
        if known is None:
            return _checked_tensor(expected_shape, found)
        expected_shape = known.tolist()
    wanted = TensorShape(expected_shape)
    if not found.get_shape().is_compatible_with(wanted):
        raise InvalidArgumentError(f"Invalid shape for tensor {found.name}: {found.get_shape()}, expected {wanted}.")
    if found.get_shape().is_fully_defined() or not wanted.is_fully_defined():
        found.set_shape(wanted)
        return found
    checked = _checked_tensor(constant(wanted.plain.as_tuple()), found)
    checked.set_shape(wanted)
    return checked


def _checked_tensor(expected: Tensor, tensor: Tensor) -> Tensor:
    with name_scope(f"{tensor.op.name.split('/')[-1]}/"):
        actual = shape_of(tensor, name="actual_shape")
        fits = assert_equal(actual, expected, data=[f"Wrong shape for {tensor.name}", expected, actual])
        with control_dependencies([fits]):
            return identity(tensor)


def with_same_shape(expected_tensor: TensorLike, tensor: TensorLike) -> Tensor:
    """The second tensor, with a check that it has the shape of the first."""
    expected = convert(expected_tensor)
    known = expected.get_shape()
    return with_shape(known if known.is_fully_defined() else shape_of(expected), tensor)


def get_graph_from_inputs(op_input_list: Sequence[Any], graph: Graph | None = None) -> Graph:
    """The graph that inputs belong to, which must be one."""
    if graph is not None:
        return graph
    return graph_of([item for item in op_input_list if hasattr(item, "graph")])


def get_placeholders(graph: Graph) -> list[Tensor]:
    """The placeholders of a graph, in the order in which they were made."""
    return [op.outputs[0] for op in graph.operations if op.type == "Placeholder"]


def get_name_scope() -> str:
    """The name scope that is open, without a slash at its end."""
    return current_graph().scopes.name
