"""Which tests are slow, by a report of pytest."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import depth
from tools.test_times import read_times, slow_tests, summary

REPORT = """<testsuites><testsuite>
<testcase classname="tests.io.test_a" name="test_quick" time="0.01"/>
<testcase classname="tests.io.test_a" name="test_slow[1]" time="0.4"/>
<testcase classname="tests.io.test_a" name="test_slow[2]" time="0.1"/>
<testcase classname="tests.ops.test_walk.TestOps" name="test_op[Add]" time="0.01"/>
<testcase classname="tests.ops.test_walk.TestOps" name="test_op[Exp]" time="0.02"/>
<testcase classname="tests.ops.test_walk.TestOps" name="test_op[Svd]" time="0.16"/>
</testsuite></testsuites>"""


@pytest.fixture
def times(tmp_path):
    path = tmp_path / "report.xml"
    path.write_text(REPORT)
    return read_times(path)


def test_a_test_is_slow_by_its_cases_and_not_by_one_of_many(times):
    assert slow_tests(times) == ["tests/io/test_a.py::test_slow"]


def test_folders_are_listed_with_the_longest_first(times):
    first, _, io, ops, *_ = summary(times).splitlines()
    assert first.split() == ["0.7", "s", "in", "6", "tests"]
    assert io.split() == ["0.5", "s", "3", "tests/io"]
    assert ops.split() == ["0.2", "s", "3", "tests/ops"]


def test_the_list_names_tests_that_exist():
    root = Path(__file__).resolve().parents[2]
    shared = "".join(path.read_text("utf-8") for path in (root / "src" / "tensorkeep" / "testing").rglob("*.py"))
    for name in sorted(depth.SLOW_TESTS):
        file, *_, function = name.split("::")
        assert f"def {function}(" in (root / file).read_text("utf-8") + shared, name
