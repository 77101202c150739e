"""Regular expressions: no pattern takes for ever."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.ops._re2 import Expression, Rewrite
from tests.support.effort import at_most_lines


@pytest.mark.parametrize(
    "pattern", [rb"(a*)*b", rb"(a|a)*b", rb"(a|aa)+b", rb"(a?){30}a{30}b", rb".*.*.*.*=b", rb"(.*)+x"]
)
def test_patterns_that_try_everything_do_not_take_for_ever(pattern: bytes) -> None:
    with at_most_lines(5_000_000):
        compiled = Expression(pattern)
        assert not compiled.matches(b"a" * 2000)
        assert compiled.replaced(b"a" * 300, Rewrite(b""), True) == b"a" * 300


def test_patterns_that_would_be_huge_are_refused() -> None:
    with pytest.raises(InvalidArgumentError):
        Expression(rb"((a{0,100}){0,100}){0,100}b").matches(b"a" * 50)
    with pytest.raises(InvalidArgumentError):
        Expression(b"(" * 10_000)


@given(st.binary(max_size=30))
def test_any_bytes_are_a_pattern_or_refused(pattern: bytes) -> None:
    try:
        compiled = Expression(pattern)
    except InvalidArgumentError:
        return
    compiled.matches(b"aa\xff\n")


@given(st.binary(max_size=40))
def test_replacing_every_character_by_itself_changes_nothing(text: bytes) -> None:
    assert Expression(rb"(?s)(.)").replaced(text, Rewrite(rb"\1"), True) == text
