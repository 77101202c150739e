"""The entries of a restore plan: what becomes of each wanted tensor, and why."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, overload

from tensorkeep.checkpoint.reader import TensorInfo
from tensorkeep.checkpoint.restore.suggestions import Suggestion
from tensorkeep.checkpoint.restore.wanted_tensors import (
    Adapt,
    Remedy,
    Wanted,
    first_lines,
    remedies_for_dtype,
    remedies_for_shape,
    remedies_of,
    shown_name,
)
from tensorkeep.shapes import Shape

LOGGER: Final = logging.getLogger("tensorkeep")

_MOST_LISTED: Final = 50


class Status(Enum):
    """How a wanted tensor compares with what is stored."""

    EXACT = "exact"
    """Stored under its name, in its type and shape."""
    RENAMED = "renamed"
    """Stored under another name that is known to be its own, in its type and shape."""
    MISSING = "missing"
    SHAPE = "shape"
    """Stored in another shape, and perhaps in another type as well."""
    DTYPE = "dtype"
    """Stored in another type."""


class Action(Enum):
    """What a restore does with a wanted tensor."""

    RESTORE = "restore"
    ADAPT = "adapt"
    SKIP = "skip"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class RestoreItem:
    """One wanted tensor, and what becomes of it."""

    wanted: Wanted
    status: Status
    action: Action
    key: str | None = None
    """The name of the stored tensor; None if there is none."""
    stored: TensorInfo | None = None
    remedies: frozenset[Remedy] = frozenset()
    """How it is adapted."""
    suggestions: tuple[Suggestion, ...] = ()

    @property
    def name(self) -> str:
        """The wanted key, with the part if only one is wanted."""
        part = self.wanted.part
        return self.wanted.key if part is None else f"{self.wanted.key} [{part}]"

    @property
    def difference(self) -> str:
        """How the stored tensor differs from the wanted one, in words."""
        if self.stored is None:
            return "not in the checkpoint"
        stored = f"{self.stored.dtype} {Shape(self.stored.shape)}"
        slices = f" in {len(self.stored.slices)} slices" if self.stored.slices else ""
        return f"{self.wanted.description} is wanted, {stored}{slices} is stored"

    @property
    def how(self) -> str:
        """How the stored tensor is adapted to the wanted one, in words."""
        return " and ".join(sorted(remedy.value for remedy in self.remedies))

    @property
    def mapped(self) -> str | None:
        """The stored name that the first suggestion offers, if its tensor fits; None if it does not, or if a mapping
        would read one of the two names as a scope.
        """
        best = self.suggestions[0] if self.suggestions else None
        if best is None or best.key is None or not best.fits:
            return None
        return None if self.wanted.key.endswith("/") or best.key.endswith("/") else best.key

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        wanted, stored = self.wanted, self.stored
        return {
            "key": wanted.key,
            "variable": wanted.variable,
            "part": None if wanted.part is None else str(wanted.part),
            "wanted": {
                "dtype": None if wanted.dtype is None else wanted.dtype.name,
                "shape": None if wanted.shape is None else list(wanted.shape),
            },
            "status": self.status.value,
            "action": self.action.value,
            "remedies": sorted(remedy.value for remedy in self.remedies),
            "stored_key": self.key,
            "stored": None if stored is None else {"dtype": stored.dtype.name, "shape": list(stored.shape)},
            "suggestions": [
                {"key": item.key, "cause": item.cause.value, "reason": item.reason, "fits": item.fits}
                for item in self.suggestions
            ],
        }


def compared_item(wanted: Wanted, key: str | None, stored: TensorInfo | None, policy: Adapt) -> RestoreItem:
    """What becomes of a wanted tensor, given the stored one that is meant by it, if any."""
    if stored is None:
        skips = Remedy.SKIP in remedies_of(policy.missing)
        return RestoreItem(wanted, Status.MISSING, Action.SKIP if skips else Action.REFUSE)
    if wanted.fits(stored):
        return RestoreItem(wanted, Status.EXACT if key == wanted.key else Status.RENAMED, Action.RESTORE, key, stored)
    status = Status.DTYPE if wanted.fits_shape(stored) else Status.SHAPE
    used: frozenset[Remedy] = frozenset()
    for needed, allowed in _needed(wanted, stored, policy):
        if needed is None:
            return RestoreItem(wanted, status, Action.SKIP if Remedy.SKIP in allowed else Action.REFUSE, key, stored)
        used |= needed
    return RestoreItem(wanted, status, Action.ADAPT, key, stored, used)


def _needed(
    wanted: Wanted, stored: TensorInfo, policy: Adapt
) -> list[tuple[frozenset[Remedy] | None, frozenset[Remedy]]]:
    """For each kind of difference: the remedies it takes, None if none of the allowed ones helps, and the allowed ones.

    What has to be refused comes first.
    """
    needed: list[tuple[frozenset[Remedy] | None, frozenset[Remedy]]] = []
    if not wanted.fits_shape(stored):
        allowed = remedies_of(policy.shape)
        found = None if wanted.shape is None else remedies_for_shape(wanted.shape, stored.shape, allowed)
        needed.append((found, allowed))
    if wanted.dtype is not None and not wanted.fits_dtype(stored):
        allowed = remedies_of(policy.dtype)
        needed.append((remedies_for_dtype(wanted.dtype, stored.dtype, allowed), allowed))
    return sorted(needed, key=lambda item: item[0] is not None or Remedy.SKIP in item[1])


class ExactItems(Sequence[RestoreItem]):
    """The items of tensors that are stored just as they are wanted, each made when it is asked for."""

    def __init__(self, wanted: Sequence[Wanted], infos: Sequence[TensorInfo]) -> None:
        self._wanted = wanted
        self._infos = infos

    def __len__(self) -> int:
        return len(self._wanted)

    @overload
    def __getitem__(self, at: int) -> RestoreItem: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[RestoreItem]: ...

    def __getitem__(self, at: int | slice) -> RestoreItem | Sequence[RestoreItem]:
        if isinstance(at, slice):
            return ExactItems(self._wanted[at], self._infos[at])
        wanted = self._wanted[at]
        return RestoreItem(wanted, Status.EXACT, Action.RESTORE, wanted.key, self._infos[at])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class RestoreOutcome:
    """What a restore did, or will do when it is carried out."""

    path: str
    restored: Sequence[RestoreItem]
    """As they are stored."""
    adapted: tuple[RestoreItem, ...]
    """With changes, which `remedies` tells."""
    not_restored: tuple[RestoreItem, ...]
    """Left as they were."""
    unused: tuple[str, ...]
    """Stored tensors that nothing was restored from."""
    notes: tuple[str, ...] = ()
    """What is odd about the mapping that was given."""

    @property
    def is_complete(self) -> bool:
        """Whether everything that is wanted was restored, as it was stored."""
        return not (self.adapted or self.not_restored)

    def __str__(self) -> str:
        total = len(self.restored) + len(self.adapted) + len(self.not_restored)
        lines = [f'"{self.path}": {len(self.restored)} of {total} tensors restored as they were stored']
        adapted = [f"  adapted ({item.how}): {shown_name(item.name)}: {item.difference}" for item in self.adapted]
        left = [f"  not restored: {shown_name(item.name)}: {item.difference}" for item in self.not_restored]
        notes = [f"  {note}" for note in self.notes]
        return "\n".join([*lines, *first_lines(adapted, _MOST_LISTED), *first_lines(left, _MOST_LISTED), *notes])

    def log(self, logger: logging.Logger = LOGGER) -> None:
        """Tells the log: a warning for all that was adapted or not restored or is odd, else a note."""
        is_plain = self.is_complete and not self.notes
        logger.log(logging.INFO if is_plain else logging.WARNING, "%s", self)
