"""Models at the sizes that people run: 224 x 224 pixels, 128 tokens, tables of ten thousand rows.

Each entry of `MODELS` makes a model with random weights by live TensorFlow and Keras. Its `export` writes a SavedModel
into a folder; its `inputs` makes arrays for the inputs of the signature "serving_default", for a batch of any size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import tensorflow as tf

Inputs = dict[str, Any]
keras: Any = tf.keras
layers = keras.layers

_WORDS: Final = [f"word{number}" for number in range(10_000)]
_TOKENS: Final = 128
_PIXELS: Final = (224, 224, 3)


@dataclass(frozen=True)
class RealModel:
    """A model: what goes in, in words, how it is written, and inputs for a batch."""

    size: str
    export: Callable[[str], None]
    inputs: Callable[[int], Inputs]


def keras_model(make: Callable[[], Any]) -> Callable[[str], None]:
    """What writes a model of Keras as a SavedModel, by Keras 3 or 2."""

    def export(folder: str) -> None:
        keras.utils.set_random_seed(1)
        make().export(folder, **({"verbose": False} if hasattr(keras, "ops") else {}))

    return export


def _random() -> np.random.Generator:
    return np.random.default_rng(3)


def _numbers(name: str, *shape: int) -> Callable[[int], Inputs]:
    return lambda batch: {name: _random().normal(size=(batch, *shape)).astype(np.float32)}


def indices(name: str, count: int, below: int) -> Callable[[int], Inputs]:
    """What makes so many numbers below a bound for each row of a batch, for the input of a name."""
    return lambda batch: {name: _random().integers(below, size=(batch, count)).astype(np.int32)}


def _in_a_row(entry: Any, *stack: Any) -> Any:
    return keras.Sequential([entry, *stack])


# ------------------------------------------------------------------------------------------------------ recommenders


def _mlp() -> Any:
    dense = [layers.Dense(512, activation="relu") for _ in range(3)]
    return _in_a_row(keras.Input((784,), name="x"), *dense, layers.Dense(10, activation="softmax"))


def _wide_and_deep(columns: list[Any], inputs: list[Any]) -> Any:
    dense = keras.Input((13,), name="numbers")
    wide = [layers.Flatten()(layers.Embedding(10_000, 1)(column)) for column in columns]
    deep = [layers.Flatten()(layers.Embedding(10_000, 16)(column)) for column in columns]
    x = layers.Concatenate()([dense, *deep])
    for width in (256, 128, 64):
        x = layers.Dense(width, activation="relu")(x)
    y = layers.Dense(1)(layers.Concatenate()([x, *wide]))
    return keras.Model([dense, *inputs], layers.Activation("sigmoid")(y))


def _wide_and_deep_of_integers() -> Any:
    ids = keras.Input((26,), dtype="int32", name="ids")
    return _wide_and_deep([ids[:, at : at + 1] for at in range(26)], [ids])


def _wide_and_deep_of_strings() -> Any:
    words = keras.Input((26,), dtype="string", name="words")
    found = layers.StringLookup(vocabulary=_WORDS[:9_999])(words)
    return _wide_and_deep([found[:, at : at + 1] for at in range(26)], [words])


def _dense_and(other: Callable[[int], Inputs]) -> Callable[[int], Inputs]:
    return lambda batch: {**_numbers("numbers", 13)(batch), **other(batch)}


def _words(name: str, count: int) -> Callable[[int], Inputs]:
    return lambda batch: {name: np.array(_WORDS, object)[_random().integers(9_000, size=(batch, count))]}


def _dlrm() -> Any:
    dense = keras.Input((13,), name="numbers")
    ids = keras.Input((26,), dtype="int32", name="ids")
    bottom = dense
    for width in (512, 256, 16):
        bottom = layers.Dense(width, activation="relu")(bottom)
    rows = [layers.Embedding(10_000, 16)(ids[:, at]) for at in range(26)]
    ops: Any = getattr(keras, "ops", tf)  # Keras 2 takes TensorFlow's own
    stacked = ops.stack([bottom, *rows], axis=1)
    pairs = ops.matmul(stacked, ops.transpose(stacked, (0, 2, 1)))
    top = layers.Concatenate()([bottom, layers.Flatten()(pairs)])
    for width in (512, 256):
        top = layers.Dense(width, activation="relu")(top)
    return keras.Model([dense, ids], layers.Dense(1, activation="sigmoid")(top))


# ------------------------------------------------------------------------------------------------- text and sequences


def _recurrent(layer: Any) -> Any:
    entry = keras.Input((_TOKENS,), dtype="int32", name="tokens")
    return _in_a_row(entry, layers.Embedding(20_000, 128), layer, layers.Dense(2, activation="softmax"))


def _text_cnn() -> Any:
    text = keras.Input((1,), dtype="string", name="text")
    vectorize = layers.TextVectorization(vocabulary=_WORDS, output_sequence_length=_TOKENS)
    x = layers.Embedding(10_002, 128)(vectorize(text))
    widths = [layers.GlobalMaxPooling1D()(layers.Conv1D(128, width, activation="relu")(x)) for width in (3, 4, 5)]
    return keras.Model(text, layers.Dense(2, activation="softmax")(layers.Concatenate()(widths)))


def _sentences(batch: int) -> Inputs:
    rows = _words("words", 100)(batch)["words"]
    return {"text": np.array([[" ".join(row)] for row in rows], object)}


def _wavenet() -> Any:
    entry = keras.Input((4096, 1), name="audio")
    x = layers.Conv1D(32, 2, padding="causal")(entry)
    skips = []
    for depth in range(10):
        gate = layers.Conv1D(32, 2, padding="causal", dilation_rate=2**depth, activation="sigmoid")(x)
        value = layers.Conv1D(32, 2, padding="causal", dilation_rate=2**depth, activation="tanh")(x)
        both = layers.Multiply()([gate, value])
        skips.append(layers.Conv1D(32, 1)(both))
        x = layers.Add()([x, layers.Conv1D(32, 1)(both)])
    return keras.Model(entry, layers.Conv1D(16, 1)(layers.Activation("relu")(layers.Add()(skips))))


def _block(x: Any, heads: int, width: int) -> Any:
    y = layers.LayerNormalization(epsilon=1e-6)(x)
    x = layers.Add()([x, layers.MultiHeadAttention(heads, width // heads)(y, y)])
    y = layers.LayerNormalization(epsilon=1e-6)(x)
    return layers.Add()([x, layers.Dense(width)(layers.Dense(4 * width, activation="gelu")(y))])


class Positions(keras.layers.Layer):  # type: ignore[misc]
    """Adds a learned row to each place of a sequence."""

    def build(self, shape: Any) -> None:
        self.rows = self.add_weight(shape=(1, *shape[1:]), initializer="random_normal", name="rows")

    def call(self, x: Any) -> Any:
        return x + self.rows


def _bert() -> Any:
    tokens = keras.Input((_TOKENS,), dtype="int32", name="tokens")
    x = layers.LayerNormalization()(Positions()(layers.Embedding(30_522, 512)(tokens)))
    for _ in range(4):
        x = _block(x, 8, 512)
    return keras.Model(tokens, layers.Dense(2)(x[:, 0]))


def _vit() -> Any:
    image = keras.Input(_PIXELS, name="image")
    x = layers.Reshape((196, 384))(layers.Conv2D(384, 16, strides=16)(image))
    x = Positions()(x)
    for _ in range(12):
        x = _block(x, 6, 384)
    return keras.Model(image, layers.Dense(1000)(layers.GlobalAveragePooling1D()(x)))


_DEPTH, _WIDTH, _HEADS = 6, 768, 12


class _Decoder(tf.Module):  # type: ignore[misc]
    """One step of a decoder in the manner of GPT-2: one new token for each sequence, and what earlier ones left."""

    def __init__(self) -> None:
        super().__init__()
        random = _random()

        def weight(*shape: int) -> Any:
            return tf.Variable((random.normal(size=shape) * 0.02).astype(np.float32))

        self.tokens = weight(50_257, _WIDTH)
        self.mixing = [weight(_WIDTH, 3 * _WIDTH) for _ in range(_DEPTH)]
        self.projecting = [weight(_WIDTH, _WIDTH) for _ in range(_DEPTH)]
        self.widening = [weight(_WIDTH, 4 * _WIDTH) for _ in range(_DEPTH)]
        self.narrowing = [weight(4 * _WIDTH, _WIDTH) for _ in range(_DEPTH)]

    def _normal(self, x: Any) -> Any:
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        return (x - mean) * tf.math.rsqrt(variance + 1e-5)

    def step(self, token: Any, past: Any) -> Any:
        """`past` has [batch, layers, 2, heads, tokens, width of a head]."""
        x = tf.gather(self.tokens, token[:, 0])
        news = []
        for at in range(_DEPTH):
            mixed = tf.matmul(self._normal(x), self.mixing[at])
            query, key, value = tf.unstack(tf.reshape(mixed, [-1, 3, _HEADS, 1, _WIDTH // _HEADS]), axis=1)
            news.append(tf.stack([key, value], axis=1))
            keys = tf.concat([past[:, at, 0], key], axis=2)
            values = tf.concat([past[:, at, 1], value], axis=2)
            weights = tf.nn.softmax(tf.matmul(query, keys, transpose_b=True) / (_WIDTH // _HEADS) ** 0.5)
            x += tf.matmul(tf.reshape(tf.matmul(weights, values), [-1, _WIDTH]), self.projecting[at])
            wide = tf.nn.gelu(tf.matmul(self._normal(x), self.widening[at]), approximate=True)
            x += tf.matmul(wide, self.narrowing[at])
        return {"logits": tf.matmul(self._normal(x), self.tokens, transpose_b=True), "new": tf.stack(news, axis=1)}


def _export_decoder(folder: str) -> None:
    module = _Decoder()
    past = tf.TensorSpec([None, _DEPTH, 2, _HEADS, None, _WIDTH // _HEADS], tf.float32, "past")
    step = tf.function(module.step, input_signature=[tf.TensorSpec([None, 1], tf.int32, "token"), past])
    tf.saved_model.save(module, folder, signatures=step)


def _decoding(batch: int) -> Inputs:
    past = _numbers("past", _DEPTH, 2, _HEADS, _TOKENS - 1, _WIDTH // _HEADS)(batch)
    return {**indices("token", 1, 50_000)(batch), **past}


# -------------------------------------------------------------------------------------------------------------- images


def _autoencoder() -> Any:
    entry = keras.Input(_PIXELS, name="image")
    down = [layers.Conv2D(width, 3, strides=2, padding="same", activation="relu") for width in (32, 64, 128)]
    up = [layers.Conv2DTranspose(width, 3, strides=2, padding="same", activation="relu") for width in (128, 64, 32)]
    return _in_a_row(entry, *down, *up, layers.Conv2D(3, 3, padding="same", activation="sigmoid"))


def _unet() -> Any:
    image = keras.Input(_PIXELS, name="image")
    x, skips = image, []
    for width in (16, 32, 64, 128):
        x = layers.Conv2D(width, 3, padding="same", activation="relu")(x)
        x = layers.Conv2D(width, 3, padding="same", activation="relu")(x)
        skips.append(x)
        x = layers.MaxPooling2D()(x)
    x = layers.Conv2D(256, 3, padding="same", activation="relu")(x)
    for width in (128, 64, 32, 16):
        x = layers.Conv2DTranspose(width, 2, strides=2, padding="same")(x)
        x = layers.Conv2D(width, 3, padding="same", activation="relu")(layers.Concatenate()([x, skips.pop()]))
    return keras.Model(image, layers.Conv2D(2, 1, activation="sigmoid")(x))


def application(name: str) -> RealModel:
    def make() -> Any:
        image = keras.Input(_PIXELS, name="image")
        return keras.Model(image, getattr(keras.applications, name)(weights=None, input_shape=_PIXELS)(image))

    return RealModel("224 x 224 pixels", keras_model(make), _numbers("image", *_PIXELS))


MODELS: Final[dict[str, RealModel]] = {
    "MLP": RealModel("784 numbers, 3 layers of 512", keras_model(_mlp), _numbers("x", 784)),
    "wide and deep, integers": RealModel(
        "13 numbers, 26 keys", keras_model(_wide_and_deep_of_integers), _dense_and(indices("ids", 26, 10_000))
    ),
    "wide and deep, strings": RealModel(
        "13 numbers, 26 words", keras_model(_wide_and_deep_of_strings), _dense_and(_words("words", 26))
    ),
    "DLRM": RealModel("13 numbers, 26 keys", keras_model(_dlrm), _dense_and(indices("ids", 26, 10_000))),
    "LSTM": RealModel(
        "128 tokens, 128 units", keras_model(lambda: _recurrent(layers.LSTM(128))), indices("tokens", _TOKENS, 20_000)
    ),
    "bidirectional GRU": RealModel(
        "128 tokens, 2 x 128 units",
        keras_model(lambda: _recurrent(layers.Bidirectional(layers.GRU(128)))),
        indices("tokens", _TOKENS, 20_000),
    ),
    "text CNN": RealModel("100 words of text", keras_model(_text_cnn), _sentences),
    "WaveNet": RealModel("4,096 samples, 10 layers of 32", keras_model(_wavenet), _numbers("audio", 4096, 1)),
    "BERT small": RealModel("128 tokens, 4 layers of 512", keras_model(_bert), indices("tokens", _TOKENS, 30_000)),
    "GPT-2, a step": RealModel("1 token after 127, 6 layers of 768", _export_decoder, _decoding),
    "ViT S/16": RealModel("224 x 224 pixels", keras_model(_vit), _numbers("image", *_PIXELS)),
    "autoencoder": RealModel("224 x 224 pixels", keras_model(_autoencoder), _numbers("image", *_PIXELS)),
    "U-Net": RealModel("224 x 224 pixels", keras_model(_unet), _numbers("image", *_PIXELS)),
    "MobileNetV3 large": application("MobileNetV3Large"),
    "EfficientNetB0": application("EfficientNetB0"),
    "DenseNet121": application("DenseNet121"),
    "ResNet50": application("ResNet50"),
    "ConvNeXt tiny": application("ConvNeXtTiny"),
}
