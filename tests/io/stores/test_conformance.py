"""Object stores do what every file system has to do, as far as a store can."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import tensorkeep as tk
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.io.stores.filesystem import StoreFileSystem
from tensorkeep.testing.conformance import ObjectStoreConformance
from tests.support.stores import azure_container, memory_bucket, s3_bucket


class TestMemoryStore(ObjectStoreConformance):
    @pytest.fixture
    def fs(self) -> FileSystem:
        return StoreFileSystem()

    @pytest.fixture
    def root(self, fs: FileSystem) -> str:
        root = f"{memory_bucket()}/some/where"
        fs.make_directory(root)
        return root


class TestCachedStore(ObjectStoreConformance):
    maps_files = True

    @pytest.fixture
    def fs(self) -> FileSystem:
        return StoreFileSystem()

    @pytest.fixture
    def root(self, fs: FileSystem, tmp_path: Path) -> str:
        bucket = memory_bucket()
        tk.storage(bucket, cache=tmp_path)
        fs.make_directory(f"{bucket}/run")
        return f"{bucket}/run"


@pytest.mark.deep
class TestAzure(ObjectStoreConformance):
    odd_names = tuple(name for name in ObjectStoreConformance.odd_names if "\\" not in name)  # Azurite makes it a slash

    @pytest.fixture
    def fs(self) -> FileSystem:
        return StoreFileSystem()

    @pytest.fixture
    def root(self, fs: FileSystem) -> str:
        root = f"{azure_container()}/run"
        fs.make_directory(root)
        return root


class TestS3(ObjectStoreConformance):
    @pytest.fixture
    def fs(self) -> FileSystem:
        return StoreFileSystem()

    @pytest.fixture
    def root(self, fs: FileSystem) -> Iterator[str]:
        with s3_bucket() as url:
            fs.make_directory(f"{url}/run")
            yield f"{url}/run"
