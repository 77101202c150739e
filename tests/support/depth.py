"""How deep the tests look: `TENSORKEEP_DEPTH` is "quick" (`make quick`), "usual" (`make test`) or "deep" (`make deep`).

Quick leaves out TensorFlow, what is marked slow, and what was measured to be slow (`slow_tests.txt`, by
`tools/test_times.py`), and draws few examples. Usual leaves out what is marked deep: more
of the same as another test that it runs (further networks, further programs made at random). Deep runs everything, with
all examples.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import pytest
from hypothesis import settings

Value = TypeVar("Value")

VARIABLE: Final = "TENSORKEEP_DEPTH"
_LEFT_OUT: Final[dict[str, tuple[str, ...]]] = {
    "quick": ("interop", "slow", "deep"),
    "usual": ("deep",),
    "deep": (),
}
SLOW_TESTS: Final = frozenset(Path(__file__).with_name("slow_tests.txt").read_text("utf-8").split())
_SHARE: Final = {"quick": 0.1, "usual": 0.4, "deep": 1.0}
_LEAST: Final = 5


def depth() -> str:
    """The depth that is asked for."""
    asked = os.environ.get(VARIABLE, "usual")
    if asked not in _LEFT_OUT:
        raise pytest.UsageError(f"{VARIABLE} is {asked!r}, and one of {', '.join(_LEFT_OUT)} was wanted")
    return asked


def left_out(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Those tests that are not for this depth."""
    asked = depth()
    marks = _LEFT_OUT[asked]
    return [
        item
        for item in items
        if any(item.get_closest_marker(name) for name in marks)
        or (asked == "quick" and item.nodeid.partition("[")[0] in SLOW_TESTS)
    ]


def number_of_examples(most: int) -> int:
    """How many of so many examples of a property are tried at this depth."""
    return max(min(most, _LEAST), round(most * _SHARE[depth()]))


def examples(most: int, **others: Any) -> settings:
    """Settings of a property that is tried on that many examples, or at a lesser depth on a share of them."""
    return settings(max_examples=number_of_examples(most), **others)


def spread(values: Sequence[Value], most: int) -> list[Value]:
    """So many of the values, from the first to the last in even steps; all of them, if the tests look deep."""
    if depth() == "deep" or len(values) <= most:
        return list(values)
    return [values[round(at * (len(values) - 1) / (most - 1))] for at in range(most)]


def thinned(values: Sequence[Any], step: int, others: pytest.MarkDecorator = pytest.mark.deep) -> list[Any]:
    """Parameters of which every `step`-th is for every depth, and the others are deep, or bear another mark."""
    return [pytest.param(value, marks=others) if i % step else value for i, value in enumerate(values)]
