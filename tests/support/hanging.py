"""How one test is run, and what is told of it.

A test that hangs is ended by pytest-timeout, and tried once more; the summary names it. What hangs once in many runs is
a browser or a cluster that did not answer, or a fault that the traces of the threads show. Neither is worth the whole
run. (pytest-rerunfailures does the same, and takes 12 ms of every test for it.)

A process of pytest-xdist tells the one that prints of every test that begins and ends, and of its three parts, passed
ones too: most of what a test of a millisecond takes. Here it tells what will be printed.

pytest's own `faulthandler_timeout` begins a thread for each test and waits for its end: five milliseconds of every test
where processors are busy. Here a watch is set once in a while, and covers the tests that follow.
"""

from __future__ import annotations

import faulthandler
import time
from collections.abc import Sequence
from typing import Any, Final

import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key
from _pytest.runner import runtestprotocol

TOLD: Final = "hung"
_TRACED_AFTER: Final = 300
"""Seconds after which a test that goes on is traced, at the latest: far beyond what any takes on a busy machine."""
_WATCHED_ANEW: Final = 60  # seconds: so much earlier it may be traced


class _Watch:
    """Tells where all threads are if the tests do not get on."""

    def __init__(self) -> None:
        self._set = -float(_WATCHED_ANEW)

    def go_on(self, config: pytest.Config) -> None:
        """Says that a test begins."""
        if time.monotonic() - self._set >= _WATCHED_ANEW:
            faulthandler.dump_traceback_later(_TRACED_AFTER, file=config.stash[fault_handler_stderr_fd_key])
            self._set = time.monotonic()

    def end(self) -> None:
        """Says that no test is left."""
        faulthandler.cancel_dump_traceback_later()
        self._set = -float(_WATCHED_ANEW)


_WATCH: Final = _Watch()


def run(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Runs a test, and again if it hung; always True, for pytest has nothing left to do."""
    _WATCH.go_on(item.config)
    brief = _is_brief(item.config)
    if not brief:
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, nextitem=nextitem, log=False)
    if any(has_hung(report) for report in reports):
        reports = _again(item, nextitem, reports)
    for report in reports:
        if not (brief and report.passed and report.when != "call"):
            item.ihook.pytest_runtest_logreport(report=report)
    if not brief:
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    if nextitem is None:
        _WATCH.end()
    return True


def _is_brief(config: pytest.Config) -> bool:
    """Whether nobody asked for more than whether tests passed: not for what they took, nor for their names."""
    asked = (config.option.xmlpath, config.option.durations, config.option.verbose > 0)
    return hasattr(config, "workerinput") and not any(asked)


def has_hung(report: pytest.TestReport) -> bool:
    """Whether a part of a test was ended because it took too long."""
    return report.failed and "from pytest-timeout" in report.longreprtext


def _again(
    item: pytest.Item, nextitem: pytest.Item | None, before: Sequence[pytest.TestReport]
) -> list[pytest.TestReport]:
    _set_timer(item)
    item._initrequest()  # type: ignore[attr-defined]
    reports = runtestprotocol(item, nextitem=nextitem, log=False)
    where = next(report.longreprtext for report in before if has_hung(report))
    for report in reports:
        if report.when == "call":
            report.user_properties.append((TOLD, where))
    return reports


def _set_timer(item: pytest.Item) -> None:
    """Ends the second try, too: the timer is set once for a test, and has gone off."""
    import pytest_timeout

    settings = pytest_timeout._get_item_settings(item)
    item.config.pluginmanager.hook.pytest_timeout_set_timer(item=item, settings=settings)


def tell(terminalreporter: Any) -> None:
    """Lists the tests that hung, with where they were, at the end of the run."""
    for report in (
        report for kind in ("passed", "failed", "skipped") for report in terminalreporter.stats.get(kind, ())
    ):
        for name, where in getattr(report, "user_properties", ()):  # reports of files that were skipped have none
            if name == TOLD:
                terminalreporter.section(f"hung, and was tried again: {report.nodeid}")
                terminalreporter.write_line(where)
