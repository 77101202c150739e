"""Which keys are let in, which are dropped, and what rows begin as."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.embedding.table.admission import BloomFilter, CounterFilter
from tensorkeep.embedding.table.eviction import GlobalStep, L2Weight
from tensorkeep.embedding.table.initial_rows import default_matrix
from tensorkeep.errors import InvalidArgumentError


def test_a_counter_filter_lets_in_at_the_threshold() -> None:
    known, now = np.array([0, 0, 2, 1]), np.array([2, 3, 1, 1])
    assert CounterFilter(3).admits(known, now).tolist() == [False, True, True, False]


def test_a_step_policy_drops_what_is_older_and_keeps_what_has_no_version() -> None:
    versions = np.array([-1, 0, 1, 2, 3])
    assert GlobalStep(2).expired(versions, 4).tolist() == [False, True, True, False, False]
    assert GlobalStep(0).expired(versions, 3).tolist() == [False, True, True, True, False]


def test_a_weight_policy_goes_by_half_the_sum_of_squares() -> None:
    rows = np.array([[0.7927] * 3, [0.77] * 3, [0, 0, 0]], np.float32)
    assert L2Weight(0.9).expired(rows).tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GlobalStep(-1), "steps_to_live is -1"),
        (lambda: L2Weight(0), "expected more than 0"),
        (lambda: L2Weight(float("nan")), "expected more than 0"),
        (lambda: CounterFilter(-1), "0 turns the filter off"),
        (lambda: BloomFilter(-1, 0, 1.5), "-1 times.*elements, got 0.*probability is 1.5"),
    ],
)
def test_a_policy_that_makes_no_sense_is_an_error(make: Any, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        make()


def test_default_rows_are_what_is_given_or_made() -> None:
    assert default_matrix(0.5, 2, np.float32).tolist() == [[0.5, 0.5]]
    assert default_matrix([1, 2], 2, np.float64).tolist() == [[1, 2]]
    assert default_matrix([[1, 2], [3, 4]], 2, np.float32).tolist() == [[1, 2], [3, 4]]
    asked = []
    made = default_matrix(lambda shape: asked.append(shape) or np.ones(shape), 3, np.float32, 8)  # type: ignore[func-returns-value]
    assert (made.shape, made.dtype, asked) == ((8, 3), np.float32, [(8, 3)])


@pytest.mark.parametrize("initial", [[1.0, 2.0], np.zeros((0, 3)), np.zeros((2, 2, 3)), lambda shape: np.zeros(3 * 5)])
def test_default_rows_of_another_shape_are_an_error(initial: Any) -> None:
    with pytest.raises(InvalidArgumentError, match=r"expected \[rows, 3\] with at least one row"):
        default_matrix(initial, 3, np.float32)


def test_no_default_rows_are_an_error() -> None:
    with pytest.raises(InvalidArgumentError, match="at least one default row, got 0"):
        default_matrix(np.zeros, 3, np.float32, 0)
