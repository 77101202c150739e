"""What the commands for SavedModels print and write."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import tensorkeep as tk
from tensorkeep.io.coding.records import encode_record
from tensorkeep.proto.messages import SavedModel
from tensorkeep.proto.serving import PredictionLog
from tensorkeep.saved_model.files.warmup import read_warmup_requests
from tests.cli.conftest import Program
from tests.saved_model.scan_samples import model_with
from tests.support.golden import ROOT

SIMPLE = ROOT / "g26_tf1_simple_save"


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


# ------------------------------------------------------------------------------------------------------ show, run, scan


OVERVIEW = """\
tags   signature        end     name  type and shape  tensor
serve  serving_default  input   x     float32 (?, 4)  x:0
serve  serving_default  output  cls   int64 (?)       cls:0
serve  serving_default  output  prob  float32 (?, 3)  prob:0
serve  with_rate        input   rate  float32 ()      rate:0
serve  with_rate        input   x     float32 (?, 4)  x:0
serve  with_rate        output  cls   int64 (?)       cls:0
serve  with_rate        output  prob  float32 (?, 3)  prob:0
--all shows functions with their arguments, and ops
"""


@pytest.mark.parametrize("flags", [("--dir", "export/1"), ("export/1",)])
def test_show_lists_what_signatures_take_and_give(program: Program, flags: tuple[str, ...]) -> None:
    assert program("saved-model", "show", *flags, "--table").out == OVERVIEW


def test_show_gives_programs_a_line_for_each_input_and_output(program: Program) -> None:
    lines = program("saved-model", "show", "export/1").out.splitlines()
    assert len(lines) == 7
    assert lines[0] == "serve\tserving_default\tinput\tx\tfloat32 (?, 4)\tx:0"


def test_show_tells_the_functions_of_a_model_without_signatures(program: Program) -> None:
    found = program("saved-model", "show", "export/many")
    assert (found.code, found.out) == (0, "")
    assert found.err.splitlines()[0] == "note: tags train: no signatures; functions: none"


def test_show_lists_what_can_be_asked_and_not_the_signature_of_what_runs_first(program: Program, world: Path) -> None:
    file = world / "export" / "1" / "saved_model.pb"
    before = program("saved-model", "show", "export/1").out
    model = SavedModel.FromString(file.read_bytes())
    start = model.meta_graphs[0].signature_def["__saved_model_init_op"]
    start.outputs["__saved_model_init_op"].name = model.meta_graphs[0].graph_def.node[0].name
    file.write_bytes(model.SerializeToString())
    assert program("saved-model", "show", "export/1").out == before
    assert "__saved_model_init_op" in program("saved-model", "show", "export/1", "--all").out


def test_show_is_tensorflows_text_where_it_is_asked_for_more(program: Program) -> None:
    model = str(SIMPLE / "model")
    keys = program("saved-model", "show", "--dir", model, "--tag_set", "serve").out
    assert keys.startswith("The given SavedModel MetaGraphDef contains SignatureDefs with the following keys:\n")
    every = program("saved-model", "show", model, "--all").out.partition("The MetaGraph with tag set")[0]
    assert (SIMPLE / "cli_show_all.txt").read_text().startswith(every)


def test_run_says_which_inputs_there_are_and_where_to_see_them(program: Program) -> None:
    found = program("saved-model", "run", "export/1", "--input_exprs", "bogus=1")
    assert found.code == 1
    assert found.err == (
        'error: "serving_default" has no input "bogus": it takes "x" (float32 [?, 4]); `saved-model show` lists them\n'
    )


def test_run_is_tensorflows_text(program: Program) -> None:
    flags = ("--tag-set", "serve", "--signature_def=serving_default", "--inputs", f"features={SIMPLE}/features.npy")
    found = program("saved-model", "run", "--dir", str(SIMPLE / "model"), *flags)
    wanted = [line for line in (SIMPLE / "cli_run.txt").read_text().splitlines() if not line.startswith("INFO")]
    assert found.out.splitlines()[0] in wanted
    assert (found.code, found.err) == (0, "")


def test_run_takes_the_usual_signature_unless_told(program: Program) -> None:
    found = program("saved-model", "run", "export/1", "--inputs", "x=x.npy")
    assert found.out.startswith("Result for output key cls:\n[2 2]\nResult for output key prob:\n[[")


def test_run_writes_outputs_once_unless_told_otherwise(program: Program, world: Path) -> None:
    command = ("saved-model", "run", "export/1", "--inputs", "x=x.npy", "--outdir", "out")
    assert "Output cls would be saved to out/cls.npy\n" in program(*command, "--dry-run").out
    assert not (world / "out").exists()
    assert "Output cls is saved to out/cls.npy\n" in program(*command).out
    assert np.load(world / "out" / "cls.npy").tolist() == [2, 2]
    again = program(*command)
    assert (again.code, again.out) == (1, "")
    assert "out/cls.npy already exists" in again.err
    assert program(*command, "--overwrite").code == 0


def test_run_says_how_long_it_took(program: Program) -> None:
    found = program("saved-model", "run", "export/1", "--inputs", "x=x.npy", "--timing")
    assert found.err.startswith("timing: loading ")
    assert found.err.endswith(" ms a run (the best of 5)\n")


def test_run_refuses_a_second_model(program: Program) -> None:
    found = program("saved-model", "run", "export/1", "--dir", "export/1", "--inputs", "x=x.npy")
    assert found == (1, "", "error: name one model: its directory, or --dir with it\n")


def test_scan_finds_nothing_in_a_good_model(program: Program) -> None:
    found = program("saved-model", "scan", "export/1")
    assert (found.code, found.out.splitlines()[0]) == (0, "export/1: nothing found")


def test_scan_reports_what_a_model_does(program: Program, world: Path) -> None:
    (world / "bad").mkdir()
    (world / "bad" / "saved_model.pb").write_bytes(model_with("ReadFile").SerializeToString())
    found = program("saved-model", "scan", "bad")
    assert found.code == 3
    assert "ReadFile" in found.out
    assert program("saved-model", "scan", "bad", "--allow", "ReadFile").code == 0
    assert program("saved-model", "scan", "bad", "--sarif").out.startswith("{")
    denied = program("saved-model", "scan", "bad", "--op_denylist", "ReadFile")
    assert "contains the following denylisted ops: {'ReadFile'}" in denied.out


# ------------------------------------------------------------------------------------------------------------- changes

CHANGES = [
    ("rename-signature", "export/1", "serving_default", "score"),
    ("drop-signature", "export/1", "with_rate"),
    ("add-signature", "export/1", "logits", "--inputs", "x=x:0", "--outputs", "logits=logits:0"),
    ("rename-input", "export/1", "serving_default", "x", "features"),
    ("rename-output", "export/1", "serving_default", "prob", "probabilities"),
    ("add-output", "export/1", "serving_default", "logits", "logits:0"),
    ("drop-output", "export/1", "serving_default", "prob"),
    ("add-input", "export/1", "serving_default", "keep", "keep_prob:0"),
    ("drop-input", "export/1", "with_rate", "rate"),
    ("retag", "export/1", "serve", "serve,gpu"),
    ("drop-tags", "export/many", "train"),
    ("prune", "export/1", "serving_default"),
    ("strip", "export/1", "--devices", "--default-attrs"),
    ("freeze", "export/1"),
    ("set-variables", "export/1", "--values", "dense/bias=np.zeros(3,np.float32)"),
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: str(change[0]))
def test_a_change_goes_where_it_is_told_and_leaves_its_source_alone(
    program: Program, world: Path, change: tuple[str, ...]
) -> None:
    before = files(world / change[1])
    found = program("saved-model", *change, "--output", "export/2")
    assert (found.code, found.err) == (0, "")
    assert found.out.startswith("wrote export/2\n")
    assert files(world / change[1]) == before
    assert files(world / "export" / "2") != before
    with tk.load_saved_model(world / "export" / "2", "serve" if change[0] != "retag" else ["serve", "gpu"]) as model:
        assert model.describe()
    assert sorted(path.name for path in (world / "export").iterdir()) == ["1", "2", "many", "words"]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: str(change[0]))
def test_a_dry_run_changes_nothing(program: Program, world: Path, change: tuple[str, ...]) -> None:
    before = files(world)
    found = program("saved-model", *change, "--output", "export/2", "--dry-run")
    assert (found.code, found.err) == (0, "")
    assert found.out.startswith("would write export/2\n")
    assert files(world) == before


def test_a_dry_run_counts_what_would_go(program: Program) -> None:
    found = program("saved-model", "drop-signature", "export/1", "with_rate", "--output", "export/2", "--dry-run").out
    assert "\n  meta graphs 1 -> 1, signatures 2 -> 1, nodes 67 -> 67, functions 0 -> 0, bytes " in found
    pruned = program("saved-model", "prune", "export/1", "serving_default", "--output", "export/2", "--dry-run").out
    before, after = map(int, re.findall(r"nodes (\d+) -> (\d+)", pruned)[0])
    assert after < before == 67
    real = program("saved-model", "prune", "export/1", "serving_default", "--output", "export/2").out
    assert f"; {after} nodes\n" in real


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: str(change[0]))
def test_nothing_is_overwritten_without_force(program: Program, world: Path, change: tuple[str, ...]) -> None:
    before = files(world)
    for place in (("--output", "export/words"), ("--output", change[1]), ()):
        found = program("saved-model", *change, *place)
        assert (found.code, found.out) == (1, "")
        assert "--force" in found.err or "--output DIR" in found.err
    assert files(world) == before


def test_with_force_a_model_is_changed_in_its_place(program: Program, world: Path) -> None:
    assert program("saved-model", "rename-signature", "export/1", "serving_default", "score", "--force").code == 0
    with tk.load_saved_model(world / "export" / "1") as model:
        assert sorted(model.signatures) == ["score", "with_rate"]


def test_with_force_a_folder_is_replaced_by_the_new_one(program: Program, world: Path) -> None:
    command = ("saved-model", "freeze", "export/1", "--output", "export/words", "--force")
    assert program(*command).code == 0
    assert sorted(files(world / "export" / "words")) == ["saved_model.pb"]
    assert sorted(path.name for path in (world / "export").iterdir()) == ["1", "many", "words"]


def test_what_a_change_gives_is_said(program: Program) -> None:
    found = program("saved-model", "prune", "export/1", "serving_default", "--output", "export/2")
    assert found.out == "wrote export/2\n  serve: serving_default; 47 nodes\n"


def test_a_change_of_values_is_seen_by_those_who_run_it(program: Program) -> None:
    program("saved-model", "set-variables", "export/1", "--files", "dense/kernel=kernel.npy", "--output", "export/2")
    assert program("print", "export/2", "dense/kernel", "0").out == "[1. 1. 1.]\n"


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_values_that_a_model_has_no_variables_for_are_refused_in_a_dry_run_too(
    program: Program, world: Path, more: tuple[str, ...]
) -> None:
    values = "kernel=np.zeros(3);dense/bias=np.zeros(7,np.float32)"
    found = program("saved-model", "set-variables", "export/1", "--values", values, "--output", "export/2", *more)
    assert (found.code, found.out) == (1, "")
    assert 'there is no variable "kernel"; there are ' in found.err
    assert '"dense/bias" is float32 [3], got float32 (7,)' in found.err
    assert not (world / "export" / "2").exists()


def test_what_only_a_dropped_signature_used_is_said_to_stay(program: Program) -> None:
    found = program("saved-model", "drop-signature", "export/1", "with_rate", "--output", "export/2")
    assert found.out.endswith(
        '  nodes and functions that only "with_rate" used stay: `saved-model prune` leaves them out\n'
    )


def test_a_change_that_cannot_be_leaves_nothing_behind(program: Program, world: Path) -> None:
    found = program("saved-model", "rename-signature", "export/1", "nothing", "score", "--output", "export/2")
    assert found.code == 1
    assert found.err.startswith('error: no meta graph has a signature "nothing"')
    assert sorted(path.name for path in (world / "export").iterdir()) == ["1", "many", "words"]


def test_strip_wants_to_know_what(program: Program) -> None:
    found = program("saved-model", "strip", "export/1", "--output", "export/2")
    assert found == (1, "", "error: say what to leave out: --devices, --default-attrs, --objects\n")


def test_assets_are_copied_out_and_replaced(program: Program, world: Path) -> None:
    assert program("saved-model", "extract-assets", "export/words", "out").out == "wrote out/vocab.txt\n"
    assert (world / "out" / "vocab.txt").read_text() == "a\nb\n"
    assert program("saved-model", "extract-assets", "export/words", "out").code == 1
    refused = program("saved-model", "replace-asset", "export/words", "vocab.txt", "new.txt")
    assert (refused.code, refused.out) == (1, "")
    assert program("saved-model", "replace-asset", "export/words", "vocab.txt", "new.txt", "--force").code == 0
    run = program("saved-model", "run", "export/words", "--input_exprs", 'words=["a"]')
    assert run.out == "Result for output key numbers:\n[1]\n"


def test_requests_of_nothing_and_names_that_would_move_the_cursor_are_listed_too(program: Program, world: Path) -> None:
    log = PredictionLog()
    log.predict_log.request.model_spec.signature_name = "a\x1b[2Jb"
    path = world / "export" / "1" / "assets.extra" / "tf_serving_warmup_requests"
    path.parent.mkdir()
    path.write_bytes(encode_record(b"") + encode_record(log.SerializeToString()))
    assert program("saved-model", "warmup", "export/1", "--list").out == "empty\t\t\npredict_log\ta\\x1b[2Jb\t\n"


def test_warmup_writes_requests_that_are_then_listed(program: Program, world: Path) -> None:
    command = ("saved-model", "warmup", "export/1", "--inputs", "x=x.npy", "--count", "2")
    path = "export/1/assets.extra/tf_serving_warmup_requests"
    assert program(*command, "--dry-run").out == f"would write {path}: 2 requests of 76 B each\n"
    assert not (world / path).exists()
    assert program(*command) == (0, f"wrote {path}\n", "")
    assert len(read_warmup_requests(world / "export" / "1")) == 2
    assert program("saved-model", "warmup", "export/1", "--list").out == 2 * "predict_log\tserving_default\tx\n"
    assert program(*command).code == 1
    assert program(*command, "--force").code == 0
