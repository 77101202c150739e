"""What outlives a run: variables, tables, and whatever else kernels keep by name.

A tensor of a resource type, or of a reference type, has the resource itself as its value. A manager holds the
resources of one session; sessions may share one.

Values may not be there yet: a kernel promises them, and they are made when an operation wants them. One that makes many
large values, of which the next operations want one after the other, need not hold all of them at once. Its op says so
by `kernel_defers`. Ops with `kernel_takes_deferred` are handed the promise itself.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from itertools import count
from threading import RLock
from typing import Any, ClassVar, Final, Protocol, TypeVar, runtime_checkable

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import DType
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError
from tensorkeep.io.machine.large_arrays import copy_array, empty_array, owns_memory
from tensorkeep.shapes import Shape

Resource = TypeVar("Resource")

DEFAULT_CONTAINER: Final = "localhost"
_CHANGES: Final = count(1)
_SMALL: Final = 1 << 20  # elements; what has fewer is copied without further ado


class Changes(Protocol):
    """Something that is told which rows of a variable change."""

    def note(self, rows: Array | None) -> None:
        """Takes the numbers of rows that have changed, or are about to; None stands for all. The variable is locked."""


class Elsewhere(Protocol):
    """A value of a variable that lies in the memory of a device."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    def on_host(self) -> Array:
        """A copy of the value, as an array here."""


