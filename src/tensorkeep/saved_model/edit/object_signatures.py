"""Signatures among the objects of a model of TensorFlow 2.

Such a model has each signature twice: as a SignatureDef, which names tensors of the graph, for servers and loaders of
TensorFlow 1; and as a function among its objects, for `tf.saved_model.load`. The function takes what the signature
takes, in the order of the names, and after that what it captures: variables, tables, constants, each an object too.

    object 0 -> "signatures" -> key -> bare concrete function -> function of the library
                                        concrete_functions[its name] -> bound_inputs: the objects that it captures

A function is made here of the part of the graph that lies between the tensors of a SignatureDef, so that both say the
same. Functions that are in the library stay as they are, and are called by the new one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableSequence, Sequence
from dataclasses import dataclass
from keyword import iskeyword
from typing import Any, Final

from tensorkeep.dtypes import RESOURCE, VARIANT
from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.graph.functions import called_functions, function_def, numbered_name
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.messages.graph_def import import_graph
from tensorkeep.proto.messages import (
    FunctionDef,
    MetaGraphDef,
    OpDef,
    SavedObject,
    SignatureDef,
    StructuredValue,
    TensorInfo,
    TypeSpecProto,
)
from tensorkeep.saved_model.files.argument_specs import ArgumentSpec, write_argument_spec
from tensorkeep.saved_model.files.constants import INIT_OP_SIGNATURE_KEY, MAIN_OP_KEY
from tensorkeep.saved_model.files.layout import init_op_name
from tensorkeep.saved_model.files.tensor_info import tensor_names

_SIGNATURES: Final = "signatures"
_REMEDY: Final = "Drop the objects first (drop_objects): what is left is a model of TensorFlow 1"


def object_signatures(meta_graph: MetaGraphDef) -> MutableSequence[Any]:
    """The functions of the signatures among the objects of a model: the children of the map of signatures."""
    nodes = meta_graph.object_graph_def.nodes
    for child in nodes[0].children if nodes else ():
        if child.local_name == _SIGNATURES and child.node_id < len(nodes):
            found: MutableSequence[Any] = nodes[child.node_id].children
            return found
    return []


def forget_objects(meta_graph: MetaGraphDef) -> None:
    """Makes a meta graph one of TensorFlow 1: without objects, and with its initialization in a collection.

    Loaders of TensorFlow 2 take a signature of initialization in a model without objects for one to be called.
    """
    meta_graph.ClearField("object_graph_def")
    if INIT_OP_SIGNATURE_KEY in meta_graph.signature_def:
        meta_graph.collection_def[MAIN_OP_KEY].node_list.value[:] = [init_op_name(meta_graph)]
        del meta_graph.signature_def[INIT_OP_SIGNATURE_KEY]


def imported_graph(meta_graph: MetaGraphDef) -> Graph:
    graph = Graph()
    import_graph(meta_graph.graph_def, graph, name="", producer_op_list=meta_graph.meta_info_def.stripped_op_list)
    return graph


def refresh_object_signature(meta_graph: MetaGraphDef, key: str) -> None:
    """Makes the function of a signature anew, as its SignatureDef says it; nothing if the model has no objects.

    UnimplementedError where a signature takes tensors of several parts, and where it needs something that is no object.
    """
    if not meta_graph.object_graph_def.nodes:
        return
    signature = meta_graph.signature_def[key]
    child = next((child for child in object_signatures(meta_graph) if child.local_name == key), None)
    _refuse_composites(key, signature.inputs)
    if words := sorted(name for name in signature.inputs if iskeyword(name)):
        raise InvalidArgumentError(
            f'signature "{key}" is a function of the model\'s objects, and TensorFlow cannot load one with an input of '
            f"the name {', '.join(words)}, which is a word of Python"
        )
    name = _free_name(meta_graph, key)
    made = _signature_function(imported_graph(meta_graph), _captures(meta_graph), signature, key, name)
    meta_graph.graph_def.library.function.add().CopyFrom(made.function)
    concrete = meta_graph.object_graph_def.concrete_functions[name]
    concrete.bound_inputs.extend(made.captured)
    arguments = concrete.canonicalized_input_signature.tuple_value
    arguments.values.add().tuple_value.SetInParent()
    _describe(arguments.values.add(), signature.inputs)
    _describe(concrete.output_signature, signature.outputs)
    node = _new_object(meta_graph, key) if child is None else meta_graph.object_graph_def.nodes[child.node_id]
    former = node.bare_concrete_function.concrete_function_name
    _fill(node, name, sorted(signature.inputs), made.captured, meta_graph.object_graph_def.nodes)
    if former:
        _forget_unused(meta_graph, former)


def functions_of(node: SavedObject) -> list[str]:
    """The functions of the library that an object stands for."""
    kind = node.WhichOneof("kind")
    if kind == "function":
        return list(node.function.concrete_functions)
    if kind == "bare_concrete_function":
        return [node.bare_concrete_function.concrete_function_name]
    return [node.captured_tensor.concrete_function] if kind == "captured_tensor" else []


def _forget_unused(meta_graph: MetaGraphDef, name: str) -> None:
    """Takes a function out that an earlier edit has made of a signature, and that nothing refers to any more.

    The one that TensorFlow made stays: the graph calls it.
    """
    graph_def, objects = meta_graph.graph_def, meta_graph.object_graph_def
    functions = {item.signature.name: item for item in graph_def.library.function}
    if name not in functions or any(name in functions_of(node) for node in objects.nodes):
        return
    bodies = (graph_def.node, *(item.node_def for item in functions.values()))
    gradients = {name for item in graph_def.library.gradient for name in (item.function_name, item.gradient_func)}
    if name in gradients or any(name in called_functions(node, functions) for body in bodies for node in body):
        return
    del graph_def.library.function[list(functions).index(name)]
    if name in objects.concrete_functions:
        del objects.concrete_functions[name]


# ----------------------------------------------------------------------------------------------------------- functions


@dataclass(frozen=True)
class _Capture:
    """An object that a function of the model captures, and the argument that stands for it there."""

    number: int
    argument: OpDef.ArgDef


@dataclass(frozen=True)
class _Made:
    function: FunctionDef
    captured: tuple[int, ...]


def _captures(meta_graph: MetaGraphDef) -> dict[str, _Capture]:
    """Which object a tensor of the graph stands for, as calls of the model's functions show it."""
    functions = {item.signature.name: item for item in meta_graph.graph_def.library.function}
    found: dict[str, _Capture] = {}
    for node in meta_graph.graph_def.node:
        name = node.attr["f"].func.name if "f" in node.attr else ""
        saved = meta_graph.object_graph_def.concrete_functions
        if name not in saved or name not in functions:
            continue
        arguments = functions[name].signature.input_arg
        bound = saved[name].bound_inputs
        edges = [edge for edge in node.input if not edge.startswith("^")]
        if len(edges) == len(arguments) and len(bound) <= len(edges):
            first = len(edges) - len(bound)
            for edge, number, argument in zip(edges[first:], bound, arguments[first:], strict=True):
                found[edge if ":" in edge else f"{edge}:0"] = _Capture(number, argument)
    return found


