"""What diff, graph, report, retain and scan print, to the letter, and what they leave on disk."""

from __future__ import annotations

import json
import os
import pickle
import shutil
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import tensorkeep as tk
from tests.cli.conftest import Program, assert_explained

# ---------------------------------------------------------------------------------------------------------------- diff

DIFF = """\
what     name                                   type and shape  differing  max  mean  relative  cosine
changed  dense/kernel                           float32 [2,2]           4    1     1         1       1
changed  dense/kernel/ExponentialMovingAverage  float32 [2,2]           4  0.5   0.5         1       1
changed  global_step                            int64 []                1    1     1         1       1
4 tensors the same, 3 changed
"""


def test_what_changed_is_lined_up(program: Program) -> None:
    assert program("diff", "train/model-1", "train/model-2", "--table") == (3, DIFF, "")


def test_what_is_the_same_is_told_by_the_exit_code(program: Program) -> None:
    assert program("diff", "run", "run/model-1000") == (0, "3 tensors the same; the graphs are the same\n", "")


def test_all_kinds_of_differences_are_told(program: Program, world: Path) -> None:
    tk.save_checkpoint(str(world / "a"), {"old": 1.0, "both": np.zeros(2), "same": np.int32(1), "text": [b"x", b"y"]})
    tk.save_checkpoint(str(world / "b"), {"new": 1.0, "both": np.zeros(3), "same": np.int32(1), "text": [b"x", b"z"]})
    assert program("diff", "a", "b") == (
        3,
        "removed\told\tfloat64 []\t-\t-\t-\t-\t-\n"
        "added\tnew\tfloat64 []\t-\t-\t-\t-\t-\n"
        "reshaped\tboth\tfloat64 [2] -> float64 [3]\t-\t-\t-\t-\t-\n"
        "changed\ttext\tstring [2]\t1\t0\t0\t-\t-\n",
        "",
    )


def test_numbers_that_are_close_are_the_same(program: Program, world: Path) -> None:
    tk.save_checkpoint(str(world / "a"), {"x": np.array([1.0, 2.0])})
    tk.save_checkpoint(str(world / "b"), {"x": np.array([1.0, 2.001])})
    assert program("diff", "a", "b").code == 3
    assert program("diff", "a", "b", "--tolerance", "0.01") == (0, "1 tensor the same\n", "")


def test_tensors_may_have_other_names(program: Program) -> None:
    assert program("diff", "run", "other/model").out == (
        "removed\tdense/kernel\tfloat32 [4,3]\t-\t-\t-\t-\t-\nadded\tdense/weights\tfloat32 [4,3]\t-\t-\t-\t-\t-\n"
    )
    assert program("diff", "run", "other/model", "--rename", "dense/kernel=dense/weights").code == 0
    found = program("diff", "run", "other/model", "--rename", "no=dense/weights")
    assert found == (1, "", "error: --rename: there is no tensor 'no'\n")


def test_graphs_are_compared_node_by_node(program: Program) -> None:
    lines = program("diff", "export/1", "export/many").out.splitlines()
    assert "graph serve: removed global_step (VariableV2)" in lines
    assert "graph serve: added save/StaticRegexFullMatch (StaticRegexFullMatch)" in lines
    assert (
        "graph serve: changed save/restore_all: inputs ^save/Assign, ^save/Assign_1, ^save/Assign_2 -> "
        in "\n".join(lines)
    )
    assert "graph serve: removed signature with_rate" in lines
    assert "and 28 more, which --json lists" in lines
    assert not [
        line for line in program("diff", "export/1", "export/many", "--no-graph").out.splitlines() if "gr" in line[:2]
    ]


def test_other_files_of_tensors_are_compared_too(program: Program, world: Path) -> None:
    np.savez(world / "run.npz", **tk.load_tensors(str(world / "run")))
    assert program("diff", "run/model-1000", "run.npz") == (0, "3 tensors the same\n", "")


