"""Graphs that TensorFlow wrote: they come in, and go out again, without loss."""

from __future__ import annotations

from pathlib import Path

import pytest

from tensorkeep.graph.graph import Graph
from tensorkeep.graph.messages.attrs import decode_attr
from tensorkeep.graph.messages.graph_def import export_graph, import_graph
from tensorkeep.proto.messages import GraphDef, MetaGraphDef, NodeDef, OpList, SavedModel, parse
from tensorkeep.proto.text import parse_text
from tests.support.colocation import placed_nodes
from tests.support.golden import ROOT

FILES = sorted(
    path
    for pattern in ("*/*.meta", "*/*.pb", "*/*/*.meta", "*/*/*.pb", "*/*/*.pbtxt", "*/*.pbtxt")
    for path in ROOT.glob(pattern)
    if "corrupt" not in str(path)
    and "crafted" not in str(path)
    and path.name
    not in (
        "fingerprint.pb",  # no graph
        "object_graph.pbtxt",  # no graph
        "frozen_notrain.pb",  # a node has lost an input: TensorFlow wrote it so, and does not read it either
        "tower.meta",  # a part of a graph, with inputs to be bound on import
        "tower.pbtxt",
    )
)


def graphs_of(path: Path) -> list[tuple[GraphDef, OpList]]:
    """The graphs in a file, each with the ops its producer knew."""
    data = path.read_bytes()
    if path.name.startswith("saved_model"):
        text = path.suffix == ".pbtxt"
        model = parse_text(SavedModel, data, path.name) if text else parse(SavedModel, data, path.name)
        metas = list(model.meta_graphs)
    elif path.suffix == ".meta":
        text = ".text." in path.name
        metas = [parse_text(MetaGraphDef, data, path.name) if text else parse(MetaGraphDef, data, path.name)]
    else:
        text = path.suffix == ".pbtxt"
        return [(parse_text(GraphDef, data, path.name) if text else parse(GraphDef, data, path.name), OpList())]
    return [(meta.graph_def, meta.meta_info_def.stripped_op_list) for meta in metas]


def test_there_are_graphs_to_test() -> None:
    assert len(FILES) > 30


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_graph_comes_out_as_it_went_in(path: Path) -> None:
    for graph_def, ops in graphs_of(path):
        graph = Graph()
        import_graph(graph_def, graph, name="", producer_op_list=ops)
        assert not any(op.spec.is_opaque for op in graph.operations)
        exported = export_graph(graph, add_shapes=any("_output_shapes" in node.attr for node in graph_def.node))
        before = placed_nodes(graph_def)
        assert len(exported.node) == len(before)
        for node in exported.node:
            original = before[node.name]
            assert node.op == original.op
            assert sorted(_data(node.input)) == sorted(_data(original.input))
            assert node.device == original.device
            for name, value in original.attr.items():
                assert node.attr[name] == value
        assert exported.library == graph_def.library
        assert exported.versions == graph_def.versions


def _data(edges: list[str]) -> list[str]:
    return [edge.removesuffix(":0") for edge in edges]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_static_shapes_agree_with_those_that_tensorflow_wrote_down(path: Path) -> None:
    for graph_def, ops in graphs_of(path):
        stated = {node.name: decode_attr(node.attr.pop("_output_shapes")) for node in _told(graph_def)}
        graph = Graph()
        import_graph(graph_def, graph, name="", producer_op_list=ops)
        for op in graph.operations:
            for tensor, shape in zip(op.outputs, stated.get(op.name, ()), strict=False):
                assert tensor.static_shape.is_compatible(shape), f"{tensor}: TensorFlow has {shape}"


def _told(graph_def: GraphDef) -> list[NodeDef]:
    return [node for node in graph_def.node if "_output_shapes" in node.attr]
