"""`tf.gfile`, `tf.io.gfile`, `tf.compat`, `tf.version` and `tf.flags`, beside TensorFlow's."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tensorflow.compat.v1 as theirs

import tensorkeep.v1 as ours
from tensorkeep.v1 import basic_flags

SUBCLASSES = {"MissingFileError": "NotFoundError", "WrongTypeError": "TypeError"}


def prepare(folder: Path) -> None:
    (folder / "d/e/f").mkdir(parents=True)
    (folder / "empty").mkdir()
    (folder / "a").write_bytes("l1\nl2 é\r\n\nlast".encode())
    (folder / "bad").write_bytes(b"\xff\xfe")
    (folder / "d/x.txt").write_text("x")
    (folder / "d/.hidden").write_text("h")
    (folder / "d/e/y.txt").write_text("y")
    (folder / "d/e/[z]").write_text("z")


REMEDY = ": plain paths, file:///… and "


def outcome(call: Callable[[], Any]) -> Any:
    """What a call returns, or which error it raises in which words, but for the remedy that ours adds to one."""
    try:
        return call()
    except Exception as error:
        name = type(error).__name__
        return SUBCLASSES.get(name, name), str(error).partition(REMEDY)[0]


def in_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: Callable[[Any], Any]) -> list[Any]:
    """The outcomes of a program in two folders that begin alike, and what it leaves in them."""
    results = []
    for name, tf in (("ours", ours), ("theirs", theirs)):
        (tmp_path / name).mkdir()
        prepare(tmp_path / name)
        monkeypatch.chdir(tmp_path / name)
        result = program(tf)
        results.append((result, contents(tmp_path / name)))
    return results


def contents(folder: Path) -> dict[str, bytes | None]:
    paths = sorted(folder.rglob("*"))
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in paths}


OPERATIONS = [
    *(("Exists", path) for path in ("a", "a/", "none", "d", "", "a/x", b"d", Path("d"), None, 3, "foo://y")),
    *(("IsDirectory", path) for path in ("a", "none", "d/", "", "a/x", None, "foo://y")),
    *(("ListDirectory", path) for path in ("a", "none", "d", "d/e/", "empty", "", 3, "foo://y")),
    *(("Glob", pattern) for pattern in ("a", "none", "d/", "", "*", "d/*", "d/*/*", "d/*/*/", "none/*", "[ab]*")),
    *(("Glob", pattern) for pattern in ("d/?.txt", "d/**/*.txt", "d/[^x]*", "d/e/\\[z\\]", "d/[d-f]/?.*", "*/*.txt")),
    *(("Glob", pattern) for pattern in (["a", "d/*"], ("none",), [b"a"], [3], 3, None, "foo://y/*", "./d/*", "d*/")),
    *(("MkDir", path) for path in ("new", "d", "a", "", "none/new", "a/new", "foo://y")),
    *(("MakeDirs", path) for path in ("new", "new/er/est", "d", "", "a", "a/new", "d/e/../g")),
    *(("Remove", path) for path in ("a", "none", "d", "", "a/x", "d/x.txt", "foo://y")),
    *(("DeleteRecursively", path) for path in ("a", "none", "d", "", "a/x", "foo://y")),
    *(("Copy", "a", target) for target in ("new", "bad", "d", "none/new", "a", "d/new")),
    *(("Copy", "a", target, True) for target in ("new", "bad", "d", "none/new")),
    *(("Copy", source, "new") for source in ("none", "foo://y", "")),
    *(("Rename", "a", target) for target in ("new", "bad", "d", "none/new", "a")),
    *(("Rename", "a", target, True) for target in ("new", "bad", "d", "none/new", "a")),
    *(("Rename", "d", target, True) for target in ("new", "empty", "a", "d/e/f")),
    *(("Rename", source, "new") for source in ("none", "foo://y")),
]


@pytest.mark.parametrize("operation", OPERATIONS, ids=repr)
def test_an_operation_does_and_says_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, operation: tuple[Any, ...]
) -> None:
    name, *arguments = operation

    def program(tf: Any) -> Any:
        result = outcome(lambda: getattr(tf.gfile, name)(*arguments))
        return sorted(result) if isinstance(result, list) else result

    mine, other = in_both(tmp_path, monkeypatch, program)
    assert mine == other


@pytest.mark.parametrize("path", ["a", "d", "none", "", "a/x", b"a", Path("a"), "foo://y"], ids=repr)
def test_statistics_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: Any) -> None:
    prepare(tmp_path)
    monkeypatch.chdir(tmp_path)

    def statistics(tf: Any) -> Any:
        found = tf.io.gfile.stat(path)
        return found.length, found.mtime_nsec, found.is_directory

    assert outcome(lambda: statistics(ours)) == outcome(lambda: statistics(theirs))


@pytest.mark.parametrize("top", ["d", "d/", ".", "a", "none", "", Path("d"), b"d"], ids=repr)
@pytest.mark.parametrize("in_order", [True, False])
def test_a_walk_leads_to_the_same_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, top: Any, in_order: bool
) -> None:
    prepare(tmp_path)
    monkeypatch.chdir(tmp_path)

    def walk(tf: Any) -> Any:
        return [(path, sorted(folders), sorted(files)) for path, folders, files in tf.gfile.Walk(top, in_order)]

    assert sorted(walk(ours)) == sorted(walk(theirs))
    paths = [path for path, _, _ in walk(ours)]
    assert paths == sorted(paths) or not in_order


READING = [
    ("read",), ("read", 3), ("read", 0), ("read", 7), ("read", -2), ("read", 99), ("readline",), ("readlines",),
    ("tell",), ("size",), ("seek", 3), ("seek", 0), ("seek", -2, 2), ("seek", -1), ("seek", 99), ("seek", 1, 1),
    ("seek", 0, 7), ("seek",), ("next",), ("flush",), ("close",), ("seekable",), ("write", "W"), ("write", b"B"),
]  # fmt: skip


@pytest.mark.parametrize("mode", ["r", "rb", "w", "wb", "a", "ab", "r+", "w+", "rb+", "br", "x", "rt", "+r"])
@pytest.mark.parametrize("name", ["a", "bad", "none", "none/new"])
def test_a_file_behaves_the_same_whatever_is_asked_of_it_first_and_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, mode: str
) -> None:
    """Each method on a fresh file, and then all of them one after the other on the same."""

    def program(tf: Any) -> Any:
        results = []
        for method, *arguments in READING:
            with_file = outcome(lambda: tf.gfile.GFile(name, mode))
            if isinstance(with_file, tuple):
                return with_file
            results.append(outcome(lambda: getattr(with_file, method)(*arguments)))  # noqa: B023 - called at once
            with_file.close()
        file = tf.gfile.GFile(name, mode)
        results += [outcome(lambda: getattr(file, method)(*arguments)) for method, *arguments in READING]  # noqa: B023
        file.close()
        return results

    mine, other = in_both(tmp_path, monkeypatch, program)
    assert mine == other


@pytest.mark.parametrize("mode", ["r", "rb", "w", "a", "r+"])
@pytest.mark.parametrize("call", [("read",), ("read", 1), ("write", "x")])
def test_a_folder_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: tuple[Any, ...], mode: str) -> None:
    def program(tf: Any) -> Any:
        return outcome(lambda: getattr(tf.gfile.GFile("empty", mode), call[0])(*call[1:]))

    mine, other = in_both(tmp_path, monkeypatch, program)
    assert mine == other


def test_paths_are_joined_alike() -> None:
    for parts in [("a", "b"), (b"a", b"b"), ("a", "/b"), ("gs://a", "b"), ("a",), ("a", Path("b")), ("", "b")]:
        assert ours.io.gfile.join(*parts) == theirs.io.gfile.join(*parts)
    besides = {
        "abfs",
        "abfss",
        "az",
        "http",
        "https",
        "memory",
        "s3",
    }  # stores that TensorFlow has plug-ins for, if at all
    assert set(ours.io.gfile.get_registered_schemes()) - besides <= set(theirs.io.gfile.get_registered_schemes())


@pytest.mark.parametrize("module", ["gfile", "io.gfile", "app", "compat"])
def test_signatures_are_the_same(module: str) -> None:
    mine, other = ours, theirs
    for part in module.split("."):
        mine, other = getattr(mine, part), getattr(other, part)
    functions = [name for name in mine.__all__ if inspect.isfunction(getattr(mine, name)) and hasattr(other, name)]
    assert functions
    for name in functions:
        signatures = [inspect.signature(getattr(each, name)) for each in (mine, other)]
        first, second = [[(p.name, p.default, p.kind) for p in s.parameters.values()] for s in signatures]
        assert first == second, name


def test_versions_and_types_are_the_same() -> None:
    of_tensorflow_1 = {"GIT_VERSION", "VERSION"}  # what programs look at to know that they may run
    for name in set(ours.version.__all__) - of_tensorflow_1:
        assert getattr(ours.version, name) == getattr(theirs.version, name)
        assert getattr(ours, name) == getattr(theirs, name)
    assert ours.version.VERSION.startswith("1.15.")
    for name in ("bytes_or_text_types", "complex_types", "integral_types", "real_types"):
        assert getattr(ours.compat, name) == getattr(theirs.compat, name)
    for date in [(2019, 1, 1), (2026, 1, 15), (2026, 1, 16), (2026, 1, 17), (2030, 12, 31)]:
        assert ours.compat.forward_compatible(*date) == theirs.compat.forward_compatible(*date)


def define(flags: Any) -> Any:
    values = flags.FlagValues()
    flags.DEFINE_string("name", "x", "A name.", flag_values=values)
    flags.DEFINE_integer("steps", 3, "Steps.", lower_bound=0, flag_values=values, short_name="s")
    flags.DEFINE_float("rate", 0.5, "A rate.", upper_bound=9, flag_values=values)
    flags.DEFINE_integer("batch", 9, "Size.", lower_bound=5, flag_values=values)
    flags.DEFINE_integer("level", -9, "Level.", upper_bound=-1, flag_values=values)
    flags.DEFINE_bool("train", True, "Whether.", flag_values=values)
    flags.DEFINE_enum("kind", None, ["big", "small"], "A kind.", flag_values=values)
    flags.DEFINE_list("layers", ["1"], "Layers.", flag_values=values)
    flags.DEFINE_spaceseplist("words", "a b", "Words.", flag_values=values)
    flags.DEFINE_multi_string("file", None, "Files.", flag_values=values)
    flags.DEFINE_multi_integer("seed", [1], "Seeds.", flag_values=values)
    return values


COMMAND_LINES = [
    "", "--name=a=b in --steps 7 out", "-s=0x10 -rate 1e-3", "--notrain", "--train=F x", "--train false", "--layers=",
    '--layers=1,"2,3",', "--seed=4 --seed=5 --file=a --file=b", "-- --steps=1", "- x", "--undefok=a,b --a=1 --nob",
    "--steps=x", "--steps=-1", "--steps=1.5", "--rate=fast", "--rate=10", "--train=maybe", "--kind=medium", "--name",
    "--nam=1", "--unknown=1", "--nonname", "--steps=0o17", "--words=", "--kind=big --kind=small",
    "--=3", "--batch=4", "--level=0", "---name=3",
]  # fmt: skip


@pytest.mark.parametrize("line", COMMAND_LINES)
@pytest.mark.parametrize("known_only", [False, True])
def test_a_command_line_means_the_same(line: str, known_only: bool) -> None:
    def program(tf: Any) -> Any:
        values = define(tf.flags)
        rest = outcome(lambda: values(["program", *line.split()], known_only=known_only))
        return rest, values.flag_values_dict(), values.flags_into_string()

    assert program(ours) == program(theirs)


def define_basic(flags: Any) -> Any:
    values = flags.FlagValues()
    flags.DEFINE_string("name", "x", "A name.", flag_values=values)
    flags.DEFINE_integer("steps", 3, "Steps.", flag_values=values)
    flags.DEFINE_float("rate", 0.5, "A rate.", flag_values=values)
    flags.DEFINE_bool("train", True, "Whether.", flag_values=values)
    flags.DEFINE_enum("kind", None, ["big", "small"], "A kind.", flag_values=values)
    flags.DEFINE_list("layers", ["1"], "Layers.", flag_values=values)
    return values


@pytest.mark.parametrize("line", [line for line in COMMAND_LINES if "undefok" not in line])
@pytest.mark.parametrize("known_only", [False, True])
def test_without_absl_a_command_line_means_the_same(line: str, known_only: bool) -> None:
    def program(flags: Any) -> Any:
        values = define_basic(flags)
        try:
            rest = values(["program", *line.split()], known_only=known_only)
        except Exception as error:
            return type(error).__name__
        return rest, values.flag_values_dict()

    assert program(basic_flags) == program(theirs.flags)
