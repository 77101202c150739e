"""Objects of Keras by name and configuration, and the settings in force."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import InvalidArgumentError

keras = tf.keras


class _Twice(keras.initializers.Initializer):  # type: ignore[misc]
    def __init__(self, value: float = 1.0) -> None:
        self.value = value

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        return tf.fill(shape, 2.0 * self.value)

    def get_config(self) -> dict[str, Any]:
        return {"value": self.value}


def test_what_is_serialized_is_made_again() -> None:
    for module, made in (
        (keras.initializers, keras.initializers.RandomNormal(stddev=0.3, seed=4)),
        (keras.initializers, keras.initializers.he_normal(seed=1)),
        (keras.regularizers, keras.regularizers.l1_l2(0.5, 0.25)),
        (keras.constraints, keras.constraints.MinMaxNorm(0.1, 2.0, 0.5, 1)),
        (keras.losses, keras.losses.Huber(delta=2.0, reduction="sum")),
        (keras.metrics, keras.metrics.Precision(thresholds=[0.2, 0.4], name="exact")),
        (keras.optimizers, keras.optimizers.Adam(0.01, amsgrad=True, clipnorm=1.0)),
        (keras.optimizers, keras.optimizers.SGD(keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.9))),
    ):
        told = module.serialize(made)
        assert module.serialize(module.deserialize(told)) == told


def test_names_of_tensorflow_2_are_known() -> None:
    assert keras.initializers.deserialize({"class_name": "HeNormal", "config": {"seed": 3}}).scale == 2.0
    assert keras.regularizers.deserialize({"class_name": "L2", "config": {"l2": 0.5}}).l2 == 0.5


def test_a_scope_knows_more_names_inside_than_outside() -> None:
    told = keras.initializers.serialize(_Twice(3.0))
    with keras.utils.custom_object_scope({"_Twice": _Twice}):
        assert keras.initializers.deserialize(told).value == 3.0
    with pytest.raises(InvalidArgumentError, match=r"Unknown initializer: _Twice.*custom_object_scope"):
        keras.initializers.deserialize(told)
    assert keras.initializers.deserialize(told, custom_objects={"_Twice": _Twice}).value == 3.0
    assert "_Twice" not in keras.utils.get_custom_objects()


def test_unknown_names_are_told_with_those_that_are_known() -> None:
    with pytest.raises(InvalidArgumentError, match=r"Unknown loss function function: nothing.*mean_squared_error"):
        keras.losses.get("nothing")
    with pytest.raises(InvalidArgumentError, match="optimizer identifier"):
        keras.optimizers.get(3)


def test_settings_are_kept_until_they_are_changed() -> None:
    k = keras.backend
    try:
        k.set_floatx("float64")
        assert k.constant(1.0).dtype is tf.float64
        assert k.cast_to_floatx(np.float32(1)).dtype == np.float64
        k.set_epsilon(1e-3)
        k.set_image_data_format("channels_first")
        assert (k.epsilon(), k.image_data_format()) == (1e-3, "channels_first")
        with pytest.raises(InvalidArgumentError, match="floatx"):
            k.set_floatx("int8")
    finally:
        k.set_floatx("float32"), k.set_epsilon(1e-7), k.set_image_data_format("channels_last")


def test_even_kernels_have_one_value_for_each_ring() -> None:
    kernel = np.arange(16.0).reshape(4, 4, 1, 1).astype("float32")
    with tf.Graph().as_default():
        held = tf.Session().run(keras.constraints.RadialConstraint()(tf.constant(kernel)))[..., 0, 0]
    assert (held[1:3, 1:3] == 5).all()
    assert (held[0] == 15).all()
    assert (held[:, 3] == 15).all()


def test_accuracy_is_found_by_the_output_and_the_loss() -> None:
    from tensorkeep.tf1.keras.metrics.by_name import metric_for_output

    assert metric_for_output("accuracy", (None, 1), None) is keras.metrics.binary_accuracy
    assert metric_for_output("acc", (None, 5), keras.losses.get("mse")) is keras.metrics.categorical_accuracy
    sparse = keras.losses.SparseCategoricalCrossentropy()
    assert metric_for_output("acc", (None, 5), sparse) is keras.metrics.sparse_categorical_accuracy
    assert metric_for_output("ce", (None, 5), "binary_crossentropy") is keras.losses.binary_crossentropy
    assert metric_for_output("mae", (None, 5), None) is keras.losses.mean_absolute_error
