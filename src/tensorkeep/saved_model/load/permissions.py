"""What a loaded model may do besides computing.

A model is a program by a stranger. It may read the files in its own directory, its assets and variables, and nothing
else: no other files, no console, no Python, unless that is allowed by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final

from tensorkeep.errors import InvalidArgumentError, PermissionDeniedError
from tensorkeep.graph.graph import Operation
from tensorkeep.graph.registry.capabilities import Allowed, Capability, possible_capabilities
from tensorkeep.graph.registry.opspec import capabilities_of, find_op
from tensorkeep.io.files.filesystem import FileSystem, ObjectPuts, RandomAccessFile, WritableFile
from tensorkeep.io.files.paths import leads_elsewhere
from tensorkeep.runtime.context import log_line

_BY_NAME: Final = {word: item for item in Capability for word in (item.value, item.name.lower(), item.identifier)}


def refuse_line(text: str) -> None:
    """Raises PermissionDeniedError: what a session prints by if its model may not print."""
    raise PermissionDeniedError(
        f'the model prints ("{text[:50]}"), and may not. Load it with allow=["prints"] if you trust it'
    )


@dataclass(frozen=True)
class Permissions:
    """What is allowed, by class or by type of operation."""

    allowed: frozenset[Capability | str] = frozenset()

    @classmethod
    def of(cls, names: Iterable[Capability | str]) -> Permissions:
        """What names allow: classes ("prints", "reads files", Capability.PRINTS) or types of operations ("PrintV2")."""
        listed = [names] if isinstance(names, str | Capability) else list(names)
        found = {_BY_NAME.get(name, name) if isinstance(name, str) else name for name in listed}
        unknown = [name for name in found if isinstance(name, str) and not _needs(name)]
        if unknown:
            classes = ", ".join(f'"{item.value}"' for item in Capability)
            raise InvalidArgumentError(
                f"nothing to allow is called {', '.join(map(repr, sorted(unknown)))}: name one of {classes}, or the "
                "type of an operation that does more than compute, such as PrintV2"
            )
        return cls(frozenset(found))

    @property
    def needs(self) -> frozenset[Capability]:
        """The classes allowed, and those of the allowed types of operations."""
        of_types = (_needs(item) for item in self.allowed if isinstance(item, str))
        return self.classes.union(*of_types)

    @property
    def classes(self) -> frozenset[Capability]:
        """The classes that are allowed to all operations."""
        return frozenset(item for item in self.allowed if isinstance(item, Capability))

    @property
    def in_sessions(self) -> Allowed:
        """For a session's `allowed`; files are read always, but only those that its `filesystem` shows."""
        types = frozenset(item for item in self.allowed if isinstance(item, str))
        return Allowed(self.classes | {Capability.READS_FILES}, types)

    @property
    def write_line(self) -> Callable[[str], None]:
        """For a session's `write_line`: prints go to the log if allowed, and are refused otherwise."""
        return log_line if Capability.PRINTS in self.needs else refuse_line

    def files(self, fs: FileSystem, directory: str | None) -> FileSystem:
        """For a session's `filesystem`: those of the model's directory to read, or all if that is allowed."""
        is_all = Capability.READS_FILES in self.classes
        return ModelFiles(fs, "" if is_all else directory, home=directory or "")

    def files_of(self, fs: FileSystem, directory: str | None) -> Callable[[Operation], FileSystem]:
        """For a session's `files_of`: what is allowed to one type of operation is not for others to use."""
        shared = self.files(fs, directory)
        changeable = ModelFiles(fs, "", may_write=True, home=directory or "")

        def seen_by(op: Operation) -> FileSystem:
            writes = Capability.WRITES_FILES in self.classes & capabilities_of(op)
            return changeable if writes or op.type in self.allowed else shared

        return seen_by


def _needs(operation: str) -> frozenset[Capability]:
    """What a type of operation may do, with whatever attributes; nothing if there is no such type."""
    return frozenset() if find_op(operation) is None else possible_capabilities(operation)


class ModelFiles(FileSystem):
    """The files in one directory, to be read only; an empty directory is all of them, None is no file at all.

    All of them are those of this machine, and of the store in which the model is, whose directory is `home`: what a
    model names never makes anybody talk to another server.
    """

    def __init__(self, fs: FileSystem, directory: str | None, may_write: bool = False, home: str = "") -> None:
        self._fs = fs
        self._directory = directory
        self._root = fs.canonical(directory).rstrip("/") + "/" if directory else ""
        self._may_write = may_write
        self._home = home or directory or ""

    def _is_inside(self, path: str) -> bool:
        if self._directory is None or leads_elsewhere(path, self._home):
            return False
        return not self._root or f"{self._fs.canonical(path)}/".startswith(self._root)

    def _inside(self, path: str) -> str:
        if leads_elsewhere(path, self._home):
            raise PermissionDeniedError(
                f'the model reads "{path}", in another store than its own, which no model may: copy that first'
            )
        if not self._is_inside(path):
            own = "and has no directory of its own"
            if self._directory is not None:
                own = f'which is not in its directory "{self._directory}"'
            raise PermissionDeniedError(
                f'the model reads "{path}", {own}. Load it with allow=["reads files"] if you trust it'
            )
        return path

    def _changed(self, path: str) -> str:
        if self._may_write and self._is_inside(path):
            return path
        where = f'only files in "{self._directory}"' if self._may_write else "no files"
        raise PermissionDeniedError(
            f'the model changes "{path}", and may change {where}. Load it with allow=["writes files"] if you trust it'
        )

    def open(self, path: str) -> RandomAccessFile:
        return self._fs.open(self._inside(path))

    def exists(self, path: str) -> bool:
        return self._fs.exists(self._inside(path))

    def is_directory(self, path: str) -> bool:
        return self._fs.is_directory(self._inside(path))

    def list(self, directory: str) -> Sequence[str]:
        return self._fs.list(self._inside(directory))

    def modified(self, path: str) -> float:
        return self._fs.modified(self._inside(path))

    def canonical(self, path: str) -> str:
        return self._fs.canonical(path)

    def create(self, path: str) -> WritableFile:
        return self._fs.create(self._changed(path))

    def rename(self, source: str, target: str) -> None:
        self._fs.rename(self._changed(source), self._changed(target))

    def link(self, source: str, target: str) -> None:
        self._fs.link(self._inside(source), self._changed(target))

    def delete(self, path: str) -> None:
        self._fs.delete(self._changed(path))

    def make_directory(self, path: str) -> None:
        self._fs.make_directory(self._changed(path))

    def remove_directory(self, path: str) -> None:
        self._fs.remove_directory(self._changed(path))

    def set_modified(self, path: str, time: float) -> None:
        self._fs.set_modified(self._changed(path), time)

    def sync(self, path: str) -> None:
        self._fs.sync(self._changed(path))

    def sync_directory(self, path: str) -> None:
        self._fs.sync_directory(self._changed(path))

    def locked(self, directory: str) -> AbstractContextManager[None]:
        return self._fs.locked(self._changed(directory))

    def delete_abandoned(self, path: str) -> bool:
        return self._fs.delete_abandoned(self._changed(path))

    def puts(self, path: str) -> ObjectPuts | None:
        return self._fs.puts(path) if self._may_write and self._is_inside(path) else None
