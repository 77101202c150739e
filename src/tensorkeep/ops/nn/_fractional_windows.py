"""Where the windows of fractional pooling begin and end: sizes of k and k + 1, in an order that is drawn.

    sequence = 0 a[1] … a[n - 1] length        window i is [a[i], a[i + 1]), or [a[i], a[i + 1]] where windows overlap

Drawn as TensorFlow draws it, from the same generator.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.ops.random.philox import WORDS, PhiloxStream, unit_doubles
from tensorkeep.ops.shared.kernel_types import Array


def output_size(size: int, ratio: float) -> int:
    """How many windows there are, in the arithmetic of float32."""
    return floor(np.float32(size) / np.float32(ratio))


def pooling_sequence(length: int, count: int, stream: PhiloxStream, pseudo_random: bool) -> Array:
    """Where `count` windows of an axis of `length` elements begin, and the length."""
    sizes = _evenly(length, count, stream) if pseudo_random else _shuffled_sizes(length, count, stream)
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _evenly(length: int, count: int, stream: PhiloxStream) -> Array:
    """Windows that begin at the multiples of a fraction, from a random place on."""
    ratio, least = length / count, length // count
    most = min((least + 2) / ratio - 1, (length + 1 - least) / ratio - (count - 1))
    start = float(unit_doubles(stream.reserve(1).words(1))[0, 0]) * most
    ends = [1, *(ceil(ratio * (index + start)) for index in range(1, count)), length + 1]
    return np.diff(ends)


def _shuffled_sizes(length: int, count: int, stream: PhiloxStream) -> Array:
    """The larger windows first, and then all of them shuffled."""
    least, larger = divmod(length, count)
    sizes = np.full(count, least)
    sizes[:larger] += 1
    blocks = -(-count // WORDS)
    words = stream.reserve(blocks).words(blocks).ravel().tolist()
    for index in range(count - 1):
        other = index + words[index] % (count - index)
        sizes[[index, other]] = sizes[[other, index]]
    return sizes


@dataclass(frozen=True)
class Cells:
    """The windows of one axis: their first elements, and their last."""

    first: Array
    last: Array

    @classmethod
    def of_sequence(cls, sequence: Array, size: int, overlapping: bool, name: str) -> Cells:
        """The windows of a sequence over an axis of that many elements."""
        if sequence.ndim != 1 or sequence.size < 2:
            raise InvalidArgumentError(f"{name} must be a vector of two elements or more, got {list(sequence.shape)}")
        first = sequence[:-1]
        last = np.minimum(sequence[1:] - (0 if overlapping else 1), size - 1)
        if first.min() < 0 or first.max() >= size or (last < first).any():
            raise InvalidArgumentError(
                f"{name} {sequence.tolist()} is no sequence of windows over {size} elements: they must begin inside, "
                "each after the one before"
            )
        return cls(first, last)

    def __len__(self) -> int:
        return len(self.first)

    @property
    def sizes(self) -> Array:
        return self.last - self.first + 1

    def steps(self) -> list[tuple[Array, Array]]:
        """The elements at each step from the windows' first ones on, and which windows reach that far."""
        return [(self.first + step, self.first + step <= self.last) for step in range(int(self.sizes.max()))]
