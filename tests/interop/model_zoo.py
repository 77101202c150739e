"""Models with random weights, made by live TensorFlow and Keras: the architectures that people export.

Each entry of `ZOO` writes a SavedModel into a folder and gives what to call: a signature and arrays for its inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import tensorflow as tf

Call = tuple[str, dict[str, Any]]
Export = Callable[[str], Call]

keras: Any = tf.keras
layers = keras.layers
ZOO: Final[dict[str, Export]] = {}
SERVING: Final = "serving_default"


def _random(*shape: int, seed: int = 3) -> Any:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def _entry(name: str) -> Callable[[Export], Export]:
    def add(export: Export) -> Export:
        ZOO[name] = export
        return export

    return add


def _shaken(model: Any, most_dimensions: int = 9) -> Any:
    """The model with weights that are not what layers begin with: no zeros for biases, no ones for variances.

    Of deep networks only vectors are changed, so that what flows through them neither fades nor explodes.
    """
    random = np.random.default_rng(7)
    for variable in model.weights:
        value = np.asarray(variable)
        if value.dtype == np.float32 and value.ndim <= most_dimensions:
            noise = random.normal(scale=0.1, size=value.shape)
            variable.assign(np.abs(value + noise) if "variance" in variable.path else value + noise)
    return model


def _exported(model: Any, folder: str, **inputs: Any) -> Call:
    model.export(folder, verbose=False)
    return SERVING, inputs


def _of_layers(shape: tuple[int | None, ...], *stack: Any, size: int | None = None) -> Export:
    """A model of layers in a row."""

    def export(folder: str) -> Call:
        keras.utils.set_random_seed(1)
        model = keras.Sequential([keras.Input(shape, name="x"), *(make() for make in stack)])
        concrete = tuple(size or 5 if dim is None else dim for dim in shape)
        return _exported(_shaken(model), folder, x=_random(2, *concrete))

    return export


ZOO["dense"] = _of_layers(
    (20,), lambda: layers.Dense(32, activation="relu"), lambda: layers.LayerNormalization(), lambda: layers.Dense(5)
)
ZOO["conv + batch norm"] = _of_layers(
    (12, 12, 3),
    lambda: layers.Conv2D(8, 3, strides=2, padding="same"),
    lambda: layers.BatchNormalization(),
    lambda: layers.ReLU(),
    lambda: layers.DepthwiseConv2D(3),
    lambda: layers.SeparableConv2D(6, 3, padding="same"),
    lambda: layers.GlobalAveragePooling2D(),
    lambda: layers.Dense(4, activation="softmax"),
)
ZOO["LSTM"] = _of_layers((None, 4), lambda: layers.LSTM(6, return_sequences=True), lambda: layers.LSTM(5), size=7)
ZOO["GRU"] = _of_layers((None, 4), lambda: layers.GRU(6, return_sequences=True), lambda: layers.GRU(5), size=7)
ZOO["bidirectional"] = _of_layers((None, 4), lambda: layers.Bidirectional(layers.LSTM(6)), size=6)
ZOO["ConvLSTM2D"] = _of_layers((3, 8, 8, 2), lambda: layers.ConvLSTM2D(4, 3, padding="same"))
ZOO["Conv1D"] = _of_layers(
    (16, 3), lambda: layers.Conv1D(8, 3, padding="causal", dilation_rate=2), lambda: layers.MaxPooling1D()
)
ZOO["Conv3D"] = _of_layers((6, 6, 6, 2), lambda: layers.Conv3D(4, 3, padding="same"), lambda: layers.MaxPooling3D())
ZOO["transposed convolutions"] = _of_layers(
    (7, 7, 3),
    lambda: layers.Conv2DTranspose(5, 3, strides=2, padding="same"),
    lambda: layers.UpSampling2D(2),
    lambda: layers.Conv2DTranspose(2, 4, strides=2),
)


@_entry("U-Net")
def unet(folder: str) -> Call:
    keras.utils.set_random_seed(1)
    image = keras.Input((32, 32, 3), name="image")
    x, skips = image, []
    for width in (8, 16):
        x = layers.Conv2D(width, 3, padding="same", activation="relu")(x)
        skips.append(x)
        x = layers.MaxPooling2D()(x)
    x = layers.Conv2D(32, 3, padding="same", activation="relu")(x)
    for width in (16, 8):
        x = layers.Conv2DTranspose(width, 2, strides=2, padding="same")(x)
        x = layers.Concatenate()([x, skips.pop()])
        x = layers.Conv2D(width, 3, padding="same", activation="relu")(x)
    model = keras.Model(image, layers.Conv2D(2, 1, activation="sigmoid")(x))
    return _exported(_shaken(model), folder, image=_random(1, 32, 32, 3))


def _attended(x: Any, other: Any, causal: bool, mask: Any = None) -> Any:
    y = layers.MultiHeadAttention(4, 8)(x, other, use_causal_mask=causal, attention_mask=mask)
    x = layers.LayerNormalization()(x + y)
    y = layers.Dense(32)(layers.Dense(64, activation="gelu")(x))
    return layers.LayerNormalization()(x + y)


@_entry("transformer")
def transformer(folder: str) -> Call:
    """An encoder and a decoder; padding and the future are masked."""
    keras.utils.set_random_seed(1)
    source = keras.Input((None,), dtype="int32", name="source")
    target = keras.Input((None,), dtype="int32", name="target")
    embed = layers.Embedding(50, 32, mask_zero=True)
    encoded = _attended(embed(source), embed(source), causal=False)
    decoded = _attended(embed(target), embed(target), causal=True)
    decoded = _attended(decoded, encoded, causal=False)
    model = keras.Model([source, target], layers.Dense(50, activation="softmax")(decoded))
    tokens = np.array([[3, 8, 9, 2, 0, 0], [5, 1, 7, 4, 6, 2]], np.int32)
    return _exported(_shaken(model), folder, source=tokens, target=tokens[:, :4])


@_entry("text vectorisation")
def text(folder: str) -> Call:
    keras.utils.set_random_seed(1)
    vectorize = layers.TextVectorization(max_tokens=20, output_sequence_length=6)
    vectorize.adapt(["the cat sat on the mat", "a dog, a log", "the end"])
    lookup = layers.StringLookup(vocabulary=["red", "green", "blue"], output_mode="one_hot")
    words = keras.Input((1,), dtype="string", name="text")
    color = keras.Input((1,), dtype="string", name="color")
    x = layers.GlobalAveragePooling1D()(layers.Embedding(20, 8)(vectorize(words)))
    x = layers.Concatenate()([x, lookup(color)])
    model = _shaken(keras.Model([words, color], layers.Dense(3)(x)))
    given = {"text": [["The cat, ate the LOG!"], ["unknown words"]], "color": [["green"], ["pink"]]}
    return _exported(model, folder, **{name: np.array(value, object) for name, value in given.items()})


class _Flow(tf.Module):  # type: ignore[misc]
    """Branches, loops with lists and counters, and a table."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = tf.Variable(_random(3, 3))
        self.calls = tf.Variable(0, dtype=tf.int64, trainable=False)
        keys, values = tf.constant(["a", "b"]), tf.constant([2.0, 3.0])
        self.table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, values), -1.0)

    def flow(self, x: Any, n: Any, word: Any) -> Any:
        self.calls.assign_add(1)
        rows = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        for i in tf.range(n):
            if tf.reduce_sum(x) > 0.0:  # noqa: SIM108 - becomes a node of the graph, which an expression would not
                x = tf.tanh(x @ self.weight)
            else:
                x = x + 0.5
            rows = rows.write(i, tf.reduce_mean(x, 0))
        chosen = tf.switch_case(n % 3, [lambda: x, lambda: -x, lambda: x * 2.0])
        return {"x": chosen, "rows": rows.stack(), "found": self.table.lookup(word), "calls": self.calls.read_value()}


