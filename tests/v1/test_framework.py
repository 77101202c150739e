"""Graph building in TensorFlow 1's words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.graph.registry.opspec import op

without_gradient = op("TestWithoutGradient(x: float) -> y: float")


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_a_scope_has_a_default_name() -> None:
    with tf.name_scope(None, "layer") as scope:
        assert scope == "layer/"
    with tf.name_scope("given", "layer", [tf.constant(1)]) as scope:
        assert scope == "given/"


def test_conversion_by_type_and_by_preference() -> None:
    assert tf.convert_to_tensor([1, 2]).dtype is tf.int32
    assert tf.convert_to_tensor(1, dtype=tf.float64).dtype is tf.float64
    assert tf.convert_to_tensor(1, preferred_dtype=tf.float32).dtype is tf.float32
    assert tf.convert_to_tensor(1.5, dtype_hint=tf.int32).dtype is tf.float32
    with pytest.raises(ValueError, match="Tensor conversion requested dtype"):
        tf.convert_to_tensor(tf.constant(1), tf.float32)


def test_types_of_ones_own_become_tensors() -> None:
    class Celsius:
        def __init__(self, degrees: float) -> None:
            self.degrees = degrees

    def convert(value: Celsius, dtype=None, name=None, as_ref=False):
        return tf.constant(value.degrees, dtype=dtype, name=name)

    tf.register_tensor_conversion_function(Celsius, convert)
    assert tf.Session().run(tf.add(Celsius(1.0), Celsius(2.0))) == 3.0


def test_collections_are_found_by_scope() -> None:
    with tf.variable_scope("a"):
        a = tf.get_variable("x", [])
    with tf.variable_scope("b"):
        tf.get_variable("x", [])
    assert tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope="a") == [a]
    tf.add_to_collection("mine", a)
    tf.get_collection_ref("mine").append(3)
    assert tf.get_collection("mine") == [a, 3]


def test_a_graph_goes_through_its_message_and_a_file(tmp_path) -> None:
    x = tf.placeholder(tf.float32, [None], name="x")
    tf.multiply(x, 3.0, name="y")
    proto = tf.get_default_graph().as_graph_def()
    path = tf.train.write_graph(proto, str(tmp_path), "g.pbtxt")
    assert path == f"{tmp_path}/g.pbtxt"
    with tf.Graph().as_default():
        mine = tf.constant([1.0, 2.0])
        (y,) = tf.import_graph_def(proto, {"x:0": mine}, ["y:0"], name="in")
        assert y.name == "in/y:0"
        assert tf.Session().run(y).tolist() == [3.0, 6.0]


@pytest.mark.parametrize(
    "mistaken", ["graph.pb", b"bytes", None, tf.MetaGraphDef()], ids=["path", "bytes", "None", "meta"]
)
def test_only_a_graph_def_is_imported(mistaken: Any) -> None:
    with pytest.raises(TypeError, match="must be a GraphDef proto; got"):
        tf.import_graph_def(mistaken)


def test_static_values() -> None:
    assert tf.get_static_value(tf.constant([1, 2]) + 1).tolist() == [2, 3]
    assert tf.get_static_value(tf.placeholder(tf.float32)) is None
    proto = tf.make_tensor_proto([1.0, 2.0])
    assert tf.make_ndarray(proto).tolist() == [1.0, 2.0]


def test_elements_are_found_by_name(fresh_graph: tf.Graph) -> None:
    c = tf.constant(1, name="c")
    assert fresh_graph.get_tensor_by_name("c:0") is c
    assert fresh_graph.get_operation_by_name("c") is c.op
    assert fresh_graph.as_graph_element("c:0") is c
    with pytest.raises(ValueError, match=r"looks like an \(invalid\) Operation name, not a Tensor"):
        fresh_graph.get_tensor_by_name("nosuch")
    with pytest.raises(KeyError, match="refers to a Tensor which does not exist"):
        fresh_graph.get_tensor_by_name("nosuch:0")
    with pytest.raises(ValueError, match="refer to a Tensor, not a Operation"):
        fresh_graph.get_operation_by_name("c:0")
    with pytest.raises(ValueError, match="refers to an Operation, not a Tensor"):
        fresh_graph.get_tensor_by_name("c")
    with pytest.raises(KeyError, match="refers to a Tensor which does not exist"):
        fresh_graph.get_tensor_by_name("d:0")


def test_a_tensor_is_fetchable_as_its_operation_is(fresh_graph: tf.Graph) -> None:
    a = tf.constant(1.0)
    assert fresh_graph.is_fetchable(a)
    fresh_graph.prevent_fetching(a.op)
    assert not fresh_graph.is_fetchable(a)
    assert not fresh_graph.is_fetchable(a.op)


def test_every_op_can_be_called_raw() -> None:
    y = tf.raw_ops.AddV2(x=tf.constant([1.0]), y=tf.constant([2.0]))
    assert tf.Session().run(y).tolist() == [3.0]
    with pytest.raises(TypeError, match="only takes keyword args"):
        tf.raw_ops.AddV2(1.0, 2.0)
    with pytest.raises(AttributeError, match="no such op"):
        tf.raw_ops.NoSuchOp  # noqa: B018


def test_errors_have_tensorflows_codes() -> None:
    assert tf.errors.exception_type_from_error_code(tf.errors.NOT_FOUND) is tf.errors.NotFoundError
    assert tf.errors.error_code_from_exception_type(tf.errors.DataLossError) == tf.errors.DATA_LOSS
    with pytest.raises(tf.OpError) as caught:
        tf.Session().run(tf.placeholder(tf.float32, name="p"))
    assert caught.value.op.name == "p"
    assert isinstance(caught.value, tf.errors.InvalidArgumentError)


def test_modes_that_are_not_here_say_so() -> None:
    assert not tf.executing_eagerly()
    tf.disable_v2_behavior()
    tf.disable_eager_execution()
    with pytest.raises(RuntimeError, match="no eager execution"):
        tf.enable_eager_execution()


def test_resource_variables_can_be_the_default() -> None:
    tf.enable_resource_variables()
    try:
        assert tf.resource_variables_enabled()
        assert tf.get_variable("r", []).op.type == "VarHandleOp"
        with tf.Graph().as_default():
            assert tf.Variable(1.0).op.type == "VarHandleOp"
    finally:
        tf.disable_resource_variables()
    assert tf.Variable(1.0).op.type == "VariableV2"


def test_types_are_tensorflows() -> None:
    assert tf.as_dtype("float32") is tf.float32
    assert tf.as_dtype(np.int64) is tf.int64
    assert tf.float32.name == "float32"
    assert tf.half is tf.float16


def test_gradients_with_all_their_arguments() -> None:
    x, z = tf.constant(2.0), tf.constant(5.0)
    y = x * x
    session = tf.Session()
    assert session.run(tf.gradients(y, x)) == [4.0]
    assert session.run(tf.gradients(y, [x], grad_ys=3.0)) == [12.0]
    assert tf.gradients(y, z) == [None]
    assert session.run(tf.gradients(y, z, unconnected_gradients=tf.UnconnectedGradients.ZERO)) == [0.0]
    stopped = tf.gradients(y * z, [x, z], stop_gradients=[y])
    assert stopped[0] is None
    assert session.run(stopped[1]) == 4.0


def test_an_op_without_a_gradient_is_named() -> None:
    x = tf.constant(1.0)
    y = without_gradient(x, name="odd")
    with pytest.raises(LookupError, match=r"No gradient defined for operation 'odd' \(op type: TestWithoutGradient\)"):
        tf.gradients(y, x)
    tf.no_gradient("TestWithoutGradient")
    assert tf.gradients(y, x) == [None]


def test_a_value_of_another_type_than_asked_for_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="Expected float32, but got 'a' of type 'str'"):
        tf.constant("a", tf.float32)
    with pytest.raises(TypeError, match="'floot' is not a data type"):
        tf.placeholder("floot")


def test_a_shape_of_words_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="'a' of type str is not the size of a dimension"):
        tf.placeholder(tf.float32, "abc")
    with pytest.raises(TypeError, match=r"1.5 of type float is not the size of a dimension"):
        tf.Dimension(1.5)
