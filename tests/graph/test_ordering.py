"""Orders in which operations can be made or run."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.graph.ordering import topological


@given(st.integers(0, 8).flatmap(lambda n: st.lists(st.sets(st.integers(0, max(n - 1, 0))), min_size=n, max_size=n)))
def test_each_comes_after_those_it_wants_and_the_smallest_that_can_comes_next(wanted: list[set[int]]) -> None:
    order = topological(wanted)
    placed: set[int] = set()
    for i in order:
        able = [j for j in range(len(wanted)) if j not in placed and wanted[j] <= placed]
        assert i == able[0]
        placed.add(i)
    assert not [j for j in range(len(wanted)) if j not in placed and wanted[j] <= placed]


def test_what_is_in_a_cycle_or_after_one_is_left_out() -> None:
    assert topological([[], [2], [1], [2], [0, 0]]) == [0, 4]
