"""The file systems do what every file system has to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.io.files.local import LOCAL
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.testing.conformance import FileSystemConformance
from tensorkeep.testing.filesystems import CountingFileSystem, CrashingFileSystem, PowerCutFileSystem


class TestLocal(FileSystemConformance):
    @pytest.fixture
    def fs(self) -> FileSystem:
        return LOCAL

    @pytest.fixture
    def root(self, tmp_path: Path) -> str:
        return str(tmp_path)


class TestLocalByRelativePaths(FileSystemConformance):
    @pytest.fixture
    def fs(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FileSystem:
        monkeypatch.chdir(tmp_path)
        return LOCAL


class TestMemory(FileSystemConformance):
    @pytest.fixture
    def fs(self) -> FileSystem:
        return MemoryFileSystem()


class TestMemoryByAbsolutePaths(FileSystemConformance):
    @pytest.fixture
    def fs(self) -> FileSystem:
        return MemoryFileSystem()

    @pytest.fixture
    def root(self, fs: FileSystem) -> str:
        fs.make_directory("/some/where")
        return "/some/where"


class TestCrashingUndisturbed(FileSystemConformance):
    @pytest.fixture
    def fs(self) -> FileSystem:
        return CrashingFileSystem(MemoryFileSystem())


class TestCounting(FileSystemConformance):
    @pytest.fixture
    def fs(self) -> FileSystem:
        return CountingFileSystem(MemoryFileSystem())


class TestPowerCutUndisturbed(FileSystemConformance):
    @pytest.fixture
    def fs(self) -> FileSystem:
        return PowerCutFileSystem()
