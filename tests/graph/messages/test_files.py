"""Graphs in files."""

from __future__ import annotations

import pytest

import tensorkeep as tk
from tensorkeep.errors import DataLossError, MissingFileError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.messages.files import read_graph, write_graph
from tensorkeep.graph.messages.graph_def import export_graph
from tensorkeep.tf1.functions.constants import constant
from tests.support.golden import ROOT


@pytest.mark.parametrize("as_text", [True, False])
def test_a_graph_survives_its_file(as_text: bool) -> None:
    fs = tk.MemoryFileSystem()
    graph = Graph()
    with building(graph):
        constant([1.0, 2.0], name="c")
    path = write_graph(graph, "some/folder", "g.pb", as_text, fs)
    assert path == "some/folder/g.pb"
    assert read_graph(path, fs) == export_graph(graph)


def test_what_is_no_graph_is_damage() -> None:
    fs = tk.MemoryFileSystem()
    with pytest.raises(MissingFileError):
        read_graph("nothing", fs)
    file = fs.create("noise")
    file.write(b"\xff\xfe no graph at all")
    file.close()
    with pytest.raises(DataLossError, match="noise"):
        read_graph("noise", fs)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("g26_tf1_simple_save/model/saved_model.pb", "it is a SavedModel"),
        ("g28_tf2_module/model/saved_model.pb", "it is a SavedModel"),
        ("g21_meta_mlp_adam/mlp-4.meta", "it is a MetaGraphDef"),
        ("g21_meta_mlp_adam/mlp.text.meta", "it is a MetaGraphDef .*, as text"),
        ("g01_v2_single_ref/model.ckpt-100.index", "it is the index of a checkpoint"),
    ],
)
def test_another_file_is_called_what_it_is(name: str, words: str) -> None:
    with pytest.raises(DataLossError, match=f"is not a GraphDef .*: {words}"):
        read_graph(str(ROOT / name))
