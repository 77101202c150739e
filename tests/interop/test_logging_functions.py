"""Printing and asserting beside TensorFlow's: the same nodes, the same words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tensorkeep.errors import TensorKeepError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.control import assertions, logging
from tests.interop.programs import build, our_names, tensorflow_1, v1

OURS = our_names(assertions, logging, print=logging.print_v2)
Program = Callable[[Any], Any]

MORE = {"assert_shapes": v1.debugging.assert_shapes, "check_numerics": v1.debugging.check_numerics}


class Theirs:
    def __getattr__(self, name: str) -> Any:
        return MORE.get(name) or getattr(v1, name)


THEIRS = Theirs()


def floats(tf: Any, shape: Any = (None,)) -> Any:
    return tf.placeholder(tf.float32, shape, name="p")


PROGRAMS: dict[str, Program] = {
    "Print": lambda tf: tf.Print(tf.constant([1.0]), [tf.constant(2)], "m", first_n=3, summarize=4, name="n"),
    "print": lambda tf: tf.print("a", {"k": tf.constant(1)}, [tf.constant([1.5]), "{}"], 7, summarize=2),
    "print one string": lambda tf: tf.print(tf.constant("x"), name="p"),
    "named print": lambda tf: tf.print(tf.constant([1]), name="p", end=""),
    "Assert of strings": lambda tf: tf.Assert(tf.constant(True), ["message", tf.constant([1, 2])]),
    "Assert of numbers": lambda tf: tf.Assert(tf.constant(True), [tf.constant([1.5])], summarize=5, name="check"),
    "equal": lambda tf: tf.assert_equal(floats(tf), floats(tf), message="m"),
    "equal to itself": lambda tf: tf.assert_equal(x := floats(tf), x),
    "equal integers": lambda tf: tf.assert_equal(tf.placeholder(tf.int32, []), 3, name="n"),
    "none_equal": lambda tf: tf.assert_none_equal(floats(tf), [2.0], data=["d", tf.constant(1)]),
    "less": lambda tf: [tf.assert_less(floats(tf), 3.0), tf.assert_less_equal([1, 2], [2, 2])],
    "greater": lambda tf: [tf.assert_greater(floats(tf, None), 3.0), tf.assert_greater_equal(floats(tf), 1.0)],
    "signs": lambda tf: [
        getattr(tf, f"assert_{sign}")(floats(tf)) for sign in ("positive", "negative", "non_positive", "non_negative")
    ],
    "near": lambda tf: tf.assert_near(floats(tf), floats(tf), rtol=1e-3),
    "rank known": lambda tf: tf.assert_rank(floats(tf), 1),
    "rank unknown": lambda tf: tf.assert_rank(floats(tf, None), 1, message="m"),
    "rank fed": lambda tf: tf.assert_rank(floats(tf, None), tf.placeholder(tf.int32, [])),
    "rank at least": lambda tf: [tf.assert_rank_at_least(floats(tf), 1), tf.assert_rank_at_least(floats(tf, None), 2)],
    "rank in": lambda tf: [tf.assert_rank_in(floats(tf), [1, 2]), tf.assert_rank_in(floats(tf, None), [1, 2])],
    "shapes": lambda tf: tf.assert_shapes([(floats(tf, [None, 2]), ("n", 2)), (floats(tf, [None]), ("n",))]),
    "shapes of any rank": lambda tf: tf.assert_shapes([(floats(tf, None), ("*", "n", 2)), (floats(tf, [3]), ["n"])]),
    "types": lambda tf: [tf.assert_integer(tf.constant(1)), tf.assert_type(tf.constant(1), tf.int32)],
    "scalar": lambda tf: tf.assert_scalar(3.0),
    "order": lambda tf: [tf.is_non_decreasing(floats(tf)), tf.is_strictly_increasing(floats(tf, None))],
    "finite": lambda tf: tf.verify_tensor_all_finite(floats(tf), "bad", name="v"),
    "check numerics": lambda tf: (tf.check_numerics(floats(tf), "m"), tf.add_check_numerics_ops())[1],
}


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_graphs_are_tensorflows(name: str) -> None:
    build(PROGRAMS[name], OURS, THEIRS)


@pytest.mark.parametrize(
    "bad",
    [
        lambda tf: tf.assert_equal([1], [2]),
        lambda tf: tf.assert_rank([1], 2),
        lambda tf: tf.assert_rank_at_least(1.0, 2, message="m"),
        lambda tf: tf.assert_rank_in(1.0, [1, 2]),
        lambda tf: tf.assert_integer(1.0),
        lambda tf: tf.assert_scalar([1.0]),
        lambda tf: tf.assert_same_float_dtype([tf.constant(1.0), tf.constant(1.0, tf.float64)]),
        lambda tf: tf.assert_shapes([(tf.constant([1.0]), (2,))]),
        lambda tf: tf.assert_shapes([(tf.constant([1.0]), (2, "*"))]),
    ],
)
def test_what_is_known_to_be_wrong_is_refused_in_tensorflows_words(bad: Program) -> None:
    with building(Graph()), pytest.raises(TensorKeepError) as ours:
        bad(OURS)
    with tensorflow_1(), tf.Graph().as_default(), pytest.raises((ValueError, TypeError, tf.errors.OpError)) as theirs:
        bad(THEIRS)
    message = getattr(theirs.value, "message", None) or str(theirs.value)
    assert str(ours.value).splitlines()[0] == message.splitlines()[0].replace("tf.", "")


VALUES = [
    np.arange(12).reshape(3, 4),
    np.arange(12, dtype=np.float32).reshape(3, 2, 2) / 7,
    np.array([b"a\n", b"b'"], object),
    np.array([True, False]),
    np.float64(1 / 3),
    np.zeros((0, 2)),
    np.zeros((2, 0)),
    np.complex64(2),
    np.array([[b"a", b"b"], [b"c", b"d"]], object),
]


@pytest.mark.parametrize("count", [0, 1, 3, 5, 100, -1])
def test_a_failed_assertion_says_what_tensorflow_says(count: int) -> None:
    def program(tf: Any) -> Any:
        return tf.Assert(tf.placeholder(tf.bool, [], name="c"), [tf.constant(value) for value in VALUES], count)

    built = build(program, OURS, THEIRS)
    with pytest.raises(TensorKeepError) as ours:
        Session(built.graph).run(built.result, {"c:0": False})
    with v1.Session(graph=built.their_graph) as session, pytest.raises(tf.errors.InvalidArgumentError) as theirs:
        session.run(built.their_result, {"c:0": False})
    (said,) = [line for line in theirs.value.message.splitlines() if line.startswith("assertion failed")]
    assert str(ours.value).splitlines()[0] == said


def test_print_writes_what_tensorflow_writes(capfd: pytest.CaptureFixture[str]) -> None:
    def program(tf: Any) -> Any:
        values = [tf.constant(value) for value in VALUES]
        return [tf.Print(tf.constant(1), values, "note ", summarize=3), tf.print("x", values, {"y": values[4]})]

    built = build(program, OURS, THEIRS)
    lines: list[str] = []
    session = Session(built.graph, write_line=lines.append)
    for ours, theirs in zip(built.result, built.their_result, strict=True):
        lines.clear()
        session.run(ours)
        capfd.readouterr()
        with v1.Session(graph=built.their_graph) as other:
            other.run(theirs)
        assert "\n".join(lines) + "\n" == capfd.readouterr().err
