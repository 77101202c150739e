"""Branches and loops of TensorFlow 1, run beside TensorFlow: as written code, and by tokens."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.runtime.session import Session
from tests.interop.running import Both, imported, without_structure

v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def _control_flow_of_tensorflow_1() -> Iterator[None]:
    was_v2 = v1.control_flow_v2_enabled()
    v1.disable_control_flow_v2()
    yield
    if was_v2:
        v1.enable_control_flow_v2()


def scalar(dtype: Any = tf.float32) -> Any:
    return v1.placeholder(dtype, [], "x")


def loop(condition: Callable[..., Any], body: Callable[..., Any], values: list[Any], **options: Any) -> Any:
    return v1.while_loop(condition, body, values, **options)


# ---------------------------------------------------------------------------------------------------- Branches


def a_branch() -> Any:
    x = scalar()
    return v1.cond(x > 0, lambda: x * 2, lambda: x - 1)


def several_results() -> Any:
    x = scalar()
    return v1.cond(x > 0, lambda: [x * 2, tf.constant(1)], lambda: [x - 1, tf.constant(2)])


def branches_in_branches() -> Any:
    x = scalar()
    y = tf.constant([1.0, 2.0])

    def deep() -> Any:
        return v1.cond(x > 5, lambda: y * x, lambda: v1.cond(x > 2, lambda: y + x, lambda: y))

    r = v1.cond(x > 0, deep, lambda: v1.cond(x < -5, lambda: -y, lambda: y * 0.5))
    return [r, *v1.gradients(r, [y, x])]


def the_same_predicate_twice() -> Any:
    x = scalar()
    p = x > 0
    a = v1.cond(p, lambda: v1.cond(p, lambda: x * 2, lambda: x * 3), lambda: x)
    b = v1.cond(p, lambda: a + 1, lambda: a - 1)
    return [a, b, a * b]


def a_branch_that_passes_on() -> Any:
    x = scalar()
    return v1.cond(x > 0, lambda: x, lambda: tf.constant(7.0))


def a_case() -> Any:
    x = scalar()
    pairs = [(tf.equal(x, float(k)), lambda k=k: tf.constant(k * 10)) for k in range(8)]
    return v1.case(pairs, default=lambda: tf.constant(-1))


def two_branches_that_wait_for_each_other() -> Any:
    x = scalar()
    a = v1.cond(x > 0, lambda: x + 1, lambda: x - 1)
    b = v1.cond(a > 2, lambda: a * 2, lambda: x * 3)
    with tf.control_dependencies([b]):
        c = v1.cond(x > 0, lambda: tf.constant(1.0), lambda: tf.constant(2.0))
    return [a, b, c]


def a_merge_and_its_index() -> Any:
    x = scalar()
    no, yes = tf.raw_ops.Switch(data=tf.constant(3.0), pred=x > 0)
    merged = tf.raw_ops.Merge(inputs=[no * 2, yes + 1])
    return [merged.output, merged.value_index]


def a_constant_predicate() -> Any:
    x = scalar()
    return [
        v1.cond(tf.constant(True), lambda: x + 1, lambda: x - 1),
        v1.cond(tf.constant(False), lambda: x, lambda: -x),
    ]


def a_reference_to_a_variable() -> Any:
    x = scalar()
    v = v1.get_variable("v", initializer=1.0, use_resource=False)
    v1.global_variables_initializer()
    return v1.cond(x > 0, lambda: v1.assign_add(v, 1.0), lambda: v1.assign_sub(v, 1.0))


def a_switched_reference() -> Any:
    x = scalar()
    v = v1.get_variable("v", initializer=[1.0, 2.0], use_resource=False)
    v1.global_variables_initializer()
    no, yes = tf.raw_ops.RefSwitch(data=v._ref(), pred=x > 0)
    merged = tf.raw_ops.RefMerge(inputs=[v1.assign(no, [5.0, 6.0]), v1.assign_add(yes, [1.0, 1.0])])
    return [tf.identity(merged.output), merged.value_index]


BRANCHES = [
    a_branch,
    several_results,
    branches_in_branches,
    the_same_predicate_twice,
    a_branch_that_passes_on,
    a_case,
    two_branches_that_wait_for_each_other,
    a_merge_and_its_index,
    a_constant_predicate,
    a_reference_to_a_variable,
    a_switched_reference,
]


@pytest.mark.parametrize("build", BRANCHES)
def test_branches(build: Callable[[], Any]) -> None:
    both = Both(build)
    for x in (-7.0, -1.0, 0.0, 3.0, 6.0):
        both.check({"x:0": x})


# ------------------------------------------------------------------------------------------------------- Loops


def a_count() -> Any:
    return loop(lambda i, a: i < 100, lambda i, a: (i + 1, a * 1.001), [tf.constant(0), tf.constant(1.0)])


def no_round() -> Any:
    return loop(lambda i: i < 0, lambda i: i + 1, [tf.constant(5)])


def values_that_change_places() -> Any:
    return loop(
        lambda i, a, b: i < 5,
        lambda i, a, b: (i + 1, b, a),
        [0, tf.constant(1.0), tf.constant([2.0, 3.0])],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape(None), tf.TensorShape(None)],
    )


def a_value_that_grows() -> Any:
    return loop(
        lambda i, a: i < 4,
        lambda i, a: (i + 1, tf.concat([a, a], 0)),
        [0, tf.constant([1.0, 2.0])],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
    )


def a_gradient() -> Any:
    x = tf.constant(3.0)
    _, r = loop(lambda i, a: i < 5, lambda i, a: (i + 1, a * x), [0, tf.constant(1.0)])
    return [r, *v1.gradients(r, x)]


def a_matrix_gradient() -> Any:
    w = tf.constant(np.arange(9, dtype=np.float32).reshape(3, 3) / 10)
    _, r = loop(lambda i, a: i < 4, lambda i, a: (i + 1, tf.tanh(tf.matmul(a, w))), [0, tf.ones([2, 3])])
    return [r, *v1.gradients(tf.reduce_sum(r), w)]


def loops_in_loops() -> Any:
    x = tf.constant(1.1)

    def body(i: Any, a: Any) -> Any:
        _, b = loop(lambda j, b: j < i, lambda j, b: (j + 1, b + tf.cast(j, tf.float32) * a * x), [0, a])
        return i + 1, b

    _, r = loop(lambda i, a: i < 5, body, [0, tf.constant(1.0)])
    return [r, *v1.gradients(r, x)]


def branches_in_loops() -> Any:
    x = tf.constant(1.1)

    def body(i: Any, a: Any) -> Any:
        def odd() -> Any:
            return v1.cond(i > 3, lambda: a + 1.0, lambda: a - x)

        return i + 1, v1.cond(tf.equal(i % 2, 0), lambda: a * x, odd)

    _, r = loop(lambda i, a: i < 7, body, [0, tf.constant(1.0)])
    return [r, *v1.gradients(r, x)]


def a_branch_in_the_condition() -> Any:
    def goes_on(i: Any) -> Any:
        return v1.cond(i > 5, lambda: i < 8, lambda: i < 100)

    return loop(goes_on, lambda i: i + 1, [tf.constant(0)])


def an_effect_in_the_body() -> Any:
    v = v1.get_variable("v", initializer=0.0, use_resource=False)
    v1.global_variables_initializer()

    def body(i: Any) -> Any:
        with tf.control_dependencies([v1.assign_add(v, 2.0)]):
            return i + 1

    done = loop(lambda i: i < 6, body, [tf.constant(0)])
    with tf.control_dependencies([done]):
        return [done, tf.identity(v.read_value())]


def loops_side_by_side() -> Any:
    a = loop(lambda i: i < 5, lambda i: i + 2, [tf.constant(0)])
    b = loop(lambda i: i < 50, lambda i: i + a, [tf.constant(0)])
    c = loop(lambda i: i < a, lambda i: i + 1, [b - b])
    return [a, b, c]


def results_of_values_made_before_the_condition() -> Any:
    def body(i: Any, a: Any) -> Any:
        return i + 1, tf.square(a)

    return loop(lambda i, a: tf.reduce_sum(a) + tf.cast(i, tf.float32) < 50.0, body, [0, tf.constant([1.5, 1.2])])


def an_array_of_tensors() -> Any:
    def body(i: Any, array: Any) -> Any:
        return i + 1, array.write(i, tf.cast(i, tf.float32) * 2)

    _, array = loop(lambda i, _: i < 5, body, [0, tf.TensorArray(tf.float32, 5)])
    return array.stack()


def a_scan_and_a_map() -> Any:
    e = tf.constant([1.0, 2.0, 3.0, 4.0])
    scanned = tf.scan(lambda a, x: a * x + 1.0, e)
    mapped = tf.map_fn(lambda x: x * x, e)
    return [scanned, mapped, *v1.gradients(scanned, e), *v1.gradients(mapped, e)]


LOOPS = [
    a_count,
    no_round,
    values_that_change_places,
    a_value_that_grows,
    a_gradient,
    a_matrix_gradient,
    loops_in_loops,
    branches_in_loops,
    a_branch_in_the_condition,
    an_effect_in_the_body,
    loops_side_by_side,
    results_of_values_made_before_the_condition,
    an_array_of_tensors,
    a_scan_and_a_map,
]


@pytest.mark.parametrize("build", LOOPS)
def test_loops(build: Callable[[], Any]) -> None:
    Both(build).check()


def a_loop_in_a_branch() -> Any:
    x = scalar()
    y = tf.constant(2.0)

    def yes() -> Any:
        return loop(lambda i, a: i < 5, lambda i, a: (i + 1, a * y), [0, y])[1]

    r = v1.cond(x > 0, yes, lambda: y + 5)
    return [r, *v1.gradients(r, y)]


@pytest.mark.parametrize("x", [1.0, -1.0])
def test_a_loop_in_a_branch_and_its_gradient(x: float) -> None:
    Both(a_loop_in_a_branch).check({"x:0": x})


# ---------------------------------------------------------------------------------------------- Random programs


class Writer:
    """Writes a program of nested branches and loops, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def program(self) -> list[Any]:
        x = scalar()
        weights = [tf.constant(0.5), tf.constant([0.25, -0.5])]
        y = self._value([x, *weights, x * weights[1]], 3)
        total = tf.reduce_sum(y)
        found = [gradient for gradient in v1.gradients(total, [x, *weights]) if gradient is not None]
        return [y, total, *map(tf.convert_to_tensor, found)]

    def _value(self, known: list[Any], depth: int) -> Any:
        kinds = ["sum", "product", "tanh", "known"] + ["branch", "loop", "loop"] * (depth > 0)
        kind = self._random.choice(kinds)
        if kind == "branch":
            return self._branch(known, depth - 1)
        if kind == "loop":
            return self._loop(known, depth - 1)
        a, b = self._random.choice(known), self._random.choice(known)
        if depth > 0:
            a = self._value(known, depth - 1)
        if kind == "sum":
            return a + b
        if kind == "product":
            return a * b * 0.5
        return tf.tanh(a) if kind == "tanh" else b + 0.0

    def _branch(self, known: list[Any], depth: int) -> Any:
        predicate = tf.reduce_sum(self._random.choice(known)) > self._random.choice([-1.0, 0.0, 0.3])
        shaped = known[-1] * 0.0  # so that both sides have one shape
        first, second = self._random.random(), self._random.random()
        state = self._random.getstate()

        def side(seed: float) -> Any:
            self._random.seed(seed)
            return self._value(known, depth) + shaped

        result = v1.cond(predicate, lambda: side(first), lambda: side(second))
        self._random.setstate(state)
        return result

    def _loop(self, known: list[Any], depth: int) -> Any:
        rounds = self._random.choice([0, 1, 2, 3])
        start = self._value(known, 0) + known[-1] * 0.0
        seed = self._random.random()

        def body(i: Any, a: Any, b: Any) -> Any:
            self._random.seed(seed)
            inner = [*known[:-1], a, b]
            value = self._value(inner, depth) + known[-1] * 0.0
            if self._random.random() < 0.3:
                return i + 1, b, value
            return i + 1, value, b + 0.125 * a

        state = self._random.getstate()
        limit = tf.constant(rounds)
        _, a, b = loop(lambda i, a, b: i < limit, body, [0, start, known[-1] * 1.0])
        self._random.setstate(state)
        return a + b


