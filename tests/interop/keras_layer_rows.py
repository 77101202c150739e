"""Layers of Keras in the configurations that people use, for one export: each class of `keras.layers` has its rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import keras
import tensorflow as tf

from tests.interop.keras_sweep import BATCHES, Input, below, between, chosen, floats

L = keras.layers
Call = Callable[..., Any]


@dataclass(frozen=True)
class Row:
    """A configuration of a layer: how it is made, what it is given, and how it is called with that."""

    make: Callable[[], Any]
    inputs: tuple[Input, ...]
    call: Call
    batches: tuple[int, ...] = BATCHES
    refused: tuple[int, ...] = ()
    ours_alone: tuple[int, ...] = ()


ROWS: Final[dict[str, list[Row]]] = {}

# Layers of which there is nothing to export.
NOT_EXPORTED: Final = {
    "FlaxLayer": "runs by JAX",
    "InputLayer": "is the argument of a model",
    "JaxLayer": "runs by JAX",
    "Layer": "is what others derive from",
    "TorchModuleWrapper": "runs by Torch",
    "Wrapper": "is what others derive from",
}

BITS = chosen(False, True, dtype="bool")
FEATURES = floats(None, 6)
STEPS = floats(None, 7, 4)
IMAGE = floats(None, 8, 9, 3)
VOLUME = floats(None, 5, 6, 4, 2)
PIXELS = between(0, 255)(None, 12, 10, 3)
WORDS = chosen("red", "green", "blue", "", "naïve", "a red fox")
STEPS_MASK = BITS(None, 7)


def one(layer: Any, x: Any) -> Any:
    return layer(x)


def listed(layer: Any, *x: Any) -> Any:
    return layer(list(x))


def masked(layer: Any, x: Any, mask: Any) -> Any:
    return layer(x, mask=mask)


def given(*positional: Any, **named: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a layer's constructor."""
    return positional, named


def rows(name: str, inputs: Input | tuple[Input, ...], *configurations: Any, call: Call = one, **more: Any) -> None:
    """A row for each way to construct a layer of a name."""
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    for positional, named in configurations:
        row(name, inputs, lambda p=positional, n=named: getattr(L, name)(*p, **n), call, **more)


def row(name: str, inputs: Any, make: Callable[[], Any], call: Call = one, **more: Any) -> None:
    ROWS.setdefault(name, []).append(Row(make, inputs if isinstance(inputs, tuple) else (inputs,), call, **more))


# Activations
for _activation in ("relu", "gelu", "softmax", "sparsemax", "hard_silu", "mish", "log_softmax", "swish"):
    rows("Activation", STEPS, given(_activation))
rows("ELU", STEPS, given(), given(0.4))
rows("LeakyReLU", STEPS, given(), given(0.1))
rows("PReLU", IMAGE, given(), given(shared_axes=[1, 2]))
rows("ReLU", STEPS, given(), given(1.0, 0.2, 0.1))
rows("Softmax", STEPS, given(), given(axis=1), given(axis=(1, 2)))
rows("Softmax", (STEPS, BITS(None, 7, 4)), given(), call=masked)

# Attention
QUERY, VALUE = floats(None, 5, 4), floats(None, 7, 4)
KEY = floats(None, 7, 4)
QUERY_MASK, VALUE_MASK = BITS(None, 5), BITS(None, 7)


def attended(layer: Any, *x: Any, **options: Any) -> Any:
    query, value, *masks = x
    masks = [None, None] if not masks else [masks[0], masks[1]]
    return layer([query, value], mask=masks, return_attention_scores=True, **options)


for _name in ("AdditiveAttention", "Attention"):
    rows(_name, (QUERY, VALUE), given(), call=attended)
    rows(_name, (QUERY, VALUE, KEY), given(use_scale=True) if _name == "Attention" else given(False), call=listed)
    rows(_name, (QUERY, VALUE, QUERY_MASK, VALUE_MASK), given(), call=attended)
rows("Attention", (VALUE, VALUE), given(score_mode="concat"), call=lambda *x: attended(*x, use_causal_mask=True))


def multi_head(layer: Any, query: Any, value: Any, mask: Any = None, causal: bool = False) -> Any:
    return layer(query, value, attention_mask=mask, use_causal_mask=causal, return_attention_scores=True)


