"""Fifty thousand small tensors: saving, listing, reading."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import tensorflow as tf

import tensorkeep as tk
from benchmarks.timing import Contender, Report, medians, spread, table, take_turns


def small_tensors(folder: Path, count: int, rounds: int) -> Report:
    random = np.random.default_rng(0)
    arrays = {
        f"model/layer_{at // 10:05d}/block_{at % 10}/kernel": random.standard_normal(16, dtype=np.float32)
        for at in range(count)
    }
    names = sorted(arrays)
    tensors = [tf.constant(arrays[name]) for name in names]
    whole = [""] * count
    target = folder / "save"
    folder.mkdir(parents=True, exist_ok=True)
    prefix = str(folder / "small")
    tk.save_checkpoint(prefix, arrays)

    def save_tensorflow() -> None:
        tf.raw_ops.SaveV2(prefix=str(target / "m"), tensor_names=names, shape_and_slices=whole, tensors=tensors)

    def save_arrays_by_tensorflow() -> None:
        made = [tf.constant(arrays[name]) for name in names]
        tf.raw_ops.SaveV2(prefix=str(target / "m"), tensor_names=names, shape_and_slices=whole, tensors=made)

    def save_tensorkeep() -> None:
        tk.save_checkpoint(target / "m", arrays, tk.SaveOptions(durability=tk.Durability.CACHE))

    def list_tensorflow() -> object:
        reader = tf.train.load_checkpoint(prefix)
        return reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()

    def list_shapes_by_tensorflow() -> object:
        return tf.train.list_variables(prefix)

    def read_tensorflow() -> object:
        reader = tf.train.load_checkpoint(prefix)
        return {name: reader.get_tensor(name) for name in names}

    def restore_tensorflow() -> object:
        return tf.raw_ops.RestoreV2(
            prefix=prefix, tensor_names=names, shape_and_slices=whole, dtypes=[tf.float32] * count
        )

    def read_tensorkeep() -> object:
        with tk.open_checkpoint(prefix) as reader:
            return reader.read_many()

    def read_one_by_one() -> object:
        with tk.open_checkpoint(prefix) as reader:
            return {name: reader.read(name) for name in reader}

    def saving(name: str, work: object) -> Contender:
        assert callable(work)
        return Contender(name, work, lambda: target.mkdir(parents=True), lambda: shutil.rmtree(target))

    groups = {
        "save": [
            saving("TensorFlow SaveV2, from its own tensors", save_tensorflow),
            saving("TensorFlow SaveV2, from arrays", save_arrays_by_tensorflow),
            saving("tensorkeep, from arrays", save_tensorkeep),
        ],
        "open and list, with types and shapes": [
            Contender("TensorFlow shape and dtype maps", list_tensorflow),
            Contender("TensorFlow list_variables, no types", list_shapes_by_tensorflow),
            Contender("tensorkeep", lambda: tk.list_tensors(prefix)),
        ],
        "open and read": [
            Contender("TensorFlow get_tensor, one by one", read_tensorflow),
            Contender("TensorFlow RestoreV2, all at once", restore_tensorflow),
            Contender("tensorkeep read_many", read_tensorkeep),
            Contender("tensorkeep read, one by one", read_one_by_one),
        ],
    }
    reports = []
    bars: dict[str, float] = {}
    for title, contenders in groups.items():
        seconds = take_turns(contenders, rounds)
        middle = medians(seconds)
        best = min(value for name, value in middle.items() if name.startswith("TensorFlow"))
        rows = [
            [name, f"{value * 1000:.0f}", f"{best / value:.2f} x", spread(seconds[name])]
            for name, value in middle.items()
        ]
        head = ["", "ms", "speed, to the best of TensorFlow", "seconds: range"]
        ours = next(value for name, value in middle.items() if name.startswith("tensorkeep"))
        bars[f"{title.split(',')[0]} 50,000 small tensors"] = best / ours
        reports.append(f"{count:,} small tensors: {title} (bar: 1 x)\n\n" + table(head, rows))
    shutil.rmtree(folder)
    return Report("\n\n".join(reports), bars)
