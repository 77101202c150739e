"""Means and variances along the last axis, found together."""

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

mean, squared_difference, stop_gradient = (get_op(name) for name in ("Mean", "SquaredDifference", "StopGradient"))

pytestmark = pytest.mark.skipif(layers.functions() is None, reason="no compiled code for this processor")


def _moments(x: Tensor, axis: int = -1, keep_dims: bool = True) -> list[Any]:
    center = mean(x, [axis], keep_dims=keep_dims)
    apart = center if keep_dims else get_op("ExpandDims")(center, axis)
    return [center, mean(squared_difference(x, stop_gradient(apart)), [axis], keep_dims=keep_dims)]


def _runs(make: Callable[[Tensor], list[Any]], given: Array) -> tuple[str, Any, Any]:
    """The text of a program, what it gives, and what it gives without the library."""
    with building(Graph()) as graph:
        x = placeholder(dtype="float32", shape=[None, None, 32], name="x")
        results = make(x)
    session = Session(graph)
    found = session.run(results, {x: given})
    with implementation("NumPy"):
        return session._programs.compiled[-1].text, found, Session(graph).run(results, {x: given})


@pytest.mark.parametrize("rows", [0, 1, 64])
@pytest.mark.parametrize("axis", [-1, 2])
def test_they_are_one_call(rows: int, axis: int) -> None:
    given = np.random.default_rng(1).standard_normal((rows, 3, 32)).astype(np.float32)
    text, found, expected = _runs(lambda x: _moments(x, axis), given)
    assert text.count("moments(") == 1
    for actual, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(actual, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "make",
    [
        lambda x: _moments(x, 1),
        lambda x: _moments(x, keep_dims=False),
        lambda x: (lambda squares: [squares, mean(squares, [-1], keep_dims=True)])(
            squared_difference(x, mean(x, [-1], keep_dims=True))
        ),
    ],
    ids=["another axis", "without the axis", "squares that others see"],
)
def test_others_are_not(make: Callable[[Tensor], list[Any]]) -> None:
    given = np.random.default_rng(1).standard_normal((64, 3, 32)).astype(np.float32)
    text, found, expected = _runs(make, given)
    assert "moments(" not in text
    for actual, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(actual, wanted, rtol=1e-5, atol=1e-6)
