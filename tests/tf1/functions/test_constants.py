from __future__ import annotations

import pytest

from tensorkeep.dtypes import FLOAT32, INT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import building
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.shapes import Shape
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.linear_algebra.matrices import eye
from tensorkeep.tf1.variables.assignments import assign
from tensorkeep.tf1.variables.variable import Variable


@pytest.mark.parametrize("shape", [TensorShape([]), TensorShape([2, 3]), Shape(()), Shape((2, 3))], ids=str)
def test_a_shape_becomes_a_list_of_whole_numbers_even_an_empty_one(shape: TensorShape | Shape) -> None:
    with building(Graph()):
        tensor = convert(shape)
        assert tensor.dtype is constant([2]).dtype is INT32
    found = constant_value(tensor)
    assert found is not None
    assert found.tolist() == [int(size) for size in shape]


def test_a_shape_that_is_not_known_in_full_becomes_none() -> None:
    with building(Graph()), pytest.raises(InvalidArgumentError, match="partially known TensorShape"):
        convert(TensorShape([2, None]))


def test_a_constant_of_the_type_of_a_reference_is_a_value() -> None:
    """TensorFlow's too: `tf.assign` of a variable gives a tensor whose type a program takes for others."""
    with building(Graph()):
        reference = assign(Variable([1.0, 2.0], use_resource=False), [3.0, 4.0])
        assert reference.dtype.is_ref
        made = constant(1.0, reference.dtype), eye(2, dtype=reference.dtype)
        assert [tensor.dtype for tensor in made] == [FLOAT32, FLOAT32]
    assert constant_value(made[0]) == 1.0
