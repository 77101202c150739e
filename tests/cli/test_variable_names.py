"""Models of Keras on the command line: variables by the names that Keras gave them, each once, everywhere."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tensorkeep as tk
from tests.cli.conftest import Program
from tests.support.golden import golden

MODEL = str(golden("g29_keras_dense") / "model")
NAMES = [
    *("h/bias", "h/kernel", "probs/bias", "probs/kernel", "score/bias", "score/kernel"),
    "seed_generator/seed_generator_state",
]
KEY = "_all_variables/0/.ATTRIBUTES/VARIABLE_VALUE"


def test_list_names_every_variable_once_and_says_that_keras_stores_them_twice(program: Program) -> None:
    found = program("list", MODEL, "--names")
    assert found.out.split() == NAMES
    assert found.err == "note: 6 variables are stored twice, as Keras exports have them, and listed once\n"


def test_list_tells_keys_to_programs_and_lists_them_if_it_is_asked_to(program: Program) -> None:
    tensors = json.loads(program("list", MODEL, "--json").out)["tensors"]
    assert {item["name"]: item["key"] for item in tensors}["h/kernel"] == "variables/0/.ATTRIBUTES/VARIABLE_VALUE"
    keys = program("list", MODEL, "--names", "--keys").out.split()
    assert KEY in keys
    assert "_CHECKPOINTABLE_OBJECT_GRAPH" in keys


@pytest.mark.parametrize("command", ["stats", "show"])
def test_others_that_go_through_tensors_name_them_so_too(program: Program, command: str) -> None:
    data = json.loads(program(command, MODEL, "--json").out)
    assert [item["name"] for item in data["tensors"]] == NAMES


def test_print_takes_the_name_and_the_key(program: Program) -> None:
    assert program("print", MODEL, "h/bias").out == program("print", MODEL, KEY.replace("/0/", "/3/")).out


def test_diff_compares_variables_by_name_whatever_the_objects_were(program: Program, world: Path) -> None:
    assert program("objects-to-names", MODEL, "plain/model").code == 0
    found = program("diff", MODEL, "plain/model", "--no-graph")
    assert (found.code, found.out) == (0, "7 tensors the same\n")


def test_objects_to_names_stores_once_what_keras_stores_twice(program: Program, world: Path) -> None:
    program("objects-to-names", MODEL, "plain/model")
    assert tk.list_tensors("plain/model").keys() == set(NAMES)


def test_convert_writes_variables_by_name_and_explains_what_it_leaves_out(program: Program, world: Path) -> None:
    assert program("convert", MODEL, "x.npz", "--prove").code == 0
    with np.load("x.npz") as arrays:
        assert sorted(arrays) == NAMES
    left_out = json.loads(program("convert", MODEL, "x.npz", "--explain", "--json").out)["left_out"]
    assert left_out[KEY] == 'it is "h/kernel" once more'


def test_presets_know_the_layers_of_keras(program: Program) -> None:
    explained = json.loads(
        program("convert", MODEL, "x.npz", "--explain", "--json", "--preset", "tensorflow-to-torch").out
    )
    shapes = {item["name"]: item["shape"] for item in explained["tensors"]}
    assert shapes["h.weight"] == [8, 6]


def test_the_preset_of_paths_still_gives_paths(program: Program) -> None:
    explained = json.loads(program("convert", MODEL, "x.npz", "--explain", "--json", "--preset", "object-paths").out)
    assert "variables/0" in [item["name"] for item in explained["tensors"]]


def test_the_report_shows_the_names_and_no_key(program: Program, world: Path) -> None:
    assert program("report", MODEL, "out.html").code == 0
    page = Path("out.html").read_text()
    assert "h/<wbr>kernel" in page or "h/kernel" in page
    assert "ATTRIBUTES" not in page


def test_names_that_cannot_be_read_leave_the_keys_and_are_told(program: Program, world: Path) -> None:
    tk.save_objects("o/ckpt", {"w": np.ones(2, np.float32)})
    Path("o/ckpt.data-00000-of-00001").write_bytes(b"")
    found = program("list", "o/ckpt", "--names")
    assert "w/.ATTRIBUTES/VARIABLE_VALUE" in found.out.split()
    assert found.err.startswith("note: the names of variables cannot be read, and keys are listed: ")


def test_edits_choose_variables_by_name_or_key_and_both_where_keras_has_two(program: Program, world: Path) -> None:
    assert program("drop", MODEL, "dropped/m", "--match", "h/*").code == 0
    assert program("list", "dropped/m", "--names").out.split() == [name for name in NAMES if not name.startswith("h/")]
    assert program("keep", MODEL, "kept/m", "--match", "*/kernel", "--exclude", "h/*").code == 0
    assert program("list", "kept/m", "--names").out.split() == ["probs/kernel", "score/kernel"]
    assert program("cast", MODEL, "cast/m", "--dtype", "float64", "--match", "variables/0/*").code == 0
    types = {item["key"]: item["dtype"] for item in json.loads(program("list", "cast/m", "--json").out)["tensors"]}
    assert types["variables/0/.ATTRIBUTES/VARIABLE_VALUE"] == "float64"


def test_an_edit_says_which_names_there_are_not(program: Program) -> None:
    found = program("drop", MODEL, "dropped/m", "--match", "nothing/*")
    assert found.err.startswith('error: no tensor fits "nothing/*"; there are ')
