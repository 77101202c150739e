"""The networks of `tf.keras.applications`: what one is made of, and what it says, ours or Keras's."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

QUICK: Final = ("MobileNet", "VGG16")
NETWORKS: Final = (
    *QUICK, "MobileNetV2", "ResNet50", "ResNet50V2", "DenseNet121", "InceptionV3", "Xception", "NASNetMobile",
    "InceptionResNetV2", "VGG19", "ResNet101", "ResNet152", "ResNet101V2", "ResNet152V2", "DenseNet169", "DenseNet201",
    "NASNetLarge",
)  # fmt: skip
_LEAST: Final = {"InceptionV3": 80, "InceptionResNetV2": 80, "Xception": 75}


def _values(shapes: list[tuple[int, ...]]) -> list[Any]:
    """Weights that let numbers through a deep network: neither nothing nor too much."""
    draw = np.random.RandomState(1)
    return [
        ((draw.rand(*shape) - 0.5) * np.sqrt(12 / np.prod(shape[:-1]))).astype("f4")
        if len(shape) > 1
        else (draw.rand(*shape) * 0.5 + 0.75).astype("f4")
        for shape in shapes
    ]


def observe_network(keras: Any, name: str) -> tuple[Any, Any]:
    """Names, shapes and predictions of a network; small ones end with features, the others with classes."""
    keras.backend.clear_session()
    size = _LEAST.get(name, 36)
    options: dict[str, Any] = {"alpha": 0.35} if name.startswith("Mobile") else {}
    if name == "VGG16":
        options = {"include_top": False, "pooling": "max"}
    model = getattr(keras.applications, name)(weights=None, input_shape=(size, size + 4, 3), classes=7, **options)
    shapes = [tuple(weight.shape.as_list()) for weight in model.weights]
    model.set_weights(_values(shapes))
    images = np.random.RandomState(2).rand(2, size, size + 4, 3).astype("f4")
    facts = [model.name, [layer.name for layer in model.layers], [weight.name for weight in model.weights], shapes]
    return facts, model.predict(images)


def observe_images(tf: Any, keras: Any) -> list[Any]:
    """Images made ready for networks, as arrays and as tensors."""
    found = []
    images = np.random.RandomState(3).randint(0, 256, (2, 4, 5, 3)).astype("f4")
    for name in ("vgg16", "densenet", "xception"):
        prepare = getattr(keras.applications, name).preprocess_input
        found += [prepare(images.copy()), prepare(images.transpose(0, 3, 1, 2).copy(), data_format="channels_first")]
        with tf.Graph().as_default(), tf.Session() as session:
            found.append(session.run(prepare(tf.constant(images))))
            turned = tf.constant(images.transpose(0, 3, 1, 2))
            found.append(session.run(prepare(turned, data_format="channels_first")))
    return found
