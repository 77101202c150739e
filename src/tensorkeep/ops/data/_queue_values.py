"""Queues of tuples of tensors, as values of their handles. Several threads may wait at one."""

from __future__ import annotations

import secrets
from bisect import insort
from collections import deque
from collections.abc import Sequence
from threading import Condition
from typing import Any, Protocol

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import CancelledError, InvalidArgumentError, OutOfRangeError
from tensorkeep.ops.control.tensor_array_values import zeros_of
from tensorkeep.ops.random.philox import WORDS, PhiloxGenerator
from tensorkeep.runtime.limits import current_meter
from tensorkeep.shapes import Shape

Element = tuple[Any, ...]


class Order(Protocol):
    """What is waiting in a queue, and what of it goes next."""

    def __len__(self) -> int: ...

    def insert(self, element: Element) -> None: ...

    def has_next(self, is_closed: bool) -> bool: ...

    def remove(self) -> Element: ...

    def put_back(self, elements: Sequence[Element]) -> None:
        """Takes in again what was just removed."""


class FirstIn:
    """In the order in which they came."""

    def __init__(self) -> None:
        self._elements: deque[Element] = deque()

    def __len__(self) -> int:
        return len(self._elements)

    def insert(self, element: Element) -> None:
        self._elements.append(element)

    def has_next(self, is_closed: bool) -> bool:
        return bool(self._elements)

    def remove(self) -> Element:
        return self._elements.popleft()

    def put_back(self, elements: Sequence[Element]) -> None:
        self._elements.extendleft(reversed(elements))


class ByPriority:
    """The smallest first component first, and of equal ones the one that came first."""

    def __init__(self) -> None:
        self._elements: list[tuple[int, int, Element]] = []
        self._count = 0

    def __len__(self) -> int:
        return len(self._elements)

    def insert(self, element: Element) -> None:
        insort(self._elements, (int(element[0]), self._count, element), key=lambda entry: entry[:2])
        self._count += 1

    def has_next(self, is_closed: bool) -> bool:
        return bool(self._elements)

    def remove(self) -> Element:
        return self._elements.pop(0)[2]

    def put_back(self, elements: Sequence[Element]) -> None:
        for element in elements:
            self.insert(element)


class AtRandom:
    """Any of them; some are kept to choose from until the queue is closed."""

    def __init__(self, least: int, seeds: tuple[int, int]) -> None:
        if seeds == (0, 0):
            seeds = secrets.randbits(63), secrets.randbits(63)
        self._elements: list[Element] = []
        self._least = least
        self._generator = PhiloxGenerator.of_seeds(*seeds)
        self._drawn = 0

    def __len__(self) -> int:
        return len(self._elements)

    def insert(self, element: Element) -> None:
        self._elements.append(element)

    def has_next(self, is_closed: bool) -> bool:
        return len(self._elements) > (0 if is_closed else self._least)

    def remove(self) -> Element:
        block, word = divmod(self._drawn, WORDS)
        index = int(self._generator.words(1, block)[0, word]) % len(self._elements)
        self._drawn += 1
        element, self._elements[index] = self._elements[index], self._elements[-1]
        self._elements.pop()
        return element

    def put_back(self, elements: Sequence[Element]) -> None:
        self._elements.extend(elements)


def wait_for_change(changed: Condition, is_gone: bool, what: str) -> None:
    """Waits until something has changed, no longer than the run may take. `is_gone`: the session has been closed."""
    if is_gone:
        raise CancelledError(f"{what} operation was cancelled")
    meter = current_meter()
    if meter is None or (left := meter.seconds_left) is None:
        changed.wait()
    elif not changed.wait(left + 0.001):
        meter.step()


