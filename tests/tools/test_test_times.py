"""Which tests are slow, by a report of pytest."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import depth, order
from tools.test_times import LONG_FILES, long_files, read_times, slow_tests, summary

ROOT = Path(__file__).resolve().parents[2]
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


def test_long_files_come_with_the_longest_first_and_stay_if_less_of_them_was_measured():
    times = {"tests/a.py::test_1": [2.0, 2.0], "tests/b.py::test_2": [4.6], "tests/c.py::test_3": [1.0]}
    found = long_files(times, "9 tests/c.py\n7 tests/d.py\n3 tests/b.py\n")
    assert found == ["9 tests/c.py", "7 tests/d.py", "5 tests/b.py", "4 tests/a.py"]


def test_long_files_exist():
    for line in LONG_FILES.read_text("utf-8").splitlines():
        assert (ROOT / line.split()[1]).is_file(), line


def test_tests_of_one_cluster_are_for_one_process_and_begin_together():
    groups = order.long_groups()
    assert groups.count("tests/cluster") == 1
    assert not [group for group in groups if group.startswith("tests/cluster/")]
    assert order.group_of("tests/cluster/test_jobs.py") == order.group_of("tests/cluster/test_tables.py")
    assert order.group_of("tests/io/test_places.py") == "tests/io/test_places.py"


def test_one_process_more_than_processors_runs_the_tests_if_there_is_memory_for_it(monkeypatch):
    monkeypatch.setenv(depth.VARIABLE, "usual")
    assert order.number_of_processes(2, memory=12 << 30) == 3
    assert order.number_of_processes(2, memory=8 << 30) is None
    monkeypatch.setenv(depth.VARIABLE, "quick")
    assert order.number_of_processes(2, memory=12 << 30) is None


def run_pytest(folder: Path, *options: str) -> str:
    """What pytest prints of the tests in a folder."""
    words = ["-c", os.devnull, "--rootdir", str(folder), "-p", "no:cacheprovider", *options, str(folder)]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return run.stdout + run.stderr


@pytest.mark.slow
def test_a_test_in_which_a_process_dies_fails_once_and_all_others_run(tmp_path):
    (tmp_path / "conftest.py").write_text(
        "from tests.support import order\n"
        "def pytest_xdist_make_scheduler(config, log):\n"
        "    return order.scheduler(config, log)\n"
    )
    (tmp_path / "test_dying.py").write_text(
        "import os\ndef test_before(): pass\ndef test_dies(): os._exit(3)\ndef test_after(): pass\n"
    )
    (tmp_path / "test_other.py").write_text("def test_other(): pass\n")
    printed = run_pytest(tmp_path, "-n", "2", "--dist", "loadfile")
    assert "1 failed, 3 passed" in printed, printed
    assert "crashed while running 'test_dying.py::test_dies'" in printed


@pytest.mark.slow
def test_a_test_that_hangs_is_tried_once_more_and_named(tmp_path):
    (tmp_path / "conftest.py").write_text(
        "from tests.support import hanging\n"
        "def pytest_runtest_protocol(item, nextitem):\n"
        "    return hanging.run(item, nextitem)\n"
        "def pytest_terminal_summary(terminalreporter):\n"
        "    hanging.tell(terminalreporter)\n"
    )
    (tmp_path / "test_hanging.py").write_text(
        "import time\ntimes = []\n"
        "def test_hangs_once():\n    times.append(1)\n    time.sleep(0 if len(times) > 1 else 60)\n"
        "def test_hangs(): time.sleep(60)\n"
        "def test_fails():\n    times.append(2)\n    assert times.count(2) > 1\n"
    )
    (tmp_path / "test_skipped.py").write_text("import pytest\npytest.importorskip('no_such_module')\n")
    printed = run_pytest(tmp_path, "-o", "timeout=1")
    assert "2 failed, 1 passed, 1 skipped" in printed, printed
    assert "hung, and was tried again: test_hanging.py::test_hangs_once" in printed
    assert "hung, and was tried again: test_hanging.py::test_hangs " in printed
    assert "tried again: test_hanging.py::test_fails" not in printed


def test_the_list_names_tests_that_exist():
    shared = "".join(path.read_text("utf-8") for path in (ROOT / "src" / "tensorkeep" / "testing").rglob("*.py"))
    for name in sorted(depth.SLOW_TESTS):
        file, *_, function = name.split("::")
        assert f"def {function}(" in (ROOT / file).read_text("utf-8") + shared, name
