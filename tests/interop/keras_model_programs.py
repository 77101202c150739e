"""Programs for the layers and models of `tf.keras`; each takes TensorFlow and Keras, ours or theirs.

`observed` runs all of them: what it gives is plain values, which two processes can compare. `write_files` leaves a
model in files, and `read_files` reads what another process has left.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

_DRAW = np.random.RandomState(0)
IMAGES = _DRAW.normal(size=(50, 8, 8, 3)).astype("float32")
CLASSES = _DRAW.randint(0, 2, size=(50,))
ROWS = _DRAW.normal(size=(50, 3)).astype("float32")
SEQUENCES = _DRAW.normal(size=(12, 6, 3)).astype("float32")
SEQUENCES[:3, 4:] = 0
WORDS = _DRAW.randint(0, 9, size=(12, 6))
PAIRS = _DRAW.normal(size=(12, 2)).astype("float32")
TABLE = _DRAW.normal(size=(20, 4)).astype("float32")


def _set_weights(model: Any) -> None:
    """Weights that are the same for all: the numbers that initializers draw depend on the operations before."""
    draw = np.random.RandomState(7)
    model.set_weights([np.abs(draw.normal(size=w.shape, scale=0.3)).astype("float32") for w in model.get_weights()])


def _fitted(model: Any, x: Any, y: Any, **options: Any) -> list[Any]:
    np.random.seed(1)
    history = model.fit(x, y, epochs=2, verbose=0, **options).history
    return [history[name] for name in sorted(history)]


def image_model(keras: Any) -> Any:
    """Branches, batch normalization, dropout, several outputs, operations between layers."""
    layers = keras.layers
    inputs = keras.Input((8, 8, 3))
    x = layers.Conv2D(4, 3, padding="same", activation="relu")(inputs)
    x = layers.BatchNormalization()(x)
    x = layers.Dropout(0.3, seed=3)(layers.MaxPooling2D()(x))
    z = layers.Dense(3, kernel_regularizer="l2", name="z")(layers.GlobalAveragePooling2D()(x))
    y = layers.Flatten()(layers.DepthwiseConv2D(3)(x)) * 2.0
    return keras.Model(inputs, [layers.Dense(2, activation="softmax", name="out")(y), z])


def images(tf: Any, keras: Any) -> tuple[Any, Any]:
    model = image_model(keras)
    model.compile(
        "adam",
        loss=["sparse_categorical_crossentropy", "mse"],
        metrics={"out": ["accuracy"], "z": ["mae"]},
        loss_weights=[1.0, 0.5],
    )
    _set_weights(model)
    numbers = [_fitted(model, IMAGES, [CLASSES, ROWS], batch_size=16, validation_split=0.2)]
    numbers.append(model.evaluate(IMAGES, [CLASSES, ROWS], verbose=0))
    numbers.append(model.predict(IMAGES[:5]))
    weights = [np.arange(8.0), np.ones(8)]
    numbers.append(model.train_on_batch(IMAGES[:8], [CLASSES[:8], ROWS[:8]], sample_weight=weights))
    numbers.append(model.get_weights())
    operations = [f"{op.name} {op.type}" for op in tf.get_default_graph().get_operations() if "/" not in op.name]
    facts = [
        [layer.name for layer in model.layers],
        [weight.name for weight in model.weights],
        [weight.name for weight in model.optimizer.weights],
        model.metrics_names,
        model.output_names,
        [layer.output_shape for layer in model.layers[1:]],
        [name for name in operations if name.startswith(("input", "out", "z"))],
    ]
    return facts, numbers


def classes(tf: Any, keras: Any) -> tuple[Any, Any]:
    """A sequence of layers that is built by its data, with weights of classes."""
    layers = keras.layers
    model = keras.Sequential([layers.Dense(4, activation="tanh"), layers.Dense(1, activation="sigmoid")])
    model.compile("sgd", "binary_crossentropy", metrics=["acc"])
    rows = IMAGES.reshape(50, -1)[:, :5]
    model.predict(rows)
    _set_weights(model)
    numbers = _fitted(model, rows, CLASSES, class_weight={0: 1.0, 1: 2.0}, validation_data=(rows, CLASSES))
    return [[weight.name for weight in model.weights], model.count_params()], [numbers, model.get_weights()]


def _recurrent(kind: str, **options: Any) -> Callable[[Any, Any], tuple[Any, Any]]:
    def program(tf: Any, keras: Any) -> tuple[Any, Any]:
        inputs = keras.Input((6, 3))
        make = getattr(keras.layers, kind)
        x = make(4, return_sequences=True, **options)(keras.layers.Masking()(inputs))
        model = keras.Model(inputs, make(2)(x))
        model.compile("sgd", "mse")
        _set_weights(model)
        return [layer.name for layer in model.layers], [_fitted(model, SEQUENCES, PAIRS), model.get_weights()]

    return program


def states(tf: Any, keras: Any) -> tuple[Any, Any]:
    """States handed on, cells, both directions, every step, and states that are kept."""
    layers = keras.layers
    inputs = keras.Input((6, 3))
    x, h, c = layers.LSTM(4, return_state=True, return_sequences=True)(inputs)
    x = layers.LSTM(4, return_sequences=True)(x, initial_state=[h, c])
    x = layers.Bidirectional(layers.GRU(4, return_sequences=True))(x)
    x = layers.TimeDistributed(layers.Dense(3, activation="relu"))(x)
    x = layers.Bidirectional(layers.SimpleRNN(2, return_sequences=True), merge_mode="sum")(x)
    model = keras.Model(inputs, layers.RNN([layers.LSTMCell(3), layers.GRUCell(2)])(x))
    model.compile("sgd", "mse")
    _set_weights(model)
    numbers = [_fitted(model, SEQUENCES, PAIRS)]
    kept = keras.Sequential([layers.LSTM(2, stateful=True, batch_input_shape=(4, 6, 3))])
    kept.compile("sgd", "mse")
    _set_weights(kept)
    numbers += [_fitted(kept, SEQUENCES, PAIRS, batch_size=4), kept.predict(SEQUENCES, batch_size=4)]
    kept.reset_states()
    numbers.append(kept.predict(SEQUENCES, batch_size=4))
    return [[layer.name for layer in model.layers], model.count_params()], numbers


def words(tf: Any, keras: Any) -> tuple[Any, Any]:
    """Masks of embeddings, attention, and dropout of states."""
    layers = keras.layers
    inputs = keras.Input((6,), dtype="int32")
    rows = layers.Embedding(9, 4, mask_zero=True)(inputs)
    pooled = layers.GlobalAveragePooling1D()(layers.Attention()([rows, rows]))
    last = layers.LSTM(3, dropout=0.2, recurrent_dropout=0.2)(rows)
    model = keras.Model(inputs, layers.Dense(2)(layers.concatenate([pooled, last])))
    model.compile("adagrad", "mse")
    _set_weights(model)
    return [layer.name for layer in model.layers], [_fitted(model, WORDS, PAIRS), model.get_weights()]


def shared(tf: Any, keras: Any) -> tuple[Any, Any]:
    """Layers that are called twice, models in models, inputs by name, JSON and clones."""
    layers = keras.layers
    a, b = keras.Input((4,), name="a"), keras.Input((4,), name="b")
    dense = layers.Dense(3, name="shared")
    inner = keras.Sequential([layers.Dense(3, input_shape=(3,)), layers.BatchNormalization()], name="inner")
    total = layers.Add()([inner(dense(a)), dense(b)])  # two calls would move averages in any order
    model = keras.Model([a, b], [total, layers.Dot(axes=1, normalize=True)([dense(a), dense(b)])], name="both")
    model.compile("nadam", ["mse", "mae"])
    _set_weights(model)
    targets = [TABLE[:, :3], TABLE[:, 3:]]
    numbers = [_fitted(model, {"a": TABLE, "b": TABLE[::-1]}, targets), model.get_weights()]
    again = keras.models.model_from_json(model.to_json())
    clone = keras.models.clone_model(model)
    for other in (again, clone):
        other.set_weights(model.get_weights())
        numbers.append(other.predict([TABLE, TABLE]))
    facts = [
        [layer.name for layer in model.layers],
        [weight.name for weight in model.weights],
        model.output_names,
        [layer.name for layer in again.layers],
    ]
    return facts, numbers


def own_layers(tf: Any, keras: Any) -> tuple[Any, Any]:
    """A layer and a model of the program's own, an optimizer of `tf.train`, datasets and generators."""
    backend, layers = keras.backend, keras.layers

    class Product(layers.Layer):  # type: ignore[name-defined, misc]
        def __init__(self, units: int, **options: Any) -> None:
            super().__init__(**options)
            self.units = units

        def build(self, input_shape: Any) -> None:
            regularizer = keras.regularizers.l1(0.01)
            size = int(input_shape[-1])
            self.w = self.add_weight(name="w", shape=(size, self.units), regularizer=regularizer)
            self.calls = self.add_weight("calls", shape=(), initializer="zeros", trainable=False)
            super().build(input_shape)

        def call(self, inputs: Any) -> Any:
            self.add_update(backend.update_add(self.calls, 1.0))
            return backend.dot(inputs, self.w)

    class Own(keras.Model):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.product = Product(3)
            self.blocks = [layers.Dense(3) for _ in range(2)]
            self.normal = layers.BatchNormalization()

        def call(self, inputs: Any, training: Any = None) -> Any:
            x = self.product(inputs)
            for block in self.blocks:
                x = block(x)
            return self.normal(x, training=training)

    model = Own()
    model.compile(tf.train.MomentumOptimizer(0.05, 0.5), "mse")
    targets = TABLE[:, :3]
    model.predict(TABLE)
    _set_weights(model)
    numbers = [_fitted(model, TABLE, targets, batch_size=5, shuffle=False)]
    dataset = tf.data.Dataset.from_tensor_slices((TABLE, targets)).batch(5).repeat()
    numbers.append(_fitted(model, dataset, None, steps_per_epoch=4))
    numbers.append(model.evaluate(dataset, steps=4, verbose=0))

    def batches() -> Any:
        while True:
            for at in range(0, 20, 5):
                yield TABLE[at : at + 5], targets[at : at + 5]

    history = model.fit_generator(batches(), steps_per_epoch=4, epochs=2, verbose=0, workers=0).history
    numbers += [history["loss"], model.evaluate_generator(batches(), 4, workers=0), model.get_weights()]
    facts = [[weight.name for weight in model.weights], len(model.losses), len(model.trainable_weights)]
    return facts, numbers