class Queue:
    """Elements that threads add and take. What finds it full or empty waits, until it is closed."""

    def __init__(
        self, name: str, order: Order, dtypes: Sequence[DType], shapes: Sequence[Shape], capacity: int
    ) -> None:
        if shapes and len(shapes) != len(dtypes):
            raise InvalidArgumentError(f"{name} has {len(dtypes)} components, but {len(shapes)} shapes were given")
        self._name = name
        self._order = order
        self._dtypes = tuple(dtypes)
        self._shapes = tuple(shapes)
        self._capacity = capacity
        self._changed = Condition()
        self._takers: deque[object] = deque()  # in the order in which they came
        self._is_closed = False
        self._is_cancelled = False
        self._is_gone = False

    def read(self) -> Queue:
        """Itself: what a reference to it leads to."""
        return self

    def __len__(self) -> int:
        return len(self._order)

    @property
    def is_closed(self) -> bool:
        return self._is_closed

    def close(self, cancel_pending: bool) -> None:
        """Lets nothing more in. What is there can still be taken out."""
        with self._changed:
            self._is_closed = True
            self._is_cancelled = self._is_cancelled or cancel_pending
            self._changed.notify_all()

    def cancel(self) -> None:
        """Makes all that wait fail: the session that they belong to has been closed."""
        with self._changed:
            self._is_gone = True
            self._changed.notify_all()

    def put(self, element: Element) -> None:
        """Adds an element as soon as there is room."""
        self._check(element)
        with self._changed:
            if self._is_closed:
                raise CancelledError(f"{self._name} is closed.")
            while 0 <= self._capacity <= len(self._order):
                if self._is_cancelled:
                    raise CancelledError(f"Enqueue operation was cancelled: {self._name} is closed.")
                wait_for_change(self._changed, self._is_gone, "Enqueue")
            self._order.insert(element)
            self._changed.notify_all()

    def _check(self, element: Element) -> None:
        if len(element) != len(self._dtypes):
            raise InvalidArgumentError(
                f"Wrong number of components in tuple. Expected {len(self._dtypes)}, got {len(element)}"
            )
        for i, (value, dtype) in enumerate(zip(element, self._dtypes, strict=True)):
            if value.dtype != dtype.array_dtype:
                raise InvalidArgumentError(f"Type mismatch in tuple component {i}. Expected {dtype}, got {value.dtype}")
            if self._shapes and not self._shapes[i].is_compatible(Shape(value.shape)):
                raise InvalidArgumentError(
                    f"Shape mismatch in tuple component {i}. Expected {self._shapes[i]}, got {Shape(value.shape)}"
                )

    def take(self, count: int, dtypes: Sequence[DType], up_to: bool = False) -> list[Element]:
        """Removes so many elements as soon as they are there; `up_to`, fewer once the queue is closed."""
        if tuple(dtypes) != self._dtypes:
            held, asked = (", ".join(map(str, types)) for types in (self._dtypes, dtypes))
            raise InvalidArgumentError(f"{self._name} holds {held}, but {asked} was asked for")
        turn = object()
        with self._changed:
            self._takers.append(turn)
            try:
                return self._taken(count, up_to, turn)
            finally:
                self._takers.remove(turn)
                self._changed.notify_all()

    def _taken(self, count: int, up_to: bool, turn: object) -> list[Element]:
        taken: list[Element] = []
        while len(taken) < count:
            if self._takers[0] is not turn:  # who came first is served in full, or two might wait with half each
                wait_for_change(self._changed, self._is_gone, "Dequeue")
            elif self._order.has_next(self._is_closed):
                taken.append(self._order.remove())
                self._changed.notify_all()
            elif not self._is_closed:
                wait_for_change(self._changed, self._is_gone, "Dequeue")
            elif up_to and taken:
                break
            else:
                self._order.put_back(taken)
                raise OutOfRangeError(
                    f"{self._name} is closed and has insufficient elements (requested {count}, current size "
                    f"{len(self._order)})"
                )
        return taken

    def take_stacked(self, count: int, dtypes: Sequence[DType], up_to: bool) -> list[Any]:
        """So many elements as one, component by component. Sizes that differ are padded with zeros."""
        if not self._shapes:
            raise InvalidArgumentError(
                f"{self._name}: DequeueMany and DequeueUpTo require the components to have specified shapes."
            )
        elements = self.take(count, dtypes, up_to)
        return [
            _stack_values([element[i] for element in elements], dtype, self._shapes[i])
            for i, dtype in enumerate(self._dtypes)
        ]


def _stack_values(values: list[Any], dtype: DType, shape: Shape) -> Any:
    """Values of one component as one array; where sizes are open, each is filled up with zeros to the largest."""
    if shape.is_fully_known:
        return np.stack(values) if values else zeros_of((0, *shape.as_tuple()), dtype)
    sizes = [
        max((value.shape[axis] for value in values), default=0) if known is None else known
        for axis, known in enumerate(shape.dims or ())
    ]
    padded = zeros_of((len(values), *sizes), dtype)
    for i, value in enumerate(values):
        place: tuple[int | slice, ...] = (i, *(slice(size) for size in value.shape))
        padded[place] = value
    return padded
