"""What commands that make checkpoints of others print, to the letter, and what they leave on disk."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

import tensorkeep as tk
from tensorkeep.cli.output import Form, Output, ProgressBar
from tensorkeep.io.showing.terminal import Terminal
from tests.cli.conftest import Program, assert_explained


def test_rename_says_what_was_renamed(program: Program) -> None:
    found = program(
        "rename", "run", "r/m", "--map", "dense/bias=b", "--regex", "^dense/", "layer/", "--add-scope", "up"
    )
    assert found == (
        0,
        "dense/bias -> up/b\n"
        "dense/kernel -> up/layer/kernel\n"
        "global_step -> up/global_step\n"
        "wrote r/m: 3 tensors, 68 B linked, 0 B written\n",
        "",
    )
    assert sorted(tk.list_tensors("r/m")) == ["up/b", "up/global_step", "up/layer/kernel"]


def test_a_preview_writes_nothing(program: Program, world: Path) -> None:
    found = program("rename", "run", "r/m", "--strip-scope", "dense", "--preview")
    assert found.out.endswith("would write r/m: 3 tensors, 68 B linked, 0 B written\n")
    assert not (world / "r").exists()


def test_of_many_names_the_first_are_shown(program: Program, world: Path) -> None:
    tk.save_checkpoint(str(world / "many"), {f"v{number:02}": 1.0 for number in range(30)})
    lines = program("rename", "many", "r/m", "--add-scope", "a").out.splitlines()
    assert lines[-2:] == ["and 10 more", "wrote r/m: 30 tensors, 240 B linked, 0 B written"]
    assert len(program("rename", "many", "r/n", "--add-scope", "a", "--dry-run").out.splitlines()) == 31


def test_nothing_is_replaced_without_force(program: Program) -> None:
    assert program("keep", "run", "r/m", "--match", "dense/*").code == 0
    found = program("keep", "run", "r/m", "--match", "global_step")
    assert found == (1, "", 'error: "r/m" is there already: say --force to replace it\n')
    assert program("keep", "run", "r/m", "--match", "global_step", "--force").code == 0
    assert list(tk.list_tensors("r/m")) == ["global_step"]


def test_a_checkpoint_may_be_changed_where_it_is(program: Program) -> None:
    found = program("drop", "run/model-1000", "run/model-1000", "--match", "*bias", "--force")
    assert found.out == "dense/bias dropped\nwrote run/model-1000: 2 tensors, 56 B linked, 0 B written\n"
    assert program("verify", "run").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("rename run r/m", "say what shall be renamed: --map, --regex, --strip-scope or --add-scope"),
        ("rename run r/m --map dense", "--map: expected OLD=NEW, got 'dense'"),
        ("rename run r/m --map no=x", 'cannot rename: there is no tensor "no"'),
        ("keep run r/m", "say which tensors are meant: --match, --regex or --exclude"),
        (
            "keep run r/m --match nothing",
            'no tensor fits "nothing"; there are "dense/bias", "dense/kernel", "global_step"',
        ),
        ("strip-optimizer run r/m", '"run/model-1000" has no values of an optimizer: there is nothing to strip'),
        ("set run r/m", "say what shall be set: --files or --values"),
        (
            "set run r/m --values global_step=1.5",
            'cannot set in "run/model-1000": "global_step": is int64, which cannot hold 1.5',
        ),
        (
            "average run train/model-1 r/m --weights 1,x",
            "--weights: expected numbers with commas between them, got '1,x'",
        ),
        ("average run train/model-1 r/m --weights 1,2 --decay 0.5", "--weights and --decay exclude each other"),
        ("split run r/m --max-shard-size big", "'big' is not a size: expected something like 500MB, 2GiB, or bytes"),
        ("dedupe run/model-1000", "this rewrites checkpoints where they are: say --force, or --dry-run to look first"),
        ("gc nowhere", 'there is no folder "nowhere"'),
        (
            "drop run/model-1000 no/../run/model-1000 --match dense/bias",
            '"no/../run/model-1000" is there already: say --force to replace it',
        ),
        ("sign export/1 x.npy", '"x.npy" is there already: say --force to replace it'),
    ],
)
def test_mistakes_are_explained(program: Program, world: Path, arguments: str, message: str) -> None:
    assert_explained(program, world, arguments, message)


def test_strip_optimizer_shrinks_the_files(program: Program, world: Path) -> None:
    found = program("strip-optimizer", "train/model-2", "small/model")
    assert found.out == (
        "beta1_power dropped\n"
        "dense/kernel/Adam dropped\n"
        "dense/kernel/Adam_1 dropped\n"
        "wrote small/model: 4 tensors, 0 B linked, 56 B written\n"
    )
    assert (world / "small" / "model.data-00000-of-00001").stat().st_size == 56


def test_averages_and_what_lies_between(program: Program) -> None:
    assert program("average", "train/model-1", "train/model-2", "a/m", "--weights", "1,3").code == 0
    assert tk.load_tensor("a/m", "dense/kernel")[0, 0] == 1.75
    assert program("interpolate", "train/model-1", "train/model-2", "0.5", "b/m").code == 0
    assert tk.load_tensor("b/m", "dense/kernel")[0, 0] == 1.5
    assert tk.load_tensor("b/m", "global_step") == 2


def test_values_come_from_files_and_from_the_command_line(program: Program) -> None:
    assert program("set", "run", "r/m", "--files", "dense/kernel=kernel.npy", "--values", "global_step=7").code == 0
    assert tk.load_tensor("r/m", "dense/kernel").tolist() == np.ones((4, 3)).tolist()
    assert tk.load_tensor("r/m", "global_step") == 7


@pytest.mark.parametrize(("size", "files"), [("60", 2), ("0.06kB", 2), ("1MiB", 1), ("1g", 1)])
def test_sizes_are_understood(program: Program, world: Path, size: str, files: int) -> None:
    assert program("split", "run", "r/m", "--max-shard-size", size).code == 0
    assert len(list((world / "r").glob("m.data-*"))) == files


def test_dedupe_tells_what_is_saved(program: Program) -> None:
    assert program("dedupe", "train/model-1", "train/model-2", "--dry-run").out == (
        "train/model-2: 4 tensors shared\n52 B would be saved\n"
    )
    assert program("dedupe", "train/model-1", "train/model-2", "--force").out == (
        "train/model-2: 4 tensors shared\n52 B saved\n"
    )
    assert program("verify", "train/model-2").code == 0


def test_salvage_lists_what_is_lost_and_says_so_by_its_exit_code(program: Program, world: Path) -> None:
    data = world / "run" / "model-1000.data-00000-of-00001"
    damaged = bytearray(data.read_bytes())
    damaged[20] ^= 1
    data.write_bytes(damaged)
    found = program("salvage", "run/model-1000", "saved/model")
    assert found.code == 3
    first, second = found.out.splitlines()
    assert first == "wrote saved/model: 2 tensors, 0 B linked, 20 B written"
    assert second.startswith("lost: ")
    assert '"dense/kernel"' in second
    assert program("verify", "saved/model").code == 0


def test_repair_state_says_what_it_did(program: Program) -> None:
    assert program("repair-state", "train").out == (
        "added train/model-1\nadded train/model-2\nthe state file lists 2 checkpoints, the latest is train/model-2\n"
    )
    assert tk.latest_checkpoint("train") == "train/model-2"


def test_gc_lists_first_and_deletes_when_told(program: Program, world: Path) -> None:
    (world / "run" / "dead.data-00000-of-00001").write_bytes(b"12345")
    listed = "run/dead.data-00000-of-00001\t5\ta data file of which no index speaks\n"
    assert program("gc", "run", "--older-than", "0").out == listed
    assert program("gc", "run", "--older-than", "0", "--table").out.endswith(
        "1 item to delete, 5 B; --force deletes them\n"
    )
    assert program("gc", "run").out == "there is nothing to delete: 0 items, 0 B\n"
    assert program("gc", "run", "--older-than", "0", "--force").out == listed
    assert not (world / "run" / "dead.data-00000-of-00001").exists()


STATS = """\
name          type     shape  min  max  mean       std     norm  zeros  nan  inf
dense/bias    float32  [3]     -1    1     0  0.816497  1.41421      1    0    0
dense/kernel  float32  [4,3]    0   11   5.5   3.45205  22.4944      1    0    0
global_step   int64    []       0    0     0         0        0      1    0    0
"""


def test_stats_line_up(program: Program) -> None:
    assert program("stats", "run", "--table").out == STATS


def test_stats_have_histograms(program: Program) -> None:
    assert program("stats", "run", "--match", "*bias", "--bins", "5").out.endswith("\t█ █ █\n")


def test_health_is_told_by_the_exit_code(program: Program, world: Path) -> None:
    assert program("health", "run") == (0, "run/model-1000: healthy, 3 tensors looked at\n", "")
    assert program("health", "export/1").out == "export/1/variables/variables: healthy, 3 tensors looked at\n"
    tk.save_checkpoint(str(world / "ill"), {"w": np.array([1, np.nan]), "z": np.zeros((2, 2))})
    assert program("health", "ill") == (
        3,
        "ill: ill, 2 tensors looked at\n"
        "  error  w: not a number: 1 of 2 numbers\n"
        "  warning  z: all zero: all 4 numbers\n",
        "",
    )


def test_strictly_a_warning_is_enough(program: Program, world: Path) -> None:
    tk.save_checkpoint(str(world / "odd"), {"z": np.zeros((2, 2))})
    assert (program("health", "odd").code, program("health", "odd", "--strict").code) == (0, 3)


def test_a_model_is_checked_against_its_manifest(program: Program, world: Path) -> None:
    assert program("check", "export/1", "signed/export-1.json").out == (
        '"export/1": all 3 files are as the manifest says\n'
    )
    (world / "export" / "1" / "new").write_bytes(b"")
    assert program("check", "export/1", "signed/export-1.json") == (
        3,
        '"export/1": 1 file is not as the manifest says\n  new: not in the manifest\n',
        "",
    )


class TestProgress:
    """Bars, as a person sees them."""

    def _bar(self, is_watched: bool) -> tuple[ProgressBar, io.StringIO, list[float]]:
        err, now = io.StringIO(), [0.0]
        output = Output(io.StringIO(), err, Form.TABLE, error_terminal=Terminal(is_watched))
        return ProgressBar(output, lambda: now[0]), err, now

    def test_nothing_is_shown_of_what_is_over_at_once(self) -> None:
        bar, err, now = self._bar(True)
        now[0] = 0.9
        bar(50, 100)
        bar.clear()
        assert err.getvalue() == ""

    def test_after_a_second_there_is_a_bar_and_in_the_end_none(self) -> None:
        bar, err, now = self._bar(True)
        now[0] = 2.0
        bar(50_000_000, 100_000_000)
        assert err.getvalue() == "\r\x1b[K[############............]  50% of 100 MB, 25 MB/s, 2 s left"
        bar.clear()
        assert err.getvalue().endswith("\r\x1b[K")

    def test_it_does_not_flicker(self) -> None:
        bar, err, now = self._bar(True)
        for tick in range(200):
            now[0] = 1 + tick / 1000
            bar(tick, 200)
        assert err.getvalue().count("\r") <= 3

    def test_who_does_not_watch_is_not_told(self) -> None:
        bar, err, now = self._bar(False)
        now[0] = 5.0
        bar(1, 2)
        assert err.getvalue() == ""


def test_a_saved_model_stands_for_its_variables_where_a_checkpoint_is_changed(program: Program) -> None:
    found = program("rename", "export/1", "renamed/model", "--map", "global_step=step")
    assert (found.code, found.err) == (0, "")
    assert program("list", "renamed/model", "--names").out == "dense/bias\ndense/kernel\nstep\n"
    assert program("salvage", "export/1", "saved/model").code == 0


def test_a_format_is_named_in_capitals_or_not(program: Program) -> None:
    assert program("convert-format", "run", "old/model", "--to", "v1").code == 0
    assert "format\tV1" in program("what", "old/model").out.splitlines()


def test_a_dry_run_deletes_nothing_whatever_else_is_said(program: Program, world: Path) -> None:
    before = sorted(world.rglob("*"))
    (world / "train" / "model-9.data-00000-of-00001").write_bytes(b"left")
    found = program("gc", "train", "--older-than", "0", "--force", "--dry-run")
    assert found.out.startswith("train/model-9.data-00000-of-00001\t4\t")
    assert program("retain", "train", "--latest", "1", "--force", "--dry-run").out.startswith("delete\tmodel-1\t")
    assert sorted(world.rglob("*")) == sorted([*before, world / "train" / "model-9.data-00000-of-00001"])


@pytest.mark.parametrize(
    "arguments",
    [
        "rename m.npz o/x --add-scope x",
        "average run m.npz o/x",
        "interpolate run m.npz 0.5 o/x",
        "salvage m.npz o/x",
    ],
)
def test_a_file_that_is_no_checkpoint_is_not_called_a_damaged_one(program: Program, arguments: str) -> None:
    assert program("convert", "run", "m.npz").code == 0
    said = 'error: "m.npz" is no checkpoint: `tensorkeep convert` makes one of what has tensors\n'
    assert program(*arguments.split()) == (1, "", said)


def test_what_has_no_metric_is_kept_and_told(program: Program, world: Path) -> None:
    told = program("retain", "train", "--latest", "1", "--best", "loss", "--force")
    assert (told.code, [line.split("\t")[:2] for line in told.out.splitlines()]) == (
        0,
        [["keep", "model-1"], ["keep", "model-2"]],
    )
    assert '2 checkpoints without the metric "loss" kept' in told.err
    assert "no metrics are known of this folder" in told.err
    assert (world / "train" / "model-1.index").exists()


def test_a_cast_that_loses_numbers_is_counted_and_refused_unless_allowed(program: Program, world: Path) -> None:
    tk.save_checkpoint("small/model", {"v": np.array([1e-9, 0.1, 1], np.float32)})
    for command in ("cast small/model half/model --dtype float16", "convert small/model half.npz --dtype float16"):
        before = sorted(world.rglob("*"))
        for words in ("", " --dry-run"):
            told = program(*f"{command}{words}".split())
            assert (told.code, told.out) == (1, "")
            assert 'would lose numbers: "v": of 3 numbers 1 to zero, 1 rounded (such as 1e-09)' in told.err
            assert told.err.endswith("or say --allow-loss\n")
        assert sorted(world.rglob("*")) == before
        for words in ("--dry-run", ""):
            told = program(*command.split(), "--allow-loss", *words.split())
            assert told.out.endswith(
                "  v: of 3 numbers 1 to zero, 1 rounded (such as 1e-09)\n"
                "  cast 1 tensor: 1 of 3 numbers lost, 1 rounded\n"
            )
    assert not program("cast", "small/model", "b/model", "--dtype", "bfloat16").code
