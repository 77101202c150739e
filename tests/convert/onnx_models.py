"""Small models that are exported to ONNX, and what ONNX Runtime makes of the files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort

import tensorkeep.v1 as tf
from tensorkeep.arrays import Array

KERNEL = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
BIAS = np.array([1, 0, -1, 0.5], np.float32)
X = np.linspace(-2, 2, 6, dtype=np.float32).reshape(2, 3)


def network(size: int | None = None) -> tuple[Any, Any]:
    """Builds x -> tanh(x kernel + bias) in the present graph."""
    x = tf.placeholder(tf.float32, [size, 3], name="x")
    kernel = tf.get_variable("kernel", initializer=KERNEL)
    bias = tf.get_variable("bias", initializer=BIAS)
    return x, tf.tanh(tf.nn.bias_add(tf.matmul(x, kernel, name="product"), bias, name="sum"), name="y")


def expected(x: Array = X) -> Array:
    return np.asarray(np.tanh(x @ KERNEL + BIAS))


def saved_model(folder: Path) -> str:
    """A SavedModel of TensorFlow 1 with two signatures; gives its path."""
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = network()
        session.run(tf.global_variables_initializer())
        product = session.graph.get_tensor_by_name("product:0")
        builder = tf.saved_model.Builder(str(folder / "model"))
        signatures = {
            "serving_default": tf.saved_model.predict_signature_def({"features": x}, {"scores": y}),
            "products": tf.saved_model.predict_signature_def({"features": x}, {"products": product}),
        }
        builder.add_meta_graph_and_variables(session, ["serve"], signatures)
        builder.save()
    return str(folder / "model")


def run_file(path: str | Path, **inputs: Array) -> dict[str, Any]:
    """What ONNX Runtime computes from a file, which is checked first."""
    onnx.checker.check_model(str(path), full_check=True)
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [item.name for item in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs), strict=True))
