"""Assets: files that a graph reads, which travel with the model.

A graph has the path of such a file in a constant. The model keeps the file under its own name, and a loader feeds the
constant with the path that it has by then. Two files of the same name but with other contents are told apart by a
number after the name; that is decided by comparing each with whatever has the plain name at that time, as TensorFlow
does it, so that a file which is listed twice may be kept twice.
"""

from __future__ import annotations

import logging
import posixpath
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from tensorkeep.dtypes import STRING
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.collections import add_to_collection
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.io.files.directories import copy_file
from tensorkeep.io.files.filesystem import Durability, FileSystem
from tensorkeep.proto.messages import AssetFileDef, CollectionDef, public_any
from tensorkeep.saved_model.files.constants import ASSETS_DIRECTORY, ASSETS_KEY

LOG: Final = logging.getLogger("tensorkeep")

SameContents = Callable[[str, str], bool]

_AT_ONCE: Final = 1 << 20


def asset_path_of(tensor: TensorLike) -> str:
    """The path that a constant holds."""
    if not isinstance(tensor, Tensor):
        raise WrongTypeError(f"Asset path tensor {tensor} must be a Tensor.")
    if tensor.op.type != "Const":
        raise WrongTypeError(f"Asset path tensor {tensor} must be of type constant.Has type {tensor.op.type} instead.")
    if tensor.dtype is not STRING:
        raise WrongTypeError(f"Asset path tensor {tensor}` must be of dtype string.Has type {tensor.dtype} instead.")
    proto: Any = tensor.op.attr("value")
    if len(proto.string_val) != 1:
        raise WrongTypeError(f"Asset path tensor {tensor} must be a scalar.")
    path: bytes = proto.string_val[0]
    if not path:
        raise InvalidArgumentError(f"Asset filepath tensor {tensor} in is invalid.")
    return path.decode("utf-8", "surrogateescape")


def asset_name(path: str, known: Mapping[str, str], are_same: SameContents) -> str:
    """The name under which the model keeps a file, where `known` says which files have which names already."""
    name = posixpath.basename(path)
    if name not in known or known[name] == path or are_same(path, known[name]):
        return name
    number, unique = 1, name
    while unique in known:
        unique = f"{name}_{number}"
        number += 1
    return unique


def add_assets(graph: Graph, tensors: Iterable[Any], fs: FileSystem) -> dict[str, str]:
    """Enters files in the graph's collection of assets; gives the paths by the names under which they are kept."""
    files: dict[str, str] = {}
    for tensor in tensors:
        path = asset_path_of(tensor)
        name = asset_name(path, files, lambda one, other: have_same_contents(fs, one, other))
        add_to_collection(graph, ASSETS_KEY, _as_any(AssetFileDef(filename=name, tensor_info={"name": tensor.name})))
        files[name] = path
    return files


def _as_any(asset: AssetFileDef) -> Any:
    packed = CollectionDef().any_list.value.add()
    packed.Pack(asset)
    return public_any(packed)


def have_same_contents(fs: FileSystem, one: str, other: str) -> bool:
    """Whether two files hold the same bytes."""
    first, second = fs.open(one), fs.open(other)
    try:
        if first.size != second.size:
            return False
        pieces = ((at, min(_AT_ONCE, first.size - at)) for at in range(0, first.size, _AT_ONCE))
        return all(bytes(first.read(*piece)) == bytes(second.read(*piece)) for piece in pieces)
    finally:
        first.close()
        second.close()


def copy_assets(
    fs: FileSystem, files: Mapping[str, str], directory: str, copied: set[str], durability: Durability
) -> None:
    """Copies files into a model, but for those whose names are in `copied`, which it adds to.

    A file that does not exist is left out, as by TensorFlow; the log says so.
    """
    folder = posixpath.join(directory, ASSETS_DIRECTORY)
    fs.make_directory(folder)
    for name, path in files.items():
        if name in copied:
            continue
        if not fs.exists(path):
            LOG.warning('asset "%s" does not exist: the model is saved without it', path)
            continue
        copy_file(fs, path, posixpath.join(folder, name), durability)
        copied.add(name)
