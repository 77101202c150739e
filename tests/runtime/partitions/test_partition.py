"""Which steps run elsewhere together."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.graph.ordering import topological
from tensorkeep.runtime.partitions.partition import partition

Steps = tuple[list[list[int]], list[bool]]


@st.composite
def steps(draw: st.DrawFn) -> Steps:
    """Steps, of which each waits for some before it, and which of them may run elsewhere."""
    count = draw(st.integers(0, 14))
    sources = [
        sorted(draw(st.sets(st.integers(0, step - 1), max_size=3))) if step else []
        for step in range(count)
    ]  # fmt: skip
    return sources, draw(st.lists(st.booleans(), min_size=count, max_size=count))


def group_of(parts: list[list[int]], count: int) -> list[int]:
    """For each step the number of its part; one of its own if it is in none."""
    found = {step: at for at, part in enumerate(parts) for step in part}
    return [found.get(step, len(parts) + step) for step in range(count)]


@given(steps())
def test_all_that_may_run_elsewhere_does(example: Steps) -> None:
    sources, movable = example
    found = sorted(step for part in partition(sources, movable) for step in part)
    assert found == [step for step, is_movable in enumerate(movable) if is_movable]


@given(steps())
def test_parts_and_other_steps_wait_for_no_circle(example: Steps) -> None:
    sources, movable = example
    groups = group_of(partition(sources, movable), len(sources))
    waits: list[set[int]] = [set() for _ in range(2 * len(sources) + 1)]
    for step, before in enumerate(sources):
        waits[groups[step]] |= {groups[source] for source in before} - {groups[step]}
    assert len(topological([sorted(found) for found in waits])) == len(waits)


@given(steps())
def test_no_path_leaves_a_part_and_comes_back(example: Steps) -> None:
    sources, movable = example
    for part in partition(sources, movable):
        inside, tainted = set(part), set[int]()
        for step, before in enumerate(sources):  # steps outside that wait, by any way, for one inside
            if step in inside:
                assert not tainted & set(before)
            elif any(source in inside or source in tainted for source in before):
                tainted.add(step)


@given(steps(), st.data())
def test_dropping_what_is_not_worth_it_keeps_the_rest_in_order(example: Steps, data: st.DataObject) -> None:
    sources, movable = example
    parts = partition(sources, movable, lambda piece: data.draw(st.booleans()))
    groups = group_of(parts, len(sources))
    waits: list[set[int]] = [set() for _ in range(2 * len(sources) + 1)]
    for step, before in enumerate(sources):
        waits[groups[step]] |= {groups[source] for source in before} - {groups[step]}
    assert len(topological([sorted(found) for found in waits])) == len(waits)


def test_what_hangs_together_is_one_part() -> None:
    assert partition([[], [0], [1], [2]], [True] * 4) == [[0, 1, 2, 3]]


def test_a_step_that_stays_cuts_a_chain_in_two() -> None:
    assert partition([[], [0], [1]], [True, False, True]) == [[0], [2]]


def test_what_goes_around_a_step_that_stays_is_cut_as_well() -> None:
    assert partition([[], [0], [0, 1]], [True, False, True]) == [[0], [2]]


def test_what_is_wanted_only_after_a_step_that_stays_goes_with_what_wants_it() -> None:
    # 0 stays; 1 needs nothing, and only 2, which needs 0, wants it.
    assert partition([[], [], [0, 1]], [False, True, True]) == [[1, 2]]


def test_pieces_of_one_level_are_one_part() -> None:
    assert partition([[], [], [0], [1]], [True] * 4) == [[0, 1, 2, 3]]
