"""SavedModels as TensorFlow's command line shows them, text for text, and the same as data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tensorkeep.proto.messages import DataType, GraphDef, MetaGraphDef, SavedModel, TensorInfo
from tensorkeep.saved_model.files.layout import meta_graph_with_tags, signature_with_key
from tensorkeep.saved_model.show.root_functions import decode_structure, functions_text, root_functions


def tag_sets_text(model: SavedModel) -> str:
    """The tag sets, one a line."""
    sets = sorted(list(item.meta_info_def.tags) for item in model.meta_graphs)
    lines = ["The given SavedModel contains the following tag-sets:"]
    return "".join(f"{line}\n" for line in [*lines, *(repr(", ".join(sorted(tags))) for tags in sets)])


def signature_keys_text(meta_graph: MetaGraphDef) -> str:
    """The names of signatures, one a line."""
    keys = "".join(f'SignatureDef key: "{key}"\n' for key in sorted(meta_graph.signature_def))
    return f"The given SavedModel MetaGraphDef contains SignatureDefs with the following keys:\n{keys}"


def signature_text(meta_graph: MetaGraphDef, key: str, indent: int = 0) -> str:
    """What a signature takes and gives."""
    signature = meta_graph.signature_def[key]
    lines = ["The given SavedModel SignatureDef contains the following input(s):"]
    lines += _tensors("inputs", signature.inputs.items())
    lines.append("The given SavedModel SignatureDef contains the following output(s):")
    lines += _tensors("outputs", signature.outputs.items())
    lines.append(f"Method name is: {signature.method_name}")
    return "".join(f"{'  ' * indent}{line}\n" for line in lines)


def _tensors(kind: str, items: Iterable[tuple[str, TensorInfo]]) -> Iterator[str]:
    for key, info in sorted(items, key=lambda item: item[0]):
        yield f"  {kind}['{key}'] tensor_info:"
        yield f"      dtype: {dtype_name(info.dtype)}"
        yield f"      shape: {_shape_text(info)}"
        yield f"      name: {info.name}"


def _shape_text(info: TensorInfo) -> str:
    if info.tensor_shape.unknown_rank:
        return "unknown_rank"
    return f"({', '.join(str(dim.size) for dim in info.tensor_shape.dim)})"


def dtype_name(number: int) -> str:
    """TensorFlow's name of a type, such as DT_FLOAT; the number if it has none."""
    return DataType.Name(number) if number in DataType.values() else str(number)


def used_ops(graph_def: GraphDef) -> set[str]:
    """The ops of a graph and of the functions that it calls, as TensorFlow counts them.

    Functions that are referred to otherwise than by a call are left out, as they are there: a scan must not use this.
    """
    functions = {function.signature.name: function for function in graph_def.library.function}
    used: set[str] = set()
    pending = []

    def mark(op: str) -> None:
        if op not in used and op in functions:
            pending.append(functions[op])
        used.add(op)

    bodies = [graph_def.node]
    while bodies:
        for node in bodies.pop():
            mark(node.op)
            if node.op in ("PartitionedCall", "StatefulPartitionedCall") and "f" in node.attr:
                mark(node.attr["f"].func.name)
        if pending:
            bodies.append(pending.pop().node_def)
    listed = [op for op in used if op not in functions]
    return set(listed)  # by way of a list, as TensorFlow does: it decides the order in which the set is printed


def ops_text(meta_graph: MetaGraphDef) -> str:
    """The ops of a graph, in the order in which Python happens to keep them."""
    tags = list(meta_graph.meta_info_def.tags)
    return f"The MetaGraph with tag set {tags} contains the following ops: {used_ops(meta_graph.graph_def)}\n"


def everything_text(model: SavedModel) -> str:
    """All meta graphs with their signatures and ops, and the functions."""
    parts = []
    ordered = sorted(model.meta_graphs, key=lambda item: list(item.meta_info_def.tags))
    for meta_graph in ordered:
        tags = ", ".join(meta_graph.meta_info_def.tags)
        parts.append(f"\nMetaGraphDef with tag-set: '{tags}' contains the following SignatureDefs:\n")
        for key in sorted(meta_graph.signature_def):
            parts += [f"\nsignature_def['{key}']:\n", signature_text(meta_graph, key, indent=1)]
        parts.append(ops_text(meta_graph))
    return "".join([*parts, functions_text(list(model.meta_graphs))])


