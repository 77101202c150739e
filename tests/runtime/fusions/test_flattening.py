"""Reshapes that keep sizes of what they reshape, as one call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.constants import constant

shape_of, pack, reshape = (get_op(name) for name in ("Shape", "Pack", "Reshape"))


def _size(x: Tensor, axis: int, like: Tensor | None = None) -> Any:
    sizes = shape_of(x if like is None else like)
    return get_op("StridedSlice")(sizes, [axis], [axis + 1], [1], shrink_axis_mask=1)


def _run(make: Any, given: Any) -> tuple[str, Any]:
    with building(Graph()) as graph:
        x = placeholder(dtype="float32", name="x")
        result = make(x)
    session = Session(graph)
    found = session.run(result, {x: given})
    return session._programs.compiled[-1].text, found


@pytest.mark.parametrize(("shape", "rest"), [((2, 3, 4), 12), ((2, 3, 4), -1), ((0, 3, 4), 12), ((5, 12), -1)])
def test_a_flatten_is_one_call(shape: tuple[int, ...], rest: int) -> None:
    given = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    text, found = _run(lambda x: reshape(x, pack([_size(x, 0), constant(rest)])), given)
    assert text.count("flatten_array(") == 1
    np.testing.assert_array_equal(found, given.reshape(shape[0], 12))


def test_several_sizes_may_be_kept_in_any_order() -> None:
    given = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    text, found = _run(lambda x: reshape(x, pack([_size(x, 2), _size(x, 0), constant(3)])), given)
    assert "flatten_array(" in text
    np.testing.assert_array_equal(found, given.reshape(4, 2, 3))


def test_an_error_is_that_of_the_reshape() -> None:
    with pytest.raises(InvalidArgumentError, match="Reshape"):
        _run(lambda x: reshape(x, pack([_size(x, 0), constant(7)])), np.zeros((2, 3), np.float32))


def test_a_size_that_is_not_there_is_the_error_of_its_slice() -> None:
    with pytest.raises(InvalidArgumentError, match="StridedSlice"):
        _run(lambda x: reshape(x, pack([_size(x, 2), constant(-1)])), np.zeros((2, 3), np.float32))


def test_sizes_of_others_are_looked_up_as_always() -> None:
    given = np.arange(6, dtype=np.float32).reshape(2, 3)
    other = np.zeros((3, 1), np.float32)
    text, found = _run(lambda x: reshape(x, pack([_size(x, 0, constant(other)), constant(-1)])), given)
    assert "flatten_array(" not in text
    np.testing.assert_array_equal(found, given.reshape(3, 2))
