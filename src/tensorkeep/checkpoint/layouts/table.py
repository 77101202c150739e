"""All layouts, and which of them a path has."""

from __future__ import annotations

from typing import Final

from tensorkeep.checkpoint.layouts.bundles import BUNDLES
from tensorkeep.checkpoint.layouts.layout import CheckpointLayout
from tensorkeep.checkpoint.layouts.orbax import ORBAX
from tensorkeep.checkpoint.layouts.slice_files import SLICE_FILES
from tensorkeep.io.files.filesystem import FileSystem

LAYOUTS: Final[tuple[CheckpointLayout, ...]] = (BUNDLES, ORBAX, SLICE_FILES)
"""In the order in which they are asked whether a path is theirs: any file at all may be a slice file."""


def layout_of(path: str, fs: FileSystem) -> CheckpointLayout | None:
    """The layout of the checkpoint at a path; None if none matches."""
    return next((layout for layout in LAYOUTS if layout.matches(path, fs)), None)
