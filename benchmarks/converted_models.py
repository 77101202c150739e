"""The models that two converters to ONNX are compared by: those of real sizes that both take, and some more.

What made them may be TensorFlow 2.15 with Keras 2, as the other converter needs it, or any later one.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import tensorflow as tf

from benchmarks.real_models import MODELS as REAL_MODELS
from benchmarks.real_models import RealModel, application, indices, keras, keras_model, layers

_TOKENS: Final = 128
_UNITS: Final = 128
_STRINGS: Final = ("wide and deep, strings", "text CNN")  # the other converter has no operators for them


def _text_cnn_of_tokens() -> Any:
    tokens = keras.Input((_TOKENS,), dtype="int32", name="tokens")
    x = layers.Embedding(10_002, 128)(tokens)
    widths = [layers.GlobalMaxPooling1D()(layers.Conv1D(128, width, activation="relu")(x)) for width in (3, 4, 5)]
    return keras.Model(tokens, layers.Dense(2, activation="softmax")(layers.Concatenate()(widths)))


def _graph_with_a_loop(folder: str) -> None:
    """A recurrent network as TensorFlow 1 wrote them: a while loop over a cell of weights, in one graph."""
    v1 = tf.compat.v1
    random = np.random.default_rng(5)

    def weight(name: str, *shape: int) -> Any:
        return v1.get_variable(name, initializer=(random.normal(size=shape) * 0.05).astype(np.float32))

    with tf.Graph().as_default(), v1.Session() as session:
        tokens = v1.placeholder(tf.int32, [None, _TOKENS], "tokens")
        steps = tf.transpose(tf.gather(weight("table", 20_000, _UNITS), tokens), [1, 0, 2])
        taken, kept = weight("taken", _UNITS, _UNITS), weight("kept", _UNITS, _UNITS)
        rows = tf.zeros([tf.shape(tokens)[0], _UNITS])
        _, last = v1.while_loop(
            lambda at, state: at < _TOKENS,
            lambda at, state: (at + 1, tf.tanh(tf.matmul(steps[at], taken) + tf.matmul(state, kept))),
            (tf.constant(0), rows),
        )
        scores = tf.nn.softmax(tf.matmul(last, weight("out", _UNITS, 2)), name="scores")
        session.run(v1.global_variables_initializer())
        v1.saved_model.simple_save(session, folder, {"tokens": tokens}, {"scores": scores})


MODELS: Final[dict[str, RealModel]] = {
    **{name: model for name, model in REAL_MODELS.items() if name not in _STRINGS},
    "text CNN, tokens": RealModel("128 tokens", keras_model(_text_cnn_of_tokens), indices("tokens", _TOKENS, 10_000)),
    "loop of TensorFlow 1": RealModel("128 tokens, 128 units", _graph_with_a_loop, indices("tokens", _TOKENS, 20_000)),
    "MobileNetV2": application("MobileNetV2"),
}
