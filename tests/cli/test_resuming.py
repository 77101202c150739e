"""`--resume`: a command that died goes on with what it has written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep as tk
from tensorkeep.cli.main import main
from tensorkeep.cluster.jobs import cutting, writing
from tensorkeep.errors import UnavailableError

COMMANDS = {
    "convert": (["--dtype", "float16", "--allow-loss"], np.float16),
    "cast": (["--dtype", "float16", "--allow-loss"], np.float16),
    "split": (["--max-shard-size", "2MiB"], np.float32),
}


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(cutting, "_LEAST", 1 << 20)
    random = np.random.default_rng(0)
    tensors = {f"t{at}": random.random(1 << 18).astype(np.float32) for at in range(6)}
    return tk.save_checkpoint(tmp_path / "model", tensors)


class Dying:
    """Writes parts until it is told to die."""

    def __init__(self, write: Any) -> None:
        self.written: list[int] = []
        self.most = 2
        self._write = write

    def __call__(self, part: Any) -> Any:
        if len(self.written) == self.most:
            raise UnavailableError("the machine goes down")
        self.written.append(part.number)
        return self._write(part)


@pytest.mark.parametrize("command", COMMANDS)
def test_what_was_written_is_not_written_again(
    command: str, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options, dtype = COMMANDS[command]
    target = str(tmp_path / "out" / "model")
    wanted = [command, source, target, *options, *(["--to", "checkpoint"] if command == "convert" else []), "--resume"]
    writer = Dying(writing.write_part)
    monkeypatch.setattr(writing, "write_part", writer)
    assert main(wanted) != 0
    assert "the machine goes down" in capsys.readouterr().err
    assert not (tmp_path / "out" / "model.index").exists()
    writer.most = 100
    assert main(wanted) == 0
    assert len(writer.written) == len(set(writer.written)) > 2
    assert not list((tmp_path / "out").glob("*.tensorkeep-job"))
    with tk.open_checkpoint(source) as before, tk.open_checkpoint(target) as after:
        assert [*before] == [*after]
        for name in before:
            assert np.array_equal(after.read(name), before.read(name).astype(dtype))


def test_formats_of_one_file_are_refused(source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", source, str(tmp_path / "a.npz"), "--resume"]) != 0
    assert "one process writes" in capsys.readouterr().err
