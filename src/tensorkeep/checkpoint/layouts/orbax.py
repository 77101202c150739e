"""Checkpoints of Orbax: folders, and what JAX programs save."""

from __future__ import annotations

from typing import Final

from tensorkeep.checkpoint.orbax.folders import saved_step
from tensorkeep.checkpoint.orbax.reader import OrbaxReader
from tensorkeep.checkpoint.reader import CheckpointReader, ReadOptions
from tensorkeep.io.files.filesystem import FileSystem


class OrbaxLayout:
    """A folder of steps, one of them, or a tree in it."""

    format = "Orbax"

    def matches(self, path: str, fs: FileSystem) -> bool:
        return saved_step(path, fs) is not None

    def open(self, path: str, options: ReadOptions, fs: FileSystem) -> CheckpointReader:
        return OrbaxReader(path, options, fs=fs)


ORBAX: Final = OrbaxLayout()
