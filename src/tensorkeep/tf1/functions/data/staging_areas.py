"""Staging areas for programs: tensors that one run leaves for a later one, in order or by key.

area = tf.contrib.staging.StagingArea([tf.float32], shapes=[[32, 10]])
fill, (batch,) = area.put([features]), area.get()
session.run(fill)
session.run([train(batch), fill])     # trains on what is there, and puts in what the next run will take
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, ShapeLike, Structure, TensorLike, emit, emit_operation, emit_tensors
from tensorkeep.graph.building import chosen_name, colocate_with, name_scope, unique_name
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.tensor_shape import TensorShape, plain_shape
from tensorkeep.ops.arrays.constants import identity
from tensorkeep.shapes import UNKNOWN_SHAPE
from tensorkeep.tf1.functions.control.grouping import no_op

StagedElement: TypeAlias = "list[Tensor] | dict[str, Tensor]"
"""What a staging area gives: its components, by name if they have names."""


class BaseStagingArea:
    """What staging areas have in common: the types, shapes and names of components, and how much room there is."""

    def __init__(
        self,
        dtypes: Sequence[DTypeLike],
        shapes: Sequence[ShapeLike] | None = None,
        names: Sequence[str] | None = None,
        shared_name: str | None = None,
        capacity: int = 0,
        memory_limit: int = 0,
    ) -> None:
        if shared_name is not None and not isinstance(shared_name, str):
            raise InvalidArgumentError(f"shared_name must be a string, got {shared_name}")
        self._dtypes = [DType.of(dtype) for dtype in dtypes]
        for what, given in (("shapes", shapes), ("names", names)):
            if given is not None and len(given) != len(self._dtypes):
                raise InvalidArgumentError(
                    f"StagingArea {what} must be the same length as dtypes: got {len(given)} for {len(self._dtypes)}"
                )
        self._shapes = [UNKNOWN_SHAPE] * len(self._dtypes) if shapes is None else [plain_shape(s) for s in shapes]
        self._names = None if names is None else list(names)
        self._capacity = capacity
        self._memory_limit = memory_limit
        self._name = unique_name(type(self).__name__) if shared_name is None else shared_name
        with name_scope(f"{self._name}_root"):
            self._place = no_op()

    @property
    def name(self) -> str:
        return self._name

    @property
    def dtypes(self) -> list[DType]:
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        return [TensorShape(shape) for shape in self._shapes]

    @property
    def names(self) -> list[str] | None:
        return self._names

    @property
    def capacity(self) -> int:
        """How many elements it holds; 0 stands for any number."""
        return self._capacity

    @property
    def memory_limit(self) -> int:
        """How many bytes it holds; 0 stands for any number."""
        return self._memory_limit

    @property
    def _making(self) -> dict[str, Any]:
        return {"shared_name": self._name, "capacity": self._capacity, "memory_limit": self._memory_limit}

    def _by_number(self, values: Any, indices: Sequence[int] | None) -> dict[int, Tensor]:
        """The components to be put in, by their numbers."""
        if isinstance(values, Mapping):
            if not self._names:
                raise InvalidArgumentError("Staging areas must have names to enqueue a dictionary")
            if not set(values) <= set(self._names):
                raise InvalidArgumentError(
                    f"Keys in dictionary to put do not match names of staging area. Dictionary: {sorted(values)}"
                    f"Queue: {sorted(self._names)}"
                )
            return {i: self._component(i, values[name]) for i, name in enumerate(self._names) if name in values}
        if self._names:
            raise InvalidArgumentError("You must enqueue a dictionary in a staging area with names")
        if indices is None:
            raise InvalidArgumentError("Indices must be supplied when inserting a list of tensors")
        several = values if isinstance(values, list | tuple) else [values]
        if len(indices) != len(several):
            raise InvalidArgumentError(
                f"Number of indices {len(indices)} doesn't match number of values {len(several)}"
            )
        if len(several) > len(self._dtypes):
            raise InvalidArgumentError(f"Unexpected number of inputs {len(several)} vs {len(self._dtypes)}")
        return {i: self._component(i, value) for i, value in zip(indices, several, strict=True)}

    def _component(self, number: int, value: TensorLike) -> Tensor:
        dtype, shape = self._dtypes[number], self._shapes[number]
        tensor = convert(value, None if isinstance(value, Tensor) else dtype, f"component_{number}")
        if tensor.dtype.base_dtype is not dtype:
            raise InvalidArgumentError(
                f"Datatypes do not match. Received val.dtype {tensor.dtype} and dtype {dtype}: component {number}, "
                f"{tensor}"
            )
        if not tensor.static_shape.is_compatible(shape):
            raise InvalidArgumentError(
                f"Shapes {tensor.static_shape} and {shape} are incompatible: component {number}, {tensor}"
            )
        return tensor

    def _given_out(self, tensors: Sequence[Tensor], numbers: Sequence[int]) -> StagedElement:
        """What was taken, on the device where it is wanted."""
        found = self._transferred(tensors)
        for tensor, number in zip(found, numbers, strict=True):
            tensor.set_shape(self._shapes[number])
        if self._names:
            return {self._names[number]: tensor for tensor, number in zip(found, numbers, strict=True)}
        return found

    def _transferred(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        here = no_op().device
        return list(tensors) if here == self._place.device else [identity(tensor) for tensor in tensors]


class StagingArea(BaseStagingArea):
    """Elements that runs leave for later ones. They come out in the order in which they went in."""

    def put(self, values: Structure, name: str | None = None) -> Operation:
        """The operation that adds an element. When run, it waits while there is no room."""
        with name_scope(chosen_name(name, f"{self._name}_put")) as scope:
            several = values if isinstance(values, list | tuple | Mapping) else [values]
            components = self._by_number(several, range(len(several)))
            missing = [i for i in range(len(self._dtypes)) if i not in components]
            if missing:
                raise InvalidArgumentError(
                    f"{self._name}: an element has {len(self._dtypes)} components, but none was given for {missing}"
                )
            with colocate_with(self._place):
                return emit_operation("Stage", list(components.values()), **self._making, name=scope)

    def get(self, name: str | None = None) -> StagedElement:
        """The next element, which goes. When run, it waits while there is none."""
        with colocate_with(self._place):
            found = emit_tensors(
                "Unstage", dtypes=self._dtypes, **self._making, name=chosen_name(name, f"{self._name}_get")
            )
        return self._given_out(found, range(len(found)))

    def peek(self, index: TensorLike, name: str | None = None) -> StagedElement:
        """The element of this number, which stays. When run, it waits until there are so many."""
        with colocate_with(self._place):
            found = emit_tensors(
                "StagePeek",
                index,
                dtypes=self._dtypes,
                **self._making,
                name=chosen_name(name, f"{self._name}_peek"),
            )
        return self._given_out(found, range(len(found)))

    def size(self, name: str | None = None) -> Tensor:
        """How many elements it holds."""
        return emit("StageSize", dtypes=self._dtypes, **self._making, name=chosen_name(name, f"{self._name}_size"))

    def clear(self, name: str | None = None) -> Operation:
        """The operation that drops all elements."""
        return emit_operation(
            "StageClear", dtypes=self._dtypes, **self._making, name=chosen_name(name, f"{self._name}_clear")
        )


class MapStagingArea(BaseStagingArea):
    """Elements by key. Components of one may be put in and taken at different times.

    An ordered one gives out the smallest key first when none is asked for.
    """

    def __init__(
        self,
        dtypes: Sequence[DTypeLike],
        shapes: Sequence[ShapeLike] | None = None,
        names: Sequence[str] | None = None,
        shared_name: str | None = None,
        ordered: bool = False,
        capacity: int = 0,
        memory_limit: int = 0,
    ) -> None:
        super().__init__(dtypes, shapes, names, shared_name, capacity, memory_limit)
        self._kind = "OrderedMap" if ordered else "Map"

    def put(
        self, key: TensorLike, vals: Structure, indices: Sequence[int] | None = None, name: str | None = None
    ) -> Operation:
        """The operation that adds components of an element. When run, it waits while there is no room.

        A list says by `indices` which components it has; a dictionary, by their names.
        """
        with name_scope(chosen_name(name, f"{self._name}_put")) as scope:
            components = self._by_number(vals, indices)
            with colocate_with(self._place):
                return emit_operation(
                    f"{self._kind}Stage",
                    key,
                    list(components),
                    list(components.values()),
                    dtypes=self._dtypes,
                    **self._making,
                    name=scope,
                )

    def peek(
        self, key: TensorLike, indices: Sequence[int | str] | None = None, name: str | None = None
    ) -> StagedElement:
        """Components of the element of a key, which stay. When run, it waits until the element is there."""
        numbers = self._numbers(indices)
        with colocate_with(self._place):
            found = self._emitted("Peek", key, numbers, name=chosen_name(name, f"{self._name}_pop"))
        return self._given_out(found, numbers)

    def get(
        self,
        key: TensorLike | None = None,
        indices: Sequence[int | str] | None = None,
        name: str | None = None,
    ) -> tuple[TensorLike, StagedElement]:
        """A key, and components of its element, which go; of any element, if no key is given."""
        numbers = self._numbers(indices)
        if key is not None:
            with colocate_with(self._place):
                found = self._emitted("Unstage", key, numbers, name=chosen_name(name, f"{self._name}_get"))
            return key, self._given_out(found, numbers)
        with colocate_with(self._place):
            taken: Any = self._emitted("UnstageNoKey", numbers, name=chosen_name(name, f"{self._name}_get_nokey"))
        (found_key,) = self._transferred(taken[:1])
        return found_key, self._given_out(taken[1], numbers)

    def size(self, name: str | None = None) -> Tensor:
        """How many whole elements it holds."""
        return emit(
            f"{self._kind}Size", dtypes=self._dtypes, **self._making, name=chosen_name(name, f"{self._name}_size")
        )

    def incomplete_size(self, name: str | None = None) -> Tensor:
        """How many elements lack components."""
        return emit(
            f"{self._kind}IncompleteSize",
            dtypes=self._dtypes,
            **self._making,
            name=chosen_name(name, f"{self._name}_incomplete_size"),
        )

    def clear(self, name: str | None = None) -> Operation:
        """The operation that drops all elements, also those that lack components."""
        return emit_operation(
            f"{self._kind}Clear", dtypes=self._dtypes, **self._making, name=chosen_name(name, f"{self._name}_clear")
        )

    def _emitted(self, op: str, *inputs: Any, name: str) -> Sequence[Tensor]:
        dtypes = [self._dtypes[number] for number in inputs[-1]]
        return emit_tensors(f"{self._kind}{op}", *inputs, dtypes=dtypes, **self._making, name=name)

    def _numbers(self, indices: Sequence[int | str] | None) -> list[int]:
        """Which components are asked for, by number or by name; all, if nothing is said."""
        if indices is None:
            return list(range(len(self._dtypes)))
        if not isinstance(indices, list | tuple):
            raise WrongTypeError(f"Invalid indices type {type(indices)}")
        if not indices:
            raise InvalidArgumentError("Empty indices")
        names = [item for item in indices if isinstance(item, str)]
        numbers = [item for item in indices if isinstance(item, int)]
        if len(names) < len(indices) and len(numbers) < len(indices):
            raise WrongTypeError(f"Mixed types in indices {indices}. May only be str or int")
        if names and self._names is None:
            raise InvalidArgumentError(
                f"String indices provided {indices}, but this Staging Area was not created with names."
            )
        if not set(names) <= set(self._names or ()):
            raise InvalidArgumentError(f"{names}: Named index not in Staging Area names {self._names}")
        found = numbers or [(self._names or []).index(name) for name in names]
        if not all(0 <= number < len(self._dtypes) for number in found):
            raise InvalidArgumentError(f"components have numbers 0 to {len(self._dtypes) - 1}, got indices {indices}")
        return found


__all__ = ["BaseStagingArea", "MapStagingArea", "StagingArea"]
