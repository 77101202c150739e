"""Models whose calls a server gathers into batches give alone what they give in TensorFlow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tensorkeep as tk
from tensorkeep.errors import InvalidArgumentError


def saved(folder: Path) -> Path:
    module = tf.Module()
    module.weight = tf.Variable(np.arange(6, dtype=np.float32).reshape(3, 2))

    @tf.nondifferentiable_batch_function(2, 8, 1000, allowed_batch_sizes=[4, 8])
    def batched(x: Any, y: Any) -> Any:
        return x @ module.weight, y * 2

    takes = [tf.TensorSpec([None, 3]), tf.TensorSpec([None], tf.int32)]
    module.call = tf.function(lambda x, y: dict(zip(("a", "b"), batched(x, y), strict=True)), input_signature=takes)
    tf.saved_model.save(module, str(folder), signatures=module.call)
    return folder


@pytest.mark.parametrize("rows", [1, 3, 8])
def test_a_call_is_a_batch_of_its_own(tmp_path: Path, rows: int) -> None:
    folder = saved(tmp_path / "model")
    x = np.random.default_rng(1).standard_normal((rows, 3)).astype(np.float32)
    y = np.arange(rows, dtype=np.int32)
    theirs = tf.saved_model.load(str(folder)).signatures["serving_default"](x=tf.constant(x), y=tf.constant(y))
    with tk.load_saved_model(folder) as model:
        found = model.signatures["serving_default"](x=x, y=y)
    for name, value in theirs.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-5, atol=1e-6)


def test_what_is_no_batch_or_too_large_is_refused(tmp_path: Path) -> None:
    with tk.load_saved_model(saved(tmp_path / "model")) as model:
        call = model.signatures["serving_default"]
        for x, y in ((np.ones((9, 3)), np.ones(9)), (np.ones((2, 3)), np.ones(1))):
            with pytest.raises(InvalidArgumentError):
                call(x=x.astype(np.float32), y=y.astype(np.int32))
