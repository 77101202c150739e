"""A folder with the files that the examples are about, and the program run in it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tensorkeep.cli.main import main


class Result(NamedTuple):
    """What the program said."""

    code: int
    out: str
    err: str


Program = Callable[..., Result]


@pytest.fixture(autouse=True)
def _width(monkeypatch: pytest.MonkeyPatch) -> None:
    """The terminal in which the tests happen to be run is of no account."""
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture(scope="session")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files, made once and not to be changed."""
    from tests.cli.world import make_world  # which needs the facade, as these tests then do

    folder = tmp_path_factory.mktemp("world")
    make_world(folder)
    return folder


@pytest.fixture
def world(original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the files, in which the program runs."""
    folder = tmp_path / "world"
    shutil.copytree(original, folder)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def program(world: Path, capsys: pytest.CaptureFixture[str]) -> Program:
    """Runs the program with arguments: `program("list", "run")`. What would serve for ever only says what it would.

    So does what would run a program: that is for processes of their own, in which TensorFlow itself is not imported.
    """

    def run(*arguments: str) -> Result:
        is_endless = arguments[:1] in (("serve",), ("view",)) and not {"--help", "--dry-run", "--export"} & {*arguments}
        if arguments[:1] == ("run",) and "--help" not in arguments:
            arguments = ("run", "--dry-run", *(word for word in arguments[1:] if word != "--dry-run"))
        code = main((*arguments, "--dry-run") if is_endless else arguments)
        said = capsys.readouterr()
        return Result(code, said.out, said.err)

    return run


def assert_explained(program: Program, world: Path, arguments: str, message: str) -> None:
    """A mistake is told on the standard error, in words that begin so, and no file comes or goes."""
    before = sorted(world.rglob("*"))
    found = program(*arguments.split())
    assert (found.code, found.out) == (1, "")
    assert found.err.startswith(f"error: {message}")
    assert sorted(world.rglob("*")) == before