@pytest.mark.parametrize("seed", range(30))
def test_random_programs_and_their_gradients(seed: int) -> None:
    both = Both(Writer(seed).program)
    for x in (-0.7, 0.4):
        both.check({"x:0": x}, tolerance=1e-4)


# ------------------------------------------------------------------------------------------------- Odd graphs


def one_sided() -> Any:
    _, yes = tf.raw_ops.Switch(data=tf.constant(3.0), pred=scalar(tf.bool))
    return yes + 1


@pytest.mark.parametrize("structured", [True, False])
def test_a_fetch_on_the_side_not_taken_is_tensorflows_error(structured: bool) -> None:
    both = Both(one_sided)
    both.check({"x:0": True})
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Retval\[0\] does not have value"):
        both.expected({"x:0": False})
    if structured:
        with pytest.raises(InvalidArgumentError, match=r"Retval\[0\] does not have value"):
            both.session().run(both.tensors, {"x:0": False})
        return
    with without_structure(), pytest.raises(InvalidArgumentError, match=r"Retval\[0\] does not have value"):
        both.session().run(both.tensors, {"x:0": False})


def merges_of_more_than_two_sides() -> Any:
    x = scalar()
    low, rest = tf.raw_ops.Switch(data=x, pred=x > 0)
    middle, high = tf.raw_ops.Switch(data=rest, pred=rest > 5)
    merged = tf.raw_ops.Merge(inputs=[low - 1, high + 1, middle * 2])
    return [merged.output, merged.value_index]


