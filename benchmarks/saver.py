"""Savers beside TensorFlow's `tf.compat.v1.train.Saver`: one program text for both, in one process, in turn."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow

import tensorkeep.v1
from benchmarks.saver_model import VARIABLES, Model
from benchmarks.timing import Contender, Report, back_memory, medians, spread, table, take_turns
from tensorkeep.io.files.filesystem import Durability

THEIRS = tensorflow.compat.v1
OURS: Any = tensorkeep.v1
_SAVES, _STALLS = 9, 15  # rounds at least: memory that is new to the machine makes some of them slow


def _fresh(folder: Path) -> Callable[[], None]:
    def prepare() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)

    return prepare


def _rows(seconds: dict[str, list[float]], size: int, reference: str) -> list[list[str]]:
    middle = medians(seconds)
    return [
        [
            name,
            f"{size / middle[name] / 1e9:.2f}",
            f"{middle[reference] / middle[name]:.2f} x",
            f"{middle[name]:.3f} ({spread(seconds[name])})",
        ]
        for name in seconds
    ]


def _large(folder: Path, size: int, rounds: int) -> tuple[str, dict[str, float]]:
    elements = size // VARIABLES // 4
    theirs = Model(THEIRS, VARIABLES, elements)
    cached = Model(OURS, VARIABLES, elements, durability=Durability.CACHE)
    durable = Model(OURS, VARIABLES, elements)
    target = folder / "save"
    prepare = _fresh(target)
    seconds = {}
    # What has to reach the disk keeps it busy for a while: it takes its turns by itself.
    for models in ({"TensorFlow": theirs, "tensorkeep": cached}, {"tensorkeep, durable (its default)": durable}):
        contenders = [
            Contender(name, lambda m=model: m.save(target), prepare, prepare) for name, model in models.items()
        ]
        seconds |= take_turns(contenders, max(rounds, _SAVES), backed=size)
    head = ["", "GB/s", "speed, to TensorFlow", "seconds: median (range)"]
    text = [
        f"Saver.save of {size >> 20} MiB in {VARIABLES} variables (bar: 1.3 x)",
        table(head, _rows(seconds, size, "TensorFlow")),
    ]
    middle = medians(seconds)
    bars = {"Saver.save 1 GiB": middle["TensorFlow"] / middle["tensorkeep"]}

    _fresh(target)()
    theirs.save(target)
    models = {"TensorFlow": theirs, "tensorkeep": cached}
    seconds = take_turns(
        [Contender(name, lambda m=model: m.restore(target)) for name, model in models.items()], rounds, backed=size
    )
    text += ["Saver.restore of the same over old values (bar: 1.2 x)", table(head, _rows(seconds, size, "TensorFlow"))]
    middle = medians(seconds)
    bars["Saver.restore 1 GiB"] = middle["TensorFlow"] / middle["tensorkeep"]
    seconds = take_turns(
        [Contender(name, lambda m=model: m.restore(target), model.restart) for name, model in models.items()],
        rounds,
        backed=size,
    )
    text += ["Saver.restore of the same in a new session (bar: 1.2 x)", table(head, _rows(seconds, size, "TensorFlow"))]
    text += _stall(folder, cached, size, rounds)
    return "\n\n".join(text), bars


def _stall(folder: Path, model: Model, size: int, rounds: int) -> list[str]:
    """How long training stands still for a save in the background: the call, and what the next step takes longer."""
    target = folder / "stall"
    model.restore(folder / "save")
    arrays = [np.ones(size // VARIABLES // 4, np.float32) for _ in range(VARIABLES)]

    def copy() -> object:
        return [array.copy() for array in arrays]

    def step() -> float:
        start = time.perf_counter()
        model.session.run([item.op for item in model.step])
        return time.perf_counter() - start

    copies, calls, steps, plain = [], [], [], []
    for _ in range(max(rounds, _STALLS) + 1):
        _fresh(target)()
        back_memory(2 * size)
        start = time.perf_counter()
        kept = copy()
        copies.append(time.perf_counter() - start)
        del kept
        plain.append(step())
        back_memory(2 * size)
        start = time.perf_counter()
        handle = model.save(target, wait=False)
        calls.append(time.perf_counter() - start)
        steps.append(step())
        handle.result()
    longer = [call + max(0.0, late - usual) for call, late, usual in zip(calls, steps, plain, strict=True)]
    seconds = {
        "a copy of all variables in memory": copies[1:],
        "save(wait=False), until it returns": calls[1:],
        "the same, and what the next step takes longer": longer[1:],
    }
    middle = medians(seconds)
    plainly = middle["a copy of all variables in memory"]
    rows = [
        [name, f"{taken * 1e3:.1f}", f"{taken / plainly:.2f}", spread(seconds[name])] for name, taken in middle.items()
    ]
    return [
        f"Stall of training for a save of {size >> 20} MiB in the background (bar: 1.3 of a copy)",
        table(["", "ms", "to a copy", "seconds: range"], rows),
    ]


class _Apart:
    """A model of small variables in a process of its own, which saves or restores when it is told to."""

    def __init__(self, name: str, folder: Path, count: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.saver_model", name.lower(), str(folder / name), str(count)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=_environment(),
        )

    def seconds(self, work: str) -> float:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(work, file=self._process.stdin, flush=True)
        return float(self._process.stdout.readline())

    def close(self) -> None:
        self._process.communicate()


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def _small(folder: Path, count: int, rounds: int) -> str:
    models = {name: _Apart(name, folder / "small", count) for name in ("TensorFlow", "tensorkeep")}
    text = []
    for work in ("save", "restore"):
        seconds: dict[str, list[float]] = {name: [] for name in models}
        for turn in range(rounds + 1):  # the first one warms up
            for name, model in models.items():
                taken = model.seconds(work)
                if turn:
                    seconds[name].append(taken)
        middle = medians(seconds)
        rows = [
            [name, f"{middle[name] * 1e3:.0f}", f"{middle['TensorFlow'] / middle[name]:.2f} x", spread(seconds[name])]
            for name in seconds
        ]
        text += [
            f"{count:,} small variables, each in a process of its own: Saver.{work} (bar: 1 x)",
            table(["", "ms", "speed, to TensorFlow", "seconds: range"], rows),
        ]
    for model in models.values():
        model.close()
    return "\n\n".join(text)


def _meta_graph(folder: Path, rounds: int) -> str:
    path = str(folder / "graph.meta")
    with THEIRS.Graph().as_default():
        x = THEIRS.placeholder(THEIRS.float32, [10])
        for step in range(10_000):
            with THEIRS.name_scope(f"layer_{step % 100}"):
                x = THEIRS.identity(THEIRS.multiply(x, x)) if step % 2 else THEIRS.tanh(x + x)
        for i in range(50):
            THEIRS.get_variable(f"v{i}", [4], use_resource=False)
        THEIRS.train.Saver().export_meta_graph(path)

    def work(tf: Any) -> Callable[[], object]:
        def load() -> object:
            graph = tf.Graph()
            with graph.as_default():
                tf.train.import_meta_graph(path)
            return graph

        return load

    seconds = take_turns([Contender("TensorFlow", work(THEIRS)), Contender("tensorkeep", work(OURS))], rounds)
    middle = medians(seconds)
    rows = [
        [name, f"{middle[name] * 1e3:.0f}", f"{middle[name] / middle['TensorFlow']:.2f}", spread(seconds[name])]
        for name in seconds
    ]
    return "\n\n".join(
        [
            "import_meta_graph of 20,000 nodes (bar: 0.7)",
            table(["", "ms", "time, to TensorFlow's", "seconds: range"], rows),
        ]
    )


_CHILD = """
import os, sys, threading, time
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
who, path, size, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
if who == "tensorflow":
    import tensorflow.compat.v1 as tf
