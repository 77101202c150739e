"""Models that do more than compute, made by hand: what an attacker would write."""

from __future__ import annotations

import json

from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.proto.messages import GraphDef, MetaGraphDef, NodeDef, SavedModel, serialize


def add_node(nodes, op, name, *inputs, **strings) -> NodeDef:
    node = nodes.add(op=op, name=name)
    node.input.extend(inputs)
    for key, value in strings.items():
        node.attr[key].s = value
    return node


def const_path(nodes, name: str, path: str) -> None:
    node = nodes.add(op="Const", name=name)
    node.attr["dtype"].type = 7
    node.attr["value"].tensor.dtype = 7
    node.attr["value"].tensor.tensor_shape.SetInParent()
    node.attr["value"].tensor.string_val.append(path.encode())


def graph_with(op: str, path: str = "/etc/passwd") -> GraphDef:
    graph_def = GraphDef()
    const_path(graph_def.node, "path", path)
    add_node(graph_def.node, op, "evil", "path")
    return graph_def


def model_with(op: str = "NoOp") -> SavedModel:
    """A model of one meta graph whose signature runs an op."""
    model = SavedModel(saved_model_schema_version=1)
    meta_graph = model.meta_graphs.add()
    meta_graph.meta_info_def.tags.append("serve")
    meta_graph.graph_def.CopyFrom(graph_with(op))
    meta_graph.signature_def["serving_default"].outputs["y"].name = "evil:0"
    return model


def add_function(graph_def: GraphDef, name: str, *ops: str):
    function = graph_def.library.function.add()
    function.signature.name = name
    for number, op in enumerate(ops):
        function.node_def.add(op=op, name=f"n{number}")
    return function


def stored(model: SavedModel, **files: bytes) -> MemoryFileSystem:
    """A file system with the model in the folder m, and other files of it."""
    fs = MemoryFileSystem()
    write(fs, "m/saved_model.pb", serialize(model))
    for name, data in files.items():
        write(fs, f"m/{name.replace('__', '/')}", data)
    return fs


def write(fs: MemoryFileSystem, path: str, data: bytes) -> None:
    parts = path.split("/")[:-1]
    for count in range(1, len(parts) + 1):
        fs.make_directory("/".join(parts[:count]))
    file = fs.create(path)
    file.write(data)
    file.close()


def only(meta_graph_of: SavedModel) -> MetaGraphDef:
    return meta_graph_of.meta_graphs[0]


LAMBDA_LAYER = json.dumps(
    {
        "class_name": "Functional",
        "config": {
            "layers": [
                {"class_name": "Lambda", "config": {"function": ["4wEAAAA=", None, None], "function_type": "lambda"}}
            ]
        },
    }
)
