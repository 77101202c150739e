"""What ops that give datasets have in common: their signatures, and functions of elements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, Final, TypeVar

from tensorkeep.dtypes import VARIANT, DType
from tensorkeep.errors import InternalError, InvalidArgumentError, OutOfRangeError
from tensorkeep.graph.graph import Operation
from tensorkeep.graph.messages.attrs import FunctionRef
from tensorkeep.graph.registry.opspec import OpSpec, op
from tensorkeep.ops.data.passes.basics import Dataset, dataset_of
from tensorkeep.ops.data.passes.mapping import RowFunction
from tensorkeep.ops.data.passes.row_wise import many_rows, row_wise_program
from tensorkeep.ops.data.passes.rows import Element
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.shared.shape_rules import scalar
from tensorkeep.runtime.context import KernelContext
from tensorkeep.runtime.keeping import Owner, keeping_apart, owned_call
from tensorkeep.shapes import Shape

KINDS: Final = ("output_types: list(type) >= 1", "output_shapes: list(shape) >= 1")
ARGUMENTS: Final = "Targuments: list(type) >= 0"
METADATA: Final = "metadata: string = ''"

KernelFunction = TypeVar("KernelFunction", bound=Callable[..., Any])


class DatasetOp(OpSpec):
    """An op that gives a dataset. Its kernel is called again, with copies of the datasets among its inputs, where the
    dataset is copied.
    """

    def kernel(self, function: KernelFunction) -> KernelFunction:
        super().kernel(self._repeatable(function, 0))
        return function

    def stateful_kernel(self, function: KernelFunction) -> KernelFunction:
        super().stateful_kernel(self._repeatable(function, 1))
        return function

    def _repeatable(self, function: Callable[..., Any], first: int) -> Callable[..., Any]:
        """A kernel whose dataset can be copied. `first` is where its inputs begin among what it is given."""

        @wraps(function)
        def kernel(*given: Any, **attrs: Any) -> Any:
            found = function(*given, **attrs)
            if not isinstance(found, Dataset) or found.again is not None or not self._shares:
                return found

            def again() -> Any:
                with keeping_apart():
                    return kernel(*given[:first], *self._copied_inputs(given[first:]), **attrs)

            return replace(found, again=again)

        return kernel

    @property
    def _shares(self) -> bool:
        """Whether passes through its datasets may share something: there are other datasets or functions in it."""
        schema = self.schema
        return any(arg.dtype is VARIANT for arg in schema.inputs) or any("func" in attr.kind for attr in schema.attrs)

    def _copied_inputs(self, inputs: Sequence[Any]) -> list[Any]:
        """The inputs, of which the datasets that elements come from are copied. What functions use stays as it is."""
        pairs = zip(self.schema.inputs, inputs, strict=True)
        return [_copied(value) if arg.dtype is VARIANT else value for arg, value in pairs]


def _copied(value: Any) -> Any:
    return [dataset_of(item).copied() for item in value] if isinstance(value, list) else dataset_of(value).copied()


def dataset_op(inputs: str, *attrs: str, types: str = "output_types", output: str = "handle") -> OpSpec:
    """An op that gives a dataset of elements of certain types."""
    made = op(
        f"{inputs} -> {output}: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[${types}], ${types}]]",
        *attrs,
        kind=DatasetOp,
    )
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
    rows = ctx.derive(f"rows of {reference.name}", lambda: row_wise_program(ctx, reference, len(captured)))
    draws = ctx.derive(f"draws of {reference.name}", lambda: draws_numbers(ctx, reference))
    many = None if rows is None else many_rows(rows, captured)
    return RowFunction(owned_function(ctx, reference), captured, many, draws)


def owned_function(ctx: KernelContext, reference: FunctionRef) -> Callable[..., Sequence[Any]]:
    """A function of the graph's library, whose operations keep what they keep for this operation's dataset and who asks
    for its elements.
    """
    return owned_call(ctx.keep("functions", Owner), ctx.function(reference))


def draws_numbers(ctx: KernelContext, reference: FunctionRef) -> bool:
    """Whether a function of the graph's library draws random numbers from a state: which one an element gets depends on
    how often it was called before.
    """
    names, seen = [reference], set[str]()
    while names:
        reference = names.pop()
        if reference.name in seen:
            continue
        seen.add(reference.name)
        for operation in ctx.body(reference).graph.operations:
            schema = operation.spec.schema
            if schema.is_stateful and "seed" in schema.attr_by_name:
                return True
            names.extend(_functions_of(operation))
    return False


def _functions_of(op: Operation) -> Iterator[FunctionRef]:
    """The functions that an operation calls: its own name may be one, and its attributes may say some."""
    if op.type in op.graph.functions:
        yield FunctionRef(op.type, dict(op.attrs))
    for value in op.attrs.values():
        for item in value if isinstance(value, list | tuple) else (value,):
            if isinstance(item, FunctionRef) and item.name in op.graph.functions:
                yield item


def bound_function(
    ctx: KernelContext, reference: FunctionRef, captured: Sequence[Array]
) -> Callable[..., Sequence[Any]]:
    """A function of the graph's library, the last of whose arguments are captured. That it runs out of range is an
    error, and not the end of the data that it is called for.
    """
    function = owned_function(ctx, reference)

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
