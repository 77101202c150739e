"""Random functions: seeds, streams and bounds. That the numbers are TensorFlow's is shown beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tensorkeep.errors import InvalidArgumentError, TensorKeepError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.nn.candidate_sampling import log_uniform_candidate_sampler, uniform_candidate_sampler
from tensorkeep.tf1.functions.random import numbers as random


def ran(make: Callable[[], Any], seed: int | None = None, times: int = 1) -> list[Any]:
    graph = Graph()
    graph.seed = seed
    with building(graph):
        made = make()
    session = Session(graph)
    return [session.run(made) for _ in range(times)]


def test_the_very_numbers_of_tensorflow() -> None:
    numbers = ran(lambda: random.random_uniform([3], seed=1), seed=7, times=2)
    assert [row.tolist() for row in numbers] == [
        [0.4603748321533203, 0.9285181760787964, 0.3455556631088257],
        [0.37715578079223633, 0.39250409603118896, 0.9030998945236206],
    ]


def test_a_session_goes_on_where_its_last_run_stopped() -> None:
    first = ran(lambda: random.random_normal([4], seed=3), times=3)
    again = ran(lambda: random.random_normal([4], seed=3), times=3)
    np.testing.assert_array_equal(first, again)
    assert len({tuple(row.tolist()) for row in first}) == 3


def test_without_seeds_no_two_sessions_agree() -> None:
    assert ran(lambda: random.random_uniform([4]))[0].tolist() != ran(lambda: random.random_uniform([4]))[0].tolist()


def test_operations_without_seeds_in_a_graph_with_one_differ_from_each_other() -> None:
    ((first, second),) = ran(lambda: [random.random_uniform([4]), random.random_uniform([4])], seed=5)
    assert first.tolist() != second.tolist()


def test_the_seed_of_a_graph_counts_the_seeds_it_hands_out() -> None:
    with building(Graph()) as graph:
        assert random.get_seed(None) == (None, None)
        assert random.get_seed(4) == (87654321, 4)
        random.set_random_seed(9)
        assert [random.get_seed(None), random.get_seed(4), random.get_seed(None)] == [(9, 0), (9, 4), (9, 1)]
        assert graph.seed == 9
        random.set_random_seed(0)
        assert random.get_seed(0) == (0, 2**31 - 1)


def test_bounds_hold() -> None:
    (numbers,) = ran(lambda: random.random_uniform([1000], -2.0, 3.0))
    assert numbers.min() >= -2
    assert numbers.max() < 3
    (whole,) = ran(lambda: random.random_uniform([1000], 5, 8, dtype="int32"))
    assert set(whole.tolist()) == {5, 6, 7}
    (close,) = ran(lambda: random.truncated_normal([1000], 10.0, 2.0))
    assert np.abs(close - 10).max() <= 4


def test_shapes_may_be_fed() -> None:
    with building(Graph()) as graph:
        shape: Any = placeholder(dtype="int32", shape=[2], name="shape")
        numbers = random.random_normal(shape)
    assert numbers.static_shape.dims == (None, None)
    assert Session(graph).run(numbers, {shape: [2, 3]}).shape == (2, 3)
    with pytest.raises(TensorKeepError):
        Session(graph).run(numbers, {shape: [2, -3]})


def test_a_crop_is_a_part() -> None:
    value = np.arange(60).reshape(5, 4, 3)
    for crop in ran(lambda: random.random_crop(value, [2, 2, 3]), times=5):
        starts = [i for i in range(4) for j in range(3) if np.array_equal(value[i : i + 2, j : j + 2], crop)]
        assert len(starts) == 1
    with building(Graph()) as graph:
        size: Any = placeholder(dtype="int32", shape=[3])
        crop = random.random_crop(value, size)
    with pytest.raises(InvalidArgumentError, match=r"Need value.shape >= size, got "):
        Session(graph).run(crop, {size: [9, 1, 1]})


def test_shuffling_keeps_all_rows() -> None:
    (rows,) = ran(lambda: random.random_shuffle(np.arange(50)))
    assert sorted(rows.tolist()) == list(range(50))


def test_stateless_numbers_depend_on_their_seed_only() -> None:
    first, second = ran(lambda: random.stateless_random_normal([3], [1, 2]), times=2)
    np.testing.assert_array_equal(first, second)
    (other,) = ran(lambda: random.stateless_random_normal([3], [1, 3]))
    assert first.tolist() != other.tolist()


def test_unique_candidates_differ_and_are_refused_where_there_are_too_few() -> None:
    (found,) = ran(lambda: uniform_candidate_sampler(np.array([[1]]), 1, 10, True, 10))
    assert sorted(found.sampled_candidates.tolist()) == list(range(10))
    (found,) = ran(lambda: log_uniform_candidate_sampler(np.array([[1]]), 1, 1000, False, 50))
    assert np.bincount(found.sampled_candidates).argmax() == 0
    with pytest.raises(InvalidArgumentError, match="range is too small"):
        ran(lambda: uniform_candidate_sampler(np.array([[1]]), 1, 10, True, 9))
