"""Both checkpoint formats do what every checkpoint format has to do."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping

import pytest

from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.reader import CheckpointReader, Checksums, ReadOptions
from tensorkeep.checkpoint.saving import CheckpointFormat, SaveOptions, ShardBySize, save_checkpoint
from tensorkeep.checkpoint.slices.slice_files import SliceFileReader
from tensorkeep.dtypes import ALL_DTYPES, DType
from tensorkeep.io.files.filesystem import Durability, FileSystem
from tensorkeep.io.files.local import LOCAL
from tensorkeep.testing.conformance import CheckpointFormatConformance
from tensorkeep.testing.strategies import Saveable

pytestmark = pytest.mark.slow  # all of them together

V1_DTYPES = [
    DType.of(name)
    for name in (
        "float32", "float64", "int32", "uint8", "int16", "int8", "string", "complex64", "int64", "bool", "qint8",
        "quint8", "qint32", "uint16", "complex128", "float16",
    )
]  # fmt: skip


class TestV2(CheckpointFormatConformance):
    def save(self, fs: FileSystem, path: str, tensors: Mapping[str, Saveable]) -> None:
        save_checkpoint(path, tensors, fs=fs)

    def open(self, fs: FileSystem, path: str) -> CheckpointReader:
        return open_checkpoint(path, fs=fs)


class TestV2InSeveralFiles(CheckpointFormatConformance):
    def save(self, fs: FileSystem, path: str, tensors: Mapping[str, Saveable]) -> None:
        save_checkpoint(path, tensors, SaveOptions(sharding=ShardBySize(40), alignment=16), fs=fs)

    def open(self, fs: FileSystem, path: str) -> CheckpointReader:
        return open_checkpoint(path, fs=fs)


class TestV2CheckedOnceOnTheDisk(CheckpointFormatConformance):
    """Overwrites the same checkpoint again and again, too."""

    @pytest.fixture(autouse=True)
    def temporary_folder(self) -> Iterator[None]:
        with tempfile.TemporaryDirectory() as self.root:
            yield

    def folder(self) -> tuple[FileSystem, str]:
        return LOCAL, self.root

    def save(self, fs: FileSystem, path: str, tensors: Mapping[str, Saveable]) -> None:
        save_checkpoint(path, tensors, SaveOptions(durability=Durability.CACHE), fs=fs)

    def open(self, fs: FileSystem, path: str) -> CheckpointReader:
        return open_checkpoint(path, ReadOptions(checksums=Checksums.ONCE), fs=fs)


class TestV1(CheckpointFormatConformance):
    dtypes = V1_DTYPES
    maps_files = False

    def save(self, fs: FileSystem, path: str, tensors: Mapping[str, Saveable]) -> None:
        save_checkpoint(path, tensors, SaveOptions(CheckpointFormat.V1), fs=fs)

    def open(self, fs: FileSystem, path: str) -> CheckpointReader:
        return open_checkpoint(path, fs=fs)


class TestV1InSeveralFiles(CheckpointFormatConformance):
    dtypes = V1_DTYPES
    maps_files = False

    def save(self, fs: FileSystem, path: str, tensors: Mapping[str, Saveable]) -> None:
        save_checkpoint(path, tensors, SaveOptions(CheckpointFormat.V1, ShardBySize(40)), fs=fs)

    def open(self, fs: FileSystem, path: str) -> CheckpointReader:
        reader = open_checkpoint(path, fs=fs)
        assert isinstance(reader, SliceFileReader)
        return reader


def test_every_type_but_resources_is_tried() -> None:
    assert len(TestV2.dtypes) == len(ALL_DTYPES) - 1
