"""Models made of graphs and checkpoints, and of functions, in memory; what is wrong leaves nothing behind."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import tensorkeep as tk
import tensorkeep.v1 as functions
from tensorkeep.checkpoint.saving import save_checkpoint
from tensorkeep.errors import InvalidArgumentError, NotFoundError, WrongTypeError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.graph.messages.graph_def import export_graph
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.saved_model.export.graph_exporting import from_checkpoint, from_function
from tensorkeep.shapes import Shape
from tensorkeep.tf1.variables.variable import Variable
from tests.saved_model.handmade import FLOAT, placeholder

VALUES = {"w": np.array([[1.0], [2.0]], np.float32), "b": np.array([0.5], np.float32)}
SIGNATURE = {"serving_default": ({"x": "x:0"}, {"y": "y"})}


def affine_graph() -> Graph:
    """x @ w + b, with a reference variable and a resource."""
    with building(Graph()) as graph:
        x = placeholder("x", None, 2)
        w = get_op("VariableV2")(shape=Shape((2, 1)), dtype=FLOAT, name="w")
        b = get_op("VarHandleOp")(shape=Shape((1,)), dtype=FLOAT, shared_name="b", name="b")
        product = get_op("MatMul")(x, get_op("Identity")(w))
        get_op("AddV2")(product, get_op("ReadVariableOp")(b, dtype=FLOAT), name="y")
    return graph


@pytest.fixture
def fs() -> MemoryFileSystem:
    made = MemoryFileSystem()
    save_checkpoint("ckpt/model", VALUES, fs=made)
    return made


@pytest.mark.parametrize("as_message", [False, True])
def test_a_graph_and_a_checkpoint_are_a_model(fs: MemoryFileSystem, as_message: bool) -> None:
    graph = affine_graph()
    before = export_graph(graph)
    from_checkpoint(before if as_message else graph, "ckpt/model", SIGNATURE, "model", fs=fs)
    assert export_graph(graph) == before
    with tk.load_saved_model("model", fs=fs) as model:
        assert model.signatures["serving_default"](x=[[1, 1]])["y"].tolist() == [[3.5]]
        assert model.variables["w"].tolist() == [[1.0], [2.0]]


def test_exporters_are_found_from_the_package() -> None:
    script = "import tensorkeep; print(tensorkeep.saved_model.from_checkpoint.__module__)"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout == "tensorkeep.saved_model.export.graph_exporting\n"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        tk.saved_model.nothing  # noqa: B018


def test_everything_that_a_checkpoint_lacks_is_named_and_nothing_is_written(fs: MemoryFileSystem) -> None:
    save_checkpoint("ckpt/other", {"unrelated": np.ones(1)}, fs=fs)
    with pytest.raises(NotFoundError, match=r"no values for w, b \(2 of 2 variables\); it has unrelated"):
        from_checkpoint(affine_graph(), "ckpt/other", SIGNATURE, "model", fs=fs)
    assert not fs.exists("model/saved_model.pb")


def test_tensors_that_the_graph_does_not_have_are_all_named(fs: MemoryFileSystem) -> None:
    with pytest.raises(NotFoundError, match=r'signature "s": the graph has no "q:0" for a, no "r" for c'):
        from_checkpoint(affine_graph(), "ckpt/model", {"s": ({"a": "q:0"}, {"c": "r"})}, "model", fs=fs)
    assert not fs.exists("model/saved_model.pb")


def test_a_graph_without_variables_needs_no_checkpoint(fs: MemoryFileSystem) -> None:
    with building(Graph()) as graph:
        get_op("Identity")(placeholder("x", None), name="y")
    with pytest.raises(InvalidArgumentError, match="no variables"):
        from_checkpoint(graph, "ckpt/model", SIGNATURE, "model", fs=fs)


def test_a_function_is_a_model_with_the_first_values_of_its_variables() -> None:
    fs = MemoryFileSystem()

    def scaled(x: Tensor) -> dict[str, Tensor]:
        return {"y": get_op("MatMul")(x, Variable(VALUES["w"], name="w", use_resource=True))}

    from_function(scaled, {"x": (FLOAT, [None, 2])}, "model", fs=fs)
    with tk.load_saved_model("model", fs=fs) as model:
        assert model.signatures["serving_default"](x=[[1, 1]])["y"].tolist() == [[3.0]]


@pytest.mark.parametrize("result", [None, {}, [1], {"y": 1}])
def test_a_function_that_gives_no_tensors_is_no_model(result: Any) -> None:
    fs = MemoryFileSystem()
    with pytest.raises(WrongTypeError, match="gives a tensor, several, or a dict of tensors"):
        from_function(lambda x: result, {"x": (FLOAT, [None])}, "model", fs=fs)
    assert not fs.exists("model")


def test_a_function_may_take_nothing_and_give_several_tensors() -> None:
    fs = MemoryFileSystem()
    from_function(lambda: (functions.constant([1, 2]), functions.constant(3.0)), {}, "model", fs=fs)
    with tk.load_saved_model("model", fs=fs) as model:
        found = model.signatures["serving_default"]()
        assert (found["output_0"].tolist(), float(found["output_1"])) == ([1, 2], 3.0)


def test_inputs_may_have_names_that_nodes_cannot_have() -> None:
    fs = MemoryFileSystem()
    inputs = {name: ("float32", []) for name in ("my input", "my_input", "ü", "_x", "a/b")}
    from_function(lambda **given: {"sum of all": functions.add_n(list(given.values()))}, inputs, "model", fs=fs)
    with tk.load_saved_model("model", fs=fs) as model:
        given = {name: float(10**place) for place, name in enumerate(inputs)}
        assert model.signatures["serving_default"](**given)["sum of all"] == 11111


def test_a_sparse_tensor_is_an_output() -> None:
    fs = MemoryFileSystem()
    from_function(lambda x: {"s": functions.sparse.from_dense(x)}, {"x": ("float32", [None])}, "model", fs=fs)
    with tk.load_saved_model("model", fs=fs) as model:
        found = model.signatures["serving_default"](x=[0.0, 5.0])["s"]
        assert (found.indices.tolist(), found.values.tolist(), found.dense_shape.tolist()) == ([[1]], [5.0], [2])


def test_a_signature_that_is_no_pair_is_an_error(fs: MemoryFileSystem) -> None:
    with pytest.raises(WrongTypeError, match='signature "a" must be a pair of dicts'):
        from_checkpoint(affine_graph(), "ckpt/model", {"a": {"x": "x:0"}}, "model", fs=fs)  # type: ignore[dict-item]
