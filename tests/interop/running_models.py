"""A model of the zoo beside TensorFlow."""

from __future__ import annotations

from pathlib import Path

import tensorflow as tf

import tensorkeep as tk
from benchmarks.zoo import AGREES, off, proves
from tests.interop.model_zoo import Export


def expect_agreement(export: Export, folder: Path) -> None:
    """The model that `export` writes loads, runs and agrees within 1e-5, and its answer would tell if it did not."""
    signature, inputs = export(str(folder))
    oracle = tf.saved_model.load(str(folder)).signatures[signature]
    wanted = {key: value.numpy() for key, value in oracle(**{k: tf.constant(v) for k, v in inputs.items()}).items()}
    assert proves(wanted)
    with tk.load_saved_model(folder, on_fingerprint=tk.OnFingerprint.RAISE) as model:
        assert off(model.signatures[signature](**inputs), wanted) <= AGREES
