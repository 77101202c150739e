"""Names and arguments that DeepRec's `tf` has and TensorFlow's has not, apart from embedding variables themselves."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import InvalidArgumentError


@pytest.fixture(autouse=True)
def _own_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


# Scopes for bfloat16


def test_weights_of_bfloat16_are_kept_wider_and_read_narrow() -> None:
    with tf.variable_scope("dnn").keep_weights(dtype=tf.float32):
        read = tf.get_variable("w", [2], tf.bfloat16, initializer=tf.ones_initializer())
        other = tf.get_variable("b", [2], tf.float64, initializer=tf.ones_initializer())
    kept, plain = tf.global_variables()
    assert (read.name, read.dtype, kept.name) == ("dnn/w/cast:0", tf.bfloat16, "dnn/w:0")
    assert kept.dtype.base_dtype == tf.float32
    assert other is plain


def test_kept_weights_are_trained_in_the_wider_type() -> None:
    """A step of 2 ** -12 is lost in a bfloat16 of 1."""
    x = tf.ones([1, 1], tf.bfloat16)
    with tf.variable_scope("dnn").keep_weights():
        y = tf.layers.dense(x, 1, kernel_initializer=tf.ones_initializer())
    assert y.dtype == tf.bfloat16
    kernel = tf.global_variables()[0]
    train = tf.train.GradientDescentOptimizer(2.0**-12).minimize(tf.cast(y, tf.float32))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert (kernel.dtype.base_dtype, session.run(kernel).item()) == (tf.float32, 1 - 2.0**-12)


def test_kept_weights_are_shared() -> None:
    for reuse in (None, True):
        with tf.variable_scope("dnn", reuse=reuse).keep_weights():
            tf.get_variable("w", [2], tf.bfloat16)
    assert [variable.name for variable in tf.global_variables()] == ["dnn/w:0"]


# Functions


@pytest.mark.parametrize(
    ("approximate", "wanted"),
    [
        (False, [-0.00404951, -0.15865529, 0.0, 0.8413447, 2.9959507]),
        (True, [-0.00363752, -0.15880796, 0.0, 0.841192, 2.9963627]),
    ],
)
def test_gelu_is_exact_or_approximate(approximate: bool, wanted: list[float]) -> None:
    found = tf.nn.gelu(tf.constant([-3.0, -1.0, 0.0, 1.0, 3.0]), approximate)
    assert tf.gelu is tf.nn.gelu
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(found), wanted, rtol=2e-5, atol=1e-6)


def test_gelu_of_integers_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="must be a floating point tensor"):
        tf.nn.gelu(tf.constant([1]))


# Training


def test_target_nodes_are_taken_and_what_is_none_is_told(caplog: pytest.LogCaptureFixture) -> None:
    """DeepRec's smart stage reads ahead for them; results are the same without it."""
    value = tf.get_variable("v", initializer=2.0)
    tf.train.create_global_step()
    doubled = tf.multiply(value, 2.0, name="doubled")
    with caplog.at_level("INFO", "tensorkeep"):
        assert tf.train.mark_target_node([doubled, {"a": value}, [doubled.op]]) == ["doubled:0", "v:0", "doubled"]
        with tf.train.MonitoredTrainingSession(target_nodes_or_tensors=[doubled, "nothing"]) as session:
            assert session.run(doubled) == 4.0
    assert "3 target nodes: nothing is read ahead for them" in caplog.text
    assert "nothing, <class 'str'> is not tensor or operation" in caplog.text


def test_no_optimizer_scales_the_loss() -> None:
    assert tf.train.AdamOptimizer().doing_loss_scaling() is False


def test_multihash_variables_say_how_they_are_synchronized() -> None:
    made = tf.get_multihash_variable(
        "m",
        [[5, 6], [3, 6]],
        synchronization=tf.VariableSynchronization.ON_READ,
        aggregation=tf.VariableAggregation.MEAN,
    )
    for table in made.val_list:
        assert table.synchronization == tf.VariableSynchronization.ON_READ
        assert table.aggregation == tf.VariableAggregation.MEAN
        assert not table.trainable


# Options of the first release


def test_keys_are_dropped_by_steps_or_by_weight_in_the_old_words() -> None:
    assert tf.EvictOption(steps_to_live=5) == tf.GlobalStepEvict(5)
    assert tf.EvictOption(l2_weight_threshold=0.5) == tf.L2WeightEvict(0.5)
    assert tf.EvictOption() is None
    with pytest.raises(InvalidArgumentError, match="can't be enabled at same time"):
        tf.EvictOption(5, 0.5)
    with pytest.raises(InvalidArgumentError, match="l2reg_theta: rows are dropped by"):
        tf.EvictOption(l2reg_theta=0.1)


# Names that are not here


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("kv_resource_export", "tf.raw_ops.KvResourceExport"),
        ("kv_var_is_initialized_op", "tf.raw_ops.KvVarIsInitializedOp"),
    ],
)
def test_a_name_that_is_not_here_is_told_with_what_to_use_instead(name: str, wanted: str) -> None:
    with pytest.raises(AttributeError, match=wanted):
        getattr(tf, name)


def test_an_unknown_name_has_no_advice() -> None:
    with pytest.raises(AttributeError, match=r"has no attribute 'no_such_thing'$"):
        tf.no_such_thing  # noqa: B018 - asked for its error