def chains(tf: Any, keras: Any) -> tuple[Any, Any]:
    """Layers that change shapes, one after the other."""
    layers = keras.layers
    rows = keras.Sequential(
        [
            layers.Conv1D(3, 2, padding="causal", input_shape=(8, 2)),
            layers.MaxPooling1D(),
            layers.UpSampling1D(2),
            layers.ZeroPadding1D(1),
            layers.Cropping1D(1),
            layers.SeparableConv1D(3, 2),
            layers.LeakyReLU(0.1),
            layers.PReLU(),
            layers.LayerNormalization(),
            layers.Flatten(),
            layers.RepeatVector(2),
            layers.Permute((2, 1)),
            layers.Reshape((-1,)),
            layers.GaussianNoise(0.1),
            layers.ActivityRegularization(0.1),
            layers.Lambda(lambda t: t * 0.5),
            layers.Dense(2, activation="softmax"),
        ]
    )
    rows.compile("adagrad", "categorical_crossentropy", metrics=["accuracy", "ce"])
    _set_weights(rows)
    x = IMAGES[:6, :8, :2, 0].reshape(6, 8, 2)
    numbers = [rows.evaluate(x, np.eye(2)[[0, 1, 0, 1, 1, 0]], verbose=0), rows.predict(x)]
    pictures = keras.Sequential(
        [
            layers.Conv2DTranspose(3, 3, strides=2, padding="same", input_shape=(4, 4, 2)),
            layers.UpSampling2D(2, interpolation="bilinear"),
            layers.ZeroPadding2D(1),
            layers.Cropping2D(2),
            layers.SeparableConv2D(2, 3),
            layers.AveragePooling2D(),
            layers.SpatialDropout2D(0.2),
            layers.ReLU(max_value=1.0),
            layers.GlobalMaxPooling2D(),
            layers.Softmax(),
        ]
    )
    _set_weights(pictures)
    numbers.append(pictures.predict(IMAGES[:2, :4, :4, :2]))
    volumes = keras.Sequential(
        [
            layers.Conv3D(2, 2, input_shape=(4, 4, 4, 1)),
            layers.MaxPooling3D(1),
            layers.Conv3DTranspose(2, 2),
            layers.GlobalAveragePooling3D(),
            layers.ELU(),
        ]
    )
    _set_weights(volumes)
    numbers.append(volumes.predict(IMAGES[:2, :4, :4, 0].reshape(2, 4, 4, 1, 1).repeat(4, axis=3)))
    facts = [[layer.output_shape for layer in model.layers] for model in (rows, pictures, volumes)]
    return [facts, rows.metrics_names], numbers


