"""Stock TensorFlow runs a frozen graph with the rows of an embedding variable, and gives what the variable gave."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tensorflow as real

import tensorkeep.v1 as tf
from tensorkeep.saved_model.edit.directory_edits import freeze_model
from tensorkeep.saved_model.edit.freezing import freeze_saved_model
from tests.tf1.training.test_frozen_embeddings import World


@pytest.mark.parametrize("key_dtype", [tf.int64, tf.int32])
def test_tensorflow_looks_up_the_same_rows_in_a_frozen_graph(tmp_path: Path, key_dtype: Any) -> None:
    world = World(tmp_path, key_dtype)
    data = freeze_saved_model(tmp_path / "export", ["rows"]).SerializeToString()
    graph_def = real.compat.v1.GraphDef.FromString(data)
    with real.Graph().as_default() as graph:
        real.import_graph_def(graph_def, name="")
    with real.compat.v1.Session(graph=graph) as session:
        found = session.run("rows:0", {"ids:0": [world.asked]})
    assert found.tolist() == world.expected()


def test_tensorflow_loads_a_frozen_model_of_an_embedding_variable(tmp_path: Path) -> None:
    world = World(tmp_path)
    freeze_model(tmp_path / "export", tmp_path / "frozen")
    model = real.saved_model.load(str(tmp_path / "frozen"))
    found = model.signatures["serving_default"](ids=real.constant([world.asked], real.int64))
    assert found["rows"].numpy().tolist() == world.expected()
