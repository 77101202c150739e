"""String, file and Python functions beside TensorFlow's: the same nodes, the same results."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import re2
import tensorflow as tf

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.ops.text._google_re2 import LibraryExpression
from tensorkeep.ops.text._re2 import Expression, Rewrite
from tensorkeep.tf1.functions.control import script
from tensorkeep.tf1.functions.data import readers
from tensorkeep.tf1.functions.parsing import strings
from tests.interop.programs import build, our_names, tensorflow_1, v1

Program = Callable[[Any], Any]
OURS = our_names(
    strings,
    script,
    matching_files=readers.matching_files,
    read_file=readers.read_file,
    write_file=readers.write_file,
)
MORE = {
    "string_format": v1.strings.format,
    "regex_full_match": v1.strings.regex_full_match,
    "string_lower": v1.strings.lower,
    "string_upper": v1.strings.upper,
    "string_length": v1.strings.length,
    "strings_split": v1.strings.split,
    "unsorted_segment_join": v1.strings.unsorted_segment_join,
}


class Theirs:
    def __getattr__(self, name: str) -> Any:
        return MORE.get(name) or getattr(v1, name)


THEIRS = Theirs()

PROGRAMS: dict[str, Program] = {
    "join": lambda tf: [tf.string_join(["a", tf.constant(["b", "c"])], "-"), tf.string_join(["x", "y"], name="n")],
    "as_string": lambda tf: [
        tf.as_string(tf.constant([1.5, 2.0]), precision=1),
        tf.as_string(tf.constant([7]), width=4),
    ],
    "format": lambda tf: tf.string_format("{} and {}", [tf.constant([1, 2]), tf.constant("x")]),
    "match": lambda tf: [
        tf.regex_full_match(["ab", "c"], "a.*"),
        tf.regex_full_match(tf.constant(["ab"]), tf.constant("a.")),
    ],
    "replace": lambda tf: [
        tf.regex_replace("a1b2", r"\d", "#"),
        tf.regex_replace(["a1b2"], r"(\w)(\d)", tf.constant(r"\2\1"), replace_global=False, name="r"),
    ],
    "split": lambda tf: list(
        sparse(
            tf.string_split(["a b", "c"]),
            tf.string_split(["a;b,c"], delimiter=";,", skip_empty=False, name="s"),
            tf.strings_split(["a,b", ""], ",", 1),
            tf.strings_split("a b"),
        )
    ),
    "cases": lambda tf: [tf.string_lower("AbÄ"), tf.string_upper(["ab"], encoding="utf-8")],
    "lengths": lambda tf: [tf.string_length(["abc", "ä"]), tf.string_length("ä", unit="UTF8_CHAR")],
    "substr": lambda tf: tf.substr(["hello", "world"], 1, 3, name="s"),
    "reduce_join": lambda tf: [
        tf.reduce_join([["a", "b"], ["c", "d"]], 0, separator=","),
        tf.reduce_join([["a", "b"], ["c", "d"]], keep_dims=True),
        tf.reduce_join(tf.constant([["a", "b"]]), reduction_indices=[1], name="j"),
    ],
    "segments": lambda tf: tf.unsorted_segment_join(["a", "b", "c"], [1, 0, 1], 2, "-"),
    "numbers": lambda tf: [tf.string_to_number(["1", "2.5"]), tf.string_to_number("7", tf.int64)],
    "buckets": lambda tf: [
        tf.string_to_hash_bucket(["a", "b"], 10),
        tf.string_to_hash_bucket_fast(["a", "b"], 10),
        tf.string_to_hash_bucket_strong(["a", "b"], 10, [1, 2]),
    ],
    "base64": lambda tf: tf.decode_base64(tf.encode_base64("some text", pad=True)),
}


def sparse(*tensors: Any) -> Any:
    for tensor in tensors:
        yield from (tensor.indices, tensor.values, tensor.dense_shape)


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_string_functions_are_tensorflows(name: str) -> None:
    build(PROGRAMS[name], OURS, THEIRS).expect_same_values()


def test_joining_all_axes_of_an_unknown_rank_builds_tensorflows_graph() -> None:
    def program(tf: Any) -> Any:
        return tf.reduce_join(tf.placeholder(tf.string, None, name="p"))

    build(program, OURS, THEIRS).expect_same_values(feeds={"p:0": [["a", "b"], ["c", "d"]]})


def test_file_functions_are_tensorflows(tmp_path: Path) -> None:
    def program(tf: Any) -> Any:
        written = tf.write_file(f"{tmp_path}/sub/f.txt", "contents")
        with tf.control_dependencies([written]):
            return [tf.read_file(f"{tmp_path}/sub/f.txt"), tf.matching_files([f"{tmp_path}/s*/*.txt", "/none/*"])]

    build(program, OURS, THEIRS).expect_same_values()


def test_patterns_match_the_files_that_tensorflow_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub" / ".deep").mkdir(parents=True)
    for name in ("a.txt", "b.txt", ".hidden", "x*y", "[z]", "q?", "back\\slash", "sub/c.txt", "sub/.deep/d.txt"):
        (tmp_path / name).touch()
    patterns = [
        *("*", "*.txt", "./*.txt", "sub/*", f"{tmp_path}/*.txt", f"/{tmp_path}/a*", f"file://{tmp_path}/a*", "?.txt"),
        *("x\\*y", "x*y", "\\[z\\]", "[[]z]", "q\\?", "[!a].txt", "[^a].txt", "[b-a].txt", "back*", "back\\\\slash"),
        *("a.txt", "./a.txt", "sub/", "*/", "*/*", "*/*/*", "**/*.txt", f"../{tmp_path.name}/a*", "sub/../a*", "/", ""),
        *("[", "[a", "none*", "none", "a.txt/*", "{a,b}.txt", "sub/.d*/*"),
    ]
    for pattern in patterns:
        build(lambda tf, pattern=pattern: [tf.matching_files(pattern)], OURS, THEIRS).expect_same_values()
    build(lambda tf: [tf.matching_files(["*.txt", "a*", "a.txt"])], OURS, THEIRS).expect_same_values()


def test_python_functions_are_tensorflows(monkeypatch: pytest.MonkeyPatch) -> None:
    from tensorflow.python.ops import script_ops

    tokens = iter(range(100))
    theirs = iter(range(100))
    monkeypatch.setattr(script, "_TOKENS", tokens)
    monkeypatch.setattr(script_ops._py_funcs, "_next_unique_token", lambda: f"pyfunc_{next(theirs)}")

    def program(tf: Any) -> Any:
        x = tf.constant([1.0, 2.0])
        return [
            tf.py_func(lambda a: a * 2, [x], tf.float32),
            tf.py_func(lambda a, b: (a - a, b), [x, 3], [tf.float32, tf.int32], stateful=False, name="n"),
            tf.numpy_function(lambda a: a.sum(), [x], tf.float32),
        ]

    with tensorflow_1():
        built = build(program, OURS, THEIRS)
    built.expect_same_values(allow_python=True)


# Regular expressions.

ATOMS = [
    *("a", "b", "c", ".", "[ab]", "[^a]", "x", r"\d", r"\w", r"\s", "(a)", "(b|ab)", "(?:ab|a)", "^", "$", r"\b", "é"),
    *(r"\.", "[[:alpha:]]", "(?i:A)", "a*?", "(a*)", "(|a)", r"\pL", r"[^\W]", r"\x{e9}"),
]
REPEATS = ["", "", "", "*", "+", "?", "*?", "+?", "{2}", "{1,2}", "{0,}"]
TEXTS = ["", "a", "ab", "aab abc", "aaa\nb", "éa b", "AaBb", "a1b2c3", "..a", "xyz", "ab\n", "abababab"]
BROKEN_TEXTS = [b"a\xffb", b"\xc3", b"\xe2\x82a", b"\xed\xa0\x80ab"]  # which are no UTF-8
LOOSE_TEXTS = [b"a\xf4\x90\x80\x80", b"\xe0\x80\x80b"]  # which are none either, but RE2's "." takes them
REWRITES = ["-", r"<\0>", r"\1x", r"\\", r"q\2", "\\", r"\z"]


def some_pattern(choice: random.Random) -> str:
    parts = []
    for _ in range(choice.randint(0, 4)):
        atom = choice.choice(ATOMS)
        parts.append(atom + (choice.choice(REPEATS) if atom not in ("^", "$", r"\b", "a*?") else ""))
        if choice.random() < 0.1:
            parts.append("|")
    return "".join(parts)


def engines(pattern: bytes, monkeypatch: pytest.MonkeyPatch) -> list[Expression | LibraryExpression]:
    """Python's engine where that is safe, always ours, and RE2, alone and beside Python's."""
    machine, library = Expression(pattern), LibraryExpression(re2, pattern)
    monkeypatch.setattr(machine, "_is_cheap", lambda *_: False, raising=False)
    monkeypatch.setattr(library, "_by_python", None)
    return [Expression(pattern), machine, library, LibraryExpression(re2, pattern)]


@pytest.mark.parametrize("seed", range(4))
def test_any_pattern_matches_and_replaces_as_in_tensorflow(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    choice = random.Random(seed)
    texts = [*(text.encode() for text in TEXTS), *BROKEN_TEXTS, *LOOSE_TEXTS]
    for _ in range(60):
        pattern, rewrite, everywhere = some_pattern(choice), choice.choice(REWRITES), choice.random() < 0.7
        replaced = tf.raw_ops.StaticRegexReplace(
            input=texts, pattern=pattern, rewrite=rewrite, replace_global=everywhere
        ).numpy()
        matches = tf.raw_ops.StaticRegexFullMatch(input=texts, pattern=pattern).numpy()
        for compiled in engines(pattern.encode(), monkeypatch):
            count = len(texts) if isinstance(compiled, LibraryExpression) else -len(LOOSE_TEXTS)
            ours = [compiled.replaced(text, Rewrite(rewrite.encode()), everywhere) for text in texts[:count]]
            assert ours == replaced.tolist()[:count], (pattern, rewrite, everywhere)
            assert [compiled.matches(text) for text in texts[:count]] == matches.tolist()[:count], pattern


BAD_PATTERNS = [
    *(
        "a**",
        "a++",
        "(",
        "a)",
        "[a",
        "[b-a]",
        "\\",
        r"\1",
        "(?=a)",
        "(?!a)",
        "(?<=a)",
        "a{1001}",
        "a{2,1}",
        "[[:foo:]]",
    ),
    *("*a", r"\Z", r"\E", "a{2}{3}", "a?{2}", "(?#c)", "(?'n'a)", r"\é", r"[\Qa\E]", "(?x)a"),
]


@pytest.mark.parametrize("pattern", BAD_PATTERNS)
def test_what_is_no_pattern_for_tensorflow_is_none_for_us(pattern: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError) as theirs:
        tf.raw_ops.StaticRegexFullMatch(input="a", pattern=pattern)
    with pytest.raises(InvalidArgumentError, match="Invalid pattern"):
        Expression(pattern.encode())
    with pytest.raises(InvalidArgumentError) as by_library:
        LibraryExpression(re2, pattern.encode())
    assert str(by_library.value).rstrip("=") in theirs.value.message  # "(?<=", where TensorFlow's older RE2 has "(?<"


LETTERS = [
    "k",
    "K",
    "\u212a",
    "s",
    "\u017f",
    "ß",
    "ẞ",
    "\u03b1",
    "Ω",
    "\u2126",
    "ж",
    "Ж",
    "ǆ",
    "ǅ",
    "Ǆ",
    "٣",
    "中",
    "1",
]


@pytest.mark.parametrize("pattern", ["(?i)k", "(?i)[s-t]", "(?i)ß", "(?i)ω", "(?i)Ǆ", r"\p{Greek}", r"\P{Lu}", r"\pN"])
def test_with_the_library_letters_are_what_they_are_for_tensorflow(pattern: str) -> None:
    texts = [letter.encode() for letter in LETTERS]
    theirs = tf.raw_ops.StaticRegexFullMatch(input=texts, pattern=pattern).numpy()
    compiled = LibraryExpression(re2, pattern.encode())
    assert [compiled.matches(text) for text in texts] == theirs.tolist()
