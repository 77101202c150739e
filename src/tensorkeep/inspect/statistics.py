"""What the numbers in a checkpoint are like: their range, mean and spread, and those that should not be there.

Tensors are read in chunks: memory does not grow with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import DType
from tensorkeep.embedding.tools.statistics import Histogram
from tensorkeep.inspect.comparing import Tensors
from tensorkeep.io.machine.blas import inner_product

ABSURD: Final = 1e8
"""Numbers larger than this are hardly those of a model that has been trained well."""

_BLOCK: Final = 1 << 16  # elements that are looked at together: few enough to stay in the processor's cache


@dataclass(frozen=True)
class TensorStatistics:
    """What the numbers of a tensor are like. Those that are not finite are counted, and left out of all else.

    Of complex numbers, it is their absolute values. Strings have no numbers; of an empty tensor, and of one without a
    finite number, there is no range.
    """

    name: str
    dtype: DType
    shape: tuple[int, ...]
    count: int
    minimum: float | None = None
    maximum: float | None = None
    mean: float | None = None
    deviation: float | None = None
    norm: float | None = None
    """The square root of the sum of the squares."""
    zeros: int = 0
    nans: int = 0
    infinities: int = 0
    absurd: int = 0
    """Numbers whose absolute value is above the limit."""
    histogram: Histogram | None = None

    @property
    def is_numeric(self) -> bool:
        return not self.dtype.is_object

    @property
    def is_constant(self) -> bool:
        """Whether all numbers are the same, of several."""
        return self.count > 1 and self.minimum is not None and self.minimum == self.maximum and not self._odd

    @property
    def _odd(self) -> int:
        return self.nans + self.infinities


class _Sums:
    """What adds up from block to block."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.finite = self.zeros = self.nans = self.infinities = self.absurd = 0
        self.minimum, self.maximum = np.inf, -np.inf
        self.mean = self.squares = 0.0  # of the differences from the mean
        self.norm = 0.0  # squared

    def add(self, block: Array) -> None:
        finite = np.isfinite(block)
        if not finite.all():
            nans = int(np.isnan(block).sum())
            self.nans += nans
            self.infinities += block.size - int(finite.sum()) - nans
            block = block[finite]
        if not block.size:
            return
        self.zeros += block.size - int(np.count_nonzero(block))
        low, high = float(block.min()), float(block.max())
        self.minimum, self.maximum = min(self.minimum, low), max(self.maximum, high)
        if max(-low, high) > self.limit:
            self.absurd += int((np.abs(block) > self.limit).sum())
        self._add_moments(block)

    def _add_moments(self, block: Array) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            mean = float(block.mean())
            apart = block - mean
            squares = float(inner_product(apart, apart))
            self.norm += float(inner_product(block, block))
            total = self.finite + block.size
            shift = mean - self.mean
            self.mean += shift * block.size / total
            self.squares += squares + shift * shift * self.finite * block.size / total
        self.finite = total


def tensor_statistics(reader: Tensors, name: str, *, bins: int = 0, absurd: float = ABSURD) -> TensorStatistics:
    """The statistics of one tensor; with a histogram if it shall have bins, for which it is read twice."""
    info = reader[name]
    known = (name, info.dtype, info.shape, info.size)
    if info.dtype.is_object:
        return TensorStatistics(*known)
    sums = _Sums(absurd)
    for block in _blocks(reader, name):
        sums.add(block)
    if not sums.finite:
        return TensorStatistics(*known, nans=sums.nans, infinities=sums.infinities)
    histogram = _histogram(reader, name, sums.minimum, sums.maximum, bins) if bins else None
    return TensorStatistics(
        *known,
        sums.minimum,
        sums.maximum,
        sums.mean,
        float(np.sqrt(sums.squares / sums.finite)),
        float(np.sqrt(sums.norm)),
        sums.zeros,
        sums.nans,
        sums.infinities,
        sums.absurd,
        histogram,
    )


def checkpoint_statistics(
    reader: Tensors, names: Iterable[str] | None = None, *, bins: int = 0, absurd: float = ABSURD
) -> Iterator[TensorStatistics]:
    """The statistics of some tensors, or of all, one after the other."""
    for name in reader if names is None else names:
        yield tensor_statistics(reader, name, bins=bins, absurd=absurd)


def _blocks(reader: Tensors, name: str) -> Iterator[Array]:
    """The numbers of a tensor in double precision, some at a time."""
    for chunk in reader.source(name).chunks:
        flat = np.asarray(chunk).reshape(-1)
        for at in range(0, flat.size, _BLOCK):
            block = flat[at : at + _BLOCK]
            yield np.abs(block).astype(np.float64) if np.iscomplexobj(block) else block.astype(np.float64)


def _histogram(reader: Tensors, name: str, low: float, high: float, bins: int) -> Histogram:
    if low == high:
        low, high = (low - 0.5, high + 0.5) if abs(low) < 1 else (low - abs(low) / 2, high + abs(high) / 2)
    if not np.isfinite(high - low):
        low, high = low / 2, high / 2  # a range that is itself too large for a number is cut at both ends
    counts = np.zeros(bins, np.int64)
    for block in _blocks(reader, name):
        counts += np.histogram(np.clip(block[np.isfinite(block)], low, high), bins, (low, high))[0]
    return Histogram(tuple(np.linspace(low, high, bins + 1).tolist()), tuple(counts.tolist()))
