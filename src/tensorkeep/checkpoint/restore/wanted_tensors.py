"""What a program wants from a checkpoint, and what it puts up with where the checkpoint holds something else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np

from tensorkeep.checkpoint.reader import TensorInfo
from tensorkeep.checkpoint.slices.tensor_slice import TensorSlice
from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.shapes import Shape, element_count

Dimensions = tuple[int | None, ...]

_LONGEST_NAME: Final = 160


@dataclass(frozen=True, slots=True)
class Wanted:
    """One tensor that a program wants, or a part of one."""

    key: str
    """The name it is looked for by."""
    dtype: DType | None = None
    """None: any."""
    shape: Dimensions | None = None
    """Of the whole tensor, also where only a part of it is wanted. None: any; a size of None: any."""
    part: TensorSlice | None = None
    """The part that is wanted, as of a partitioned variable; None for the whole."""
    variable: str | None = None
    """What it is for, if that has another name than the key."""

    def __post_init__(self) -> None:
        if not isinstance(self.key, str):
            raise InvalidArgumentError(f"a wanted tensor is named by text, got {type(self.key).__name__}")
        if self.dtype is not None:
            object.__setattr__(self, "dtype", DType.of(self.dtype).base_dtype)
        if self.shape is not None:
            object.__setattr__(self, "shape", Shape.of(self.shape).dims)
        if self.part is not None and self.shape is not None:
            _check_part(self.key, self.part, self.shape)

    def target_shape(self, stored: Sequence[int]) -> tuple[int, ...]:
        """The shape that the whole tensor is to have, given the stored one, which decides where that is open."""
        if self.shape is None:
            return tuple(stored)
        if len(self.shape) != len(stored):
            return Shape(self.shape).as_tuple()
        return tuple(have if want is None else want for want, have in zip(self.shape, stored, strict=True))

    def fits(self, stored: TensorInfo) -> bool:
        """Whether the stored tensor is what is wanted, as it is."""
        return self.fits_dtype(stored) and (self.shape == stored.shape or self.fits_shape(stored))

    def fits_dtype(self, stored: TensorInfo) -> bool:
        return self.dtype is None or self.dtype is stored.dtype

    def fits_shape(self, stored: TensorInfo) -> bool:
        if self.shape is None:
            return self.part is None or _holds(self.part, stored.shape)
        return len(self.shape) == len(stored.shape) and all(
            want is None or want == have for want, have in zip(self.shape, stored.shape, strict=True)
        )

    @property
    def description(self) -> str:
        """Type, shape and part, as far as they are known: "float32 [2,3]"."""
        words = [str(self.dtype)] if self.dtype is not None else []
        if self.shape is not None:
            words.append(str(Shape(self.shape)))
        if self.part is not None:
            words.append(f"part {self.part}")
        return " ".join(words) or "of any type and shape"


def _check_part(key: str, part: TensorSlice, shape: Dimensions) -> None:
    sizes = [
        extent[0] + extent[1] if size is None and extent is not None else size or 0
        for extent, size in zip(part.extents, shape, strict=False)
    ]
    if len(part.extents) != len(shape) or not _holds(part, sizes):
        raise InvalidArgumentError(f'"{key}": slice {part} does not lie within a tensor of shape {Shape(shape)}')


def _holds(part: TensorSlice, shape: Sequence[int]) -> bool:
    return len(part.extents) == len(shape) and all(
        extent is None or extent[0] + extent[1] <= size for extent, size in zip(part.extents, shape, strict=True)
    )


@runtime_checkable
class Shaped(Protocol):
    """An array of any library, or a description of one."""

    @property
    def dtype(self) -> Any: ...

    @property
    def shape(self) -> Any: ...


WantedTensors = Sequence[Wanted | str] | Mapping[str, TensorInfo | Shaped | Shape | Sequence[int | None] | None]


def wanted_tensors(wanted: WantedTensors) -> tuple[Wanted, ...]:
    """Wanted tensors from what people write: Wanted or names, or names with arrays, infos, shapes, or None for any."""
    if isinstance(wanted, str | bytes):
        raise InvalidArgumentError(f"wanted: expected several names, got the one text {wanted!r}")
    if isinstance(wanted, Mapping):
        return tuple(_wanted_like(name, like) for name, like in wanted.items())
    return tuple(item if isinstance(item, Wanted) else Wanted(item) for item in wanted)


def _wanted_like(name: str, like: object) -> Wanted:
    if like is None or isinstance(like, Shape):
        return Wanted(name, shape=None if like is None else like.dims)
    if isinstance(like, tuple | list) and all(size is None or isinstance(size, int | np.integer) for size in like):
        return Wanted(name, shape=Shape.of(like).dims)
    if isinstance(like, Shaped):
        return Wanted(name, DType.of(like.dtype), tuple(like.shape))
    raise InvalidArgumentError(
        f'wanted["{name}"]: expected an array, a TensorInfo, a shape, or None for anything, got {type(like).__name__}'
    )


class Remedy(str, Enum):
    """What may be done about a tensor that is not in the checkpoint as it is wanted."""

    SKIP = "skip"
    """Nothing: what is there already stays. Used only where nothing else helps."""
    CROP = "crop"
    """Where the stored tensor is longer, its leading part is taken."""
    GROW = "grow"
    """Where the stored tensor is shorter, it becomes the leading part; the rest stays as it was initialised."""
    RESHAPE = "reshape"
    """The elements stay, row by row, if there are as many as are wanted."""
    WIDEN = "widen"
    """Numbers are converted to a type that holds each of them exactly: float16 to float32, int32 to int64."""
    CAST = "cast"
    """Numbers are converted to another width. Fractions are rounded; it is an error if a number is too large for it."""


Remedies = Remedy | str | Iterable[Remedy | str]


def remedies_of(given: Remedies) -> frozenset[Remedy]:
    """Remedies from what people write: one or several, by name or not."""
    return frozenset(Remedy(name) for name in ([given] if isinstance(given, str) else given))


def _checked_remedies(given: Remedies, allowed: Sequence[Remedy], what: str) -> frozenset[Remedy]:
    try:
        found = remedies_of(given)
    except (TypeError, ValueError):
        found = None
    if found is None or not found <= frozenset(allowed):
        expected = ", ".join(remedy.value for remedy in allowed)
        raise InvalidArgumentError(f"Adapt: {what} takes any of: {expected}; got {given!r}")
    return found


@dataclass(frozen=True, slots=True)
class Adapt:
    """What is allowed for each kind of problem: one remedy, or several. A problem that none of them solves is an error.

    Remedies may be given by their names: `Adapt(missing="skip", shape=("crop", "grow"), dtype="cast")`.
    """

    missing: Remedies = ()
    """SKIP."""
    shape: Remedies = ()
    """RESHAPE, CROP, GROW, SKIP, the first that helps; CROP and GROW together fit any shape of the same rank."""
    dtype: Remedies = ()
    """WIDEN, CAST, SKIP."""

    def __post_init__(self) -> None:
        kinds: tuple[tuple[str, Remedies, tuple[Remedy, ...]], ...] = (
            ("missing", self.missing, (Remedy.SKIP,)),
            ("shape", self.shape, (Remedy.RESHAPE, Remedy.CROP, Remedy.GROW, Remedy.SKIP)),
            ("dtype", self.dtype, (Remedy.WIDEN, Remedy.CAST, Remedy.SKIP)),
        )
        for name, given, allowed in kinds:
            object.__setattr__(self, name, _checked_remedies(given, allowed, name))


class OnMismatch(str, Enum):
    """The two policies that need no details; `Adapt` is the third."""

    STRICT = "strict"
    """Everything is restored, or nothing, with one error that says all that is wrong."""
    REPORT = "report"
    """What matches is restored; the rest stays as it is, and is reported."""


Policy = OnMismatch | Adapt | str

_POLICIES: Final = {
    OnMismatch.STRICT: Adapt(),
    OnMismatch.REPORT: Adapt(Remedy.SKIP, Remedy.SKIP, Remedy.SKIP),
}


def policy_of(on_mismatch: Policy) -> Adapt:
    """What a policy allows, spelled out."""
    if isinstance(on_mismatch, Adapt):
        return on_mismatch
    if isinstance(on_mismatch, str) and on_mismatch in set(OnMismatch):
        return _POLICIES[OnMismatch(on_mismatch)]
    raise InvalidArgumentError(f'on_mismatch: expected "strict", "report" or Adapt(...), got {on_mismatch!r}')


def remedies_for_shape(
    wanted: Dimensions, stored: Sequence[int], allowed: frozenset[Remedy]
) -> frozenset[Remedy] | None:
    """Which of the allowed remedies make the wanted shape of the stored one; None if they cannot."""
    if Remedy.RESHAPE in allowed and Shape(wanted).element_count() == element_count(stored) and None not in wanted:
        return frozenset([Remedy.RESHAPE])
    if len(wanted) != len(stored):
        return None
    needed = {
        Remedy.CROP if want < have else Remedy.GROW
        for want, have in zip(wanted, stored, strict=True)
        if want is not None and want != have
    }
    return frozenset(needed) if needed <= allowed else None


def remedies_for_dtype(wanted: DType, stored: DType, allowed: frozenset[Remedy]) -> frozenset[Remedy] | None:
    """Which of the allowed remedies make the wanted type of the stored one; None if they cannot."""
    kinds = [(dtype.is_floating, dtype.is_integer, dtype.is_complex) for dtype in (wanted, stored)]
    if kinds[0] != kinds[1] or not any(kinds[0]):
        return None
    if np.can_cast(stored.array_dtype, wanted.array_dtype, "safe") and allowed & {Remedy.WIDEN, Remedy.CAST}:
        return frozenset([Remedy.WIDEN])
    if Remedy.CAST in allowed:
        return frozenset([Remedy.CAST])
    return None


def mapped_name(name: str, mapping: Mapping[str, str], stored: Mapping[str, object]) -> str:
    """The stored name that a mapping gives a wanted one: its own entry, else that of the innermost scope it is in.

    An entry for a scope ends in "/" on both sides; "/" alone is what lies outside every scope, and all scopes. It holds
    for those names in the scope that are then found; others keep their names.
    """
    if name in mapping:
        return mapping[name]
    end = name.rfind("/")
    while end >= 0:
        target = mapping.get(name[: end + 1])
        if target is not None and (key := target.removeprefix("/") + name[end + 1 :]) in stored:
            return key
        end = name.rfind("/", 0, end)
    root = mapping.get("/")
    return key if root is not None and (key := root.removeprefix("/") + name) in stored else name


def shown_name(name: str) -> str:
    """A name for a message: on one line, and not too long for it."""
    plain = name if name.isprintable() else name.encode("unicode_escape", "backslashreplace").decode("ascii")
    if len(plain) <= _LONGEST_NAME:
        return plain
    half = _LONGEST_NAME // 2
    return f"{plain[:half]}...{plain[-half:]}"


def first_lines(lines: Sequence[str], most: int, total: int | None = None) -> list[str]:
    """At most `most` of the lines and, if there are more (`total`, by default all), a line that says how many."""
    total = len(lines) if total is None else total
    return [*lines[:most], *([f"  ... and {total - most} more"] if total > most else [])]
