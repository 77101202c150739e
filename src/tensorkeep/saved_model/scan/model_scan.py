"""What a model can do besides computing: every place of it where something can hide.

A model file is a program. A scan runs nothing of it, and takes time and memory in proportion to its size, whatever is
in it. Files are told by their content, not by their names; what cannot be looked at is a finding too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final

from tensorkeep.errors import DataLossError, InvalidArgumentError, MissingFileError, TensorKeepError
from tensorkeep.graph.collections import GraphKeys
from tensorkeep.graph.registry.capabilities import Capability
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text
from tensorkeep.proto.identification import FileKind, identify_proto
from tensorkeep.proto.messages import (
    MOST_BYTES,
    AssetFileDef,
    FunctionDef,
    GraphDef,
    Message,
    MessageType,
    MetaGraphDef,
    SavedModel,
    SavedObjectGraph,
    VariableDef,
    parse,
)
from tensorkeep.proto.text import parse_text
from tensorkeep.saved_model.files.constants import (
    ASSETS_KEY,
    FINGERPRINT_FILENAME,
    INIT_OP_SIGNATURE_KEY,
    LEGACY_INIT_OP_KEY,
    MAIN_OP_KEY,
    TRAIN_OP_KEY,
    VARIABLES_DIRECTORY,
)
from tensorkeep.saved_model.files.layout import (
    CHUNKED_FILE,
    MODEL_FILE,
    TEXT_FILE,
    asset_path,
    contains_saved_model,
    join,
    read_chunked,
    read_file,
)
from tensorkeep.saved_model.files.links import leads_out
from tensorkeep.saved_model.scan.asset_paths import Origin, OwnFiles
from tensorkeep.saved_model.scan.files import is_pickle, scan_container, scan_keras, scan_other
from tensorkeep.saved_model.scan.graph_ops import Entries, GraphScan, Place
from tensorkeep.saved_model.scan.keras_code import metadata_texts
from tensorkeep.saved_model.scan.report import NOT_SCANNED, Finding, Findings, ScanPolicy, ScanReport

_MODEL_FILES: Final = (MODEL_FILE, TEXT_FILE, CHUNKED_FILE)
_LINKED: Final = frozenset((*_MODEL_FILES, FINGERPRINT_FILENAME, "keras_metadata.pb"))
"""Files that may be links to elsewhere, of which caches of models are made; and so may those of variables."""
_LOADING_CHILDREN: Final = frozenset(("_create_resource", "_initialize"))
_LOOKED_AT: Final = 1 << 20  # bytes of a file, to tell what it is
_MOST_FILES: Final = 10_000
_DEEPEST: Final = 20


# ------------------------------------------------------------------------------------------------------------ messages


def scan_graph_def(graph_def: GraphDef, policy: ScanPolicy | None = None, name: str = "graph") -> ScanReport:
    """What a graph and its functions do."""
    found = Findings(policy or ScanPolicy())
    _scan_graph(graph_def, name, found)
    return found.report(name)


def scan_meta_graph(meta_graph: MetaGraphDef, policy: ScanPolicy | None = None, name: str = "meta graph") -> ScanReport:
    """What a meta graph does: graph, functions, objects, collections."""
    found = Findings(policy or ScanPolicy())
    _scan_meta_graph(meta_graph, name, found)
    return found.report(name)


def _scan_graph(graph_def: GraphDef, file: str, found: Findings) -> None:
    GraphScan(graph_def, Place(file), found).run()


def _scan_function(function: FunctionDef, file: str, found: Findings) -> None:
    graph_def = GraphDef()
    graph_def.library.function.add().CopyFrom(function)
    _scan_graph(graph_def, file, found)


def _scan_model(model: SavedModel, file: str, found: Findings) -> None:
    for meta_graph in model.meta_graphs:
        _scan_meta_graph(meta_graph, file, found)


def _scan_meta_graph(meta_graph: MetaGraphDef, file: str, found: Findings) -> None:
    tags = ",".join(meta_graph.meta_info_def.tags)
    place = Place(file, f"tags {tags[:200]}" if tags else "")
    own = OwnFiles(
        frozenset(_assets(meta_graph, place, found)),
        _name(meta_graph.saver_def.filename_tensor_name),
        _captures(meta_graph.object_graph_def),
    )
    GraphScan(meta_graph.graph_def, place, found, own, _entries(meta_graph)).run()
    _scan_objects(meta_graph.object_graph_def, place, found)
    _scan_collections(meta_graph, place, found)


def _name(tensor: str) -> str:
    return tensor.partition(":")[0]


def _assets(meta_graph: MetaGraphDef, place: Place, found: Findings) -> Iterator[str]:
    """The tensors that hold paths of assets. One that leads elsewhere is a finding."""
    assets = list(meta_graph.asset_file_def)
    if not assets and ASSETS_KEY in meta_graph.collection_def:
        for item in meta_graph.collection_def[ASSETS_KEY].any_list.value:
            try:
                assets.append(parse(AssetFileDef, item.value, "an asset"))
            except DataLossError as error:
                found.add(Finding(NOT_SCANNED, "asset", place.file, place.part, str(error)[:500]))
    for asset in assets:
        try:
            asset_path("model", asset.filename)
        except DataLossError as error:
            rule = Capability.READS_FILES.identifier
            found.add(Finding(rule, "asset", place.file, place.part, str(error), on_load=True))
        else:
            yield _name(asset.tensor_info.name)


def _entries(meta_graph: MetaGraphDef) -> Entries:
    loading: list[str] = []
    using: list[str] = []
    for key, signature in meta_graph.signature_def.items():
        names = [_name(info.name) for info in signature.outputs.values()]
        for info in signature.outputs.values():
            names += [_name(component.name) for component in info.composite_tensor.components]
            sparse = info.coo_sparse
            names += map(_name, (sparse.indices_tensor_name, sparse.values_tensor_name, sparse.dense_shape_tensor_name))
        (loading if key == INIT_OP_SIGNATURE_KEY else using).extend(names)
    for key in (MAIN_OP_KEY, LEGACY_INIT_OP_KEY, TRAIN_OP_KEY):
        if key in meta_graph.collection_def:
            names = [_name(name) for name in meta_graph.collection_def[key].node_list.value]
            (using if key == TRAIN_OP_KEY else loading).extend(names)
    if not {MAIN_OP_KEY, LEGACY_INIT_OP_KEY} & set(meta_graph.collection_def):
        tables = GraphKeys.TABLE_INITIALIZERS  # TensorFlow 2 runs these if the model names nothing to run
        listed = meta_graph.collection_def[tables].node_list.value if tables in meta_graph.collection_def else ()
        loading.extend(map(_name, [*listed, *_local_initializers(meta_graph)]))
    objects = meta_graph.object_graph_def
    return Entries(
        [_name(meta_graph.saver_def.save_tensor_name)],
        [_name(meta_graph.saver_def.restore_op_name)],
        loading,
        list(_loading_functions(objects)),
        using,
        list(objects.concrete_functions),
    )


def _local_initializers(meta_graph: MetaGraphDef) -> Iterator[str]:
    """What sets local variables, which TensorFlow 2 runs too if the model names nothing to run."""
    if GraphKeys.LOCAL_VARIABLES in meta_graph.collection_def:
        for data in meta_graph.collection_def[GraphKeys.LOCAL_VARIABLES].bytes_list.value:
            with suppress(DataLossError):  # then it is no variable to TensorFlow either
                yield parse(VariableDef, data, "a local variable").initializer_name


# ------------------------------------------------------------------------------------------------- objects, collections


def _loading_functions(objects: SavedObjectGraph) -> Iterator[str]:
    """The functions that TensorFlow calls when it loads the objects: they make resources, and restore them."""
    count = len(objects.nodes)
    for item in objects.nodes:
        numbers = [child.node_id for child in item.children if child.local_name in _LOADING_CHILDREN]
        numbers += [saveable.restore_function for saveable in item.saveable_objects.values()]
        for number in numbers:
            if 0 < number < count:
                function = objects.nodes[number]
                yield from function.function.concrete_functions
                yield function.bare_concrete_function.concrete_function_name


def _captures(objects: SavedObjectGraph) -> dict[str, tuple[Origin, ...]]:
    """For each function of the objects, where the values of its captured arguments come from. They are its last
    arguments.
    """
    return {
        name: tuple(_origin(objects, number) for number in function.bound_inputs)
        for name, function in objects.concrete_functions.items()
    }


def _origin(objects: SavedObjectGraph, number: int) -> Origin:
    kind = objects.nodes[number].WhichOneof("kind") if 0 <= number < len(objects.nodes) else None
    return Origin.ASSET if kind == "asset" else Origin.COMPUTED


def _scan_objects(objects: SavedObjectGraph, place: Place, found: Findings) -> None:
    for number, item in enumerate(objects.nodes):
        if item.user_object.metadata:
            where = ", ".join(filter(None, (place.part, f"object {number} ({item.user_object.identifier[:100]})")))
            scan_keras(item.user_object.metadata, place.file, where, found)


def _scan_collections(meta_graph: MetaGraphDef, place: Place, found: Findings) -> None:
    for key, collection in meta_graph.collection_def.items():
        where = ", ".join(filter(None, (place.part, f"collection {key[:200]}")))
        if any(map(is_pickle, collection.bytes_list.value)):
            message = "holds a pickle, which runs Python code when it is loaded"
            found.add(Finding(Capability.CALLS_PYTHON.identifier, "pickle", place.file, where, message))


# --------------------------------------------------------------------------------------------------------------- files

_SCANNERS: Final[dict[FileKind, tuple[type[Message], Callable[..., None]]]] = {
    FileKind.SAVED_MODEL: (SavedModel, _scan_model),
    FileKind.META_GRAPH: (MetaGraphDef, _scan_meta_graph),
    FileKind.GRAPH: (GraphDef, _scan_graph),
    FileKind.FUNCTION: (FunctionDef, _scan_function),
}


def scan_model(path: PathLike, policy: ScanPolicy | None = None, fs: FileSystem = FILES) -> ScanReport:
    """What the model in a directory, or in a file of any name, can do besides computing.

    A directory is a SavedModel with all its files; a file is a SavedModel, a meta graph, a graph or a function, in
    bytes, text or chunks, or a model of Keras (.keras, .h5). MissingFileError if there is nothing; whatever else is
    wrong is in the report.
    """
    found = Findings(policy or ScanPolicy())
    text = path_text(path)
    if not fs.exists(text):
        raise MissingFileError(f'there is neither a model nor a file "{text}"')
    if not fs.is_directory(text):
        _scan_file(text, text, fs, found, is_model=True)
        return found.report(text)
    if not contains_saved_model(text, fs):
        raise InvalidArgumentError(
            f'"{text}" is a directory without a SavedModel ({", ".join(_MODEL_FILES)}): name the directory of one, or '
            "a file"
        )
    for name in _files(text, fs, found):
        _scan_file(join(text, name), name, fs, found, is_model=name in _MODEL_FILES)
    return found.report(text)


def _files(directory: str, fs: FileSystem, found: Findings) -> Iterator[str]:
    """The files below a directory, by names relative to it, in order. Too many are a finding.

    Of links, those are followed that stay inside, once each, and those of the model and its variables.
    """
    pending = [("", 0)]
    seen = {fs.canonical(directory)}
    count = 0
    while pending:
        prefix, depth = pending.pop()
        for name in sorted(fs.list(join(directory, prefix) if prefix else directory)):
            inner = f"{prefix}/{name}" if prefix else name
            count += 1
            if count > _MOST_FILES or depth > _DEEPEST:
                found.add(Finding(NOT_SCANNED, "files", inner, "", "there are too many files, or folders in folders"))
                return
            path = join(directory, inner)
            is_directory, target = fs.is_directory(path), fs.canonical(path)
            if (is_directory or not _may_be_a_link(inner)) and leads_out(path, directory, fs):
                _found_link(inner, target, found)
            elif not is_directory:
                yield inner
            elif target not in seen:
                seen.add(target)
                pending.append((inner, depth + 1))


def _may_be_a_link(name: str) -> bool:
    """Whether a file is read as a part of the model and nothing else, so that links to it harm nobody."""
    return name in _LINKED or name.startswith(f"{VARIABLES_DIRECTORY}/")


def _found_link(name: str, target: str, found: Findings) -> None:
    """A link in the place of a file or folder of the model: whoever reads that reads what is elsewhere."""
    if name != VARIABLES_DIRECTORY:
        message = f"a link that leads out of the model, to {target!r}"
        found.add(Finding(Capability.READS_FILES.identifier, "link", name, "", message[:500]))


def _scan_file(path: str, name: str, fs: FileSystem, found: Findings, is_model: bool) -> None:
    """Scans one file; what goes wrong is a finding if the file is the model or a part of it."""
    found.files.append(name)
    try:
        _scan_content(path, name, fs, found, is_model)
    except (TensorKeepError, RecursionError, MemoryError) as error:
        if is_model or not isinstance(error, DataLossError):
            found.add(Finding(NOT_SCANNED, "file", name, "", f"{type(error).__name__}: {error}"[:500]))


def _scan_content(path: str, name: str, fs: FileSystem, found: Findings, is_model: bool) -> None:
    start = _start(path, fs)
    if name.endswith("keras_metadata.pb"):
        for number, text in enumerate(metadata_texts(_whole(path, fs), name)):
            scan_keras(text, name, f"entry {number}", found)
        return
    identity = identify_proto(start)
    if identity.kind is FileKind.RIEGELI and is_model:
        _scan_model(read_chunked(SavedModel, path, fs), name, found)
        return
    if identity.kind is FileKind.ZIP or (identity.kind is FileKind.HDF5 and not name.startswith("variables/")):
        scan_container(_whole(path, fs), name, identity.kind, found)
        return
    scanner = _SCANNERS.get(identity.kind)
    if name in _MODEL_FILES:
        scanner = _SCANNERS[FileKind.SAVED_MODEL]
    if scanner is not None:
        message = _parse_file(scanner[0], path, fs, identity.is_text or name == TEXT_FILE)
        scanner[1](message, name, found)
    elif is_model:
        raise DataLossError(f'"{name}" is no model: it is {identity}')
    else:
        scan_other(name, start, found)


def _parse_file(message_type: type[MessageType], path: str, fs: FileSystem, is_text: bool) -> MessageType:
    data = _whole(path, fs)
    return parse_text(message_type, data, path) if is_text else parse(message_type, data, path)


def _start(path: str, fs: FileSystem) -> bytes:
    file = fs.open(path)
    try:
        return bytes(file.read(0, min(file.size, _LOOKED_AT)))
    finally:
        file.close()


def _whole(path: str, fs: FileSystem) -> bytes:
    file = fs.open(path)
    size = file.size
    file.close()
    if size > MOST_BYTES:
        raise DataLossError(f'"{path}" has {size} bytes, more than one message can have')
    return read_file(path, fs)
