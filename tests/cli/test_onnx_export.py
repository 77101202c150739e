"""What `tensorkeep convert` says of models that become ONNX files, and what it leaves on disk."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest

from tests.cli.conftest import Program
from tests.convert.onnx_models import X, expected, run_file, saved_model


@pytest.fixture
def model(world: Path) -> str:
    saved_model(world)
    return "model"


def test_a_model_is_exported_and_verified(program: Program, model: str, world: Path) -> None:
    found = program("convert", model, "m.onnx", "--verify", "--opset", "17")
    assert found.code == 0
    first, *lines = found.out.splitlines()
    assert first.startswith("wrote m.onnx (onnx): opset 17, ")
    assert lines[0] == "  input features: float [features_0, 3]"
    assert lines[2] == "  verified in 3 runs"
    assert lines[3].startswith("    scores: ")
    np.testing.assert_allclose(run_file(world / "m.onnx", features=X)["scores"], expected(), rtol=1e-6)


def test_options_that_say_what_is_exported(program: Program, model: str, world: Path) -> None:
    arguments = "--inputs p=product --outputs z=sum --shape p=?,4 --axis p=batch --metadata team=search --no-fold"
    assert program("convert", model, "m.onnx", *arguments.split()).code == 0
    found = onnx.load(str(world / "m.onnx"))
    dims = found.graph.input[0].type.tensor_type.shape.dim
    assert [dim.dim_param or dim.dim_value for dim in dims] == ["batch", 4]
    assert [item.name for item in found.graph.output] == ["z"]
    assert {item.key: item.value for item in found.metadata_props}["team"] == "search"


def test_a_checkpoint_with_the_graph_beside_it(program: Program, world: Path) -> None:
    assert program("convert", "run/model-1000", "m.onnx", "--outputs", "logits", "--inputs", "x").code == 0
    assert run_file(world / "m.onnx", x=np.ones((2, 4), np.float32))["logits"].shape == (2, 3)


def test_a_document_of_what_was_written(program: Program, model: str) -> None:
    found = json.loads(program("convert", model, "m.onnx", "--verify", "--json").out)
    assert found["schema"] == "tensorkeep.convert.onnx/1"
    assert found["files"] == ["m.onnx"]
    assert found["verification"]["outputs"][0]["output"] == "scores"
    assert {"node": "product", "op": "MatMul"}.items() <= found["nodes"][-3].items()


def test_a_report_is_written_as_text_or_as_json(program: Program, model: str, world: Path) -> None:
    assert program("convert", model, "m.onnx", "--report", "r.txt").code == 0
    assert "  product (MatMul): MatMul\n" in (world / "r.txt").read_text()
    assert program("convert", model, "m.onnx", "--report", "r.json", "--force").code == 0
    assert json.loads((world / "r.json").read_text())["signature"] == "serving_default"
    found = program("convert", model, "n.onnx", "--report", "r.txt")
    assert found == (1, "", 'error: "r.txt" is there already: say --force to replace it\n')
    assert not (world / "n.onnx").exists()


def test_explaining_writes_nothing(program: Program, model: str, world: Path) -> None:
    found = program("convert", model, "m.onnx", "--explain")
    assert "product\tMatMul\tMatMul\n" in found.out
    assert "would write m.onnx (onnx)" in found.out
    assert not (world / "m.onnx").exists()


def test_inputs_to_verify_with(program: Program, model: str, world: Path) -> None:
    np.savez(world / "inputs.npz", features=X)
    found = program("convert", model, "m.onnx", "--verify-inputs", "inputs.npz")
    assert "  verified in 1 run\n" in found.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("model m.onnx --signature servin", 'has no signature "servin"; it has "products", "serving_default"'),
        ("model m.onnx --opset 7", "opset 7 cannot be written: those from 13 to "),
        ("model m.onnx --shape features=2,9", 'the shape [2, 9] of "features" contradicts the graph'),
        ("model m.onnx --shape features=two", "--shape features=two: expected sizes with commas"),
        ("model m.onnx --outputs nothing", 'there is no output "nothing"'),
        ("model m.onnx --dtype float16", "ONNX is made of a model as it is: --dtype cannot be used"),
        ("model m.onnx --fold --no-fold", "--fold and --no-fold are both given"),
        ("run m.npz --opset 17", "--opset is for exporting to ONNX: the target ends in .onnx then"),
        ("nothing m.onnx", '"nothing" is neither a file with a graph, nor a SavedModel'),
        ("run/model-1000 m.onnx", "it is not said what comes out: name outputs"),
    ],
)
def test_mistakes_are_explained(program: Program, model: str, world: Path, arguments: str, message: str) -> None:
    found = program("convert", *arguments.split())
    assert found.code == 1
    assert message in found.err
    assert not list(world.glob("m.*"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--custom-op Tanh", "--custom-op: expected OP=DOMAIN, got 'Tanh'"),
        ("--shape features", "--shape: expected NAME=SIZES, got 'features'"),
        ("--metadata team", "--metadata: expected KEY=TEXT, got 'team'"),
        ("--shape features=1,3 --shape features=2,3", "'features' is given twice"),
        ("--report nowhere/report.txt", 'there is no folder "nowhere"'),
        ("--report m.onnx", "--report m.onnx: the model is written there; name another file"),
        ("--report ./m.onnx.data --force", "the model is written there; name another file"),
        ("--report /proc/report.txt", "/proc/report.txt"),
        ("--outputs ,", "--outputs names nothing: leave it out, or name what goes in or comes out"),
        ("--custom-op Tanh=my.domain --verify", 'it has no code for custom ops ("Tanh"), so leave out verify'),
    ],
)
def test_arguments_that_are_wrong_leave_no_file(
    program: Program, model: str, world: Path, arguments: str, message: str
) -> None:
    found = program("convert", model, "m.onnx", *arguments.split())
    assert found.code != 0
    assert message in found.err
    assert not (world / "m.onnx").exists()
