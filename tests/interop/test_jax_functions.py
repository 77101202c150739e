"""Functions of JAX beside live TensorFlow: models that came from JAX, fine-tuned ones that go back, and a network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import tensorflow as tf
from jax.experimental import jax2tf

import tensorkeep as tk
from tests.interop.model_zoo import ZOO
from tests.support.golden import golden

SERVING = "serving_default"


def in_tensorflow(folder: Path, **inputs: Any) -> dict[str, Any]:
    """What live TensorFlow gives for a model."""
    found = tf.saved_model.load(str(folder)).signatures[SERVING](**{key: tf.constant(x) for key, x in inputs.items()})
    return {name: value.numpy() for name, value in found.items()}


def normal(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(np.float32)


def exported_from_jax(folder: Path, batch: int | None, **options: Any) -> None:
    """Writes a model that jax2tf made of a function of JAX, with variables of TensorFlow."""

    def network(weights: Any, x: Any) -> dict[str, Any]:
        hidden = jax.nn.gelu(x @ weights["kernel"] + weights["bias"])
        return {"probabilities": jax.nn.softmax(hidden), "best": jnp.argmax(hidden, -1), "flat": hidden.reshape(-1)}

    model = tf.Module()
    model.weights = {
        "kernel": tf.Variable(normal(3, 5), name="kernel"),
        "bias": tf.Variable(normal(5), name="bias"),
    }
    shapes = [None, "(batch, _)"] if batch is None else None
    converted = jax2tf.convert(network, polymorphic_shapes=shapes, **options)
    model.call = tf.function(
        lambda x: converted(model.weights, x),
        input_signature=[tf.TensorSpec([batch, 3], tf.float32, name="x")],
        autograph=False,
    )
    tf.saved_model.save(model, str(folder), signatures=model.call)


@pytest.mark.parametrize(
    ("batch", "options"),
    [(4, {}), (None, {}), (None, {"native_serialization_platforms": ("cpu", "cuda")})],
    ids=["of known sizes", "of any batch", "for several platforms"],
)
def test_a_model_that_came_from_jax_gives_what_tensorflow_gives(
    batch: int | None, options: dict[str, Any], tmp_path: Path
) -> None:
    exported_from_jax(tmp_path / "model", batch, **options)
    with tk.to_jax(tmp_path / "model") as fn:
        assert {value.shape for value in fn.params.values()} == {(3, 5), (5,)}
        for rows in (4,) if batch else (1, 4, 6):
            x = normal(rows, 3)
            wanted = in_tensorflow(tmp_path / "model", x=x)
            for found in (fn(fn.params, x=x), jax.jit(fn)(fn.params, x=x)):
                assert found.keys() == wanted.keys()
                for name, value in found.items():
                    np.testing.assert_allclose(value, wanted[name], rtol=1e-5, atol=1e-6)


def test_a_fine_tuned_model_is_read_back_by_tensorflow(tmp_path: Path) -> None:
    case = golden("g29_keras_dense")
    inputs = {key.partition("/")[2]: value for key, value in np.load(case / "inputs.npz").items()}
    with tk.to_jax(case / "model") as fn:

        def loss(params: Any) -> Any:
            return ((fn(params, **inputs)["score"] - 0.25) ** 2).mean()

        optimizer = optax.adam(0.05)
        params, state = fn.params, optimizer.init(fn.params)
        step = jax.jit(lambda params, state: optimizer.update(jax.grad(loss)(params), state))
        for _ in range(30):
            updates, state = step(params, state)
            params = optax.apply_updates(params, updates)
        assert float(loss(params)) < float(loss(fn.params)) / 2
        fn.save(params, tmp_path / "tuned")
        wanted = fn(params, **inputs)["score"]
    np.testing.assert_allclose(in_tensorflow(tmp_path / "tuned", **inputs)["score"], wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_a_network_gives_what_tensorflow_and_our_engine_give(tmp_path: Path) -> None:
    signature, inputs = ZOO["MobileNetV2"](str(tmp_path / "model"))
    theirs = in_tensorflow(tmp_path / "model", **inputs)
    with tk.load_saved_model(tmp_path / "model") as model:
        ours = model.signatures[signature](**inputs)
    with tk.to_jax(tmp_path / "model") as fn:
        found = fn(fn.params, **inputs)
    for name, value in found.items():
        np.testing.assert_allclose(value, theirs[name], rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(value, ours[name], rtol=1e-3, atol=1e-4)
