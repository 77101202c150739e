"""Settings for every test."""

from __future__ import annotations

import builtins
import gc
import logging
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.support import depth, facade, hanging, leftovers, order

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
_LOG = logging.getLogger("tensorkeep")
_LEVEL = _LOG.level
_AT_ROOT = leftovers.names_at_root()


def pytest_runtest_setup() -> None:
    """What a test, or a page of the documentation, sets is not the next one's: the level of the log and where it goes,
    and `print`, in whose place Ray puts a function of its own.
    """
    builtins.print = _PRINT
    _LOG.setLevel(_LEVEL)
    _LOG.handlers.clear()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    return hanging.run(item, nextitem)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    hanging.tell(terminalreporter)
    if left := sorted(leftovers.names_at_root() - _AT_ROOT):
        terminalreporter.write_line(f"tests left files in the working tree: {', '.join(left)}", red=True)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    is_worker = hasattr(session.config, "workerinput")
    if not is_worker and exitstatus == 0 and leftovers.names_at_root() - _AT_ROOT:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_collection() -> None:
    """Nothing of what is imported and collected is garbage, and to look for some takes a fifth of the time."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()  # tests are not held up by it either
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    return order.number_of_processes()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    return order.scheduler(config, log) if config.getvalue("dist") == "loadfile" else None


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
    if hasattr(config, "workerinput"):  # one of several processes
        order.put_long_files_first(items)
