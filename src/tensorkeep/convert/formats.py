"""All formats, and how one is found: by how a name ends, or by what is in a file."""

from __future__ import annotations

import posixpath
import re
from typing import Final

from tensorkeep.checkpoint.finding.files import what_else_is_there
from tensorkeep.convert.checkpoints import BUNDLE, SLICE_FILE
from tensorkeep.convert.graphs import FROZEN_GRAPH, SAVED_MODEL
from tensorkeep.convert.hdf5 import HDF5
from tensorkeep.convert.hub import Format
from tensorkeep.convert.keras_archives import KERAS
from tensorkeep.convert.keras_shards import KERAS_SHARDS
from tensorkeep.convert.npz import NPZ
from tensorkeep.convert.onnx_format import ONNX
from tensorkeep.convert.parquet import PARQUET
from tensorkeep.convert.pytorch import PYTORCH
from tensorkeep.convert.safetensors import SAFETENSORS
from tensorkeep.errors import InvalidArgumentError, MissingFileError, NotFoundError
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.proto.identification import REMEDIES, FileKind, kind_of_file

FORMATS: Final[tuple[Format, ...]] = (
    SAFETENSORS,
    PYTORCH,
    NPZ,
    KERAS,
    KERAS_SHARDS,
    HDF5,
    PARQUET,
    SAVED_MODEL,
    BUNDLE,
    SLICE_FILE,
    ONNX,
    FROZEN_GRAPH,
)
"""All formats, in the order in which they are asked whether a file is theirs."""

_SAYING_WHY: Final = (SAFETENSORS, NPZ, KERAS, KERAS_SHARDS, HDF5, PYTORCH)
"""Formats that say what is wrong with a file that is called like one of theirs, and is too damaged to be known."""

_LIKE_PREFIX: Final = re.compile(r"[^.]*|.*\.ckpt(-\d+)?|[^.]*-\d+")


def format_named(name: str) -> Format:
    """The format of that name."""
    for item in FORMATS:
        if item.name == name:
            return item
    raise NotFoundError(f'there is no format "{name}"; there are {", ".join(item.name for item in FORMATS)}')


def format_of_target(path: str) -> Format:
    """The format that a name to be written asks for by its end. One without an end is that of a checkpoint."""
    lowered = path.lower()
    fitting = [(len(ending), item) for item in FORMATS for ending in item.endings if lowered.endswith(ending)]
    if fitting:
        return max(fitting, key=lambda found: found[0])[1]
    if _LIKE_PREFIX.fullmatch(posixpath.basename(path)):
        return BUNDLE
    known = ", ".join(f"{item.endings[0]} ({item.name})" for item in FORMATS if item.endings)
    raise InvalidArgumentError(
        f'"{path}" does not say what it shall be: names end in {known}; or name the format, by `to`'
    )


def format_of_source(path: str, fs: FileSystem) -> Format:
    """The format of what is at a path, by what is in it; MissingFileError if there is nothing."""
    for item in FORMATS:
        if item.holds(path, fs):
            return item
    if not fs.exists(path):
        raise MissingFileError(f'there is nothing at "{path}"{what_else_is_there(path, fs)}')
    for item in FORMATS:
        if path.lower().endswith(item.endings) and not fs.is_directory(path) and item in _SAYING_WHY:
            return item
    known = ", ".join(item.name for item in FORMATS)
    kind = None if fs.is_directory(path) else kind_of_file(path, fs)
    if kind in REMEDIES:
        raise InvalidArgumentError(f'"{path}" is {kind.value}: {REMEDIES[kind]}')
    what = "" if kind is FileKind.UNKNOWN else f"{'a folder' if kind is None else kind.value}, and "
    raise InvalidArgumentError(f'"{path}" is {what}in none of the formats that can be read: {known}')
