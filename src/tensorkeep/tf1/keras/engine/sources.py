"""Where batches come from: arrays, generators, sequences, datasets, or the model's own tensors."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

import numpy as np

from tensorkeep.errors import InvalidArgumentError, OutOfRangeError
from tensorkeep.graph.building import building
from tensorkeep.tf1.datasets.dataset import Dataset
from tensorkeep.tf1.keras.engine.data import Batch, batches_of, shuffled_places
from tensorkeep.tf1.keras.engine.session_values import initialized_session


class Source(Protocol):
    """Batches, epoch by epoch."""

    @property
    def steps(self) -> int | None:
        """How many batches an epoch has, if that is known."""

    @property
    def samples(self) -> int | None:
        """How many items an epoch has, if that is known."""

    @property
    def counts_steps(self) -> bool:
        """Whether the mean of losses is that of batches, and not of items."""

    def epoch(self) -> Iterator[Batch]:
        """The batches of the next epoch."""


class ArraySource:
    """Batches of arrays, whose items are shuffled before each epoch."""

    counts_steps = False

    def __init__(self, data: Batch, batch_size: int, shuffle: bool | str = False) -> None:
        self.samples = data.size or 0
        self.steps = -(-self.samples // batch_size)
        self._data, self._batch_size, self._shuffle = data, batch_size, shuffle

    def epoch(self) -> Iterator[Batch]:
        if not self._shuffle:
            for begin, end in batches_of(self.samples, self._batch_size):
                yield self._data.part(slice(begin, end))
            return
        places = shuffled_places(self.samples, self._batch_size, self._shuffle)
        if self.steps == 1:  # as TensorFlow has it: a single batch is given as it is
            yield self._data
            return
        for begin, end in batches_of(self.samples, self._batch_size):
            yield self._data.part(places[begin:end])


class TensorSource:
    """Steps of a model whose inputs are tensors of the program: it is fed nothing, or the same arrays in each step."""

    counts_steps = True
    samples = None

    def __init__(self, data: Batch, steps: int) -> None:
        self.steps = steps
        self._data = data

    def epoch(self) -> Iterator[Batch]:
        for _ in range(self.steps):
            yield self._data


class GeneratorSource:
    """Batches that a generator gives, or a sequence by number."""

    counts_steps = True
    samples = None

    def __init__(
        self, given: Any, steps: int | None, understand: Callable[[Any], Batch], shuffle: bool = False
    ) -> None:
        self._sequence = given if hasattr(given, "__getitem__") and hasattr(given, "__len__") else None
        self.steps = len(given) if steps is None and self._sequence is not None else steps
        if self.steps is None:
            raise InvalidArgumentError(
                "`steps_per_epoch=None` (or `steps=None`) is only valid for a generator based on the "
                "`keras.utils.Sequence` class. Please specify it, or use `keras.utils.Sequence`."
            )
        self._understand, self._shuffle = understand, shuffle
        self._items = iter(given) if self._sequence is None else self._sequence_items()

    def _sequence_items(self) -> Iterator[Any]:
        assert self._sequence is not None
        while True:
            order = list(range(len(self._sequence)))
            if self._shuffle:
                random.shuffle(order)
            for at in order:
                yield self._sequence[at]
            if hasattr(self._sequence, "on_epoch_end"):
                self._sequence.on_epoch_end()

    def epoch(self) -> Iterator[Batch]:
        assert self.steps is not None
        for done in range(self.steps):
            try:
                item = next(self._items)
            except StopIteration:
                raise OutOfRangeError(
                    f"Your generator ran out of data after {done} of {self.steps} batches of an epoch. Make it go on, "
                    "or give fewer steps"
                ) from None
            yield self._understand(item)


class DatasetSource:
    """Batches of a dataset, begun anew with each epoch unless the steps of an epoch are told."""

    counts_steps = True
    samples = None

    def __init__(self, dataset: Any, steps: int | None, understand: Callable[[Any], Batch], graph: Any) -> None:
        self.steps = steps
        self._understand = understand
        with building(graph):
            self._iterator = dataset if hasattr(dataset, "get_next") else dataset.make_initializable_iterator()
            self._next = self._iterator.get_next()
        self._graph = graph
        self._is_begun = hasattr(dataset, "get_next")  # an iterator of the program's own has begun
        self.is_exhausted = False

    def _begin(self) -> None:
        if not self._is_begun or self.steps is None:
            initializer = getattr(self._iterator, "initializer", None)
            if initializer is not None:
                with building(self._graph):
                    initialized_session().run(initializer)
            self._is_begun = True

    def epoch(self) -> Iterator[Batch]:
        self._begin()
        done = 0
        while self.steps is None or done < self.steps:
            try:
                with building(self._graph):
                    values = initialized_session().run(self._next)
            except OutOfRangeError:
                self.is_exhausted = self.steps is not None
                if done == 0:
                    raise OutOfRangeError("Your dataset has no batch (left) for an epoch: repeat() it") from None
                return
            done += 1
            yield self._understand(values)


def is_dataset(value: object) -> bool:
    """Whether something is a dataset, or an iterator of one."""
    return isinstance(value, Dataset) or (hasattr(value, "get_next") and hasattr(value, "output_shapes"))


def is_generator(value: object) -> bool:
    """Whether something gives batches one after the other, or by number."""
    if isinstance(value, np.ndarray | list | tuple | dict) or value is None or is_dataset(value):
        return False
    if hasattr(value, "shape") or hasattr(value, "iloc") or hasattr(value, "get_shape"):
        return False
    is_sequence = hasattr(value, "__getitem__") and hasattr(value, "__len__")
    return hasattr(value, "__next__") or is_sequence or isinstance(value, Iterable)
