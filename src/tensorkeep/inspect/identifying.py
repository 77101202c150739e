"""What is at a path: a checkpoint, a SavedModel, a graph, or something else; what wrote it, and what is in it."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tensorkeep.checkpoint.finding.file_names import (
    OBJECT_GRAPH_KEY,
    index_path,
    meta_path,
    parse_data_path,
    prefix_of_file,
)
from tensorkeep.checkpoint.finding.files import checkpoint_or_parts_exist, checkpoints_in, what_else_is_there
from tensorkeep.checkpoint.finding.latest import latest_checkpoint
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.finding.state_file import STATE_FILE
from tensorkeep.checkpoint.layouts.table import layout_of
from tensorkeep.errors import MissingFileError, TensorKeepError
from tensorkeep.inspect.folders import is_plain_checkpoint, stored_problems, table_sizes
from tensorkeep.inspect.listing import CheckpointListing, file_size, list_checkpoint
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text
from tensorkeep.io.showing.amounts import amount_of
from tensorkeep.io.showing.html_tables import html_table
from tensorkeep.proto.identification import REMEDIES, FileKind, Identity, contents_of, identify_proto
from tensorkeep.proto.messages import MOST_BYTES, GraphDef, Message, MetaGraphDef, parse
from tensorkeep.proto.text import parse_text
from tensorkeep.saved_model.files.fingerprint import read_fingerprint, writer_of
from tensorkeep.saved_model.files.layout import (
    contains_saved_model,
    model_file,
    read_saved_model,
    signature_keys,
    variables_path,
)
from tensorkeep.saving.ledger import is_present, read_ledger

_MOST_LISTED: Final = 20


@dataclass(frozen=True)
class Identification:
    """What is at a path."""

    path: str
    kind: str
    """One of "checkpoint", "checkpoint folder", "SavedModel", or the kind of a file, such as "a GraphDef"."""
    writer: str
    """What wrote it, as far as that is known: "tensorkeep 0.2.0" of what we wrote, or nothing."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What is in it."""
    format_of: str = ""
    """The version that it declares, such as "TensorFlow 2.21.0", or nothing. Others declare that of TensorFlow too."""

    def _repr_html_(self) -> str:
        """What a notebook shows: what it is, and what is in it."""
        known = {"kind": self.kind, "written by": self.writer, "format of": self.format_of}
        rows = [*((name, value) for name, value in known.items() if value), *self.facts.items()]
        return html_table(self.path, ("", ""), rows, len(rows))

    @property
    def is_known(self) -> bool:
        """Whether it is of any kind that is told by its contents."""
        return self.kind != FileKind.UNKNOWN.value


def identify(path: PathLike, *, fs: FileSystem = FILES) -> Identification:
    """Says what is at a path. A prefix of a checkpoint is a path too; MissingFileError if there is nothing."""
    given = path_text(path)
    if fs.is_directory(given) and contains_saved_model(given, fs):
        return _saved_model(given, fs)
    if fs.exists(index_path(given)) or (fs.is_directory(given) and layout_of(given, fs) is not None):
        return _checkpoint(given, fs)
    if fs.is_directory(given):
        return _folder(given, fs)
    if fs.exists(given):
        return _file(given, fs)
    if checkpoint_or_parts_exist(given, fs=fs):
        return _checkpoint(given, fs)
    raise MissingFileError(f'there is nothing at "{given}"{what_else_is_there(given, fs)}')


# --------------------------------------------------------------------------------------------------------- checkpoints


def _checkpoint(prefix: str, fs: FileSystem) -> Identification:
    listing = list_checkpoint(prefix, fs=fs)
    facts = {**checkpoint_facts(listing), **contents_facts(listing.path, fs)}
    meta = meta_path(prefix)
    declared = ""
    if fs.exists(meta):
        facts["graph"] = meta
        declared = _version_of_meta(meta, fs)
    return Identification(prefix, "checkpoint", _saved_by(prefix, fs), facts, declared)


