"""Where things lie in a SavedModel directory, and which of its meta graphs is meant.

saved_model.pb                       SavedModel, as bytes; or saved_model.pbtxt, as text; or saved_model.cpb, in chunks
variables/variables.index ...        the values of variables, a checkpoint
assets/                              files that the graph reads
assets.extra/                        files for programs other than the graph
fingerprint.pb                       FingerprintDef, what the model hashes to
debug/saved_model_debug_info.pb      GraphDebugInfo, where nodes were made
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from tensorkeep.checkpoint.finding.file_names import IN_MODEL
from tensorkeep.errors import DataLossError, InvalidArgumentError, MissingFileError, NotFoundError, UnimplementedError
from tensorkeep.graph.scopes import prepend_name_scope
from tensorkeep.io.coding.riegeli import RiegeliReader
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text
from tensorkeep.io.files.paths import stays_inside
from tensorkeep.proto.chunked import ChunkMetadata, join_chunks
from tensorkeep.proto.identification import FileKind, wrong_file
from tensorkeep.proto.messages import (
    MOST_BYTES,
    AssetFileDef,
    MessageType,
    MetaGraphDef,
    SavedModel,
    SignatureDef,
    TensorInfo,
    parse,
)
from tensorkeep.proto.text import parse_text
from tensorkeep.saved_model.files.constants import (
    ASSETS_DIRECTORY,
    ASSETS_KEY,
    INIT_OP_SIGNATURE_KEY,
    LEGACY_INIT_OP_KEY,
    MAIN_OP_KEY,
    SAVED_MODEL_FILENAME_CPB,
    SAVED_MODEL_FILENAME_PB,
    SAVED_MODEL_FILENAME_PBTXT,
    SERVING,
    TRAIN_OP_SIGNATURE_KEY,
)
from tensorkeep.saved_model.files.tensor_info import describe_tensor_info

MODEL_FILE: Final = SAVED_MODEL_FILENAME_PB
TEXT_FILE: Final = SAVED_MODEL_FILENAME_PBTXT
CHUNKED_FILE: Final = SAVED_MODEL_FILENAME_CPB
ASSETS: Final = ASSETS_DIRECTORY

_MODEL_FILES: Final = (MODEL_FILE, TEXT_FILE, CHUNKED_FILE)
_RESERVED: Final = (INIT_OP_SIGNATURE_KEY, TRAIN_OP_SIGNATURE_KEY)


class NoSuchTagsError(NotFoundError, RuntimeError):
    """A SavedModel has no meta graph with just those tags."""


class NoSuchSignatureError(NotFoundError, ValueError):
    """A meta graph has no signature of that name."""


class UnreadableModelError(DataLossError, OSError):
    """The file of a SavedModel holds something else, or is damaged."""


def join(directory: PathLike, name: str) -> str:
    """The path of something in the directory."""
    return f"{path_text(directory).rstrip('/')}/{name}"


def variables_path(directory: PathLike) -> str:
    """The prefix of the checkpoint in a SavedModel."""
    return join(directory, IN_MODEL)


def model_file(directory: PathLike, fs: FileSystem = FILES) -> str | None:
    """The path of the file that holds the model: bytes before text before chunks; None if there is none."""
    paths = (join(directory, name) for name in _MODEL_FILES)
    return next((path for path in paths if fs.exists(path)), None)


def contains_saved_model(directory: PathLike, fs: FileSystem = FILES) -> bool:
    """Whether a directory looks like a SavedModel: it has the file. Nothing is read."""
    return model_file(directory, fs) is not None


def read_saved_model(directory: PathLike, fs: FileSystem = FILES) -> SavedModel:
    """The model in a directory; of several files the one in bytes.

    MissingFileError says what is there instead; UnreadableModelError, what the file is if it is no model.
    """
    path = model_file(directory, fs)
    if path is None:
        raise MissingFileError(_nothing_here(path_text(directory), fs))
    try:
        model = _read(path, fs)
    except DataLossError as error:
        raise UnreadableModelError(f"Cannot parse file {path}: {error}") from error
    return model


def _read(path: str, fs: FileSystem) -> SavedModel:
    if path.endswith(CHUNKED_FILE):
        return read_chunked(SavedModel, path, fs)
    data = read_file(path, fs)
    if problem := wrong_file(path, data, FileKind.SAVED_MODEL):
        raise DataLossError(problem)
    return parse_text(SavedModel, data, path) if path.endswith(TEXT_FILE) else parse(SavedModel, data, path)


def read_file(path: str, fs: FileSystem) -> bytes:
    """All of a file."""
    file = fs.open(path)
    try:
        return bytes(file.read(0, file.size))
    finally:
        file.close()


def _nothing_here(directory: str, fs: FileSystem) -> str:
    start = f"SavedModel file does not exist at: {directory.rstrip('/')}/{{{TEXT_FILE}|{MODEL_FILE}}}"
    if not fs.exists(directory):
        return f"{start} (there is no such directory)"
    if not fs.is_directory(directory):
        problem = wrong_file(directory, read_file(directory, fs), FileKind.SAVED_MODEL)
        return f"{start} (that is a file: {problem or 'a SavedModel; name the directory that it lies in'})"
    names = list(fs.list(directory))
    if versions := [name for name in names if contains_saved_model(join(directory, name), fs)]:
        return f"{start} (there are models in its folders {', '.join(versions[:10])}: name one of them)"
    return f"{start} (there is {', '.join(names[:10]) + (', ...' if names[10:] else '') if names else 'nothing'})"


# --------------------------------------------------------------------------------------------- which one, what is there


def tag_sets(model: SavedModel) -> list[set[str]]:
    """The tags of each meta graph."""
    return [set(meta_graph.meta_info_def.tags) for meta_graph in model.meta_graphs]


def find_meta_graph(model: SavedModel, tags: Iterable[str]) -> MetaGraphDef | None:
    """The first meta graph with these tags and no others."""
    wanted = set(tags)
    found = zip(model.meta_graphs, tag_sets(model), strict=True)
    return next((meta_graph for meta_graph, present in found if present == wanted), None)


def meta_graph_with_tags(model: SavedModel, tags: Iterable[str]) -> MetaGraphDef:
    """The first meta graph with these tags and no others; NoSuchTagsError lists those that are there."""
    wanted = [tag for tag in tags if tag]
    found = find_meta_graph(model, wanted)
    if found is None:
        listed = [",".join(sorted(tags)) for tags in tag_sets(model)]
        raise NoSuchTagsError(
            f"MetaGraphDef associated with tag-set {','.join(sorted(wanted))} could not be found in the SavedModel. "
            f"Please use one of the following tag-sets: {listed}"
        )
    return found


def signature_keys(meta_graph: MetaGraphDef) -> list[str]:
    """The names of a meta graph's signatures, sorted; without those that only name operations."""
    return sorted(key for key in meta_graph.signature_def if key not in _RESERVED)


