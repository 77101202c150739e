"""Programs that say `import tensorflow`, unchanged: by `tensorkeep run`, and by TensorFlow with its names of version 1.

The same losses, step by step, and checkpoints that cross over: each restores what the other has saved, and computes the
same with it.
"""

from __future__ import annotations

import gzip
import json
import os
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import tensorkeep as tk
from tests.support.depth import thinned

HERE = Path(__file__).parent
PROGRAMS = sorted(file.stem for file in (HERE / "tf1_programs").glob("*.py"))
TOLERANCE = {"dcgan": 2e-3, "unet": 1e-3, "mnist_cnn": 1e-3}
"""What rounding, which grows with the steps of training, leaves of agreement; 2e-4 elsewhere."""


DIGITS = ["fully_connected", "mnist_cnn"]
"""Programs that read MNIST's files."""
QUICK = ["dqn"]
"""Programs that compile soon."""
NOISE = {"dcgan": 2e-2}
"""How far variables are apart that matter to nothing: biases before a batch normalization have gradients of rounding
alone, whose signs Adam follows."""


class Ran(NamedTuple):
    """What programs told, and where they saved: by us, and by TensorFlow."""

    folder: Path
    ours: dict[str, Any]
    theirs: dict[str, Any]
    restored: dict[str, Any]
    """What TensorFlow computed with our checkpoints."""


def told(printed: str) -> Any:
    """What the last line that a program printed says."""
    return json.loads(printed.splitlines()[-1])


def write_digits(folder: Path) -> None:
    """Small files of MNIST's form."""
    folder.mkdir()
    random = np.random.RandomState(0)
    for start, count in (("train", 60), ("t10k", 20)):
        pixels = random.randint(0, 255, count * 784).astype(np.uint8).tobytes()
        labels = random.randint(0, 10, count).astype(np.uint8).tobytes()
        for name, header, data in (
            ("images-idx3", struct.pack(">iiii", 2051, count, 28, 28), pixels),
            ("labels-idx1", struct.pack(">ii", 2049, count), labels),
        ):
            (folder / f"{start}-{name}-ubyte.gz").write_bytes(gzip.compress(header + data))


def line(folder: Path, name: str, *options: str) -> list[str]:
    """The command line of a program, which writes below the folder even if it is only to restore."""
    if "--out" not in options:
        options = (*options, "--out", str(folder / "restored" / name))
    data = ["--data_dir", str(folder / "digits")] if name in DIGITS else []
    return [str(HERE / "tf1_programs" / f"{name}.py"), *options, *data]


def run(words: Sequence[str]) -> Any:
    """What a program tells that `tensorkeep run` runs."""
    command = [sys.executable, "-m", "tensorkeep", "run", *words]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return told(ended.stdout)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    folder = tmp_path_factory.mktemp("programs")
    write_digits(folder / "digits")
    lines = []
    for name in PROGRAMS:
        for side in ("ours", "theirs"):
            (folder / side / name).mkdir(parents=True)
        lines.append(line(folder, name, "--out", str(folder / "theirs" / name)))
    ours = {name: run(line(folder, name, "--out", str(folder / "ours" / name))) for name in PROGRAMS}
    lines += [line(folder, name, "--restore", str(folder / "ours" / name / "model.ckpt")) for name in PROGRAMS]
    file = folder / "lines.json"
    file.write_text(json.dumps(lines))
    subprocess.run(
        [sys.executable, "-m", "tests.interop.tf1_program_runs", str(file)],
        cwd=HERE.parents[1],
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        check=True,
        capture_output=True,
    )
    printed = [told(text) for text in json.loads(file.read_text())]
    trained, restored = printed[: len(PROGRAMS)], printed[len(PROGRAMS) :]
    by_name = [dict(zip(PROGRAMS, values, strict=True)) for values in (trained, restored)]
    return Ran(folder, ours, *by_name)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_has_the_losses_that_it_has_under_tensorflow(ran: Ran, name: str) -> None:
    found, expected = ran.ours[name], ran.theirs[name]
    assert len(found["losses"]) >= 4
    tolerance = TOLERANCE.get(name, 2e-4)
    np.testing.assert_allclose(found["losses"], expected["losses"], rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(found["loss"], expected["loss"], rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", PROGRAMS)
def test_checkpoints_have_the_same_variables(ran: Ran, name: str) -> None:
    ours, theirs = (tk.load_tensors(str(ran.folder / side / name / "model.ckpt")) for side in ("ours", "theirs"))
    assert {key: (value.shape, value.dtype) for key, value in ours.items()} == {
        key: (value.shape, value.dtype) for key, value in theirs.items()
    }
    for key, value in ours.items():
        np.testing.assert_allclose(value, theirs[key], rtol=1e-2, atol=NOISE.get(name, 5e-3), err_msg=key)


@pytest.mark.parametrize("name", PROGRAMS)
def test_tensorflow_goes_on_with_our_checkpoint(ran: Ran, name: str) -> None:
    np.testing.assert_allclose(ran.restored[name]["loss"], ran.ours[name]["loss"], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", thinned(PROGRAMS, 4))
def test_we_go_on_with_the_checkpoint_of_tensorflow(ran: Ran, name: str) -> None:
    checkpoint = str(ran.folder / "theirs" / name / "model.ckpt")
    found = run(line(ran.folder, name, "--restore", checkpoint))
    np.testing.assert_allclose(found["loss"], ran.theirs[name]["loss"], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", thinned(sorted(PROGRAMS, key=QUICK.count, reverse=True), len(PROGRAMS)))
def test_a_program_has_the_same_losses_on_a_device_of_jax(ran: Ran, name: str) -> None:
    folder = ran.folder / "jax" / name
    folder.mkdir(parents=True)
    found = run(["--engine", "jax", *line(ran.folder, name, "--out", str(folder))])
    tolerance = TOLERANCE.get(name, 2e-4)
    for expected in (ran.ours[name], ran.theirs[name]):
        np.testing.assert_allclose(found["losses"], expected["losses"], rtol=tolerance, atol=tolerance)
        np.testing.assert_allclose(found["loss"], expected["loss"], rtol=tolerance, atol=tolerance)
