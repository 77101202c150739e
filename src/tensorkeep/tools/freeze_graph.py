"""Freezes a graph: `python -m tensorkeep.tools.freeze_graph`, with the flags of TensorFlow's tool of that name.

python -m tensorkeep.tools.freeze_graph --input_meta_graph=model.ckpt.meta --input_binary=true \
    --input_checkpoint=model.ckpt --output_graph=frozen.pb --output_node_names=softmax

The model is a GraphDef (--input_graph) or a meta graph (--input_meta_graph) with a checkpoint, or a SavedModel
(--input_saved_model_dir). Values are restored by --input_saver if it is given, else by the meta graph's saver, else as
the SavedModel says, else by the names of the variables. Input files are text or, with --input_binary, bytes; whichever
of the two they turn out to be will do. What restores a model is followed, not run, unless --run_initializers says so.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Final

from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.errors import DataLossError, InvalidArgumentError, MissingFileError, NotFoundError, TensorKeepError
from tensorkeep.graph.rewriting.freezing import Selection
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import Durability, FileSystem, atomic_write
from tensorkeep.proto.messages import GraphDef, MessageType, MetaGraphDef, SaverDef, parse, serialize
from tensorkeep.proto.text import parse_text
from tensorkeep.saved_model.edit.freezing import freeze_saved_model
from tensorkeep.saved_model.files.layout import SERVING, meta_graph_with_tags, read_saved_model
from tensorkeep.saving.freezing import FreezeOptions, freeze, freeze_meta_graph, freeze_with_saver

_VERSIONS: Final = (SaverDef.V1, SaverDef.V2)


def freeze_graph(
    input_graph: str | None,
    input_saver: str,
    input_binary: bool,
    input_checkpoint: str | None,
    output_node_names: str,
    restore_op_name: str | None,
    filename_tensor_name: str | None,
    output_graph: str,
    clear_devices: bool,
    initializer_nodes: str,
    variable_names_whitelist: str = "",
    variable_names_denylist: str = "",
    input_meta_graph: bool | str | None = None,
    input_saved_model_dir: str | None = None,
    saved_model_tags: str = SERVING,
    checkpoint_version: int = SaverDef.V2,
    *,
    variable_names_blacklist: str = "",
    run_initializers: bool = False,
) -> GraphDef:
    """Freezes a model that is in files, and writes the result to `output_graph` if that is given.

    `variable_names_blacklist` is what TensorFlow 1 calls `variable_names_denylist`.
    `restore_op_name`, `filename_tensor_name` and `checkpoint_version` have no effect. Nothing of the model runs but the
    `initializer_nodes`, which may only compute, unless `run_initializers` has what restores and initializes it run.
    """
    graph_def: GraphDef | None = None
    if input_saved_model_dir:
        model = read_saved_model(input_saved_model_dir)
        graph_def = meta_graph_with_tags(model, saved_model_tags.split(",")).graph_def
    elif input_graph:
        graph_def = _read(GraphDef, input_graph, input_binary, "graph")
    meta_graph_def: MetaGraphDef | None = None
    if input_meta_graph:
        meta_graph_def = _read(MetaGraphDef, str(input_meta_graph), input_binary, "meta graph")
        print(f"Loaded meta graph file '{input_meta_graph}")
    return freeze_graph_with_def_protos(
        graph_def,
        _read(SaverDef, input_saver, input_binary, "saver") if input_saver else None,
        input_checkpoint,
        output_node_names,
        restore_op_name,
        filename_tensor_name,
        output_graph,
        clear_devices,
        initializer_nodes,
        variable_names_whitelist,
        variable_names_denylist,
        meta_graph_def,
        input_saved_model_dir,
        _names(saved_model_tags),
        checkpoint_version,
        variable_names_blacklist=variable_names_blacklist,
        run_initializers=run_initializers,
    )


def freeze_graph_with_def_protos(
    input_graph_def: GraphDef | None,
    input_saver_def: SaverDef | None,
    input_checkpoint: str | None,
    output_node_names: str,
    restore_op_name: str | None,
    filename_tensor_name: str | None,
    output_graph: str,
    clear_devices: bool,
    initializer_nodes: str,
    variable_names_whitelist: str = "",
    variable_names_denylist: str = "",
    input_meta_graph_def: MetaGraphDef | None = None,
    input_saved_model_dir: str | None = None,
    saved_model_tags: list[str] | None = None,
    checkpoint_version: int = SaverDef.V2,
    *,
    variable_names_blacklist: str = "",
    run_initializers: bool = False,
) -> GraphDef:
    """Freezes a model given by messages and a checkpoint, and writes the result if told where to."""
    if not input_saved_model_dir:
        _check_checkpoint(input_checkpoint or "")
    if not output_node_names:
        raise InvalidArgumentError("You need to supply the name of a node to --output_node_names.")
    kept = [*_names(variable_names_denylist), *_names(variable_names_blacklist)]
    selection = Selection(_names(variable_names_whitelist) or None, kept or None)
    options = FreezeOptions(selection, clear_devices, _names(initializer_nodes), run_initializers=run_initializers)
    outputs = output_node_names.replace(" ", "").split(",")
    checkpoint = input_checkpoint or ""
    graph_def = input_meta_graph_def.graph_def if input_meta_graph_def else input_graph_def
    if graph_def is None:
        raise InvalidArgumentError(
            "No graph was given: use --input_graph, --input_meta_graph or --input_saved_model_dir"
        )
    if input_saver_def:
        frozen = freeze_with_saver(graph_def, input_saver_def, checkpoint, outputs, options)
    elif input_meta_graph_def:
        frozen = freeze_meta_graph(input_meta_graph_def, checkpoint, outputs, options)
    elif input_saved_model_dir:
        frozen = freeze_saved_model(input_saved_model_dir, outputs, saved_model_tags or (), options)
    else:
        frozen = freeze(graph_def, checkpoint, outputs, options)
    if output_graph:
        atomic_write(FILES, output_graph, serialize(frozen), Durability.CACHE)
    return frozen


def _names(text: str) -> list[str]:
    return [name for name in text.replace(" ", "").split(",") if name]


def _check_checkpoint(prefix: str) -> None:
    try:
        open_checkpoint(prefix).close()
    except (NotFoundError, InvalidArgumentError) as error:
        raise InvalidArgumentError(f"Input checkpoint '{prefix}' doesn't exist! ({error})") from None


def _read(
    message_type: type[MessageType], path: str, is_binary: bool, what: str, fs: FileSystem = FILES
) -> MessageType:
    """The message in a file, in the form that was announced or, failing that, in the other one."""
    if not fs.exists(path):
        raise MissingFileError(f"Input {what} file '{path}' does not exist!")
    file = fs.open(path)
    try:
        data = bytes(file.read(0, file.size))
    finally:
        file.close()
    try:
        return parse(message_type, data, path) if is_binary else parse_text(message_type, data, path)
    except DataLossError as announced:
        try:
            return parse_text(message_type, data, path) if is_binary else parse(message_type, data, path)
        except DataLossError as other:
            raise DataLossError(f"{announced}; nor otherwise: {other}") from None


# -------------------------------------------------------------------------------------------------------- command line

_FLAGS: Final = (
    ("input_graph", "", "TensorFlow 'GraphDef' file to load."),
    ("input_saver", "", "TensorFlow saver file to load."),
    ("input_checkpoint", "", "TensorFlow variables file to load."),
    ("output_graph", "", "Output 'GraphDef' file name."),
    ("output_node_names", "", "The name of the output nodes, comma separated."),
    ("restore_op_name", "save/restore_all", "The name of the master restore operator. Deprecated, without effect."),
    ("filename_tensor_name", "save/Const:0", "The tensor holding the save path. Deprecated, without effect."),
    ("initializer_nodes", "", "Comma separated list of initializer nodes to run before freezing."),
    ("variable_names_whitelist", "", "Comma separated list of variables to convert to constants; by default, all."),
    ("variable_names_denylist", "", "Comma separated list of variables to skip converting to constants."),
    ("variable_names_blacklist", "", "The name of variable_names_denylist in TensorFlow 1."),
    ("input_meta_graph", "", "TensorFlow 'MetaGraphDef' file to load."),
    ("input_saved_model_dir", "", "Path to the dir with TensorFlow 'SavedModel' file and variables."),
    ("saved_model_tags", SERVING, "All tags of the MetaGraphDef to load, separated by ','."),
)


def parser() -> argparse.ArgumentParser:
    """What understands the flags."""
    found = argparse.ArgumentParser(prog="freeze_graph", description="Freezes a graph.")
    for name, default, text in _FLAGS:
        found.add_argument(f"--{name}", type=str, default=default, help=text)
    found.add_argument("--checkpoint_version", type=int, default=2, help="Tensorflow variable file format")
    for name, is_default, text in (
        ("input_binary", False, "Whether the input files are in binary format."),
        ("run_initializers", False, "Whether what restores and initializes the model runs; for models that you trust."),
        ("clear_devices", True, "Whether to remove device specifications."),
    ):
        found.add_argument(f"--{name}", nargs="?", const=True, type=_truth, default=is_default, help=text)
    return found


def _truth(text: str) -> bool:
    return text.lower() == "true"


def main(unused_args: object, flags: argparse.Namespace) -> None:
    """Freezes what the flags say."""
    settings = dict(vars(flags))
    if settings["checkpoint_version"] not in _VERSIONS:
        version = settings["checkpoint_version"]
        raise InvalidArgumentError(f"Invalid checkpoint version (must be '1' or '2'): {version}")
    freeze_graph(**settings)


def run_main(arguments: Sequence[str] | None = None) -> int:
    """Runs the tool with command-line arguments; gives its exit status. Errors go to standard error."""
    try:
        main(None, parser().parse_args(arguments))
    except TensorKeepError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(run_main())
