"""The networks of `device_networks` once more, written by hand in Flax, with the same numbers for parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn

from benchmarks.device_networks import CLASSES, EPSILON, MOMENTUM, Encoder, ResNet

_NORMS = {"gamma": ("params", "scale"), "beta": ("params", "bias"), "moving_mean": ("batch_stats", "mean"),
          "moving_variance": ("batch_stats", "var")}  # fmt: skip


def variables_of(params: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Parameters by TensorFlow's names as Flax has them: by module, those that are trained and those that are not."""
    found: dict[str, dict[str, Any]] = {"params": {}, "batch_stats": {}}
    for name, value in params.items():
        module, _, word = name.rpartition("/")
        kind, own = _NORMS.get(word, ("params", word))
        if not module:
            found["params"][word] = value
        else:
            found[kind].setdefault(module.replace("/", "."), {})[own] = value
    return {kind: tree for kind, tree in found.items() if tree}


class FlaxResNet(nn.Module):
    """A ResNet that gives scores of pictures."""

    size: ResNet
    dtype: Any = jnp.float32
    training: bool = False

    def _conv(self, x: Any, filters: int, width: int, strides: int, name: str) -> Any:
        x = nn.Conv(filters, (width, width), strides, "SAME", use_bias=False, dtype=self.dtype, precision="highest",
                    name=f"{name}.conv")(x)  # fmt: skip
        return nn.BatchNorm(not self.training, momentum=MOMENTUM, epsilon=EPSILON, dtype=self.dtype,
                            name=f"{name}.norm")(x)  # fmt: skip

    @nn.compact
    def __call__(self, x: Any) -> Any:
        x = nn.relu(self._conv(x, self.size.width, 7, 2, "stem"))
        x = nn.max_pool(x, (3, 3), (2, 2), "SAME")
        for stage, count in enumerate(self.size.blocks):
            for number in range(count):
                strides = 2 if stage and not number else 1
                x = self._block(x, self.size.width << stage, strides, f"stage{stage}.block{number}")
        return nn.Dense(CLASSES, dtype=self.dtype, precision="highest", name="scores")(x.mean((1, 2)))

    def _block(self, x: Any, width: int, strides: int, name: str) -> Any:
        out = width * 4 if self.size.is_deep else width
        short = self._conv(x, out, 1, strides, f"{name}.short") if strides > 1 or x.shape[-1] != out else x
        if self.size.is_deep:
            x = nn.relu(self._conv(x, width, 1, 1, f"{name}.a"))
            x = nn.relu(self._conv(x, width, 3, strides, f"{name}.b"))
            return nn.relu(self._conv(x, out, 1, 1, f"{name}.c") + short)
        x = nn.relu(self._conv(x, width, 3, strides, f"{name}.a"))
        return nn.relu(self._conv(x, out, 3, 1, f"{name}.b") + short)


class FlaxEncoder(nn.Module):
    """An encoder as BERT has it."""

    size: Encoder
    dtype: Any = jnp.float32

    def _dense(self, x: Any, width: int, name: str) -> Any:
        return nn.Dense(width, dtype=self.dtype, precision="highest", name=name)(x)

    def _norm(self, x: Any, name: str) -> Any:
        return nn.LayerNorm(EPSILON, dtype=self.dtype, name=name)(x)

    @nn.compact
    def __call__(self, words: Any) -> Any:
        size, start = self.size, nn.initializers.normal(0.02)
        table = self.param("words", start, (size.words, size.width), self.dtype)
        places = self.param("places", start, (size.length, size.width), self.dtype)
        x = self._norm(table[words] + places, "begin")
        for layer in range(size.layers):
            name = f"layer{layer}"
            query, key, value = (
                self._dense(x, size.width, f"{name}.{word}").reshape(*x.shape[:2], size.heads, -1)
                for word in ("query", "key", "value")
            )
            seen = nn.dot_product_attention(query, key, value, dtype=self.dtype, precision="highest")
            x = self._norm(x + self._dense(seen.reshape(x.shape), size.width, f"{name}.seen"), f"{name}.first")
            wide = jax.nn.gelu(self._dense(x, size.width * 4, f"{name}.wide"), approximate=False)
            x = self._norm(x + self._dense(wide, size.width, f"{name}.narrow"), f"{name}.second")
        return x


def module_of(size: Any, dtype: Any, training: bool = False) -> nn.Module:
    """The network of a size."""
    return FlaxResNet(size, dtype, training) if isinstance(size, ResNet) else FlaxEncoder(size, dtype)
