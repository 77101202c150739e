"""`inspect_checkpoint`: the very text of TensorFlow's tool, without its traps."""

from __future__ import annotations

import argparse
import subprocess
import sys
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

from tensorkeep import save_checkpoint
from tensorkeep.tools import inspect_checkpoint
from tensorkeep.tools.inspect_checkpoint import main, parse_numpy_printoption, print_tensors_in_checkpoint_file
from tests.support.golden import ROOT

SAMPLES = [
    "g01_v2_single_ref/model.ckpt-100",
    "g02_v2_single_resource/res",
    "g04_v2_partitioned/part.ckpt",
    "g06_v2_dtypes/all",
    "g10_v1_single/v1.ckpt-12",
    "g34_tf2_checkpoint/written",
]
FLAGS = {"default": [], "all_tensors": ["--all_tensors"], "all_tensor_names": ["--all_tensor_names=true"]}


@pytest.fixture(autouse=True)
def same_print_options():
    with np.printoptions():
        yield


@pytest.fixture
def checkpoint(tmp_path: Path) -> str:
    tensors = {"w": np.arange(4.0, dtype=np.float32), "w/Adam": np.zeros((2, 2)), "step": np.array(3)}
    return save_checkpoint(tmp_path / "m", tensors)


@pytest.mark.parametrize("path", SAMPLES)
@pytest.mark.parametrize("mode", FLAGS)
def test_prints_what_tensorflow_printed(path, mode, capsys):
    assert main([f"--file_name={ROOT / path}", *FLAGS[mode]]) == 0
    wanted = (ROOT / path).parent / f"inspect_{mode}.txt"
    assert capsys.readouterr().out == wanted.read_text(encoding="utf-8")


def test_one_tensor(checkpoint, capsys):
    assert main(["--file_name", checkpoint, "--tensor_name", "w"]) == 0
    assert capsys.readouterr().out == "tensor: w (float32) [4]\n[0. 1. 2. 3.]\n# Total number of params: 9\n"


def test_some_tensors_are_not_counted(checkpoint, capsys):
    assert main(["--file_name", checkpoint, "--all_tensor_names", "--count_exclude_pattern=Adam|step"]) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "# Excluding 2 tensors (5 params) that match Adam|step when counting.",
        "# Total number of params: 4",
    ]


def test_without_a_name_it_says_how_to_call_it(capsys):
    assert main([]) == 1
    assert capsys.readouterr().out.startswith("Usage: inspect_checkpoint --file_name=checkpoint_file_name ")


def test_one_of_the_files_stands_for_the_checkpoint_and_that_is_said(checkpoint, capsys):
    assert main(["--file_name", f"{checkpoint}.index"]) == 0
    printed = capsys.readouterr()
    assert printed.out.endswith("# Total number of params: 9\n")
    assert f'"{checkpoint}.index" is one file of a checkpoint; opening "{checkpoint}"' in printed.err


def test_a_tensor_that_is_not_there(checkpoint, capsys):
    assert main(["--file_name", checkpoint, "--tensor_name=nope"]) == 1
    assert capsys.readouterr().out == "Tensor nope not found in checkpoint\n"


def test_the_key_of_the_header_is_no_tensor(checkpoint, capsys):
    print_tensors_in_checkpoint_file(checkpoint, "", False)
    assert "step (DT_INT64) []" in capsys.readouterr().out


@pytest.mark.parametrize("given", [["--file_name=nowhere/m"], ["--count_exclude_pattern=(", "--file_name={}"]])
def test_what_goes_wrong_is_printed_and_is_a_failure(checkpoint, capsys, given):
    assert main([item.format(checkpoint) for item in given]) == 1
    assert capsys.readouterr().out


def test_a_damaged_tensor_does_not_hide_the_others(capsys):
    assert main([f"--file_name={ROOT}/g35_corrupt_v2/data_flip", "--all_tensors"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("tensor: ")] == ["alpha", "beta", "gamma", "strs"]
    assert "its checksum is" in lines[1]
    assert lines[-1] == "# Total number of params: 21"


def test_a_function_prints_errors_as_tensorflow_s_does(capsys):
    print_tensors_in_checkpoint_file("nowhere/m", None, all_tensors=True)
    assert "Failed to find any matching files for nowhere/m" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [("threshold=7", "threshold", 7), ("suppress=true", "suppress", True), ("suppress=0", "suppress", False)],
)
def test_print_options_are_numpy_s(text, name, value):
    parse_numpy_printoption(text)
    assert np.get_printoptions()[name] == value


@pytest.mark.parametrize("text", ["threshold", "=3", "nope=3", "formatter=x", "threshold=many", "suppress=perhaps"])
def test_print_options_that_make_no_sense_are_refused(text):
    with pytest.raises(argparse.ArgumentTypeError):
        parse_numpy_printoption(text)


def test_it_is_a_program_of_its_own(checkpoint):
    command = [sys.executable, "-m", "tensorkeep.tools.inspect_checkpoint", f"--file_name={checkpoint}"]
    done = subprocess.run([*command, "--printoptions", "threshold=2"], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("# Total number of params: 9\n")
    missing = subprocess.run([*command, "--tensor_name=nope"], capture_output=True, text=True, check=False)
    assert missing.returncode == 1


def test_a_reader_that_goes_away_is_no_disaster(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[object] = []

    class Gone(StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(inspect_checkpoint, "abandon", left.append)
    gone = Gone()
    monkeypatch.setattr("sys.stdout", gone)
    path = ROOT / "g01_v2_single_ref" / "model.ckpt-100"
    assert inspect_checkpoint.main([f"--file_name={path}", "--all_tensor_names"]) == 141
    assert left == [gone]
