"""Reductions and segments: spellings of arguments, shapes, values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.dtypes import FLOAT32, INT32, INT64
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions import operators
from tensorkeep.tf1.functions.arrays import counting
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.numbers import reductions, segments, special

assert operators  # importing it installs what operators do

X = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], np.float32)


@pytest.fixture(autouse=True)
def graph() -> Any:
    graph = Graph()
    with building(graph):
        yield graph


def value(tensor: Any, feeds: Any = None) -> Any:
    return Session(tensor.graph).run(tensor, feeds)


def test_old_and_new_spellings_of_arguments_mean_the_same() -> None:
    x = constant(X)
    new = reductions.reduce_sum(x, axis=1, keepdims=True)
    old = reductions.reduce_sum(x, reduction_indices=1, keep_dims=True)
    np.testing.assert_array_equal(value(new), value(old))
    with pytest.raises(InvalidArgumentError, match="both"):
        reductions.reduce_sum(x, axis=1, reduction_indices=1)


def test_reducing_everything_gives_a_scalar_even_of_unknown_rank() -> None:
    x = placeholder(dtype=FLOAT32, shape=None)
    total = reductions.reduce_sum(x)
    assert total.shape.as_list() == []
    assert value(total, {x: X}) == 21.0


def test_the_mean_of_whole_numbers_is_cut_towards_zero() -> None:
    assert value(reductions.reduce_mean(constant([-3, -4]))) == -3
    assert value(reductions.reduce_mean(constant([100, 100, 100], "int8"))) == 100


def test_the_mean_of_nothing_is_not_a_number() -> None:
    assert np.isnan(value(reductions.reduce_mean(constant(np.zeros((0,), np.float32)))))


def test_axes_out_of_range_are_refused_when_built() -> None:
    with pytest.raises(InvalidArgumentError, match="Invalid reduction dimension"):
        reductions.reduce_max(constant(X), 2)


def test_logsumexp_does_not_overflow() -> None:
    big = value(reductions.reduce_logsumexp(constant([1000.0, 1000.0])))
    np.testing.assert_allclose(big, 1000.0 + np.log(2.0), 1e-6)


def test_spread_of_values() -> None:
    np.testing.assert_allclose(value(reductions.reduce_variance(constant(X), 1)), [2 / 3, 2 / 3], 1e-6)
    np.testing.assert_allclose(value(reductions.reduce_std(constant(X))), np.std(X), 1e-6)
    with pytest.raises(WrongTypeError):
        reductions.reduce_variance(constant([1, 2]))


def test_counts_of_what_is_there() -> None:
    assert value(reductions.count_nonzero(constant([0, 3, 0, 2]))) == 2
    assert reductions.count_nonzero(constant([0, 3]), dtype=INT32).dtype is INT32


def test_positions_of_extremes() -> None:
    np.testing.assert_array_equal(value(reductions.argmax(constant(X), 1)), [2, 2])
    assert reductions.argmin(constant(X), output_type=INT32).dtype is INT32
    with pytest.raises(WrongTypeError):
        reductions.argmax(constant(X), 1.5)


def test_segments_of_rows() -> None:
    rows = constant(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32))
    np.testing.assert_array_equal(value(segments.segment_sum(rows, [0, 0, 2])), [[4, 6], [0, 0], [5, 6]])
    mean = segments.unsorted_segment_mean(rows, [1, 0, 1], 2)
    np.testing.assert_array_equal(value(mean), [[3, 4], [3, 4]])
    picked = segments.sparse_segment_mean(rows, [0, 2], [0, 0], num_segments=2)
    np.testing.assert_array_equal(value(picked), [[3, 4], [0, 0]])


def test_segment_ids_must_be_sorted_where_they_are_said_to_be() -> None:
    with pytest.raises(InvalidArgumentError, match="not increasing"):
        value(segments.segment_sum(constant([1.0, 2.0]), [1, 0]))


def test_counts_of_values() -> None:
    np.testing.assert_array_equal(value(counting.bincount([1, 1, 3])), [0, 2, 0, 1])
    np.testing.assert_array_equal(
        value(counting.histogram_fixed_width([0.5, 4.5, 9.0], [0.0, 5.0], 5)), [1, 0, 0, 0, 2]
    )
    np.testing.assert_array_equal(value(counting.confusion_matrix([0, 1], [1, 1])), [[0, 1], [0, 1]])
    assert counting.confusion_matrix([0], [0], dtype=INT64).dtype is INT64


def test_special_functions_at_known_points() -> None:
    np.testing.assert_allclose(value(special.lbeta(constant([1.0, 1.0]))), 0.0, atol=1e-6)
    np.testing.assert_allclose(value(special.zeta(constant(2.0, "float64"), 1.0)), np.pi**2 / 6, 1e-12)
    np.testing.assert_allclose(value(special.erfinv(constant(0.0))), 0.0)
    np.testing.assert_allclose(value(special.bessel_j0(constant(0.0, "float64"))), 1.0, 1e-14)
