"""Tensors that are gone through while somebody is told how far it got."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from tensorkeep.checkpoint.reader import TensorInfo
from tensorkeep.checkpoint.sources import ArraySource
from tensorkeep.inspect.comparing import Tensors
from tensorkeep.io.showing.progress import Progress, Told


class Watched:
    """The same tensors; what is read of them is counted."""

    def __init__(self, tensors: Tensors, watch: Told) -> None:
        self._tensors = tensors
        self._watch = watch

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __contains__(self, name: object) -> bool:
        return name in self._tensors

    def __getitem__(self, name: str) -> TensorInfo:
        return self._tensors[name]

    def source(self, name: str) -> ArraySource:
        found = self._tensors.source(name)
        if found.dtype.is_object:
            return found
        return ArraySource(found.dtype, found.shape, self._counted_chunks(found.chunks))

    def _counted_chunks(self, chunks: Iterable[Any]) -> Iterator[Any]:
        for chunk in chunks:
            yield chunk
            self._watch.add(int(np.asarray(chunk).nbytes))


def bytes_of(tensors: Tensors, names: Iterable[str] | None = None) -> int:
    """The bytes that reading some tensors, or all, gives; strings are not counted."""
    infos = (tensors[name] for name in (tensors if names is None else names))
    return sum(info.size * info.dtype.itemsize for info in infos if not info.dtype.is_object)


def phase(progress: Progress | None, number: int, count: int) -> Progress | None:
    """What is told of one of several passes over the same bytes, so that all together they are one piece of work."""
    if progress is None:
        return None
    return lambda done, total: progress(number * total + done, count * total)