def denylist_text(meta_graph: MetaGraphDef, denied: set[str]) -> str:
    """Whether a graph has ops of a list, as TensorFlow says it. See `scan.model_scan` for what it does not say."""
    tags = list(meta_graph.meta_info_def.tags)
    found = denied & used_ops(meta_graph.graph_def)
    if found:
        return f"MetaGraph with tag set {tags} contains the following denylisted ops: {found}\n"
    return f"MetaGraph with tag set {tags} does not contain the default denylisted ops: {denied}\n"


# ------------------------------------------------------------------------------------------------------------- as data


def model_data(model: SavedModel) -> dict[str, Any]:
    """All that is shown of a model, for JSON."""
    return {
        "saved_model_schema_version": model.saved_model_schema_version,
        "meta_graphs": [meta_graph_data(item) for item in model.meta_graphs],
    }


def meta_graph_data(meta_graph: MetaGraphDef) -> dict[str, Any]:
    """All that is shown of a meta graph, for JSON."""
    return {
        "tags": list(meta_graph.meta_info_def.tags),
        "tensorflow_version": meta_graph.meta_info_def.tensorflow_version,
        "signatures": {key: signature_data(meta_graph, key) for key in sorted(meta_graph.signature_def)},
        "ops": sorted(used_ops(meta_graph.graph_def)),
        "functions": _functions_data(meta_graph),
    }


def signature_data(meta_graph: MetaGraphDef, key: str) -> dict[str, Any]:
    """What a signature takes and gives, for JSON."""
    signature = meta_graph.signature_def[key]
    return {
        "method_name": signature.method_name,
        "inputs": {name: _tensor_data(signature.inputs[name]) for name in sorted(signature.inputs)},
        "outputs": {name: _tensor_data(signature.outputs[name]) for name in sorted(signature.outputs)},
    }


def _tensor_data(info: TensorInfo) -> dict[str, Any]:
    shape = None if info.tensor_shape.unknown_rank else [dim.size for dim in info.tensor_shape.dim]
    data: dict[str, Any] = {"dtype": dtype_name(info.dtype), "shape": shape, "name": info.name}
    kind = info.WhichOneof("encoding")
    if kind == "coo_sparse":
        sparse = info.coo_sparse
        names = [sparse.indices_tensor_name, sparse.values_tensor_name, sparse.dense_shape_tensor_name]
        data["components"] = names
    elif kind == "composite_tensor":
        data["components"] = [component.name for component in info.composite_tensor.components]
        data["type"] = str(info.composite_tensor.type_spec.type_spec_class_name)
    return data


def _functions_data(meta_graph: MetaGraphDef) -> dict[str, list[str]]:
    objects = meta_graph.object_graph_def
    return {
        name: [
            str(decode_structure(objects.concrete_functions[trace].canonicalized_input_signature)) for trace in traces
        ]
        for name, traces in root_functions(objects).items()
    }


@dataclass(frozen=True)
class ShowRequest:
    """What somebody wants to know of a model: everything, or of a meta graph, or of one of its signatures."""

    everything: bool = False
    tags: Sequence[str] | None = None
    signature: str | None = None
    ops: bool = False


def shown_text(model: SavedModel, request: ShowRequest) -> str:
    """What TensorFlow prints."""
    if request.everything:
        return everything_text(model)
    if request.tags is None:
        start = "--list_ops must be paired with a tag-set or with --all.\n" if request.ops else ""
        return start + tag_sets_text(model)
    meta_graph = meta_graph_with_tags(model, request.tags)
    start = ops_text(meta_graph) if request.ops else ""
    if request.signature is None:
        return start + signature_keys_text(meta_graph)
    signature_with_key(meta_graph, request.signature)
    return start + signature_text(meta_graph, request.signature)


def shown_data(model: SavedModel, request: ShowRequest) -> dict[str, Any]:
    """The model, the meta graph or the signature that was asked for, for JSON."""
    if request.tags is None:
        return model_data(model)
    meta_graph = meta_graph_with_tags(model, request.tags)
    if request.signature is None:
        return meta_graph_data(meta_graph)
    signature_with_key(meta_graph, request.signature)
    return signature_data(meta_graph, request.signature)
