"""Arrays of tensors, and functions along the first axis."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.building import building, control_dependencies
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.higher_order import foldl, foldr, map_fn, scan
from tensorkeep.tf1.functions.control.tensor_array import TensorArray
from tensorkeep.tf1.functions.gradients.reverse_walk import gradients
from tests.ops.walking import import_all_ops

import_all_ops()


@pytest.fixture
def graph() -> Any:
    made = Graph()
    with building(made):
        yield made


def fed(shape: Any, name: str = "x") -> Tensor:
    tensor: Tensor = placeholder(dtype="float32", shape=shape, name=name)
    return tensor


def test_what_is_written_is_read(graph: Graph) -> None:
    array = TensorArray("float32", 3, clear_after_read=False).write(0, [1.0, 2.0]).write(2, [3.0, 4.0])
    session = Session(graph)
    assert session.run(array.read(2)).tolist() == [3.0, 4.0]
    assert session.run(array.gather([2, 0])).tolist() == [[3.0, 4.0], [1.0, 2.0]]
    assert session.run(array.size()) == 3


def test_the_shape_of_the_first_element_is_that_of_all(graph: Graph) -> None:
    array = TensorArray("float32", 2).write(0, [1.0, 2.0])
    assert array.element_shape.as_list() == [2]
    assert array.read(1).static_shape.dims == (2,)
    assert array.stack().static_shape.dims == (2, 2)
    with pytest.raises(InvalidArgumentError, match="Inconsistent shapes"):
        array.write(1, [1.0])


def test_what_was_not_written_is_zeros_if_its_shape_is_known(graph: Graph) -> None:
    array = TensorArray("float32", 2, element_shape=[2])
    assert Session(graph).run(array.stack()).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    with pytest.raises(InvalidArgumentError, match="not fully defined"):
        Session(graph).run(TensorArray("float32", 2).read(0))


def test_an_array_splits_and_joins(graph: Graph) -> None:
    x = fed([None, 2])
    array = TensorArray("float32", 2, infer_shape=False).split(x, [1, 2])
    value = np.arange(6, dtype=np.float32).reshape(3, 2)
    session = Session(graph)
    assert session.run(array.read(1), {x: value}).tolist() == [[2.0, 3.0], [4.0, 5.0]]
    np.testing.assert_array_equal(session.run(array.concat(), {x: value}), value)


def test_an_array_can_grow(graph: Graph) -> None:
    array = TensorArray("float32", 0, dynamic_size=True).write(3, 1.0)
    assert Session(graph).run(array.size()) == 4
    with pytest.raises(InvalidArgumentError, match="not resizeable"):
        Session(graph).run(TensorArray("float32", 0).write(3, 1.0).flow)


def test_a_place_is_written_once_and_read_once(graph: Graph) -> None:
    array = TensorArray("float32", 1).write(0, 1.0)
    twice = array.write(0, 2.0)
    with pytest.raises(InvalidArgumentError, match="already been written"):
        Session(graph).run(twice.flow)
    first = array.read(0)
    with pytest.raises(InvalidArgumentError, match="clear_after_read"):
        Session(graph).run([first, array.read(0)])


def test_a_closed_array_is_of_no_use(graph: Graph) -> None:
    array = TensorArray("float32", 1).write(0, 1.0)
    with control_dependencies([array.close()]):
        value = array.read(0)
    with pytest.raises(InvalidArgumentError, match="closed"):
        Session(graph).run(value)


def test_an_array_of_strings(graph: Graph) -> None:
    array = TensorArray("string", 2).unstack(constant(["a", "b"]))
    assert Session(graph).run(array.stack()).tolist() == [b"a", b"b"]


def test_gradients_go_through_an_array(graph: Graph) -> None:
    x = fed([3])
    array = TensorArray("float32", 3).unstack(x)
    y = array.read(0) * 2.0 + array.read(2) * array.read(1)
    (dx,) = gradients(y, x)
    assert Session(graph).run(dx, {x: [1.0, 3.0, 5.0]}).tolist() == [2.0, 5.0, 3.0]


def test_arguments_that_do_not_go_together_are_refused(graph: Graph) -> None:
    array = TensorArray("float32", 1)
    with pytest.raises(InvalidArgumentError, match="must be provided"):
        TensorArray("float32")
    with pytest.raises(InvalidArgumentError, match="same time"):
        TensorArray("float32", 1, handle=array.handle, flow=array.flow)
    with pytest.raises(InvalidArgumentError, match="same time"):
        TensorArray("float32", tensor_array_name="a", handle=array.handle, flow=array.flow)
    with pytest.raises(WrongTypeError):
        TensorArray("float32", handle="handle", flow=array.flow)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="flow"):
        TensorArray("float32", handle=array.handle)
    with pytest.raises(InvalidArgumentError, match="dtype"):
        array.write(0, constant(1))


# ---------------------------------------------------------------------------------------------------- Higher order


def test_a_function_is_mapped_over_rows(graph: Graph) -> None:
    x = fed([None, 2])
    doubled = map_fn(lambda row: row * 2.0, x)
    pair = map_fn(lambda rows: (rows[0] + rows[1], constant(1)), (x, x), dtype=("float32", "int32"))
    value = np.arange(6, dtype=np.float32).reshape(3, 2)
    session = Session(graph)
    np.testing.assert_array_equal(session.run(doubled, {x: value}), value * 2)
    sums, ones = session.run(pair, {x: value})
    np.testing.assert_array_equal(sums, value * 2)
    assert ones.tolist() == [1, 1, 1]
    assert session.run(pair, {x: value[:0]})[1].shape == (0,)


def test_mapping_wants_rows_and_a_function(graph: Graph) -> None:
    with pytest.raises(InvalidArgumentError, match="not scalars"):
        map_fn(lambda x: x, constant(1.0))
    with pytest.raises(InvalidArgumentError, match="does not contain"):
        map_fn(lambda x: x, [])
    with pytest.raises(WrongTypeError):
        map_fn(1, constant([1.0]))  # type: ignore[arg-type]


def test_folding_goes_from_the_left_or_from_the_right(graph: Graph) -> None:
    x = constant([1.0, 2.0, 4.0])
    session = Session(graph)
    assert session.run(foldl(lambda a, b: a * 10.0 + b, x)) == 124.0
    assert session.run(foldr(lambda a, b: a * 10.0 + b, x)) == 421.0
    assert session.run(foldl(lambda a, b: a * 10.0 + b, x, initializer=constant(7.0))) == 7124.0
    assert session.run(foldr(lambda a, b: a * 10.0 + b, x, initializer=constant(7.0))) == 7421.0


def test_scanning_keeps_every_value(graph: Graph) -> None:
    x = constant([1.0, 2.0, 4.0])
    session = Session(graph)
    assert session.run(scan(lambda a, b: a + b, x)).tolist() == [1.0, 3.0, 7.0]
    assert session.run(scan(lambda a, b: a + b, x, reverse=True)).tolist() == [7.0, 6.0, 4.0]
    pair = scan(lambda a, b: (a[1], a[0] + a[1]), x, initializer=(constant(0.0), constant(1.0)))
    assert [part.tolist() for part in session.run(pair)] == [[1.0, 1.0, 2.0], [1.0, 2.0, 3.0]]


def test_gradients_of_a_scan(graph: Graph) -> None:
    x = fed([3])
    (dx,) = gradients(scan(lambda a, b: a * b, x), x)
    assert Session(graph).run(dx, {x: [2.0, 3.0, 4.0]}).tolist() == [16.0, 10.0, 6.0]
