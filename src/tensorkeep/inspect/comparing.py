"""How two checkpoints differ, tensor by tensor; and how far the tensors of a run have moved from step to step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.reader import TensorInfo
from tensorkeep.checkpoint.sources import ArraySource
from tensorkeep.checkpoint.stretches import in_step
from tensorkeep.io.showing.amounts import amount_of
from tensorkeep.io.showing.html_tables import html_table


class Tensors(Protocol):
    """Tensors by name that can be gone through: an open checkpoint, or anything else that has some."""

    def __iter__(self) -> Iterator[str]: ...

    def __contains__(self, name: object, /) -> bool: ...

    def __getitem__(self, name: str) -> TensorInfo: ...

    def source(self, name: str) -> ArraySource: ...


class OpenedTensors(Tensors, Protocol):
    """The same, with where they are and in which format."""

    @property
    def path(self) -> str: ...

    @property
    def format(self) -> str: ...


@dataclass(frozen=True)
class TensorDifference:
    """How the numbers of a tensor differ between two checkpoints. Pairs with NaN or infinity are left out of sums."""

    differing: int
    """How many elements are not the same; two NaN count as the same."""
    count: int
    largest: float = 0.0
    mean: float = 0.0
    """The mean of the absolute differences."""
    relative: float | None = None
    """The norm of the difference, as a part of the norm of the first; None if that is 0, or for strings."""
    cosine: float | None = None
    """Of the angle between both; None if one of them is 0, or for strings."""


@dataclass(frozen=True)
class Comparison:
    """How two checkpoints differ."""

    removed: tuple[str, ...]
    """In the first only."""
    added: tuple[str, ...]
    """In the second only."""
    reshaped: Mapping[str, tuple[TensorInfo, TensorInfo]]
    """Of another type or shape."""
    changed: Mapping[str, TensorDifference]
    same: tuple[str, ...]

    def _repr_html_(self) -> str:
        """What a notebook shows: which tensors differ, and how much."""
        rows = [("removed", name, "") for name in self.removed] + [("added", name, "") for name in self.added]
        rows += [("reshaped", name, f"{old} -> {new}") for name, (old, new) in self.reshaped.items()]
        rows += [("changed", name, f"by up to {item.largest:.6g}") for name, item in self.changed.items()]
        return html_table(f"{amount_of(len(self.same), 'tensor')} the same", ("what", "name", ""), rows, len(rows))

    @property
    def is_same(self) -> bool:
        return not (self.removed or self.added or self.reshaped or self.changed)


def compare(
    first: Tensors,
    second: Tensors,
    *,
    rename: Callable[[str], str] | None = None,
    tolerance: float = 0.0,
) -> Comparison:
    """Compares tensors by name: their types, shapes, and every element.

    `rename` says what a name of the second is in the first. Numbers that differ by no more than `tolerance` are the
    same. Tensors are read in chunks, side by side.
    """
    matched = matched_names(first, second, rename)
    differences = {
        name: source_difference(first.source(name), second.source(new), tolerance)
        for name, new in matched.shared.items()
    }
    return matched.comparison(differences)


@dataclass(frozen=True)
class MatchedNames:
    """Which tensors of two checkpoints go together, and what is to be said of the others."""

    removed: tuple[str, ...]
    added: tuple[str, ...]
    reshaped: Mapping[str, tuple[TensorInfo, TensorInfo]]
    shared: Mapping[str, str]
    """The tensors whose elements can be compared: by the name in the first, the name in the second."""

    def comparison(self, differences: Mapping[str, TensorDifference]) -> Comparison:
        """How the checkpoints differ, if that is how the tensors do that can be compared."""
        changed = {name: found for name, found in differences.items() if found.differing}
        same = tuple(name for name, found in differences.items() if not found.differing)
        return Comparison(self.removed, self.added, self.reshaped, changed, same)


def matched_names(first: Tensors, second: Tensors, rename: Callable[[str], str] | None = None) -> MatchedNames:
    """Which tensors are to be compared with which, told from names, types and shapes alone."""
    new_names = {(name if rename is None else rename(name)): name for name in second}
    old_names = list(first)
    known = set(old_names)
    pairs = {name: new_names[name] for name in old_names if name in new_names}
    reshaped = {
        name: (first[name], second[new])
        for name, new in pairs.items()
        if (first[name].dtype, first[name].shape) != (second[new].dtype, second[new].shape)
    }
    return MatchedNames(
        tuple(name for name in old_names if name not in new_names),
        tuple(name for name in new_names if name not in known),
        reshaped,
        {name: new for name, new in pairs.items() if name not in reshaped},
    )


def source_difference(first: ArraySource, second: ArraySource, tolerance: float) -> TensorDifference:
    """How two tensors of one type and shape differ."""
    if first.dtype.is_object:
        pairs = list(zip(first.elements(), second.elements(), strict=True))
        return TensorDifference(sum(left != right for left, right in pairs), len(pairs))
    return folded_difference(chunk_differences(first.chunks, second.chunks, tolerance))


class ChunkDifference(NamedTuple):
    """What two chunks of numbers add to the difference of their tensors. Chunks that are folded in order add up alike,
    whoever compared them.
    """

    elements: int
    differing: int
    compared: int
    largest: float
    total: float
    squares: float
    first: float
    second: float
    product: float


def chunk_differences(
    first: Iterable[npt.ArrayLike], second: Iterable[npt.ArrayLike], tolerance: float
) -> Iterator[ChunkDifference]:
    """How two tensors of numbers differ, chunk by chunk."""
    for left, right in in_step([map(np.asarray, first), map(np.asarray, second)]):
        yield _chunk_difference(_wide(left), _wide(right), tolerance)


def _wide(chunk: Array) -> Array:
    return chunk.astype(np.complex128 if np.iscomplexobj(chunk) else np.float64)


def _chunk_difference(left: Array, right: Array, tolerance: float) -> ChunkDifference:
    count = left.size
    with np.errstate(invalid="ignore", over="ignore"):
        is_same = (left == right) | (np.isnan(left) & np.isnan(right))
        apart = np.abs(right - left)
        if tolerance:
            is_same |= apart <= tolerance
        differing = count - int(is_same.sum())
        sound = np.isfinite(left) & np.isfinite(right)
        if not sound.all():
            left, right, apart = left[sound], right[sound], apart[sound]
        if not left.size:
            return ChunkDifference(count, differing, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        compared = left.size
        # Of complex numbers, the sum of both parts' products is the real part of the product of one and the
        # conjugate of the other.
        left, right = left.view(np.float64), right.view(np.float64)
        return ChunkDifference(
            count,
            differing,
            compared,
            float(apart.max()),
            float(apart.sum()),
            product_sum(apart, apart),
            product_sum(left, left),
            product_sum(right, right),
            product_sum(left, right),
        )


def product_sum(left: Array, right: Array) -> float:
    """The sum of the products of two vectors, the same to the last bit on every machine.

    NumPy adds in one order everywhere; a product by OpenBLAS adds in the order that suits the processor, so that the
    machines of a cluster would not agree.
    """
    return float(np.multiply(left, right).sum())


def folded_difference(chunks: Iterable[ChunkDifference]) -> TensorDifference:
    """The difference of two tensors of numbers, of what their chunks add, in their order."""
    count = differing = compared = 0
    largest = total = squares = first = second = product = 0.0
    for chunk in chunks:
        count += chunk.elements
        differing += chunk.differing
        compared += chunk.compared
        largest = max(largest, chunk.largest)
        total += chunk.total
        squares += chunk.squares
        first += chunk.first
        second += chunk.second
        product += chunk.product
    norms = np.sqrt(first) * np.sqrt(second)
    return TensorDifference(
        differing,
        count,
        largest,
        total / compared if compared else 0.0,
        float(np.sqrt(squares) / np.sqrt(first)) if first else None,
        float(np.clip(product / norms, -1, 1)) if norms else None,
    )


@dataclass(frozen=True)
class Drift:
    """How far tensors have moved over the checkpoints of a run."""

    labels: tuple[str, ...]
    """What the checkpoints are called, in order."""
    steps: Mapping[str, tuple[float | None, ...]]
    """For each tensor that all have, the relative change from each checkpoint to the next."""
    total: Mapping[str, float | None]
    """The relative change from the first to the last."""


def drift(checkpoints: Sequence[tuple[str, Tensors]]) -> Drift:
    """How far the floating-point tensors that all checkpoints have, of one shape, moved from each one to the next."""
    tensors = [item for _, item in checkpoints]
    names = [name for name in tensors[0] if _is_shared(name, tensors)] if tensors else []
    steps: dict[str, tuple[float | None, ...]] = {}
    total: dict[str, float | None] = {}
    for name in names:
        steps[name] = tuple(
            source_difference(a.source(name), b.source(name), 0.0).relative for a, b in pairwise(tensors)
        )
        total[name] = source_difference(tensors[0].source(name), tensors[-1].source(name), 0.0).relative
    return Drift(tuple(label for label, _ in checkpoints), steps, total)


def _is_shared(name: str, tensors: Sequence[Tensors]) -> bool:
    info = tensors[0][name]
    if not info.dtype.is_floating:
        return False
    return all(name in item and (item[name].dtype, item[name].shape) == (info.dtype, info.shape) for item in tensors)
