"""Networks that are written twice: as graphs of TensorFlow 1, by our own functions, and by hand as functions of JAX.

Both have the same variables under the same names, so that each can be given the other's values and answers compared. A
ResNet by He et al. (of basic blocks, or of bottlenecks as ResNet50 is) and an encoder as BERT has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

import tensorkeep.v1 as tf

MOMENTUM: Final = 0.9
EPSILON: Final = 1e-3
CLASSES: Final = 1000

Params = Mapping[str, Any]


@dataclass(frozen=True)
class ResNet:
    """How large a ResNet is."""

    blocks: tuple[int, ...] = (3, 4, 6, 3)
    width: int = 64
    is_deep: bool = True
    """Whether blocks are bottlenecks."""
    pixels: int = 224


@dataclass(frozen=True)
class Encoder:
    """How large an encoder is."""

    layers: int = 12
    width: int = 768
    heads: int = 12
    words: int = 30522
    length: int = 128


RESNET50: Final = ResNet()
RESNET18: Final = ResNet((2, 2, 2, 2), is_deep=False)
BERT: Final = Encoder()
SMALL_RESNET: Final = ResNet((1, 1), 8, is_deep=True, pixels=32)
SMALL_ENCODER: Final = Encoder(2, 32, 4, 100, 16)


# ------------------------------------------------------------------------------------------------------- as graphs


def _conv(x: Any, filters: int, size: int, strides: int, training: bool, name: str) -> Any:
    """A convolution and its normalisation."""
    x = tf.layers.conv2d(x, filters, size, strides, "same", use_bias=False, name=f"{name}/conv")
    return tf.layers.batch_normalization(x, momentum=MOMENTUM, epsilon=EPSILON, training=training, name=f"{name}/norm")


def resnet_graph(size: ResNet, x: Any, training: bool = False) -> Any:
    """The scores of pictures."""
    x = tf.nn.relu(_conv(x, size.width, 7, 2, training, "stem"))
    x = tf.layers.max_pooling2d(x, 3, 2, "same")
    for stage, count in enumerate(size.blocks):
        for number in range(count):
            name, width = f"stage{stage}/block{number}", size.width << stage
            x = _block_graph(size, x, width, 2 if stage and not number else 1, training, name)
    return tf.layers.dense(tf.reduce_mean(x, [1, 2]), CLASSES, name="scores")


def _block_graph(size: ResNet, x: Any, width: int, strides: int, training: bool, name: str) -> Any:
    out = width * 4 if size.is_deep else width
    short = x
    if strides > 1 or x.shape[-1] != out:
        short = _conv(x, out, 1, strides, training, f"{name}/short")
    if size.is_deep:
        x = tf.nn.relu(_conv(x, width, 1, 1, training, f"{name}/a"))
        x = tf.nn.relu(_conv(x, width, 3, strides, training, f"{name}/b"))
        x = _conv(x, out, 1, 1, training, f"{name}/c")
    else:
        x = tf.nn.relu(_conv(x, width, 3, strides, training, f"{name}/a"))
        x = _conv(x, out, 3, 1, training, f"{name}/b")
    return tf.nn.relu(x + short)


def _norm_graph(x: Any, name: str) -> Any:
    with tf.variable_scope(name):
        scale = tf.get_variable("gamma", [x.shape[-1]], x.dtype, tf.ones_initializer())
        offset = tf.get_variable("beta", [x.shape[-1]], x.dtype, tf.zeros_initializer())
    mean, variance = tf.nn.moments(x, [-1], keep_dims=True)
    return (x - mean) * tf.rsqrt(variance + EPSILON) * scale + offset


def encoder_graph(size: Encoder, words: Any, dtype: Any = tf.float32) -> Any:
    """What an encoder makes of the numbers of words."""
    start = tf.random_normal_initializer(stddev=0.02, dtype=dtype)
    table = tf.get_variable("words", [size.words, size.width], dtype, start)
    places = tf.get_variable("places", [size.length, size.width], dtype, start)
    x = _norm_graph(tf.gather(table, words) + places, "begin")
    for layer in range(size.layers):
        x = _layer_graph(size, x, f"layer{layer}")
    return x


def _layer_graph(size: Encoder, x: Any, name: str) -> Any:
    batch, depth = tf.shape(x)[0], size.width // size.heads
    split = [
        tf.transpose(tf.reshape(tf.layers.dense(x, size.width, name=f"{name}/{word}"),
                                tf.stack([batch, size.length, size.heads, depth])), [0, 2, 1, 3])
        for word in ("query", "key", "value")
    ]  # fmt: skip
    weights = tf.nn.softmax(tf.matmul(split[0], split[1], transpose_b=True) * tf.cast(depth**-0.5, x.dtype))
    seen = tf.reshape(tf.transpose(tf.matmul(weights, split[2]), [0, 2, 1, 3]), [batch, size.length, size.width])
    x = _norm_graph(x + tf.layers.dense(seen, size.width, name=f"{name}/seen"), f"{name}/first")
    wide = tf.layers.dense(x, size.width * 4, name=f"{name}/wide")
    wide = wide * 0.5 * (1 + tf.erf(wide * tf.cast(0.5**0.5, x.dtype)))
    return _norm_graph(x + tf.layers.dense(wide, size.width, name=f"{name}/narrow"), f"{name}/second")


# --------------------------------------------------------------------------------------------------------- by hand


class ByHand:
    """A network as a function of JAX, of parameters by name; new moving averages, where it trains, are in `state`."""

    def __init__(self, params: Params, training: bool = False) -> None:
        self._params = params
        self._training = training
        self.state: dict[str, Any] = {}

    def dense(self, x: Any, name: str) -> Any:
        return jnp.matmul(x, self._params[f"{name}/kernel"], precision="highest") + self._params[f"{name}/bias"]

    def conv(self, x: Any, strides: int, name: str) -> Any:
        x = jax.lax.conv_general_dilated(
            x, self._params[f"{name}/conv/kernel"], (strides, strides), "SAME",
            dimension_numbers=("NHWC", "HWIO", "NHWC"), precision="highest",
        )  # fmt: skip
        at = f"{name}/norm"
        mean, variance = self._params[f"{at}/moving_mean"], self._params[f"{at}/moving_variance"]
        if self._training:
            old = mean, variance
            mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
            count = x.size // x.shape[-1]
            for word, was, now in zip(("mean", "variance"), old, (mean, variance * count / (count - 1)), strict=True):
                self.state[f"{at}/moving_{word}"] = was * MOMENTUM + now * (1 - MOMENTUM)
        scale = jax.lax.rsqrt(variance + EPSILON) * self._params[f"{at}/gamma"]
        return ((x - mean) * scale + self._params[f"{at}/beta"]).astype(x.dtype)

    def norm(self, x: Any, name: str) -> Any:
        mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(variance + EPSILON) * self._params[f"{name}/gamma"] + self._params[
            f"{name}/beta"
        ]

    def resnet(self, size: ResNet, x: Any) -> Any:
        x = jax.nn.relu(self.conv(x, 2, "stem"))
        low = np.array(-np.inf, x.dtype)
        x = jax.lax.reduce_window(x, low, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
        for stage, count in enumerate(size.blocks):
            for number in range(count):
                x = self._block(size, x, 2 if stage and not number else 1, f"stage{stage}/block{number}")
        return self.dense(x.mean((1, 2)), "scores")

    def _block(self, size: ResNet, x: Any, strides: int, name: str) -> Any:
        short = self.conv(x, strides, f"{name}/short") if f"{name}/short/conv/kernel" in self._params else x
        if size.is_deep:
            x = jax.nn.relu(self.conv(x, 1, f"{name}/a"))
            x = jax.nn.relu(self.conv(x, strides, f"{name}/b"))
            return jax.nn.relu(self.conv(x, 1, f"{name}/c") + short)
        x = jax.nn.relu(self.conv(x, strides, f"{name}/a"))
        return jax.nn.relu(self.conv(x, 1, f"{name}/b") + short)

    def encoder(self, size: Encoder, words: Any) -> Any:
        x = self.norm(self._params["words"][words] + self._params["places"], "begin")
        for layer in range(size.layers):
            name = f"layer{layer}"
            heads = [self.dense(x, f"{name}/{word}").reshape(*x.shape[:2], size.heads, -1)
                     for word in ("query", "key", "value")]  # fmt: skip
            scores = jnp.einsum("bqhd,bkhd->bhqk", heads[0], heads[1], precision="highest")
            weights = jax.nn.softmax(scores * (size.width // size.heads) ** -0.5)
            seen = jnp.einsum("bhqk,bkhd->bqhd", weights, heads[2], precision="highest").reshape(x.shape)
            x = self.norm(x + self.dense(seen, f"{name}/seen"), f"{name}/first")
            wide = jax.nn.gelu(self.dense(x, f"{name}/wide"), approximate=False)
            x = self.norm(x + self.dense(wide, f"{name}/narrow"), f"{name}/second")
        return x
