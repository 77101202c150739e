"""Mathematics on tensors: names of nodes, types, values, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.dtypes import FLOAT32, FLOAT64, INT32, INT64, DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.building import building, name_scope
from tensorkeep.graph.composites import IndexedSlices, SparseTensor
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.ops.numbers import comparisons
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions import operators
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.gradients.reverse_walk import gradients
from tensorkeep.tf1.functions.numbers import elementwise

assert operators  # importing it installs what operators do


@pytest.fixture(autouse=True)
def graph() -> Any:
    graph = Graph()
    with building(graph):
        yield graph


def value(tensor: Any, feeds: Any = None) -> Any:
    return Session(tensor.graph).run(tensor, feeds)


def test_operators_are_named_by_the_operator() -> None:
    x = constant([1.0, 2.0], name="x")
    names = [y.op.name for y in (x + 1, 1 + x, x - 1, x * 2, x / 2, x // 2, x % 2, x**2, -x, abs(x), x < 1, x >= 1)]
    assert names == [
        *("add", "add_1", "sub", "mul", "truediv", "floordiv", "mod", "pow", "Neg", "Abs", "Less", "GreaterEqual"),
    ]


def test_a_number_beside_a_tensor_is_a_constant_in_the_operators_scope(graph: Graph) -> None:
    x = constant([1.0, 2.0], FLOAT64)
    y, z = x + 1, 2 - x
    assert [tensor.name for tensor in y.op.inputs] == ["Const:0", "add/y:0"]
    assert [tensor.name for tensor in z.op.inputs] == ["sub/x:0", "Const:0"]
    assert y.dtype is FLOAT64
    assert z.dtype is FLOAT64


def test_dividing_whole_numbers_gives_fractions() -> None:
    quotient = constant([7, 1]) / constant([2, 4])
    assert quotient.dtype is FLOAT64
    np.testing.assert_array_equal(value(quotient), [3.5, 0.25])
    assert (constant([1], DType.of("int8")) / constant([2], DType.of("int8"))).dtype is FLOAT32


def test_floor_division_and_remainder_round_down() -> None:
    np.testing.assert_array_equal(value(constant([-7, 7]) // 2), [-4, 3])
    np.testing.assert_array_equal(value(constant([-7, 7]) % 3), [2, 1])
    np.testing.assert_array_equal(value(elementwise.truncatediv([-7, 7], [2, 2])), [-3, 3])


def test_tensors_of_different_types_do_not_add_up() -> None:
    with pytest.raises(TypeError):
        constant([1.0]) + constant([1])
    with pytest.raises(TypeError):
        elementwise.truediv(constant([1.0]), constant([1]))


def test_shapes_that_do_not_broadcast_are_refused_when_built() -> None:
    with pytest.raises(InvalidArgumentError, match="Dimensions must be equal, but are 2 and 3"):
        constant([1.0, 2.0]) + constant([1.0, 2.0, 3.0])


def test_shapes_that_do_not_fit_may_be_taken_for_unequal() -> None:
    x, y = constant([1, 2]), constant([1, 2, 3])
    same = comparisons.equal(x, y, incompatible_shape_error=False)
    other = comparisons.not_equal(x, y, incompatible_shape_error=False)
    assert same.shape.as_list() == []
    assert not value(same)
    assert value(other)


def test_integer_division_by_zero_is_an_error_of_the_run() -> None:
    x = placeholder(dtype=INT32, shape=[None])
    with pytest.raises(InvalidArgumentError, match="Integer division by zero"):
        value(constant([1]) // x, {x: [0]})


def test_operators_stand_in_the_scope_in_force() -> None:
    x = constant(1.0)
    with name_scope("layer"):
        assert (x * 2.0).op.name == "layer/mul"


def test_tensors_compare_by_identity() -> None:
    x, y = constant(1.0), constant(1.0)
    assert x == x
    assert x != y
    assert len({x, y}) == 2


def test_a_cast_to_its_own_type_is_the_tensor_itself() -> None:
    x = constant([1.0])
    assert elementwise.cast(x, FLOAT32) is x
    assert elementwise.cast(x, "int64").op.name == "Cast"


def test_casts_reach_into_composites() -> None:
    slices = elementwise.cast(IndexedSlices(constant([1.0]), constant([0])), FLOAT64)
    assert isinstance(slices, IndexedSlices)
    assert slices.dtype is FLOAT64
    places = constant([[0]], INT64)
    sparse = elementwise.cast(SparseTensor(places, constant([1]), constant([1], INT64)), FLOAT32)
    assert isinstance(sparse, SparseTensor)
    assert sparse.dtype is FLOAT32


def test_saturating_casts_stay_in_range() -> None:
    result = elementwise.saturate_cast(constant([-5.0, 300.0, 7.5]), "uint8")
    np.testing.assert_array_equal(value(result), np.array([0, 255, 7], np.uint8))


def test_a_range_takes_the_widest_type() -> None:
    assert elementwise.range(5).dtype is INT32
    assert elementwise.range(0, 5, 0.5).dtype is FLOAT32
    assert elementwise.range(constant(0, INT64), 5).dtype is INT64
    np.testing.assert_array_equal(value(elementwise.range(2, 9, 3)), [2, 5, 8])
    with pytest.raises(WrongTypeError):
        elementwise.range("x", 3)


def test_the_ends_of_a_range_may_be_vectors_of_one() -> None:
    x = placeholder(dtype=INT32, shape=None)
    np.testing.assert_array_equal(value(elementwise.range(x), {x: [3]}), [0, 1, 2])


def test_pythons_ranges_become_tensors() -> None:
    np.testing.assert_array_equal(value(constant([10, 20, 30]) + range(3)), [10, 21, 32])


def test_sums_of_several() -> None:
    x = constant([1.0, 2.0])
    assert elementwise.add_n([x]) is x
    np.testing.assert_array_equal(value(elementwise.add_n([x, x, [0.5, 0.5]])), [2.5, 4.5])
    with pytest.raises(InvalidArgumentError):
        elementwise.add_n([])
    with pytest.raises(InvalidArgumentError):
        elementwise.accumulate_n(x)


def test_complex_parts() -> None:
    z = elementwise.complex(constant([1.0, 0.0]), constant([2.0, -1.0]))
    np.testing.assert_array_equal(value(elementwise.imag(z)), np.array([2.0, -1.0], np.float32))
    np.testing.assert_allclose(value(elementwise.abs(z)), np.array([5**0.5, 1.0], np.float32), 1e-6)
    x = constant([1.0])
    assert elementwise.conj(x) is x
    with pytest.raises(WrongTypeError):
        elementwise.complex(constant([1.0]), constant([1.0], FLOAT64))


def test_gradients_of_broadcast_inputs_have_the_inputs_shapes() -> None:
    x, y = constant(np.ones((2, 3), np.float32)), constant([[1.0], [2.0]])
    for z in (
        x * y,
        x / y,
        elementwise.maximum(x, y),
        elementwise.pow(x, y),
        elementwise.squared_difference(x, y),
        x - y,
    ):
        gx, gy = gradients(z, [x, y])
        assert isinstance(gx, Tensor)
        assert isinstance(gy, Tensor)
        assert gx.shape.as_list() == [2, 3]
        assert gy.shape.as_list() == [2, 1]


def test_linspace_ends_where_it_should() -> None:
    line = value(elementwise.linspace(constant(0.0), constant(1.0), 4))
    assert line[0] == 0.0
    assert line[-1] == 1.0
    assert len(line) == 4


def test_running_totals() -> None:
    x = constant([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(value(elementwise.cumsum(x)), [1, 3, 6])
    np.testing.assert_array_equal(value(elementwise.cumsum(x, exclusive=True, reverse=True)), [5, 3, 0])
    np.testing.assert_array_equal(value(elementwise.cumprod(x)), [1, 2, 6])
