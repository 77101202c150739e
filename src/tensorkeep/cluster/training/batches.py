"""Which batches each worker has: of any iterable, of a function, or of a dataset of Ray Data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, TypeAlias

from tensorkeep.errors import WrongTypeError

Batch: TypeAlias = Mapping[str, Any]
"""Arrays by the names of a program's inputs."""

Batches: TypeAlias = Iterable[Batch] | Callable[[int, int], Iterable[Batch]] | Any
"""All batches, of which worker k of N has every N-th; or a function that gives those of worker k of N."""


def batches_of_worker(batches: Batches, number: int, count: int, start: int = 0) -> Iterator[Batch]:
    """The batches of worker `number` of `count`, from its `start`-th on.

    A worker that comes back goes on where it was, so what is given must give the same batches again.
    """
    if hasattr(batches, "iter_batches"):  # a dataset of Ray Data, or one of the parts that it was split into
        found: Iterable[Batch] = batches.iter_batches(batch_format="numpy")
        return islice(found, start, None)
    if callable(batches):
        return islice(batches(number, count), start, None)
    if not isinstance(batches, Iterable) or isinstance(batches, Iterator):
        raise WrongTypeError(
            f"batches are {type(batches).__name__}, expected something that can be gone through several times (a list, "
            "a dataset of Ray Data), or a function of the worker's number and the number of workers"
        )
    return islice(batches, number + start * count, None, count)


def split_for_workers(batches: Batches, count: int) -> list[Batches]:
    """What each worker is given: its part of a dataset of Ray Data; the same for all, of anything else."""
    if hasattr(batches, "split") and hasattr(batches, "iter_batches"):
        return list(batches.split(count, equal=True))
    return [batches] * count
