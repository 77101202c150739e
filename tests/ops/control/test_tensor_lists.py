"""Lists of tensors are values: whatever is made of one, it stays as it was. Making another copies no elements."""

from __future__ import annotations

from time import process_time
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.dtypes import FLOAT32
from tensorkeep.ops.control._tensor_list_values import TensorList
from tensorkeep.shapes import Shape

_CHANGE = st.tuples(st.integers(0, 9), st.sampled_from(["set", "push", "pop"]), st.integers(0, 5))
CHANGES = st.lists(_CHANGE, max_size=30)


def changed(found: Any, how: str, at: int, value: int) -> Any:
    if how == "push":
        return found.with_more(value)
    if how == "pop" and found.items:
        return found.without_last()
    return found.with_item(at, value)


def changed_tuple(items: tuple[Any, ...], how: str, at: int, value: int) -> tuple[Any, ...]:
    if how == "push":
        return (*items, value)
    if how == "pop" and items:
        return items[:-1]
    grown = [*items, *[None] * (at + 1 - len(items))]
    grown[at] = value
    return tuple(grown)


@given(st.lists(st.integers(0, 9), max_size=4), CHANGES, st.lists(st.integers(0, 30)))
def test_every_version_of_a_list_stays_as_it_is(
    start: list[int], changes: list[tuple[int, str, int]], asked: list[int]
) -> None:
    versions = [TensorList(FLOAT32, Shape(()), start)]
    expected: list[tuple[Any, ...]] = [tuple(start)]
    for value, (base, how, at) in enumerate(changes):
        origin = base % len(versions)
        versions.append(changed(versions[origin], how, at, value))
        expected.append(changed_tuple(expected[origin], how, at, value))
    for i in [*(number % len(versions) for number in asked), *range(len(versions))]:
        assert tuple(versions[i].items) == expected[i]


def test_setting_all_elements_of_a_long_list_takes_time_in_proportion() -> None:
    def seconds(count: int) -> float:
        found = TensorList(FLOAT32, Shape(()), [None] * count)
        start = process_time()
        for i in range(count):
            found = found.with_item(i, np.float32(i))
        return process_time() - start

    few, many = min(seconds(1_000) for _ in range(3)), seconds(30_000)
    assert many < few * 300  # copying would make it 900 times as long
