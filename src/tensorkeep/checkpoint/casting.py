"""Numbers in another type, and a count of what is lost on the way: the one place that says what loss is.

    lost       a number that is not zero and becomes zero; a finite one that becomes infinite, or NaN where the type has
               no infinity; NaN or infinity in a type without them; a whole number that does not fit, or that is not the
               same number afterwards; an imaginary part that is not zero and is dropped
    rounded    a number with a fraction that becomes its neighbour in the other type: what casting is expected to do

A cast that loses is refused unless the caller allows it. Roundings are counted and told, nothing more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.dtypes import DType, dtype_of_array
from tensorkeep.errors import InvalidArgumentError

Booleans: TypeAlias = npt.NDArray[np.bool_]

_MOST_TOLD: Final = 10


@dataclass(frozen=True)
class CastLoss:
    """How many numbers of a tensor did not survive a cast, by what became of them."""

    elements: int = 0
    zero: int = 0
    infinite: int = 0
    """Finite numbers that became infinite, or NaN where the type has no infinity."""
    undefined: int = 0
    """NaN and infinities in a type that has none."""
    out_of_range: int = 0
    """Whole numbers, or such with a fraction, beyond the range of a type of whole numbers."""
    inexact: int = 0
    """Whole numbers that became other numbers for want of digits."""
    imaginary: int = 0
    """Imaginary parts that are not zero and were dropped."""
    rounded: int = 0
    """Numbers with a fraction that became their neighbours. This is no loss."""
    example: str = ""
    """One of those that were lost."""

    @property
    def lost(self) -> int:
        """How many were lost; roundings do not count."""
        return self.zero + self.infinite + self.undefined + self.out_of_range + self.inexact + self.imaginary

    def __add__(self, other: CastLoss) -> CastLoss:
        names = ("elements", *_WORDS, "rounded")
        sums = {name: getattr(self, name) + getattr(other, name) for name in names}
        return CastLoss(**sums, example=self.example or other.example)

    def __str__(self) -> str:
        parts = [f"{getattr(self, name):,} {words}" for name, words in _WORDS.items() if getattr(self, name)]
        parts += [f"{self.rounded:,} rounded"] if self.rounded else []
        what = f"of {self.elements:,} numbers {', '.join(parts) or 'none changed'}"
        return f"{what} (such as {self.example})" if self.example else what


_WORDS: Final[Mapping[str, str]] = {
    "zero": "to zero",
    "infinite": "to infinity",
    "undefined": "that were NaN or infinite",
    "out_of_range": "out of range",
    "inexact": "whole ones to others",
    "imaginary": "imaginary parts dropped",
}


class CastLossError(InvalidArgumentError):
    """Numbers would be lost by a cast, and nobody said that this is fine."""

    def __init__(self, what: str, losses: Mapping[str, CastLoss], remedy: str) -> None:
        told = [f'"{name}": {loss}' for name, loss in losses.items()]
        more = f"; and {len(told) - _MOST_TOLD:,} tensors more" if len(told) > _MOST_TOLD else ""
        super().__init__(f"{what} would lose numbers: {'; '.join(told[:_MOST_TOLD])}{more}. {remedy}")
        self.what = what
        self.losses = losses


def refuse_losses(what: str, losses: Mapping[str, CastLoss]) -> None:
    """CastLossError if anything would be lost."""
    if lost := {name: loss for name, loss in losses.items() if loss.lost}:
        remedy = "Choose a type of wider range, leave these tensors out, or allow it (allow_loss=True)"
        raise CastLossError(what, lost, remedy)


def counted_losses(chunks: Iterable[npt.ArrayLike], wanted: DType) -> CastLoss:
    """How many numbers of these chunks a cast would lose or round. The chunks are gone through once and not kept."""
    total = CastLoss()
    for chunk in chunks:
        total += cast_array(np.asarray(chunk), wanted)[1]
    return total


def cast_chunks(chunks: Iterable[npt.ArrayLike], wanted: DType) -> Iterator[Array]:
    """The numbers in another type, whatever is lost."""
    return (_converted_array(np.asarray(chunk), wanted) for chunk in chunks)


def cast_array(before: Array, wanted: DType) -> tuple[Array, CastLoss]:
    """The numbers in another type, and what was lost."""
    after = _converted_array(before, wanted)
    if before.dtype == after.dtype:
        return after, CastLoss(elements=before.size)
    masks = dict(_masks(before, after))
    return after, _tally(before, masks)


def _converted_array(array: Array, wanted: DType) -> Array:
    whole = array.real if np.iscomplexobj(array) and not wanted.is_complex else array
    with np.errstate(all="ignore"):
        return whole.astype(wanted.array_dtype)


def _tally(before: Array, masks: Mapping[str, Booleans]) -> CastLoss:
    counts: dict[str, int] = {}
    example = ""
    for name, mask in masks.items():
        counts[name] = int(np.count_nonzero(mask))
        if counts[name] and not example and name != "rounded":
            example = str(before.reshape(-1)[np.flatnonzero(mask)[0]])
    return CastLoss(elements=before.size, **counts, example=example)


def _masks(before: Array, after: Array) -> Iterator[tuple[str, Booleans]]:
    """By kind of loss, where it happened; each number is in one of them at most."""
    if np.iscomplexobj(before) and np.iscomplexobj(after):
        for name, mask in _masks(before.view(before.real.dtype), after.view(after.real.dtype)):
            yield name, np.asarray(mask.reshape(-1, 2).any(axis=1))
        return
    if np.iscomplexobj(before):
        yield "imaginary", before.imag != 0
        before = np.ascontiguousarray(before.real)
    if np.iscomplexobj(after):
        after = np.ascontiguousarray(after.real)
    with np.errstate(all="ignore"):
        yield from (_from_fractions if _has_fractions(before) else _from_whole_numbers)(before, after)


def _from_fractions(before: Array, after: Array) -> Iterator[tuple[str, Booleans]]:
    finite = np.isfinite(before)
    zero = finite & (before != 0) & (after == after.dtype.type(0))
    if _has_fractions(after):
        infinite = finite & ~np.isfinite(after)
        undefined = ~finite & ~_is_same(before, after)
        out_of_range = finite & ~infinite & _is_cut_off(before, after)
    else:
        lowest, highest = _range(after.dtype)
        whole = np.trunc(before.astype(np.float64))
        infinite, undefined = np.zeros_like(finite), ~finite
        out_of_range = finite & ((whole < lowest) | (whole >= float(highest + 1)))  # which is a power of 2
        zero &= ~out_of_range
    back = after.astype(before.dtype)
    yield "zero", zero
    yield "infinite", infinite
    yield "undefined", undefined
    yield "out_of_range", out_of_range
    yield "rounded", finite & (back != before) & ~(zero | infinite | out_of_range)


def _from_whole_numbers(before: Array, after: Array) -> Iterator[tuple[str, Booleans]]:
    if _has_fractions(after):
        infinite = ~np.isfinite(after)
        yield "infinite", infinite
        yield "inexact", ~infinite & ~_is_same_number(before, after)
        return
    lowest, highest = _range(after.dtype)
    own_lowest, own_highest = _range(before.dtype)
    out = np.zeros(before.shape, np.bool_)
    if own_lowest < lowest:
        out |= before.astype(_widest(before.dtype)) < lowest
    if own_highest > highest:
        out |= before.astype(_widest(before.dtype)) > highest
    yield "out_of_range", out


def _is_cut_off(before: Array, after: Array) -> Booleans:
    """Where numbers were too large for the new type and became its largest one: only types that have neither infinity
    nor NaN do that.
    """
    if np.isnan(np.array(np.nan).astype(after.dtype).astype(np.float64)):
        return np.zeros(before.shape, np.bool_)
    largest = float(dtype_of_array(after.dtype).max)
    cut_off: Booleans = np.abs(before.astype(np.float64)) > largest
    return cut_off


def _is_same(before: Array, after: Array) -> Booleans:
    """Where two numbers that are not finite are the same: infinities of one sign, or both NaN."""
    back = after.astype(before.dtype)
    same: Booleans = (back == before) | (np.isnan(back) & np.isnan(before))
    return same


def _is_same_number(before: Array, after: Array) -> Booleans:
    """Whether whole numbers are the same as fractions: compared as whole numbers, where both fit into these."""
    widest = _widest(before.dtype)
    exact = after.astype(np.float64)  # which all types with fractions fit into
    limit = float(2**64 if widest == np.uint64 else 2**63)
    fits = np.abs(exact) < limit
    back = np.where(fits, exact, 0).astype(widest)
    same: Booleans = fits & (back == before.astype(widest))
    return same


def _range(dtype: np.dtype[Any]) -> tuple[int, int]:
    ours = dtype_of_array(dtype)
    return (0, 1) if ours.is_bool else (int(ours.min), int(ours.max))


def _widest(dtype: np.dtype[Any]) -> type[np.generic]:
    return np.uint64 if dtype == np.uint64 else np.int64


def _has_fractions(array: Array) -> bool:
    dtype = dtype_of_array(array.dtype)
    return dtype.is_floating or dtype.is_complex
