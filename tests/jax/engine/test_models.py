"""Models that run on a device of JAX: SavedModels, opened graphs, and the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep as tk
import tensorkeep.v1 as tf
from tensorkeep.cli.main import main
from tests.support.golden import golden

CASES = ("g29_keras_dense", "g26_tf1_simple_save")


def inputs_of(case: Path, signature: str) -> dict[str, Any]:
    stored = np.load(case / "inputs.npz")
    return {key.partition("/")[2]: stored[key] for key in stored if key.partition("/")[0] in (signature, "")}


@pytest.mark.parametrize("name", CASES)
def test_a_saved_model_gives_what_our_kernels_give(name: str) -> None:
    folder = golden(name) / "model"
    with tk.load_saved_model(folder) as ours, tk.load_saved_model(folder, engine="jax") as on_jax:
        signature = "serving_default"
        given = inputs_of(golden(name), signature)
        wanted, found = ours.signatures[signature](**given), on_jax.signatures[signature](**given)
        assert found.keys() == wanted.keys()
        for key, value in wanted.items():
            np.testing.assert_allclose(found[key], value, rtol=1e-5, atol=1e-6)
        assert "MatMul" in on_jax.describe()


def test_an_opened_graph_is_run_with_the_variables_of_its_checkpoint(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        weights = tf.get_variable("w", initializer=np.float32([[1, 2], [3, 4]]))
        tf.tanh(tf.matmul(x, weights), name="y")
        session.run(weights.initializer)
        prefix = tf.train.Saver().save(session, str(tmp_path / "model"))
        tf.train.export_meta_graph(f"{prefix}.meta", graph=graph)
    given = np.float32([[0.1, 0.2], [0.3, -0.1]])
    with tk.open_graph(f"{prefix}.meta", engine="jax") as opened:
        opened.restore(prefix)
        found = opened.run("y", {"x": given})
    np.testing.assert_allclose(found, np.tanh(given @ [[1, 2], [3, 4]]), rtol=1e-6)


def test_the_command_line_names_the_engine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import json, tensorflow as tf\n"
        "v = tf.get_variable('v', initializer=[1.0, 2.0])\n"
        "with tf.Session() as session:\n"
        "    session.run(v.initializer)\n"
        "    session.run(tf.assign(v, tf.exp(v)).op)\n"
        "    held = session._core.lasting_resource(v.op).elsewhere\n"
        "    print(json.dumps([held is not None, session.run(v).tolist()]))\n"
    )
    command = [sys.executable, "-m", "tensorkeep", "run", "--engine", "jax", str(program)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    is_there, values = json.loads(ended.stdout.splitlines()[-1])
    assert is_there
    np.testing.assert_allclose(values, np.exp([1.0, 2.0]), rtol=1e-6)
    assert main(["run", "--engine", "tpu", str(program)]) == 2
    assert "choose from" in capsys.readouterr().err
