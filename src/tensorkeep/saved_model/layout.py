"""Where things lie in a SavedModel directory, and which of its meta graphs is meant.

saved_model.pb                  SavedModel, as bytes; or saved_model.pbtxt, as text
variables/variables.index ...   the values of variables, a checkpoint
assets/                         files that the graph reads
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tensorkeep.errors import MissingFileError, NotFoundError
from tensorkeep.io.filesystem import FileSystem, PathLike, path_text
from tensorkeep.io.local import LOCAL
from tensorkeep.proto.messages import MetaGraphDef, SavedModel, parse
from tensorkeep.proto.text import parse_text

MODEL_FILE: Final = "saved_model.pb"
TEXT_FILE: Final = "saved_model.pbtxt"
VARIABLES: Final = "variables/variables"
ASSETS: Final = "assets"
SERVING: Final = "serve"


class NoSuchTagsError(NotFoundError, RuntimeError):
    """A SavedModel has no meta graph with just those tags."""


def join(directory: PathLike, name: str) -> str:
    """The path of something in the directory."""
    return f"{path_text(directory).rstrip('/')}/{name}"


def read_saved_model(directory: PathLike, fs: FileSystem = LOCAL) -> SavedModel:
    """The model in a directory; of two files the one in bytes."""
    for name in (MODEL_FILE, TEXT_FILE):
        path = join(directory, name)
        if not fs.exists(path):
            continue
        file = fs.open(path)
        try:
            data = bytes(file.read(0, file.size))
        finally:
            file.close()
        return parse(SavedModel, data, path) if name == MODEL_FILE else parse_text(SavedModel, data, path)
    raise MissingFileError(
        f"SavedModel file does not exist at: {path_text(directory)}; looked for {MODEL_FILE} and {TEXT_FILE}"
    )


def meta_graph_with_tags(model: SavedModel, tags: Iterable[str]) -> MetaGraphDef:
    """The first meta graph with these tags and no others."""
    wanted = {tag for tag in tags if tag}
    sets = [set(meta_graph.meta_info_def.tags) for meta_graph in model.meta_graphs]
    for meta_graph, found in zip(model.meta_graphs, sets, strict=True):
        if found == wanted:
            return meta_graph
    raise NoSuchTagsError(
        f"MetaGraphDef associated with tag-set {','.join(sorted(wanted))} could not be found in the SavedModel. Please "
        f"use one of the following tag-sets: {[','.join(sorted(found)) for found in sets]}"
    )


__all__ = [
    "ASSETS",
    "MODEL_FILE",
    "SERVING",
    "TEXT_FILE",
    "VARIABLES",
    "NoSuchTagsError",
    "join",
    "meta_graph_with_tags",
    "read_saved_model",
]
