"""Incremental checkpoints that are put over loaded models, so that embedding tables are fresh without a new version.

A folder holds deltas by their steps (`incremental_model.ckpt-150.index` and its data); the newest has all that changed
since the full checkpoint, and is all that is needed.
"""

from __future__ import annotations

import logging
from threading import Lock
from typing import Final
from weakref import WeakKeyDictionary, WeakSet

from tensorkeep.embedding.restore.finding_deltas import newest_delta
from tensorkeep.errors import TensorKeepError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.saved_model.files.layout import variables_path
from tensorkeep.serving.servables import Servable

_LOGGER: Final = logging.getLogger("tensorkeep.serving")


def refresh_deltas(servable: Servable, folder: str, applied: str | None = None, fs: FileSystem = FILES) -> str | None:
    """Puts the newest delta of a folder over a model, unless it is the one that was put there before.

    Returns the delta that the model has now; None if there is none.
    """
    newest = newest_delta(variables_path(servable.model.directory), folder=folder, fs=fs)
    if newest is None or newest == applied:
        return applied
    servable.model.apply_delta(newest)
    return newest


class Deltas:
    """Which servables have which deltas. Safe to use from several threads."""

    def __init__(self, fs: FileSystem = FILES) -> None:
        self._fs = fs
        self._applied: WeakKeyDictionary[Servable, str] = WeakKeyDictionary()
        self._told: WeakKeyDictionary[Servable, str] = WeakKeyDictionary()
        self._busy: WeakSet[Servable] = WeakSet()
        self._lock = Lock()

    def begin(self, servable: Servable) -> bool:
        """Marks a servable as being refreshed; False if another thread is refreshing it already. `end` takes the mark
        off.
        """
        with self._lock:
            is_free = servable not in self._busy
            self._busy.add(servable)
            return is_free

    def end(self, servable: Servable) -> None:
        """Takes the mark of `begin` off: the servable may be refreshed again."""
        with self._lock:
            self._busy.discard(servable)

    def refresh(self, servable: Servable, folder: str) -> None:
        """Puts the newest delta over a servable. A delta that cannot be is told, and the model stays as it is."""
        before = self._applied.get(servable)
        try:
            now = refresh_deltas(servable, folder, before, self._fs)
        except TensorKeepError as error:
            self._tell(servable, f"{servable!r} could not be refreshed from {folder}: {error}")
            return
        if now is not None and now != before:
            self._applied[servable] = now
            self._told.pop(servable, None)
            _LOGGER.info("%r was refreshed by %s", servable, now)

    def _tell(self, servable: Servable, problem: str) -> None:
        if self._told.get(servable) != problem:
            _LOGGER.error("%s", problem)
        self._told[servable] = problem
