"""What became of the columns of a table when they were restored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class ColumnReport:
    """What became of a column in a restore."""

    stem: str
    column: str
    source: Literal["embedding", "dense", "none"]
    """What was found under that name: an embedding, a dense tensor whose rows were taken by number, or nothing."""
    restored: int = 0
    """Keys whose rows were read."""
    initialised: int = 0
    """Keys of the table that have their default rows, for none were stored. Of a slot."""
    skipped: int = 0
    """Keys that were stored for the slot but not for the weights."""
    removed: int = 0
    """Keys that were in the table and are not stored."""
    filtered: int = 0
    """Keys that were stored without rows, and are again."""
    filtered_dropped: int = 0
    """Keys that were stored without rows, for which this table has no filter, and so no place."""
    filtered_admitted: int = 0
    """Keys that were stored without rows, and have reached the filter's threshold."""
    stored_dim: int = 0
    dim: int = 0
    problems: tuple[str, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether all was stored as the table wants it."""
        odd = self.initialised or self.skipped or self.filtered_dropped or self.problems
        return self.source == "embedding" and self.stored_dim == self.dim and not odd

    def __str__(self) -> str:
        parts = [f"{self.restored} keys restored"] if self.source != "none" else ["not stored: default rows"]
        if self.source == "dense":
            parts.append("from a dense tensor")
        if self.source != "none" and self.stored_dim != self.dim:
            parts.append(
                f"rows of {self.stored_dim} {'cut' if self.dim < self.stored_dim else 'extended'} to {self.dim}"
            )
        counts = {
            "have default rows": self.initialised,
            "are stored for the slot alone": self.skipped,
            "were removed": self.removed,
            "are counted": self.filtered,
            "were counted and are let in": self.filtered_admitted,
            "were counted and are dropped, for the table has no filter": self.filtered_dropped,
        }
        parts += [f"{count} {what}" for what, count in counts.items() if count]
        return f'"{self.stem}": ' + "; ".join((*parts, *self.problems))


@dataclass(frozen=True, slots=True)
class DeltaReport:
    """What became of a column when an incremental checkpoint was put over it."""

    stem: str
    column: str
    updated: int = 0
    """Keys whose rows were read."""
    removed: int = 0
    """Keys with rows that were there, and are gone in the checkpoint."""
    filtered: int = 0
    """Keys that are counted without rows."""
    skipped: int = 0
    """Keys that are stored for the slot but not for the weights."""

    def __str__(self) -> str:
        return f'"{self.stem}": {self.updated} keys updated, {self.removed} removed, {self.filtered} counted'
