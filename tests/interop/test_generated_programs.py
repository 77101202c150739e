"""Programs made at random, the same text for TensorFlow and for us: equal graphs, equal shapes, equal results.

A graph is equal if it has the same nodes in the same order: names, ops, inputs, control inputs, attributes, devices.
Each graph is also run by the other side. What may differ, and why:

* Numbers, by rounding: kernels add in other orders. Types, shapes and whole numbers are equal.
* The text of errors. A program that TensorFlow refuses to build, we refuse to build with an error of the same kind.
* What TensorFlow's graph optimizers would change. They are off here, and we have none that shows.
* Gradients that are rows (IndexedSlices): some that TensorFlow refuses, we make (see `comparing.THEIR_LIMITS`).
* Static shapes of what follows from constants alone: TensorFlow does not evaluate every such operation, we do.
* The class of an error when a graph runs that TensorFlow's executor has only an InternalError for.
* One constant: see `test_zeros_for_a_loop_are_of_its_type`.
"""

from __future__ import annotations

from textwrap import dedent, indent
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tensorkeep.v1 as ours
from tensorkeep.errors import InvalidArgumentError
from tests.interop.comparing import CONFIG, compare
from tests.interop.generated import Program, generate
from tests.interop.graph_comparison import assert_same_nodes, our_nodes, their_nodes
from tests.interop.programs import tensorflow_1
from tests.support.depth import thinned

v1 = tf.compat.v1

PROGRAMS = 100
FEEDS = {"x": np.array([[0.5, -1.0, 0.25], [1.5, 0.75, -2.0]], np.float32), "n": np.int32(2), "p": np.bool_(True)}

pytestmark = pytest.mark.filterwarnings("ignore")  # TensorFlow's, of sparse gradients made dense


def check(program: Program) -> None:
    outcome = compare(program)
    assert outcome.kind in ("same", "refused"), f"{outcome.kind}:\n{outcome.text}\n\n{program.text}"


@pytest.mark.parametrize("seed", thinned(range(PROGRAMS), 3))
def test_a_program_made_at_random(seed: int) -> None:
    check(generate(seed))


def test_most_programs_are_meaningful_and_none_is_like_another() -> None:
    texts = [generate(seed).text for seed in range(PROGRAMS)]
    assert len(set(texts)) == PROGRAMS
    for word in (
        "tf.cond(",
        "tf.while_loop(",
        "tf.case(",
        "tf.gradients(",
        "tf.get_variable(",
        ".minimize(",
        "tf.scan(",
    ):
        assert sum(word in text for text in texts) > 5, word


def test_a_seed_always_makes_the_same_program() -> None:
    assert generate(7).text == generate(7).text


def test_sessions_that_compare_decide_nothing_for_those_that_follow_in_the_process() -> None:
    """What sessions share has as many threads as the first of them asked for, and random numbers depend on it."""
    assert CONFIG.use_per_session_threads
    assert CONFIG.intra_op_parallelism_threads == 0


# What such programs have found, as small as it can be


def expect_same(body: str) -> None:
    """Compares a program that has `x` of shape [2, 3], `n`, a count, `p`, a condition, and gives what `values` is."""
    lines = [
        "def program(tf):",
        '    x = tf.placeholder(tf.float32, [2, 3], name="x")',
        '    n = tf.placeholder(tf.int32, [], name="n")',
        '    p = tf.placeholder(tf.bool, [], name="p")',
        "    updates = []",
        indent(dedent(body).strip("\n"), "    "),
        "    init = tf.global_variables_initializer()",
        "    return dict(values=values, updates=updates, init=init)",
    ]
    program = Program("\n".join(lines) + "\n", (FEEDS,) * 3)
    outcome = compare(program)
    assert outcome.kind == "same", f"{outcome.kind}:\n{outcome.text}\n\n{program.text}"


def test_a_resource_variable_is_read_on_no_device_whatever_the_scope() -> None:
    expect_same("""
        w = tf.get_variable("w", [3], initializer=tf.ones_initializer(), use_resource=True)
        with tf.device("/cpu:0"):
            values = [x * w]
    """)


@pytest.mark.parametrize(
    "values",
    [
        "tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * 0.5), [0, w])",
        "tf.gradients(w, [w])",
        "[tf.cond(p, lambda: w, lambda: w * 2.0)]",
        "tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, w), [0, x[0]])",
        "[tf.map_fn(lambda e: e + 1.0, w)]",
        "[tf.scan(lambda a, e: a + e, w), tf.foldl(lambda a, e: a + e, w), tf.foldr(lambda a, e: a + e, w)]",
    ],
)
def test_a_resource_variable_is_read_where_tensorflow_reads_it(values: str) -> None:
    expect_same(f"""
        w = tf.get_variable("w", [3], initializer=tf.ones_initializer(), use_resource=True)
        values = {values}
    """)


@pytest.mark.parametrize("use_resource", [True, False])
@pytest.mark.parametrize("function", ["map_fn", "scan", "foldl", "foldr"])
def test_a_variable_made_for_each_element_is_cached(function: str, use_resource: bool) -> None:
    arguments = "e" if function == "map_fn" else "a, e"
    expect_same(f"""
        def fn({arguments}):
            return e * tf.get_variable("w", [3], initializer=tf.ones_initializer(), use_resource={use_resource})
        with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
            values = [tf.{function}(fn, x)]
    """)


def test_what_waits_for_things_outside_of_a_loop() -> None:
    expect_same("""
        a, b = tf.tanh(x), tf.sin(x)
        def body(i, y):
            with tf.control_dependencies([a, b]):
                return i + 1, y * 0.5 + tf.reduce_sum(tf.reduce_sum(x)) - tf.to_float(i)
        values = tf.while_loop(lambda i, y: i < n, body, [0, x])
    """)


