"""Commands on large checkpoints: rename beside a script of TensorFlow, verify, average, and a way to safetensors."""

from __future__ import annotations

import mmap
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np

import tensorkeep as tk
from benchmarks.start import bytecode_environment, process
from benchmarks.timing import Contender, Report, medians, spread, table, take_turns
from tensorkeep.checkpoint.checking import check_checkpoint

TENSORS: Final = 32
AVERAGED: Final = 5
_CACHE: Final = tk.Durability.CACHE

_TENSORFLOW_RENAMES: Final = """
import sys
import tensorflow as tf
source, target = sys.argv[1:]
reader = tf.train.load_checkpoint(source)
names = sorted(reader.get_variable_to_shape_map())
values = [tf.constant(reader.get_tensor(name)) for name in names]
tf.raw_ops.SaveV2(
    prefix=target, tensor_names=["tower/" + name for name in names], shape_and_slices=[""] * len(names), tensors=values
)
"""

_AVERAGES: Final = """
import sys, threading, time
import tensorkeep as tk

target, *sources = sys.argv[1:]

def anonymous():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("RssAnon"))

tk.edit.average  # imported before the clock starts
peak = anonymous()
done = threading.Event()

def watch():
    global peak
    while not done.wait(0.005):
        peak = max(peak, anonymous())

watcher = threading.Thread(target=watch)
watcher.start()
start = time.perf_counter()
tk.edit.average(sources, target, tk.edit.EditOptions(overwrite=True, durability=tk.Durability.CACHE))
seconds = time.perf_counter() - start
done.set()
watcher.join()
print(seconds, peak)
"""


def editing(folder: Path, size: int, rounds: int) -> Report:
    """Times edits of checkpoints of `size` bytes, and of five of a quarter of that."""
    folder.mkdir(parents=True)
    source = str(folder / "source" / "model")
    _make(source, size, 0)
    texts, bars = [], {}
    for text, more in (
        _renaming(folder, source, size, rounds),
        _verifying(source, size, rounds),
        _converting(folder, source, size, rounds),
    ):
        texts.append(text)
        bars.update(more)
    shutil.rmtree(folder / "source")
    texts.append(_averaging(folder, size // 4, rounds))
    return Report("\n\n".join(("Commands on large checkpoints", *texts)), bars)


def _make(prefix: str, size: int, seed: int) -> None:
    """A checkpoint of that size, in tensors of normal numbers."""
    random = np.random.default_rng(seed)
    elements = size // TENSORS // 4
    block = random.standard_normal(min(elements, 1 << 20), dtype=np.float32)
    repeats = -(-elements // block.size)

    def chunks(shift: int) -> Any:
        for at in range(repeats):
            count = min(block.size, elements - at * block.size)
            yield np.roll(block, shift * 7 + at)[:count]

    sources = {f"layer_{at}/kernel": tk.ArraySource(np.float32, (elements,), chunks(at)) for at in range(TENSORS)}
    tk.save_checkpoint(prefix, sources, tk.SaveOptions(durability=_CACHE))


def _renaming(folder: Path, source: str, size: int, rounds: int) -> tuple[str, dict[str, float]]:
    environment = bytecode_environment(folder)
    target = folder / "renamed"

    def prepare() -> None:
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()

    ours = [sys.executable, "-m", "tensorkeep", "rename", source, str(target / "model"), "--add-scope", "tower"]
    theirs = [sys.executable, "-c", _TENSORFLOW_RENAMES, source, str(target / "model")]
    contenders = {"TensorFlow, loads and saves": theirs, "tensorkeep rename": ours}
    seconds = take_turns(
        [Contender(name, process(words, environment), prepare, prepare) for name, words in contenders.items()], rounds
    )
    middle = medians(seconds)
    ratio = middle["TensorFlow, loads and saves"] / middle["tensorkeep rename"]
    rows = [[name, f"{middle[name]:.3f}", spread(seconds[name])] for name in seconds]
    title = f"rename of {size >> 20} MiB, whole processes (bar: under 1 s and 20 times faster; is {ratio:.0f} times)"
    return f"{title}\n\n{table(['', 's', 'range'], rows)}", {"rename, whole process": ratio}


def _verifying(source: str, size: int, rounds: int) -> tuple[str, dict[str, float]]:
    seconds = take_turns([Contender("verify", lambda: check_checkpoint(source))], rounds)
    speed = size / medians(seconds)["verify"] / 1e9
    rows = [["verify", f"{speed:.2f}", spread(seconds["verify"])]]
    return f"verify of {size >> 20} MiB, warm (bar: 3 GB/s)\n\n{table(['', 'GB/s', 's: range'], rows)}", {}


def _converting(folder: Path, source: str, size: int, rounds: int) -> tuple[str, dict[str, float]]:
    target = folder / "converted"

    def prepare() -> None:
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()

    data = f"{source}.data-00000-of-00001"
    options = tk.convert.ConvertOptions(durability=_CACHE)
    copy = ["cp", "--reflink=never", data, str(target / "copy")]
    contenders = [
        Contender("cp", lambda: subprocess.run(copy, check=True), prepare, prepare),
        Contender(
            "to safetensors",
            lambda: tk.convert.convert(source, str(target / "model.safetensors"), options=options),
            prepare,
            prepare,
        ),
    ]
    seconds = take_turns(contenders, rounds)
    middle = medians(seconds)
    rows = [
        [name, f"{size / middle[name] / 1e9:.2f}", f"{middle['cp'] / middle[name]:.2f}", spread(seconds[name])]
        for name in seconds
    ]
    head = ["", "GB/s", "speed, to cp", "s: range"]
    return f"checkpoint of {size >> 20} MiB to safetensors (bar: 0.7 of cp)\n\n{table(head, rows)}", {}


def _averaging(folder: Path, size: int, rounds: int) -> str:
    sources = [str(folder / "averaged" / f"model-{number}") for number in range(AVERAGED)]
    for number, source in enumerate(sources):
        _make(source, size, number)
    target = folder / "average"
    target.mkdir()
    peaks: list[int] = []
    measured: list[float] = []

    def average() -> None:
        words = [sys.executable, "-c", _AVERAGES, str(target / "model"), *sources]
        done = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()
        measured.append(float(done[0]))
        peaks.append(int(done[1]))

    files = [f"{source}.data-00000-of-00001" for source in sources]
    plain = Contender("read all, write one", lambda: _read_and_write(files, target / "plain"))
    seconds = take_turns([plain, Contender("average", average)], rounds)
    own = sorted(measured[1:])
    middle, least = own[len(own) // 2], medians(seconds)["read all, write one"]
    rows = [
        ["read all, write one", f"{least:.2f}", "1", "", spread(seconds["read all, write one"])],
        ["average", f"{middle:.2f}", f"{middle / least:.2f}", f"{max(peaks) >> 20}", spread(own)],
    ]
    head = ["", "s", "time, to reading and writing", "peak MiB", "s: range"]
    title = f"average of {AVERAGED} x {size >> 20} MiB (bars: 1.5, 256 MiB)"
    return f"{title}\n\n{table(head, rows)}"


def _read_and_write(sources: list[str], target: Path) -> None:
    buffer = memoryview(mmap.mmap(-1, 1 << 20))  # the beginning of a page, where data is copied to fastest
    size = 0
    for source in sources:
        with open(source, "rb", buffering=0) as file:
            size = 0
            while count := file.readinto(buffer):
                size += count
    with open(target, "wb", buffering=0) as file:
        for _ in range(size >> 20):
            file.write(buffer)
    target.unlink()
