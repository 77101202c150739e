"""Files of other programs at every command that takes a source of tensors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import Program
from tests.convert.test_keras_archives import dense

TFLITE = b"\x1c\0\0\0TFL3" + bytes(50)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["list", "m.keras"], "first/kernel\tfloat32\t[2,3]\t6\t24"),
        (["show", "m.keras"], "kernel"),
        (["stats", "m.keras"], "first/kernel\t"),
        (["health", "m.keras"], "m.keras"),
        (["print", "m.keras", "first/kernel"], "[[0. 1. 2.]\n [3. 4. 5.]]\n"),
        (["convert", "m.keras", "m.npz", "--explain"], "first/kernel"),
    ],
)
def test_models_of_keras_are_sources_of_tensors(program: Program, command: list[str], said: str) -> None:
    Path("m.keras").write_bytes(dense())
    found = program(*command)
    assert found.code == 0
    assert said in found.out


def test_a_model_of_keras_equals_what_is_made_of_it(program: Program) -> None:
    Path("m.keras").write_bytes(dense())
    assert program("convert", "m.keras", "made/model.ckpt").code == 0
    assert program("diff", "m.keras", "made/model.ckpt").code == 0
    assert program("report", "m.keras", "page.html").code == 0
    assert "kernel" in Path("page.html").read_text()


def test_what_says_that_it_is_a_model_of_keras_and_what_is_in_it(program: Program) -> None:
    Path("m.keras").write_bytes(dense())
    found = json.loads(program("what", "m.keras", "--json").out)["paths"][0]
    assert found["kind"] == "a model of Keras 3 (.keras)"
    assert (found["facts"]["format"], found["facts"]["tensors"], found["facts"]["elements"]) == ("keras", 2, 9)


def test_presets_take_models_of_keras(program: Program) -> None:
    Path("m.keras").write_bytes(dense())
    assert program("convert", "m.keras", "m.npz", "--preset", "tensorflow-to-torch").code == 0
    with np.load("m.npz") as arrays:
        assert {name: arrays[name].shape for name in arrays} == {"first.weight": (3, 2), "first.bias": (3,)}


def test_what_says_what_to_do_with_a_tensorflow_lite_file(program: Program) -> None:
    Path("m.tflite").write_bytes(TFLITE)
    found = program("what", "m.tflite")
    assert found.code == 0
    assert "kind\ta TensorFlow Lite model\n" in found.out
    assert "tensorkeep does not read TensorFlow Lite: take the SavedModel" in found.out


@pytest.mark.parametrize("command", [["list"], ["stats"], ["health"], ["convert", "m.npz"]])
def test_commands_that_want_tensors_say_the_same_of_it(program: Program, command: list[str]) -> None:
    Path("m.tflite").write_bytes(TFLITE)
    name, *rest = command
    found = program(name, "m.tflite", *rest)
    assert found.code != 0
    assert "a TensorFlow Lite model: tensorkeep does not read TensorFlow Lite" in found.err
