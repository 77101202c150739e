"""Sums along the last axis of what element-wise operations make, in one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tensorkeep.arrays import Array
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.native import layers
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.runtime.session import Session
from tests.native.implementations import implementation
from tests.runtime.flow import multiply

total, negative = get_op("Sum"), get_op("Neg")

pytestmark = pytest.mark.skipif(layers.functions() is None, reason="no compiled code for this processor")


def _runs(make: Callable[[Tensor], list[Any]], rows: int = 600) -> tuple[str, Any, Any]:
    """The text of a program, what it gives, and what it gives without the library."""
    given: Array = np.random.default_rng(1).standard_normal((2, rows, 32)).astype(np.float32)
    with building(Graph()) as graph:
        x = placeholder(dtype="float32", shape=[None, None, 32], name="x")
        results = make(x)
    session = Session(graph)
    found = session.run(results, {x: given})
    with implementation("NumPy"):
        return session._programs.compiled[-1].text, found, Session(graph).run(results, {x: given})


@pytest.mark.parametrize("keep_dims", [True, False])
@pytest.mark.parametrize("axis", [-1, 2])
@pytest.mark.parametrize("rows", [0, 1, 600])
def test_a_product_and_its_sum_are_one_call(rows: int, axis: int, keep_dims: bool) -> None:
    text, found, expected = _runs(lambda x: [total(multiply(x, negative(x)), [axis], keep_dims=keep_dims)], rows)
    lines = [line for line in text.splitlines() if line.startswith("    v") and " = k" in line]
    assert len(lines) == 1
    assert found[0].shape == expected[0].shape
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "make",
    [
        lambda x: (lambda y: [total(y, [-1]), y])(multiply(x, negative(x))),  # fetched in between
        lambda x: (lambda y: [total(y, [-1]), total(y, [0])])(multiply(x, negative(x))),  # used by others
        lambda x: [total(multiply(x, negative(x)), [1])],  # along another axis
        lambda x: [total(multiply(x, negative(x)), [1, 2])],  # along two
        lambda x: [multiply(total(multiply(x, negative(x)), [-1], keep_dims=True), x)],  # used by a group
    ],
    ids=["fetched", "used", "another axis", "two axes", "used by a group"],
)
def test_results_are_those_of_the_operations(make: Callable[[Tensor], list[Any]]) -> None:
    _, found, expected = _runs(make)
    for actual, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(actual, wanted, rtol=1e-4, atol=1e-4)