def what_waits_for_a_side() -> Any:
    x = scalar()
    no, yes = tf.raw_ops.Switch(data=x, pred=x > 0)
    with tf.control_dependencies([tf.identity(no)]):
        a = tf.constant(1.0)
    with tf.control_dependencies([tf.identity(yes)]):
        b = tf.constant(2.0)
    return tf.raw_ops.Merge(inputs=[a, b]).output


@pytest.mark.parametrize("build", [merges_of_more_than_two_sides, what_waits_for_a_side])
def test_hand_written_switches(build: Callable[[], Any]) -> None:
    both = Both(build)
    for x in (-1.0, 2.0, 9.0):
        both.check({"x:0": x})


def a_loop_without_a_loop_cond() -> Any:
    start = tf.raw_ops.Enter(data=tf.constant(0.0), frame_name="frame")
    step = tf.raw_ops.Enter(data=tf.constant(1.5), frame_name="frame", is_constant=True)
    merge = tf.raw_ops.Merge(inputs=[start, start])
    with tf.control_dependencies([merge.output]):
        limit = tf.constant(7.0)
    done, on = tf.raw_ops.Switch(data=merge.output, pred=merge.output < limit)
    following = tf.raw_ops.NextIteration(data=on + step)
    merge.output.op._update_input(1, following)
    return tf.raw_ops.Exit(data=done)


