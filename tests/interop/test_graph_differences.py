"""Where our sessions and TensorFlow's part, on purpose.

Each test shows both sides, so that what `docs/differences-from-tensorflow.md` says of graphs stays true. Not shown is
what stops TensorFlow, what it leaves to chance, and the kernels that have a file of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow

import tensorkeep.v1 as tensorkeep
from tensorkeep.errors import InvalidArgumentError, PermissionDeniedError

theirs = tensorflow.compat.v1
Program = Callable[[Any, Any], Any]


def run(tf: Any, program: Program) -> Any:
    """What a program gives, that is called with the module and a session and may run parts of what it builds.

    The session has a configuration of its own, so that TensorFlow rewrites graphs as it does for programs.
    """
    with tf.Graph().as_default(), tf.Session(config=tf.ConfigProto()) as session:
        return program(tf, session)


def fed(tf: Any, values: Any, dtype: Any = np.float32) -> Any:
    """A tensor that no optimizer can know the value of."""
    array = np.asarray(values, dtype)
    return tf.placeholder_with_default(array, array.shape)


NUMBERS: list[tuple[str, Program, Any, Any]] = [
    ("Round of integers", lambda tf, _: tf.raw_ops.Round(x=fed(tf, [1, -3], np.int32)), [0, 0], [1, -3]),
    (
        "Erf of infinities",
        lambda tf, _: tf.raw_ops.Erf(x=fed(tf, [np.inf, -np.inf], np.float64)),
        [np.nan, np.nan],
        [1, -1],
    ),
    (
        "NaN in SegmentMax",
        lambda tf, _: tf.raw_ops.SegmentMax(data=fed(tf, [1, np.nan, np.nan, 1]), segment_ids=[0, 0, 1, 1]),
        [np.nan, 1],
        [np.nan, np.nan],
    ),
    (
        "NaN in UnsortedSegmentMin",
        lambda tf, _: tf.raw_ops.UnsortedSegmentMin(
            data=fed(tf, [1, np.nan, np.nan, 1]), segment_ids=[0, 0, 1, 1], num_segments=2
        ),
        [np.nan, 1],
        [np.nan, np.nan],
    ),
]


@pytest.mark.parametrize(
    ("program", "their_result", "our_result"), [row[1:] for row in NUMBERS], ids=[row[0] for row in NUMBERS]
)
def test_numbers_differ_as_the_page_says(program: Program, their_result: Any, our_result: Any) -> None:
    def result(tf: Any, session: Any) -> Any:
        return session.run(program(tf, session))

    np.testing.assert_array_equal(run(theirs, result), their_result)
    np.testing.assert_array_equal(run(tensorkeep, result), our_result)


def test_a_logarithm_of_sums_keeps_nan() -> None:
    def program(tf: Any, session: Any) -> Any:
        return session.run(tf.raw_ops.CumulativeLogsumexp(x=fed(tf, [1, np.nan, 2]), axis=0))

    assert np.isfinite(run(theirs, program)).all()
    assert np.isnan(run(tensorkeep, program)).tolist() == [False, True, True]


@pytest.mark.parametrize("update", ["assign_add", "assign", "assign_sub"])
def test_what_was_read_of_a_reference_follows_its_updates(update: str) -> None:
    def program(tf: Any, session: Any) -> Any:
        variable = tf.Variable(np.zeros(1, np.float32), use_resource=False)
        session.run(variable.initializer)
        before = variable.value()
        with tf.control_dependencies([before]):
            changed = getattr(tf, update)(variable, before + np.ones(1, np.float32))
        with tf.control_dependencies([changed]):
            after = tf.identity(before)
        return session.run(after).tolist()

    changed = {"assign_add": [1], "assign": [1], "assign_sub": [-1]}[update]
    assert run(theirs, program) == changed
    assert run(tensorkeep, program) == changed


def test_a_feed_amid_constants_counts() -> None:
    def program(tf: Any, session: Any) -> Any:
        middle = tf.constant(1.0) + 1
        return float(session.run(middle * 2, {middle: 5.0}))

    assert run(theirs, program) == 4
    assert run(tensorkeep, program) == 10


def test_what_is_without_an_order_runs_in_that_of_its_making() -> None:
    def program(tf: Any, session: Any) -> Any:
        variable = tf.Variable(1.0, use_resource=True)
        session.run(variable.initializer)
        first, second = variable.assign_add(1.0, read_value=False), variable.assign(10.0, read_value=False)
        session.run([second, first])
        return float(session.run(variable))

    assert run(theirs, program) in (10, 11)
    assert run(tensorkeep, program) == 10


def test_inplace_ops_copy() -> None:
    def program(tf: Any, session: Any) -> Any:
        x = tf.identity(fed(tf, [1, 2]))
        return [value.tolist() for value in session.run([tf.raw_ops.InplaceAdd(x=x, i=[0], v=tf.ones([1])), x])]

    assert run(theirs, program) == [[2, 2], [2, 2]]
    assert run(tensorkeep, program) == [[2, 2], [1, 2]]


def test_a_shared_name_leads_to_one_variable() -> None:
    def program(tf: Any, session: Any) -> Any:
        reference = tf.raw_ops.VariableV2(shape=[], dtype=tf.float32, shared_name="shared")
        handle = tf.raw_ops.VarHandleOp(shape=[], dtype=tf.float32, shared_name="shared")
        session.run(tf.raw_ops.Assign(ref=reference, value=5.0))
        return float(session.run(tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32)))

    with pytest.raises(theirs.errors.FailedPreconditionError):
        run(theirs, program)
    assert run(tensorkeep, program) == 5


def test_resource_variables_have_an_initialized_value() -> None:
    def program(tf: Any, session: Any) -> Any:
        return float(session.run(2 * tf.Variable(3.0, use_resource=True).initialized_value()))

    with pytest.raises(NotImplementedError):
        run(theirs, program)
    assert run(tensorkeep, program) == 6


def test_python_is_called_only_where_it_is_allowed() -> None:
    def program(tf: Any, session: Any) -> Any:
        return float(session.run(tf.py_func(lambda: 1.0, [], tf.float64)))

    assert run(theirs, program) == 1
    with pytest.raises(PermissionDeniedError):
        run(tensorkeep, program)


def test_a_rate_that_is_no_number_is_an_error() -> None:
    # TensorFlow never comes back from this.
    with pytest.raises(InvalidArgumentError, match="rate"):
        run(tensorkeep, lambda tf, s: s.run(tf.raw_ops.RandomPoissonV2(shape=[2], rate=fed(tf, [np.nan]))))


def test_messages_are_theirs_without_what_is_around_them() -> None:
    def uninitialized(tf: Any, session: Any) -> None:
        session.run(tf.get_variable("v", [], use_resource=False))

    def twice(tf: Any, _: Any) -> None:
        tf.get_variable("v", [])
        tf.get_variable("v", [])

    def not_taken(tf: Any, session: Any) -> None:
        session.run(tf.raw_ops.Switch(data=1.0, pred=fed(tf, True, bool))[0])

    for program, words in (
        (uninitialized, "Attempting to use uninitialized value v"),
        (
            twice,
            "Variable v already exists, disallowed. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE in VarScope?",
        ),
        (not_taken, "Retval[0] does not have value"),
    ):
        with pytest.raises((theirs.errors.OpError, ValueError)) as their_error:
            run(theirs, program)
        with pytest.raises((tensorkeep.errors.OpError, ValueError)) as our_error:
            run(tensorkeep, program)
        assert words in str(their_error.value)
        assert str(our_error.value).startswith(words)


GRADIENTS: list[tuple[str, dict[str, Any]]] = [
    ("grouped", {"filter": (2, 2, 1, 2), "out_backprop": (1, 2, 2, 2), "input_sizes": [1, 3, 3, 2]}),
    (
        "dilated",
        {"filter": (2, 2, 1, 1), "out_backprop": (1, 3, 3, 1), "input_sizes": [1, 5, 5, 1], "dilations": [1, 2, 2, 1]},
    ),
]


@pytest.mark.parametrize("attributes", [row[1] for row in GRADIENTS], ids=[row[0] for row in GRADIENTS])
def test_convolutions_have_gradients_that_tensorflow_lacks(attributes: dict[str, Any]) -> None:
    def program(tf: Any, session: Any) -> Any:
        arrays = {
            name: fed(tf, np.ones(value), np.float64) if isinstance(value, tuple) else value
            for name, value in attributes.items()
        }
        return session.run(tf.raw_ops.Conv2DBackpropInput(strides=[1, 1, 1, 1], padding="VALID", **arrays))

    with pytest.raises(theirs.errors.OpError):
        run(theirs, program)
    assert run(tensorkeep, program).shape == tuple(attributes["input_sizes"])


def test_channels_may_come_first() -> None:
    def program(tf: Any, session: Any) -> Any:
        images, filters = fed(tf, np.ones((1, 1, 3, 3)), np.float64), fed(tf, np.ones((2, 2, 1, 1)), np.float64)
        convolved = tf.raw_ops.Conv2D(
            input=images, filter=filters, strides=[1, 1, 1, 1], padding="VALID", data_format="NCHW"
        )
        return session.run(convolved)

    with pytest.raises(theirs.errors.OpError):
        run(theirs, program)
    assert run(tensorkeep, program).shape == (1, 1, 2, 2)
