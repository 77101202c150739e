"""Whether a model's directory has all that its graph reads. A copy that broke off is told at once, and completely."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tensorkeep.checkpoint.finding.file_names import index_path
from tensorkeep.checkpoint.finding.files import checkpoint_exists
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.errors import DataLossError, MissingFileError, TensorKeepError
from tensorkeep.graph.rewriting.pruning import needed_nodes, source_of
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.proto.messages import AssetFileDef, MetaGraphDef
from tensorkeep.saved_model.files.layout import asset_files, asset_path, signature_keys, variables_path
from tensorkeep.saved_model.files.tensor_info import tensor_names
from tensorkeep.saved_model.load.table_fills import initial_operations

_RESTORES: Final = frozenset(("Restore", "RestoreSlice", "RestoreV2"))


def open_complete(meta_graph: MetaGraphDef, directory: str, fs: FileSystem) -> CheckpointReader | None:
    """The stored variables of a meta graph, open; None if it has none. Reads no values.

    Raises unless its files are there and long enough, and says all that is wrong.
    """
    reader, problems = _opened_variables(meta_graph, directory, fs)
    try:
        report_problems([*problems, *asset_problems(meta_graph, directory, fs)], directory)
    except BaseException:
        if reader is not None:
            reader.close()
        raise
    return reader


def report_problems(problems: list[TensorKeepError], directory: str) -> None:
    """Raises one error that says all these problems, if there are any: MissingFileError if files are missing."""
    if not problems:
        return
    lacks_files = any(isinstance(problem, MissingFileError) for problem in problems)
    kind = MissingFileError if lacks_files else DataLossError
    listed = "".join(f"\n  {problem}" for problem in problems)
    raise kind(f'the model in "{directory}" is not complete; copy or export it anew:{listed}')


def variable_problems(meta_graph: MetaGraphDef, directory: str, fs: FileSystem) -> list[TensorKeepError]:
    """What is missing of the values of variables."""
    reader, problems = _opened_variables(meta_graph, directory, fs)
    if reader is not None:
        reader.close()
    return problems


def _opened_variables(
    meta_graph: MetaGraphDef, directory: str, fs: FileSystem
) -> tuple[CheckpointReader | None, list[TensorKeepError]]:
    """The stored variables, open if there are any that can be opened, and what is missing of them."""
    prefix = variables_path(directory)
    if not checkpoint_exists(prefix, fs=fs):
        problem = MissingFileError(f'"{index_path(prefix)}" is missing: it says where the values of variables are')
        return None, [problem] if _needs_values(meta_graph) else []
    try:
        reader = open_checkpoint(prefix, fs=fs)
    except DataLossError as error:
        return None, [error]
    try:
        return reader, reader.file_problems()
    except BaseException:
        reader.close()
        raise


def _needs_values(meta_graph: MetaGraphDef) -> bool:
    """Whether loading a meta graph restores anything: variables of its objects, or else what its saver restores."""
    objects = meta_graph.object_graph_def.nodes
    if objects:
        return any(node.HasField("variable") or len(node.saveable_objects) > 0 for node in objects)
    restore = source_of(meta_graph.saver_def.restore_op_name)
    ops = {node.name: node.op for node in meta_graph.graph_def.node}
    return restore in ops and any(ops.get(name) in _RESTORES for name in needed_nodes(meta_graph.graph_def, [restore]))


def asset_problems(meta_graph: MetaGraphDef, directory: str, fs: FileSystem) -> list[TensorKeepError]:
    """Which of the files are missing that initialization, signatures or objects read."""
    absent = {
        path: asset
        for asset in asset_files(meta_graph)
        for path in [asset_path(directory, asset.filename)]
        if not fs.exists(path)
    }
    if absent and not meta_graph.object_graph_def.nodes:
        reached = _reached_nodes(meta_graph)
        absent = {path: asset for path, asset in absent.items() if _node_of(asset) in reached}
    return [MissingFileError(f'"{path}" is missing: the graph reads it') for path in absent]


def _node_of(asset: AssetFileDef) -> str:
    return source_of(asset.tensor_info.name)


def _reached_nodes(meta_graph: MetaGraphDef) -> set[str]:
    """The nodes that run when the model is loaded and used."""
    names = {node.name for node in meta_graph.graph_def.node}
    return needed_nodes(meta_graph.graph_def, {source_of(name) for name in _starting_names(meta_graph)} & names)


def _starting_names(meta_graph: MetaGraphDef) -> Iterator[str]:
    yield from initial_operations(meta_graph)
    for key in signature_keys(meta_graph):
        for info in meta_graph.signature_def[key].outputs.values():
            yield from tensor_names(info)
