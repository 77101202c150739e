"""Datasets as files with a decoder, read by several readers at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from tensorkeep.dtypes import FLOAT32, STRING
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.graph import Tensor
from tensorkeep.io.files.gfile import glob
from tensorkeep.tf1.contrib.slim.decoders import DataDecoder
from tensorkeep.tf1.functions.data.queues import FIFOQueue, QueueBase, QueueElement, RandomShuffleQueue
from tensorkeep.tf1.functions.data.summaries import scalar
from tensorkeep.tf1.functions.numbers.elementwise import add_n, cast
from tensorkeep.tf1.training.inputs.input_producers import string_input_producer
from tensorkeep.tf1.training.inputs.queue_runner import QueueRunner, add_queue_runner

DataSources: TypeAlias = "str | list[DataSources] | tuple[DataSources, ...]"
"""Files by their paths, or by patterns."""


class Dataset:
    """Where data lies, how it is read and decoded, and how many samples there are. All of it are attributes."""

    def __init__(
        self,
        data_sources: DataSources,
        reader: Callable[..., Any],
        decoder: DataDecoder,
        num_samples: int,
        items_to_descriptions: Mapping[str, str],
        **kwargs: object,
    ) -> None:
        self.data_sources = data_sources
        self.reader = reader
        self.decoder = decoder
        self.num_samples = num_samples
        self.items_to_descriptions = items_to_descriptions
        vars(self).update(kwargs)


class DataProvider:
    """Tensors by the names of items."""

    def __init__(self, items_to_tensors: Mapping[str, Any], num_samples: int) -> None:
        self._items_to_tensors = dict(items_to_tensors)
        self._num_samples = num_samples

    def get(self, items: Sequence[str]) -> list[Any]:
        """The tensors of items, in that order."""
        if not isinstance(items, list | tuple):
            raise InvalidArgumentError("items must be a list or tuple")
        for item in items:
            if item not in self._items_to_tensors:
                known = ", ".join(self._items_to_tensors)
                raise InvalidArgumentError(f"Item [{item}] is invalid. Valid entries include: {known}")
        return [self._items_to_tensors[item] for item in items]

    def list_items(self) -> list[str]:
        return list(self._items_to_tensors)

    def num_samples(self) -> int:
        return self._num_samples


class DatasetDataProvider(DataProvider):
    """The items of a dataset, read by threads."""

    def __init__(
        self,
        dataset: Dataset,
        num_readers: int = 1,
        reader_kwargs: Mapping[str, Any] | None = None,
        shuffle: bool = True,
        num_epochs: int | None = None,
        common_queue_capacity: int = 256,
        common_queue_min: int = 128,
        record_key: str = "record_key",
        seed: int | None = None,
        scope: str | None = None,
    ) -> None:
        record: Any = parallel_read(
            dataset.data_sources,
            reader_class=dataset.reader,
            num_epochs=num_epochs,
            num_readers=num_readers,
            reader_kwargs=reader_kwargs,
            shuffle=shuffle,
            capacity=common_queue_capacity,
            min_after_dequeue=common_queue_min,
            seed=seed,
            scope=scope,
        )
        key, data = record
        items = dataset.decoder.list_items()
        found = dict(zip(items, dataset.decoder.decode(data, items), strict=True))
        if record_key in found:
            raise InvalidArgumentError(
                f"The item name used for `record_key` cannot also be used for a dataset item: {record_key}"
            )
        super().__init__({**found, record_key: key}, dataset.num_samples)


class ParallelReader:
    """Several readers that put what they read into one queue."""

    def __init__(
        self,
        reader_class: Callable[..., Any],
        common_queue: QueueBase,
        num_readers: int = 4,
        reader_kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        if [dtype.base_dtype for dtype in common_queue.dtypes] != [STRING, STRING]:
            raise WrongTypeError("common_queue.dtypes must be [tf.string, tf.string]")
        self._readers = [reader_class(**(reader_kwargs or {})) for _ in range(num_readers)]
        self._common_queue = common_queue

    @property
    def num_readers(self) -> int:
        return len(self._readers)

    @property
    def common_queue(self) -> QueueBase:
        return self._common_queue

    def read(self, queue: QueueBase, name: str | None = None) -> QueueElement:
        """The key and the value of a record."""
        self._read_from(queue)
        return self._common_queue.dequeue(name=name)

    def read_up_to(self, queue: QueueBase, num_records: TensorLike, name: str | None = None) -> QueueElement:
        """The keys and the values of several records."""
        self._read_from(queue)
        return self._common_queue.dequeue_up_to(num_records, name)

    def _read_from(self, queue: QueueBase) -> None:
        filled = [self._common_queue.enqueue(reader.read(queue)) for reader in self._readers]
        add_queue_runner(QueueRunner(self._common_queue, filled))

    def num_records_produced(self, name: str | None = None) -> Tensor:
        return add_n([reader.num_records_produced() for reader in self._readers], name=name)

    def num_work_units_completed(self, name: str | None = None) -> Tensor:
        return add_n([reader.num_work_units_completed() for reader in self._readers], name=name)


def parallel_read(
    data_sources: DataSources,
    reader_class: Callable[..., Any],
    num_epochs: int | None = None,
    num_readers: int = 4,
    reader_kwargs: Mapping[str, Any] | None = None,
    shuffle: bool = True,
    dtypes: Sequence[Any] | None = None,
    capacity: int = 256,
    min_after_dequeue: int = 128,
    seed: int | None = None,
    scope: str | None = None,
) -> QueueElement:
    """The key and the value of a record of some files, which several readers read, shuffled or in order."""
    files = get_data_files(data_sources)
    with name_scope(scope or "parallel_read"):
        names = string_input_producer(files, num_epochs=num_epochs, shuffle=shuffle, seed=seed, name="filenames")
        kinds: Any = list(dtypes or [STRING, STRING])
        queue: QueueBase
        if shuffle:
            queue = RandomShuffleQueue(
                capacity, min_after_dequeue=min_after_dequeue, dtypes=kinds, seed=seed, name="common_queue"
            )
        else:
            queue = FIFOQueue(capacity, dtypes=kinds, name="common_queue")
        scalar(f"fraction_of_{capacity}_full", cast(queue.size(), FLOAT32) * (1.0 / capacity))
        return ParallelReader(reader_class, queue, num_readers, reader_kwargs).read(names)


def single_pass_read(
    data_sources: DataSources,
    reader_class: Callable[..., Any],
    reader_kwargs: Mapping[str, Any] | None = None,
    scope: str | None = None,
) -> QueueElement:
    """The key and the value of a record of some files, each of which is read once and in order."""
    files = get_data_files(data_sources)
    with name_scope(scope or "single_pass_read"):
        names = string_input_producer(files, num_epochs=1, shuffle=False, capacity=1, name="filenames")
        record: QueueElement = reader_class(**(reader_kwargs or {})).read(names)
        return record


def get_data_files(data_sources: DataSources) -> list[str]:
    """The files that paths and patterns name."""
    if isinstance(data_sources, list | tuple):
        found = [path for source in data_sources for path in get_data_files(source)]
    elif any(mark in data_sources for mark in "*?["):
        found = glob(data_sources)
    else:
        found = [data_sources]
    if not found:
        raise InvalidArgumentError(f"No data files found in {data_sources}")
    return found
