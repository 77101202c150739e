"""Functions applied along the first axis of tensors: map_fn, scan, foldl, foldr.

Each is a loop over an array that the tensors have been unstacked into.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, Final, TypeAlias

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, Structure, TensorSource, emit
from tensorkeep.graph.building import chosen_name, graph_of, name_scope
from tensorkeep.graph.composites import is_composite
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import plain_shape
from tensorkeep.ops.shared.expressions import first_size, minus, plus, shape_of
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.control_flow import while_loop
from tensorkeep.tf1.functions.control.tensor_array import TensorArray
from tensorkeep.tf1.functions.structures import (
    assert_same_structure,
    flatten,
    is_nested,
    map_structure,
    pack_sequence_as,
    variables_read,
)

Function = Callable[..., Any]
OutputTypes: TypeAlias = "DTypeLike | TensorSource | Sequence[OutputTypes] | Mapping[Any, OutputTypes] | None"
"""The types of what a function gives, in the same structure."""
Surroundings = Callable[[], AbstractContextManager[None]]

_SURROUNDINGS: Final[list[Surroundings]] = []


def surround(surroundings: Surroundings) -> Surroundings:
    """Registers a context that `map_fn`, `scan`, `foldl` and `foldr` enter while they build their loops."""
    _SURROUNDINGS.append(surroundings)
    return surroundings


@contextmanager
def _surrounding_scope(name: str, elems: Any) -> Iterator[None]:
    """The name scope of one of these functions, and what surrounds it."""
    with ExitStack() as stack:
        stack.enter_context(name_scope(name, graph_of(flatten(elems))))
        for surroundings in _SURROUNDINGS:
            stack.enter_context(surroundings())
        yield


def map_fn(
    fn: Function,
    elems: Structure,
    dtype: OutputTypes = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: OutputTypes = None,
) -> Any:
    """The results of `fn` on the elements of `elems`, stacked.

    `fn_output_signature` or `dtype` gives the structure and types of its results, if they differ from those of `elems`.
    """
    _check_callable(fn)
    signature = dtype if fn_output_signature is None else fn_output_signature
    elems = variables_read(elems)
    flat = flatten(elems)
    if not flat:
        raise InvalidArgumentError(
            f"elems must be a Tensor or (possibly nested) sequence of Tensors. Got {elems}, which does not contain any "
            "Tensors."
        )
    with _surrounding_scope(chosen_name(name, "map"), elems):
        tensors = _converted_values(flat)
        if tensors[0].static_shape.rank == 0:
            raise InvalidArgumentError("Elements in elems must be 1+ dimensional Tensors, not scalars")
        known = _known_length(tensors)
        length = known or first_size(shape_of(tensors[0]))
        sources = [TensorArray(tensor.dtype, size=length) for tensor in tensors]
        sources = [array.unstack(tensor) for array, tensor in zip(sources, tensors, strict=True)]
        counter = constant(0)
        specs = [_spec(item) for item in (tensors if signature is None else flatten(signature))]
        targets = [
            TensorArray(
                kind,
                size=length,
                infer_shape=infer_shape,
                element_shape=UNKNOWN_SHAPE if signature is None else shape,
            )
            for kind, shape in specs
        ]

        def compute(i: Tensor, arrays: list[TensorArray]) -> Any:
            result = fn(pack_sequence_as(elems, [array.read(i) for array in sources]))
            assert_same_structure(elems if signature is None else signature, result)
            arrays = [array.write(i, value) for array, value in zip(arrays, flatten(result), strict=True)]
            return plus(i, 1), arrays

        _, filled = while_loop(
            lambda i, _: emit("Less", i, length, name="Less"),
            compute,
            (counter, targets),
            parallel_iterations=parallel_iterations or 10,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=length,
        )
        results = _stack_arrays(filled, known)
        return pack_sequence_as(elems if signature is None else signature, results)


def scan(
    fn: Function,
    elems: Structure,
    initializer: Structure = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """All values that an accumulator takes on, stacked: `fn` of its last value and the next element.

    Without an initializer the first element is the first value.
    """
    _check_callable(fn)
    form = elems if initializer is None else initializer
    with _surrounding_scope(chosen_name(name, "scan"), elems):
        tensors = _converted_values(flatten(elems))
        known = _known_length(tensors)
        length = first_size(shape_of(tensors[0])) if known is None else known
        sources = [TensorArray(x.dtype, size=length, element_shape=_element(x)) for x in tensors]
        sources = [array.unstack(tensor) for array, tensor in zip(sources, tensors, strict=True)]
        if initializer is None:
            values = [array.read(_before(length, 1) if reverse else 0) for array in sources]
            start = 1
        else:
            values = [convert(item) for item in flatten(initializer)]
            start = 0
        targets = [
            TensorArray(
                value.dtype,
                size=length,
                element_shape=value.static_shape if infer_shape else None,
                infer_shape=infer_shape,
            )
            for value in values
        ]
        if initializer is None:
            targets = [
                array.write(_before(length, 1) if reverse else 0, value)
                for array, value in zip(targets, values, strict=True)
            ]

        def compute(i: Tensor, accumulated: list[Tensor], arrays: list[TensorArray]) -> Any:
            element = _pack_values(elems, [array.read(i) for array in sources])
            result = fn(_pack_values(form, accumulated), element)
            assert_same_structure(form, result)
            flat = flatten(result)
            arrays = [array.write(i, value) for array, value in zip(arrays, flat, strict=True)]
            return minus(i, 1) if reverse else plus(i, 1), flat, arrays

        def goes_on(i: Tensor, *_: Any) -> Tensor:
            if reverse:
                return emit("GreaterEqual", i, 0, name="GreaterEqual")
            return emit("Less", i, length, name="Less")

        first = _before(_before(length, 1), start) if reverse else start
        _, _, filled = while_loop(
            goes_on,
            compute,
            (first, values, targets),
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=length,
        )
        return _pack_values(form, _stack_arrays(filled, known))


def foldl(
    fn: Function,
    elems: Structure,
    initializer: Structure = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """The last value of an accumulator: `fn` of its last value and the next element, from the first element on."""
    _check_callable(fn)
    with _surrounding_scope(chosen_name(name, "foldl"), elems):
        length, sources = _unstack_elements(elems)
        if initializer is None:
            start: Any = map_structure(lambda array: array.read(0), sources)
            counter = constant(1)
        else:
            start = initializer
            counter = constant(0)

        def compute(i: Tensor, value: Any) -> Any:
            element = map_structure(lambda array: array.read(i), sources)
            value = fn(value, element)
            return [plus(i, 1), value]

        _, result = while_loop(
            lambda i, _: emit("Less", i, length, name="Less"),
            compute,
            [counter, start],
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=length,
        )
        return result


def foldr(
    fn: Function,
    elems: Structure,
    initializer: Structure = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """The last value of an accumulator: `fn` of its last value and the next element, from the last element back."""
    _check_callable(fn)
    with _surrounding_scope(chosen_name(name, "foldr"), elems):
        length, sources = _unstack_elements(elems)
        if initializer is None:
            counter = _before(length, 1)
            start: Any = map_structure(lambda array: array.read(counter), sources)
        else:
            counter = length
            start = initializer

        def compute(i: Tensor, value: Any) -> Any:
            at = minus(i, 1)
            element = map_structure(lambda array: array.read(at), sources)
            return [at, fn(value, element)]

        _, result = while_loop(
            lambda i, _: emit("Greater", i, 0, name="Greater"),
            compute,
            [counter, start],
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=length,
        )
        return result


# ---------------------------------------------------------------------------------------------------- Parts


def _check_callable(fn: Any) -> None:
    if not callable(fn):
        raise WrongTypeError(f"{fn!r} is not callable. Please provide a callable function.")


def _converted_values(values: Sequence[Any]) -> list[Tensor]:
    for value in values:
        if is_composite(value):
            raise WrongTypeError(f"expected tensors, got {value!r}: its elements along the first axis are no tensors")
    return [convert(value, name="elem") for value in values]


def _known_length(tensors: Sequence[Tensor]) -> int | None:
    """The size of the first axis, which all tensors share, if it is known."""
    sizes = []
    for tensor in tensors:
        dims = tensor.static_shape.dims
        if dims == ():
            raise InvalidArgumentError(f"Shape () must have rank at least 1: {tensor}")
        sizes.append(None if dims is None else dims[0])
    if len(set(sizes) - {None}) > 1:
        raise InvalidArgumentError(f"the first dimensions of the tensors differ: {sizes}")
    return sizes[0]


def _element(tensor: Tensor) -> Shape:
    dims = tensor.static_shape.dims
    return UNKNOWN_SHAPE if dims is None else Shape(dims[1:])


def _spec(item: Any) -> tuple[DType, Shape]:
    """The type, and as far as stated the shape, of a result: of a tensor, a TensorSpec, a type."""
    kind, shape = getattr(item, "dtype", None), getattr(item, "shape", None)
    if kind is None or isinstance(item, DType | np.integer):
        return DType.of(item), UNKNOWN_SHAPE
    return DType.of(kind).base_dtype, plain_shape(shape)


def _before(length: Any, steps: int) -> Any:
    """`length - steps`, now if the length is known."""
    return minus(length, steps) if isinstance(length, Tensor) else length - steps


def _pack_values(form: Any, values: Sequence[Any]) -> Any:
    return pack_sequence_as(form, list(values)) if is_nested(form) else values[0]


def _unstack_elements(elems: Any) -> tuple[Any, Any]:
    """How many elements there are, and structures of arrays that hold them."""
    tensors = _converted_values(flatten(elems))
    known = _known_length(tensors)
    length = known or first_size(shape_of(tensors[0]))
    arrays = [
        TensorArray(tensor.dtype, size=length).unstack(original)
        for tensor, original in zip(tensors, flatten(elems), strict=True)
    ]
    return length, pack_sequence_as(elems, arrays)


def _stack_arrays(arrays: Sequence[TensorArray], length: int | None) -> list[Tensor]:
    results = [array.stack() for array in arrays]
    for tensor in results:
        dims = tensor.static_shape.dims
        if dims is not None:
            tensor.set_shape(Shape((length, *dims[1:])))
    return results


__all__ = ["foldl", "foldr", "map_fn", "scan"]
