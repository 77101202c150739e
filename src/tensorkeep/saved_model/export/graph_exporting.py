"""SavedModels made without TensorFlow: of a graph and a checkpoint, or of a function that builds a graph.

What is written is a model as TensorFlow 1 has it, with a saver and signatures; TensorFlow's loaders of both versions
and its servers load it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np

from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.checkpoint.saving import save_checkpoint
from tensorkeep.checkpoint.sources import ArraySource
from tensorkeep.dtypes import dtype_of_number
from tensorkeep.errors import InvalidArgumentError, NotFoundError, WrongTypeError
from tensorkeep.graph.building import building
from tensorkeep.graph.collections import GraphKeys, get_collection
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.messages.files import read_graph
from tensorkeep.graph.messages.graph_def import export_graph
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.graph.rewriting.freezing import variables_of
from tensorkeep.graph.rewriting.pruning import needed_nodes, source_of
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text
from tensorkeep.metagraph.exporting import export_meta_graph
from tensorkeep.metagraph.files import read_meta_graph_file
from tensorkeep.metagraph.importing import import_meta_graph
from tensorkeep.proto.identification import FileKind, is_file_of_kind
from tensorkeep.proto.messages import GraphDef, MetaGraphDef, SaverDef, SignatureDef, TensorProto
from tensorkeep.proto.tensors import tensor_of_array
from tensorkeep.runtime.session import Session
from tensorkeep.saved_model.files.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY, PREDICT_METHOD_NAME, SERVING
from tensorkeep.saved_model.files.layout import init_op_name
from tensorkeep.saved_model.files.signature_defs import build_signature_def
from tensorkeep.saved_model.files.tensor_info import build_tensor_info, tensor_names
from tensorkeep.saved_model.load.table_fills import needed_fills
from tensorkeep.saving.restore_nodes import RestoreNodes
from tensorkeep.saving.stored_values import StoredValue, by_any_name, parts_of_meta_graph, stored_values
from tensorkeep.tf1.functions.arrays.shapes import placeholder
from tensorkeep.tf1.functions.ragged.ragged_tensor import RaggedTensor
from tensorkeep.tf1.saved_model.builder import DefaultSaver, GraphOptions, SavedModelBuilder
from tensorkeep.tf1.training.savers.saver_graph import V2, BulkSaverBuilder
from tensorkeep.tf1.variables.listing import global_variables, variables_initializer
from tensorkeep.tf1.variables.saveable import NodeSaveable

Tensors: TypeAlias = Mapping[str, Tensor | str]
SignatureTensors: TypeAlias = tuple[Tensors, Tensors] | SignatureDef
_TAGS: Final = (SERVING,)
_TENSORS: Final = (Tensor, SparseTensor, RaggedTensor)
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_.\\/-]")


def from_checkpoint(
    graph: Graph | GraphDef | MetaGraphDef | PathLike,
    checkpoint: PathLike,
    signatures: Mapping[str, SignatureTensors],
    directory: PathLike,
    *,
    tags: Iterable[str] = _TAGS,
    fs: FileSystem = FILES,
) -> str:
    """Writes a graph with the variables of a checkpoint as a SavedModel; gives the path of its file.

    The graph may be the path of a .meta file. A signature is a pair, of inputs and of outputs: tensors, or their
    names, by the names that users know them by. Variables are copied, never all in memory: by the keys of the saver
    that a meta graph brings along, otherwise by their names. NotFoundError, with all names, if some are not stored.
    Tables that signatures need are filled when the model is loaded; the files that they are filled from are copied.
    """
    meta_graph = _meta_graph(graph, fs)
    copy = Graph()
    import_meta_graph(meta_graph, copy, clear_devices=True)
    with open_checkpoint(checkpoint, fs=fs) as reader, building(copy):
        saver = _stored_saver(copy, meta_graph, reader, fs)
        made = {key: _signature(copy, item, key) for key, item in signatures.items()}
        fills = [] if init_op_name(meta_graph) else needed_fills(meta_graph, made.values())
        main_op = _group([copy.operation(name) for name in fills])
        options = GraphOptions(
            saver=saver, clear_devices=True, main_op=main_op, assets=_needed_files(meta_graph, copy, fills, made)
        )
        return _write_model(directory, None, tags, made, options, fs)


def from_function(
    function: Callable[..., Any],
    inputs: Mapping[str, tuple[Any, Any]],
    directory: PathLike,
    *,
    signature: str = DEFAULT_SERVING_SIGNATURE_DEF_KEY,
    tags: Iterable[str] = _TAGS,
    fs: FileSystem = FILES,
) -> str:
    """Writes what a function builds as a SavedModel with one signature; gives the path of its file.

    The function gets a placeholder for each input, by name, of the type and shape that `inputs` says, and gives a
    tensor, a dict of tensors, or several, which are then named output_0 and so on. Variables that it makes are saved
    with their first values, which are then not stored a second time as constants of the graph; tables that it makes
    are filled when the model is loaded.
    """
    graph = Graph()
    with building(graph):
        given = {name: placeholder(dtype, shape, name=_node_name(name)) for name, (dtype, shape) in inputs.items()}
        outputs = _named_results(function(**given))
        made = {signature: _predict_signature(given, outputs)}
        fills = _group(
            item.op if isinstance(item, Tensor) else item
            for item in get_collection(graph, GraphKeys.TABLE_INITIALIZERS)
        )
        start = variables_initializer(global_variables(), name="init")
        with closing(Session(graph, filesystem=fs)) as session:
            session.run(start)
            files = get_collection(graph, GraphKeys.ASSET_FILEPATHS)
            options = GraphOptions(main_op=fills, assets=files, saver=_FirstValuesSaver(graph))
            return _write_model(directory, session, tags, made, options, fs)


def _write_model(
    directory: PathLike,
    session: Any,
    tags: Iterable[str],
    signatures: Mapping[str, SignatureDef],
    options: GraphOptions,
    fs: FileSystem,
) -> str:
    builder = SavedModelBuilder(directory, fs=fs)
    try:
        builder.add_meta_graph_and_variables(session, tags, signatures, options)
        return builder.save()
    finally:
        builder.discard()


# -------------------------------------------------------------------------------------------------------- functions


def _named_results(results: Any) -> dict[str, Any]:
    listed = [results] if isinstance(results, _TENSORS) else results
    if isinstance(listed, list | tuple):
        listed = {f"output_{number}": item for number, item in enumerate(listed)}
    if not isinstance(listed, Mapping) or not listed or not all(isinstance(v, _TENSORS) for v in listed.values()):
        raise WrongTypeError(f"the function of a model gives a tensor, several, or a dict of tensors, got {results!r}")
    return dict(listed)


def _node_name(name: str) -> str:
    """The name of an input, as nodes may have it."""
    text = _NOT_IN_NAMES.sub("_", name)
    return text if text[:1].isalnum() or text[:1] == "." else f"input{text}"


class _FirstValuesSaver:
    """Saves all variables. The graph that it exports has zeros where it had the first values of variables."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._saver = DefaultSaver(graph)

    def save(self, sess: Any, save_path: str, *, write_meta_graph: bool, write_state: bool) -> None:
        self._saver.save(sess, save_path, write_meta_graph=write_meta_graph, write_state=write_state)

    def export_meta_graph(self, *, clear_devices: bool, strip_default_attrs: bool) -> MetaGraphDef:
        meta_graph = self._saver.export_meta_graph(clear_devices=clear_devices, strip_default_attrs=strip_default_attrs)
        names = {op.name for op in self._graph.operations if _is_first_value(op)}
        for node in meta_graph.graph_def.node:
            if node.name in names:
                _fill_with_zeros(node.attr["value"].tensor)
        return meta_graph