else:
    import tensorkeep.v1 as tf

def anonymous():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("RssAnon"))

with tf.Graph().as_default():
    zeros = tf.ones_initializer()
    for i in range(count):
        tf.get_variable(f"layer_{i}/kernel", [size // count // 4], initializer=zeros, use_resource=False)
    initialize = tf.global_variables_initializer()
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run(initialize)
        before = peak = anonymous()
        done = threading.Event()

        def watch():
            global peak
            while not done.is_set():
                peak = max(peak, anonymous())
                time.sleep(0.0005)

        watcher = threading.Thread(target=watch)
        watcher.start()
        saver.restore(session, path)
        peak = max(peak, anonymous())
        done.set()
        watcher.join()
print(peak - before)
"""


def _memory(folder: Path, size: int) -> str:
    def measure(who: str) -> float:
        done = subprocess.run(
            [sys.executable, "-c", _CHILD, who, str(folder / "save" / "m"), str(size), str(VARIABLES)],
            check=True,
            capture_output=True,
            text=True,
            env=_environment(),
        )
        return int(done.stdout) / (1 << 20)

    largest = size / VARIABLES / (1 << 20)
    rows = [[name, f"{measure(name.lower()):.0f} MiB"] for name in ("TensorFlow", "tensorkeep")]
    title = f"Saver.restore of {size >> 20} MiB over old values: peak memory beyond them (bar: {largest:.0f} MiB)"
    return f"{title}\n\n{table(['', 'extra'], rows)}"


def savers(folder: Path, size: int, rounds: int, count: int = 20_000) -> Report:
    THEIRS.disable_control_flow_v2()
    folder.mkdir(parents=True, exist_ok=True)
    text, bars = _large(folder, size, rounds)
    parts = [text, _memory(folder, size), _small(folder, count, rounds), _meta_graph(folder, rounds)]
    return Report("\n\n".join(parts), bars)
