"""Regular expressions: no pattern takes for ever."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.ops.text._google_re2 import LibraryExpression, expression, imported_re2
from tensorkeep.ops.text._re2 import Expression, Rewrite
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


def by_library(pattern: bytes) -> LibraryExpression:
    return LibraryExpression(pytest.importorskip("re2"), pattern)


def test_the_library_is_used_where_it_is_installed() -> None:
    pytest.importorskip("re2")
    expression.cache_clear()
    assert isinstance(expression(b"a"), LibraryExpression)
    assert expression(rb"\p{Greek}+").matches("αβγ".encode())


@pytest.mark.parametrize("module", [None, SimpleNamespace(compile=None)], ids=["absent", "another package"])
def test_without_the_library_ours_is_used(module: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "re2", module)
    expression.cache_clear()
    assert imported_re2() is None
    assert isinstance(expression(b"a"), Expression)
    expression.cache_clear()


CASES = [
    (rb"(a)(x)?", rb"<\1\2\0>", b"aba", b"<aa>b<aa>"),
    (rb"a*", b"-", b"baaac", b"-b-c-"),
    (rb"", b"-", "é\n".encode(), "-é-\n-".encode()),
    (rb"", b"-", b"\xff\xc3", b"-\xff-\xc3-"),
    (rb".", b"-", b"\xed\xa0\x80\xed\xa0", b"-\xed\xa0"),
    (rb"", b"-", b"\xed\xa0\x80", b"-\xed\xa0\x80-"),
    (rb"(?s).", b"-", b"\xffa\xc3", b"\xff-\xc3"),
    (rb"b", b"\\\\\xff", b"abc", b"a\\\xffc"),
    (rb"^a", b"-", b"aa", b"-a"),
    (rb"(\w+\s?)+\d", rb"\1", b"ab cd 12", b"1"),
    (rb"b", rb"x\z", b"abc", b"axc"),
    (rb"[!,.]", b"", "a!é,,\n".encode() + b"\xff.", "aé\n".encode() + b"\xff"),
    ("[!-/é]".encode(), b"", "a!é/b".encode(), b"ab"),
    (rb"b", rb"\1", b"abc", b"abc"),
]


@pytest.mark.parametrize(("pattern", "rewrite", "text", "wanted"), CASES)
def test_every_engine_replaces_the_same(
    pattern: bytes, rewrite: bytes, text: bytes, wanted: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Expression(pattern).replaced(text, Rewrite(rewrite), True) == wanted
    monkeypatch.setattr(Expression, "_is_cheap", lambda *_: False)
    assert Expression(pattern).replaced(text, Rewrite(rewrite), True) == wanted
    assert by_library(pattern).replaced(text, Rewrite(rewrite), True) == wanted


def test_the_library_says_what_is_wrong_with_a_pattern(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InvalidArgumentError, match=r"Invalid pattern: a\*\*, error: bad repetition operator: \*\*"):
        by_library(b"a**")
    with pytest.raises(InvalidArgumentError, match=r"error: invalid UTF-8"):
        by_library(b"\xff")
    assert capfd.readouterr().err == ""
