"""What a layout can tell and do: whether something has it, and to open that."""

from __future__ import annotations

from typing import Protocol

from tensorkeep.checkpoint.reader import CheckpointReader, ReadOptions
from tensorkeep.io.files.filesystem import FileSystem


class CheckpointLayout(Protocol):
    """A way in which checkpoints lie on disk. It is asked whether it matches, and only then told to open."""

    format: str
    """What its readers call it."""

    def matches(self, path: str, fs: FileSystem) -> bool:
        """Whether there is something at a path that is a checkpoint of this layout, by the names of its files.

        What is in them is another question, which is answered when it is opened.
        """
        ...

    def open(self, path: str, options: ReadOptions, fs: FileSystem) -> CheckpointReader:
        """Opens what matches. Of what does not, it says why."""
        ...
