"""Models that TensorFlow wrote, by both engines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.cli.main import main
from tensorkeep.errors import InvalidArgumentError, TensorKeepError
from tensorkeep.onnx.engine.options import OnnxRuntime
from tensorkeep.saved_model.load.model_loading import load_saved_model
from tensorkeep.saved_model.load.opened_graph import open_graph
from tests.support.golden import golden

MODELS = ("g26_tf1_simple_save", "g28_tf2_module", "g29_keras_dense", "g30_keras_conv_bn", "g31_keras_lstm",
          "g32_keras_strings", "g33_tf2_composite")  # fmt: skip
EVERYTHING = OnnxRuntime(threads=1, smallest=0)


def folder_of(case: str) -> str:
    return str(next(path.parent for path in sorted(golden(case).rglob("saved_model.pb"))))


def some_input(spec: Any, rows: int) -> Any:
    """An array that an input takes."""
    dims = [rows if size is None else size for size in (spec.shape.dims or ())]
    random = np.random.default_rng(rows)
    if spec.dtype.name == "string":
        return random.choice(np.array([b"red", b"green", b"x y"], object), size=dims)
    if spec.dtype.is_integer:
        return random.integers(0, 3, size=dims).astype(spec.dtype.array_dtype)
    return random.normal(size=dims).astype(spec.dtype.array_dtype)


@pytest.mark.parametrize("case", MODELS)
def test_both_engines_give_the_same(case: str) -> None:
    asked = 0
    with load_saved_model(folder_of(case)) as ours, load_saved_model(folder_of(case), engine=EVERYTHING) as theirs:
        for name, signature in ours.signatures.items():
            for rows in (1, 3):
                try:
                    given = {key: some_input(spec, rows) for key, spec in signature.inputs.items()}
                    wanted = signature(**given)
                except (AttributeError, TensorKeepError):
                    continue  # of composite values, or of values that it refuses
                found = theirs.signatures[name](**given)
                asked += 1
                assert found.keys() == wanted.keys()
                for key, value in wanted.items():
                    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
                        np.testing.assert_allclose(found[key], value, rtol=1e-4, atol=1e-5)
                        assert found[key].dtype == value.dtype
    assert asked or case == "g33_tf2_composite"


def test_a_model_tells_what_runs_where() -> None:
    with load_saved_model(folder_of("g29_keras_dense"), engine=EVERYTHING) as model:
        text = model.describe()
    assert "\nEngine\n" in text
    assert "ONNX Runtime runs" in text
    assert " operations, in " in text


def test_our_own_engine_needs_no_words() -> None:
    with load_saved_model(folder_of("g29_keras_dense")) as model:
        assert "Engine" not in model.describe()


def test_an_engine_that_is_not_there_is_an_error_before_anything_is_read() -> None:
    with pytest.raises(InvalidArgumentError, match="there is no engine 'cuda'"):
        load_saved_model("nowhere", engine="cuda")
    with pytest.raises(InvalidArgumentError, match="there is no engine 'cuda'"):
        open_graph("nowhere", engine="cuda")


def test_a_graph_is_opened_with_an_engine() -> None:
    folder = folder_of("g26_tf1_simple_save")
    with open_graph(folder) as ours, open_graph(folder, engine=EVERYTHING) as theirs:
        ours.restore()
        theirs.restore()
        name, spec = next(iter(ours.inputs.items()))
        kinds = ("MatMul", "Add", "BiasAdd", "Mul")
        fetched = next(op.name for op in reversed(ours.graph.operations) if op.type in kinds)
        given = {name: some_input(spec, 2)}
        try:
            wanted = ours.run(fetched, given)
        except TensorKeepError as error:
            with pytest.raises(type(error)):
                theirs.run(fetched, given)
        else:
            np.testing.assert_allclose(theirs.run(fetched, given), wanted, rtol=1e-5)


@pytest.mark.parametrize("engine", ["numpy", "onnxruntime", "auto"])
def test_the_command_line_takes_an_engine(engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["saved-model", "run", folder_of("g29_keras_dense"), "--engine", engine]
    assert main([*arguments, "--input_exprs", "a=np.ones((3,4));b=np.ones((3,2))"]) == 0
    assert "Result for output key" in capsys.readouterr().out
