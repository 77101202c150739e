"""Which patterns stand for one text or for some characters."""

from __future__ import annotations

import pytest

from tensorkeep.onnx.rules.strings.patterns import marks_of_pattern


@pytest.mark.parametrize(
    ("pattern", "texts", "repeats"),
    [
        ("a", ["a"], False),
        ("<br />", ["<br />"], False),
        (r"\.\*", [".*"], False),
        ("a|b", ["a", "b"], False),
        ("(a|b)+", ["a", "b"], True),
        ("[abc]", ["a", "b", "c"], False),
        ("[a-c_]+", ["a", "b", "c", "_"], True),
        (r"[\]\-x]", ["]", "-", "x"], False),
        ("[]a]", ["]", "a"], False),
        ("[a-]", ["a", "-"], False),
        ("[aab]", ["a", "b"], False),
        (r"\s+", ["\t", "\n", "\f", "\r", " "], True),
        ("[[:digit:]]", list("0123456789"), False),
        (r"[\d.]", list("0123456789."), False),
        (r"\+", ["+"], False),
    ],
)
def test_patterns_that_stand_for_texts(pattern: str, texts: list[str], repeats: bool) -> None:
    found = marks_of_pattern(pattern)
    assert found is not None
    assert (found.texts, found.repeats) == (texts, repeats)


@pytest.mark.parametrize(
    "pattern",
    ["", "a*", "a?", "a.b", "^a", "a$", "[^a]", "ab|c", "(ab)+", "ab+", "a{2}", r"\b", r"\x41", "[a", "[a]b", "[a][b]",
     "|a", "[b-a]", "[[:nothing:]]", "a\\", "(a)(b)", "(?i)a", r"[\x00-\x1f]", "[a-\u4e00]", "+", "a||b"],
)  # fmt: skip
def test_patterns_that_say_more(pattern: str) -> None:
    assert marks_of_pattern(pattern) is None
