"""Numbers drawn by weight in constant time: a table of pairs, by Walker and Vose.

Each number has a column; of the height of a column a part is its own, the rest another number's. A draw takes a column
and a height.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from tensorkeep.ops.random.philox import unit_singles
from tensorkeep.ops.shared.kernel_types import Array


class Picker:
    """Draws numbers below a count by their weights, with the very table and draws of TensorFlow."""

    def __init__(self, weights: Array) -> None:
        total = np.float32(0)
        for weight in weights.tolist():
            total = np.float32(total + np.float32(weight))
        self.chances: Array = (weights / total).astype(np.float32)
        self._own, self._other = _table(weights.tolist())

    def __len__(self) -> int:
        return len(self._own)

    def draw(self, blocks: Iterable[npt.NDArray[np.uint32]]) -> Iterator[Array]:
        """Numbers from random words, two words each."""
        for words in blocks:
            pairs = words.reshape(-1, 2)
            heights = unit_singles(pairs)[:, 0]
            columns = pairs[:, 1] % np.uint32(len(self))
            yield np.where(heights < self._own[columns], columns, self._other[columns]).astype(np.int64)


def _table(weights: list[float]) -> tuple[Array, Array]:
    """The part of each column that is its own, and whose the rest is."""
    count, total = len(weights), 0.0
    for weight in weights:
        total += weight
    own = [float(np.float32(weight) * np.float32(count)) / total for weight in weights]
    other = list(range(count))
    low = [index for index, part in enumerate(own) if part < 1.0]
    high = [index for index, part in enumerate(own) if part >= 1.0]
    while high and low:
        small, large = low.pop(), high.pop()
        other[small] = large
        own[large] -= 1.0 - own[small]
        (low if own[large] < 1.0 else high).append(large)
    for index in (*high, *low):  # what rounding has left over
        own[index], other[index] = 1.0, index
    return np.array(own, np.float32), np.array(other, np.int64)
