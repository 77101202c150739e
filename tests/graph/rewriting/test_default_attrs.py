"""Graphs made from graphs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tensorkeep.graph.graph import Graph
from tensorkeep.graph.messages.graph_def import export_graph, import_graph
from tensorkeep.graph.rewriting.default_attrs import strip_defaults_in_place
from tensorkeep.proto.messages import GraphDef, MetaGraphDef, parse
from tests.support.golden import golden

PAIRS = [
    (golden("g21_meta_mlp_adam") / "mlp-4.meta", golden("g21_meta_mlp_adam") / "mlp.stripped.meta"),
    (golden("g22_meta_conv_adagrad") / "conv-4.meta", golden("g22_meta_conv_adagrad") / "conv.stripped.meta"),
]


def graph_of(path: Path) -> GraphDef:
    return parse(MetaGraphDef, path.read_bytes(), path.name).graph_def


@pytest.mark.parametrize(("whole", "stripped"), PAIRS, ids=lambda path: path.name)
def test_stripping_leaves_what_tensorflow_leaves(whole: Path, stripped: Path) -> None:
    ours = graph_of(whole)
    strip_defaults_in_place(ours)
    theirs = {node.name: node for node in graph_of(stripped).node}
    for node in ours.node:
        node.attr.pop("_output_shapes", None)
        theirs[node.name].attr.pop("_output_shapes", None)
        assert dict(node.attr) == dict(theirs[node.name].attr), node.name  # that file has no devices


@pytest.mark.parametrize(("whole", "stripped"), PAIRS, ids=lambda path: path.name)
def test_a_stripped_graph_is_filled_up_again_on_import(whole: Path, stripped: Path) -> None:
    graph = Graph()
    import_graph(graph_of(stripped), graph, name="")
    originals = {node.name: node for node in graph_of(whole).node}
    for node in export_graph(graph).node:
        for name, value in originals[node.name].attr.items():
            if name != "_output_shapes":
                assert node.attr[name] == value, f"{node.name}: {name}"


def test_attributes_that_belong_to_no_op_stay() -> None:
    proto = GraphDef()
    node = proto.node.add(name="c", op="NoSuchOp")
    node.attr["_mark"].i = 0
    node.attr["x"].i = 0
    before = proto.SerializeToString(deterministic=True)
    strip_defaults_in_place(proto)
    assert proto.SerializeToString(deterministic=True) == before
