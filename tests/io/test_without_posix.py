"""Windows, as far as it can be tried elsewhere: the main paths of reading and writing with the POSIX parts hidden."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

FILES = (
    "tests/io/test_file_systems.py",
    "tests/io/files/test_local.py",
    "tests/io/machine/test_mapped_memory.py",
    "tests/checkpoint/finding/test_opening.py",
    "tests/checkpoint/test_saving.py",
    "tests/checkpoint/finding/test_latest.py",
    "tests/convert/test_safetensors.py",
    "tests/edit/test_names.py",
    "tests/tf1/saved_model/test_builder.py",
    "tests/saved_model/load/test_model_loading.py",
    "tests/saving/test_saver.py",
)

# What is not so on Windows, by the names of tests.
DIFFERENT = {
    "a file that is being read can be neither deleted nor replaced": (
        "mapped_bytes_are_the_file_s_and_outlive_it",
        "an_open_file_keeps_its_bytes_when_its_name_is_taken",
        "a_file_knows_whether_its_name_still_leads_to_it",
        "a_view_keeps_the_bytes_of_a_file_that_was_replaced",
        "what_is_open_stays_readable",
    ),
    "there are no pipes among files": ("pipe",),
    "the process that writes is another one, whose open files this system does not protect": (
        "the_file_of_a_living_writer_stays",
    ),
}


@pytest.mark.deep
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="what is open can be told on Linux alone")
def test_files_are_read_and_written_without_what_windows_lacks() -> None:
    others = " or ".join(name for names in DIFFERENT.values() for name in names)
    options = ["-p", "tests.support.without_posix", "-p", "no:cacheprovider", "-q", "-k", f"not ({others})"]
    answer = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *FILES], cwd=ROOT, stdout=subprocess.PIPE, text=True, timeout=900
    )
    assert answer.returncode == 0, answer.stdout[-5000:]


_COMMANDS = """
import sys
import tests.support.without_posix
import numpy as np
import tensorkeep as tk
from tensorkeep.cli.main import main

folder = sys.argv[1]
tk.save_checkpoint(folder + "/model", {"old/x": np.arange(6.0), "step": np.int64(3)})
for line in (
    "what {0}/model", "list {0}/model", "stats {0}/model", "verify {0}/model",
    "rename {0}/model {0}/new --strip-scope old", "convert {0}/new {0}/new.safetensors",
):
    code = main(line.format(folder).split())
    assert not code, (line, code)
assert "fcntl" not in {name for name, module in sys.modules.items() if module is not None}
print(sorted(tk.load_tensors(folder + "/new")))
"""


def test_the_command_line_works_without_what_windows_lacks(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _COMMANDS, str(tmp_path)]
    answer = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    assert answer.stdout.splitlines()[-1] == "['step', 'x']"
