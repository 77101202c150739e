"""Boxes on images: how much two overlap, and which of many are kept.

A box is [y1, x1, y2, x2], any two opposite corners. Overlap is the intersection over the union, in single precision.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.runtime.limits import check_allocation

Singles = npt.NDArray[np.float32]
Overlap = Callable[[int, Array], Singles]
"""How much a box, by its number, is overlapped by others, by theirs."""

_ZERO: Final = np.float32(0)


def overlap_of_boxes(boxes: Array) -> Overlap:
    """The intersection over the union of boxes."""
    corners = boxes.astype(np.float32)
    low = np.minimum(corners[:, :2], corners[:, 2:])
    high = np.maximum(corners[:, :2], corners[:, 2:])
    areas = (high[:, 0] - low[:, 0]) * (high[:, 1] - low[:, 1])

    def overlap(one: int, others: Array) -> Singles:
        first, last = np.maximum(low[others], low[one]), np.minimum(high[others], high[one])
        sides = np.maximum(last - first, _ZERO)
        shared = sides[:, 0] * sides[:, 1]
        with np.errstate(all="ignore"):
            found = shared / (areas[others] + areas[one] - shared)
        is_empty = (areas[others] <= 0) | (areas[one] <= 0)
        return np.where(is_empty, _ZERO, found).astype(np.float32)

    return overlap


def overlap_of_table(overlaps: Array) -> Overlap:
    """Overlaps that are given for every pair."""
    return lambda one, others: overlaps[others, one]


@dataclass(frozen=True, slots=True)
class Limits:
    """What is kept: at most `size` boxes of scores above `score`, none overlapping a better one by more than `overlap`.

    With a `sigma` none is dropped for its overlaps, but its score falls with each.
    """

    size: int
    overlap: Any
    score: Any
    sigma: Any


@dataclass(frozen=True, slots=True)
class Kept:
    """The boxes that are kept, best first, and their scores."""

    places: list[int]
    scores: Array


def keep_best(scores: Array, overlap: Overlap, limits: Limits) -> Kept:
    """Suppresses all boxes that overlap better ones. Among equal scores the first box is the better."""
    if limits.size < 0:
        raise InvalidArgumentError(f"output size must be non-negative, got {limits.size}")
    if limits.sigma > 0:
        return _keep_softly(scores, overlap, limits)
    places: list[int] = []
    is_open = scores > limits.score
    for place in np.argsort(-scores.astype(np.float64), kind="stable").tolist():
        if len(places) >= limits.size:
            break
        if is_open[place]:
            places.append(place)
            others = np.flatnonzero(is_open)
            is_open[others[overlap(place, others).astype(scores.dtype) > limits.overlap]] = False
            is_open[place] = False
    return Kept(places, scores[places])


def _keep_softly(scores: Array, overlap: Overlap, limits: Limits) -> Kept:
    kind = scores.dtype.type
    scale = kind(kind(-0.5) / limits.sigma)
    queue = [(-float(score), place, 0, score) for place, score in enumerate(scores) if score > limits.score]
    heapq.heapify(queue)
    places: list[int] = []
    kept: list[Any] = []
    while queue and len(places) < limits.size:
        _, place, compared, original = heapq.heappop(queue)
        score = original
        # A box is compared with each that is kept only once: those since it was last in the queue, latest first.
        latest = np.array(places[compared:][::-1], np.int64)
        for shared in overlap(place, latest).astype(scores.dtype):
            score = kind(score * kind(np.exp(kind(kind(scale * shared) * shared))))
            if score <= limits.score:
                break
        if score == original:
            places.append(place)
            kept.append(score)
        elif score > limits.score:
            heapq.heappush(queue, (-float(score), place, len(places), score))
    return Kept(places, np.array(kept, scores.dtype))


def pad_with_zeros(values: Array, size: int) -> Array:
    """The values, and zeros after them up to a size."""
    check_allocation((size,), values.dtype)
    result = np.zeros(max(size, len(values)), values.dtype)
    result[: len(values)] = values
    return result