def _signature_function(
    graph: Graph, captures: Mapping[str, _Capture], signature: SignatureDef, key: str, name: str
) -> _Made:
    """The function that lies between the inputs and the outputs of a signature, and what it captures."""
    given = [graph.tensor(signature.inputs[argument].name) for argument in sorted(signature.inputs)]
    results = [graph.tensor(name) for output in sorted(signature.outputs) for name in _parts(signature.outputs[output])]
    taken: dict[Tensor, _Capture] = {}
    body = _between(given, results, captures, taken)
    _refuse_loose_ends(body, key)
    ordered = [op for op in graph.operations if op in body]
    controls = [op for op in ordered if op.spec.schema.is_stateful]
    function = function_def(
        name,
        graph,
        [*given, *taken],
        results,
        output_names=_output_names(len(results)),
        controls=controls,
        operations=ordered,
    )
    for index, argument in enumerate(sorted(signature.inputs)):
        function.arg_attr[index].attr["_user_specified_name"].s = argument.encode()
    for index, capture in enumerate(taken.values(), len(given)):
        function.signature.input_arg[index].handle_data.extend(capture.argument.handle_data)
        function.arg_attr[index].ClearField("attr")
    return _Made(function, tuple(capture.number for capture in taken.values()))


def _output_names(count: int) -> list[str]:
    return ["identity", *(f"identity_{index}" for index in range(1, count))]


def _between(
    given: Iterable[Tensor],
    results: Iterable[Tensor],
    captures: Mapping[str, _Capture],
    taken: dict[Tensor, _Capture],
) -> set[Operation]:
    """The operations that results need, up to what is given and what is captured, which is noted."""
    body: set[Operation] = set()
    ends = {tensor.op for tensor in given}
    waiting: list[Tensor | Operation] = list(results)
    while waiting:
        item = waiting.pop()
        if isinstance(item, Tensor) and item.name in captures:
            taken.setdefault(item, captures[item.name])
            continue
        op = item.op if isinstance(item, Tensor) else item
        if op not in ends and op not in body:
            body.add(op)
            waiting += [*reversed(op.inputs), *op.control_inputs]
    return body