def signature_with_key(meta_graph: MetaGraphDef, key: str) -> SignatureDef:
    """A signature of a meta graph; NoSuchSignatureError lists those that are there, with inputs and outputs."""
    if key not in meta_graph.signature_def:
        listed = ", ".join(signature_keys(meta_graph)) or "none"
        raise NoSuchSignatureError(
            f'Could not find signature "{key}". Please choose from: {listed}\n{describe_meta_graph(meta_graph)}'
        )
    return meta_graph.signature_def[key]


def describe_model(model: SavedModel) -> str:
    """The tag sets of a model and the signatures of each, with inputs and outputs, a few lines each."""
    parts = [
        f"tags {', '.join(map(repr, meta_graph.meta_info_def.tags)) or '(none)'}:\n{describe_meta_graph(meta_graph)}"
        for meta_graph in model.meta_graphs
    ]
    return "\n".join(parts) or "no meta graphs"


def describe_meta_graph(meta_graph: MetaGraphDef) -> str:
    """The signatures of a meta graph with dtypes and shapes of their inputs and outputs, a line each."""
    lines = [
        f'  signature "{key}": {describe_signature(meta_graph.signature_def[key])}'
        for key in signature_keys(meta_graph)
    ]
    return "\n".join(lines) or "  no signatures"


def describe_signature(signature: SignatureDef) -> str:
    """Inputs and outputs of a signature with dtypes and shapes."""
    inputs = _infos_text(sorted(signature.inputs.items()))
    return f"({inputs}) -> ({_infos_text(sorted(signature.outputs.items()))})"


def _infos_text(items: Sequence[tuple[str, TensorInfo]]) -> str:
    return ", ".join(f"{key}: {describe_tensor_info(info)}" for key, info in items)