def test_a_run_is_told_by_how_far_tensors_moved(program: Program, world: Path) -> None:
    found = program("diff", *(f"moving/model-{step}" for step in (1, 2, 3)), "--plot", "drift.svg", "--table")
    assert found == (
        0,
        "name   model-2   model-3   total\n"
        "fast         1         1       3\n"
        "slow  0.009901  0.009804  0.0198\n"
        "wrote drift.svg\n",
        "",
    )
    drawn = ElementTree.fromstring((world / "drift.svg").read_text())
    texts = [item.text for item in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert {"fast", "slow", "model-2", "model-3"} <= set(texts)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("diff run", "say what shall be compared: at least two paths"),
        ("diff run run --plot x.svg", "--plot shows how tensors move from one to the next: name three or more"),
        ("diff run run run --tolerance 1", "--rename and --tolerance are for two checkpoints, not for a run of them"),
        ("diff run run run --plot x.npy", '"x.npy" is there already: say --force to replace it'),
        ("diff run nowhere", '"nowhere" holds no checkpoint'),
        ("graph nowhere", '"nowhere" holds no checkpoint'),
        ("graph train/model-1", '"train/model-1" has no graph: a checkpoint has one in the file'),
        ("graph export/1 --svg x.npy", '"x.npy" is there already: say --force to replace it'),
        ("graph export/1 --tag_set train", "there is no graph with the tags 'train'; there are 'serve'"),
        ("graph export/many --svg a.svg", "there are several graphs: say which to draw, --tag_set of 'train', 'serve'"),
        ("graph export/1 --boxes 0", "--boxes: expected at least 1, got 0"),
        ("report run x.npy", '"x.npy" is there already: say --force to replace it'),
        ("report run x.npy --force", '"x.npy" is a NumPy array (.npy), which is not written over, not even with'),
        ("report run run/model-1000.index --force", '"run/model-1000.index" is the index of a checkpoint'),
        ("report run run/model-1000.data-00000-of-00001 --force", '"run/model-1000.data-00000-of-00001" is a data'),
        ("report run export --force", '"export" is a folder: name a file in it'),
        ("graph export/1 --svg export/1/saved_model.pb --force", '"export/1/saved_model.pb" is a SavedModel, which'),
        ("sign export/1 export/1/saved_model.pb --force", '"export/1/saved_model.pb" is a SavedModel, which'),
        ("diff run run run --plot run/model-1000.meta --force", '"run/model-1000.meta" is a MetaGraphDef'),
        ("retain train", "say what shall be kept: --latest, --every-steps, --every-hours, --best or --max-bytes"),
        ("retain train --best loss:most", "--best: expected METRIC, METRIC:max or METRIC:max:3, got 'loss:most'"),
        ("retain train --latest 1 --pin no", '"train" has no checkpoint no; there are model-1, model-2'),
        ("retain nowhere --latest 1", 'there is no folder "nowhere"'),
        ("scan nowhere export/no*", "there is nothing at 'nowhere', 'export/no*'"),
    ],
)
def test_mistakes_are_explained(program: Program, world: Path, arguments: str, message: str) -> None:
    assert_explained(program, world, arguments, message)


def test_graphs_without_tensors_are_compared_too(program: Program, world: Path) -> None:
    for name in ("a.meta", "b.meta"):
        shutil.copy(world / "run" / "model-1000.meta", world / name)
    assert program("diff", "a.meta", "b.meta") == (0, "0 tensors the same; the graphs are the same\n", "")
    assert program("diff", "a.meta", "export/1").code == 3


# --------------------------------------------------------------------------------------------------------------- graph


