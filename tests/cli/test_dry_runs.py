"""What every command with --dry-run has in common: it counts what would change, and changes nothing."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tensorkeep.cli.catalog import COMMANDS, load_command
from tests.cli.conftest import Program

NUMBER = re.compile(r"(?<![\w/.,:-])\d[\d,.]*(?![\w/:-])")  # which is not part of a path or a name
DRY = [name for name in COMMANDS if "--dry-run" in load_command(name).parser(name).options]


def files_in(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file with the time of its last change and its contents; folders too."""
    return {
        str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in folder.rglob("*")
    }


@pytest.mark.parametrize("name", DRY)
def test_a_dry_run_counts_and_changes_nothing(program: Program, world: Path, name: str) -> None:
    before = files_in(world)
    for example in load_command(name).examples:
        words = [word for word in shlex.split(example, comments=True) if word != "--json"]
        if "--list" in words:  # which asks for no change
            continue
        found = program(*words, "--dry-run")
        assert found.code in (0, 3), found.err
        assert NUMBER.search(found.out), found.out
        assert files_in(world) == before
