"""V2 checkpoints in object stores, where nothing can be renamed.

A save takes a *total* of data files for itself: names of data files end in it (`m.data-00001-of-00002`), and the index
says which total is meant, so the data of two saves never share a name. A total is taken by an object under the name of
its last data file, put on the condition that none is there; the data takes its place. The numbers used are the last
ones of the total: a checkpoint of one file that replaces one of one file is number 1 of 2, and number 0 is nowhere.

Data comes first, straight to its final names. Then the index takes the place of the one that was seen, on the condition
that it is still that one; else it is looked at again. So one save after the other replaces what is there, whole, and
knows which one it replaced: that one's data is deleted. What a writer leaves that dies is data that no index speaks
of. It is deleted by later saves of that name, and by whoever asks (`remove_leftovers`), when it is a day old.
"""

from __future__ import annotations

import posixpath
import secrets
from collections.abc import Callable, Sequence
from typing import Final

from tensorkeep.checkpoint.finding.file_names import data_path, index_path, parse_data_path
from tensorkeep.errors import AbortedError, TensorKeepError
from tensorkeep.io.files.filesystem import FileSystem, ObjectPuts

LEFT_BEHIND: Final = 24 * 3600.0
"""Seconds after which data that no index speaks of counts as left behind by a writer that died."""

_ATTEMPTS: Final = 100  # that another save may come in between


class Claim:
    """A total of data files that one save has for itself."""

    def __init__(self, fs: FileSystem, puts: ObjectPuts, prefix: str, count: int, total: int, version: object) -> None:
        self.count = count
        self.total = total
        self._fs = fs
        self._puts = puts
        self._prefix = prefix
        self._version = version
        self._is_filled = False

    @classmethod
    def of(cls, fs: FileSystem, puts: ObjectPuts, prefix: str, count: int) -> Claim:
        """Takes the first total that is free and has room for so many data files."""
        taken = {total for total, _ in data_totals(puts, prefix)}
        for total in range(count, count + len(taken) + _ATTEMPTS):
            if total in taken:
                continue
            token = f"tensorkeep: taken by a save, {secrets.token_hex(16)}\n".encode()
            version = puts.put_if(data_path(prefix, total - 1, total), token, None)
            if version is not None:
                return cls(fs, puts, prefix, count, total, version)
        raise AbortedError(f'"{prefix}" is being saved by too many writers at once')

    @property
    def first(self) -> int:
        """The number of the first data file: those of a save are the last ones of its total."""
        return self.total - self.count

    def name(self, number: int) -> str:
        """The name of a data file, counted from 0."""
        return data_path(self._prefix, self.first + number, self.total)

    def check(self) -> None:
        """AbortedError if the total was taken away, because this save took so long that it seemed dead."""
        if not self._is_filled and self._puts.version(self._mark) != self._version:
            raise AbortedError(
                f'"{self._prefix}" was not saved: what it had written was removed by another save, as left behind '
                f"after {LEFT_BEHIND / 3600:.0f} hours; save it again"
            )
        self._is_filled = True

    def give_up(self) -> None:
        """Frees the total. Nothing may have been put in place of the mark."""
        if not self._is_filled:
            self._is_filled = True
            try:
                self._fs.delete(self._mark)
            except TensorKeepError:
                return  # it is removed as left behind, in time

    @property
    def _mark(self) -> str:
        return data_path(self._prefix, self.total - 1, self.total)


def data_totals(puts: ObjectPuts, prefix: str) -> list[tuple[int, str]]:
    """The data files there are of a checkpoint: the total of each, and its path."""
    folder, base = posixpath.split(prefix)
    found = [(name, parse_data_path(name)) for name in puts.ages(folder)]
    return [(parsed[2], posixpath.join(folder, name)) for name, parsed in found if parsed and parsed[0] == base]