def films(tf: Any, keras: Any) -> tuple[Any, Any]:
    """Images in sequences, by convolutions with states; with states that are kept, and both directions."""
    layers = keras.layers
    inputs = keras.Input(batch_shape=(4, 3, 5, 4, 2))
    x = layers.Bidirectional(layers.ConvLSTM2D(2, (2, 3), padding="same", return_sequences=True))(inputs)
    last, h, c = layers.ConvLSTM2D(3, 2, dilation_rate=2, return_state=True, stateful=True, name="last")(x)
    total = layers.Flatten()(layers.Add()([last, h, c]))
    model = keras.Model(inputs, total)
    model.compile("sgd", "mse")
    _set_weights(model)
    x = IMAGES[:8, :5, :6].reshape(8, 3, 5, 6)[..., :4, None].repeat(2, axis=-1)
    numbers = [_fitted(model, x, np.zeros((8, 18)), batch_size=4), model.predict(x), model.get_weights()]
    return [model.layers[2].output_shape, [weight.shape for weight in model.get_weights()]], numbers


def places(tf: Any, keras: Any) -> tuple[Any, Any]:
    """Weights of their own at each place, in each of the three layouts."""
    layers = keras.layers
    numbers: list[Any] = []
    facts = []
    for implementation in (1, 2, 3):
        padding = "valid" if implementation == 1 else "same"
        two = layers.LocallyConnected2D(2, (2, 3), 2, padding, activation="tanh", implementation=implementation)
        one = layers.LocallyConnected1D(2, 2, padding=padding, use_bias=False, implementation=implementation)
        first = layers.LocallyConnected2D(2, 2, data_format="channels_first", implementation=implementation)
        rows = [layers.Reshape((-1, 2)), one, layers.Flatten(), layers.RepeatVector(2)]
        reshaped = [*rows, layers.Reshape((1, 2, -1)), first, layers.Flatten()]
        model = keras.Sequential([keras.Input((8, 8, 3)), two, *reshaped])
        model.compile("sgd", "mse")
        _set_weights(model)
        targets = np.zeros((50, model.output_shape[1]))
        numbers += [_fitted(model, IMAGES, targets), model.get_weights()]
        facts.append([[layer.output_shape for layer in model.layers], [weight.name for weight in model.weights]])
    return facts, numbers


