"""What `tensorkeep convert` prints, to the letter, and what it leaves on disk."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tensorkeep as tk
from tests.cli.conftest import Program, assert_explained
from tests.support.golden import ROOT


def test_the_end_of_the_name_says_the_format(program: Program, world: Path) -> None:
    assert program("convert", "run", "m.npz") == (0, "wrote m.npz (npz): 3 tensors, 68 B\n", "")
    with np.load(world / "m.npz") as found:
        assert sorted(found) == ["dense/bias", "dense/kernel", "global_step"]


def test_there_and_back(program: Program) -> None:
    assert program("convert", "run", "m.safetensors").code == 0
    assert program("convert", "m.safetensors", "back/model").code == 0
    assert program("diff", "run/model-1000", "back/model", "--no-graph").code == 0


def test_an_explanation_writes_nothing(program: Program, world: Path) -> None:
    found = program("convert", "run", "m.safetensors", "--preset", "tensorflow-to-torch", "--explain")
    assert found.code == 0
    assert "dense/kernel\tdense.weight\tfloat32\t[3,4]\t" in found.out
    assert not (world / "m.safetensors").exists()


def test_an_explanation_is_a_document_too(program: Program) -> None:
    found = json.loads(program("convert", "run", "m.npz", "--map", "dense/bias=b", "--explain", "--json").out)
    assert found["schema"] == "tensorkeep.convert.explain/1"
    assert [item["name"] for item in found["tensors"]] == ["b", "dense/kernel", "global_step"]


def test_a_proof_is_written_beside_the_result(program: Program, world: Path) -> None:
    assert program("convert", "run", "m.npz", "--prove").out == "wrote m.npz (npz): 3 tensors, 68 B, proven\n"
    assert (world / "m.npz.proof.json").exists()


def test_some_tensors_by_other_names(program: Program, world: Path) -> None:
    assert program("convert", "run", "m.npz", "--match", "dense/*", "--map", "dense/bias=b").code == 0
    with np.load(world / "m.npz") as found:
        assert sorted(found) == ["b", "dense/kernel"]


def test_presets_are_listed(program: Program) -> None:
    lines = program("presets").out.splitlines()
    assert any(line.startswith("tensorflow-to-torch\t") for line in lines)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("convert run m.npz --preset nonsense", "there is no preset 'nonsense'; there are "),
        ("convert run m.npz --preset bertt", "there is no preset 'bertt'; did you mean \"bert\"?"),
        ("convert run x.npy", None),
        ("convert nothing m.npz", None),
    ],
)
def test_mistakes_are_explained(program: Program, world: Path, arguments: str, message: str | None) -> None:
    assert_explained(program, world, arguments, message or "")


def test_nothing_is_replaced_without_force(program: Program) -> None:
    assert program("convert", "run", "m.npz").code == 0
    assert program("convert", "train/model-2", "m.npz") == (
        1,
        "",
        'error: "m.npz" is there already: say --force to replace it\n',
    )
    assert program("convert", "train/model-2", "m.npz", "--force").code == 0
    assert len(tk.convert.open_tensors("m.npz")) == 7


def test_a_checkpoint_of_the_other_format_is_not_removed_unasked(program: Program, world: Path) -> None:
    """Where both are, V2 is read: a V1 checkpoint takes its place."""
    before = sorted((world / "run").iterdir())
    found = program("convert", "train/model-1", "run/model-1000", "--to", "checkpoint-v1")
    assert found.code == 1
    assert found.err.startswith('error: "run/model-1000.index" is there already: say --force to replace it')
    assert sorted((world / "run").iterdir()) == before


def test_numbers_become_of_another_type_on_the_way(program: Program) -> None:
    assert program("convert", "run", "m.npz", "--dtype", "float16", "--prove").out.endswith(
        " B, proven\n  cast 2 tensors: 0 of 15 numbers lost, 0 rounded\n"
    )
    with tk.convert.open_tensors("m.npz") as found:
        assert {name: found[name].dtype.name for name in found} == {
            "dense/bias": "float16",
            "dense/kernel": "float16",
            "global_step": "int64",
        }


@pytest.mark.parametrize("part", ["index", "meta", "data-00000-of-00001"])
def test_a_checkpoint_is_converted_by_any_of_its_files(program: Program, part: str) -> None:
    found = program("convert", f"run/model-1000.{part}", "m.npz")
    assert (found.code, found.out) == (0, "wrote m.npz (npz): 3 tensors, 68 B\n")


def test_a_checkpoint_of_the_first_version_in_several_files_goes_by_the_path_it_was_saved_to(program: Program) -> None:
    path = str(ROOT / "g11_v1_sharded3" / "v1s-9")
    assert program("convert", path, "m.npz") == (0, "wrote m.npz (npz): 6 tensors, 72 B\n", "")
    assert ": 4 files, " in program("sign", path, "m.json").out


def test_of_a_model_as_a_whole_no_tensors_are_counted(program: Program) -> None:
    found = program("convert", "run/model-1000", "frozen.pb", "--outputs", "prob")
    assert found == (0, "wrote frozen.pb (frozen graph)\n", "")


def test_files_do_not_appear_beside_a_folder_that_is_named(program: Program, world: Path) -> None:
    for arguments in (("convert", "run", "export"), ("rename", "run", "train", "--add-scope", "x")):
        name = arguments[2]
        said = f'error: "{name}" is a folder; say under which name in it: "{name}/model"\n'
        assert program(*arguments) == (1, "", said)
    assert not list(world.glob("*.index"))
