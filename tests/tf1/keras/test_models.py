"""Models of Keras: how they are made, what they refuse, and what they leave in files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import InvalidArgumentError, TensorKeepError, UnimplementedError
from tensorkeep.tf1.keras.layers import function_texts

keras = tf.keras
layers = tf.keras.layers


@pytest.fixture(autouse=True)
def new_graph() -> Any:
    keras.backend.clear_session()
    yield
    keras.backend.clear_session()


def _line() -> Any:
    model = keras.Sequential([layers.Dense(3, input_shape=(4,)), layers.Activation("relu"), layers.Dense(1)])
    model.compile("sgd", "mse")
    return model


X = np.arange(32, dtype="float32").reshape(8, 4) / 32
Y = X.sum(axis=1, keepdims=True)


def test_layers_are_numbered_and_variables_named_after_them() -> None:
    model = _line()
    assert [layer.name for layer in model.layers] == ["dense", "activation", "dense_1"]
    assert [weight.name for weight in model.weights] == [
        "dense/kernel:0",
        "dense/bias:0",
        "dense_1/kernel:0",
        "dense_1/bias:0",
    ]


def test_training_lowers_the_loss_and_tells_it() -> None:
    history = _line().fit(X, Y, epochs=20, verbose=0).history
    assert len(history["loss"]) == 20
    assert history["loss"][-1] < history["loss"][0]


def test_a_model_that_was_not_compiled_is_not_trained() -> None:
    model = keras.Sequential([layers.Dense(1, input_shape=(4,))])
    with pytest.raises(RuntimeError, match="compile"):
        model.fit(X, Y, verbose=0)
    assert model.predict(X).shape == (8, 1)


@pytest.mark.parametrize(
    ("x", "y", "said"),
    [
        (X[:, :3], Y, r"expected dense_input to have shape \(4,\)"),
        (X, Y[:5], "same number of samples"),
        ([X, X], Y, "Expected to see 1 array"),
        (X, None, "none were given"),
        ({"other": X}, Y, 'No data provided for "dense_input"'),
    ],
)
def test_data_that_does_not_fit_is_refused(x: Any, y: Any, said: str) -> None:
    with pytest.raises(InvalidArgumentError, match=said):
        _line().fit(x, y, verbose=0)


def test_outputs_that_need_another_input_are_refused() -> None:
    a, b = keras.Input((2,)), keras.Input((2,))
    with pytest.raises(InvalidArgumentError, match="Graph disconnected"):
        keras.Model(a, layers.Add()([a, b]))


def test_inputs_are_those_of_input() -> None:
    with pytest.raises(InvalidArgumentError, match=r"must come from `tf.keras.Input`"):
        keras.Model(tf.placeholder(tf.float32, (None, 2)), layers.Dense(1)(keras.Input((2,))))


def test_eager_mode_and_other_machines_are_refused() -> None:
    model = keras.Sequential([layers.Dense(1, input_shape=(4,))])
    with pytest.raises(InvalidArgumentError, match="eager"):
        model.compile("sgd", "mse", run_eagerly=True)
    with pytest.raises(UnimplementedError, match="eager"):
        layers.Layer(dynamic=True)


def test_a_frozen_layer_is_not_trained_and_moves_no_averages() -> None:
    normal = layers.BatchNormalization(input_shape=(4,))
    normal.trainable = False
    model = keras.Sequential([normal, layers.Dense(1)])
    model.compile("sgd", "mse")
    before = normal.get_weights()
    model.fit(X, Y, verbose=0)
    assert [weight.name for weight in model.trainable_weights] == ["dense/kernel:0", "dense/bias:0"]
    np.testing.assert_array_equal(normal.get_weights(), before)


def test_masks_reach_the_loss() -> None:
    inputs = keras.Input((3,), dtype="int32")
    model = keras.Model(inputs, layers.TimeDistributed(layers.Dense(1))(layers.Embedding(5, 2, mask_zero=True)(inputs)))
    model.compile("sgd", "mse")
    words, targets = np.array([[1, 2, 0]]), np.zeros((1, 3, 1))
    outputs = model.predict(words)[0, :, 0]
    assert model.evaluate(words, targets, verbose=0) == pytest.approx(float((outputs[:2] ** 2).sum()) / 3, rel=1e-5)


def test_layers_in_lists_and_dictionaries_are_found() -> None:
    class Own(layers.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.several = [layers.Dense(2)]
            self.named = {"last": layers.Dense(1)}
            self.several.append(layers.Dense(2))

        def call(self, inputs: Any) -> Any:
            for layer in self.several:
                inputs = layer(inputs)
            return self.named["last"](inputs)

    own = Own()
    own(tf.zeros([1, 3]))
    assert len(own.weights) == 6
    assert own.count_params() == 3 * 2 + 2 + 2 * 2 + 2 + 2 + 1


def test_a_model_as_hdf5_goes_on_where_it_was(tmp_path: Path) -> None:
    model = _line()
    model.compile("adam", "mse", metrics=["mae"])
    model.fit(X, Y, epochs=2, verbose=0)
    path = str(tmp_path / "model.h5")
    model.save(path)
    again = keras.models.load_model(path)
    assert again.metrics_names == model.metrics_names
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    model.reset_metrics()  # which hold what the last epoch left
    first, second = model.train_on_batch(X, Y), again.train_on_batch(X, Y)
    np.testing.assert_allclose(first, second, rtol=1e-6)


def test_weights_as_a_checkpoint_are_those_of_objects(tmp_path: Path) -> None:
    model = _line()
    model.save_weights(str(tmp_path / "w"))
    key = "layer_with_weights-0/kernel/.ATTRIBUTES/VARIABLE_VALUE"
    np.testing.assert_array_equal(tf.train.load_variable(str(tmp_path / "w"), key), model.get_weights()[0])
    assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "w")
    values = model.get_weights()
    model.set_weights([value * 0 for value in values])
    model.load_weights(str(tmp_path / "w")).assert_consumed()
    np.testing.assert_array_equal(model.get_weights()[0], values[0])


def test_a_checkpoint_waits_for_a_model_that_has_no_variables_yet(tmp_path: Path) -> None:
    def make() -> Any:
        return keras.Sequential([layers.Dense(2), layers.Dense(1)])

    first = make()
    first.build((None, 4))
    first.save_weights(str(tmp_path / "w"))
    values = first.get_weights()
    later = make()
    later.load_weights(str(tmp_path / "w"))
    later(tf.zeros([1, 4]))
    np.testing.assert_array_equal(later.get_weights()[0], values[0])


def test_weights_that_do_not_fit_are_listed_and_nothing_is_set(tmp_path: Path) -> None:
    _line().save_weights(str(tmp_path / "w.h5"))
    other = keras.Sequential([layers.Dense(2, input_shape=(4,)), layers.Dense(1)])
    before = other.get_weights()
    with pytest.raises(InvalidArgumentError, match=r"(?s)dense_2/kernel.*dense_3/kernel"):
        other.load_weights(str(tmp_path / "w.h5"))
    np.testing.assert_array_equal(other.get_weights()[0], before[0])


def test_weights_by_name_leave_other_layers_alone(tmp_path: Path) -> None:
    first = keras.Sequential([layers.Dense(3, input_shape=(4,), name="a"), layers.Dense(1, name="b")])
    first.save_weights(str(tmp_path / "w.h5"))
    other = keras.Sequential([layers.Dense(3, input_shape=(4,), name="a"), layers.Dense(2, name="c")])
    before = other.get_weights()[2]
    other.load_weights(str(tmp_path / "w.h5"), by_name=True)
    np.testing.assert_array_equal(other.get_weights()[0], first.get_weights()[0])
    np.testing.assert_array_equal(other.get_weights()[2], before)


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "w.h5"
    _line().save_weights(str(path))
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(TensorKeepError, match="HDF5"):
        _line().load_weights(str(path))
    with pytest.raises(InvalidArgumentError, match="No file"):
        keras.models.load_model(str(tmp_path / "none.h5"))


def test_functions_without_a_name_are_loaded_by_the_process_that_wrote_them(monkeypatch: pytest.MonkeyPatch) -> None:
    added = 2.0
    model = keras.Sequential([layers.Lambda(lambda x, y=1: X.shape[0] * x + y + added, input_shape=(2,))])
    assert keras.models.clone_model(model).predict(np.zeros((1, 2))).tolist() == [[3.0, 3.0]]
    text = model.to_json()
    assert keras.models.model_from_json(text).predict(np.ones((1, 2))).tolist() == [[11.0, 11.0]]
    monkeypatch.setattr(function_texts, "_OWN_CODE", {})  # as in another process
    with pytest.raises(InvalidArgumentError, match="another process has stored as Python's bytecode"):
        keras.models.model_from_json(text)


def test_a_function_is_told_of_masks_if_that_is_an_argument_of_it() -> None:
    def shifted(x: Any) -> Any:
        mask = x * 2.0
        return mask + 1.0

    def masked(x: Any, mask: Any = None) -> Any:
        return x * keras.backend.cast(keras.backend.expand_dims(mask), "float32")

    steps = keras.Input((3, 1))
    found = layers.Lambda(masked)(layers.Masking()(layers.Lambda(shifted)(steps)))
    values = np.array([[[1.0], [-0.5], [2.0]]])
    assert keras.Model(steps, found).predict(values).ravel().tolist() == [3.0, 0.0, 5.0]


def test_losses_of_a_program_take_targets_of_another_rank_than_the_output() -> None:
    def by_class(target: Any, output: Any) -> Any:
        classes = keras.backend.reshape(target, keras.backend.shape(output)[:-1])
        return keras.backend.sparse_categorical_crossentropy(classes, output)

    classes = np.random.RandomState(0).randint(0, 3, (8, 5))
    inputs = np.random.RandomState(1).normal(size=(8, 5, 2))
    losses = []
    for loss, targets in ((by_class, classes), ("sparse_categorical_crossentropy", classes[..., None])):
        model = keras.Sequential(
            [layers.Dense(3, "softmax", input_shape=(5, 2), kernel_initializer="ones", name="classes")]
        )
        model.compile(keras.optimizers.SGD(0.5), loss)
        losses.append([model.train_on_batch(inputs, targets) for _ in range(3)])
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-6)
    assert losses[0][2] < losses[0][0]


def test_layers_inside_of_a_layer_may_be_called_in_a_branch() -> None:
    class Pooled(layers.Layer):
        def build(self, input_shape: Any) -> None:
            self.scale = keras.backend.variable(2.0)

        def call(self, inputs: Any, training: Any = None) -> Any:
            def pooled() -> Any:
                return layers.MaxPool1D(1)(inputs * self.scale)

            return keras.backend.in_train_phase(pooled, inputs, training=training)

    model = keras.Sequential([Pooled(input_shape=(4, 1))])
    values = np.arange(4.0).reshape(1, 4, 1)
    assert model.predict(values).ravel().tolist() == [0.0, 1.0, 2.0, 3.0]
    trained = keras.backend.function([*model.inputs, keras.backend.learning_phase()], model.outputs)
    assert trained([values, 1])[0].ravel().tolist() == [0.0, 2.0, 4.0, 6.0]


def test_libraries_on_keras_write_on_tensors_and_read_their_shapes() -> None:
    tensor = keras.Input((3,))
    tensor._uses_learning_phase = True
    assert tensor._uses_learning_phase
    assert [size.value for size in tensor.shape._dims] == [None, 3]
    assert tf.TensorShape(None)._dims is None
    assert keras.backend.get_graph() is tf.get_default_graph()


def test_json_says_of_which_layers_a_model_is() -> None:
    told = json.loads(_line().to_json())
    assert told["class_name"] == "Sequential"
    assert [layer["class_name"] for layer in told["config"]["layers"]] == ["Dense", "Activation", "Dense"]


def test_the_summary_is_that_of_tensorflow_1_15() -> None:
    lines: list[str] = []
    _line().summary(print_fn=lines.append)
    assert lines == [
        'Model: "sequential"',
        "_" * 65,
        "Layer (type)                 Output Shape              Param #   ",
        "=" * 65,
        "dense (Dense)                (None, 3)                 15        ",
        "_" * 65,
        "activation (Activation)      (None, 3)                 0         ",
        "_" * 65,
        "dense_1 (Dense)              (None, 1)                 4         ",
        "=" * 65,
        "Total params: 19",
        "Trainable params: 19",
        "Non-trainable params: 0",
        "_" * 65,
    ]


def test_a_generator_that_ends_early_is_told() -> None:
    with pytest.raises(tf.errors.OutOfRangeError, match="ran out of data after 1 of 3"):
        _line().fit_generator(iter([(X, Y)]), steps_per_epoch=3, verbose=0)


def test_a_model_in_a_program_of_sessions_shares_its_variables() -> None:
    model = _line()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        outputs = model(tf.constant(X))
        np.testing.assert_allclose(session.run(outputs), model.predict(X), rtol=1e-6)


def test_a_number_among_outputs_is_that_of_each_element() -> None:
    inputs = layers.Input((2,))
    total = layers.Lambda(lambda x: tf.reduce_sum(x))(inputs)
    found = keras.Model(inputs, [inputs, total]).predict(np.ones((3, 2), np.float32), batch_size=2)
    assert [output.tolist() for output in found] == [[[1.0, 1.0]] * 3, [4.0, 4.0, 2.0]]


@pytest.mark.parametrize(
    ("layer", "options", "shape"),
    [
        (layers.Conv1D, {"filters": 2, "kernel_size": 3}, (5, 3)),
        (layers.Conv2D, {"filters": 2, "kernel_size": 3}, (5, 5, 3)),
        (layers.Conv2DTranspose, {"filters": 2, "kernel_size": 3}, (5, 5, 3)),
        (layers.DepthwiseConv2D, {"kernel_size": 3}, (5, 5, 3)),
        (layers.SeparableConv2D, {"filters": 2, "kernel_size": 3}, (5, 5, 3)),
        (layers.Dense, {"units": 4}, (3,)),
    ],
)
def test_layers_begin_with_the_weights_that_they_are_given(layer, options, shape) -> None:
    first = layer(**options)
    first(tf.keras.Input(shape))
    weights = [np.full(array.shape, at + 0.5) for at, array in enumerate(first.get_weights())]
    second = layer(**options, weights=weights)
    second(tf.keras.Input(shape))
    for found, given in zip(second.get_weights(), weights, strict=True):
        np.testing.assert_array_equal(found, given)
