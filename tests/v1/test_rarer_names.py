"""Names that few programs use: settings that are kept, statuses, losses of replicas, functions of one replica."""

from __future__ import annotations

from typing import Any

import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import InvalidArgumentError, UnimplementedError


@pytest.fixture(autouse=True)
def fresh_graph() -> Any:
    with tf.Graph().as_default() as graph:
        yield graph


def evaluate(value: Any) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(value)


def test_settings_are_kept() -> None:
    tf.config.optimizer.set_jit(True)
    tf.config.optimizer.set_experimental_options({"layout_optimizer": False})
    tf.debugging.set_log_device_placement(True)
    assert tf.config.optimizer.get_jit() is True
    assert tf.config.optimizer.get_experimental_options() == {"layout_optimizer": False}
    assert tf.debugging.get_log_device_placement() is True
    tf.config.optimizer.set_jit(False)
    tf.debugging.set_log_device_placement(False)


def test_what_is_called_with_a_status_raises_itself() -> None:
    with pytest.raises(ZeroDivisionError), tf.errors.raise_exception_on_not_ok_status():
        _ = 1 // 0


def test_losses_of_a_replica_are_those_of_the_batch() -> None:
    losses = tf.constant([1.0, 2.0, 3.0, 6.0])
    assert evaluate(tf.nn.compute_average_loss(losses)) == 3.0
    assert evaluate(tf.nn.compute_average_loss(losses, sample_weight=[1.0, 0.0, 0.0, 1.0])) == 1.75
    assert evaluate(tf.nn.compute_average_loss(losses, global_batch_size=24)) == 0.5
    assert evaluate(tf.nn.scale_regularization_loss([1.0, 2.0])) == 3.0
    with pytest.raises(InvalidArgumentError, match="for each example of the batch, got a scalar"):
        tf.nn.compute_average_loss(1.0)
    with pytest.raises(InvalidArgumentError, match="must be a whole number"):
        tf.nn.compute_average_loss(losses, global_batch_size=4.0)


def test_gradients_pass_by_a_function() -> None:
    weight = tf.get_variable("w", initializer=3.0, use_resource=True)
    x = tf.constant(2.0)
    rounded = tf.grad_pass_through(lambda value: tf.round(value * weight) * 10.0)(x)
    assert evaluate([rounded, tf.gradients(rounded * 5.0, [x])[0]]) == [60.0, 5.0]
    assert tf.gradients(rounded, [weight]) == [None]


def test_compiled_computations_are_computations() -> None:
    with tf.xla.experimental.jit_scope():
        (found,) = tf.xla.experimental.compile(lambda x: [x * 2.0], [tf.constant(4.0)])
    assert evaluate(found) == 8.0


def test_a_model_function_is_its_one_replica() -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        return features

    estimator: Any = tf.contrib.estimator
    assert estimator.replicate_model_fn(model_fn) is model_fn
    optimizer = tf.train.AdamOptimizer()
    assert estimator.TowerOptimizer(optimizer) is optimizer
    assert isinstance(estimator.TowerOptimizer(tf.train.AdamOptimizer), tf.train.AdamOptimizer)
    with pytest.raises(InvalidArgumentError, match="2 were named: /gpu:0, /gpu:1"):
        estimator.replicate_model_fn(model_fn, devices=["/gpu:0", "/gpu:1"])


def test_a_logit_function_is_told_what_it_takes() -> None:
    def logit_fn(features: Any, mode: str) -> Any:
        return {"a": features * 2.0} if mode == "train" else 3

    call: Any = tf.estimator.experimental.call_logit_fn
    assert evaluate(call(logit_fn, tf.constant(4.0), "train", {"p": 1}, None)["a"]) == 8.0
    with pytest.raises(InvalidArgumentError, match="should return a Tensor or a dictionary of Tensors, got 3"):
        call(logit_fn, tf.constant(4.0), "eval", {}, None)


def test_summaries_of_both_kinds_have_their_names_in_one_place(tmp_path: Any) -> None:
    with (
        tf.contrib.summary.create_file_writer(str(tmp_path)).as_default(),
        tf.contrib.summary.always_record_summaries(),
    ):
        written = tf.contrib.summary.scalar("x", 1.0, step=tf.constant(0, tf.int64))
        assert tf.summary.all_v2_summary_ops() == [written]
        with tf.Session() as session:
            tf.summary.initialize(session=session)
            session.run(written)
    assert len(list(tmp_path.iterdir())) == 1


def test_file_systems_are_not_loaded() -> None:
    with pytest.raises(UnimplementedError, match="compiled"):
        tf.load_file_system_library("hdfs.so")


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("LMDBReader", "lmdb"),
        ("vectorized_map", "map_fn"),
        ("CXX11_ABI_FLAG", "py_func"),
        ("OptionalSpec", "TensorSpec"),
    ],
)
def test_what_is_left_out_says_what_to_use(name: str, word: str) -> None:
    with pytest.raises(AttributeError, match=word):
        getattr(tf, name)
