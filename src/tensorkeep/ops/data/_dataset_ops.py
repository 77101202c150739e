"""What ops that give datasets have in common: their signatures, and functions of elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from tensorkeep.dtypes import DType
from tensorkeep.errors import InternalError, InvalidArgumentError, OutOfRangeError
from tensorkeep.graph.messages.attrs import FunctionRef
from tensorkeep.graph.registry.opspec import OpSpec, op
from tensorkeep.ops.data.passes.basics import Dataset, dataset_of
from tensorkeep.ops.data.passes.mapping import RowFunction
from tensorkeep.ops.data.passes.row_wise import many_rows
from tensorkeep.ops.data.passes.rows import Element
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.shared.shape_rules import scalar
from tensorkeep.runtime.context import KernelContext
from tensorkeep.shapes import Shape

KINDS: Final = ("output_types: list(type) >= 1", "output_shapes: list(shape) >= 1")
ARGUMENTS: Final = "Targuments: list(type) >= 0"
METADATA: Final = "metadata: string = ''"


def dataset_op(inputs: str, *attrs: str, types: str = "output_types", output: str = "handle") -> OpSpec:
    """An op that gives a dataset of elements of certain types."""
    made = op(f"{inputs} -> {output}: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[${types}], ${types}]]", *attrs)
    made.shape(scalar)
    return made


def texts_op(inputs: str, *attrs: str) -> OpSpec:
    """An op that gives a dataset of strings."""
    made = op(f"{inputs} -> handle: variant :: DATASET[TENSOR[STRING]]", *attrs)
    made.shape(scalar)
    return made


def told_shapes(*_: object, output_types: Sequence[DType], output_shapes: Sequence[Shape]) -> list[Shape]:
    """The shapes of outputs that the attributes tell."""
    if len(output_types) != len(output_shapes):
        raise InvalidArgumentError(
            f"`output_shapes` must be the same length as `output_types` ({len(output_shapes)} vs. {len(output_types)})"
        )
    return list(output_shapes)


def row_function(ctx: KernelContext, reference: FunctionRef, captured: list[Array]) -> RowFunction:
    """A function of the graph's library as one of an element; the last of its arguments are captured."""
    return RowFunction(ctx.function(reference), captured, many_rows(ctx, reference, captured))


def bound_function(
    ctx: KernelContext, reference: FunctionRef, captured: Sequence[Array]
) -> Callable[..., Sequence[Any]]:
    """A function of the graph's library, the last of whose arguments are captured. That it runs out of range is an
    error, and not the end of the data that it is called for.
    """
    function = ctx.function(reference)

    def call(*values: Any) -> Sequence[Any]:
        try:
            return function(*values, *captured)
        except OutOfRangeError as error:
            raise InternalError(f"a function that a dataset calls ran out of range: {error.message}") from error

    return call


def inner_dataset(ctx: KernelContext, reference: FunctionRef, captured: list[Array]) -> Callable[[Element], Dataset]:
    """A function that gives the dataset that an element stands for."""
    function = bound_function(ctx, reference, captured)

    def inner(element: Element) -> Dataset:
        return dataset_of(function(*element)[0])

    return inner
