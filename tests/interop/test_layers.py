"""`tf.layers` beside TensorFlow's: the same programs make the same graphs and give the same results.

TensorFlow's own runs in another process, which has Keras 2 for its Keras; see legacy_layers.py.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tensorkeep.v1 as v1
from tensorkeep.graph import building
from tensorkeep.graph.graph import Graph, Operation
from tensorkeep.tf1 import layers
from tensorkeep.tf1.functions.structures import flatten
from tensorkeep.tf1.layers import cell_wrappers, cells, recurrent
from tensorkeep.tf1.variables.template import make_template
from tests.interop.graph_comparison import assert_same_nodes, our_nodes
from tests.interop.layer_programs import COLLECTIONS, PROGRAMS, SEED, STEPS, feeds
from tests.interop.legacy_layers import parameters

# Where the same program makes another graph, or gives other numbers, and why.
DIFFERENCES: dict[str, str] = {}


_CELLS = {name: getattr(module, name) for module in (cells, cell_wrappers) for name in module.__all__}


class _Module:
    """A module's names, and more."""

    def __init__(self, module: Any, **more: Any) -> None:
        self._module = module
        self.__dict__.update(more)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


_NN = _Module(
    v1.nn, rnn_cell=SimpleNamespace(**_CELLS), **{name: getattr(recurrent, name) for name in recurrent.__all__}
)
OURS = _Module(v1, layers=layers, nn=_NN, make_template=make_template)  # what a program calls `tf`


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with what TensorFlow makes of all programs."""
    folder = tmp_path_factory.mktemp("layers")
    subprocess.run(
        [sys.executable, "-m", "tests.interop.legacy_layers", str(folder)],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        check=True,
        capture_output=True,
    )
    return folder


def test_names_and_signatures_are_tensorflows(oracle: Path) -> None:
    expected = pickle.loads((oracle / "signatures.pickle").read_bytes())
    assert {name: parameters(getattr(layers, name)) for name in layers.__all__} == expected["layers"]
    assert {name: parameters(cell) for name, cell in _CELLS.items()} == expected["cells"]
    assert {name: parameters(getattr(recurrent, name)) for name in recurrent.__all__} == {
        name: value for name, value in expected["nn"].items() if "rnn" in name
    }
    assert parameters(make_template) == expected["tf"]["make_template"]


@pytest.mark.parametrize("name", sorted(set(PROGRAMS) - set(DIFFERENCES)))
def test_the_same_program_makes_the_same_graph_and_gives_the_same_results(name: str, oracle: Path) -> None:
    graph = Graph()
    graph.seed = SEED
    with building.building(graph):
        outputs = PROGRAMS[name](OURS)
        v1.global_variables_initializer()
    theirs = tf.compat.v1.GraphDef.FromString((oracle / f"{name}.pb").read_bytes())
    expected = pickle.loads((oracle / f"{name}.pickle").read_bytes())
    ours, other = our_nodes(graph), {node.name: node for node in theirs.node}
    assert_same_nodes(ours, other)
    assert list(ours) == list(other)
    found = {key: [item.name for item in graph.collections.get(key, [])] for key in COLLECTIONS}
    assert found == expected["collections"]
    tensors = [item for item in flatten(outputs) if not isinstance(item, Operation)]
    assert [str(item.get_shape()) for item in tensors] == expected["shapes"]
    if "error" not in expected:
        expect_results(graph, outputs, expected)


def expect_results(graph: Graph, outputs: Any, expected: dict[str, Any]) -> None:
    placeholders = [
        (op.name, op.outputs[0].dtype.name, op.outputs[0].get_shape().as_list())
        for op in graph.operations
        if op.type == "Placeholder"
    ]
    session = v1.Session(graph=graph)
    session.run(graph.operation("init"))
    for step in range(STEPS):
        result = session.run(outputs, feeds(placeholders, step))
        expect_close(result, expected["results"][step])
    expect_close(session.run(graph.collections.get("variables", [])), expected["variables"])


def expect_close(ours: Any, theirs: Any) -> None:
    for mine, other in zip(flatten(ours), flatten(theirs), strict=True):
        if other is None:
            assert mine is None
            continue
        mine, other = np.asarray(mine), np.asarray(other)
        assert (mine.dtype, mine.shape) == (other.dtype, other.shape)
        tolerance = 1e-2 if other.dtype == np.float16 else 2e-5
        np.testing.assert_allclose(mine, other, rtol=tolerance, atol=tolerance)