def _saved_by(prefix: str, fs: FileSystem) -> str:
    """Our version that saved a checkpoint, if the ledger of its folder says so and it is still the same."""
    folder, name = posixpath.split(prefix)
    try:
        entries = [entry for entry in read_ledger(fs, folder) if entry.name == name and entry.tensorkeep]
        return next((f"tensorkeep {entry.tensorkeep}" for entry in entries if is_present(fs, folder, entry)), "")
    except TensorKeepError:
        return ""


def checkpoint_facts(listing: CheckpointListing) -> dict[str, Any]:
    """What there is to say of a checkpoint as a whole."""
    names = {tensor.name for tensor in listing.tensors}
    return {
        "format": listing.format,
        "saved by": "objects (TensorFlow 2)" if OBJECT_GRAPH_KEY in names else "names",
        "tensors": len(listing.tensors),
        "elements": listing.elements,
        "bytes": listing.nbytes,
        "types": listing.types,
        "files": {posixpath.basename(path): size for path, size in listing.files.items()},
    }


def contents_facts(path: str, fs: FileSystem) -> dict[str, Any]:
    """What is odd about a checkpoint's files, by their sizes, and its embedding tables with their numbers of keys."""
    facts: dict[str, Any] = {}
    if problems := stored_problems(path, fs=fs):
        facts["damage"] = "; ".join(problems)
    try:
        with open_checkpoint(path, fs=fs) as reader:
            if tables := table_sizes(reader, fs=fs):
                facts["embedding tables"] = {name: f"{amount_of(keys, 'key')}" for name, keys in tables.items()}
    except TensorKeepError:
        return facts  # which say what is wrong with it
    return facts


def _version_of_meta(path: str, fs: FileSystem) -> str:
    try:
        return _version(parse(MetaGraphDef, _contents(path, fs), path))
    except TensorKeepError:
        return ""


def _version(meta_graph: MetaGraphDef) -> str:
    version = meta_graph.meta_info_def.tensorflow_version
    return f"TensorFlow {version}" if version else ""


def _folder(directory: str, fs: FileSystem) -> Identification:
    found = [prefix for prefix in checkpoints_in(directory, fs) if is_plain_checkpoint(prefix, fs)]
    prefixes = [posixpath.basename(prefix) for prefix in found]
    versions = [name for name in fs.list(directory) if contains_saved_model(posixpath.join(directory, name), fs)]
    if versions:
        return Identification(directory, "folder of SavedModels", "", {"models": versions[:_MOST_LISTED]})
    if not prefixes and not fs.exists(posixpath.join(directory, STATE_FILE)):
        return Identification(directory, "folder", "", {"entries": list(fs.list(directory))[:_MOST_LISTED]})
    latest = latest_checkpoint(directory, fs=fs)
    facts = {"checkpoints": prefixes[:_MOST_LISTED], "latest": None if latest is None else posixpath.basename(latest)}
    if latest is None:
        return Identification(directory, "checkpoint folder", "", facts)
    declared = _version_of_meta(meta_path(latest), fs) if fs.exists(meta_path(latest)) else ""
    return Identification(directory, "checkpoint folder", _saved_by(latest, fs), facts, declared)


# ---------------------------------------------------------------------------------------------------------- SavedModels


def _saved_model(directory: str, fs: FileSystem) -> Identification:
    model = read_saved_model(directory, fs)
    path = model_file(directory, fs)
    graphs = [
        {
            "tags": list(item.meta_info_def.tags),
            "signatures": signature_keys(item),
            "nodes": len(item.graph_def.node),
            "functions": len(item.graph_def.library.function),
            "objects": len(item.object_graph_def.nodes),
        }
        for item in model.meta_graphs
    ]
    facts: dict[str, Any] = {"file": posixpath.basename(path or ""), "meta graphs": graphs}
    variables = variables_path(directory)
    if fs.exists(index_path(variables)):
        listing = list_checkpoint(variables, fs=fs)
        facts["variables"] = {"tensors": len(listing.tensors), "bytes": listing.nbytes}
    versions = list(dict.fromkeys(filter(None, map(_version, model.meta_graphs))))
    return Identification(directory, "SavedModel", _exported_by(directory, fs), facts, ", ".join(versions))