def test_a_loop_that_is_not_written_as_programs_write_them_is_run_by_tokens() -> None:
    Both(a_loop_without_a_loop_cond).check(structured=False)


def test_inputs_from_different_frames_are_refused() -> None:
    graph = v1.Graph()
    with graph.as_default():
        inside = tf.raw_ops.Enter(data=tf.constant(1.0), frame_name="frame")
        bad = tf.raw_ops.Exit(data=inside + tf.constant(2.0))
    ours = imported(graph)
    with v1.Session(graph=graph) as session, pytest.raises(tf.errors.InvalidArgumentError, match="different frames"):
        session.run(bad)
    with pytest.raises(InvalidArgumentError, match="has inputs from different frames"):
        Session(ours).run(ours.tensor(bad.name))


def test_an_error_in_a_loop_names_the_operation() -> None:
    def build() -> Any:
        return loop(
            lambda i, a: i < 3,
            lambda i, a: (i + 1, tf.reshape(a, [i + 2], name="bad")),
            [0, tf.ones([2])],
            shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
        )

    both = Both(build)
    with pytest.raises(InvalidArgumentError, match="node while/bad"):
        both.session().run(both.tensors)
    with without_structure(), pytest.raises(InvalidArgumentError, match="node while/bad"):
        both.session().run(both.tensors)


def test_what_was_read_of_a_reference_variable_changes_with_it() -> None:
    def program() -> Any:
        v = v1.Variable([1.0, 2.0], use_resource=False, name="v")
        v1.global_variables_initializer()
        before = tf.identity(v)
        with tf.control_dependencies([before]):
            update = v1.assign_add(v, [10.0, 20.0], name="update")
        with tf.control_dependencies([update.op]):
            after = before * 2.0
            chosen = v1.cond(tf.reduce_sum(after) > 0.0, lambda: before + 1.0, lambda: before)
        return [after, chosen]

    Both(program).check()
