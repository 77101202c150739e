"""One small Ray cluster of this machine for all tests of the folder, ended when they are over."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tensorkeep import cluster
from tensorkeep.cluster.jobs import cutting
from tests.support.clusters import STARTS_RAY

STORE = 80 << 20  # bytes of the object store


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What needs the cluster is slow: `make quick` does without, and has the same tests in one process."""
    for item in items:
        if "ray_cluster" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)
            item.add_marker(STARTS_RAY)


@pytest.fixture(scope="package")
def ray_cluster() -> Iterator[Any]:
    """The module `ray`, connected to a cluster of its own: four slots, which need not be processors."""
    ray = cluster.connect("local", processors=4, store=STORE)
    yield ray
    cluster.disconnect()


@pytest.fixture
def executor(ray_cluster: Any, small_parts: None) -> cluster.RayExecutor:
    return cluster.RayExecutor(workers=2)


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has jobs over small checkpoints cut into several parts, as those over large ones are."""
    monkeypatch.setattr(cutting, "_LEAST", 1 << 20)


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(tmp_path.resolve())
