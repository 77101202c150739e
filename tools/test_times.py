"""How long tests take, from a report of pytest (`pytest --junitxml REPORT`).

    python tools/test_times.py REPORT            prints seconds and numbers of tests by folder, and the slowest files
    python tools/test_times.py REPORT --write    also writes tests/support/slow_tests.txt, which `make quick` leaves
                                                 out, and tests/support/long_files.txt, which come first

A test is slow if one of its cases took more than `SLOW` seconds, and its cases half of that on average: a test that
walks over a thousand ops is not slow because one op is. Tests on the list that the report does not have stay on it, so
that a report of `make quick` adds to it; long files stay, too. Measure on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

SLOW: Final = 0.15
_LONG: Final = 3  # seconds of a file
_SUPPORT: Final = Path(__file__).resolve().parent.parent / "tests" / "support"
LIST: Final = _SUPPORT / "slow_tests.txt"
LONG_FILES: Final = _SUPPORT / "long_files.txt"
_FILES: Final = 20

Times = Mapping[str, Sequence[float]]
"""By test, as pytest names it without the values of its parameters, the seconds of its cases."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="How long tests take.")
    parser.add_argument("report", type=Path, help="what pytest --junitxml wrote")
    parser.add_argument("--write", action="store_true", help="write the list of slow tests anew")
    options = parser.parse_args(arguments)
    times = read_times(options.report)
    print(summary(times))
    if options.write:
        kept = [name for name in LIST.read_text("utf-8").split() if name not in times]
        LIST.write_text("".join(f"{name}\n" for name in sorted({*kept, *slow_tests(times)})), "utf-8")
        lines = long_files(times, LONG_FILES.read_text("utf-8"))
        LONG_FILES.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return 0


def read_times(report: Path) -> Times:
    """The seconds of all tests in a report."""
    times: dict[str, list[float]] = defaultdict(list)
    for case in ElementTree.parse(report).iter("testcase"):
        place, name = case.get("classname", ""), case.get("name", "")
        times[test_name(place, name)].append(float(case.get("time", 0)))
    return times


def test_name(place: str, name: str) -> str:
    """A test as pytest names it: `tests.io.test_x.TestY` and `test_z[1]` are tests/io/test_x.py::TestY::test_z."""
    parts = place.split(".")
    file = next((i for i, part in enumerate(parts) if part.startswith("test_")), len(parts) - 1)
    return "::".join([f"{'/'.join(parts[: file + 1])}.py", *parts[file + 1 :], name.partition("[")[0]])


def slow_tests(times: Times) -> list[str]:
    """The names of those tests that are slow, sorted; without those beside TensorFlow: `make quick` never runs them."""
    ours = {name: cases for name, cases in times.items() if not name.startswith("tests/interop/")}
    return sorted(name for name, cases in ours.items() if max(cases) > SLOW and sum(cases) / len(cases) > SLOW / 2)


def long_files(times: Times, known: str = "") -> list[str]:
    """The files that take seconds, the longest first, as lines: seconds, file. What `known`, such lines too, says of a
    file stands if it says more: `make quick` measures some of its tests alone.
    """
    seconds = {file: int(number) for number, file in (line.split() for line in known.splitlines())}
    for file, cases in by_file(times).items():
        seconds[file] = max(seconds.get(file, 0), round(sum(cases)))
    return [f"{n} {file}" for file, n in sorted(seconds.items(), key=lambda item: (-item[1], item[0])) if n >= _LONG]


def by_file(times: Times) -> dict[str, list[float]]:
    """The seconds of all cases of each file."""
    files: dict[str, list[float]] = defaultdict(list)
    for name, cases in times.items():
        files[name.partition("::")[0]].extend(cases)
    return files


def summary(times: Times) -> str:
    """Seconds and numbers of tests by folder, and of the slowest files, longest first."""
    files = by_file(times)
    folders: dict[str, list[float]] = defaultdict(list)
    for file, cases in files.items():
        folders["/".join(file.split("/")[:2])].extend(cases)
    lines = [f"{sum(map(sum, times.values())):8.1f} s in {sum(map(len, times.values()))} tests", ""]
    for kind, most in ((folders, len(folders)), (files, _FILES)):
        ordered = sorted(kind.items(), key=lambda item: -sum(item[1]))[:most]
        lines += [*(f"{sum(cases):8.1f} s {len(cases):6} {name}" for name, cases in ordered), ""]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
