"""How many processes run the tests, in which order they take up the files, and which files one takes together.

Long files come first (`long_files.txt`, by `tools/test_times.py`): one that came last would be run while the other
processes have nothing to do. The tests of a folder that share something dear are for one process. There is one process
more than processors, since tests that wait for a server, a cluster or a browser leave theirs to others: a fifth of the
time of `make test`. `make quick` has hardly such tests.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, SupportsIndex

import pytest

from tests.support.depth import depth

_MEMORY: Final = 4 << 30  # bytes for a process, which has TensorFlow in it
_TOGETHER: Final = ("tests/cluster",)  # they share a Ray cluster, which takes seconds to start
_LONG_FILES: Final = Path(__file__).with_name("long_files.txt")


def number_of_processes(processors: int | None = None, memory: int | None = None) -> int | None:
    """How many processes there are if nobody says it; None for what pytest-xdist takes itself, one a processor."""
    wanted = 1 + (processors or _processors())
    if depth() == "quick" or (memory or _memory()) < wanted * _MEMORY:
        return None
    return wanted


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _memory() -> int:
    """The bytes of memory that the machine has; none if it does not say."""
    names = ("SC_PHYS_PAGES", "SC_PAGE_SIZE")
    known = getattr(os, "sysconf_names", {})
    return os.sysconf(names[0]) * os.sysconf(names[1]) if all(name in known for name in names) else 0


def group_of(file: str) -> str:
    """What a file of tests is run with by one process: itself, or its folder."""
    return next((folder for folder in _TOGETHER if file.startswith(f"{folder}/")), file)


def long_groups() -> list[str]:
    """The groups that are known to take long, the longest first."""
    seconds: Counter[str] = Counter()
    for line in _LONG_FILES.read_text("utf-8").splitlines():
        number, file = line.split()
        seconds[group_of(file)] += int(number)
    return [group for group, _ in seconds.most_common()]


def put_long_files_first(items: list[pytest.Item]) -> None:
    """Sorts tests by how long their groups take; those of other files stay in their order, after these."""
    places = {group: place for place, group in enumerate(long_groups())}
    items.sort(key=lambda item: places.get(group_of(item.nodeid.partition("::")[0]), len(places)))


class _Numbered(list[str]):
    """Names of tests whose numbers are looked up: pytest-xdist asks for each, and would compare it with all others."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(names)
        self._numbers = {name: number for number, name in enumerate(names)}

    def index(self, name: str, *between: SupportsIndex) -> int:
        return self._numbers[name]


def scheduler(config: pytest.Config, log: Any) -> Any:
    """What gives the processes of pytest-xdist their tests group by group, as they were collected."""
    from xdist.scheduler import LoadFileScheduling

    class GroupScheduling(LoadFileScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return group_of(nodeid.partition("::")[0])

        def remove_node(self, node: Any) -> str | None:
            """The test in which a process died, which is over: pytest-xdist would have the next process die of it."""
            units = self.assigned_work.get(node, {}).values()
            died = next((name for unit in units for name, is_over in unit.items() if not is_over), None)
            for unit in units:
                if died in unit:
                    unit[died] = True
            super().remove_node(node)
            return died

        def add_node_collection(self, node: Any, collection: Sequence[str]) -> None:
            super().add_node_collection(node, collection)
            if node in self.registered_collections:
                self.registered_collections[node] = _Numbered(collection)

        def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
            """Notes that a test is over, and with its last one forgets a group: all are counted each time."""
            super().mark_test_complete(node, item_index, duration)
            name = self.registered_collections[node][item_index]
            groups = self.assigned_work[node]
            if name == next(reversed(groups[self._split_scope(name)])):
                del groups[self._split_scope(name)]

    return GroupScheduling(config, log)
