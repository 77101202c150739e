"""Amounts in words."""

from __future__ import annotations

import pytest

from tensorkeep.io.showing.amounts import some_of


@pytest.mark.parametrize(
    ("names", "text"), [((), ""), (("a",), '"a"'), (("a", "b"), '"a", "b"'), (tuple("abcd"), '"a", "b" and 2 more')]
)
def test_of_many_names_a_few_are_told_and_how_many_more_there_are(names: tuple[str, ...], text: str) -> None:
    assert some_of(names, 2) == text
    assert some_of(dict.fromkeys(names), 2) == text
