"""Object stores do what every file system has to do, as far as a store can."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.io.stores.filesystem import StoreFileSystem
from tensorkeep.testing.conformance import ObjectStoreConformance
from tests.support.stores import memory_bucket, s3_bucket


class TestMemoryStore(ObjectStoreConformance):
    @pytest.fixture
    def fs(self) -> FileSystem:
        return StoreFileSystem()

    @pytest.fixture
    def root(self, fs: FileSystem) -> str:
        root = f"{memory_bucket()}/some/where"
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