def _exported_by(directory: str, fs: FileSystem) -> str:
    try:
        return writer_of(read_fingerprint(directory, fs))
    except TensorKeepError:
        return ""


# --------------------------------------------------------------------------------------------------------------- files


def _file(path: str, fs: FileSystem) -> Identification:
    with closing(fs.open(path)) as file:
        data = contents_of(file)
        found = identify_proto(data)
        facts: dict[str, Any] = {"bytes": file.size}
        prefix = prefix_of_file(path)
        kind = found.kind.value
        if prefix is not None and fs.exists(index_path(prefix)):
            facts["part of"] = prefix
            is_data = parse_data_path(path) is not None
            kind = "a data file of a checkpoint" if is_data else kind
        if found.kind in REMEDIES:
            facts["note"] = REMEDIES[found.kind]
        if found.damage:
            facts["damage"] = found.damage
        declared = ""
        describe = _DESCRIPTIONS.get(found.kind)
        if describe is not None and not found.damage and file.size <= MOST_BYTES:
            declared, more = describe(_message(path, bytes(data), found))
            facts.update(more)
        if found.kind is FileKind.CHECKPOINT_TABLE and not path.endswith(".index"):
            return _checkpoint(path, fs)
        return Identification(path, kind, "", facts, declared)


def with_format(found: Identification, format: str) -> Identification:
    """The same, where the format of the tensors in it says more than the first bytes do."""
    kind = _ARCHIVES.get(format) if found.kind == FileKind.ZIP.value else None
    return found if kind is None else replace(found, kind=kind)


def _message(path: str, data: bytes, found: Identity) -> Message:
    kind = _TYPES[found.kind]
    return parse_text(kind, data, path) if found.is_text else parse(kind, data, path)


def _meta_graph_facts(message: Any) -> tuple[str, dict[str, Any]]:
    _, facts = _graph_facts(message.graph_def)
    facts["tags"] = list(message.meta_info_def.tags)
    facts["signatures"] = sorted(message.signature_def)
    facts["collections"] = {key: _length(message.collection_def[key]) for key in sorted(message.collection_def)}
    return _version(message), facts


def _length(collection: Any) -> int:
    kind = collection.WhichOneof("kind")
    return len(getattr(collection, kind).value) if kind else 0


def _graph_facts(message: Any) -> tuple[str, dict[str, Any]]:
    ops = Counter(node.op for node in message.node)
    inputs = [node.name for node in message.node if node.op in ("Placeholder", "PlaceholderV2")]
    facts = {
        "nodes": len(message.node),
        "functions": len(message.library.function),
        "ops": dict(sorted(ops.items(), key=lambda item: (-item[1], item[0]))[:_MOST_LISTED]),
        "placeholders": inputs[:_MOST_LISTED],
    }
    if message.versions.producer:
        facts["graph version"] = str(message.versions.producer)
    return "", facts


_ARCHIVES: Final = {
    "npz": "an archive of NumPy arrays (.npz)",
    "pytorch": "a PyTorch file",
    "keras": "a model of Keras 3 (.keras)",
}
_TYPES: Final[dict[FileKind, type[Message]]] = {FileKind.GRAPH: GraphDef, FileKind.META_GRAPH: MetaGraphDef}
_DESCRIPTIONS: Final[dict[FileKind, Callable[[Any], tuple[str, dict[str, Any]]]]] = {
    FileKind.GRAPH: _graph_facts,
    FileKind.META_GRAPH: _meta_graph_facts,
}


def _contents(path: str, fs: FileSystem) -> bytes:
    size = file_size(path, fs) or 0
    with closing(fs.open(path)) as file:
        return bytes(file.read(0, size))
