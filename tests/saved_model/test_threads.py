"""A loaded model, and a session, in many threads at once: every answer is that of its own question."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import tensorkeep as tk
import tensorkeep.v1 as tf

THREADS = 8
QUESTIONS = 200


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """A model with two signatures and a loop, so that runs take a while and have places of their own."""
    path = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        w = tf.get_variable("w", initializer=np.eye(4, dtype=np.float32))
        _, powered = tf.while_loop(lambda i, _: i < 5, lambda i, y: (i + 1, tf.matmul(y, w) + 1.0), (0, x))
        session.run(tf.global_variables_initializer())
        builder = tf.saved_model.builder.SavedModelBuilder(path)
        infos = {name: tf.saved_model.build_tensor_info(t) for name, t in {"x": x, "y": powered, "s": x + 10.0}.items()}
        signatures = {
            key: tf.saved_model.build_signature_def({"x": infos["x"]}, {"out": infos[out]}, "predict")
            for key, out in (("plus5", "y"), ("plus10", "s"))
        }
        builder.add_meta_graph_and_variables(session, ["serve"], signatures)
        builder.save()
    return path


def asked(number: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.full((1 + number % 7, 4), number, np.float32)


def test_signatures_may_be_called_by_many_threads(folder: str) -> None:
    model = tk.load_saved_model(folder)

    def answer(number: int) -> bool:
        key, added = (("plus5", 5.0), ("plus10", 10.0))[number % 2]
        return np.array_equal(model.signatures[key](x=asked(number))["out"], asked(number) + added)

    with ThreadPoolExecutor(THREADS) as pool:
        assert all(pool.map(answer, range(QUESTIONS)))


def test_the_first_calls_may_come_at_the_same_time(folder: str) -> None:
    for _ in range(5):
        signature = tk.load_saved_model(folder).signatures["plus5"]
        with ThreadPoolExecutor(THREADS) as pool:
            answers = list(pool.map(lambda number, call=signature: call(x=asked(number))["out"], range(THREADS)))
        assert all(np.array_equal(found, asked(number) + 5.0) for number, found in enumerate(answers))


def test_a_session_may_be_run_by_many_threads(folder: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.saved_model.loader.load(session, ["serve"], folder)
        signature = tf.saved_model.loader.load(session, ["serve"], folder, import_scope="again").signature_def["plus5"]
        fetched, fed = signature.outputs["out"].name, signature.inputs["x"].name

        def answer(number: int) -> bool:
            return np.array_equal(session.run(fetched, {fed: asked(number)}), asked(number) + 5.0)

        with ThreadPoolExecutor(THREADS) as pool:
            assert all(pool.map(answer, range(QUESTIONS)))
