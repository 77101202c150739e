"""The order of saves: whoever finishes first, the state file ends as if saves finished in the order of the calls.

That holds for all savers of a process that write the same state file. Of several processes, each of which has an order
of its own, the one that finishes last has the state file.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence
from threading import Lock
from types import TracebackType
from typing import Final, NamedTuple

from tensorkeep.checkpoint.finding.state_file import STATE_FILE
from tensorkeep.io.files.filesystem import Durability, FileSystem, prepare_directory


class _Place(NamedTuple):
    """A state file."""

    fs: FileSystem
    folder: str
    filename: str


class SaveTurn:
    """A save, at its place in the order. Leave the block, or call `end`, when it is over, well or not."""

    def __init__(self, order: SaveOrder, place: _Place) -> None:
        self.path: str | None = None
        """The checkpoint, once the state file may name it."""
        self.is_over = False
        self._order = order
        self._place = place

    def later(self) -> tuple[str, ...]:
        """The checkpoints that were asked for later, and are recorded already."""
        return self._order.later(self._place, self)

    def end(self) -> None:
        self._order.end(self._place, self)

    def __enter__(self) -> SaveTurn:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()


class SaveOrder:
    """The saves under way, for each state file in the order in which they were asked for."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._turns: dict[_Place, list[SaveTurn]] = {}

    def begin(self, fs: FileSystem, folder: str, filename: str = STATE_FILE) -> SaveTurn:
        """The next turn."""
        place = _Place(fs, fs.canonical(folder or "."), filename)
        turn = SaveTurn(self, place)
        with self._lock:
            self._turns.setdefault(place, []).append(turn)
        return turn

    def later(self, place: _Place, turn: SaveTurn) -> tuple[str, ...]:
        with self._lock:
            turns = self._turns.get(place, [])
            after = turns[turns.index(turn) + 1 :] if turn in turns else []
            return tuple(item.path for item in after if item.path is not None)

    def end(self, place: _Place, turn: SaveTurn) -> None:
        """Ends a turn. It is remembered for as long as an earlier save is under way."""
        with self._lock:
            turn.is_over = True
            turns = self._turns.get(place, [])
            first = next((at for at, item in enumerate(turns) if not item.is_over), len(turns))
            left = [item for item in turns[first:] if not item.is_over or item.path is not None]
            if left:
                self._turns[place] = left
            else:
                self._turns.pop(place, None)


_ORDER: Final = SaveOrder()
begin_save: Final = _ORDER.begin


def do_alone(jobs: Sequence[Callable[[], None]], fs: FileSystem, prefix: str, durability: Durability) -> None:
    """Does what belongs together, as the files of a checkpoint in parts do, while nobody else commits to the folder."""
    folder = posixpath.dirname(prefix)
    prepare_directory(fs, folder, durability)
    with fs.locked(folder):
        for job in jobs:
            job()