def test_the_gradient_with_respect_to_other_parts_of_what_was_split() -> None:
    expect_same("""
        y = tf.tanh(x)
        a, b, c = tf.split(y, 3, 1)
        values = tf.gradients(b, [a, y])
    """)


def test_rows_go_round_a_loop_as_a_dense_gradient() -> None:
    expect_same("""
        last = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, tf.gather(a, [1, 0])), [0, x])[1]
        values = tf.gradients(last, [x])
    """)


@pytest.mark.parametrize("use_resource", [True, False])
@pytest.mark.parametrize("optimizer", ["AdamOptimizer(0.1)", "RMSPropOptimizer(0.1)", "FtrlOptimizer(0.1)"])
def test_a_scalar_variable_is_trained(optimizer: str, use_resource: bool) -> None:
    expect_same(f"""
        w = tf.get_variable("w", [], initializer=tf.ones_initializer(), use_resource={use_resource})
        updates = [tf.train.{optimizer}.minimize(tf.reduce_sum(x * w))]
        values = [tf.identity(w)]
    """)


def test_a_concatenation_after_a_loop() -> None:
    expect_same("""
        joined = tf.concat([x, x * 2.0], -1)
        last = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * 0.5), [0, joined])[1]
        values = tf.gradients(last, [x])
    """)


def test_a_difference_squared_of_which_rows_are_gathered() -> None:
    expect_same("values = tf.gradients(tf.gather(tf.squared_difference(tf.tanh(x), x * 2.0), [0, 1, 0]), [x])")


@pytest.mark.parametrize("use_resource", [True, False])
def test_a_tuple_waits_for_variables_rather_than_for_their_values(use_resource: bool) -> None:
    expect_same(f"""
        w = tf.get_variable("w", [3], initializer=tf.ones_initializer(), use_resource={use_resource})
        values = tf.tuple([w, tf.tanh(x)])
    """)


def test_zeros_like_a_variable_do_not_read_it() -> None:
    expect_same("""
        w = tf.get_variable("w", [3], initializer=tf.ones_initializer(), use_resource=True)
        values = [tf.zeros_like(w), tf.ones_like(w)]
    """)


@pytest.mark.parametrize("value", ["tf.fill([2, 3], x[0, 0])", "tf.maximum(x, x * 2.0)"])
def test_rows_of_gradients_are_made_dense_as_tensorflow_does(value: str) -> None:
    expect_same(f"values = tf.gradients(tf.gather({value}, [1, 0, 1]), [x])")


def test_labels_tell_how_many_rows_logits_have() -> None:
    expect_same("""
        logits = tf.placeholder_with_default(tf.ones([2, 3]), [None, None])
        values = [tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1], logits=logits)]
    """)


def test_second_derivatives_through_an_array_cannot_be_run() -> None:
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [3], name="x")
        y = tf.TensorArray(tf.float32, 3).unstack(x * x).stack()
        (first,) = tf.gradients(y * y, [x])
        return tf.gradients(first, [x])

    graph = ours.Graph()
    with graph.as_default():
        wanted = program(ours)
    with pytest.raises(InvalidArgumentError, match="Wrong input container"):
        ours.Session(graph=graph).run(wanted, {"x:0": [1.0, 2.0, 3.0]})
    with tensorflow_1(), v1.Graph().as_default() as their_graph:
        theirs = program(v1)
        assert_same_nodes(our_nodes(graph), their_nodes(their_graph))
        with pytest.raises(tf.errors.InvalidArgumentError, match="Wrong input container"), v1.Session() as session:
            session.run(theirs, {"x:0": [1.0, 2.0, 3.0]})


def test_zeros_for_a_loop_are_of_its_type() -> None:
    """TensorFlow makes float32 zeros for a variable of unknown shape, whatever its type; its graph does not run."""

    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float64, [None], name="x")
        y = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, tf.stop_gradient(a)), [0, x])[1]
        return tf.gradients(y, [x])

    graph = ours.Graph()
    with graph.as_default():
        wanted = program(ours)
    assert ours.Session(graph=graph).run(wanted, {"x:0": [1.0, 2.0]})[0].tolist() == [0.0, 0.0]
    with tensorflow_1(), v1.Graph().as_default():
        theirs = program(v1)
        with pytest.raises(tf.errors.InvalidArgumentError), v1.Session() as session:
            session.run(theirs, {"x:0": [1.0, 2.0]})


def test_a_loss_of_variables() -> None:
    expect_same("""
        w = tf.get_variable("w", [2, 3], initializer=tf.ones_initializer(), use_resource=True)
        values = [tf.losses.mean_squared_error(x, w), tf.losses.huber_loss(w, x), tf.losses.absolute_difference(w, w)]
    """)


@pytest.mark.parametrize("use_resource", [True, False])
def test_a_variable_made_beside_something_on_a_device(use_resource: bool) -> None:
    expect_same(f"""
        with tf.device("/cpu:0"):
            with tf.colocate_with(x):
                w = tf.get_variable("w", [3], initializer=tf.ones_initializer(), use_resource={use_resource})
                with tf.device(None):
                    v = tf.get_variable("v", [3], initializer=tf.ones_initializer(), use_resource={use_resource})
                with tf.variable_scope("s"):
                    u = tf.get_variable("u", [3], initializer=tf.ones_initializer(), use_resource={use_resource})
        values = [x * w * v * u]
    """)


def test_second_derivatives_of_rows_through_branches() -> None:
    expect_same("""
        y = tf.cond(p, lambda: tf.gather(x * x * x, [1, 0, 1]), lambda: tf.gather(x, [0, 1, 1]))
        (first,) = tf.gradients(y, [x])
        values = [first, *tf.gradients(tf.gather(first, [0, 0]), [x])]
    """)
