"""Which tensors are wanted and in which order, and the tree of their scopes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.dtypes import FLOAT32
from tensorkeep.edit.names import Selection
from tensorkeep.inspect import Order, Scope, SortKey, StoredTensor, scope_tree, selected

NAMES = st.lists(st.text("ab/", max_size=6), unique=True, max_size=12)


def tensors(names: list[str]) -> list[StoredTensor]:
    return [StoredTensor(name, FLOAT32, (len(name), 2), 8 * len(name), (0,)) for name in names]


@given(NAMES)
def test_without_a_wish_all_stay_as_they_are(names: list[str]) -> None:
    assert selected(tensors(names)) == tensors(names)


@given(NAMES, st.sampled_from(SortKey), st.booleans())
def test_sorting_keeps_every_tensor(names: list[str], key: SortKey, is_reversed: bool) -> None:
    found = selected(tensors(names), order=Order(key, is_reversed))
    assert sorted(item.name for item in found) == sorted(names)


@given(NAMES)
def test_the_largest_come_first(names: list[str]) -> None:
    sizes = [item.nbytes for item in selected(tensors(names), order=Order(SortKey.BYTES))]
    assert sizes == sorted(sizes, reverse=True)


@given(NAMES, st.text("ab*?/", max_size=4))
def test_what_is_excluded_and_what_fits_are_all(names: list[str], pattern: str) -> None:
    fitting = selected(tensors(names), Selection((pattern,)))
    others = selected(tensors(names), Selection(unless=Selection((pattern,))))
    assert sorted(item.name for item in [*fitting, *others]) == sorted(names)


@given(NAMES)
def test_a_tree_has_every_tensor_once_and_counts_them(names: list[str]) -> None:
    root = scope_tree(tensors(names))
    listed = [item.name for _, item in root.walk() if isinstance(item, StoredTensor)]
    assert sorted(listed) == sorted(names)
    assert (root.count, root.nbytes) == (len(names), 8 * sum(map(len, names)))


def test_a_tree_is_told_by_levels_and_no_deeper_than_wanted() -> None:
    root = scope_tree(tensors(["a/b/c", "a/d", "e"]))
    told = [(level, item.name) for level, item in root.walk()]
    assert told == [(0, "a"), (1, "b"), (2, "a/b/c"), (1, "a/d"), (0, "e")]
    assert [(level, item.name) for level, item in root.walk(1)] == [(0, "a"), (0, "e")]
    assert isinstance(next(root.walk())[1], Scope)


def test_a_name_of_slashes_only_makes_no_tree_without_end() -> None:
    root = scope_tree(tensors(["/" * 10_000]))
    assert root.count == 1
    assert len(list(root.walk())) == 65