def test_a_graph_is_told_by_ends_ops_and_costs(program: Program) -> None:
    found = program("graph", "export/1", "--table")
    assert found.code == 0
    assert found.out.startswith(
        "tags        serve\n"
        "nodes       67\n"
        "functions   0\n"
        "bytes       8.77 kB\n"
        "operations  51 if all runs once, for one example\n"
        "\n"
        "signature serving_default\n"
        "end     name  type     shape  tensor\n"
        "input   x     float32  [?,4]  x:0\n"
        "output  cls   int64    [?]    cls:0\n"
        "output  prob  float32  [?,3]  prob:0\n"
    )
    assert "\nMatMul                      1    154 B          24\n" in found.out


def test_a_graph_without_signatures_has_placeholders(program: Program) -> None:
    lines = program("graph", "run/model-1000").out.splitlines()
    assert "ends" in lines
    assert "input\tx\tfloat32\t[?,4]\tx:0" in lines
    assert "output\tprob\t-\t-\tprob" in lines


def test_a_graph_is_drawn(program: Program, world: Path) -> None:
    found = program("graph", "export/1", "--dot", "g.dot", "--svg", "g.svg", "--boxes", "20")
    assert found.out.endswith("wrote g.dot\nwrote g.svg\n")
    assert (world / "g.dot").read_text().startswith("digraph {\n")
    assert ElementTree.fromstring((world / "g.svg").read_text()).tag.endswith("svg")


def test_a_dry_run_draws_nothing(program: Program, world: Path) -> None:
    before = sorted(world.rglob("*"))
    assert program("graph", "export/1", "--svg", "g.svg", "--dry-run").out.endswith("would write g.svg\n")
    run = [f"moving/model-{step}" for step in (1, 2, 3)]
    assert program("diff", *run, "--plot", "d.svg", "--dry-run", "--table").out.endswith("would write d.svg\n")
    assert sorted(world.rglob("*")) == before


def test_several_graphs_are_told_one_after_the_other(program: Program) -> None:
    out = program("graph", "export/many").out
    assert out.index("tags\ttrain\n") < out.index("tags\tserve\n")
    assert "tags\ttrain" not in program("graph", "export/many", "--tag_set", "serve").out


# ---------------------------------------------------------------------------------------------------------------- scan


def test_a_pickle_that_is_named_is_found_as_in_a_folder(program: Program, world: Path) -> None:
    (world / "evil").mkdir()
    (world / "evil" / "a.pkl").write_bytes(pickle.dumps({"call": print}))
    for path in ("evil", "evil/a.pkl"):
        found = program("scan", path)
        assert found.code == 3
        assert "a.pkl: a pickle, which runs Python code when it is loaded" in found.out


def test_in_files_of_numbers_alone_nothing_is_found(program: Program) -> None:
    assert program("convert", "run", "m.safetensors").code == 0
    for path in ("m.safetensors", "x.npy", "run/model-1000.index", "run/checkpoint"):
        said = f"{path}: nothing found\n1 model or file looked at, 0 findings\n"
        assert program("scan", path) == (0, said, "")


def test_a_checkpoint_is_scanned_by_its_prefix_with_the_graph_beside_it(program: Program) -> None:
    assert program("scan", "run/model-1000").out.splitlines()[:2] == [
        "run/model-1000.meta: nothing found",
        "run/model-1000.index: nothing found",
    ]
    assert program("scan", "train/model-1").code == 0


# -------------------------------------------------------------------------------------------------------------- report


def test_a_report_is_one_page(program: Program, world: Path) -> None:
    found = program("report", "export/1", "out.html")
    size = (world / "out.html").stat().st_size
    assert found == (0, f"wrote out.html, {size / 1000:.3g} kB: 3 tensors, 1 graph, 0 findings\n", "")
    assert "dense/kernel" in (world / "out.html").read_text()


def test_a_dry_run_writes_no_page(program: Program, world: Path) -> None:
    assert program("report", "run", "out.html", "--dry-run").out.startswith("would write out.html, ")
    assert not (world / "out.html").exists()


# -------------------------------------------------------------------------------------------------------------- retain


@pytest.fixture
def dated(world: Path) -> None:
    for step in (1, 2):
        os.utime(world / "train" / f"model-{step}.index", (3600 * step, 3600 * step))


