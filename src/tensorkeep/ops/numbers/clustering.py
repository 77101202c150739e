"""What clustering by means is made of: the centers that are nearest, and points to begin with."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import op
from tensorkeep.ops.random.philox import PhiloxGenerator, unit_singles
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.shared.shape_rules import unknown
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

Singles = npt.NDArray[np.float32]

_POINTS_AT_ONCE: Final = 1 << 22  # products of points and centers that are held at a time

nearest_neighbors = op(
    "NearestNeighbors(points: float, centers: float, k: int64)"
    " -> nearest_center_indices: int64, nearest_center_distances: float"
)


@nearest_neighbors.shape
def nearest_neighbors_shape(points: Tensor, centers: Tensor, k: Tensor) -> tuple[Shape, Shape]:
    return UNKNOWN_SHAPE, UNKNOWN_SHAPE


@nearest_neighbors.kernel
def nearest_neighbors_kernel(points: Array, centers: Array, k: Array) -> tuple[Array, Array]:
    _check_matrix(points, "points")
    _check_matrix(centers, "centers")
    if np.ndim(k):
        raise InvalidArgumentError("Input k should be a scalar.")
    if not len(points):
        raise InvalidArgumentError("Expected points.rows() > 0.")
    if points.shape[1] != centers.shape[1]:
        raise InvalidArgumentError(
            f"Expected point_dimensions == center_dimensions: {points.shape[1]} vs {centers.shape[1]}."
        )
    if k < 0:
        raise InvalidArgumentError(f"Expected k >= 0, got {k}.")
    count = min(int(k), len(centers))
    indices = np.empty((len(points), count), np.int64)
    distances = np.empty((len(points), count), np.float32)
    step = max(1, _POINTS_AT_ONCE // max(len(centers), 1))
    for start in range(0, len(points) if count else 0, step):
        block = slice(start, start + step)
        indices[block], distances[block] = _nearest(points[block], centers, count)
    return indices, distances


def _nearest(points: Singles, centers: Singles, count: int) -> tuple[Any, Any]:
    """The centers nearest to each point, and their squared distances; of equally near ones the first."""
    halves = _half_norms(centers) - points @ centers.T  # half the squared distance, less what is the point's alone
    order = np.argsort(halves, axis=1, kind="stable")[:, :count]
    squares = np.float32(2) * (_half_norms(points)[:, None] + np.take_along_axis(halves, order, 1))
    return order, np.maximum(squares, np.float32(0))


def _half_norms(rows: Singles) -> Singles:
    return np.asarray(np.float32(0.5) * np.einsum("ij,ij->i", rows, rows))


def _check_matrix(value: Any, name: str) -> None:
    if np.ndim(value) != 2:
        raise InvalidArgumentError(f"Input {name} should be a matrix, got shape {list(np.shape(value))}.")


# ------------------------------------------------------------------------------------------- Points to begin with


class _Draws:
    """Numbers one after the other from a seeded stream, as TensorFlow's SimplePhilox hands them out."""

    def __init__(self, seed: int) -> None:
        self._generator = PhiloxGenerator.of_seeds(seed, 0)
        self._words = np.empty(0, np.uint32)
        self._blocks = self._at = 0

    def _word(self) -> Any:
        if self._at == len(self._words):
            self._words = self._generator.words(256, self._blocks).reshape(-1)
            self._blocks += 256
            self._at = 0
        self._at += 1
        return self._words[self._at - 1]

    def unit(self) -> np.float32:
        """A number of [0, 1)."""
        return np.float32(unit_singles(np.array([self._word()], np.uint32))[0])

    def below(self, limit: int) -> int:
        """A whole number of [0, limit), all equally likely, from 64 bits."""
        if limit & (limit - 1) == 0:
            return self._long() & (limit - 1)
        rejected = (2**64 - 1) % limit + 1
        while (number := self._long()) < rejected:
            pass
        return number % limit

    def _long(self) -> int:
        low, high = int(self._word()), int(self._word())
        return low | high << 32


kmc2_chain_initialization = op("KMC2ChainInitialization(distances: float, seed: int64) -> index: int64")


@kmc2_chain_initialization.shape
def kmc2_chain_initialization_shape(distances: Tensor, seed: Tensor) -> Shape:
    return Shape(())


@kmc2_chain_initialization.kernel
def kmc2_chain_initialization_kernel(distances: Array, seed: Array) -> np.int64:
    if np.ndim(distances) != 1 or not len(distances):
        raise InvalidArgumentError(
            f"Input distances should be a vector of at least one element, got shape {list(np.shape(distances))}."
        )
    if np.ndim(seed):
        raise InvalidArgumentError("Input seed should be a scalar.")
    draws = _Draws(int(seed))
    chosen = 0
    for candidate in range(1, len(distances)):
        if distances[candidate] > draws.unit() * distances[chosen]:
            chosen = candidate
    return np.int64(chosen)


kmeans_plus_plus_initialization = op(
    "KmeansPlusPlusInitialization(points: float, num_to_sample: int64, seed: int64, num_retries_per_sample: int64)"
    " -> samples: float"
)
kmeans_plus_plus_initialization.shape(unknown)


@kmeans_plus_plus_initialization.kernel
def kmeans_plus_plus_initialization_kernel(
    points: Array, num_to_sample: Array, seed: Array, num_retries_per_sample: Array
) -> Array:
    _check_matrix(points, "points")
    if np.ndim(num_to_sample) or np.ndim(seed) or np.ndim(num_retries_per_sample):
        raise InvalidArgumentError("Inputs num_to_sample, seed and num_retries_per_sample should be scalars.")
    wanted, retries = int(num_to_sample), int(num_retries_per_sample)
    if not 0 < wanted <= len(points):
        raise InvalidArgumentError(f"Expected 0 < num_to_sample <= points.rows(), got {wanted} of {len(points)}.")
    if retries < 0:
        retries = 2 + int(np.log(wanted))
    return points[_plus_plus(points, wanted, _Draws(int(seed)), retries)]


def _plus_plus(points: Singles, wanted: int, draws: _Draws, retries: int) -> list[int]:
    """Points drawn one by one, in proportion to their squared distances from those drawn before.

    Of each point several candidates are drawn, and the one is taken that leaves the smallest sum of distances.
    """
    norms = _half_norms(points)
    nearest = np.full(len(points), np.inf, np.float32)
    chosen: list[int] = []
    for _ in range(wanted):
        sums = np.cumsum(nearest, dtype=np.float32) if chosen else None
        best, best_sum, best_nearest = 0, np.float32(np.inf), nearest
        for _ in range(1 + retries):
            index = _draw_point(draws, sums, len(points), chosen)
            distances = np.minimum(nearest, (norms - points @ points[index]) + norms[index])
            total = distances.sum(dtype=np.float32)
            if total < best_sum or not retries:
                best, best_sum, best_nearest = index, total, distances
        nearest = best_nearest
        chosen.append(best)
    return chosen


def _draw_point(draws: _Draws, sums: Singles | None, count: int, chosen: list[int]) -> int:
    """A point that has not been chosen; any of them while nothing is known of distances, or all are zero."""
    if sums is None:
        return draws.below(count)
    total = sums[-1]
    while True:
        if total > 0:
            index = min(int(np.searchsorted(sums, draws.unit() * total, side="right")), count - 1)
        else:
            index = draws.below(count)
        if index not in chosen:
            return index