def replace_bundle(
    puts: ObjectPuts,
    fs: FileSystem,
    prefix: str,
    place: Sequence[Callable[[str], None]],
    index_of: Callable[[int, int], bytes],
    claim: Claim | None,
    shard_count: Callable[[], int | None],
) -> None:
    """Puts the data files in place, then the index, then deletes what it replaced.

    `place[i]` puts data file `i` under the name it is given; `index_of` gives the bytes of the index for a total, and
    the number of the first data file.
    """
    count = len(place)
    first = claim  # which has no room for all of them, if more came than were expected
    if claim is None or claim.count < count:
        claim = Claim.of(fs, puts, prefix, count)
    placed: list[str] = []
    try:
        for number, move in enumerate(place):
            if number == claim.count - 1:
                claim.check()
            placed.append(claim.name(number))
            move(placed[-1])
    except BaseException:
        claim.give_up()
        _delete(fs, placed)
        raise
    finally:
        if first is not None and first is not claim:
            first.give_up()
    # If this fails, the index may be in place all the same, the answer lost on the way: the data has to stay.
    replaced = _put_index(puts, fs, prefix, index_of(claim.total, claim.first), shard_count)
    claim.give_up()  # of the mark, if fewer data files came than were expected
    _delete(fs, [path for total, path in data_totals(puts, prefix) if total == replaced and total != claim.total])
    remove_leftovers_of(fs, puts, prefix, claim.total)


def _put_index(
    puts: ObjectPuts, fs: FileSystem, prefix: str, data: bytes, shard_count: Callable[[], int | None]
) -> int | None:
    """Puts the index in the place of the one that is there. Returns the total of that one."""
    path = index_path(prefix)
    for _ in range(_ATTEMPTS):
        seen = puts.version(path)
        replaced = None if seen is None else shard_count()
        if puts.put_if(path, data, seen) is not None:
            return replaced
        if puts.version(path) is not None and _bytes_of(fs, path) == data:
            return replaced  # it was put, and the answer was lost on the way
    raise AbortedError(f'"{prefix}" is being saved by too many writers at once')


def _bytes_of(fs: FileSystem, path: str) -> bytes:
    file = fs.open(path)
    try:
        return bytes(file.read(0, file.size))
    finally:
        file.close()


def remove_leftovers_of(
    fs: FileSystem, puts: ObjectPuts, prefix: str, total: int | None, age: float = LEFT_BEHIND
) -> list[str]:
    """Deletes data files of a checkpoint, but for those of its own total, that are older than `age` seconds.

    Returns their paths. By the store's clock: the newest thing in the folder is taken for now.
    """
    folder, base = posixpath.split(prefix)
    ages = puts.ages(folder)
    now = max(ages.values(), default=0.0)
    found = [(name, parse_data_path(name), modified) for name, modified in ages.items()]
    stale = [
        posixpath.join(folder, name)
        for name, parsed, modified in found
        if parsed and parsed[0] == base and parsed[2] != total and now - modified >= age
    ]
    return _delete(fs, stale)


def _delete(fs: FileSystem, paths: Sequence[str]) -> list[str]:
    """Tidies up, and says what is gone. Whether the checkpoint is whole does not depend on it."""
    deleted: list[str] = []
    for path in paths:
        try:
            fs.delete(path)
            deleted.append(path)
        except TensorKeepError:
            continue
    return deleted


class ObjectDataFile:
    """A data file on its way to a store, under a name of the total that the save has taken."""

    def __init__(self, fs: FileSystem, puts: ObjectPuts, target: str) -> None:
        self._fs = fs
        self._puts = puts
        self._file = puts.upload(target)
        self._target = target
        self._is_done = False
        self.write = self._file.write
        self.reserve = self._file.reserve
        self.push = self._file.push
        self.sync = self._file.sync

    def rename(self, target: str) -> None:
        """Has it appear: under the name it was sent to or, copied by the store, under another."""
        self._file.close()
        self._is_done = True
        if target != self._target:
            if self._fs.exists(target):
                self._fs.delete(target)
            self._fs.link(self._target, target)
            self._fs.delete(self._target)

    def close(self) -> None:
        """Gives it up unless it has appeared."""
        if not self._is_done:
            self._is_done = True
            self._file.abandon()
