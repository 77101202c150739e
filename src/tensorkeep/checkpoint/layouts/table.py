"""The layouts of checkpoints: what each can tell and do, all of them, and which of them a path has."""

from __future__ import annotations

from typing import Final, Protocol

from tensorkeep.checkpoint.layouts.bundles import BUNDLES
from tensorkeep.checkpoint.layouts.orbax import ORBAX
from tensorkeep.checkpoint.layouts.slice_files import SLICE_FILES
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


LAYOUTS: Final[tuple[CheckpointLayout, ...]] = (BUNDLES, ORBAX, SLICE_FILES)
"""In the order in which they are asked whether a path is theirs: any file at all may be a slice file."""


def layout_of(path: str, fs: FileSystem) -> CheckpointLayout | None:
    """The layout of the checkpoint at a path; None if none matches."""
    return next((layout for layout in LAYOUTS if layout.matches(path, fs)), None)