def dilated(tf: Any, keras: Any) -> tuple[Any, Any]:
    """Transposed convolutions that leave places out."""
    layers = keras.layers
    model = keras.Sequential(
        [
            layers.Conv2DTranspose(3, 3, dilation_rate=2, padding="same", input_shape=(4, 5, 2)),
            layers.Conv2DTranspose(2, (2, 3), dilation_rate=(3, 3), activation="relu"),
            layers.Permute((3, 1, 2)),
            layers.Conv2DTranspose(2, 2, dilation_rate=2, output_padding=0, data_format="channels_first"),
            layers.Conv2DTranspose(2, 3, dilation_rate=2, output_padding=0, padding="same", name="last"),
            layers.Flatten(),
            layers.Dense(1),
        ]
    )
    model.compile("sgd", "mse")
    _set_weights(model)
    x = IMAGES[:12, :4, :5, :2]
    numbers = [model.predict(x), _fitted(model, x, 0.01 * PAIRS[:, :1], batch_size=6), model.get_weights()]
    facts = [[layer.name for layer in model.layers], [layer.output_shape for layer in model.layers]]
    return [*facts, [layer.get_config().get("dilation_rate") for layer in model.layers]], numbers


def libraries(tf: Any, keras: Any) -> tuple[Any, Any]:
    """What libraries on Keras do: losses whose targets have another rank, functions with and without masks, marks."""
    backend, layers = keras.backend, keras.layers

    def by_class(target: Any, output: Any) -> Any:
        classes = backend.reshape(target, backend.shape(output)[:-1])
        return backend.sparse_categorical_crossentropy(classes, output)

    def shifted(x: Any) -> Any:
        mask = x * 2.0
        return mask + 1.0

    def masked(x: Any, mask: Any = None) -> Any:
        return x * backend.cast(backend.expand_dims(mask), "float32")

    inputs = keras.Input((6, 3))
    inputs._marked = True
    x = layers.Lambda(masked)(layers.Masking()(layers.Lambda(shifted)(inputs)))
    x = layers.Lambda(lambda value, scale=2.0: value * scale)(x)
    model = keras.Model(inputs, layers.Dense(4, activation="softmax")(x))
    model.compile("sgd", by_class)
    _set_weights(model)
    classes = WORDS % 4
    numbers = [[model.train_on_batch(SEQUENCES, classes) for _ in range(2)], model.get_weights()]
    scaled = keras.Sequential([layers.Lambda(lambda value, scale=2.0: value * scale, input_shape=(3,))])
    numbers.append(keras.models.model_from_json(scaled.to_json()).predict(SEQUENCES[0]))
    return [model.count_params(), inputs._marked], numbers


