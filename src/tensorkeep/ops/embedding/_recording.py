"""What changed since a full checkpoint, for incremental ones: the keys of tables, and the rows of plain variables."""

from __future__ import annotations

from threading import Lock
from typing import Final

import numpy as np

from tensorkeep.embedding.restore.incremental import TouchedKeys
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.runtime.resources import ResourceManager, VariableResource

_SUFFIX: Final = "_sparse_incr"  # DeepRec's name for the recorder of a variable


class Recorder:
    """The keys of a table that were touched since a full checkpoint, for incremental ones."""

    def __init__(self) -> None:
        self.touched = TouchedKeys()
        self.has_base = False
        """Whether there is a full checkpoint that the touched keys are relative to."""
        self.generation = 0

    def begin(self) -> None:
        """Starts a new generation: keys touched from now on are not in the full checkpoint being saved."""
        self.generation = self.touched.begin()

    def forget(self, generation: int) -> None:
        """Forgets the keys touched before a generation began: a full checkpoint holds them, and is the base of later
        ones.
        """
        self.touched.forget_before(generation)
        self.has_base = True

    def rebase(self) -> None:
        """Forgets all keys: the table is what a full checkpoint holds."""
        self.begin()
        self.forget(self.generation)


class RowChanges(Recorder):
    """Records which rows of a plain variable changed since a full checkpoint, or that any of them may have."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = Lock()
        self._wholly = {0}  # the generations in which any row may have changed

    def note(self, rows: Array | None) -> None:
        """Records that these rows have changed; None says that any row may have."""
        with self._lock:
            if rows is None:
                self._wholly.add(self.generation)
        if rows is not None:
            self.touched.record(rows)

    def forget(self, generation: int) -> None:
        super().forget(generation)
        with self._lock:
            self._wholly = {number for number in self._wholly if number >= generation}

    def rows(self, count: int) -> Array | None:
        """Those of `count` rows that changed, ascending. None if any may have, or there is no full checkpoint yet."""
        if self._wholly or not self.has_base:
            return None
        rows = np.sort(self.touched.keys())
        return rows[(rows >= 0) & (rows < count)]


def row_changes(resources: ResourceManager, variable: str) -> RowChanges:
    """The changes of the variable of that name, which are recorded from now on, if there is such a variable."""
    found = resources.get_or_create("", variable + _SUFFIX, RowChanges, RowChanges)
    place = resources.find("", variable)
    if isinstance(place, VariableResource) and place.changes is not found:
        with place.lock:
            place.changes = found
            found.note(None)
    return found


def known_row_changes(resources: ResourceManager, variable: str) -> RowChanges | None:
    """The changes of a variable, if they are recorded."""
    place = resources.find("", variable) if variable else None
    changes = place.changes if isinstance(place, VariableResource) else None
    return changes if isinstance(changes, RowChanges) else None