@_entry("control flow")
def control_flow(folder: str) -> Call:
    module = _Flow()
    takes = [tf.TensorSpec([None, 3]), tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.string)]
    module.traced = tf.function(module.flow, input_signature=takes)
    tf.saved_model.save(module, folder, signatures={SERVING: module.traced})
    return SERVING, {"x": _random(4, 3), "n": np.int32(5), "word": np.array(b"b", object)}


@_entry("tf.Example parsing")
def parsing(folder: str) -> Call:
    module = tf.Module()
    module.weight = tf.Variable(_random(3, 2))
    features = {"x": tf.io.FixedLenFeature([3], tf.float32), "tags": tf.io.VarLenFeature(tf.string)}

    def serve(examples: Any) -> Any:
        parsed = tf.io.parse_example(examples, features)
        return {"score": parsed["x"] @ module.weight, "tags": tf.sparse.to_dense(parsed["tags"])}

    tf.saved_model.save(
        module, folder, signatures={SERVING: tf.function(serve, input_signature=[tf.TensorSpec([None], tf.string)])}
    )
    example = tf.train.Example()
    example.features.feature["x"].float_list.value.extend([1.0, -2.0, 0.5])
    example.features.feature["tags"].bytes_list.value.extend([b"p", b"q"])
    return SERVING, {"examples": np.array([example.SerializeToString()] * 2, object)}


