"""V2 checkpoints: a prefix by which an index goes."""

from __future__ import annotations

from typing import Final

from tensorkeep.checkpoint.bundle.reader import BundleReader
from tensorkeep.checkpoint.finding.file_names import index_path
from tensorkeep.checkpoint.reader import CheckpointReader, ReadOptions
from tensorkeep.io.files.filesystem import FileSystem


class BundleLayout:
    """V2: an index and data files, which go by a prefix."""

    format = "V2"

    def matches(self, path: str, fs: FileSystem) -> bool:
        return fs.exists(index_path(path))

    def open(self, path: str, options: ReadOptions, fs: FileSystem) -> CheckpointReader:
        return BundleReader(path, options, fs=fs)


BUNDLES: Final = BundleLayout()
