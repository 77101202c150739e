"""Several processes save to one name at the same time: it is always the checkpoint of one of them, and whole."""

from __future__ import annotations

import select
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tensorkeep.checkpoint.checking import check_checkpoint
from tensorkeep.checkpoint.finding.opening import load_tensors
from tensorkeep.checkpoint.saving import CheckpointFormat, SaveOptions, ShardByName, save_checkpoint
from tensorkeep.errors import AlreadyExistsError
from tensorkeep.io.files.local import LOCAL
from tests.support.processes import run_together, the_one_value

pytestmark = pytest.mark.slow  # all of them together

ROUNDS = 15

PLAIN = """
import sys
import numpy as np
from tensorkeep.checkpoint.saving import SaveOptions, ShardByName, save_checkpoint
from tensorkeep.io.files.filesystem import Durability

number, files, rounds = map(int, sys.argv[1:])
sharding = ShardByName(lambda name: ord(name) % files)
options = SaveOptions(sharding=sharding, durability=Durability.CACHE)
for turn in range(rounds):
    value = np.full(5000, number * rounds + turn)
    save_checkpoint("m", dict.fromkeys("abcd", value), options)
"""


@pytest.mark.parametrize("files", [(1, 1, 1), (2, 2, 2), (1, 2, 3)], ids=["one file", "two files", "one, two, three"])
def test_the_last_to_finish_has_the_name(tmp_path: Path, files: Sequence[int]) -> None:
    run_together(PLAIN, tmp_path, files, ROUNDS)
    assert check_checkpoint(str(tmp_path / "m")).is_intact
    last = the_one_value(tmp_path / "m")
    assert last % ROUNDS == ROUNDS - 1  # the last save of a process, not one in between
    count = files[last // ROUNDS]
    wanted = [*(f"m.data-{number:05}-of-{count:05}" for number in range(count)), "m.index"]
    assert sorted(path.name for path in tmp_path.iterdir()) == wanted


def test_a_lock_of_another_process_is_waited_for_and_ends_with_it(tmp_path: Path) -> None:
    hold = "with LocalFileSystem().locked('.'):\n    print('locked', flush=True)\n    sys.stdin.read()"
    save = "print('saving', flush=True)\nsave_checkpoint('m', {'a': np.ones(2)})\nprint('saved', flush=True)"
    begin = "import sys\nimport numpy as np\nfrom tensorkeep import LocalFileSystem, save_checkpoint\n"
    holder, saving = (
        subprocess.Popen(
            [sys.executable, "-c", begin + program],
            cwd=tmp_path,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for program in (hold, "sys.stdin.readline()\n" + save)
    )
    with holder, saving:
        assert holder.stdout is not None
        assert saving.stdin is not None
        assert saving.stdout is not None
        assert holder.stdout.readline() == "locked\n"
        saving.stdin.write("\n")
        saving.stdin.flush()
        assert saving.stdout.readline() == "saving\n"
        assert select.select([saving.stdout], [], [], 0.5)[0] == []
        assert not (tmp_path / "m.index").exists()
        holder.kill()
        assert saving.stdout.readline() == "saved\n"
    assert load_tensors(str(tmp_path / "m"))["a"].tolist() == [1, 1]


def test_old_files_in_parts_are_written_by_one_or_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the look whether they are there and the moment when they appear, somebody else writes them."""
    options = SaveOptions(format=CheckpointFormat.V1, sharding=ShardByName(ord))
    locked = LOCAL.locked
    prefix = str(tmp_path / "m")

    def overtaken(directory: str) -> object:
        monkeypatch.setattr(LOCAL, "locked", locked)
        save_checkpoint(prefix, {"a": np.zeros(2), "b": np.zeros(2)}, options)
        return locked(directory)

    monkeypatch.setattr(LOCAL, "locked", overtaken)
    with pytest.raises(AlreadyExistsError, match="cannot be replaced safely"):
        save_checkpoint(prefix, {"a": np.ones(2), "b": np.ones(2)}, options)
    found = load_tensors(f"{prefix}-?????-of-00002")
    assert {name: value.tolist() for name, value in found.items()} == {"a": [0, 0], "b": [0, 0]}