PROGRAMS: dict[str, Callable[[Any, Any], tuple[Any, Any]]] = {
    "images": images,
    "classes": classes,
    "states": states,
    "words": words,
    "shared": shared,
    "own layers": own_layers,
    "libraries": libraries,
    "chains": chains,
    "films": films,
    "places": places,
    "dilated": dilated,
    "rnn": _recurrent("SimpleRNN", go_backwards=True),
    "lstm": _recurrent("LSTM"),
    "lstm joined": _recurrent("LSTM", implementation=2, unroll=True),
    "gru": _recurrent("GRU"),
    "gru after": _recurrent("GRU", reset_after=True, implementation=2),
}


def observed(tf: Any, keras: Any) -> dict[str, Any]:
    """What each program gives: facts, and numbers."""
    found = {}
    for name, program in PROGRAMS.items():
        keras.backend.clear_session()
        tf.set_random_seed(3)
        found[name] = program(tf, keras)
    return found


# ---------------------------------------------------------------------------------------------------- Files


def write_files(keras: Any, folder: Path) -> None:
    """Leaves a trained model as HDF5, its weights in both formats, and what it predicts."""
    keras.backend.clear_session()
    folder.mkdir()
    model = image_model(keras)
    model.compile("adam", loss=["sparse_categorical_crossentropy", "mse"], metrics=["accuracy"])
    _set_weights(model)
    model.fit(IMAGES, [CLASSES, ROWS], epochs=1, verbose=0)
    model.save(str(folder / "model.h5"))
    model.save_weights(str(folder / "weights.h5"))
    model.save_weights(str(folder / "weights"))
    found = [*model.predict(IMAGES[:4]), *model.optimizer.get_weights()]
    np.savez(folder / "expected.npz", *found)


def recurrent_model(keras: Any, lstm: Any, gru: Any) -> Any:
    """Recurrent layers in layers and in models, as cuDNN has their weights or as others do."""
    layers = keras.layers
    inner = keras.Sequential([gru(3, return_sequences=True, input_shape=(None, 4))])
    inputs = keras.Input((6, 3))
    x = inner(layers.Bidirectional(lstm(2, return_sequences=True))(inputs))
    return keras.Model(inputs, lstm(2, go_backwards=True)(x))


def write_cudnn_weights(keras: Any, folder: Path) -> None:
    """Leaves the weights of cuDNN's layers, and what those layers make of sequences."""
    keras.backend.clear_session()
    model = recurrent_model(keras, keras.layers.CuDNNLSTM, keras.layers.CuDNNGRU)
    _set_weights(model)
    model.save_weights(str(folder / "cudnn.h5"))
    np.save(folder / "cudnn.npy", model.predict(SEQUENCES))


def read_cudnn_weights(keras: Any, folder: Path) -> None:
    """Reads them into other layers, which say the same."""
    keras.backend.clear_session()
    layers = keras.layers
    model = recurrent_model(
        keras,
        lambda units, **options: layers.LSTM(units, recurrent_activation="sigmoid", **options),
        lambda units, **options: layers.GRU(units, recurrent_activation="sigmoid", reset_after=True, **options),
    )
    model.load_weights(str(folder / "cudnn.h5"))
    _assert_close([model.predict(SEQUENCES)], [np.load(folder / "cudnn.npy")])
    model.save_weights(str(folder / "plain.h5"))


def read_files(keras: Any, folder: Path) -> None:
    """Reads them, and sees that all of them say the same."""
    keras.backend.clear_session()
    with np.load(folder / "expected.npz") as file:
        expected = [file[name] for name in file.files]
    model = keras.models.load_model(str(folder / "model.h5"))
    _assert_close([*model.predict(IMAGES[:4]), *model.optimizer.get_weights()], expected)
    for name in ("weights.h5", "weights"):
        other = image_model(keras)
        _set_weights(other)
        other.load_weights(str(folder / name))
        _assert_close(other.predict(IMAGES[:4]), expected[:2])
    other.compile("adam", loss=["sparse_categorical_crossentropy", "mse"])
    other._make_train_function()  # the variables of the optimizer are there from now on
    other.load_weights(str(folder / "weights")).assert_existing_objects_matched()
    _assert_close(other.optimizer.get_weights(), expected[2:])


def _assert_close(some: Any, others: Any) -> None:
    assert len(some) == len(others)
    for one, other in zip(some, others, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-6)
