"""`Graph.create_op` beside TensorFlow's: the same nodes of the same arguments, and refusals of the same mistakes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import tensorflow
from tensorflow.core.framework.attr_value_pb2 import AttrValue as TheirValue

import tensorkeep.v1 as ours
from tensorkeep.proto.messages import AttrValue as OurValue
from tests.interop.programs import tensorflow_1

theirs = tensorflow.compat.v1
Call = Callable[[Any, Any, Any, Any], Any]

# Of the module, the graph, two tensors in a list, and the class of attributes.
CALLS: dict[str, Call] = {
    "by position": lambda tf, g, x, v: g.create_op("Identity", x[:1], [tf.float32], None, "foo", {"T": v(type=1)}),
    "types by number": lambda tf, g, x, v: g.create_op("Identity", x[:1], [1], attrs={"T": v(type=1)}),
    "without attributes": lambda tf, g, x, v: g.create_op("AddV2", x, [tf.float32], name="a"),
    "without types": lambda tf, g, x, v: g.create_op("Identity", x[:1]),
    "other types": lambda tf, g, x, v: g.create_op("Cast", x[:1], [tf.float32], attrs={"DstT": v(type=3)}),
    "input types": lambda tf, g, x, v: g.create_op("Identity", x[:1], [tf.float32], [tf.float32]),
    "several, said": lambda tf, g, x, v: g.create_op(
        "IdentityN", x, [tf.float32] * 2, attrs={"T": v(list=v.ListValue(type=[1, 1]))}
    ),
    "number": lambda tf, g, x, v: g.create_op("Pack", x, [tf.float32], name="p", attrs={"N": v(i=2)}),
    "number and one more": lambda tf, g, x, v: g.create_op(
        "ConcatV2", [*x, tf.constant(0)], [tf.float32], attrs={"N": v(i=2)}
    ),
    "nothing": lambda tf, g, x, v: g.create_op("NoOp", [], []),
    "placeholder": lambda tf, g, x, v: g.create_op("Placeholder", [], [tf.float32], attrs={"dtype": v(type=1)}),
    "scope": lambda tf, g, x, v: g.create_op("NoOp", [], [], name="n/"),
    "underscore": lambda tf, g, x, v: g.create_op("NoOp", [], [], attrs={"_mine": v(s=b"text")}),
    "all by name": lambda tf, g, x, v: g.create_op(
        op_type="Identity",
        inputs=x[:1],
        dtypes=[tf.float32],
        input_types=None,
        name="z",
        attrs={"T": v(type=1)},
        op_def=None,
        compute_shapes=True,
        compute_device=True,
    ),
}
WRONG: dict[str, Call] = {
    "type": lambda tf, g, x, v: g.create_op("AddV2", x, [tf.float32], name="a", attrs={"T": v(type=3)}),
    "no tensor": lambda tf, g, x, v: g.create_op("Identity", [1.0], [tf.float32]),
    "missing attribute": lambda tf, g, x, v: g.create_op("Cast", x[:1], [tf.int32]),
    "unknown op": lambda tf, g, x, v: g.create_op("NoSuchOp", [], []),
    "too few": lambda tf, g, x, v: g.create_op("AddV2", x[:1], [tf.float32]),
    "too many": lambda tf, g, x, v: g.create_op("Identity", x, [tf.float32]),
    "no message": lambda tf, g, x, v: g.create_op("Identity", x[:1], [tf.float32], attrs={"T": tf.float32}),
}


@pytest.fixture(autouse=True)
def first_version() -> Iterator[None]:
    with tensorflow_1():
        yield


def made(tf: Any, value: Any, call: Call) -> tuple[str, list[Any], int]:
    with tf.Graph().as_default() as graph:
        tensors = [tf.constant([1.0], name="x"), tf.constant([2.0], name="y")]
        before = len(graph.get_operations())
        try:
            op = call(tf, graph, tensors, value)
        except Exception as error:  # whatever it is: kinds are compared by the tests
            return type(error).__name__, [], len(graph.get_operations()) - before
        outputs = [(tensor.name, tensor.dtype.name, str(tensor.shape).replace("?", "None")) for tensor in op.outputs]
        return str(op.node_def), outputs, 0


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_the_node_is_tensorflow_s(call: Call) -> None:
    mine, other = made(ours, OurValue, call), made(theirs, TheirValue, call)
    assert mine == other


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG)
def test_what_tensorflow_refuses_is_refused_by_an_error_of_ours_and_nothing_is_added(call: Call) -> None:
    kind, outputs, added = made(ours, OurValue, call)
    assert (kind in ("InvalidArgumentError", "WrongTypeError", "NotFoundError"), outputs, added) == (True, [], 0)
    assert made(theirs, TheirValue, call)[1] == []


@pytest.mark.parametrize(("op", "inputs"), [("Pack", 2), ("IdentityN", 2)])
def test_how_many_tensors_a_list_has_need_not_be_said(op: str, inputs: int) -> None:
    node, outputs, _ = made(ours, OurValue, lambda tf, g, x, v: g.create_op(op, x))
    assert (node.count("input:"), bool(outputs)) == (inputs, True)


@pytest.mark.filterwarnings("ignore")
def test_messages_of_tensorflow_are_taken_too() -> None:
    assert made(ours, TheirValue, CALLS["several, said"]) == made(ours, OurValue, CALLS["several, said"])
