"""Loading a large SavedModel, and calling small ones at batch 1, beside TensorFlow."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import tensorflow as tf

from benchmarks.timing import Contender, Report, medians, spread, table, take_turns
from benchmarks.zoo import measured
from tensorkeep.saved_model.load.model_loading import load_saved_model
from tests.interop.model_zoo import ZOO

_CALLS = {"dense": 0.3, "LSTM": 1.5, "transformer": 1.6, "MobileNetV2": 5.0}  # the most of TensorFlow's time
_LAYERS = 25  # of 4 MiB each


def _export_large(folder: str) -> None:
    module = tf.Module()
    module.kernels = [tf.Variable(tf.random.normal([1024, 1024]) / 32) for _ in range(_LAYERS)]

    @tf.function(input_signature=[tf.TensorSpec([None, 1024], tf.float32)])
    def call(x: tf.Tensor) -> dict[str, tf.Tensor]:
        for kernel in module.kernels:
            x = tf.tanh(x @ kernel)
        return {"y": x}

    module.call = call
    tf.saved_model.save(module, folder, signatures=call)


def _theirs(folder: str, x: np.ndarray) -> object:
    model = tf.saved_model.load(folder)
    return model, model.signatures["serving_default"](x=tf.constant(x))  # the model is let go of off the clock


def _ours(folder: str, x: np.ndarray) -> object:
    model = load_saved_model(folder)
    return model, model.signatures["serving_default"](x=x)


def models(folder: Path, rounds: int) -> Report:
    """The bars of loading and calling."""
    folder.mkdir(parents=True, exist_ok=True)
    large = str(folder / "large")
    _export_large(large)
    x = np.ones((1, 1024), np.float32)
    contenders = [
        Contender("TensorFlow", lambda: _theirs(large, x)),
        Contender("tensorkeep", lambda: _ours(large, x)),
    ]
    seconds = take_turns(contenders, rounds, backed=1 << 28)
    middle = medians(seconds)
    faster = middle["TensorFlow"] / middle["tensorkeep"]
    loads = [
        [name, f"{middle[name]:.3f}", f"{middle['TensorFlow'] / middle[name]:.2f} x", spread(seconds[name])]
        for name in seconds
    ]
    calls = []
    for name, bar in _CALLS.items():
        row = measured(name, ZOO[name], str(folder / name.replace(" ", "_") / str(time.monotonic_ns())), rounds)
        calls.append([name, *row[-3:], f"{bar}"])
    text = [
        "Loading a SavedModel of 100 MB, and its first answer (bar: 2 x)",
        table(["", "s", "speed, to TensorFlow", "seconds: range"], loads),
        "A call at batch 1",
        table(["", "ms", "TensorFlow, ms", "of TensorFlow's", "bar"], calls),
    ]
    return Report("\n\n".join(text), {"load a SavedModel of 100 MB": faster})