@_entry("NMS post-processing")
def detection(folder: str) -> Call:
    module = tf.Module()

    def pick(boxes: Any, scores: Any) -> Any:
        chosen = tf.image.non_max_suppression(boxes, scores, 5, 0.4, 0.1)
        return {"boxes": tf.gather(boxes, chosen), "scores": tf.gather(scores, chosen)}

    tf.saved_model.save(
        module,
        folder,
        signatures={SERVING: tf.function(pick, input_signature=[tf.TensorSpec([None, 4]), tf.TensorSpec([None])])},
    )
    corners = np.random.default_rng(1).uniform(0, 1, (20, 2, 2)).astype(np.float32)
    boxes = np.concatenate([corners.min(1), corners.max(1)], 1)
    return SERVING, {"boxes": boxes, "scores": np.linspace(0, 1, 20, dtype=np.float32)}


@_entry("STFT audio")
def audio(folder: str) -> Call:
    module = tf.Module()

    def mel(samples: Any) -> Any:
        power = tf.abs(tf.signal.stft(samples, 64, 32)) ** 2
        matrix = tf.signal.linear_to_mel_weight_matrix(10, 33, 8000, 80.0, 3500.0)
        return {"mel": tf.math.log(power @ matrix + 1e-3)}

    tf.saved_model.save(
        module, folder, signatures={SERVING: tf.function(mel, input_signature=[tf.TensorSpec([None, None])])}
    )
    return SERVING, {"samples": _random(2, 400)}


@_entry("image decoding")
def decoding(folder: str) -> Call:
    module = tf.Module()

    def decode(images: Any) -> Any:
        def one(data: Any) -> Any:
            image = tf.io.decode_png(data, channels=3)
            return tf.image.resize(tf.image.convert_image_dtype(image, tf.float32), [8, 8])

        return {"pixels": tf.map_fn(one, images, fn_output_signature=tf.TensorSpec([8, 8, 3]))}

    tf.saved_model.save(
        module, folder, signatures={SERVING: tf.function(decode, input_signature=[tf.TensorSpec([None], tf.string)])}
    )
    pixels = np.random.default_rng(2).integers(0, 255, (11, 13, 3), np.uint8)
    return SERVING, {"images": np.array([tf.io.encode_png(pixels).numpy()], object)}


def application(name: str, size: int) -> Export:
    """A network of keras.applications, for images of a size."""

    def export(folder: str) -> Call:
        keras.utils.set_random_seed(1)
        image = keras.Input((size, size, 3), name="image")
        make = getattr(keras.applications, name)
        model = _shaken(make(weights=None, input_tensor=image, classes=10, classifier_activation=None), 1)
        if name not in UNSTEADY:
            return _exported(model, folder, image=_random(1, size, size, 3))
        pixels = np.random.default_rng(11).uniform(0, 255, (8, size, size, 3)).astype(np.float32)
        _fit_statistics(model, pixels)
        return _exported(model, folder, image=pixels[:1])

    return export


UNSTEADY: Final = frozenset(("EfficientNetV2S", "EfficientNetV2M", "EfficientNetV2L"))
"""Networks so deep that at random their answers tell nothing: TensorFlow's own answer of EfficientNetV2S moves by 6e-3
of itself where the image moves by 1e-6, and no two orders of adding can agree then. They are given pixels from 0 to
255, as they expect, and their normalisations the statistics of what flows through them, as training leaves them.
"""


def _fit_statistics(model: Any, images: Any) -> None:
    """Gives each normalisation of batches the means and variances of what it is given for these images."""
    found = [layer for layer in model.layers if isinstance(layer, layers.BatchNormalization)]
    kept = [layer.momentum for layer in found]
    for layer in found:
        layer.momentum = 0.0
    model([images], training=True)
    for layer, momentum in zip(found, kept, strict=True):
        layer.momentum = momentum


NETWORKS: Final = {  # of keras.applications, with the size of the image they are given here
    "MobileNetV2": 96,
    "MobileNetV3Small": 96,
    "MobileNetV3Large": 96,
    "ResNet50V2": 64,
    "EfficientNetB0": 64,
    "EfficientNetV2B0": 64,
    "InceptionV3": 96,
    "Xception": 96,
    "DenseNet121": 64,
    "NASNetMobile": 96,
    "ConvNeXtTiny": 64,
    "VGG16": 48,
}
for _name, _size in NETWORKS.items():
    ZOO[_name] = application(_name, _size)
