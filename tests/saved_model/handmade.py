"""Small SavedModels made by hand, in memory: a graph of ours, a few messages, and a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tensorkeep.checkpoint.saving import save_checkpoint
from tensorkeep.dtypes import DType
from tensorkeep.graph.building import building, control_dependencies
from tensorkeep.graph.functions import function_def
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.graph.messages.attrs import shape_to_proto
from tensorkeep.graph.messages.graph_def import export_graph
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.io.files.filesystem import atomic_write
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.proto.messages import FunctionDef, MetaGraphDef, SavedModel, TrackableObjectGraph, serialize
from tensorkeep.shapes import Shape

FLOAT = DType.of("float32")


def placeholder(name: str, *dims: int | None, dtype: str = "float32") -> Tensor:
    made: Tensor = get_op("Placeholder")(dtype=DType.of(dtype), shape=Shape(dims), name=name)
    return made


def write_model(meta_graph: MetaGraphDef, fs: MemoryFileSystem, directory: str = "model") -> str:
    """The meta graph as a model."""
    model = SavedModel(saved_model_schema_version=1)
    model.meta_graphs.add().CopyFrom(meta_graph)
    fs.make_directory(f"{directory}/variables")
    atomic_write(fs, f"{directory}/saved_model.pb", serialize(model))
    return directory


def meta_graph_of(graph: Graph, inputs: Mapping[str, Tensor], outputs: Mapping[str, Tensor]) -> MetaGraphDef:
    """A graph for serving, with one signature."""
    meta_graph = MetaGraphDef()
    meta_graph.meta_info_def.tags.append("serve")
    export_graph(graph, into=meta_graph.graph_def)
    signature = meta_graph.signature_def["serving_default"]
    signature.method_name = "tensorflow/serving/predict"
    for infos, tensors in ((signature.inputs, inputs), (signature.outputs, outputs)):
        for key, tensor in tensors.items():
            infos[key].name = tensor.name
            infos[key].dtype = tensor.dtype.number
            infos[key].tensor_shape.CopyFrom(shape_to_proto(tensor.static_shape))
    return meta_graph


def graph_model(fs: MemoryFileSystem, op: str, x_dtype: str = "float32", **attrs: Any) -> str:
    """A model whose signature runs one op on its input x, and gives x."""
    with building(Graph()) as graph:
        x = placeholder("x", dtype=x_dtype)
        done = get_op(op)(x, **attrs)
        with control_dependencies([done.op if isinstance(done, Tensor) else done], graph):
            y = get_op("Identity")(x, name="y")
        return write_model(meta_graph_of(graph, {"x": x}, {"y": y}), fs)


def scaling_function(name: str) -> FunctionDef:
    """The function x, w -> x * w, where w is the handle of a variable."""
    with building(Graph()) as graph:
        x = placeholder("x", None)
        handle = placeholder("w", dtype="resource")
        y = get_op("Mul")(x, get_op("ReadVariableOp")(handle, dtype=FLOAT), name="y")
        return function_def(name, graph, [x, handle], [y])


def object_meta_graph() -> MetaGraphDef:
    """Objects: a variable w, and a function `scale` that multiplies by it."""
    meta_graph = MetaGraphDef()
    meta_graph.meta_info_def.tags.append("serve")
    meta_graph.graph_def.library.function.add().CopyFrom(scaling_function("scale_1"))
    objects = meta_graph.object_graph_def
    root, variable, scale = objects.nodes.add(), objects.nodes.add(), objects.nodes.add()
    root.user_object.identifier = "_generic_user_object"
    root.children.add(node_id=1, local_name="w")
    root.children.add(node_id=2, local_name="scale")
    variable.variable.dtype = FLOAT.number
    variable.variable.name = "weight"
    variable.variable.shape.CopyFrom(shape_to_proto(Shape((1,))))
    scale.function.concrete_functions.append("scale_1")
    _write_arguments(scale.function.function_spec.fullargspec, ["x"])
    concrete = objects.concrete_functions["scale_1"]
    concrete.bound_inputs.append(1)
    arguments = concrete.canonicalized_input_signature.tuple_value.values
    _write_spec(arguments.add().tuple_value.values.add())
    arguments.add().dict_value.SetInParent()
    _write_spec(concrete.output_signature)
    return meta_graph


def object_model(fs: MemoryFileSystem, values: Any = (2.0,), meta_graph: MetaGraphDef | None = None) -> str:
    """The same as a model, with a value for the variable."""
    made = write_model(meta_graph or object_meta_graph(), fs)
    stored = TrackableObjectGraph()
    stored.nodes.add().children.add(node_id=1, local_name="w")
    stored.nodes.add().attributes.add(name="VARIABLE_VALUE", full_name="weight", checkpoint_key="w/value")
    tensors: dict[str, Any] = {
        "w/value": np.asarray(values, np.float32),
        "_CHECKPOINTABLE_OBJECT_GRAPH": serialize(stored),
    }
    save_checkpoint(f"{made}/variables/variables", tensors, fs=fs)
    return made


def _write_spec(proto: Any) -> None:
    proto.tensor_spec_value.dtype = FLOAT.number
    proto.tensor_spec_value.shape.CopyFrom(shape_to_proto(Shape((None,))))


def _write_arguments(proto: Any, names: list[str]) -> None:
    proto.named_tuple_value.name = "FullArgSpec"
    for key in ("args", "varargs", "varkw", "defaults", "kwonlyargs", "kwonlydefaults", "annotations"):
        value = proto.named_tuple_value.values.add(key=key).value
        if key == "args":
            for name in names:
                value.list_value.values.add().string_value = name
        else:
            value.none_value.SetInParent()