for _name, _heads in (("MultiHeadAttention", given(2, 3)), ("GroupQueryAttention", given(3, 4, 2))):
    rows(_name, (QUERY, VALUE), _heads, call=multi_head)
    rows(_name, (QUERY, VALUE), _heads, call=lambda layer, q, v: layer(q, v))
    rows(_name, (QUERY, VALUE, BITS(None, 5, 7)), _heads, call=multi_head)
    rows(_name, (VALUE,), _heads, call=lambda layer, x: multi_head(layer, x, x, causal=True))
    rows(
        _name,
        (QUERY, VALUE, QUERY_MASK, VALUE_MASK),
        _heads,
        call=lambda layer, q, v, m, n: layer(q, v, query_mask=m, value_mask=n),
    )
rows(
    "MultiHeadAttention",
    (IMAGE,),
    given(2, 3, value_dim=4, output_shape=5, attention_axes=(1, 2), use_bias=False),
    call=lambda layer, x: layer(x, x),
)
rows("GroupQueryAttention", (VALUE,), given(3, 4, 2, sliding_window=2), call=lambda layer, x: layer(x, x))

# Convolutions
_ACTIVE = {"activation": "relu", "use_bias": False}
for _name, _shape in (("Conv1D", STEPS), ("Conv2D", IMAGE), ("Conv3D", VOLUME)):
    rows(
        _name,
        _shape,
        given(4, 3),
        given(4, 2, strides=2, padding="same"),
        given(6, 3, dilation_rate=2, padding="same", activation="tanh"),
        given(4, 1, **_ACTIVE),
    )
    rows(
        f"{_name}Transpose",
        _shape,
        given(3, 3),
        given(3, 2, strides=2, padding="same"),
        given(3, 3, strides=2, padding="valid", activation="relu"),
        given(3, 3, strides=3, output_padding=1, padding="same"),
    )
rows("Conv1D", STEPS, given(4, 3, padding="causal", dilation_rate=2), given(6, 3, groups=2))
rows("Conv2D", IMAGE, given(6, (3, 2), strides=(2, 1), groups=3))
rows("Conv3D", VOLUME, given(4, (1, 3, 2), strides=(1, 2, 1), groups=2))
rows("Conv3D", VOLUME, given(4, 3, data_format="channels_first", padding="same"))
for _name, _shape in (("DepthwiseConv1D", STEPS), ("DepthwiseConv2D", IMAGE)):
    rows(
        _name,
        _shape,
        given(3),
        given(3, strides=2, padding="same", depth_multiplier=2),
        given(3, dilation_rate=2, activation="relu"),
    )
for _name, _shape in (("SeparableConv1D", STEPS), ("SeparableConv2D", IMAGE)):
    rows(
        _name,
        _shape,
        given(4, 3),
        given(4, 3, strides=2, padding="same", depth_multiplier=2),
        given(4, 3, dilation_rate=2, padding="same", activation="relu"),
    )

# Core
rows("Dense", FEATURES, given(5), given(3, activation="softmax", use_bias=False), given(4, lora_rank=2))
rows("Dense", IMAGE, given(5, activation="gelu"))
rows("EinsumDense", STEPS, given("abc,cd->abd", (None, 5), bias_axes="d"), given("abc,bde->acde", (4, 2, 3)))
rows("EinsumDense", STEPS, given("...x,xy->...y", 5, activation="relu"))
rows("Embedding", below(9)(None, 7), given(9, 4), given(9, 4, mask_zero=True), given(9, 4, lora_rank=2))
rows("Embedding", floats(None, 3), given(9, 4), call=lambda layer, x: layer(tf.abs(x)))
rows("ReversibleEmbedding", below(9)(None, 7), given(9, 4))
rows(
    "ReversibleEmbedding",
    STEPS,
    given(9, 4),
    given(9, 4, tie_weights=False, logit_soft_cap=2.0),
    call=lambda layer, x: layer(x, reverse=True),
)
rows("Identity", STEPS, given())
rows("Lambda", STEPS, given(lambda x: x * x + 1.0))
rows("Masking", between(0, 2)(None, 7, 2), given(), call=lambda layer, x: layer(tf.floor(x)))
rows("Masking", between(0, 2)(None, 7, 2), given(1.0), call=lambda layer, x: layer(tf.floor(x)))

# Merging
OTHER_STEPS = floats(None, 1, 4)
for _name in ("Add", "Average", "Maximum", "Minimum", "Multiply"):
    rows(_name, (STEPS, STEPS, OTHER_STEPS), given(), call=listed)
    rows(_name, (FEATURES, FEATURES), given(), call=listed)
