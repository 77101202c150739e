"""Whole processes: from their start to their end, ours beside TensorFlow's, in turn.

Both run from compiled bytecode, as installed packages do: it is kept in a folder of its own, which the first round,
that is not counted, fills.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import numpy as np

import tensorkeep as tk
from benchmarks.timing import Contender, Report, Work, medians, spread, table, take_turns

BARS: Final = {"saved-model run": 8.0, "list": 12.0, "list, many": 5.0}
ALONE: Final = {"--help": 0.150, "list": 0.150}
_TENSORFLOW: Final = "tensorflow.python.tools"


def start(folder: Path, count: int, rounds: int) -> Report:
    """Times `saved-model run` on a small model, and `list` on a small checkpoint and on one of `count` tensors."""
    folder.mkdir(parents=True)
    model, inputs, checkpoint = _files(folder)
    many = str(folder / "many" / "model-1")
    tk.save_checkpoint(many, {f"layer{number}/kernel": np.ones(2, np.float32) for number in range(count)})
    ours = [sys.executable, "-m", "tensorkeep"]
    theirs = [sys.executable, "-m"]
    run = ["run", "--dir", model, "--tag_set", "serve", "--signature_def", "serving_default", "--inputs", f"x={inputs}"]
    pairs = {
        "saved-model run": ([*ours, "saved-model", *run], [*theirs, f"{_TENSORFLOW}.saved_model_cli", *run]),
        "list": (
            [*ours, "list", checkpoint],
            [*theirs, f"{_TENSORFLOW}.inspect_checkpoint", f"--file_name={checkpoint}"],
        ),
        "list, many": (
            [*ours, "list", many],
            [*theirs, f"{_TENSORFLOW}.inspect_checkpoint", f"--file_name={many}"],
        ),
    }
    environment = bytecode_environment(folder)
    rows, bars = [], {}
    for name, (our_command, their_command) in pairs.items():
        seconds = take_turns(
            [_contender("tensorkeep", our_command, environment), _contender("TensorFlow", their_command, environment)],
            rounds,
        )
        middle = medians(seconds)
        ratio = middle["TensorFlow"] / middle["tensorkeep"]
        shown = (f"{middle['TensorFlow']:.2f}", f"{middle['tensorkeep']:.3f}", f"{ratio:.1f}", f"{BARS[name]:.0f}")
        rows.append([name, *shown, spread(seconds["tensorkeep"])])
        bars[f"{name}, whole process"] = ratio
    head = ["", "TensorFlow s", "tensorkeep s", "times faster", "bar", "ours, s: range"]
    alone = _alone({"--help": ["--help"], "list": ["list", checkpoint]}, environment, rounds)
    text = f"{table(head, rows)}\n\n{alone}"
    return Report(f"Starting, working and ending: whole processes\n\n{text}", bars)


def _alone(commands: dict[str, list[str]], environment: dict[str, str], rounds: int) -> str:
    contenders = [
        _contender(name, [sys.executable, "-m", "tensorkeep", *words], environment) for name, words in commands.items()
    ]
    seconds = take_turns(contenders, rounds)
    rows = [
        [f"tensorkeep {name}", f"{middle:.3f}", f"{ALONE[name]:.3f}", spread(seconds[name])]
        for name, middle in medians(seconds).items()
    ]
    return table(["", "s", "bar", "range"], rows)


def _files(folder: Path) -> tuple[str, str, str]:
    """A small model, an input for it, and its variables as a checkpoint."""
    weights = np.random.default_rng(0).normal(size=(8, 3)).astype(np.float32)
    np.save(folder / "x.npy", np.ones((2, 8), np.float32))
    checkpoint = str(folder / "checkpoint" / "model-1")
    tk.save_checkpoint(checkpoint, {f"layer{number}/kernel": weights for number in range(20)})
    script = (
        "import sys, tensorflow.compat.v1 as tf\n"
        "tf.disable_v2_behavior()\n"
        "x = tf.placeholder(tf.float32, [None, 8], name='x')\n"
        "kernel = tf.get_variable('kernel', [8, 3])\n"
        "y = tf.nn.softmax(tf.matmul(x, kernel))\n"
        "with tf.Session() as session:\n"
        "    session.run(tf.global_variables_initializer())\n"
        "    tf.saved_model.simple_save(session, sys.argv[1], {'x': x}, {'y': y})\n"
    )
    model = str(folder / "model")
    subprocess.run([sys.executable, "-c", script, model], check=True, capture_output=True)
    return model, str(folder / "x.npy"), checkpoint


def bytecode_environment(folder: Path) -> dict[str, str]:
    """The environment of a process whose bytecode is kept in a folder."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}


def process(command: list[str], environment: dict[str, str]) -> Work:
    """What runs a process to its end."""
    return lambda: subprocess.run(command, env=environment, check=True, capture_output=True)


def _contender(name: str, command: list[str], environment: dict[str, str]) -> Contender:
    return Contender(name, process(command, environment))