# ------------------------------------------------------------------------------------------------------------- contents


def asset_files(meta_graph: MetaGraphDef) -> list[AssetFileDef]:
    """The files that a graph reads: from the field for them, else from the collection that version 1 has."""
    if meta_graph.asset_file_def or ASSETS_KEY not in meta_graph.collection_def:
        return list(meta_graph.asset_file_def)
    assets = []
    for item in meta_graph.collection_def[ASSETS_KEY].any_list.value:
        if item.TypeName() != AssetFileDef.DESCRIPTOR.full_name:
            raise DataLossError(f"the collection {ASSETS_KEY} has a {item.type_url} instead of an asset")
        assets.append(parse(AssetFileDef, item.value, f"the collection {ASSETS_KEY}"))
    return assets


def asset_path(directory: PathLike, filename: str) -> str:
    """The path of an asset. One that would lie elsewhere than among the assets is refused."""
    if not stays_inside(filename):
        raise DataLossError(f"an asset is named {filename!r}, which leads out of the model's directory of assets")
    return join(directory, f"{ASSETS}/{filename}")


def get_asset_tensors(directory: PathLike, meta_graph: MetaGraphDef, import_scope: str | None = None) -> dict[str, str]:
    """Where the files are that the graph has by constants: their paths by the names of the tensors."""
    return {
        prepend_name_scope(asset.tensor_info.name, import_scope): asset_path(directory, asset.filename)
        for asset in asset_files(meta_graph)
    }


def readable_bytes(data: bytes) -> bytes:
    """The bytes of a model; UnimplementedError if they are more than protocol buffers read."""
    if len(data) > MOST_BYTES:
        raise UnimplementedError(
            f"the model is {len(data)} bytes, and nobody reads a message of more than {MOST_BYTES}. Keep large "
            "constants in variables, which are stored apart"
        )
    return data


def init_op_name(meta_graph: MetaGraphDef) -> str:
    """The name of the operation that initializes tables and the like; empty if there is none."""
    if INIT_OP_SIGNATURE_KEY in meta_graph.signature_def:
        return meta_graph.signature_def[INIT_OP_SIGNATURE_KEY].outputs[INIT_OP_SIGNATURE_KEY].name
    for key in (MAIN_OP_KEY, LEGACY_INIT_OP_KEY):
        if key in meta_graph.collection_def:
            names = meta_graph.collection_def[key].node_list.value
            if len(names) != 1:
                raise MainOperationError(
                    f"Expected exactly one SavedModel init op. Found {len(names)}: {list(names)}. They are in the "
                    f"collection {key}"
                )
            return names[0]
    return ""


class MainOperationError(InvalidArgumentError, RuntimeError):
    """A meta graph names no operation, or several, where it should name the one that initializes it."""


def read_chunked(message_type: type[MessageType], path: str, fs: FileSystem) -> MessageType:
    """The message in a file of chunks. DataLossError says what is wrong with the file."""
    file = fs.open(path)
    try:
        records = RiegeliReader(file)
        metadata = parse(ChunkMetadata, records.last(), path)

        def read(index: int) -> bytes:
            if index >= len(metadata.chunks):
                raise DataLossError(f'"{path}" has {len(metadata.chunks)} chunks, but number {index} is wanted')
            info = metadata.chunks[index]
            data = records.at(info.offset)
            if len(data) != info.size:
                raise DataLossError(f'"{path}": chunk {index} has {len(data)} bytes, expected {info.size}')
            return data

        return join_chunks(message_type, metadata, read)
    finally:
        file.close()


__all__ = [
    "ASSETS",
    "CHUNKED_FILE",
    "MODEL_FILE",
    "MainOperationError",
    "NoSuchSignatureError",
    "NoSuchTagsError",
    "SERVING",
    "TEXT_FILE",
    "UnreadableModelError",
    "asset_files",
    "asset_path",
    "contains_saved_model",
    "describe_meta_graph",
    "describe_model",
    "describe_signature",
    "find_meta_graph",
    "init_op_name",
    "join",
    "meta_graph_with_tags",
    "model_file",
    "read_chunked",
    "read_file",
    "read_saved_model",
    "signature_keys",
    "signature_with_key",
    "tag_sets",
    "variables_path",
]
