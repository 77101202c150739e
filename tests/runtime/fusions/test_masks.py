"""Random numbers that are only compared: truths, drawn in one call, from the same streams as the numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tensorkeep.arrays import Array
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.constants import constant
from tests.native.implementations import implementation

uniform = get_op("RandomUniform")
_COMPARISONS = {"Greater": np.greater, "GreaterEqual": np.greater_equal, "Less": np.less, "LessEqual": np.less_equal}


def _half() -> Any:
    return constant(np.float32(0.5))


def _draws(shape: Any = (7, 501), **attributes: Any) -> Any:
    return uniform(constant(np.array(shape, np.int32)), seed=3, seed2=5, dtype="float32", **attributes)


def _runs(make: Callable[[], Any], runs: int = 2) -> tuple[str, list[Any]]:
    """The text of a program, and what it gives in several runs."""
    with building(Graph()) as graph:
        fetches = make()
    session = Session(graph)
    found = [session.run(fetches) for _ in range(runs)]
    return session._programs.compiled[-1].text, found


def _numbers(runs: int = 2) -> list[Array]:
    return _runs(lambda: _draws(), runs)[1]


@pytest.mark.parametrize("by", ["native", "NumPy"])
@pytest.mark.parametrize("comparison", _COMPARISONS)
def test_they_are_the_comparisons_of_the_numbers_run_by_run(comparison: str, by: str) -> None:
    with implementation(by):
        text, found = _runs(lambda: get_op(comparison)(_draws(), constant(np.float32(0.3))))
    numbers = _numbers()
    assert text.count(" = k") == 1
    for truths, drawn in zip(found, numbers, strict=True):
        np.testing.assert_array_equal(truths, _COMPARISONS[comparison](drawn, np.float32(0.3)))
    assert (numbers[0] != numbers[1]).any()


def test_each_has_a_stream_of_its_own() -> None:
    """Two that draw in turn with the same seeds give the same truths."""
    _, found = _runs(lambda: [get_op("Less")(_draws(), _half()) for _ in range(2)])
    for first, second in found:
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(
    ("make", "compare"),
    [
        (lambda: (lambda drawn: [get_op("Less")(drawn, _half()), drawn])(_draws()), np.less),
        (lambda: (lambda drawn: [get_op("Less")(drawn, _half()), get_op("Neg")(drawn)])(_draws()), np.less),
        (lambda: [get_op("Less")(_half(), _draws())], np.greater),
        (lambda: [get_op("Less")(get_op("Cast")(_draws(), DstT="float64"), constant(0.5, "float64"))], np.less),
    ],
    ids=["fetched", "used by others", "the other way round", "of another type"],
)
def test_others_are_drawn_first(make: Callable[[], Any], compare: np.ufunc) -> None:
    _, ((truths, *_),) = _runs(make, 1)
    np.testing.assert_array_equal(truths, compare(_numbers(1)[0], np.float32(0.5)))


def test_they_may_be_compared_with_an_array() -> None:
    limits = np.linspace(0, 1, 501, dtype=np.float32)
    _, (truths,) = _runs(lambda: get_op("Less")(_draws(), constant(limits)), 1)
    np.testing.assert_array_equal(truths, _numbers(1)[0] < limits)


def test_a_rate_may_be_fed() -> None:
    with building(Graph()) as graph:
        rate = placeholder(dtype="float32", shape=[], name="rate")
        result = get_op("GreaterEqual")(_draws(), rate)
    for share in (0.75, 0.25):
        truths = Session(graph).run(result, {rate: np.float32(share)})
        np.testing.assert_array_equal(truths, _numbers(1)[0] >= np.float32(share))


def test_none_are_drawn_of_nothing() -> None:
    _, (truths,) = _runs(lambda: get_op("Less")(_draws((0, 4)), _half()), 1)
    assert truths.shape == (0, 4)
