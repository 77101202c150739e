"""The journal of a job that writes: which parts are done, beside the output, so that the next run goes on.

    TARGET.tensorkeep-job/job.json           what the job is, what it reads, and how it is cut
    TARGET.tensorkeep-job/part-00003…        what a worker has written
    TARGET.tensorkeep-job/part-00003.done    written last: the files of the part, and what the worker found

A part counts as done if the job is the same, what it reads is the same, and its files are as they were left: of the
same sizes, with the same bytes at both ends. Everything else is done anew. The folder goes when the result is there.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any, Final

from tensorkeep.checkpoint.bundle.writer import delete_quietly
from tensorkeep.errors import TensorKeepError
from tensorkeep.io.coding.crc32c import crc32c
from tensorkeep.io.files.filesystem import Durability, FileSystem, atomic_write, prepare_directory

_ENDING: Final = ".tensorkeep-job"
_JOB: Final = "job.json"
_DONE: Final = ".done"
_ENDS: Final = 64 << 10  # bytes at both ends of a file that are compared
_MOST: Final = 1 << 28  # bytes of a journal


class Journal:
    """The folder of a job that writes to a target."""

    def __init__(self, target: str, fs: FileSystem, durability: Durability = Durability.DISK) -> None:
        self.folder = f"{target}{_ENDING}"
        self._fs = fs
        self._durability = durability

    def opened(self, description: Mapping[str, Any], parts: Sequence[Sequence[str]]) -> list[list[str]]:
        """The parts of the job: those of an earlier run, if it was the same job; else these, with nothing done."""
        known = self._read(_JOB) if self._fs.is_directory(self.folder) else None
        if known is not None and known.get("job") == json.loads(json.dumps(description)):
            return [list(part) for part in known["parts"]]
        self.remove()
        prepare_directory(self._fs, self.folder, self._durability)
        self._write(_JOB, {"job": description, "parts": [list(part) for part in parts]})
        return [list(part) for part in parts]

    def place(self, number: int) -> str:
        """The path that what a part writes begins with."""
        return posixpath.join(self.folder, f"part-{number:05d}")

    def note_done(self, number: int, result: Mapping[str, Any]) -> None:
        """Says that a part is done, with all its files in place, and what came of it."""
        name = posixpath.basename(self.place(number))
        files = {item: file_mark(self._fs, posixpath.join(self.folder, item)) for item in self._files_of(name)}
        self._write(name + _DONE, {"files": files, "result": result})

    def result_of(self, number: int) -> dict[str, Any] | None:
        """What came of a part that is done and whose files are as they were left; None if it is to be done."""
        name = posixpath.basename(self.place(number))
        try:
            known = self._read(name + _DONE)
            if known is None:
                return None
            for item, mark in known["files"].items():
                if file_mark(self._fs, posixpath.join(self.folder, item)) != tuple(mark):
                    return None
        except (TensorKeepError, KeyError, TypeError, AttributeError):
            return None
        result: dict[str, Any] = known["result"]
        return result

    def remove(self) -> None:
        """Removes the journal with all that parts have left; what says that they are done goes first."""
        if not self._fs.is_directory(self.folder):
            return
        names = sorted(self._fs.list(self.folder), key=lambda name: (name != _JOB, not name.endswith(_DONE), name))
        delete_quietly(self._fs, [posixpath.join(self.folder, name) for name in names])
        try:
            self._fs.remove_directory(self.folder)
        except TensorKeepError:
            return  # somebody else put something there

    def _files_of(self, name: str) -> list[str]:
        found = self._fs.list(self.folder)
        return [item for item in found if item.startswith((f"{name}.", f"{name}-")) and not item.endswith(_DONE)]

    def _write(self, name: str, contents: Mapping[str, Any]) -> None:
        data = json.dumps(contents).encode()
        atomic_write(self._fs, posixpath.join(self.folder, name), data, self._durability)

    def _read(self, name: str) -> dict[str, Any] | None:
        path = posixpath.join(self.folder, name)
        if not self._fs.exists(path):
            return None
        try:
            with closing(self._fs.open(path)) as file:
                found = json.loads(bytes(file.read(0, min(file.size, _MOST))))
        except (TensorKeepError, ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None


def file_mark(fs: FileSystem, path: str) -> tuple[int, int]:
    """By what a file is known again: its size, and the checksum of both its ends."""
    with closing(fs.open(path)) as file:
        head = file.read(0, min(_ENDS, file.size))
        tail = file.read(max(0, file.size - _ENDS), min(_ENDS, file.size))
        return file.size, crc32c(tail, crc32c(head))
