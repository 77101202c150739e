"""One gibibyte in eight tensors: saving, loading, mapping, and a thousand rows of one large tensor."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import safetensors.numpy
import tensorflow as tf

import tensorkeep as tk
from benchmarks.timing import Contender, Report, medians, spread, table, take_turns
from tensorkeep.arrays import Array
from tensorkeep.io.machine.parallel import default_threads, in_parallel

TENSORS = 8


def make_arrays(size: int) -> dict[str, Array]:
    random = np.random.default_rng(0)
    count = size // TENSORS // 4
    return {
        f"layer_{at}/kernel": random.standard_normal(count, dtype=np.float32).reshape(-1, 256) for at in range(TENSORS)
    }


def saving(folder: Path, size: int, rounds: int) -> Report:
    arrays = make_arrays(size)
    names = sorted(arrays)
    tensors = [tf.constant(arrays[name]) for name in names]
    target = folder / "save"

    def save_tensorflow() -> None:
        tf.raw_ops.SaveV2(
            prefix=str(target / "m"), tensor_names=names, shape_and_slices=[""] * len(names), tensors=tensors
        )

    def save_tensorkeep(durability: tk.Durability) -> Callable[[], object]:
        return lambda: tk.save_checkpoint(target / "m", arrays, tk.SaveOptions(durability=durability))

    def synced(work: Callable[[], object]) -> Callable[[], object]:
        def run() -> None:
            work()
            for name in [*os.listdir(target), "."]:
                descriptor = os.open(target / name, os.O_RDONLY)
                os.fsync(descriptor)
                os.close(descriptor)

        return run

    def write(reserved: bool) -> Callable[[], None]:
        def run() -> None:
            with open(target / "m", "wb", buffering=0) as file:
                if reserved:
                    os.posix_fallocate(file.fileno(), 0, size)
                for array in arrays.values():
                    file.write(array.data)

        return run

    def save_safetensors() -> None:
        safetensors.numpy.save_file(arrays, str(target / "m.safetensors"))

    def save_npz() -> None:
        np.savez(target / "m.npz", allow_pickle=False, **arrays)

    def contender(name: str, work: Callable[[], object]) -> Contender:
        return Contender(name, work, lambda: target.mkdir(parents=True), lambda: shutil.rmtree(target))

    def limits(name: str, work: Callable[[], object]) -> list[Contender]:
        return [contender(name, work)] if hasattr(os, "posix_fallocate") else []

    cached = [
        contender("TensorFlow SaveV2", save_tensorflow),
        contender("tensorkeep", save_tensorkeep(tk.Durability.CACHE)),
        contender("safetensors", save_safetensors),
        contender("numpy.savez", save_npz),
        contender("write(), no space set aside, no checksums", write(False)),
        *limits("limit: write() into space set aside, no checksums", write(True)),
    ]
    durable = [
        contender("TensorFlow SaveV2, then fsync", synced(save_tensorflow)),
        contender("tensorkeep, durable (its default)", save_tensorkeep(tk.Durability.DISK)),
        contender("safetensors, then fsync", synced(save_safetensors)),
        contender("write(), no space set aside, then fsync", synced(write(False))),
        *limits("limit: write() into space set aside, then fsync", synced(write(True))),
    ]
    title = f"Save {size >> 20} MiB in {TENSORS} tensors"
    in_cache, fast = _throughput(cached, size, rounds)
    on_disk, safe = _throughput(durable, size, rounds)
    return Report(
        f"{title}, left to the system's cache on all sides (bar: 1.5 x)\n\n{in_cache}\n\n"
        f"{title}, on the disk when it returns, on all sides\n\n{on_disk}",
        {"save 1 GiB": fast["tensorkeep"], "save 1 GiB, durable": safe["tensorkeep, durable (its default)"]},
    )


def loading(folder: Path, size: int, rounds: int) -> Report:
    arrays = make_arrays(size)
    names = sorted(arrays)
    folder.mkdir(parents=True, exist_ok=True)
    prefix = folder / "load"
    tk.save_checkpoint(prefix, arrays)
    safetensors.numpy.save_file(arrays, str(folder / "load.safetensors"))
    np.savez(folder / "load.npz", allow_pickle=False, **arrays)
    source = next(iter(arrays.values()))

    def load_tensorflow() -> object:
        return tf.raw_ops.RestoreV2(
            prefix=str(prefix), tensor_names=names, shape_and_slices=[""] * len(names), dtypes=[tf.float32] * len(names)
        )

    def load_tensorkeep(options: tk.ReadOptions) -> Callable[[], object]:
        def run() -> object:
            with tk.open_checkpoint(prefix, options) as reader:
                return reader.read_many()

        return run

    def load_npz() -> object:
        with np.load(folder / "load.npz") as file:
            return {name: file[name] for name in file.files}

    def copy_in_memory(threads: int) -> Callable[[], object]:
        return lambda: in_parallel(lambda _: source.copy(), range(TENSORS), threads)

    contenders = [
        Contender("TensorFlow RestoreV2", load_tensorflow),
        Contender("tensorkeep, checked copies (bar: 1.2 x)", load_tensorkeep(tk.ReadOptions())),
        Contender("tensorkeep, zero-copy, checked (bar: 4 x)", load_tensorkeep(tk.ReadOptions(copy=False))),
        Contender("safetensors, copies", lambda: safetensors.numpy.load_file(str(folder / "load.safetensors"))),
        Contender("numpy.load", load_npz),
        Contender("memcpy to fresh memory, one thread", copy_in_memory(1)),
        Contender(f"limit: memcpy to fresh memory, {default_threads()} threads", copy_in_memory(default_threads())),
    ]
    body, ratios = _throughput(contenders, size, rounds)
    shutil.rmtree(folder)
    return Report(
        f"Load {size >> 20} MiB in {TENSORS} tensors\n\n{body}",
        {"load 1 GiB, checked copies": ratios[contenders[1].name], "load 1 GiB, zero-copy": ratios[contenders[2].name]},
    )


def rows(folder: Path, size: int, rounds: int) -> Report:
    random = np.random.default_rng(0)
    big = random.standard_normal(size // 4, dtype=np.float32).reshape(-1, 256)
    chosen = random.integers(0, big.shape[0], 1000)
    tk.save_checkpoint(folder / "rows", {"table": big})
    expected = big[chosen]

    def read_rows() -> None:
        with tk.open_checkpoint(folder / "rows") as reader:
            assert np.array_equal(reader.read_rows("table", chosen), expected)

    def read_whole() -> None:
        with tk.open_checkpoint(folder / "rows") as reader:
            assert np.array_equal(reader.read("table")[chosen], expected)

    def read_by_tensorflow() -> None:
        reader = tf.train.load_checkpoint(str(folder / "rows"))
        assert np.array_equal(reader.get_tensor("table")[chosen], expected)

    contenders = [
        Contender("tensorkeep, the whole tensor", read_whole),
        Contender("tensorkeep, 1,000 rows (bar: 20 x)", read_rows),
        Contender("TensorFlow, the whole tensor", read_by_tensorflow),
    ]
    seconds = take_turns(contenders, rounds)
    middle = medians(seconds)
    base = middle[contenders[0].name]
    body = [[name, f"{value * 1000:.2f}", f"{base / value:.1f} x"] for name, value in middle.items()]
    shutil.rmtree(folder)
    title = f"1,000 random rows of a tensor of {size >> 20} MiB, from opening the checkpoint on"
    return Report(f"{title}\n\n" + table(["", "ms", "speed, to the whole tensor"], body))


def _throughput(contenders: list[Contender], size: int, rounds: int) -> tuple[str, dict[str, float]]:
    """A table of the contenders, and their speeds in terms of the first of them."""
    seconds = take_turns(contenders, rounds)
    middle = medians(seconds)
    ratios = {name: middle[contenders[0].name] / value for name, value in middle.items()}
    rows = [
        [name, f"{size / value / 1e9:.2f}", f"{ratios[name]:.2f} x", f"{value:.3f} ({spread(seconds[name])})"]
        for name, value in middle.items()
    ]
    return table(["", "GB/s", "speed, to TensorFlow", "seconds: median (range)"], rows), ratios
