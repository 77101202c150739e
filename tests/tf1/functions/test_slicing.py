"""Indexing as programs write it, beside NumPy's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.ops.arrays.slicing import strided_slice_kernel
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.arrays import shapes, slicing

CUBE = np.arange(24).reshape(2, 3, 4)


@pytest.fixture(autouse=True)
def graph() -> Iterator[Graph]:
    with building(Graph()) as graph:
        yield graph


def cube(shape: Any = (2, 3, 4)) -> Tensor:
    return shapes.placeholder("int64", shape)


def run(x: Tensor, part: Tensor) -> Any:
    return Session(x.graph).run(part, {x: CUBE})


SIZES = st.one_of(st.none(), st.integers(-6, 6))
SLICES = st.builds(slice, SIZES, SIZES, st.one_of(st.none(), st.integers(-3, 3).filter(bool)))
KEYS = st.lists(st.one_of(SLICES, st.none(), st.integers(-2, 1)), max_size=3)


@given(KEYS, st.integers(0, 3))
def test_parts_are_numpys(parts: list[Any], ellipsis: int) -> None:
    key = (*parts[:ellipsis], ..., *parts[ellipsis:])
    with building(Graph()):
        x, y = cube(), cube((None, 3, None))
        expected = CUBE[key]
        assert x[key].static_shape.dims == expected.shape
        assert run(x, x[key]).tolist() == expected.tolist()
        assert run(y, y[key]).tolist() == expected.tolist()


def test_a_slice_is_named_with_its_bounds(graph: Graph) -> None:
    cube()[1:, ..., None]
    names = [op.name for op in graph.operations[1:]]
    assert names == ["strided_slice/stack", "strided_slice/stack_1", "strided_slice/stack_2", "strided_slice"]


@pytest.mark.parametrize("key", ["a", 1.5, {}, [0.5]])
def test_what_is_no_index_is_refused(key: Any) -> None:
    with pytest.raises(TypeError, match="Only integers, slices"):
        cube()[key]


def test_an_index_out_of_bounds_is_refused_when_built_or_when_run() -> None:
    with pytest.raises(InvalidArgumentError, match="slice index 2 of dimension 0 out of bounds"):
        cube()[2]
    x = cube(None)
    with pytest.raises(InvalidArgumentError, match="out of bounds"):
        run(x, x[2])


def test_more_indices_than_dimensions_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="Index out of range using input dim 3"):
        cube()[0, 0, 0, 0]


def test_a_mask_picks_rows() -> None:
    x = cube()
    assert run(x, x[np.array([False, True])]).tolist() == CUBE[1:].tolist()
    with pytest.raises(InvalidArgumentError, match="mask cannot be scalar"):
        slicing.boolean_mask(x, True)


def test_indices_out_of_bounds_are_named() -> None:
    x = cube()
    with pytest.raises(InvalidArgumentError, match=r"indices\[1\] = -1 is not in \[0, 2\)"):
        run(x, slicing.gather(x, [0, -1]))
    with pytest.raises(InvalidArgumentError, match=r"indices\[0\] = \[0, 3\] does not index into param shape"):
        run(x, slicing.gather_nd(x, [[0, 3]]))


def test_kernels_do_not_write_to_their_inputs() -> None:
    x = cube()
    before = CUBE.copy()
    run(x, slicing.tensor_scatter_nd_add(x, [[0]], np.ones((1, 3, 4), np.int64)))
    assert (before == CUBE).all()


def test_a_slice_is_a_view_of_the_array() -> None:
    bounds = (np.array([1], np.int32), np.array([2], np.int32), np.array([1], np.int32))
    masks = dict.fromkeys(("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"), 0)
    assert np.shares_memory(strided_slice_kernel(CUBE, *bounds, **masks), CUBE)
