"""Functions, functional branches and loops, and tensor lists, beside TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tensorkeep.errors import InvalidArgumentError, ResourceExhaustedError, TensorKeepError
from tensorkeep.graph.building import building
from tensorkeep.graph.functions import function_body, function_def
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.messages.attrs import FunctionRef
from tensorkeep.graph.messages.graph_def import export_graph, import_graph
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.ops.control.functional import device_index, fake_param, for_, if_, partitioned_call
from tensorkeep.ops.control.tensor_lists import tensor_list_get_item, tensor_list_reserve
from tensorkeep.proto.messages import FunctionDef, GraphDef
from tensorkeep.runtime.session import Session
from tensorkeep.shapes import UNKNOWN_SHAPE
from tensorkeep.tf1.functions.gradients.reverse_walk import gradients
from tests.interop.running import Both, assert_all_close, imported

v1 = tf.compat.v1
raw = tf.raw_ops

MATRIX = np.arange(6, dtype=np.float32).reshape(2, 3)


def check_function(function: Any, *arguments: Any, tolerance: float = 1e-5) -> Session:
    """Runs a tf.function beside the graph of its body, and beside a call of it as a function of a library."""
    concrete = function.get_concrete_function()
    expected = [value.numpy() for value in tf.nest.flatten(function(*map(tf.constant, arguments)))]
    graph = imported(concrete.graph)
    feeds = {tensor.name: value for tensor, value in zip(concrete.inputs, arguments, strict=True)}
    session = Session(graph)
    assert_all_close(
        session.run([graph.tensor(tensor.name) for tensor in concrete.outputs], feeds), expected, tolerance
    )
    assert_all_close(called(concrete, arguments), expected, tolerance)
    return session


def called(concrete: Any, arguments: Any) -> list[Any]:
    """The results of a graph with one node, which calls the function."""
    graph = Graph()
    for proto in (concrete.function_def, *concrete.graph.as_graph_def().library.function):
        theirs = FunctionDef.FromString(proto.SerializeToString())
        graph.functions[theirs.signature.name] = theirs
    with building(graph):
        inputs = [placeholder(dtype=np.asarray(value).dtype, shape=None) for value in arguments]
        outputs = partitioned_call(
            inputs,
            Tout=[tensor.dtype.name for tensor in concrete.outputs],
            f=FunctionRef(concrete.function_def.signature.name),
        )
    return list(Session(graph).run(list(outputs), dict(zip(inputs, arguments, strict=True))))


# ---------------------------------------------------------------------------------------------------- Functions


@tf.function(input_signature=[tf.TensorSpec([None, 3]), tf.TensorSpec([], tf.int32)])
def loops_and_branches(x: Any, n: Any) -> Any:
    y = x
    for i in tf.range(n):
        if i % 2 == 0:  # noqa: SIM108 - a statement is what becomes a node
            y = y * 2.0
        else:
            y = y + x
    return y


@tf.function(input_signature=[tf.TensorSpec([None, 3]), tf.TensorSpec([], tf.int32)])
def cases_and_calls(x: Any, n: Any) -> Any:
    chosen = tf.switch_case(n, [lambda: x, lambda: x + 1.0, lambda: inner(x)])
    return chosen, inner(chosen), tf.constant(7)


@tf.function
def inner(x: Any) -> Any:
    return tf.maximum(x * 3.0, 1.0)


@tf.function(input_signature=[tf.TensorSpec([None, 3]), tf.TensorSpec([], tf.int32)])
def lists_in_loops(x: Any, n: Any) -> Any:
    array = tf.TensorArray(tf.float32, size=0, dynamic_size=True, element_shape=[None, 3])
    for i in tf.range(n):
        array = array.write(i, x * tf.cast(i, tf.float32))
    return array.stack(), tf.map_fn(lambda row: row * row, x)


@tf.function(input_signature=[tf.TensorSpec([None, 3]), tf.TensorSpec([], tf.int32)])
def the_gradient_of_a_loop(x: Any, n: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in tf.range(n):
            y = tf.tanh(y) * x
        total = tf.reduce_sum(y)
    return total, tape.gradient(total, x)


@pytest.mark.parametrize(
    "function", [loops_and_branches, cases_and_calls, lists_in_loops, the_gradient_of_a_loop], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("n", [1, 2, 5])
def test_functions_of_tensorflow_2_give_its_results(function: Any, n: int) -> None:
    check_function(function, MATRIX, np.int32(n))


def test_bodies_become_messages_that_tensorflow_runs() -> None:
    concrete = loops_and_branches.get_concrete_function()
    proto = FunctionDef.FromString(concrete.function_def.SerializeToString())
    library = {
        function.signature.name: FunctionDef.FromString(function.SerializeToString())
        for function in concrete.graph.as_graph_def().library.function
    }
    body = function_body(proto, library)
    again = function_def("again", body.graph, body.inputs, body.outputs)
    graph = Graph()
    graph.functions.update(library)
    graph.functions["again"] = again
    with building(graph):
        x = placeholder(dtype="float32", shape=None, name="x")
        n = placeholder(dtype="int32", shape=None, name="n")
        (y,) = partitioned_call([x, n], Tout=["float32"], f=FunctionRef("again"), name="y")
    expected = loops_and_branches(MATRIX, tf.constant(3)).numpy()
    np.testing.assert_allclose(Session(graph).run(y, {x: MATRIX, n: 3}), expected)
    theirs = v1.Graph()
    with theirs.as_default():
        v1.import_graph_def(v1.GraphDef.FromString(export_graph(graph).SerializeToString()), name="")
    with v1.Session(graph=theirs) as session:
        np.testing.assert_allclose(session.run("y:0", {"x:0": MATRIX, "n:0": 3}), expected)


def _library(**functions: Callable[[], tuple[list[Any], list[Any]]]) -> Graph:
    """A graph with functions, each made by a builder of inputs and outputs."""
    graph = Graph()
    for name, build in functions.items():
        body = Graph()
        body.functions.update(graph.functions)
        with building(body):
            inputs, outputs = build()
        graph.functions[name] = function_def(name, body, inputs, outputs)
    return graph


def _same() -> tuple[list[Any], list[Any]]:
    x = placeholder(dtype="float32", shape=None, name="x")
    return [x], [x]


def _negative() -> tuple[list[Any], list[Any]]:
    x = placeholder(dtype="float32", shape=None, name="x")
    return [x], [get_op("Neg")(x)]


@pytest.mark.parametrize(
    "condition",
    [np.bool_(True), np.bool_(False), np.int32(0), np.int32(3), np.float32(0), np.zeros(0, np.float32), np.zeros(2)],
)
def test_if_takes_conditions_of_any_type_as_tensorflow_does(condition: Any) -> None:
    graph = _library(same=_same, negative=_negative)
    with building(graph):
        x = placeholder(dtype="float32", shape=None, name="x")
        c = placeholder(dtype=condition.dtype, shape=None, name="c")
        branches = {"then_branch": FunctionRef("same"), "else_branch": FunctionRef("negative")}
        (y,) = if_(c, [x], Tout=["float32"], name="y", **branches)
    ours = Session(graph).run(y, {x: 2.0, c: condition})
    theirs = v1.Graph()
    with theirs.as_default():
        v1.import_graph_def(v1.GraphDef.FromString(export_graph(graph).SerializeToString()), name="")
    with v1.Session(graph=theirs) as session:
        assert session.run("y:0", {"x:0": 2.0, "c:0": condition}) == ours


@pytest.mark.parametrize(("start", "limit", "delta"), [(0, 4, 1), (0, 0, 1), (5, -2, -3), (0, 5, 0), (3, 0, 1)])
def test_for_counts_as_tensorflow_counts(start: int, limit: int, delta: int) -> None:
    def body() -> tuple[list[Any], list[Any]]:
        i = placeholder(dtype="int32", shape=None, name="i")
        a = placeholder(dtype="float32", shape=None, name="a")
        return [i, a], [get_op("AddV2")(get_op("Mul")(a, 2.0), get_op("Cast")(i, DstT="float32"))]

    graph = _library(body=body)
    with building(graph):
        a = placeholder(dtype="float32", shape=None, name="a")
        (y,) = for_(start, limit, delta, [a], body=FunctionRef("body"), name="y")
    theirs = v1.Graph()
    with theirs.as_default():
        v1.import_graph_def(v1.GraphDef.FromString(export_graph(graph).SerializeToString()), name="")
    with v1.Session(graph=theirs) as session:
        try:
            expected = session.run("y:0", {"a:0": 1.0})
        except tf.errors.InvalidArgumentError:
            with pytest.raises(InvalidArgumentError):
                Session(graph).run(y, {a: 1.0})
            return
    assert Session(graph).run(y, {a: 1.0}) == expected


def test_a_function_that_calls_itself_without_end_is_an_error() -> None:
    graph = Graph()
    graph.functions["again"] = FunctionDef()  # named before its body exists, as recursion needs
    body = Graph()
    with building(body):
        x = placeholder(dtype="float32", shape=None, name="x")
        (y,) = partitioned_call([x], Tout=["float32"], f=FunctionRef("again"))
    graph.functions["again"] = function_def("again", body, [x], [y])
    with building(graph):
        (z,) = partitioned_call([1.0], Tout=["float32"], f=FunctionRef("again"))
    with pytest.raises(ResourceExhaustedError, match="calls itself without end"):
        Session(graph).run(z)


def test_a_cpu_is_found_among_devices() -> None:
    graph = Graph()
    with building(graph):
        found = [device_index(device_names=names) for names in (["GPU", "CPU"], ["CPU"], ["TPU"])]
    theirs = v1.Graph()
    with theirs.as_default():
        v1.import_graph_def(v1.GraphDef.FromString(export_graph(graph).SerializeToString()), name="")
    with v1.Session(graph=theirs) as session:
        expected = session.run([tensor.name for tensor in found])
    assert Session(graph).run(found) == expected == [1, 0, 1]


def test_a_fake_parameter_has_the_shape_it_is_told() -> None:
    graph = Graph()
    with building(graph):
        a, b = fake_param(dtype="float32", shape=[2, None]), fake_param(dtype="int32", shape=UNKNOWN_SHAPE)
    values = Session(graph).run([a, b])
    assert values[0].shape == (2, 0)
    assert values[0].dtype == np.float32
    assert np.shape(values[1]) == ()


# ---------------------------------------------------------------------------------------------------- Lists


def made(count: int = 3, shape: Any = (2,)) -> Any:
    """A list of which the middle element has been set."""
    handle = raw.TensorListReserve(element_shape=list(shape), num_elements=count, element_dtype=tf.float32)
    return raw.TensorListSetItem(input_handle=handle, index=1, item=tf.constant([1.0, 2.0]))


def stacked(handle: Any, shape: Any = -1, **attrs: Any) -> Any:
    return raw.TensorListStack(input_handle=handle, element_shape=shape, element_dtype=tf.float32, **attrs)


def item(handle: Any, index: int, shape: Any = -1) -> Any:
    return raw.TensorListGetItem(input_handle=handle, index=index, element_shape=shape, element_dtype=tf.float32)


def reserve_and_set() -> Any:
    return [stacked(made()), stacked(made(), num_elements=3), stacked(made(shape=(-1,)), [2])]


def get_items() -> Any:
    handle = made()
    return [item(handle, 0), item(handle, 1), item(handle, 1, [2]), item(made(shape=(-1,)), 2)]


def lengths_and_shapes() -> Any:
    handle = made()
    unknown = raw.EmptyTensorList(element_shape=-1, max_num_elements=-1, element_dtype=tf.int32)
    return [
        raw.TensorListLength(input_handle=handle),
        raw.TensorListElementShape(input_handle=handle, shape_type=tf.int32),
        raw.TensorListElementShape(input_handle=made(shape=(-1,)), shape_type=tf.int64),
        raw.TensorListElementShape(input_handle=unknown, shape_type=tf.int32),
        raw.TensorListLength(input_handle=unknown),
    ]


def push_and_pop() -> Any:
    handle = raw.EmptyTensorList(element_shape=[2], max_num_elements=2, element_dtype=tf.float32)
    for row in ([1.0, 2.0], [3.0, 4.0]):
        handle = raw.TensorListPushBack(input_handle=handle, tensor=tf.constant(row))
    popped = raw.TensorListPopBack(input_handle=handle, element_shape=-1, element_dtype=tf.float32)
    unset = raw.TensorListPopBack(input_handle=made(), element_shape=[2], element_dtype=tf.float32)
    return [stacked(handle), popped.tensor, stacked(popped.output_handle), unset.tensor, stacked(unset.output_handle)]


def from_tensor() -> Any:
    handle = raw.TensorListFromTensor(tensor=MATRIX, element_shape=[3])
    text = raw.TensorListFromTensor(tensor=tf.constant([b"a", b"bc"]), element_shape=tf.constant([], tf.int32))
    word = raw.TensorListGetItem(input_handle=text, index=1, element_shape=-1, element_dtype=tf.string)
    return [
        stacked(handle),
        item(handle, 1),
        word,
        raw.TensorListStack(input_handle=text, element_shape=-1, element_dtype=tf.string),
    ]


def resize() -> Any:
    return [stacked(raw.TensorListResize(input_handle=made(), size=size), [2]) for size in (5, 3, 2, 0)]


def grow_by_setting() -> Any:
    handle = raw.TensorListSetItem(
        input_handle=made(), index=6, item=tf.constant([8.0, 9.0]), resize_if_index_out_of_bounds=True
    )
    return stacked(handle)


def gather() -> Any:
    def gathered(handle: Any, indices: Any, shape: Any = -1) -> Any:
        return raw.TensorListGather(input_handle=handle, indices=indices, element_shape=shape, element_dtype=tf.float32)

    handle = raw.TensorListFromTensor(tensor=MATRIX, element_shape=[3])
    return [gathered(handle, [1, 0, 1]), gathered(made(), [0, 1]), gathered(handle, tf.zeros([0], tf.int32), [3])]


def scatter() -> Any:
    old = raw.TensorListScatter(tensor=MATRIX, indices=[2, 0], element_shape=[3])
    new = raw.TensorListScatterV2(tensor=MATRIX, indices=[2, 0], element_shape=[3], num_elements=4)
    free = raw.TensorListScatterV2(tensor=MATRIX, indices=[1, 0], element_shape=[3], num_elements=-1)
    into = raw.TensorListScatterIntoExistingList(input_handle=old, tensor=MATRIX * 10, indices=[1, 3])
    return [stacked(old), stacked(new), stacked(free), stacked(into)]


def scatter_within() -> Any:
    old = raw.TensorListScatter(tensor=MATRIX, indices=[2, 0], element_shape=[3])
    new = raw.TensorListScatterV2(tensor=MATRIX, indices=[2, 0], element_shape=[3], num_elements=4)
    return [stacked(old), stacked(new), stacked(_scattered_into(new))]


def _scattered_into(handle: Any) -> Any:
    return raw.TensorListScatterIntoExistingList(input_handle=handle, tensor=MATRIX * 10, indices=[1, 2])


def concat_and_split() -> Any:
    handle = raw.TensorListSplit(tensor=MATRIX, element_shape=[-1, 3], lengths=[0, 2])
    old = raw.TensorListConcat(input_handle=handle, element_dtype=tf.float32)
    new = raw.TensorListConcatV2(
        input_handle=handle, element_shape=[-1, 3], leading_dims=tf.zeros([0], tf.int64), element_dtype=tf.float32
    )
    unset = raw.TensorListConcatV2(
        input_handle=made(shape=(-1,)),
        element_shape=[-1],
        leading_dims=tf.constant([3, 2, 1], tf.int64),
        element_dtype=tf.float32,
    )
    return [old.tensor, old.lengths, new.tensor, new.lengths, unset.tensor, unset.lengths]


def many_lists() -> Any:
    lists = tf.stack([_empty(), _empty()])
    pushed = raw.TensorListPushBackBatch(input_handles=lists, tensor=MATRIX)
    first, second = tf.unstack(raw.TensorListConcatLists(input_a=pushed, input_b=pushed, element_dtype=tf.float32))
    both = raw.TensorListConcatLists(input_a=made(), input_b=made(2), element_dtype=tf.float32)
    return [stacked(first), stacked(second), stacked(both)]


def _empty() -> Any:
    return raw.EmptyTensorList(element_shape=[3], max_num_elements=-1, element_dtype=tf.float32)


LISTS = [
    reserve_and_set,
    get_items,
    lengths_and_shapes,
    push_and_pop,
    from_tensor,
    resize,
    grow_by_setting,
    gather,
    scatter,
    concat_and_split,
    many_lists,
]


@pytest.mark.parametrize("build", LISTS)
def test_lists_give_tensorflows_values_and_static_shapes(build: Callable[[], Any]) -> None:
    both = Both(build)
    both.check()
    for mine, theirs in zip(both.tensors, both.fetches, strict=True):
        dims = None if theirs.shape.rank is None else tuple(theirs.shape.as_list())
        assert mine.static_shape.dims == dims, mine.name


BAD = {
    "an index beyond the end": lambda: item(made(), v1.placeholder_with_default(3, [])),
    "an index before the start": lambda: item(made(), v1.placeholder_with_default(-1, [])),
    "an unset element of unknown shape": lambda: item(
        raw.TensorListReserve(element_shape=-1, num_elements=2, element_dtype=tf.float32), 0
    ),
    "stacking nothing of unknown shape": lambda: stacked(
        raw.EmptyTensorList(element_shape=-1, max_num_elements=-1, element_dtype=tf.float32)
    ),
    "stacking another number": lambda: stacked(made(), num_elements=4),
    "popping from an empty list": lambda: (
        raw.TensorListPopBack(input_handle=_empty(), element_shape=-1, element_dtype=tf.float32).tensor
    ),
    "pushing to a full list": lambda: stacked(
        raw.TensorListPushBack(
            input_handle=raw.EmptyTensorList(element_shape=-1, max_num_elements=0, element_dtype=tf.float32),
            tensor=tf.constant(1.0),
        )
    ),
    "pushing another shape": lambda: stacked(
        raw.TensorListPushBack(input_handle=_empty(), tensor=v1.placeholder_with_default(np.float32([1.0]), None))
    ),
    "setting another shape": lambda: stacked(
        raw.TensorListSetItem(input_handle=made(), index=0, item=v1.placeholder_with_default(np.float32([1.0]), None))
    ),
    "scattering too few": lambda: stacked(
        raw.TensorListScatter(tensor=MATRIX, indices=v1.placeholder_with_default([0], None), element_shape=[3])
    ),
    "scattering to negative places": lambda: stacked(
        raw.TensorListScatter(tensor=MATRIX, indices=[-1, 0], element_shape=[3])
    ),
    "lengths that leave some over": lambda: raw.TensorListLength(
        input_handle=raw.TensorListSplit(tensor=MATRIX, element_shape=[-1, 3], lengths=[1, 0])
    ),
    "a negative size": lambda: raw.TensorListLength(
        input_handle=raw.TensorListReserve(element_shape=[2], num_elements=-1, element_dtype=tf.float32)
    ),
}


@pytest.mark.parametrize("build", BAD.values(), ids=BAD)
def test_what_tensorflow_refuses_of_lists_is_refused(build: Callable[[], Any]) -> None:
    both = Both(build)
    with pytest.raises(tf.errors.OpError):
        both.expected()
    with pytest.raises(TensorKeepError):
        both.session().run(both.tensors)


def test_a_list_read_as_another_type_is_refused_when_built() -> None:
    graph = Graph()
    with building(graph):
        handle = tensor_list_reserve([2], 3, element_dtype="float32")
        with pytest.raises(InvalidArgumentError, match="Expected list with element dtype int32 but got list with"):
            tensor_list_get_item(handle, 0, -1, element_dtype="int32")


def test_lists_of_absurd_sizes_are_refused() -> None:
    def build() -> Any:
        handle = raw.TensorListReserve(element_shape=[2], num_elements=2**31 - 1, element_dtype=tf.float32)
        return raw.TensorListLength(input_handle=handle)

    both = Both(build)
    with pytest.raises(ResourceExhaustedError):
        both.session().run(both.tensors)


@pytest.mark.parametrize(
    "build", [push_and_pop, get_items, gather, scatter_within, concat_and_split, grow_by_setting, resize]
)
def test_gradients_of_lists_equal_tensorflows(build: Callable[[], Any]) -> None:
    """The constants of the program are what is differentiated."""
    both = Both(build)
    ys = [tensor for tensor in both.fetches if tensor.dtype == tf.float32]
    xs = [
        op.outputs[0] for op in both.graph.get_operations() if op.type == "Const" and op.outputs[0].dtype == tf.float32
    ]
    with both.graph.as_default():
        theirs = v1.gradients(ys, xs)
    expected = [gradient for gradient in theirs if gradient is not None]
    with building(both.ours):
        ours = gradients([both.ours.tensor(y.name) for y in ys], [both.ours.tensor(x.name) for x in xs])
    assert [gradient is None for gradient in ours] == [gradient is None for gradient in theirs]
    with v1.Session(graph=both.graph) as session:
        values = session.run(expected)
    found = Session(both.ours).run([gradient for gradient in ours if gradient is not None])
    assert_all_close(found, values)
    mine = [(op.name, op.type) for op in both.ours.operations]
    assert mine == [(op.name, op.type) for op in both.graph.get_operations()]


# ------------------------------------------------------------------------------------------------------ Static shapes


@tf.function(input_signature=[tf.TensorSpec(None)])
def reshaping(x: Any) -> Any:
    return tf.reduce_sum(x, 1), tf.transpose(x), inner(x)


@tf.function(input_signature=[])
def without_arguments() -> Any:
    return tf.zeros([2, 3])


@pytest.mark.parametrize("shape", [[4, 3], [None, 3], None])
@pytest.mark.parametrize("tells", [True, False])
def test_static_shapes_of_calls_branches_and_loops_are_tensorflows(shape: Any, tells: bool) -> None:
    before = v1.control_flow_v2_enabled()
    v1.enable_control_flow_v2()
    graph = tf.Graph()
    with graph.as_default():
        x, n = v1.placeholder(tf.float32, shape), v1.placeholder(tf.int32, [])
        reshaping(x)
        without_arguments()
        tf.cond(n > 0, lambda: x, lambda: x + 1.0)
        tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * 2.0), (0, x))
    if not before:
        v1.disable_control_flow_v2()
    graph_def = graph.as_graph_def()
    for node in graph_def.node:
        if not tells and "output_shapes" in node.attr:
            node.attr["output_shapes"].list.Clear()
    theirs = tf.Graph()
    with theirs.as_default():
        v1.import_graph_def(graph_def, name="")
    ours = Graph()
    import_graph(GraphDef.FromString(graph_def.SerializeToString()), ours, name="")
    for op in theirs.get_operations():
        found = [tensor.static_shape.dims for tensor in ours.operation(op.name).outputs]
        wanted = [None if tensor.shape.rank is None else tuple(tensor.shape.as_list()) for tensor in op.outputs]
        assert found == wanted, op.name


def test_the_shapes_of_a_function_that_calls_itself_are_not_known() -> None:
    graph = Graph()
    with building(graph):
        x = placeholder(dtype="float32", shape=[3])
        graph.functions["endless"] = function_def("endless", *_endless())
        [y] = partitioned_call([x], Tout=["float32"], f=FunctionRef("endless"))
    assert y.static_shape == UNKNOWN_SHAPE


def _endless() -> tuple[Graph, Any, Any]:
    body = Graph()
    with building(body):
        x = placeholder(dtype="float32", shape=[3], name="x")
        return body, [x], partitioned_call([x], Tout=["float32"], f=FunctionRef("endless"))
