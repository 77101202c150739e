"""Optimizers of Keras: weights, hyperparameters that are set, checkpoints of objects, classes of a program's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import InvalidArgumentError, WrongTypeError

keras = tf.keras


@pytest.fixture
def session() -> Iterator[Any]:
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def _variable() -> Any:
    return tf.get_variable("kernel", initializer=np.ones((2, 2), "float32"), use_resource=True)


def test_weights_are_given_and_taken(session: Any) -> None:
    variable = _variable()
    optimizer = keras.optimizers.Adam()
    step = optimizer.minimize(lambda: tf.reduce_sum(variable * variable), [variable])
    session.run(tf.global_variables_initializer())
    session.run(step)
    weights = optimizer.get_weights()
    assert [item.shape for item in weights] == [(), (2, 2), (2, 2)]
    optimizer.set_weights([item * 0 for item in weights])
    assert session.run(optimizer.iterations) == 0
    optimizer.set_weights([*weights, np.ones((2, 2))])  # Keras's own kept a third for each variable
    assert session.run(optimizer.iterations) == 1
    with pytest.raises(InvalidArgumentError, match="weight list of length 1"):
        optimizer.set_weights(weights[:1])
    with pytest.raises(InvalidArgumentError, match="not compatible with provided weight shape"):
        optimizer.set_weights([weights[0], weights[1][:1], weights[2]])


def test_the_learning_rate_is_set_before_and_after_the_first_step(session: Any) -> None:
    optimizer = keras.optimizers.SGD(0.5)
    optimizer.lr = 0.25
    variable = _variable()
    step = optimizer.get_updates(tf.reduce_sum(variable), [variable])
    session.run(tf.global_variables_initializer())
    session.run(step)
    np.testing.assert_allclose(session.run(variable), 0.75)
    optimizer.learning_rate = 0.5
    session.run(step)
    np.testing.assert_allclose(session.run(variable), 0.25)
    assert keras.backend.get_value(optimizer.lr) == 0.5
    with pytest.raises(AttributeError, match="no attribute 'momentum_of_what'"):
        _ = optimizer.momentum_of_what


def test_objects_in_a_checkpoint_have_the_names_of_tensorflow(session: Any, tmp_path: Path) -> None:
    variable = _variable()
    optimizer = keras.optimizers.Adam()
    step = optimizer.get_updates(tf.reduce_sum(variable * variable), [variable])
    checkpoint = tf.train.Checkpoint(kernel=variable, optimizer=optimizer)
    session.run(tf.global_variables_initializer())
    session.run(step)
    path = checkpoint.save(str(tmp_path / "model"), session)
    ending = "/.ATTRIBUTES/VARIABLE_VALUE"
    names = {name.removesuffix(ending) for name, _ in tf.train.list_variables(path) if name.endswith(ending)}
    assert names == {
        "kernel",
        "kernel/.OPTIMIZER_SLOT/optimizer/m",
        "kernel/.OPTIMIZER_SLOT/optimizer/v",
        *(f"optimizer/{name}" for name in ("beta_1", "beta_2", "decay", "iter", "learning_rate")),
        "save_counter",
    }
    before = session.run([variable, *optimizer.weights])
    session.run(step)
    checkpoint.restore(path).assert_consumed().run_restore_ops(session)
    for mine, other in zip(session.run([variable, *optimizer.weights]), before, strict=True):
        np.testing.assert_array_equal(mine, other)


class _Signs(keras.optimizers.Optimizer):  # type: ignore[misc]
    """An optimizer as programs write them: without apply_state."""

    def __init__(self, learning_rate: float = 0.1, name: str = "Signs", **kwargs: Any) -> None:
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", learning_rate)

    def _create_slots(self, var_list: Any) -> None:
        for var in var_list:
            self.add_slot(var, "count", "ones")

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        count = self.get_slot(var, "count")
        with tf.control_dependencies([count.assign_add(tf.ones_like(count))]):
            return var.assign_sub(self._get_hyper("learning_rate") * tf.sign(grad))

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "learning_rate": self._serialize_hyperparameter("learning_rate")}


def test_an_optimizer_of_the_programs_own_trains(session: Any) -> None:
    variable = _variable()
    optimizer = _Signs()
    step = optimizer.get_updates(tf.reduce_sum(variable), [variable])
    session.run(tf.global_variables_initializer())
    session.run(step)
    np.testing.assert_allclose(session.run(variable), 0.9)
    np.testing.assert_allclose(session.run(optimizer.get_slot(variable, "count")), 2.0)
    assert optimizer.get_slot(variable, "count").name == "Signs/kernel/count:0"


def test_constraints_hold_after_a_step(session: Any) -> None:
    held = keras.constraints.NonNeg()
    variable = tf.get_variable("kernel", initializer=np.ones(2, "float32"), use_resource=True, constraint=held)
    step = keras.optimizers.SGD(3.0).get_updates(tf.reduce_sum(variable), [variable])
    session.run(tf.global_variables_initializer())
    session.run(step)
    np.testing.assert_array_equal(session.run(variable), [0.0, 0.0])


def test_what_cannot_be_trained_is_refused(session: Any) -> None:
    reference = tf.Variable(np.ones(2, "float32"), use_resource=False)
    with pytest.raises(WrongTypeError, match="expected a resource variable"):
        keras.optimizers.SGD().get_updates(tf.reduce_sum(reference), [reference])
    variable = _variable()
    with pytest.raises(InvalidArgumentError, match="has `None` for gradient"):
        keras.optimizers.SGD().get_updates(tf.constant(1.0) * 2, [variable])
    with pytest.raises(WrongTypeError, match="Unexpected keyword argument passed to optimizer: rate"):
        keras.optimizers.SGD(rate=1)
    with pytest.raises(InvalidArgumentError, match="clipnorm >= 0"):
        keras.optimizers.Adam(clipnorm=-1.0)
    with pytest.raises(InvalidArgumentError, match="Nadam"):
        keras.optimizers.Nadam(keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.5))


def test_an_optimizer_of_tf_train_is_taken(session: Any) -> None:
    optimizer = keras.optimizers.get(tf.train.GradientDescentOptimizer(0.5))
    variable = _variable()
    step = optimizer.get_updates(tf.reduce_sum(variable), [variable])
    session.run(tf.global_variables_initializer())
    session.run(step)
    np.testing.assert_allclose(session.run(variable), 0.5)
    assert session.run(optimizer.iterations) == 1
