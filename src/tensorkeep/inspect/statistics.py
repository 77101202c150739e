"""What the numbers in a checkpoint are like: their range, mean and spread, and those that should not be there.

Tensors are read in chunks: memory does not grow with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.reader import TensorInfo
from tensorkeep.dtypes import DType
from tensorkeep.embedding.tools.statistics import Histogram
from tensorkeep.inspect.comparing import Tensors, product_sum

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


class BlockMoments(NamedTuple):
    """What the numbers of one block add to the statistics of a tensor. Blocks that are folded in order add up alike,
    whoever worked them out: so several processes give the same statistics, to the last bit, as one.
    """

    finite: int
    nans: int
    infinities: int
    zeros: int
    absurd: int
    minimum: float
    maximum: float
    mean: float
    squares: float
    """Of the differences from the mean."""
    norm: float
    """Squared."""


def moments_of(block: Array, limit: float) -> BlockMoments:
    """What a block of numbers in double precision adds; `limit` is what is absurdly large."""
    finite = np.isfinite(block)
    nans = infinities = 0
    if not finite.all():
        nans = int(np.isnan(block).sum())
        infinities = block.size - int(finite.sum()) - nans
        block = block[finite]
    if not block.size:
        return BlockMoments(0, nans, infinities, 0, 0, np.inf, -np.inf, 0.0, 0.0, 0.0)
    zeros = block.size - int(np.count_nonzero(block))
    low, high = float(block.min()), float(block.max())
    absurd = int((np.abs(block) > limit).sum()) if max(-low, high) > limit else 0
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float(block.mean())
        apart = block - mean
        squares = product_sum(apart, apart)
        norm = product_sum(block, block)
    return BlockMoments(block.size, nans, infinities, zeros, absurd, low, high, mean, squares, norm)


class _Sums:
    """What adds up from block to block."""

    def __init__(self) -> None:
        self.finite = self.zeros = self.nans = self.infinities = self.absurd = 0
        self.minimum, self.maximum = np.inf, -np.inf
        self.mean = self.squares = 0.0  # of the differences from the mean
        self.norm = 0.0  # squared

    def fold(self, block: BlockMoments) -> None:
        self.nans += block.nans
        self.infinities += block.infinities
        if not block.finite:
            return
        self.zeros += block.zeros
        self.absurd += block.absurd
        self.minimum, self.maximum = min(self.minimum, block.minimum), max(self.maximum, block.maximum)
        with np.errstate(over="ignore", invalid="ignore"):
            self.norm += block.norm
            total = self.finite + block.finite
            shift = block.mean - self.mean
            self.mean += shift * block.finite / total
            self.squares += block.squares + shift * shift * self.finite * block.finite / total
        self.finite = total


def tensor_statistics(reader: Tensors, name: str, *, bins: int = 0, absurd: float = ABSURD) -> TensorStatistics:
    """The statistics of one tensor; with a histogram if it shall have bins, for which it is read twice."""
    info = reader[name]
    if info.dtype.is_object:
        return TensorStatistics(name, info.dtype, info.shape, info.size)
    blocks = (moments_of(block, absurd) for block in blocks_of(reader.source(name).chunks))
    found = folded_statistics(name, info, blocks)
    if not bins or found.minimum is None or found.maximum is None:
        return found
    edges = histogram_range(found.minimum, found.maximum)
    counts = block_histogram(blocks_of(reader.source(name).chunks), edges, bins)
    return replace(found, histogram=histogram_of(edges, counts))


def folded_statistics(name: str, info: TensorInfo, blocks: Iterable[BlockMoments]) -> TensorStatistics:
    """The statistics of a tensor of numbers, of what its blocks add, in their order."""
    sums = _Sums()
    for block in blocks:
        sums.fold(block)
    known = (name, info.dtype, info.shape, info.size)
    if not sums.finite:
        return TensorStatistics(*known, nans=sums.nans, infinities=sums.infinities)
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
    )


def checkpoint_statistics(
    reader: Tensors, names: Iterable[str] | None = None, *, bins: int = 0, absurd: float = ABSURD
) -> Iterator[TensorStatistics]:
    """The statistics of some tensors, or of all, one after the other."""
    for name in reader if names is None else names:
        yield tensor_statistics(reader, name, bins=bins, absurd=absurd)


def blocks_of(chunks: Iterable[npt.ArrayLike]) -> Iterator[Array]:
    """The numbers of chunks in double precision, some at a time."""
    for chunk in chunks:
        flat = np.asarray(chunk).reshape(-1)
        for at in range(0, flat.size, _BLOCK):
            block = flat[at : at + _BLOCK]
            yield np.abs(block).astype(np.float64) if np.iscomplexobj(block) else block.astype(np.float64)


def histogram_range(low: float, high: float) -> tuple[float, float]:
    """From where to where the histogram of numbers goes that lie from `low` to `high`."""
    if low == high:
        low, high = (low - 0.5, high + 0.5) if abs(low) < 1 else (low - abs(low) / 2, high + abs(high) / 2)
    if not np.isfinite(high - low):
        low, high = low / 2, high / 2  # a range that is itself too large for a number is cut at both ends
    return low, high


def block_histogram(blocks: Iterable[Array], edges: tuple[float, float], bins: int) -> npt.NDArray[np.int64]:
    """How many finite numbers of blocks lie in each bin."""
    counts = np.zeros(bins, np.int64)
    for block in blocks:
        counts += np.histogram(np.clip(block[np.isfinite(block)], *edges), bins, edges)[0]
    return counts


def histogram_of(edges: tuple[float, float], counts: npt.NDArray[np.int64]) -> Histogram:
    """The histogram with these counts in bins of the same width."""
    return Histogram(tuple(np.linspace(*edges, counts.size + 1).tolist()), tuple(counts.tolist()))
