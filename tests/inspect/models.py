"""Graphs and models in memory, with names of all kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tensorkeep.checkpoint.saving import save_checkpoint
from tensorkeep.io.files.filesystem import atomic_write
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.proto.messages import GraphDef, MetaGraphDef, SavedModel


def graph_of(nodes: Mapping[str, tuple[str, Sequence[str]]]) -> GraphDef:
    """A graph of nodes by name, each an op and its inputs."""
    graph = GraphDef()
    for name, (op, inputs) in nodes.items():
        node = graph.node.add(name=name, op=op)
        node.input.extend(inputs)
    return graph


def meta_graph_of(nodes: Mapping[str, tuple[str, Sequence[str]]]) -> MetaGraphDef:
    return MetaGraphDef(graph_def=graph_of(nodes))


def model_of(names: Sequence[str], signature: str = "serving_default") -> MemoryFileSystem:
    """A file system with a SavedModel "model" whose tensors, nodes and signature have these names."""
    fs = MemoryFileSystem()
    fs.make_directory("model")
    model = SavedModel(saved_model_schema_version=1)
    meta_graph = model.meta_graphs.add()
    meta_graph.meta_info_def.tags.append("serve")
    for name in names:
        meta_graph.graph_def.node.add(name=name, op="Placeholder")
        meta_graph.signature_def[signature].inputs[name].name = f"{name}:0"
    atomic_write(fs, "model/saved_model.pb", model.SerializeToString())
    save_checkpoint("model/variables/variables", {name: np.arange(6, dtype=np.float32) for name in names}, fs=fs)
    return fs
