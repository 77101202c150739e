"""Sums of products, as one product of what stands below each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.ops.linear_algebra.matmul import matmul_op as matmul
from tensorkeep.ops.numbers.arithmetic import add_n
from tensorkeep.runtime.fusions.summing import Pending, Sum
from tensorkeep.runtime.session import Session

COUNT, DEPTH, ROWS, COLUMNS = 5, 4, 30, 50
RANDOM = np.random.default_rng(1)
LEFTS = RANDOM.standard_normal((COUNT, DEPTH, ROWS)).astype(np.float32)
RIGHTS = RANDOM.standard_normal((COUNT, DEPTH, COLUMNS)).astype(np.float32)
OTHER = RANDOM.standard_normal((ROWS, COLUMNS)).astype(np.float32)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Sum]:
    """The sums that are computed as one product."""
    found: list[Sum] = []
    applied = Sum.applied

    def watched(self: Sum, multiply: Any) -> Any:
        found.append(self)
        return applied(self, multiply)

    monkeypatch.setattr(Sum, "applied", watched)
    return found


def _sum(depth: int | None = DEPTH, *, fetches_one: bool = False) -> tuple[Session, dict[Tensor, Array], list[Tensor]]:
    with building(Graph()) as graph:
        lefts = [placeholder(dtype="float32", shape=[depth, ROWS]) for _ in range(COUNT)]
        rights = [placeholder(dtype="float32", shape=[depth, COLUMNS]) for _ in range(COUNT)]
        other = placeholder(dtype="float32", shape=[ROWS, COLUMNS])
        products = [matmul(a, b, transpose_a=True) for a, b in zip(lefts, rights, strict=True)]
        total = add_n([products[0], other, *products[1:]])
    feeds = dict(zip([*lefts, *rights, other], [*LEFTS, *RIGHTS, OTHER], strict=True))
    return Session(graph), feeds, [total, products[1]] if fetches_one else [total]


def _expected() -> Array:
    wide = np.einsum("ndr,ndc->rc", LEFTS.astype(np.float64), RIGHTS.astype(np.float64)) + OTHER
    found: Array = wide.astype(np.float32)
    return found


def test_a_sum_of_products_is_one_product(made: list[Sum]) -> None:
    session, feeds, fetches = _sum()
    before = {tensor: value.copy() for tensor, value in feeds.items()}
    (found,) = session.run(fetches, feeds)
    assert [len(each.lefts) for each in made] == [COUNT]
    np.testing.assert_allclose(found, _expected(), rtol=1e-5, atol=1e-5)
    assert all(np.array_equal(value, before[tensor]) for tensor, value in feeds.items())


def test_a_product_that_is_seen_elsewhere_is_computed_by_itself(made: list[Sum]) -> None:
    session, feeds, fetches = _sum(fetches_one=True)
    found, one = session.run(fetches, feeds)
    assert [len(each.lefts) for each in made] == [COUNT - 1]
    np.testing.assert_allclose(found, _expected(), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(one, LEFTS[1].T @ RIGHTS[1], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("depth", [None, ROWS * COLUMNS])
def test_factors_larger_than_their_products_or_of_unknown_size_are_not_kept(made: list[Sum], depth: int | None) -> None:
    session, feeds, fetches = _sum(depth)
    if depth is None:
        np.testing.assert_allclose(session.run(fetches, feeds)[0], _expected(), rtol=1e-5, atol=1e-5)
    else:
        values = {tensor: np.resize(value, tensor.static_shape.dims) for tensor, value in feeds.items()}  # type: ignore[arg-type]
        session.run(fetches, values)
    assert not made


def test_factors_that_do_not_fit_are_told_as_ever(made: list[Sum]) -> None:
    with building(Graph()) as graph:
        lefts = [placeholder(dtype="float32", shape=[None, ROWS]) for _ in range(COUNT)]
        rights = [placeholder(dtype="float32", shape=[DEPTH, COLUMNS]) for _ in range(COUNT)]
        total = add_n([matmul(a, b, transpose_a=True) for a, b in zip(lefts, rights, strict=True)])
    feeds = dict(zip([*lefts, *rights], [*LEFTS, *RIGHTS], strict=True)) | {lefts[2]: LEFTS[2][:3]}
    with pytest.raises(InvalidArgumentError, match=r"(?s)\[3, 30\].*MatMul_2"):
        Session(graph).run(total, feeds)
    assert made


# ----------------------------------------------------------------------------------------------------------- In loops


def _summed_in_loop(rounds: int, steps: Array, *, sees_total: bool = False) -> Any:
    """The sum over rounds of the products of a step, transposed, with itself, scaled by the round; of float32."""

    def body(number: Any, total: Any, seen: Any) -> Any:
        step = tf.gather(given, number % len(steps)) * tf.cast(number + 1, tf.float32)
        seen = seen + tf.reduce_sum(total) if sees_total else seen
        return number + 1, total + tf.matmul(step, step, transpose_a=True), seen

    with tf.Graph().as_default(), tf.Session() as session:
        given = tf.constant(steps)
        size = steps.shape[2]
        start = [tf.constant(0), tf.ones([size, size]), tf.constant(0.0)]
        return session.run(tf.while_loop(lambda number, total, seen: number < rounds, body, start))


@pytest.fixture
def finished(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many products each finished sum had waiting."""
    found: list[int] = []
    finish = Pending.finish

    def watched(self: Pending) -> Any:
        found.append(len(self._lefts))
        return finish(self)

    monkeypatch.setattr(Pending, "finish", watched)
    return found


@pytest.mark.parametrize(("rounds", "waiting"), [(0, []), (1, [1]), (7, [7]), (600, [512, 88])])
def test_products_of_many_rounds_are_one(rounds: int, waiting: list[int], finished: list[int]) -> None:
    steps = RANDOM.standard_normal((3, 2, 16)).astype(np.float32) / 64
    expected = np.ones((16, 16))
    for number in range(rounds):
        step = steps[number % 3].astype(np.float64) * (number + 1)
        expected += step.T @ step
    number, total, _ = _summed_in_loop(rounds, steps)
    np.testing.assert_allclose(total, expected, rtol=1e-4, atol=1e-4)
    assert number == rounds
    assert finished == waiting


def test_a_sum_that_rounds_look_at_is_made_in_each(finished: list[int]) -> None:
    steps = RANDOM.standard_normal((3, 2, 16)).astype(np.float32)
    _, total, seen = _summed_in_loop(2, steps, sees_total=True)
    first = 1.0 + steps[0].T @ steps[0]
    np.testing.assert_allclose(total, first + 4 * steps[1].T @ steps[1], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(seen, 256 + first.sum(), rtol=1e-4)
    assert not finished


def test_deep_products_are_made_in_each_round(finished: list[int]) -> None:
    """What would have to wait is larger than the sum."""
    steps = RANDOM.standard_normal((3, 40, 16)).astype(np.float32)
    _, total, _ = _summed_in_loop(1, steps)
    np.testing.assert_allclose(total, 1.0 + steps[0].T @ steps[0], rtol=1e-4, atol=1e-4)
    assert not finished
