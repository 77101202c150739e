"""Checkpoints, models and other files copied from one place to another: between disks and stores, too.

Files are copied one by one, each in one step, and those by which a checkpoint or a model is known come last. A list of
those that are done, with the version of each that was copied, is kept beside the target until all are:

    TARGET.tensorkeep-copy = {"source": ..., "done": {name: [size, version]}}

Whoever is interrupted finds it there the next time, and goes on where it was; a file that changed meanwhile is copied
anew.
"""

from __future__ import annotations

import json
import posixpath
from dataclasses import dataclass, field
from typing import Final

from tensorkeep.checkpoint.bundle.reader import BundleReader
from tensorkeep.checkpoint.finding.file_names import data_path, index_path, meta_path
from tensorkeep.checkpoint.finding.state_file import STATE_FILE
from tensorkeep.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError, TensorKeepError
from tensorkeep.io.files.directories import file_size, files_below
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import (
    Durability,
    FileSystem,
    PathLike,
    TemporaryFile,
    atomic_write,
    is_temporary,
    path_text,
    prepare_directory,
)
from tensorkeep.io.showing.progress import Progress, Told

__all__ = ["Copied", "copy_files"]

_PIECE: Final = 16 << 20
_LAST: Final = ("saved_model.pb", "saved_model.pbtxt", STATE_FILE)
_LIST_ENDING: Final = ".tensorkeep-copy"


@dataclass(frozen=True)
class Copied:
    """What was copied."""

    target: str
    files: tuple[str, ...]
    """The files of the copy, in the order in which they were put in place."""
    nbytes: int
    resumed: tuple[str, ...] = ()
    """Those among them that an earlier copy, which was interrupted, had done."""


def copy_files(
    source: PathLike,
    target: PathLike,
    *,
    overwrite: bool = False,
    progress: Progress | None = None,
    durability: Durability = Durability.DISK,
    fs: FileSystem = FILES,
) -> Copied:
    """Copies a file, a folder with all that is in it, or the files of a checkpoint given by its prefix.

    One that was interrupted is gone on with. AlreadyExistsError if there is something at the target, and that is not
    what an interrupted copy of the same source left, unless it may be overwritten.
    """
    origin, place = path_text(source).rstrip("/"), path_text(target).rstrip("/")
    if fs.canonical(origin) == fs.canonical(place):
        raise InvalidArgumentError(f'"{origin}" cannot be copied onto itself')
    pairs = _pairs(origin, place, fs)
    done = _Done.of(origin, place, fs)
    if not done.is_resumed and not overwrite and (taken := [to for _, to in pairs if fs.exists(to)]):
        raise AlreadyExistsError(f'"{taken[0]}" exists; say that it may be replaced, or copy to another place')
    sizes = {path: file_size(fs, path) for path, _ in pairs}
    told = Told(progress, sum(sizes.values()))
    done.write(fs)
    try:
        resumed = tuple(to for path, to in pairs if not _copied_anew(path, to, sizes[path], done, told, durability, fs))
    except TensorKeepError:
        if not done.files:  # there is nothing to go on from
            done.remove(fs)
        raise
    done.remove(fs)
    return Copied(place, tuple(to for _, to in pairs), sum(sizes.values()), resumed)


def _copied_anew(
    path: str, to: str, size: int, done: _Done, told: Told, durability: Durability, fs: FileSystem
) -> bool:
    """Copies a file, unless an earlier copy has done so: then false."""
    version = _version(path, fs)
    if done.has(to, size, version, fs):
        told.add(size)
        return False
    _copy(path, to, told, durability, fs)
    done.add(to, size, version, fs)
    return True


def _pairs(origin: str, place: str, fs: FileSystem) -> list[tuple[str, str]]:
    """Which file is copied to where, in order: those come last by which the others are found."""
    if fs.exists(index_path(origin)):
        return [(path, place + path[len(origin) :]) for path in _files_of_checkpoint(origin, fs)]
    if fs.is_directory(origin):
        names = [name for name in files_below(fs, origin) if not any(map(is_temporary, name.split("/")))]
        names.sort(key=lambda name: (_rank(name), name))
        if not names:
            raise NotFoundError(f'there is nothing in the folder "{origin}"')
        return [(posixpath.join(origin, name), posixpath.join(place, name)) for name in names]
    if fs.exists(origin):
        return [(origin, place)]
    raise NotFoundError(f'there is neither a file, nor a folder, nor a checkpoint at "{origin}"')


def _rank(name: str) -> int:
    base = posixpath.basename(name)
    return 2 if base in _LAST else int(base.endswith(".index"))


def _files_of_checkpoint(prefix: str, fs: FileSystem) -> list[str]:
    with BundleReader(prefix, fs=fs) as reader:
        total = reader.shard_count
        used = {place.shard for _, places in reader.places() for place in places}
    beside = [path for path in (meta_path(prefix, "meta"),) if fs.exists(path)]
    return [*(data_path(prefix, shard, total) for shard in sorted(used or {0})), *beside, index_path(prefix)]


def _copy(path: str, to: str, told: Told, durability: Durability, fs: FileSystem) -> None:
    reader = fs.open(path)
    try:
        prepare_directory(fs, posixpath.dirname(to), durability)
        reader.expect(0, reader.size)
        with TemporaryFile(fs, to) as writer:
            writer.reserve(reader.size)
            for at in range(0, reader.size, _PIECE):
                piece = memoryview(bytearray(min(_PIECE, reader.size - at)))
                reader.read_into(at, piece)
                writer.write(piece)
                told.add(len(piece))
            writer.commit(durability)
    finally:
        reader.close()


def _version(path: str, fs: FileSystem) -> str:
    """What tells whether a file is still the one that was copied."""
    puts = fs.puts(path)
    return repr(fs.modified(path)) if puts is None else str(puts.version(path))


@dataclass
class _Done:
    """The list of what is done."""

    path: str
    source: str
    files: dict[str, list[object]] = field(default_factory=dict)
    is_resumed: bool = False
    """Whether an earlier copy left it."""

    @classmethod
    def of(cls, source: str, target: str, fs: FileSystem) -> _Done:
        """What an earlier copy of the same source left beside a target; an empty list if there was none."""
        new = cls(f"{target}{_LIST_ENDING}", fs.canonical(source))
        try:
            file = fs.open(new.path)
            try:
                stored = json.loads(bytes(file.read(0, file.size)))
            finally:
                file.close()
            if stored["source"] == new.source and isinstance(stored["done"], dict):
                new.files, new.is_resumed = stored["done"], True
        except (TensorKeepError, ValueError, KeyError, TypeError):
            return new  # there is none, or none that can be understood: all is copied
        return new

    def has(self, target: str, size: int, version: str, fs: FileSystem) -> bool:
        """Whether a file was copied, in this version, and the copy is there."""
        return self.files.get(target) == [size, version] and fs.exists(target) and file_size(fs, target) == size

    def add(self, target: str, size: int, version: str, fs: FileSystem) -> None:
        """Notes that a file was copied."""
        self.files[target] = [size, version]
        self.write(fs)

    def write(self, fs: FileSystem) -> None:
        """Puts the list in place, which also says that a copy is under way."""
        prepare_directory(fs, posixpath.dirname(self.path), Durability.CACHE)
        data = json.dumps({"source": self.source, "done": self.files}).encode()
        atomic_write(fs, self.path, data, Durability.CACHE)

    def remove(self, fs: FileSystem) -> None:
        """Takes the list away: all is done."""
        if fs.exists(self.path):
            fs.delete(self.path)
