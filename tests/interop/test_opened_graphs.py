"""Graphs that TensorFlow wrote, opened here by name, trained on, and given back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow

import tensorkeep as tk

tf = tensorflow.compat.v1

BATCH = {"x": np.array([[1, 2], [3, 4]], np.float32), "wanted": np.array([[1], [2]], np.float32)}


def build(optimizer: str) -> None:
    """A regression, with what trains it."""
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    wanted = tf.placeholder(tf.float32, [None, 1], name="wanted")
    weights = tf.get_variable("weights", [2, 1], initializer=tf.ones_initializer(), use_resource=optimizer == "Adam")
    loss = tf.reduce_mean(tf.square(tf.matmul(x, weights, name="predicted") - wanted), name="loss")
    getattr(tf.train, f"{optimizer}Optimizer")(0.01).minimize(loss, name="train")


def fed() -> dict[str, Any]:
    return {f"{name}:0": value for name, value in BATCH.items()}


@pytest.mark.parametrize("optimizer", ["GradientDescent", "Adam", "Adagrad"])
def test_a_graph_of_tensorflow_is_trained_on_here_and_goes_on_there(optimizer: str, tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        build(optimizer)
        session.run(tf.global_variables_initializer())
        session.run("train", fed())
        prefix = tf.train.Saver().save(session, str(tmp_path / "theirs"))
        expected = [session.run(["loss:0", "train"], fed())[0] for _ in range(5)]

    with tk.open_graph(prefix) as graph:
        graph.restore()
        losses = [graph.run(["loss", "train"], BATCH)[0] for _ in range(3)]
        saved = graph.save(tmp_path / "ours")
    np.testing.assert_allclose(losses, expected[:3], rtol=1e-5)

    with tf.Graph().as_default(), tf.Session() as session:
        saver = tf.train.import_meta_graph(f"{saved}.meta")
        saver.restore(session, saved)
        rest = [session.run(["loss:0", "train"], fed())[0] for _ in range(2)]
    np.testing.assert_allclose(rest, expected[3:], rtol=1e-5)


def test_messages_of_tensorflow_are_opened(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph, tf.Session() as session:
        build("Adagrad")
        session.run(tf.global_variables_initializer())
        prefix = tf.train.Saver().save(session, str(tmp_path / "theirs"))
        expected = session.run("predicted:0", fed())
        messages = [graph.as_graph_def(), tf.train.export_meta_graph()]
    for message in messages:
        with tk.open_graph(message) as opened:
            opened.restore(prefix)
            np.testing.assert_allclose(opened.run("predicted", {"x": BATCH["x"]}), expected, rtol=1e-6)