def _is_first_value(op: Operation) -> bool:
    """Whether it is a constant that has no use but to be assigned."""
    users = [user for output in op.outputs for user in output.consumers()] if op.type == "Const" else []
    return bool(users) and all(user.type in ("Assign", "AssignVariableOp") for user in users)


def _fill_with_zeros(tensor: TensorProto) -> None:
    sizes = [dim.size for dim in tensor.tensor_shape.dim]
    dtype = dtype_of_number(tensor.dtype)
    if prod(sizes) > 1 and not dtype.is_object:
        tensor.CopyFrom(tensor_of_array(np.zeros(1, dtype.array_dtype), dtype, sizes))


def _group(fills: Iterable[Operation]) -> Operation | None:
    """One operation that fills all tables; None if there are none."""
    listed = list(fills)
    if not listed:
        return None
    made: Operation = get_op("NoOp")(name="fill_tables")
    made.add_control_inputs(listed)
    return made


def _predict_signature(inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> SignatureDef:
    """A signature to predict with. TensorFlow 1 has none without inputs; TensorFlow 2 and servers take such a one."""
    if not outputs:
        raise InvalidArgumentError("a signature must give something: it has no outputs")
    infos = [{key: build_tensor_info(item) for key, item in side.items()} for side in (inputs, outputs)]
    return build_signature_def(infos[0], infos[1], PREDICT_METHOD_NAME)


# ------------------------------------------------------------------------------------------------------ checkpoints


def _meta_graph(graph: Graph | GraphDef | MetaGraphDef | PathLike, fs: FileSystem) -> MetaGraphDef:
    if isinstance(graph, MetaGraphDef):
        return graph
    if isinstance(graph, Graph):
        return export_meta_graph(graph)
    if isinstance(graph, GraphDef):
        return MetaGraphDef(graph_def=graph)
    path = path_text(graph)
    if is_file_of_kind(path, FileKind.GRAPH, fs):
        return MetaGraphDef(graph_def=read_graph(path, fs))
    return read_meta_graph_file(path, fs)


def _needed_files(
    meta_graph: MetaGraphDef, graph: Graph, fills: Sequence[str], signatures: Mapping[str, SignatureDef]
) -> list[Tensor]:
    """The tensors with the paths of files that filling the tables, or a signature, reads."""
    outputs = [name for item in signatures.values() for info in item.outputs.values() for name in tensor_names(info)]
    needed = needed_nodes(meta_graph.graph_def, {source_of(name) for name in (*fills, *outputs)})
    files = [item for item in get_collection(graph, GraphKeys.ASSET_FILEPATHS) if item.op.name in needed]
    if files or not fills:
        return files
    sources = [graph.operation(name).inputs[1] for name in fills if "FromTextFile" in graph.operation(name).type]
    return [tensor for tensor in dict.fromkeys(sources) if tensor.op.type == "Const"]


def _signature(graph: Graph, item: SignatureTensors, key: str) -> SignatureDef:
    if isinstance(item, SignatureDef):
        return item
    if not isinstance(item, tuple | list) or len(item) != 2 or not all(isinstance(side, Mapping) for side in item):
        raise WrongTypeError(f'signature "{key}" must be a pair of dicts, of inputs and of outputs, got {item!r}')
    inputs, outputs = item
    wanted = [(name, tensor) for side in (inputs, outputs) for name, tensor in side.items()]
    names = [(name, tensor if isinstance(tensor, str) else tensor.name) for name, tensor in wanted]
    lacking = [f'"{tensor}" for {name}' for name, tensor in names if tensor.partition(":")[0] not in graph]
    if lacking:
        raise NotFoundError(f'signature "{key}": the graph has no {", no ".join(lacking)}')

    def tensors(side: Tensors) -> dict[str, Tensor]:
        texts = {name: tensor if isinstance(tensor, str) else tensor.name for name, tensor in side.items()}
        return {name: graph.tensor(text if ":" in text else f"{text}:0") for name, text in texts.items()}

    return _predict_signature(tensors(inputs), tensors(outputs))


class _StoredSaver:
    """Saves the tensors of a checkpoint in the place of variables, and exports the graph that restores them."""

    def __init__(
        self,
        graph: Graph,
        saver_def: SaverDef,
        reader: CheckpointReader,
        stored: Mapping[str, StoredValue],
        fs: FileSystem,
    ) -> None:
        self._graph = graph
        self._saver_def = saver_def
        self._reader = reader
        self._stored = stored
        self._fs = fs

    def save(self, sess: Any, save_path: str, *, write_meta_graph: bool, write_state: bool) -> None:
        sources: dict[str, Any] = {
            name: self._reader.source(place.key)
            if place.part is None
            else ArraySource.of(self._reader.read(place.key, place.part))
            for name, place in self._stored.items()
        }
        save_checkpoint(save_path, sources, fs=self._fs)

    def export_meta_graph(self, *, clear_devices: bool, strip_default_attrs: bool) -> MetaGraphDef:
        return export_meta_graph(
            self._graph,
            saver_def=self._saver_def,
            clear_devices=clear_devices,
            strip_default_attrs=strip_default_attrs,
        )


def _stored_saver(graph: Graph, meta_graph: MetaGraphDef, reader: CheckpointReader, fs: FileSystem) -> _StoredSaver:
    saver_def = meta_graph.saver_def
    if saver_def.restore_op_name:
        nodes = RestoreNodes.of(graph.operation(saver_def.restore_op_name))
        keys = list(dict.fromkeys(item.wanted.key for item in nodes.tensors))
        _require(keys, [key for key in keys if key not in reader], reader)
        version = SaverDef()
        version.CopyFrom(saver_def)
        version.version = V2
        return _StoredSaver(graph, version, reader, {key: StoredValue(key) for key in keys}, fs)
    variables = variables_of(export_graph(graph))
    if not variables:
        raise InvalidArgumentError("the graph has no variables: a checkpoint has nothing to give it")
    named = by_any_name(reader)
    stored = stored_values(variables, variables, named, parts_of_meta_graph(meta_graph))
    _require([item.name for item in variables], [item.name for item in variables if item.name not in stored], reader)
    saveables = {item.name: NodeSaveable(graph, item) for item in variables}
    return _StoredSaver(graph, BulkSaverBuilder(V2).build(saveables), named, stored, fs)


def _require(names: Sequence[str], lacking: Sequence[str], reader: CheckpointReader) -> None:
    if lacking:
        raise NotFoundError(
            f'"{reader.path}" has no values for {", ".join(lacking[:20])} ({len(lacking)} of {len(names)} variables); '
            f"it has {', '.join(list(reader)[:10])}"
        )
