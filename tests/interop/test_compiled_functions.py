"""Functions that XLA compiles, exported: what TensorFlow runs in them only, run here without a compiler."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from tensorflow.compiler.tf2xla.python import xla

import tensorkeep as tk

CUBE = np.arange(60, dtype=np.float32).reshape(3, 4, 5)


def exported(folder: Path, compute: Any, *specs: Any) -> tuple[Any, Any]:
    """The compiled function in TensorFlow, and the model of it here."""
    module = tf.Module()
    module.compute = tf.function(lambda *x: {"y": compute(*x)}, input_signature=specs, jit_compile=True)
    tf.saved_model.save(module, str(folder), signatures={"serving_default": module.compute})
    return module.compute, tk.load_saved_model(folder).signatures["serving_default"]


@pytest.mark.parametrize("starts", [(0, 0, 0), (1, 2, 3), (2, 3, 4), (-1, 9, -9)])
def test_a_part_that_would_end_outside_is_moved_inside(starts: tuple[int, ...], tmp_path: Path) -> None:
    theirs, ours = exported(
        tmp_path,
        lambda x, at: tf.concat(
            [
                tf.reshape(xla.dynamic_slice(x, at, [2, 1, 3]), [-1]),
                tf.reshape(xla.dynamic_update_slice(x, -x[:2, :2, :1], at), [-1]),
            ],
            0,
        ),
        tf.TensorSpec([3, 4, 5], name="x"),
        tf.TensorSpec([3], tf.int32, "at"),
    )
    at = np.array(starts, np.int32)
    np.testing.assert_array_equal(ours(x=CUBE, at=at)["y"], theirs(CUBE, at)["y"].numpy())


@pytest.mark.parametrize(("sizes", "starts"), [((4, 1, 1), (0, 0, 0)), ((1, 1), (0, 0, 0)), ((1, 1, 1), (0, 0))])
def test_a_part_that_does_not_fit_at_all_is_refused(sizes: Any, starts: Any, tmp_path: Path) -> None:
    theirs, ours = exported(
        tmp_path,
        xla.dynamic_update_slice,
        tf.TensorSpec([None, 4, 5], name="x"),
        tf.TensorSpec(None, name="part"),
        tf.TensorSpec([None], tf.int32, "at"),
    )
    part, at = np.ones(sizes, np.float32), np.array(starts, np.int32)
    with pytest.raises(tf.errors.InvalidArgumentError):
        theirs(CUBE, part, at)
    with pytest.raises(tk.errors.InvalidArgumentError):
        ours(x=CUBE, part=part, at=at)


def test_a_cache_of_keys_is_updated_in_its_place(tmp_path: Path) -> None:
    """As in a step of a decoder, whose cache is a variable."""
    module = tf.Module()
    module.cache = tf.Variable(tf.zeros([2, 6, 3]))

    def step(keys: Any, at: Any) -> Any:
        module.cache.assign(keras.ops.slice_update(module.cache, (0, at, 0), keys[:, None]))
        return {"cache": module.cache.read_value()}

    specs = [tf.TensorSpec([2, 3], name="keys"), tf.TensorSpec([], tf.int32, "at")]
    traced = tf.function(step, input_signature=specs)
    tf.saved_model.save(module, str(tmp_path), signatures={"serving_default": traced})
    with tk.load_saved_model(tmp_path) as model:
        for at in (0, 3, 5):
            keys = np.full([2, 3], at + 1, np.float32)
            answer = model.signatures["serving_default"](keys=keys, at=np.int32(at))["cache"]
            np.testing.assert_array_equal(answer, traced(keys, at)["cache"].numpy())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("batch", [0, 1, 3])
def test_volumes_are_convolved_in_groups(batch: int, dtype: str, tmp_path: Path) -> None:
    layer = keras.layers.Conv3D(6, (1, 3, 2), strides=(1, 2, 1), padding="same", groups=2, dtype=dtype)
    layer.build((None, 4, 5, 6, 4))
    model = keras.Sequential([keras.Input((4, 5, 6, 4), name="x", dtype=dtype), layer])
    model.export(str(tmp_path), verbose=False)
    x = np.random.default_rng(1).normal(size=(batch, 4, 5, 6, 4)).astype(dtype)
    with tk.load_saved_model(tmp_path) as loaded:
        (answer,) = loaded.signatures["serving_default"](x=x).values()
    wanted = np.concatenate(
        [
            tf.nn.conv3d(x[..., half], layer.kernel[..., outputs], (1, 1, 2, 1, 1), "SAME").numpy()
            for half, outputs in ((slice(2), slice(3)), (slice(2, 4), slice(3, 6)))
        ],
        -1,
    )
    np.testing.assert_allclose(answer, wanted, rtol=1e-5, atol=1e-6)
