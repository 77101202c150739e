"""Which batches each worker has: of any iterable, of a function, or of a dataset of Ray Data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

from tensorkeep.errors import InvalidArgumentError, WrongTypeError

Batch: TypeAlias = Mapping[str, Any]
"""Arrays by the names of a program's inputs."""


@dataclass(frozen=True)
class DatasetBatches:
    """The batches of a dataset of Ray Data, whose columns are called as a program's inputs are.

    Workers have parts of it, of about the same size, with all rows among them. The last batch of a part may be smaller.
    """

    dataset: Any
    batch_size: int = 256

    def __post_init__(self) -> None:
        if self.batch_size < 1:
            raise InvalidArgumentError(f"batches of {self.batch_size} rows: expected at least 1")

    def split(self, count: int) -> list[DatasetBatches]:
        """The parts for so many workers."""
        return [DatasetBatches(part, self.batch_size) for part in self.dataset.split(count)]

    def __iter__(self) -> Iterator[Batch]:
        return iter(self.dataset.iter_batches(batch_size=self.batch_size, batch_format="numpy"))


Batches: TypeAlias = Iterable[Batch] | Callable[[int, int], Iterable[Batch]] | DatasetBatches
"""All batches, of which worker k of N has every N-th; a function that gives those of worker k of N; or a dataset."""


def batches_of_worker(batches: Batches, number: int, count: int, start: int = 0) -> Iterator[Batch]:
    """The batches of worker `number` of `count`, from its `start`-th on; of a dataset, of the worker's own part.

    A worker that comes back goes on where it was, so what is given must give the same batches again.
    """
    if isinstance(batches, DatasetBatches):
        return islice(batches, start, None)
    if callable(batches):
        return islice(batches(number, count), start, None)
    if not isinstance(batches, Iterable) or isinstance(batches, Iterator):
        raise WrongTypeError(
            f"batches are {type(batches).__name__}, expected something that can be gone through several times (a list, "
            "DatasetBatches of Ray Data), or a function of the worker's number and the number of workers"
        )
    return islice(batches, number + start * count, None, count)


def split_for_workers(batches: Batches, count: int) -> list[Batches]:
    """What each worker is given: its part of a dataset; the same for all, of anything else."""
    if isinstance(batches, DatasetBatches):
        return list(batches.split(count))
    return [batches] * count
