"""Attention, which is written as two products and a softmax, as one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.native import layers
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.constants import constant
from tests.native.implementations import implementation
from tests.runtime.flow import add, multiply

einsum, batch_matmul, softmax, divide = (get_op(name) for name in ("Einsum", "BatchMatMulV2", "Softmax", "RealDiv"))
RANDOM = np.random.default_rng(1)

pytestmark = pytest.mark.skipif(layers.functions() is None, reason="no compiled code for this processor")


def _as_keras(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Any:
    scores = einsum([q, k], equation=b"BTNH,BSNH->BNTS")
    return einsum([softmax(multiply(scores, constant(np.float32(0.25)))), v], equation=b"BNTS,BSNH->BTNH")


def _as_older_keras(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Any:
    scores = add(einsum([k, multiply(q, constant(np.float32(0.25)))], equation=b"aecd,abcd->acbe"), mask)
    return einsum([softmax(scores), v], equation=b"acbe,aecd->abcd")


def _by_matrices(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Any:
    scores = divide(batch_matmul(q, k, adj_y=True), constant(np.float32(4)))
    return batch_matmul(softmax(add(scores, mask)), v)


def _turned_before(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Any:
    scores = batch_matmul(q, get_op("Transpose")(k, constant([0, 2, 1])))
    return batch_matmul(softmax(scores), v)


def _values_first(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Any:
    shares = softmax(einsum([q, k], equation=b"btd,bsd->bts"))
    return einsum([v, shares], equation=b"bsd,bts->btd")


CASES: dict[str, tuple[Callable[..., Any], tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = {
    "Keras": (_as_keras, (30, 3, 16), (21, 3, 16), (1,)),
    "older Keras": (_as_older_keras, (30, 3, 16), (21, 3, 16), (2, 1, 1, 21)),
    "matrices": (_by_matrices, (3, 30, 16), (3, 21, 16), (30, 21)),
    "turned": (_turned_before, (30, 16), (21, 16), (1,)),
    "values first": (_values_first, (30, 16), (21, 16), (1,)),
}


def _run(name: str, change: Callable[[dict[Tensor, Any]], None] = lambda feeds: None) -> tuple[Any, Any, str]:
    make, queries, keys, mask = CASES[name]
    with building(Graph()) as graph:
        shapes = [[None, *queries], [None, *keys], [None, *keys], list(mask)]
        tensors = [placeholder(dtype="float32", shape=shape) for shape in shapes]
        result = make(*tensors)
    sizes = [(2, *queries), (2, *keys), (2, *keys), mask]
    feeds = {x: RANDOM.standard_normal(size).astype(np.float32) for x, size in zip(tensors, sizes, strict=True)}
    change(feeds)
    if mask == (1,):
        del feeds[tensors[3]]
    session = Session(graph)
    found = session.run(result, feeds)
    with implementation("NumPy"):
        return found, Session(graph).run(result, feeds), session._programs.compiled[-1].text


@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_the_operations(name: str) -> None:
    found, expected, text = _run(name)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    assert sum(line.startswith("    if v") for line in text.splitlines()) == (2 if name == "older Keras" else 1)


@pytest.mark.parametrize("name", CASES)
def test_few_queries_and_none_are_computed_step_by_step(name: str) -> None:
    def few(feeds: dict[Tensor, Any]) -> None:
        for x in feeds:
            feeds[x] = feeds[x][:0] if x.static_shape.rank in (3, 4) and len(feeds[x]) == 2 else feeds[x]

    if name != "older Keras":
        found, expected, _ = _run(name, few)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "equations",
    [
        (b"btd,bsd->bts", b"bts,btd->bsd"),  # the shares are summed over the wrong axis
        (b"btd,bsd->bst", b"bst,bsd->btd"),  # the softmax is over queries
        (b"btd,bsd->ts", b"ts,bsd->btd"),  # the batch is summed over
    ],
)
def test_what_only_looks_like_it_is_computed_as_it_is_written(equations: tuple[bytes, bytes]) -> None:
    first, second = equations
    with building(Graph()) as graph:
        q, k, v = (placeholder(dtype="float32", shape=[2, 12, 5]) for _ in range(3))
        result = einsum([softmax(einsum([q, k], equation=first)), v], equation=second)
    feeds = {x: RANDOM.standard_normal((2, 12, 5)).astype(np.float32) for x in (q, k, v)}
    found = Session(graph).run(result, feeds)
    with implementation("NumPy"):
        np.testing.assert_allclose(found, Session(graph).run(result, feeds), rtol=1e-4, atol=1e-5)
