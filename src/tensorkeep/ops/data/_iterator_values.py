"""Iterators as values of their handles: where a session stands in a dataset."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any

import numpy as np

from tensorkeep.dtypes import RESOURCE, VARIANT, DType
from tensorkeep.errors import CancelledError, FailedPreconditionError, InvalidArgumentError, OutOfRangeError
from tensorkeep.ops.data.passes.basics import Dataset, Pass, State, next_of
from tensorkeep.ops.data.passes.rows import Element
from tensorkeep.runtime.keeping import Caller, called_by
from tensorkeep.runtime.limits import watched
from tensorkeep.shapes import Shape


class IteratorResource:
    """A place in a dataset. Threads may share one: each element is given once."""

    def __init__(self, container: str, name: str, dtypes: Sequence[DType], shapes: Sequence[Shape]) -> None:
        self.container = container
        self.name = name
        self.dtypes = tuple(dtypes)
        self.shapes = tuple(shapes)
        self._lock = Lock()
        self._dataset: Dataset | None = None
        self._current: Pass | None = None
        self._caller = Caller()  # in whose name the current pass asks for elements
        self._is_cancelled = False
        self._sound: list[Any] = [None] * len(self.dtypes)  # type and shape that each component was seen to have

    @property
    def is_initialized(self) -> bool:
        return self._current is not None

    def initialize(self, dataset: Dataset) -> None:
        """Begins at the first element of a dataset, wherever it was before. What is random in it begins anew."""
        own, caller = dataset.copied(), Caller()
        with called_by(caller):
            begun = own.begin()
        with self._lock:
            old, self._current, self._dataset, self._caller = self._current, begun, own, caller
        if old is not None:
            old.close()

    def next(self) -> Element:
        """The next element; OutOfRangeError if there is none."""
        try:
            with self._lock, watched(self._check_open), called_by(self._caller):
                element = next_of(self._begun("GetNext", "getting the next element"))
        finally:
            if self._is_cancelled:
                self.cancel()
        if element is None:
            raise OutOfRangeError("End of sequence")
        self._check(element)
        return element

    def _check_open(self) -> None:
        if self._is_cancelled:
            raise CancelledError("the session was closed while the next element was waited for")

    def _begun(self, what: str, doing: str) -> Pass:
        if self._current is None:
            raise FailedPreconditionError(
                f"{what}() failed because the iterator has not been initialized. Ensure that you have run the "
                f"initializer operation for this iterator before {doing}."
            )
        return self._current

    def _check(self, element: Element) -> None:
        """What comes must be what the iterator is said to give."""
        if len(element) != len(self.dtypes):
            raise InvalidArgumentError(
                f"Number of components does not match: expected {len(self.dtypes)} types but got {len(element)}."
            )
        for at, (component, dtype, shape) in enumerate(zip(element, self.dtypes, self.shapes, strict=True)):
            if dtype is VARIANT or dtype is RESOURCE:
                continue
            array = np.asarray(component)
            seen = (array.dtype, array.shape)
            if seen == self._sound[at]:
                continue
            if array.dtype != dtype.array_dtype:
                raise InvalidArgumentError(
                    f"Data type mismatch at component {at}: expected {dtype.label} but got {array.dtype}."
                )
            if not shape.is_compatible(Shape(array.shape)):
                raise InvalidArgumentError(
                    f"Incompatible shapes at component {at}: expected {shape} but got {list(array.shape)}."
                )
            self._sound[at] = seen

    def state(self) -> State:
        """How far it has come."""
        with self._lock:
            return self._begun("Save", "saving it").state()

    def random_ops(self) -> list[str]:
        """The ops in functions of its dataset that have drawn random numbers: how far they are is in no state."""
        with self._lock:
            return sorted({op.type for op in self._caller.keeping() if "seed" in op.spec.schema.attr_by_name})

    def restore(self, state: State) -> None:
        """Goes on in its dataset from where another iterator was. Nothing changes if that cannot be."""
        caller = Caller()
        with self._lock, called_by(caller):
            self._begun("Restore", "restoring it")
            assert self._dataset is not None
            restored = self._dataset.begin()
            try:
                restored.restore(state)
            except (KeyError, ValueError, TypeError, IndexError) as error:
                restored.close()
                raise InvalidArgumentError(
                    f'the state is not one of the dataset of iterator "{self.name}": {type(error).__name__} {error}. '
                    "An iterator goes on in the same pipeline that it was saved in"
                ) from None
            old, self._current, self._caller = self._current, restored, caller
        if old is not None:
            old.close()

    def cancel(self) -> None:
        """Ends what works for it: the session is gone. If a thread asks for an element just now, that one ends it."""
        self._is_cancelled = True
        if not self._lock.acquire(blocking=False):
            return
        try:
            current, self._current = self._current, None
        finally:
            self._lock.release()
        if current is not None:
            current.close()


class OptionalValue:
    """An element, or that there is none."""

    # To NumPy it is one element of an array of objects.
    dtype = np.dtype(object)
    __slots__ = ("components",)

    def __init__(self, components: Sequence[Any] | None) -> None:
        self.components = components
