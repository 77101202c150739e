"""`--cluster` and what goes with it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tensorkeep as tk
from tensorkeep.cli.main import main
from tensorkeep.cluster import disconnect, executors
from tests.support.clusters import STARTS_RAY


def test_options_of_workers_without_a_cluster_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tk.save_checkpoint(tmp_path / "model", {"a": np.ones(3)})
    assert main(["verify", str(tmp_path / "model"), "--workers", "2"]) == 1
    assert "go with --cluster" in capsys.readouterr().err


@STARTS_RAY
@pytest.mark.slow
def test_commands_say_the_same_with_a_cluster(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first command starts the cluster, the last one ends it: each would do both, which takes five seconds."""
    folder = tmp_path.resolve()
    for number in (1, 2):
        tk.save_checkpoint(folder / f"m{number}", {"a": np.arange(6.0) * number, "b": np.ones((2, 3), np.float32)})
    one, two = str(folder / "m1"), str(folder / "m2")
    commands = [["verify", one], ["stats", one, "--bins", "4"], ["health", one], ["diff", one, two]]
    on_cluster = ["--cluster", "local", "--workers", "1"]
    for command in commands:
        monkeypatch.setattr(executors, "disconnect", disconnect if command is commands[-1] else lambda: None)
        code = main(command)
        expected = capsys.readouterr().out
        assert main([*command, *on_cluster]) == code
        assert capsys.readouterr().out.endswith(expected)  # Ray may say something when it starts
