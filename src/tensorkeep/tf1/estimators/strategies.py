"""Distribution strategies with one replica: a program under one of them is the program without.

Without accelerators TensorFlow's `MirroredStrategy` has one replica too. More than one device is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from tensorkeep.errors import UnimplementedError

if TYPE_CHECKING:
    from tensorkeep.tf1.datasets.dataset import Dataset
    from tensorkeep.tf1.datasets.iterators import Iterator as DatasetIterator

Given = TypeVar("Given")


class OneReplicaStrategy:
    """What programs ask of a strategy: that there is one replica."""

    num_replicas_in_sync = 1

    @contextmanager
    def scope(self) -> Iterator[OneReplicaStrategy]:
        """Where a model is built: as without."""
        yield self

    def experimental_distribute_dataset(self, dataset: Dataset) -> Dataset:
        """The dataset, all of which goes to the one replica."""
        return dataset

    def make_dataset_iterator(self, dataset: Dataset) -> DatasetIterator:
        """An iterator of a dataset, which has to be initialized."""
        return dataset.make_initializable_iterator()

    def experimental_run_v2(
        self, fn: Callable[..., Given], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Given:
        """Calls a function for the one replica."""
        return fn(*args, **(kwargs or {}))

    def reduce(self, reduce_op: object, value: Given, axis: int | None = None) -> Given:
        """What one replica gives, over all of them."""
        if axis is not None:
            raise UnimplementedError("reduce(axis=...): reduce the tensor by tf.reduce_sum or tf.reduce_mean first")
        return value

    def experimental_local_results(self, value: Given) -> tuple[Given]:
        """The values of the replicas."""
        return (value,)


class MirroredStrategy(OneReplicaStrategy):
    """Copies of a model on several devices, of which there is one."""

    def __init__(
        self, devices: Sequence[str] | None = None, cross_device_ops: object = None, **options: int | None
    ) -> None:
        wanted = len(devices) if devices is not None else options.get("num_gpus") or options.get("num_gpus_per_worker")
        if wanted and wanted > 1:
            raise UnimplementedError(
                f"MirroredStrategy asks for {wanted} devices, and there is one: sessions run in this process. Leave "
                "devices out, or train in several processes by tensorkeep.cluster"
            )


class OneDeviceStrategy(OneReplicaStrategy):
    """A model on one device."""

    def __init__(self, device: str) -> None:
        self._device = device
