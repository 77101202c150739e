"""Models cut down to what a signature needs, whatever kinds of variables they have."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from tensorkeep.dtypes import FLOAT32
from tensorkeep.graph.building import building, device
from tensorkeep.graph.graph import Graph
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.proto.messages import GraphDef, MetaGraphDef
from tensorkeep.runtime.session import Session
from tensorkeep.saved_model.edit.directory_edits import rewrite_model
from tensorkeep.saved_model.edit.meta_graph_pruning import prune_to_signature, prune_to_signatures
from tensorkeep.saved_model.edit.saver_pruning import VARIABLE_OPS, without_variables
from tensorkeep.saved_model.files.signature_defs import predict_signature_def
from tensorkeep.tf1.functions.arrays.shapes import placeholder
from tensorkeep.tf1.functions.numbers.elementwise import add_n, multiply, square
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum
from tensorkeep.tf1.saved_model.builder import SavedModelBuilder
from tensorkeep.tf1.training.optimizers.standard import AdamOptimizer
from tensorkeep.tf1.variables.listing import global_variables_initializer
from tensorkeep.tf1.variables.partitioners import fixed_size_partitioner
from tensorkeep.tf1.variables.scopes import get_variable
from tests.saved_model.models import run_model


def build(fs: MemoryFileSystem, **options: Any) -> None:
    """Two signatures, each with a variable of its own, and training, which needs both and more."""
    with building(Graph()) as graph, Session(graph, filesystem=fs) as session:
        x = placeholder(FLOAT32, [4], "x")
        outputs = []
        for name in ("a", "b"):
            with device(f"/device:CPU:{0 if name == 'a' else 1}" if options.get("sharded") else None):
                kind = {key: value for key, value in options.items() if key != "sharded"}
                v = get_variable(name, [4], initializer=_values, **kind)
            outputs.append(multiply(x, v, name=f"{name}_out"))
        loss = reduce_sum(square(add_n(outputs)))
        AdamOptimizer().minimize(loss)
        session.run(global_variables_initializer())
        builder = SavedModelBuilder("m", fs=fs)
        signatures = {name: predict_signature_def({"x": x}, {"y": y}) for name, y in zip("ab", outputs, strict=True)}
        builder.add_meta_graph_and_variables(session, ["serve"], signatures)
        builder.save()


def _values(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
    return np.arange(1, 1 + int(np.prod([int(size) for size in shape])), dtype=np.float32)


def variables_of(meta_graph: MetaGraphDef) -> set[str]:
    return {node.name for node in meta_graph.graph_def.node if node.op in VARIABLE_OPS}


KINDS: dict[str, dict[str, Any]] = {
    "references": {"use_resource": False},
    "resources": {"use_resource": True},
    "partitioned": {"use_resource": False, "partitioner": fixed_size_partitioner(2)},
}


@pytest.mark.parametrize("kind", KINDS)
def test_only_the_variables_of_the_signature_are_restored(kind: str) -> None:
    fs = MemoryFileSystem()
    build(fs, **KINDS[kind])
    ones = {"x:0": np.ones(4, np.float32)}
    wanted = run_model(fs, "m", "b_out:0", ones).tolist()
    pruned = rewrite_model("m", "n", partial(prune_to_signature, key="b"), fs=fs).meta_graphs[0]
    assert {name.split("/")[0] for name in variables_of(pruned)} == {"b"}
    assert all("Adam" not in node.name for node in pruned.graph_def.node)
    assert run_model(fs, "n", "b_out:0", ones).tolist() == wanted
    assert list(pruned.signature_def) == ["b"]


def test_a_part_of_a_saver_that_would_be_empty_stays() -> None:
    fs = MemoryFileSystem()
    build(fs, sharded=True, use_resource=False)
    pruned = rewrite_model("m", "n", partial(prune_to_signature, key="b"), fs=fs).meta_graphs[0]
    assert "b" in variables_of(pruned)
    assert run_model(fs, "n", "b_out:0", {"x:0": np.ones(4, np.float32)}).tolist() == [1, 2, 3, 4]


def test_all_signatures_may_be_kept() -> None:
    fs = MemoryFileSystem()
    build(fs, use_resource=False)
    pruned = rewrite_model("m", "n", partial(prune_to_signatures, keys=["a", "b"]), fs=fs).meta_graphs[0]
    assert variables_of(pruned) == {"a", "b"}
    assert run_model(fs, "n", "a_out:0", {"x:0": np.ones(4, np.float32)}).tolist() == [1, 2, 3, 4]


def test_a_graph_without_savers_stays_as_it_is() -> None:
    graph = GraphDef(node=[{"name": "v", "op": "VariableV2"}, {"name": "i", "op": "Identity", "input": ["v"]}])
    assert without_variables(graph, ()) == graph
    loop = GraphDef(node=[{"name": "i", "op": "Identity", "input": ["i"]}])
    loop.node.add(name="s", op="SaveV2", input=["p", "n", "l", "i"]).attr["dtypes"].list.type.append(1)
    assert without_variables(loop, ()) == loop
