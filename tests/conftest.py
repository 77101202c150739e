"""Settings for every test."""

from __future__ import annotations

import builtins
import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support import depth, facade

# How long an example takes says more about the machine than about the code.
settings.register_profile(
    "everyday",
    deadline=None,
    max_examples=depth.number_of_examples(100),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("ci", settings.get_profile("everyday"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "everyday")

if facade.is_absent():
    facade.hide()


_PRINT = builtins.print


def pytest_runtest_setup() -> None:
    """Ray puts a function of its own in the place of `print`, for the whole process."""
    builtins.print = _PRINT


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Without the facade, the files that need it are left out."""
    is_test = collection_path.name.startswith("test_") and collection_path.suffix == ".py"
    return True if is_test and facade.is_absent() and facade.needs_facade(collection_path) else None


@pytest.hookimpl(trylast=True)  # after folders have marked theirs
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if facade.needs_facade(item.path):
            item.add_marker(pytest.mark.v1)
    if others := depth.left_out(items):
        config.hook.pytest_deselected(items=others)
        known = set(others)
        items[:] = [item for item in items if item not in known]


@pytest.fixture(autouse=True)
def _level_of_the_log() -> Iterator[None]:
    """What a test, or a page of the documentation, sets is not the next one's."""
    log = logging.getLogger("tensorkeep")
    level = log.level
    yield
    log.setLevel(level)
