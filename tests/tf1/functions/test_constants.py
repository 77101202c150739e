from __future__ import annotations

import pytest

from tensorkeep.dtypes import INT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import building
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.shapes import Shape
from tensorkeep.tf1.functions.constants import constant


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