@pytest.mark.usefixtures("dated")
def test_what_would_be_deleted_is_listed_first(program: Program, world: Path) -> None:
    before = sorted((world / "train").iterdir())
    assert program("retain", "train", "--latest", "1", "--table") == (
        0,
        "what    checkpoint  step  saved                bytes\n"
        "delete  model-1        1  1970-01-01 01:00:00  411 B\n"
        "keep    model-2        2  1970-01-01 02:00:00  411 B\n"
        "1 checkpoint to delete, 411 B; --force deletes them\n",
        "",
    )
    assert sorted((world / "train").iterdir()) == before


@pytest.mark.usefixtures("dated")
def test_it_is_deleted_when_told_so(program: Program, world: Path) -> None:
    assert program("retain", "train", "--latest", "1", "--force").out == (
        "deleted\tmodel-1\t1\t1970-01-01 01:00:00\t411\nkeep\tmodel-2\t2\t1970-01-01 02:00:00\t411\n"
    )
    assert not (world / "train" / "model-1.index").exists()
    assert tk.latest_checkpoint("train") == "train/model-2"
    assert program("verify", "train/model-2").code == 0


@pytest.mark.usefixtures("dated")
@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        ("--latest 2", 2),
        ("--every-steps 1", 2),
        ("--every-hours 5", 2),
        ("--every-hours 5 --max-bytes 500", 1),
        ("--best loss", 2),  # nobody has told their losses
        ("--latest 1 --pin model-1", 2),
        ("--max-bytes 1kB", 2),
    ],
)
def test_rules_are_understood(program: Program, arguments: str, kept: int) -> None:
    lines = program("retain", "train", *arguments.split()).out.splitlines()
    assert sum(line.startswith("keep\t") for line in lines) == kept


def test_a_folder_without_checkpoints_has_nothing_to_delete(program: Program, world: Path) -> None:
    (world / "empty").mkdir()
    assert program("retain", "empty", "--latest", "1") == (0, "there are no checkpoints in empty\n", "")


# ---------------------------------------------------------------------------------------------------------------- scan


def test_all_models_below_a_folder_are_scanned(program: Program) -> None:
    assert program("scan", "export", "run") == (
        0,
        "export/1: nothing found\n"
        "export/many: nothing found\n"
        "export/words: nothing found\n"
        "run/model-1000.meta: nothing found\n"
        "4 models and files looked at, 0 findings\n",
        "",
    )
    assert program("scan", "export/[1m]*").out.endswith("2 models and files looked at, 0 findings\n")


def test_what_is_found_is_told_with_its_file(program: Program, world: Path) -> None:
    (world / "run" / "notes.pkl").write_bytes(pickle.dumps({"a": print}))
    found = program("scan", "run")
    assert found.code == 3
    assert "run/notes.pkl: a pickle, which runs Python code when it is loaded" in found.out
    assert found.out.endswith(" looked at, 1 finding\n")


def test_a_folder_of_variables_is_no_hiding_place(program: Program, world: Path) -> None:
    (world / "variables").mkdir()
    (world / "variables" / "notes.pkl").write_bytes(pickle.dumps({"a": print}))
    assert program("scan", "variables").code == 3


def test_what_cannot_be_looked_at_has_a_code_of_its_own(program: Program, world: Path) -> None:
    (world / "export" / "1" / "saved_model.pb").write_bytes(b"\xff" * 40)
    assert program("scan", "export").code == 4


def test_sarif_has_the_findings_of_all(program: Program, world: Path) -> None:
    for name in ("one", "two"):
        (world / "run" / f"{name}.pkl").write_bytes(pickle.dumps({"a": print}))
    document = json.loads(program("scan", "run", "--sarif").out)
    places = [
        item["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for item in document["runs"][0]["results"]
    ]
    assert (document["version"], places) == ("2.1.0", ["run/one.pkl", "run/two.pkl"])
