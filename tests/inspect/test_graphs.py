"""What a graph consists of, wherever it is stored."""

from __future__ import annotations

import pytest

from tensorkeep.errors import InvalidArgumentError, NotFoundError
from tensorkeep.inspect.graphs import read_graphs, summarize, summarize_graphs
from tensorkeep.io.files.filesystem import atomic_write
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.proto.messages import MetaGraphDef
from tests.inspect.models import graph_of, meta_graph_of, model_of

NODES = {"x": ("Placeholder", ()), "y": ("Relu", ("x",)), "z": ("Relu", ("y:0", "^x")), "init": ("NoOp", ("^z",))}


def test_ops_are_counted_and_ends_are_found() -> None:
    found = summarize("serve", meta_graph_of(NODES))
    assert dict(found.ops) == {"Relu": 2, "Placeholder": 1, "NoOp": 1}
    assert found.nbytes == sum(found.bytes_by_op.values()) == sum(n.ByteSize() for n in graph_of(NODES).node)
    assert [end.tensor for end in found.placeholders] == ["x:0"]
    assert found.outputs == []  # z is taken by init, which is no result
    assert summarize("", meta_graph_of({"x": ("Placeholder", ()), "y": ("Relu", ("x",))})).outputs == ["y"]


def test_what_is_in_functions_counts() -> None:
    meta_graph = meta_graph_of(NODES)
    function = meta_graph.graph_def.library.function.add()
    function.node_def.add(name="a", op="Tanh")
    found = summarize("", meta_graph)
    assert (found.nodes, found.functions, found.ops["Tanh"]) == (4, 1, 1)


def test_signatures_have_their_ends_in_order() -> None:
    meta_graph = meta_graph_of(NODES)
    signature = meta_graph.signature_def["score"]
    for key in ("b", "a"):
        signature.inputs[key].name = f"{key}:0"
        signature.inputs[key].dtype = 1
        signature.inputs[key].tensor_shape.dim.add(size=-1)
    signature.outputs["y"].name = "y:0"
    signature.outputs["y"].tensor_shape.unknown_rank = True
    inputs, outputs = summarize("", meta_graph).signatures["score"]
    assert [(end.name, end.dtype, end.shape) for end in inputs] == [("a", "float32", "[?]"), ("b", "float32", "[?]")]
    assert [(end.name, end.dtype, end.shape) for end in outputs] == [("y", "?", "?")]


@pytest.mark.parametrize("is_text", [False, True])
@pytest.mark.parametrize("is_meta", [False, True])
def test_files_are_told_by_what_is_in_them(is_text: bool, is_meta: bool) -> None:
    fs = MemoryFileSystem()
    message = meta_graph_of(NODES) if is_meta else graph_of(NODES)
    if is_meta:
        assert isinstance(message, MetaGraphDef)
        message.meta_info_def.tags.append("t")
    atomic_write(fs, "graph", str(message).encode() if is_text else message.SerializeToString())
    (found,) = summarize_graphs("graph", fs=fs)
    assert (found.nodes, found.label) == (4, "")


def test_a_model_has_a_graph_for_each_set_of_tags() -> None:
    ((label, meta_graph),) = read_graphs("model", fs=model_of(["x"]))
    assert (label, [node.name for node in meta_graph.graph_def.node]) == ("serve", ["x"])


def test_the_graph_of_a_checkpoint_lies_beside_it() -> None:
    fs = model_of(["x"])
    prefix = "model/variables/variables"
    with pytest.raises(NotFoundError, match=r'has no graph: a checkpoint has one in the file ".*\.meta"'):
        read_graphs(prefix, fs=fs)
    atomic_write(fs, f"{prefix}.meta", meta_graph_of(NODES).SerializeToString())
    assert [len(item.graph_def.node) for _, item in read_graphs(prefix, fs=fs)] == [4]


def test_a_file_without_a_graph_is_named_for_what_it_is() -> None:
    fs = MemoryFileSystem()
    atomic_write(fs, "page", b"<!DOCTYPE html><html></html>")
    with pytest.raises(InvalidArgumentError, match="a web page"):
        read_graphs("page", fs=fs)
