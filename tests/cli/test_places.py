"""Paths with a scheme, given to every command in the place of every word of its examples."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tensorkeep.cli import catalog
from tensorkeep.io.files.everywhere import FILES
from tests.cli.conftest import Program
from tests.support.stores import memory_bucket

pytestmark = pytest.mark.slow  # all of them together

EXAMPLES = [(name, example) for name in catalog.COMMANDS for example in catalog.load_command(name).examples]
NAMES = ("train", "vocab.txt")  # which are tags and assets of the models in the examples, too
SUFFIXES = (".npy", ".npz", ".csv", ".pb", ".html", ".json", ".txt", ".safetensors", ".svg", ".parquet", ".pem", ".dot")


def words_of(example: str) -> list[str]:
    words = shlex.split(example, comments=True)
    return words[: words.index(">")] if ">" in words else words


def is_path(word: str, world: Path) -> bool:
    """Whether a word of an example is a path: it leads to something, or to something in a folder that is there."""
    if word in NAMES:
        return False
    plain = not word.startswith("-") and "=" not in word and "*" not in word
    above = (world / word).parent
    return plain and ((world / word).exists() or word.endswith(SUFFIXES) or (above != world and above.is_dir()))


def names_below(folder: Path) -> list[str]:
    return sorted(str(path) for path in folder.rglob("*"))


@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=[example for _, example in EXAMPLES])
def test_a_store_that_is_not_served_is_never_taken_for_a_folder(
    program: Program, world: Path, name: str, example: str
) -> None:
    words = words_of(example)
    for at in range(name.count(" ") + 1, len(words)):
        option, equals, value = words[at].rpartition("=")
        place = f"{option}{equals}hdfs://bucket/{value}"
        if words[at].startswith("-") and not equals:
            continue
        before = names_below(world)
        told = program(*words[:at], place, *words[at + 1 :])
        if is_path(words[at], world):
            assert told.code == 1, place
            assert "File system scheme 'hdfs' not implemented (file: 'hdfs://bucket/" in told.err + told.out, place
            assert names_below(world) == before
        assert not (world / "hdfs:").exists(), place


REFUSED = {"dedupe": "cannot share any"}


@pytest.fixture
def bucket(world: Path) -> str:
    """A store with the files that the examples are about."""
    url = memory_bucket()
    for path in world.rglob("*"):
        if path.is_file():
            FILES.link(str(path), f"{url}/{path.relative_to(world).as_posix()}")
    return url


@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=[example for _, example in EXAMPLES])
def test_a_command_works_in_a_store_as_it_does_on_the_disk(
    program: Program, world: Path, bucket: str, name: str, example: str
) -> None:
    words = words_of(example)
    start = name.count(" ") + 1
    changed = [f"{bucket}/{word}" if is_path(word, world) else word for word in words[start:]]
    told = program(*words[:start], *changed)
    assert not list(world.rglob("memory:"))
    if name in REFUSED:
        assert told.code == 1
        assert REFUSED[name] in told.err
        return
    assert told.code in ((0, 3) if name == "diff" else (0,)), told.err


@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=[example for _, example in EXAMPLES])
def test_the_scheme_of_this_machine_is_served(program: Program, world: Path, name: str, example: str) -> None:
    words = words_of(example)
    start = name.count(" ") + 1
    changed = [f"file://{world}/{word}" if is_path(word, world) else word for word in words[start:]]
    told = program(*words[:start], *changed)
    assert told.code in ((0, 3) if name == "diff" else (0,)), told.err
    assert not list(world.rglob("file:"))
