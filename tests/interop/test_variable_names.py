"""The names of variables in what Keras 3 exports and saves: those that Keras itself tells."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import tensorkeep as tk
from tensorkeep.checkpoint.finding.file_names import OBJECT_GRAPH_KEY

keras = tf.keras


def trained() -> keras.Model:
    """A model with all that Keras keeps beside kernels: moving averages, a seed, a nested model, an optimizer."""
    inner = keras.Sequential([keras.layers.Dense(3), keras.layers.Dense(3)])
    ends = keras.Input((8, 8, 3))
    found = keras.layers.BatchNormalization()(keras.layers.Conv2D(4, 3)(ends))
    found = inner(keras.layers.Dropout(0.1)(keras.layers.Flatten()(found)))
    model = keras.Model(ends, keras.layers.Dense(2)(found))
    model.compile("adam", "mse")
    model.fit(np.ones((4, 8, 8, 3)), np.ones((4, 2)), verbose=0)
    return model


def expect(path: str, variables: list[object]) -> None:
    """Every variable that is stored goes by its path in Keras, has its value, and nothing else is there."""
    with tk.named_variables(tk.open_checkpoint(path)) as reader:
        expected = {item.path: np.asarray(item) for item in variables}
        assert set(reader) - {"save_counter"} == set(expected)
        for name, value in expected.items():
            np.testing.assert_array_equal(reader.read(name), value)


def test_an_export_has_the_names_of_keras(tmp_path: Path) -> None:
    model = trained()
    model.export(str(tmp_path / "model"), verbose=False)
    with tk.open_checkpoint(tmp_path / "model") as reader:
        names = tk.variable_names(reader)
        assert names is not None
        assert len(names.copies) + len(names.keys) + 1 == len(reader)
        assert OBJECT_GRAPH_KEY not in names.keys
    expect(str(tmp_path / "model"), model.variables)


@pytest.mark.parametrize("kind", ["checkpoint", "saved_model"])
def test_what_tensorflow_saves_has_the_names_of_keras_and_of_its_optimizer(tmp_path: Path, kind: str) -> None:
    model = trained()
    if kind == "checkpoint":
        path = tf.train.Checkpoint(model=model, optimizer=model.optimizer).save(str(tmp_path / "ckpt"))
    else:
        path = str(tmp_path / "model")
        tf.saved_model.save(model, path)
    stored = [item for item in model.variables if "seed_generator" not in item.path]
    expect(path, [*stored, *model.optimizer.variables])


def test_names_of_an_export_are_those_that_a_saver_takes(tmp_path: Path) -> None:
    model = trained()
    model.export(str(tmp_path / "model"), verbose=False)
    tk.edit.objects_to_names(tmp_path / "model", tmp_path / "names")
    listed = dict(tf.train.list_variables(str(tmp_path / "names")))
    assert listed == {item.path: list(item.shape) for item in model.variables}