rows("Subtract", (STEPS, OTHER_STEPS), given(), call=listed)
rows("Concatenate", (STEPS, floats(None, 7, 2)), given(), call=listed)
rows("Concatenate", (STEPS, OTHER_STEPS), given(axis=1), call=listed)
rows("Dot", (FEATURES, FEATURES), given(1), given(axes=1, normalize=True), call=listed)
rows("Dot", (STEPS, floats(None, 3, 4)), given(2), given((2, 2), normalize=True), call=listed)

# Normalisation
rows("BatchNormalization", FEATURES, given(), given(center=False, scale=False))
rows("BatchNormalization", IMAGE, given(), given(axis=1))
rows("BatchNormalization", (STEPS, STEPS_MASK), given(), call=masked)
rows("BatchNormalization", STEPS, given(), call=lambda layer, x: layer(x, training=True), batches=(1, 3))
rows("GroupNormalization", floats(None, 5, 4), given(2), given(-1), given(1, scale=False))
rows("GroupNormalization", floats(None, 4, 5, 6), given(3), given(2, axis=1))
rows("LayerNormalization", IMAGE, given(), given(axis=[1, 3]), given(axis=(2, 3), center=False))
rows("RMSNormalization", STEPS, given(), given(epsilon=0.1))
rows("UnitNormalization", IMAGE, given(), given(axis=(1, 2)))
row("SpectralNormalization", IMAGE, lambda: L.SpectralNormalization(L.Conv2D(4, 3)))
row("SpectralNormalization", FEATURES, lambda: L.SpectralNormalization(L.Dense(4), power_iterations=3))
row("SpectralNormalization", FEATURES, lambda: L.SpectralNormalization(L.Dense(4)), lambda m, x: m(x, training=True))

# Pooling
for _rank, _shape in ((1, STEPS), (2, IMAGE), (3, VOLUME)):
    for _kind in ("Average", "Max"):
        rows(
            f"{_kind}Pooling{_rank}D",
            _shape,
            given(2),
            given(3, strides=1, padding="same"),
            given(2, strides=3),
            given(2, data_format="channels_first"),
        )
        rows(f"Adaptive{_kind}Pooling{_rank}D", _shape, given(2), given(3, data_format="channels_first"))
        rows(
            f"Global{_kind}Pooling{_rank}D", _shape, given(), given(keepdims=True), given(data_format="channels_first")
        )
rows("GlobalAveragePooling1D", (STEPS, STEPS_MASK), given(), call=masked)
rows("AveragePooling2D", IMAGE, given((2, 3), strides=(1, 2), padding="same"))

# Regularisation, which at inference leaves things as they are
for _name in ("AlphaDropout", "Dropout", "GaussianDropout", "GaussianNoise"):
    rows(_name, STEPS, given(0.5))
rows("ActivityRegularization", STEPS, given(l2=0.1))
rows("SpatialDropout1D", STEPS, given(0.5))
rows("SpatialDropout2D", IMAGE, given(0.5))
rows("SpatialDropout3D", VOLUME, given(0.5))

# Shapes
for _rank, _shape in ((1, STEPS), (2, IMAGE), (3, VOLUME)):
    _sides = ((1, 0), (2, 1), (0, 1))[:_rank]
    rows(f"Cropping{_rank}D", _shape, given(1), given(_sides if _rank > 1 else _sides[0]))
    rows(f"ZeroPadding{_rank}D", _shape, given(1), given(_sides if _rank > 1 else _sides[0]))
    rows(f"UpSampling{_rank}D", _shape, given(2), given((2, 1, 3)[:_rank] if _rank > 1 else 3))
for _rank in (2, 3):
    for _name in ("Cropping", "ZeroPadding", "UpSampling"):
        rows(f"{_name}{_rank}D", (IMAGE, floats(None, 5, 6, 4, 3))[_rank - 2], given(1, data_format="channels_first"))
rows("ZeroPadding1D", STEPS, given(1, data_format="channels_first"))
for _way in ("bilinear", "bicubic", "lanczos3", "lanczos5", "nearest"):
    rows("UpSampling2D", IMAGE, given((2, 3), interpolation=_way))
rows("Flatten", IMAGE, given(), given(data_format="channels_first"))
rows("Flatten", floats(None), given())
rows("Permute", IMAGE, given((3, 1, 2)))
rows("RepeatVector", FEATURES, given(3))
rows("Reshape", IMAGE, given((3, -1)), given((72, 3)), given((-1,)))