@runtime_checkable
class Deferred(Protocol):
    """A promise of an array: its shape and type are known, and `load` makes it."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def dtype(self) -> np.dtype[Any]: ...

    def load(self) -> Array:
        """The array, in memory that nobody else holds."""
        ...

    def load_into(self, array: Array) -> None:
        """Fills an array of that shape and type, contiguous and writable."""
        ...


def loaded_value(value: Any) -> Any:
    """The array that a promise (`Deferred`) stands for; any other value as it is."""
    return value.load() if not isinstance(value, np.ndarray) and isinstance(value, Deferred) else value


class VariableResource:
    """A variable's place. Its array is replaced, or changed in place while nobody else can see it.

    The value may lie elsewhere, on a device. It is copied here when it is first read here; what is then written here
    makes the value there void.
    """

    __slots__ = ("_array", "_elsewhere", "changes", "dtype", "is_ref", "lock", "name", "shape")

    last_change: ClassVar[int] = 0
    """Another number after every change of any variable: while it stays the same, so do all values."""

    def __init__(self, name: str, dtype: DType, shape: Shape, is_ref: bool = False) -> None:
        self.name = name
        self.dtype = dtype
        self.shape = shape
        self.is_ref = is_ref
        self.lock = RLock()
        self.changes: Changes | None = None
        self._array: Array | None = None
        self._elsewhere: Elsewhere | None = None

    @property
    def is_initialized(self) -> bool:
        return self._array is not None or self._elsewhere is not None

    @property
    def value_shape(self) -> tuple[int, ...] | None:
        """The shape of the value; None while there is none."""
        with self.lock:
            value = self._elsewhere if self._array is None else self._array
        return None if value is None else value.shape

    def read(self) -> Array:
        """The value. It will not change: a later assignment makes another array."""
        with self.lock:  # a change in place that has begun is waited for; after this, none begins on this array
            array = self._array
            if array is None and self._elsewhere is not None:
                array = self._array = self._elsewhere.on_host()
        if array is None:
            raise FailedPreconditionError(self._uninitialized())
        return array

    def holds(self, array: Array) -> bool:
        """Whether an array is the value. It then is until another is assigned, if the caller holds on to it."""
        return self._array is array

    def _uninitialized(self) -> str:
        if self.is_ref:
            return f"Attempting to use uninitialized value {self.name}"
        return (
            f"Could not find variable {self.name}. This could mean that the variable has been deleted. In TF1, it can "
            "also mean the variable is uninitialized. Debug info: container=localhost, status error message=Container "
            f"localhost does not exist. (Could not find resource: localhost/{self.name})"
        )

    def assign(self, value: Array) -> None:
        """Replaces the value. The array must be one that nobody writes to."""
        self._array = value
        self._elsewhere = None
        _note_change()
        if self.changes is not None:
            self.changes.note(None)

    def store(self, value: object) -> None:
        """Replaces the value by a copy of an array; by one that is promised, in its own place where that is possible.

        Hold `lock` meanwhile. If a promise is not kept, the value is the old one or partly the new one.
        """
        if type(value) is np.ndarray:
            self._array = value.copy() if value.size < _SMALL else copy_array(value)
        elif isinstance(value, np.generic) or not isinstance(value, Deferred):  # to ask a protocol takes long
            self._array = copy_array(np.asarray(value))
        elif self._array is not None and self._is_place_for(value):
            self._elsewhere = None
            value.load_into(self._array)
        else:
            self._array = value.load()
        self._elsewhere = None
        _note_change()
        if self.changes is not None:
            self.changes.note(None)

    def _is_place_for(self, value: Deferred) -> bool:
        array = self._array
        assert array is not None
        fits = array.shape == value.shape and array.dtype == value.dtype and _is_plain(array)
        del array
        return fits and self._holders() <= _ALONE

    def writable(self, rows: Array | None = None) -> Array:
        """The value as an array that may be changed in place: itself if nobody else holds it, else a copy.

        Hold `lock` from this call until the change is done. `rows` are those that will change, if not all may.
        """
        self._come_home()
        if not self._is_alone():
            self._array = copy_array(self.read())
            _note_change()
        array = self._array
        assert array is not None
        if self.changes is not None:
            self.changes.note(rows)
        return array

    def places(self) -> tuple[Array, Array]:
        """The value, and where the next one may be written element by element: the same if nobody else holds it.

        Hold `lock` from this call until the next value is assigned. It spares the copy that `writable` makes.
        """
        self._come_home()
        if self._is_alone():
            array = self._array
            assert array is not None
            if self.changes is not None:
                self.changes.note(None)
            return array, array
        array = self.read()
        return array, empty_array(array.shape, array.dtype)

    def _is_alone(self) -> bool:
        return self._array is not None and self._holders() <= _ALONE and _is_plain(self._array)

    def _holders(self) -> int:
        return sys.getrefcount(self._array)

    def clear(self) -> None:
        self._array = None
        self._elsewhere = None
        _note_change()

    # --------------------------------------------------------------------------------------- values on a device

    @property
    def elsewhere(self) -> Elsewhere | None:
        """The value on a device, if it is there; it may be here as well."""
        return self._elsewhere

    def mirror(self, value: Elsewhere | None) -> None:
        """Notes that the value, which stays here, also is on a device; with None, that it is not any more."""
        assert self._array is not None
        self._elsewhere = value

    def move(self, value: Elsewhere) -> None:
        """Replaces the value by one that is on a device. Hold `lock` meanwhile."""
        self._array = None
        self._elsewhere = value
        _note_change()
        if self.changes is not None:
            self.changes.note(None)

    def held(self) -> tuple[Array | None, Elsewhere | None]:
        """What the variable has now, for `put_back`; as long as that is kept, it stays as it is."""
        return self._array, self._elsewhere

    def put_back(self, held: tuple[Array | None, Elsewhere | None]) -> None:
        """Gives the variable what it had. Hold `lock` meanwhile."""
        self._array, self._elsewhere = held
        _note_change()
        if self.changes is not None:
            self.changes.note(None)

    def _come_home(self) -> None:
        """Before a change here: the value is here, and nowhere else."""
        if self._elsewhere is not None:
            if self._array is None:
                self._array = self._elsewhere.on_host()
            self._elsewhere = None


def _note_change() -> None:
    """Sets the number of the last change to a new one. If two threads do so at once, either number will do, for both
    are new.
    """
    VariableResource.last_change = next(_CHANGES)


def _holders_of_one() -> int:
    variable = VariableResource("", DType.of("float32"), Shape(()))
    variable.assign(np.zeros(1, np.float32))
    return variable._holders()


# What counts as nobody else: how many holders the interpreter reports of an array that only its variable has.
_ALONE: Final = _holders_of_one()


def _is_plain(array: Any) -> bool:
    return isinstance(array, np.ndarray) and array.flags.writeable and array.flags.c_contiguous and owns_memory(array)


def dereference(value: Any) -> Any:
    """The value of the variable that a reference leads to. A reference that was fed is a value already."""
    if not isinstance(value, VariableResource):
        return value
    with value.lock:  # as `read` does, which is one call more
        array = value._array
    return value.read() if array is None else array


def dereferenced_values(values: list[Any]) -> list[Any]:
    """What `dereference` gives for each of many values."""
    arrays = [value._array if type(value) is VariableResource else value for value in values]
    for value in values:
        if type(value) is VariableResource:
            with value.lock:  # a change in place that has begun is waited for; it is a change of the array held here
                continue
    if any(array is None for array in arrays):
        return list(map(dereference, values))
    return arrays


@runtime_checkable
class WaitedFor(Protocol):
    """A resource at which threads may wait for each other."""

    def cancel(self) -> None:
        """Makes all that wait, and all that would, fail."""


class ResourceManager:
    """Resources by container and name. Safe to use from several threads."""

    def __init__(self) -> None:
        self._resources: dict[tuple[str, str], Any] = {}
        self._lock = RLock()
        self.deletions = 0
        """Grows when resources are deleted: whoever holds one looks it up again."""

    def get_or_create(
        self, container: str, name: str, kind: type[Resource], create: Callable[[], Resource]
    ) -> Resource:
        """The resource of that name, made if there is none yet."""
        key = (container or DEFAULT_CONTAINER, name)
        with self._lock:
            found = self._resources.get(key)
            if found is None:
                found = self._resources[key] = create()
            elif not isinstance(found, kind):
                raise InvalidArgumentError(
                    f'the resource "{name}" is a {type(found).__name__}, and was asked for as a {kind.__name__}'
                )
            return found

    def find(self, container: str, name: str) -> Any | None:
        return self._resources.get((container or DEFAULT_CONTAINER, name))

    def delete(self, container: str, name: str) -> None:
        with self._lock:
            self.deletions += 1
            if self._resources.pop((container or DEFAULT_CONTAINER, name), None) is None:
                raise NotFoundError(f'there is no resource "{name}" in container "{container or DEFAULT_CONTAINER}"')

    def clear(self, containers: Iterable[str] | None = None) -> None:
        """Forgets all resources, or those of some containers. What waits at one of them fails."""
        doomed = None if not containers else set(containers)
        with self._lock:
            self.deletions += 1
            for key in list(self._resources):
                if doomed is None or key[0] in doomed:
                    resource = self._resources.pop(key)
                    if isinstance(resource, VariableResource):
                        resource.clear()
                    elif isinstance(resource, WaitedFor):
                        resource.cancel()

    def items(self) -> list[tuple[tuple[str, str], Any]]:
        with self._lock:
            return list(self._resources.items())
