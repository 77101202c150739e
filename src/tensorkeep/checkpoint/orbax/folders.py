"""From a folder to the trees of arrays that Orbax has saved in it.

    tree    _METADATA, and manifest.ocdbt (OCDBT) or a folder of zarr for each array
    step    a tree, or a folder for each item:  default/  state/  params/ …   of which some are trees
    root    a folder for each step:  0/  100/  …  or with a prefix:  checkpoint_100/ …

What is being written has another name until it is whole (`….orbax-checkpoint-tmp`), and is passed over.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tensorkeep.checkpoint.finding.state_file import STATE_FILE
from tensorkeep.io.files.filesystem import FileSystem

METADATA: Final = "_METADATA"
MANIFEST: Final = "manifest.ocdbt"

_STEP: Final = re.compile(r"(?:.*_)?([0-9]{1,18})")
_PART_OF_TREE: Final = re.compile(r"ocdbt\.process_.*|.*\.orbax-checkpoint-tmp.*|d|array_metadatas")


@dataclass(frozen=True)
class SavedStep:
    """What was saved together."""

    path: str
    """The folder of the step."""
    trees: dict[str, str]
    """The folders of its trees, by the names of the items that they are; without a name if the step is one tree."""
    others: tuple[str, ...] = ()
    """The items that are no trees of arrays."""


def saved_step(path: str, fs: FileSystem) -> SavedStep | None:
    """The step at a path: that folder, or the latest in it; None if Orbax has saved none there."""
    if not fs.is_directory(path):
        return None
    step = _step(path, fs)
    if step is not None or fs.exists(posixpath.join(path, STATE_FILE)):  # which TensorFlow's folders have
        return step
    return next((step for folder in _steps(path, fs) if (step := _step(folder, fs)) is not None), None)


def is_tree(folder: str, fs: FileSystem) -> bool:
    return any(fs.exists(posixpath.join(folder, name)) for name in (METADATA, MANIFEST))


def _step(folder: str, fs: FileSystem) -> SavedStep | None:
    if is_tree(folder, fs):
        return SavedStep(folder, {"": folder})
    names = [name for name in sorted(fs.list(folder)) if not _PART_OF_TREE.fullmatch(name) and "." not in name]
    items = {name: posixpath.join(folder, name) for name in names if not _STEP.fullmatch(name)}
    items = {name: item for name, item in items.items() if fs.is_directory(item)}
    trees = {name: item for name, item in items.items() if is_tree(item, fs)}
    return SavedStep(folder, trees, tuple(name for name in items if name not in trees)) if trees else None


def _steps(root: str, fs: FileSystem) -> Iterator[str]:
    """The folders that go by the numbers of steps, the latest first."""
    found = [(int(match[1]), name) for name in fs.list(root) if (match := _STEP.fullmatch(name))]
    for _, name in sorted(found, reverse=True):
        folder = posixpath.join(root, name)
        if fs.is_directory(folder):
            yield folder
