"""Datasets of what Python generators give. They live in the program, not in the graph: whoever loads it lacks them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np

from tensorkeep.dtypes import INT64, STRING, DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.runtime.session import fits_shape
from tensorkeep.tf1.datasets.dataset import Dataset
from tensorkeep.tf1.datasets.functions import argument_types, trace_function
from tensorkeep.tf1.datasets.structures import Shapes, Specs, Types, flat, flat_kinds, pack_leaves, specs_of
from tensorkeep.tf1.functions.control.script import py_func
from tensorkeep.tf1.functions.type_specs import TensorSpec


class _Generators:
    """The iterators of the passes that are under way, by number."""

    def __init__(self, make: Callable[..., Any], specs: Specs) -> None:
        self._make = make
        self._specs = specs
        self._leaves = flat(specs)
        self._numbers = count()
        self._running: dict[int, Iterator[Any]] = {}

    def begin(self, *args: Any) -> np.int64:
        number = next(self._numbers)
        self._running[number] = iter(self._make(*args))
        return np.int64(number)

    def advance(self, number: np.int64) -> list[Any]:
        value = next(self._running[int(number)])
        leaves = self._values(value)
        return [self._array(leaf, spec) for leaf, spec in zip(leaves, self._leaves, strict=True)]

    def finish(self, number: np.int64) -> np.int64:
        running = self._running.pop(int(number), None)
        close = getattr(running, "close", None)
        if close is not None:
            close()
        return np.int64(0)

    def _values(self, value: Any) -> list[Any]:
        """The leaves of an element; a list stands for a tuple where one is wanted."""
        if isinstance(self._specs, tuple) and isinstance(value, list):
            value = tuple(value)
        try:
            leaves = flat(value) if not _is_leaf(self._specs) else [value]
        except TypeError:
            leaves = []
        if len(leaves) != len(self._leaves) or (not _is_leaf(self._specs) and not _is_alike(self._specs, value)):
            raise TypeError(
                "`generator` yielded an element that did not match the expected structure. The expected structure was "
                f"{pack_leaves(self._specs, [spec.dtype for spec in self._leaves])}, but the yielded element was "
                f"{value}."
            )
        return leaves

    def _array(self, value: Any, spec: TensorSpec) -> Any:
        try:
            array = _as_array(value, spec.dtype)
        except (TypeError, ValueError, OverflowError) as error:
            raise TypeError(
                "`generator` yielded an element that could not be converted to the expected type. The expected type "
                f"was {spec.dtype.name}, but the yielded element was {value}: {error}"
            ) from None
        if not fits_shape(array.shape, spec.shape.plain.dims):
            raise ValueError(
                f"`generator` yielded an element of shape {array.shape} where an element of shape {spec.shape} was "
                "expected."
            )
        return array


def _is_leaf(value: Any) -> bool:
    return len(leaves := flat(value)) == 1 and leaves[0] is value


def _is_alike(specs: Any, value: Any) -> bool:
    """Whether a value has the structure of specs, as far as mappings and sequences go, and their keys."""
    if isinstance(specs, Mapping) or isinstance(value, Mapping):
        both = isinstance(specs, Mapping) and isinstance(value, Mapping)
        return both and set(specs) == set(value) and all(_is_alike(specs[key], value[key]) for key in specs)
    return _is_leaf(value) == _is_leaf(specs)


def _as_array(value: Any, dtype: DType) -> Any:
    if dtype is STRING:
        source = np.array(value, object) if not isinstance(value, np.ndarray) else value.astype(object)
        items = [item.encode() if isinstance(item, str) else item for item in source.reshape(-1).tolist()]
        if not all(isinstance(item, bytes) for item in items):
            raise TypeError("it is no text")
        found = np.empty(len(items), object)
        found[:] = items
        return found.reshape(source.shape)
    if isinstance(value, np.ndarray | np.generic):
        if value.dtype != dtype.array_dtype and not np.can_cast(value.dtype, dtype.array_dtype, "same_kind"):
            return _whole_numbers(np.asarray(value), dtype)
        return np.asarray(value).astype(dtype.array_dtype)
    plain = np.asarray(value)
    if plain.dtype == object or plain.dtype.kind in "SU":
        raise TypeError(f"it is of type {plain.dtype}")
    if plain.dtype.kind == "f" and dtype.is_integer:
        return _whole_numbers(plain, dtype)
    return np.asarray(value, dtype.array_dtype)


def _whole_numbers(array: Any, dtype: DType) -> Any:
    """Fractions as whole numbers, if that changes none of them."""
    with np.errstate(invalid="ignore"):
        found = array.astype(dtype.array_dtype) if array.dtype.kind == "f" and dtype.is_integer else None
    if found is None or not np.array_equal(found.astype(array.dtype), array):
        raise TypeError(f"it is of type {array.dtype}")
    return found


def from_generator(
    generator: Callable[..., Any],
    output_types: Types | None = None,
    output_shapes: Shapes = None,
    args: Sequence[Any] | None = None,
    output_signature: Specs | None = None,
) -> Dataset:
    """A dataset of the elements of a Python iterator. The function is called for a new one at each pass."""
    if not callable(generator):
        raise WrongTypeError("`generator` must be a Python callable.")
    if (output_types is None) == (output_signature is None):
        raise WrongTypeError("Either `output_types` or `output_signature` must be specified, and not both.")
    specs = output_signature
    if specs is None:
        assert output_types is not None
        specs = specs_of(output_types, output_shapes)
    for spec in flat(specs):
        if not isinstance(spec, TensorSpec):
            raise InvalidArgumentError(
                f"generators give tensors here; {spec!r} is of several parts: give them one by one"
            )
    running = _Generators(generator, specs)
    inputs = tuple(convert(value, name="args") for value in args or ())
    return Dataset.from_tensors(0).flat_map(lambda _: _of_generator(running, specs, inputs))


def _single(outputs: object) -> Tensor:
    """The output of a Python function that was told to have one."""
    assert isinstance(outputs, Tensor)
    return outputs


def _of_generator(running: _Generators, specs: Specs, inputs: tuple[Tensor, ...]) -> Dataset:
    """The dataset of one pass: begin, advance until nothing is left, finish."""
    number = TensorSpec([], INT64)
    nothing = TensorSpec([], "int32")

    def get_iterator_id_fn(_: Tensor) -> Tensor:
        return _single(py_func(running.begin, list(inputs), INT64))

    def generator_next_fn(iterator_id: Tensor) -> Any:
        found: Any = py_func(running.advance, [iterator_id], [spec.dtype for spec in flat(specs)])
        for tensor, spec in zip(found, flat(specs), strict=True):
            tensor.set_shape(spec.shape)
        return pack_leaves(specs, found)

    def finalize_fn(iterator_id: Tensor) -> Tensor:
        return _single(py_func(running.finish, [iterator_id], INT64))

    first = convert(0, nothing.dtype)
    begin = trace_function(get_iterator_id_fn, nothing, "Dataset_from_generator")
    advance = trace_function(generator_next_fn, number, "Dataset_from_generator")
    finish = trace_function(finalize_fn, number, "Dataset_from_generator")
    captured = [[first, *begin.captured], list(advance.captured), list(finish.captured)]
    types: dict[str, Any] = dict(
        zip(("Tinit_func_args", "Tnext_func_args", "Tfinalize_func_args"), map(argument_types, captured), strict=True)
    )
    variant = emit(
        "GeneratorDataset",
        *captured,
        init_func=begin.reference,
        next_func=advance.reference,
        finalize_func=finish.reference,
        **types,
        **flat_kinds(specs),
    )
    return Dataset(variant, specs)
