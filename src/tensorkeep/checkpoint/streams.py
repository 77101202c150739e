"""Tensors of several checkpoints gone through together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tensorkeep.arrays import Array


def in_step(sources: Sequence[Iterator[Array]]) -> Iterator[list[Array]]:
    """Chunks of several tensors that begin and end at the same elements, wherever those of each begin and end."""
    rest: list[Array] = [np.empty(0)] * len(sources)
    while True:
        rest = [rest[at] if rest[at].size else next(source, rest[at]).reshape(-1) for at, source in enumerate(sources)]
        count = min(chunk.size for chunk in rest)
        if not count:
            return
        yield [chunk[:count] for chunk in rest]
        rest = [chunk[count:] for chunk in rest]
