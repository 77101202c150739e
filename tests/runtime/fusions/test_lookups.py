"""Rows of many tables side by side, as one call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.native import lookups
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.constants import constant
from tests.native.implementations import implementation

gather, concat, pack, less, add, select, reshape, strided_slice, shape_of = (
    get_op(name)
    for name in ("GatherV2", "ConcatV2", "Pack", "Less", "AddV2", "SelectV2", "Reshape", "StridedSlice", "Shape")
)
COLUMNS, ROWS, WIDTH = 5, 7, 4
TABLES = np.random.default_rng(1).standard_normal((COLUMNS, ROWS, WIDTH)).astype(np.float32)
IDS = np.random.default_rng(2).integers(-ROWS, ROWS, (6, COLUMNS)).astype(np.int32)

pytestmark = pytest.mark.skipif(lookups.functions() is None, reason="the compiled library is not there")


def _size(x: Any) -> Any:
    ends = [constant(np.array([at], np.int32)) for at in (0, 1, 1)]
    return strided_slice(shape_of(x), *ends, shrink_axis_mask=1)


def _row(ids: Tensor, at: int, *, is_flat: bool, wraps: bool = True) -> Any:
    """Keras' Embedding of a column; flat as its Flatten leaves it."""
    ends = [constant(np.array(end, np.int32)) for end in ([0, at], [0, at + 1], [1, 1])]
    column = strided_slice(ids, *ends, begin_mask=1, end_mask=1, shrink_axis_mask=0 if is_flat else 2)
    if wraps:
        column = select(less(column, constant(0)), add(column, constant(ROWS)), column)
    found = gather(constant(TABLES[at]), column, constant(0))
    if not is_flat:
        return found
    return reshape(found, pack([_size(found), constant(WIDTH)], axis=0))


def _graph(is_stack: bool, wraps: bool = True) -> tuple[Graph, Tensor, Tensor, Any]:
    with building(Graph()) as graph:
        ids = placeholder(dtype="int32", shape=[None, COLUMNS], name="ids")
        numbers = placeholder(dtype="float32", shape=[None, WIDTH], name="numbers")
        rows = [_row(ids, at, is_flat=not is_stack, wraps=wraps) for at in range(COLUMNS)]
        result = pack([numbers, *rows], axis=1) if is_stack else concat([numbers, *rows], constant(1))
    return graph, ids, numbers, result


@pytest.mark.parametrize("is_stack", [False, True])
@pytest.mark.parametrize("batch", [0, 1, 6])
def test_results_are_those_of_the_operations(is_stack: bool, batch: int) -> None:
    graph, ids, numbers, result = _graph(is_stack)
    feeds = {ids: IDS[:batch], numbers: np.full((batch, WIDTH), 0.5, np.float32)}
    found = Session(graph).run(result, feeds)
    with implementation("NumPy"):
        expected = Session(graph).run(result, feeds)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("is_stack", [False, True])
def test_they_are_one_call(is_stack: bool) -> None:
    graph, ids, numbers, result = _graph(is_stack)
    session = Session(graph)
    session.run(result, {ids: IDS, numbers: np.zeros((6, WIDTH), np.float32)})
    lines = session._programs.compiled[-1].text.splitlines()
    assert sum(line.startswith("    v") for line in lines) == COLUMNS + 1  # slices of the indices, and the call


@pytest.mark.parametrize("is_stack", [False, True])
@pytest.mark.parametrize("index", [ROWS, -ROWS - 1])
def test_an_index_of_no_row_is_an_error_that_names_the_lookup(is_stack: bool, index: int) -> None:
    graph, ids, numbers, result = _graph(is_stack)
    wrong = IDS.copy()
    wrong[2, 3] = index
    with pytest.raises(InvalidArgumentError, match=r"GatherV2"):
        Session(graph).run(result, {ids: wrong, numbers: np.zeros((6, WIDTH), np.float32)})


def test_without_counting_from_the_end_an_index_below_zero_is_an_error() -> None:
    graph, ids, numbers, result = _graph(False, wraps=False)
    feeds = {ids: np.abs(IDS) % ROWS, numbers: np.zeros((6, WIDTH), np.float32)}
    found = Session(graph).run(result, feeds)
    np.testing.assert_array_equal(found[:, WIDTH : 2 * WIDTH], TABLES[0][feeds[ids][:, 0]])
    with pytest.raises(InvalidArgumentError, match="GatherV2"):
        Session(graph).run(result, {**feeds, ids: -np.ones_like(IDS)})
