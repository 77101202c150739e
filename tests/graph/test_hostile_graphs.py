"""Graphs from nowhere in particular: damaged, contradictory, or asking for more than there is."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from random import Random
from types import FrameType
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import InvalidArgumentError, ResourceExhaustedError, TensorKeepError
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.messages.graph_def import export_graph, import_graph
from tensorkeep.proto.messages import AttrValue, GraphDef
from tensorkeep.runtime.session import Session

pytestmark = pytest.mark.slow  # all of them together


def dense(x: Any) -> Any:
    w = tf.get_variable("w", [3, 4], initializer=tf.ones_initializer())
    hidden = tf.nn.relu(x[:, ::-1] @ w + tf.range(4.0))
    joined = tf.concat([hidden, tf.tile(hidden, [1, 2])], 1)
    return tf.gradients(tf.reduce_mean(tf.nn.softmax(joined)), [x, w])


def flowing(x: Any) -> Any:
    array = tf.TensorArray(tf.float32, 3)
    body = lambda i, a, array: (i + 1, tf.tanh(a), array.write(i, a))  # noqa: E731
    _, last, array = tf.while_loop(lambda i, *_: i < 3, body, (0, x, array))
    either = tf.cond(tf.reduce_sum(x) > 0.0, lambda: last * 2.0, lambda: tf.reduce_sum(array.stack(), 0))
    return tf.gradients(either, [x])


def shuffling(x: Any) -> Any:
    parts = tf.split(tf.pad(x, [[1, 1], [0, 1]]), 2, 1)
    picked = tf.gather(tf.stack(parts, 1), [0, 1]) + tf.random_uniform([2, 2, 2], seed=3)
    hot = tf.one_hot(tf.argmax(picked, -1), 5)
    text = tf.strings.join([tf.as_string(tf.reduce_sum(hot)), "!"])
    return [tf.reshape(tf.transpose(hot), [-1]), text, tf.cumsum(tf.unsorted_segment_sum(x, [1, 0], 3))]


def exported(program: Callable[[Any], Any]) -> tuple[GraphDef, list[str]]:
    graph = tf.Graph()
    with graph.as_default():
        found = program(tf.placeholder(tf.float32, [2, 3], name="x"))
        tf.global_variables_initializer()
        fetches = [tensor.name for tensor in found if tensor is not None]
    return export_graph(graph), fetches


class _TooLongError(Exception):
    """A damaged loop need not end; that is no failure."""


@contextmanager
def no_longer_than(seconds: int) -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise _TooLongError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def imported(proto: GraphDef) -> Session:
    graph = Graph()
    import_graph(proto, graph, name="")
    return Session(graph, allow_io=False)


def run(session: Session, fetches: list[str]) -> None:
    if "init" in session.graph:
        session.run("init")
    for fetch in fetches:
        session.run(fetch, {"x:0": np.array([[0.5, -1.0, 0.25], [1.5, 0.75, -2.0]], np.float32)})


def attempt(proto: GraphDef, fetches: list[str]) -> None:
    """Imports and runs; only errors that are meant as such may come out of it."""
    with suppress(TensorKeepError, _TooLongError):
        session = imported(proto)
        with no_longer_than(5):
            run(session, fetches)


def some(random: Random, items: Any) -> Any:
    return items[random.randrange(len(items))]


def swap_inputs(random: Random, proto: GraphDef) -> None:
    one, other = some(random, proto.node), some(random, proto.node)
    if one.input and other.input:
        i, j = random.randrange(len(one.input)), random.randrange(len(other.input))
        one.input[i], other.input[j] = other.input[j], one.input[i]


def drop_a_node(random: Random, proto: GraphDef) -> None:
    del proto.node[random.randrange(len(proto.node))]


def repeat_a_node(random: Random, proto: GraphDef) -> None:
    proto.node.add().CopyFrom(some(random, proto.node))


def drop_an_input(random: Random, proto: GraphDef) -> None:
    node = some(random, proto.node)
    if node.input:
        del node.input[random.randrange(len(node.input))]


def redirect_an_input(random: Random, proto: GraphDef) -> None:
    node = some(random, proto.node)
    if node.input:
        source = some(random, proto.node).name
        node.input[random.randrange(len(node.input))] = (
            random.choice(["", "^"]) + source + random.choice(["", ":1", ":7"])
        )


def change_the_op(random: Random, proto: GraphDef) -> None:
    some(random, proto.node).op = some(random, proto.node).op


def drop_an_attribute(random: Random, proto: GraphDef) -> None:
    node = some(random, proto.node)
    if node.attr:
        del node.attr[random.choice(sorted(node.attr))]


def borrow_an_attribute(random: Random, proto: GraphDef) -> None:
    node, other = some(random, proto.node), some(random, proto.node)
    if node.attr and other.attr:
        node.attr[random.choice(sorted(node.attr))].CopyFrom(other.attr[random.choice(sorted(other.attr))])


def change_a_type(random: Random, proto: GraphDef) -> None:
    node = some(random, proto.node)
    types = [name for name in sorted(node.attr) if node.attr[name].WhichOneof("value") == "type"]
    if types:
        node.attr[random.choice(types)].CopyFrom(AttrValue(type=random.randrange(30)))


def change_a_constant(random: Random, proto: GraphDef) -> None:
    constants = [node for node in proto.node if node.op == "Const"]
    tensor = some(random, constants).attr["value"].tensor
    kind = random.randrange(4)
    if kind == 0:
        tensor.int_val.append(random.choice([-1, 0, 7, 2**31 - 1, -(2**31)]))
    elif kind == 1:
        tensor.tensor_shape.dim.add().size = random.choice([-1, 0, 3, 2**40, 2**62])
    elif kind == 2:
        tensor.tensor_content = random.randbytes(len(tensor.tensor_content))
    else:
        tensor.dtype = random.randrange(30)


EDITS = (
    *(swap_inputs, drop_a_node, repeat_a_node, drop_an_input, redirect_an_input, change_the_op, drop_an_attribute),
    *(borrow_an_attribute, change_a_type, change_a_constant),
)


@pytest.mark.parametrize("program", [dense, flowing, shuffling])
def test_an_edited_graph_runs_or_is_refused(program: Callable[[Any], Any]) -> None:
    proto, fetches = exported(program)
    run(imported(proto), fetches)
    random = Random(program.__name__)
    for _ in range(TRIES):
        edited = GraphDef()
        edited.CopyFrom(proto)
        for _ in range(random.choice([1, 1, 2, 4])):
            random.choice(EDITS)(random, edited)
        attempt(edited, fetches)


@pytest.mark.parametrize("program", [dense, flowing, shuffling])
def test_a_graph_with_flipped_bytes_runs_or_is_refused(program: Callable[[Any], Any]) -> None:
    proto, fetches = exported(program)
    data = proto.SerializeToString()
    random = Random(program.__name__)
    for _ in range(TRIES):
        damaged = bytearray(data)
        for _ in range(random.choice([1, 1, 2, 8])):
            damaged[random.randrange(len(damaged))] = random.randrange(256)
        try:
            read = GraphDef.FromString(bytes(damaged))
        except Exception:  # the protobuf runtime's own
            continue
        attempt(read, fetches)


TRIES = 150

HUGE = (2**40, 2**62)


@pytest.mark.parametrize("size", HUGE)
@pytest.mark.parametrize(
    "make",
    [
        lambda n: tf.fill(tf.stack([n]), 1.0),
        lambda n: tf.fill(tf.stack([n, n]), 0.0),
        lambda n: tf.fill(tf.stack([n]), "a"),
        lambda n: tf.range(n),
        lambda n: tf.range(tf.constant(0, tf.int64), n, tf.constant(3, tf.int64)),
        lambda n: tf.raw_ops.LinSpace(start=0.0, stop=1.0, num=n),
        lambda n: tf.tile([[1.0, 2.0]], tf.stack([n, 1])),
        lambda n: tf.broadcast_to(1.0, tf.stack([n])) + 1.0,
        lambda n: tf.pad([1.0], tf.stack([[n, n]])),
        lambda n: tf.one_hot(tf.zeros([2**20], tf.int32), tf.cast(tf.minimum(n, 2**31 - 1), tf.int32)),
        lambda n: tf.random_uniform(tf.stack([n])),
        lambda n: tf.random_normal(tf.stack([n]), seed=1),
        lambda n: tf.truncated_normal(tf.stack([n]), seed=1),
        lambda n: tf.random_uniform(tf.stack([n]), 0, 9, tf.int32),
        lambda n: tf.raw_ops.RandomGamma(shape=tf.stack([n]), alpha=[1.0, 2.0]),
        lambda n: tf.raw_ops.RandomPoissonV2(shape=tf.stack([n]), rate=[1.0]),
        lambda n: tf.random.stateless_uniform(tf.stack([n]), [1, 2]),
        lambda n: tf.scatter_nd([[tf.constant(0, tf.int64)]], [1.0], tf.stack([n])),
        lambda n: tf.unsorted_segment_sum([1.0], [0], n),
        lambda n: tf.sparse.to_dense(tf.SparseTensor([[0]], [1.0], tf.stack([n]))),
        lambda n: tf.sequence_mask(tf.stack([n])),
        lambda n: tf.zeros(tf.stack([n])) + 1.0,
        lambda n: tf.constant(1.0, shape=[2**40]) * tf.to_float(n),
        lambda n: tf.TensorArray(tf.float32, tf.cast(tf.minimum(n, 2**31 - 1), tf.int32)).flow,
        lambda n: tf.linalg.diag(tf.zeros([2**24])),
    ],
)
def test_what_does_not_fit_into_memory_is_refused(make: Callable[[Any], Any], size: int) -> None:
    with tf.Graph().as_default() as graph:
        n = tf.placeholder(tf.int64, [], name="n")
        result = make(n)
    with pytest.raises((ResourceExhaustedError, InvalidArgumentError)):
        Session(graph).run(result, {n: size})


def test_a_large_constant_that_nobody_asks_for_takes_no_memory() -> None:
    with tf.Graph().as_default() as graph:
        large = tf.constant(1.0, shape=[2**36])
        size, other = tf.size(large, out_type=tf.int64), tf.constant(2.0)
    assert Session(graph).run([size, other]) == [2**36, 2.0]


def test_a_constant_of_many_equal_elements_is_not_listed_by_shape_rules() -> None:
    with tf.Graph().as_default():
        x, many = tf.placeholder(tf.float32, [2, 3]), tf.constant(0, shape=[2**40])
        assert tf.reduce_sum(x, many).shape.rank is None


def test_a_shape_that_is_a_matrix_is_refused() -> None:
    with tf.Graph().as_default(), pytest.raises(InvalidArgumentError, match="rank 1 but is rank 2"):
        tf.reshape(tf.placeholder(tf.float32, [2, 3]), [[3, 2]])


def test_more_outputs_than_an_operation_can_have_are_refused() -> None:
    with (
        tf.Graph().as_default(),
        pytest.raises(InvalidArgumentError, match='"num_split" asks for 1099511627776 outputs'),
    ):
        tf.raw_ops.Split(axis=0, value=[1.0], num_split=1 << 40)


def test_more_samples_than_fit_into_memory_are_refused() -> None:
    with tf.Graph().as_default() as graph:
        found = tf.nn.log_uniform_candidate_sampler([[1]], 1, 1 << 40, False, 5)
    with pytest.raises(ResourceExhaustedError, match="no memory"):
        Session(graph).run(found[0])
