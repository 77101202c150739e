"""Meta graphs that TensorFlow wrote: they come in, and go out again, as they were.

Nodes that lie after others that take them come out before these, in TensorFlow as here; the tensors that a branch or a
loop knows are listed without an order.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tensorkeep.graph.building import building
from tensorkeep.graph.collections import get_collection
from tensorkeep.graph.graph import Graph
from tensorkeep.metagraph.exporting import export_meta_graph
from tensorkeep.metagraph.files import read_meta_graph_file
from tensorkeep.metagraph.importing import import_meta_graph
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.proto.messages import CondContextDef, MetaGraphDef, WhileContextDef
from tensorkeep.runtime.session import Session
from tests.support.colocation import placed_nodes
from tests.support.golden import ROOT, decode, expected, golden

FILES = sorted(path for path in ROOT.glob("**/*.meta") if "corrupt" not in str(path) and path.name != "tower.meta")


def exported(graph: Graph, original: MetaGraphDef) -> MetaGraphDef:
    return export_meta_graph(
        graph,
        saver_def=original.saver_def if original.HasField("saver_def") else None,
        strip_default_attrs=original.meta_info_def.stripped_default_attrs,
    )


def test_there_are_meta_graphs_to_test() -> None:
    assert len(FILES) > 20


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_meta_graph_comes_out_as_it_went_in(path: Path) -> None:
    original, graph = read_meta_graph_file(str(path)), Graph()
    import_meta_graph(original, graph)
    proto = exported(graph, original)
    assert proto.meta_info_def == original.meta_info_def
    assert proto.saver_def == original.saver_def
    assert {node.name: node for node in proto.graph_def.node} == placed_nodes(original.graph_def)
    assert proto.graph_def.versions == original.graph_def.versions
    assert set(proto.collection_def) == set(original.collection_def)
    for key, collection in original.collection_def.items():
        assert _comparable(key, proto.collection_def[key]) == _comparable(key, collection), key


def _comparable(key: str, collection: Any) -> Any:
    kinds = {"cond_context": CondContextDef, "while_context": WhileContextDef}
    if key not in kinds:
        return collection
    found = [kinds[key].FromString(value) for value in collection.bytes_list.value]
    for context in found:
        context.values_def.values.sort()
    return sorted(found, key=str)


@pytest.mark.parametrize("name", ["tower.meta", "tower.pbtxt"])
def test_a_scope_is_imported_under_another_name_and_bound_to_another_input(name: str) -> None:
    case = "g23_meta_scoped"
    original, graph = read_meta_graph_file(str(golden(case) / name)), Graph()
    with building(graph):
        given = placeholder(dtype="float", shape=[None, 3], name="newin")
    variables = import_meta_graph(
        original, graph, import_scope="copy", input_map={"$unbound_inputs_in": given}
    ).variables
    says = expected(case)
    assert {name: variable.name for name, variable in variables.items()} == says["imported_vars"]
    assert [op.name for op in graph.operations] == says["imported_nodes"]
    again = export_meta_graph(graph, export_scope="copy")
    assert [node.name for node in again.graph_def.node] == says["exported_nodes"]
    assert list(again.collection_def["unbound_inputs"].bytes_list.value) == [b"$unbound_inputs_newin"]


RUNS = [
    (case, run["run"])
    for case in ("g21_meta_mlp_adam", "g22_meta_conv_adagrad", "g23_meta_scoped", "g25_control_flow_v1")
    for run in expected(case)["runs"]
]


@pytest.mark.parametrize(("case", "name"), RUNS)
def test_an_imported_meta_graph_restores_trains_and_runs_as_in_tensorflow(case: str, name: str) -> None:
    says = expected(case)
    run = next(run for run in says["runs"] if run["run"] == name)
    prefix = str(golden(case) / says["prefix"])
    graph, session = _restored(prefix, "imp" if name == "imported_under_imp" else None)
    feeds = {graph.tensor(key): decode(case, entry, "inputs") for key, entry in run["inputs"].items()}
    for _ in range(_steps(name)):
        session.run(get_collection(graph, "train_op")[0], feeds)
    for key, entry in run["outputs"].items():
        tensor = graph.tensor(key) if ":" in key[4:] or not key.startswith("var:") else _value(graph, key[4:])
        np.testing.assert_allclose(session.run(tensor, feeds), decode(case, entry, "outputs"), rtol=2e-5, atol=1e-6)


def _restored(prefix: str, scope: str | None) -> tuple[Graph, Session]:
    """A graph that was imported, and a session in which its own nodes have restored its variables."""
    original, graph = read_meta_graph_file(f"{prefix}.meta"), Graph()
    import_meta_graph(original, graph, import_scope=scope)
    session, below = Session(graph), f"{scope}/" if scope else ""
    saver = original.saver_def
    session.run(
        graph.operation(below + saver.restore_op_name), {graph.tensor(below + saver.filename_tensor_name): prefix}
    )
    return graph, session


def _steps(name: str) -> int:
    return int(name.split("_")[1]) if name.startswith("after_") else 0


def _value(graph: Graph, name: str) -> Any:
    with building(graph):
        return next(found for found in get_collection(graph, "variables") if found.op.name == name).value()
