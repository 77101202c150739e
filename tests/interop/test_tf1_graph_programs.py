"""Programs for parts of TensorFlow 1 that TensorFlow 2 lacks, by `tensorkeep run`; their graphs by TensorFlow.

From the first checkpoint that a program saved, TensorFlow runs the graph that it saved with it, input pipeline and
optimizer included, and has the same losses, step by step. Checkpoints and exported models cross over.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

import tensorkeep as tk
from tensorkeep.proto.messages import Example
from tests.support.depth import thinned

HERE = Path(__file__).parent
PROGRAMS = sorted(file.stem for file in (HERE / "tf1_graph_programs").glob("*.py"))
TOLERANCE = 5e-4


class Runs:
    """What programs told, and what TensorFlow did with their graphs: each when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ours: dict[str, Any] = {}
        self._theirs: dict[str, Any] = {}

    def ours(self, name: str) -> Any:
        if name not in self._ours:
            self._ours[name] = run(name, "--out", str(self._folder / name))
        return self._ours[name]

    def theirs(self, name: str) -> Any:
        if name not in self._theirs:
            self._theirs[name] = trained_by_tensorflow(self.ours(name))
        return self._theirs[name]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs(tmp_path_factory.mktemp("programs"))


def run(name: str, *options: str) -> Any:
    """What a program tells that `tensorkeep run` runs."""
    command = [sys.executable, "-m", "tensorkeep", "run", str(HERE / "tf1_graph_programs" / f"{name}.py"), *options]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout.splitlines()[-1])


def image_question() -> tuple[str, dict[str, Any]]:
    return "serving_default", {"image": np.random.RandomState(0).normal(size=(3, 196)).astype(np.float32)}


def census_question() -> tuple[str, dict[str, Any]]:
    example = Example()
    for key, value in {"education": b"Masters", "workclass": b"Private", "occupation": b"Exec"}.items():
        example.features.feature[key].bytes_list.value.append(value)
    for key, number in {"age": 44, "education_num": 13, "hours_per_week": 40}.items():
        example.features.feature[key].float_list.value.append(number)
    return "predict", {"examples": np.array([example.SerializeToString()], object)}


QUESTIONS = {"mnist_estimator": image_question, "wide_deep": census_question}
"""By program, what its exported model is asked."""


def trained_by_tensorflow(told: dict[str, Any]) -> dict[str, Any]:
    """The losses of as many steps as a program took, from its first checkpoint; and where the variables are saved."""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        saver = tf.train.import_meta_graph(told["first"] + ".meta", clear_devices=True)
        saver.restore(session, told["first"])
        session.run([tf.local_variables_initializer(), *tf.get_collection(tf.GraphKeys.TABLE_INITIALIZERS)])
        session.run([item for item in graph.get_operations() if item.type == "MakeIterator"])  # an estimator's hooks do
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        train_op = graph.as_graph_element(told["train"])
        feeds = told.get("feeds") or [None] * len(told["losses"])
        losses = [float(session.run([told["loss"], train_op], feed)[0]) for feed in feeds]
        last = saver.save(session, told["first"] + "-by-tensorflow", write_meta_graph=False)
        coordinator.request_stop()
        coordinator.join(threads, ignore_live_threads=True)
    return {"losses": losses, "last": last}


def answered_by_tensorflow(exported: str, signature: str, feeds: dict[str, Any]) -> dict[str, Any]:
    """What a signature of an exported model answers."""
    with tf.Graph().as_default(), tf.Session() as session:
        model = tf.saved_model.loader.load(session, ["serve"], exported)
        signed = model.signature_def[signature]
        values = {signed.inputs[name].name: value for name, value in feeds.items()}
        found: dict[str, Any] = session.run({name: info.name for name, info in signed.outputs.items()}, values)
    return found


def check_losses(ours: Any, theirs: Any) -> None:
    assert len(ours["losses"]) >= 5
    np.testing.assert_allclose(ours["losses"], theirs["losses"], rtol=TOLERANCE)
    stored, expected = (tk.load_tensors(told["last"]) for told in (ours, theirs))
    assert {key: (value.shape, value.dtype) for key, value in stored.items()} == {
        key: (value.shape, value.dtype) for key, value in expected.items()
    }
    for key, value in stored.items():
        np.testing.assert_allclose(value, expected[key], rtol=1e-2, atol=2e-3, err_msg=key)


@pytest.mark.parametrize("name", thinned(PROGRAMS, 4))
def test_tensorflow_has_the_same_losses_and_variables_from_the_first_checkpoint(runs: Runs, name: str) -> None:
    check_losses(runs.ours(name), runs.theirs(name))


@pytest.mark.deep
def test_what_was_trained_before_has_the_same_losses(runs: Runs) -> None:
    told = runs.ours("bert_tpu")
    before = {**told, **told["before"]}
    check_losses(before, trained_by_tensorflow(before))


@pytest.mark.parametrize("name", thinned(PROGRAMS, len(PROGRAMS)))
def test_we_go_on_with_the_checkpoint_of_tensorflow(runs: Runs, name: str) -> None:
    found = run(name, "--restore", runs.theirs(name)["last"])["measured"]
    for key, value in runs.ours(name)["measured"].items():
        np.testing.assert_allclose(found[key], value, rtol=5e-3, atol=1e-3, err_msg=key)


@pytest.mark.parametrize("name", thinned(sorted(QUESTIONS), 2))
def test_exported_models_answer_the_same(runs: Runs, name: str) -> None:
    exported = runs.ours(name)["exported"]
    signature, feeds = QUESTIONS[name]()
    with tk.load_saved_model(exported) as model:
        found = model.signatures[signature](**feeds)
    answers = answered_by_tensorflow(exported, signature, feeds)
    numbers = {key: value for key, value in answers.items() if value.dtype.kind in "fi"}
    assert numbers
    for key, value in numbers.items():
        np.testing.assert_allclose(found[key], value, rtol=1e-4, atol=1e-5, err_msg=key)


@pytest.mark.parametrize("name", thinned(["dlrm", "din"], 2))
def test_tables_by_key_train_as_variables_do(runs: Runs, name: str, tmp_path: Path) -> None:
    found, plain = run(name, "--ev", "--out", str(tmp_path / "ev")), runs.ours(name)
    np.testing.assert_allclose(found["losses"], plain["losses"], rtol=1e-5)
    for key, value in plain["measured"].items():
        np.testing.assert_allclose(found["measured"][key], value, rtol=1e-5, err_msg=key)
    variables, stored = tk.load_tensors(plain["last"]), tk.load_tensors(found["last"])
    tables = [key.removesuffix("-keys") for key in stored if key.endswith("-keys")]
    assert tables
    for key in tables:
        rows = variables[key][stored[f"{key}-keys"]]
        np.testing.assert_allclose(stored[f"{key}-values"], rows, rtol=1e-5, err_msg=key)
