"""Objects saved as a model of TensorFlow 2: variables, the functions that use them, and signatures.

    objects       what a root leads to by its attributes, as in a checkpoint; its functions; constants that they use
    graph         a handle for each variable, a constant for each value that is used, and a call for each signature
    library       the functions, and those that they call
    checkpoint    the values of the variables, by the names on the way to them

Loaders of TensorFlow 2 make the objects again; those of TensorFlow 1, and servers, use the graph.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from typing import Any

from tensorkeep.dtypes import INT32, RESOURCE, STRING
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import emit, emit_operation, emit_tensors
from tensorkeep.graph.building import building
from tensorkeep.graph.collections import add_to_collection
from tensorkeep.graph.functions import called_functions
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.messages.attrs import FunctionRef, shape_to_proto
from tensorkeep.graph.rewriting.freezing import VariableNode
from tensorkeep.graph.tensor_shape import plain_shape
from tensorkeep.io.files.directories import StagedDirectory
from tensorkeep.io.files.filesystem import Durability, PathLike, atomic_write, path_text
from tensorkeep.metagraph.exporting import export_meta_graph
from tensorkeep.proto.messages import FunctionDef, MetaGraphDef, SavedModel, serialize
from tensorkeep.runtime.session import Session
from tensorkeep.saved_model.edit.object_signatures import refresh_object_signature
from tensorkeep.saved_model.files.assets import copy_assets
from tensorkeep.saved_model.files.constants import (
    ASSETS_DIRECTORY,
    DEFAULT_SERVING_SIGNATURE_DEF_KEY,
    INIT_OP_SIGNATURE_KEY,
    MAIN_OP_KEY,
    PREDICT_METHOD_NAME,
    SAVED_MODEL_FILENAME_PB,
    SAVED_MODEL_SCHEMA_VERSION,
    SERVING,
    VARIABLES_DIRECTORY,
)
from tensorkeep.saved_model.files.fingerprint import write_fingerprint
from tensorkeep.saved_model.files.layout import readable_bytes, variables_path
from tensorkeep.saved_model.files.signature_defs import build_signature_def, check_signatures
from tensorkeep.saved_model.files.tensor_info import build_tensor_info
from tensorkeep.tf1.functions.arrays.shapes import placeholder
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.tracing import ConcreteFunction, Function
from tensorkeep.tf1.functions.type_specs import TensorSpec
from tensorkeep.tf1.saved_model.object_messages import write_objects
from tensorkeep.tf1.saved_model.object_tree import Captured, Extras, ObjectTree, asset_stand_in, capture, functions_of
from tensorkeep.tf1.saved_model.save_options import SaveOptions
from tensorkeep.tf1.training.objects.object_saver import ObjectSaver
from tensorkeep.tf1.training.objects.trackable import AutoTrackable
from tensorkeep.tf1.training.savers.saver_graph import V2, BulkSaverBuilder
from tensorkeep.tf1.variables.resource import ResourceVariable
from tensorkeep.tf1.variables.saveable import NodeSaveable

Signatures = Function | ConcreteFunction | Mapping[str, Function | ConcreteFunction] | None


def save_objects_as_model(
    root: AutoTrackable,
    directory: PathLike,
    signatures: Signatures = None,
    *,
    session: Session,
    options: SaveOptions = SaveOptions(),
    extras: Extras = Extras(),
    durability: Durability = Durability.DISK,
) -> str:
    """Writes an object, and all that it leads to, as a SavedModel; gives the path of its file.

    The values of variables are those that they have in the session, which writes the files too. Without signatures, the
    only function of the root that has an input signature is served, if there is one. A directory that is there is
    written over.
    """
    if not isinstance(root, AutoTrackable):
        raise InvalidArgumentError(
            f"Expected an AutoTrackable object for export, got {root!r}: a Module, or what is made of one"
        )
    graph, fs = session.graph, session.surroundings.filesystem
    objects = ObjectTree(root, graph, extras)
    chosen = {key: _concrete(item, graph, key) for key, item in _chosen_functions(root, signatures, graph).items()}
    captured = capture(objects, _all_functions(objects, chosen), session)
    names = captured.files(fs)
    meta_graph = _meta_graph(objects, chosen, captured, names, session)
    meta_graph.meta_info_def.tags.extend(dict.fromkeys([SERVING, *(options.extra_tags or ())]))
    _apply(options, meta_graph, graph)
    model = SavedModel(saved_model_schema_version=SAVED_MODEL_SCHEMA_VERSION, meta_graphs=[meta_graph])
    data = readable_bytes(serialize(model))
    staged = StagedDirectory(fs, path_text(directory), durability)
    try:
        for name in (VARIABLES_DIRECTORY, ASSETS_DIRECTORY):
            fs.make_directory(posixpath.join(staged.path, name))
        ObjectSaver().save(session, root, objects.saved_view(), variables_path(staged.path))
        files = {name: captured.path(tensor) or "" for tensor, name in names.items()}
        copy_assets(fs, files, staged.path, set(), durability)
        for name, content in extras.files.items():
            atomic_write(fs, posixpath.join(staged.path, name), content, durability)
        atomic_write(fs, posixpath.join(staged.path, SAVED_MODEL_FILENAME_PB), data, durability)
        write_fingerprint(model, staged.path, durability, fs)
        staged.publish(last=SAVED_MODEL_FILENAME_PB)
    except Exception:
        staged.discard()
        raise
    return posixpath.join(path_text(directory), SAVED_MODEL_FILENAME_PB)


def _apply(options: SaveOptions, meta_graph: MetaGraphDef, graph: Graph) -> None:
    options.check_namespaces(meta_graph)
    for alias, item in options.function_aliases.items():
        traces = item.concrete_functions(graph) if isinstance(item, Function) else [item]
        for trace in traces:
            meta_graph.meta_info_def.function_aliases[trace.name] = alias
    if options.experimental_skip_saver:
        meta_graph.ClearField("saver_def")


# ---------------------------------------------------------------------------------------------------------- signatures


def _chosen_functions(root: Any, signatures: Signatures, graph: Graph) -> dict[str, Function | ConcreteFunction]:
    if signatures is None:
        found = [item for item in functions_of(root).values() if isinstance(item, Function) and item.input_signature]
        return {DEFAULT_SERVING_SIGNATURE_DEF_KEY: found[0]} if len(found) == 1 else {}
    if isinstance(signatures, Function | ConcreteFunction):
        return {DEFAULT_SERVING_SIGNATURE_DEF_KEY: signatures}
    if not isinstance(signatures, Mapping):
        raise WrongTypeError(f"signatures are a function, or functions by name, got {signatures!r}")
    return dict(signatures)


def _concrete(item: Any, graph: Graph, key: str) -> ConcreteFunction:
    if isinstance(item, ConcreteFunction):
        return item
    if not isinstance(item, Function):
        raise WrongTypeError(
            f"Expected a TensorFlow function for which to generate a signature, but got {item!r} for {key!r}. Python "
            "functions may be decorated with `@tf.function` and passed as signatures"
        )
    traces = item.concrete_functions(graph)
    if len(traces) != 1:
        raise InvalidArgumentError(
            f'signature "{key}": {item.name} was traced {len(traces)} times. Give it an input_signature, or give what '
            "get_concrete_function(...) gives"
        )
    return traces[0]


def _named_outputs(concrete: ConcreteFunction, key: str) -> list[str]:
    """A name for each result of the function of a signature, in the order of its results."""
    results = concrete.structured_outputs
    if isinstance(results, Mapping):
        named = {str(name): results[name] for name in sorted(results)}  # the order in which a dict is taken apart
    elif hasattr(results, "_asdict"):
        named = dict(results._asdict())
    else:
        items = results if isinstance(results, list | tuple) else [results]
        named = {f"output_{index}": item for index, item in enumerate(items)}
    if wrong := [
        f"{item!r} for key {name!r}" for name, item in named.items() if not isinstance(item, Tensor | TensorSpec)
    ]:
        raise InvalidArgumentError(
            f"Got a non-Tensor value {', '.join(wrong)} in the output of the function {concrete.name} used to generate "
            f"the SavedModel signature {key!r}. Outputs for functions used as signatures must be a single Tensor, a "
            "sequence of Tensors, or a dictionary from string to Tensor."
        )
    if not named:
        raise InvalidArgumentError(f'signature "{key}": the function {concrete.name} gives nothing')
    return list(named)


# --------------------------------------------------------------------------------------------------------------- graph


def _all_functions(objects: ObjectTree, signatures: Mapping[str, ConcreteFunction]) -> list[ConcreteFunction]:
    own = [item for item in objects.items if isinstance(item, ConcreteFunction)]
    return list(dict.fromkeys([*own, *signatures.values()]))


def _meta_graph(
    objects: ObjectTree,
    signatures: Mapping[str, ConcreteFunction],
    captured: Captured,
    names: Mapping[Tensor, str],
    session: Session,
) -> MetaGraphDef:
    functions = _all_functions(objects, signatures)
    with building(Graph()) as graph:
        _copy_functions(graph, objects.graph.functions, functions)
        tensors = _stand_ins(objects, captured, session)
        kept = {tensor: asset_stand_in() for tensor in captured.assets}
        tensors.update({tensor: path for tensor, (_, _, path) in kept.items()})
        calls = {key: _call(signatures[key], key, tensors) for key in sorted(signatures)}
        fills, given = _fill_tables(graph, captured, tensors, names)
        given = {**{tensor: path for tensor, (path, _, _) in kept.items()}, **given}
        start = emit_operation("NoOp", name="NoOp")
        start.add_control_inputs([*(keep for _, keep, _ in kept.values()), *fills])
        add_to_collection(graph, MAIN_OP_KEY, start)
        keys = objects.keys()
        saveables = {
            key: NodeSaveable(graph, _variable_node(tensors[item.handle], item), key)
            for number, key in keys.items()
            if isinstance(item := objects.items[number], ResourceVariable)
        }
        saver_def = BulkSaverBuilder(V2).build(saveables) if saveables else None
    meta_graph = export_meta_graph(graph, saver_def=saver_def, strip_default_attrs=True)
    for key, (inputs, outputs) in calls.items():
        infos = [{name: build_tensor_info(item) for name, item in side.items()} for side in (inputs, outputs)]
        signature = build_signature_def(infos[0], infos[1], PREDICT_METHOD_NAME)
        check_signatures({key: signature})
        meta_graph.signature_def[key].CopyFrom(signature)
    start_info = meta_graph.signature_def[INIT_OP_SIGNATURE_KEY].outputs[INIT_OP_SIGNATURE_KEY]
    start_info.name = start.name
    start_info.tensor_shape.unknown_rank = True
    for tensor, name in names.items():
        meta_graph.asset_file_def.add(filename=name, tensor_info={"name": given[tensor].name})
    write_objects(meta_graph, objects, captured, tensors, functions, list(names))
    for key in sorted(signatures):
        refresh_object_signature(meta_graph, key)
    return meta_graph


def _copy_functions(graph: Graph, library: Mapping[str, FunctionDef], wanted: Sequence[ConcreteFunction]) -> None:
    """Adds functions, and all that they call, to a graph."""
    waiting = [concrete.name for concrete in wanted]
    while waiting:
        name = waiting.pop()
        if name not in graph.functions:
            copy = FunctionDef()
            copy.CopyFrom(library[name])
            graph.add_function(copy)
            waiting.extend(called for node in copy.node_def for called in called_functions(node, library))
    for concrete in wanted:
        arguments = graph.functions[concrete.name].signature.input_arg
        for argument, tensor in zip(arguments[len(concrete.inputs) :], concrete.captured, strict=True):
            shape = getattr(tensor.static_shape, "shape", None)
            dtype = getattr(tensor.static_shape, "dtype", None)
            if tensor.dtype is RESOURCE and shape is not None and dtype is not None:
                argument.handle_data.add(dtype=dtype.number, shape=shape_to_proto(shape))


def _stand_ins(objects: ObjectTree, captured: Captured, session: Session) -> dict[Tensor, Tensor]:
    """In the graph being built, what stands for variables and for values that functions use."""
    found: dict[Tensor, Tensor] = {}
    for handle, number in captured.variables.items():
        variable = objects.items[number]
        shape = plain_shape(variable.shape)
        name = handle.op.name
        found[handle] = emit("VarHandleOp", dtype=variable.dtype, shape=shape, shared_name=name, name=name)
        emit("ReadVariableOp", found[handle], dtype=variable.dtype, name=f"{name}/Read/ReadVariableOp")
    found.update({handle: table.stand_in() for handle, table in captured.tables.items()})
    values = session.run(list(captured.values)) if captured.values else []
    for tensor, value in zip(captured.values, values, strict=True):
        found[tensor] = constant(value, tensor.dtype)
    return found


def _fill_tables(
    graph: Graph, captured: Captured, tensors: Mapping[Tensor, Tensor], names: Mapping[Tensor, str]
) -> tuple[list[Operation], dict[Tensor, Tensor]]:
    """Adds calls that fill tables, and inputs for the paths of files, which are given by the tables."""
    fills: list[Operation] = []
    given: dict[Tensor, Tensor] = {}
    for table in captured.tables.values():
        for function in table.functions.values():
            graph.add_function(function)
        arguments = [tensors[table.handle]]
        if table.handle in names:
            given[table.handle] = placeholder(STRING, [], name="asset_path_initializer")
            arguments.append(given[table.handle])
        reference = FunctionRef(table.functions["_initialize"].signature.name)
        made = emit_tensors("StatefulPartitionedCall", arguments, f=reference, Tout=[INT32])
        fills.append(made[0].op)
    return fills, given


def _variable_node(handle: Tensor, variable: ResourceVariable) -> VariableNode:
    name = handle.op.name
    return VariableNode(name, variable.dtype, plain_shape(variable.shape), True, "", name)


def _call(
    concrete: ConcreteFunction, key: str, tensors: Mapping[Tensor, Tensor]
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Adds placeholders and a call of the function of a signature; gives what it takes and what it gives, by name."""
    names = _named_outputs(concrete, key)
    clean = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in key)
    inputs = {
        name: placeholder(tensor.dtype, tensor.shape, name=f"{clean}_{name}")
        for name, tensor in zip(concrete.parameters, concrete.inputs, strict=True)
    }
    call = "StatefulPartitionedCall" if concrete.definition.signature.is_stateful else "PartitionedCall"
    arguments = [*inputs.values(), *(tensors[tensor] for tensor in concrete.captured)]
    dtypes = [tensor.dtype.base_dtype for tensor in concrete.outputs]
    results = emit_tensors(call, arguments, f=FunctionRef(concrete.name), Tout=dtypes)
    for output, traced in zip(results, concrete.outputs, strict=True):
        output.set_shape(traced.shape)
    return inputs, dict(zip(names, results, strict=True))


__all__ = ["SaveOptions", "Signatures", "save_objects_as_model"]