def _refuse_loose_ends(body: Iterable[Operation], key: str) -> None:
    unfed = sorted(op.name for op in body if op.type in ("Placeholder", "PlaceholderV2"))
    if unfed:
        raise InvalidArgumentError(
            f'the outputs of "{key}" depend on {", ".join(unfed)}, which has no value of its own and is no input'
        )
    loose = sorted(
        f"{op.name} ({op.type})"
        for op in body
        if not op.inputs and any(tensor.dtype in (RESOURCE, VARIANT) or tensor.dtype.is_ref for tensor in op.outputs)
    )
    if loose:
        raise UnimplementedError(
            f'signature "{key}" needs {", ".join(loose)}, which no function of the model captures: it is not known '
            f"which object it is. {_REMEDY}"
        )


def _free_name(meta_graph: MetaGraphDef, key: str) -> str:
    taken = {item.signature.name for item in meta_graph.graph_def.library.function}
    clean = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in key)
    return numbered_name(f"signature_wrapper_{clean}", taken)


# ------------------------------------------------------------------------------------------------------------- objects


def _refuse_composites(key: str, inputs: Mapping[str, TensorInfo]) -> None:
    """UnimplementedError if a signature takes sparse or ragged tensors: TensorFlow passes plain tensors only to its
    function.
    """
    composite = sorted(name for name, info in inputs.items() if info.WhichOneof("encoding") != "name")
    if composite:
        raise UnimplementedError(
            f'signature "{key}" is a function of the model\'s objects, and takes sparse, ragged or other tensors of '
            f"several parts ({', '.join(composite)}), which TensorFlow cannot pass to one: make each part an input of "
            f"its own. {_REMEDY}"
        )


def _parts(info: TensorInfo) -> list[str]:
    """The tensors that an output is made of, in the order in which functions give them."""
    if info.WhichOneof("encoding") != "coo_sparse":
        return tensor_names(info)
    sparse = info.coo_sparse
    return [sparse.indices_tensor_name, sparse.values_tensor_name, sparse.dense_shape_tensor_name]


def _describe(value: StructuredValue, infos: Mapping[str, TensorInfo]) -> None:
    """Writes the names, types and shapes of tensors into a message as a dict."""
    value.dict_value.SetInParent()
    for name in sorted(infos):
        _describe_tensor(value.dict_value.fields[name], name, infos[name])


def _describe_tensor(value: StructuredValue, name: str, info: TensorInfo) -> None:
    encoding = info.WhichOneof("encoding")
    if encoding == "composite_tensor":
        value.type_spec_value.CopyFrom(info.composite_tensor.type_spec)
        return
    if encoding == "coo_sparse":
        spec = value.type_spec_value
        spec.type_spec_class = TypeSpecProto.SPARSE_TENSOR_SPEC
        spec.type_spec_class_name = "SparseTensorSpec"
        spec.num_flat_components = 3
        spec.type_state.tuple_value.values.add().tensor_shape_value.CopyFrom(info.tensor_shape)
        spec.type_state.tuple_value.values.add().tensor_dtype_value = info.dtype
        return
    plain = value.tensor_spec_value
    plain.name = name
    plain.dtype = info.dtype
    plain.shape.CopyFrom(info.tensor_shape)


def _new_object(meta_graph: MetaGraphDef, key: str) -> SavedObject:
    """Another object, at the end, which is the signature of that name; with the map of signatures if there is none."""
    nodes = meta_graph.object_graph_def.nodes
    if not any(child.local_name == _SIGNATURES for child in nodes[0].children):
        nodes[0].children.add(node_id=len(nodes), local_name=_SIGNATURES)
        signatures = nodes.add().user_object
        signatures.identifier = "signature_map"
        signatures.version.producer = signatures.version.min_consumer = 1
    object_signatures(meta_graph).add(node_id=len(nodes), local_name=key)  # type: ignore[attr-defined]
    return nodes.add()


def _fill(
    node: SavedObject, name: str, arguments: Sequence[str], captured: Sequence[int], nodes: Sequence[SavedObject]
) -> None:
    bare = node.bare_concrete_function
    bare.Clear()
    bare.concrete_function_name = name
    bare.argument_keywords.extend(arguments)
    bare.allowed_positional_arguments = int(len(arguments) == 1)
    write_argument_spec(bare.function_spec, ArgumentSpec(keywords=tuple(arguments)))
    del node.children[:]
    for index, number in enumerate(captured):
        if nodes[number].WhichOneof("kind") in ("constant", "resource"):
            node.children.add(node_id=number, local_name=f"capture_{index}")
