"""Tensors in several files, and the index of JSON beside them that says which are in which.

index = {"metadata": {"total_size": n}, "weight_map": {name of a tensor: name of a file}}
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any, Final

from tensorkeep.checkpoint.saving import Piece, ShardBySize
from tensorkeep.convert.hub import OpenTensors, StoredArray, Tensors
from tensorkeep.edit.plan import Made
from tensorkeep.errors import DataLossError
from tensorkeep.io.files.filesystem import FileSystem, RandomAccessFile
from tensorkeep.io.files.paths import is_plain_name

_INDEX_ENDING: Final = ".index.json"
_MOST_INDEX: Final = 100_000_000  # bytes


@dataclass(frozen=True)
class Assigned:
    """Files to be, with the tensors that each shall hold, and the index that names them."""

    files: Mapping[str, Tensors]
    index: str | None
    """None if there is one file only, which needs none."""

    def index_contents(self) -> bytes:
        total = sum(tensor.nbytes for tensors in self.files.values() for tensor in tensors.values())
        where = {name: posixpath.basename(file) for file, tensors in self.files.items() for name in tensors}
        found = {"metadata": {"total_size": total}, "weight_map": dict(sorted(where.items()))}
        return (json.dumps(found, indent=2, ensure_ascii=False) + "\n").encode()


def assigned_files(path: str, ending: str, tensors: Tensors, shard_bytes: int | None) -> Assigned:
    """The files for tensors, which each shall hold in the order given: one, or as many as a limit asks for.

    `path` is the one file, or the index, which is that file's name with ".index.json" behind it.
    """
    single = path.removesuffix(_INDEX_ENDING)
    if shard_bytes is None:
        return Assigned({single: tensors}, None)
    by_name = sorted(tensors)
    pieces = [Piece(name, None, tensors[name].nbytes) for name in by_name]
    numbers = dict(zip(by_name, ShardBySize(shard_bytes).assign(pieces), strict=True))
    count = max(numbers.values(), default=0) + 1
    if count == 1:
        return Assigned({single if single.endswith(ending) else f"{single}{ending}": tensors}, None)
    base = single.removesuffix(ending)
    files: list[dict[str, Made]] = [{} for _ in range(count)]
    for name, tensor in tensors.items():
        files[numbers[name]][name] = tensor
    names = [f"{base}-{number:05d}-of-{count:05d}{ending}" for number in range(1, count + 1)]
    return Assigned(dict(zip(names, files, strict=True)), f"{single}{_INDEX_ENDING}")


def open_shards(
    index: str, format: str, opened: Callable[[RandomAccessFile], Mapping[str, StoredArray]], fs: FileSystem
) -> OpenTensors:
    """The tensors of files that an index names, which lie beside it. `opened` gives those of one open file."""
    with ExitStack() as stack:
        listed = files_in_index(index, fs)
        if several := [name for name, files in listed.items() if len(files) != 1]:
            raise DataLossError(f'"{index}": expected a "weight_map" of file names, one for "{several[0]}"')
        found = {name: file for name, (file,) in listed.items()}
        parts: dict[str, Mapping[str, StoredArray]] = {}
        for name in dict.fromkeys(found.values()):
            shard = fs.open(posixpath.join(posixpath.dirname(index), name))
            stack.callback(shard.close)
            parts[name] = opened(shard)
        if missing := [name for name, shard in found.items() if name not in parts[shard]]:
            raise DataLossError(f'"{index}": "{found[missing[0]]}" has no tensor "{missing[0]}"')
        arrays = {name: parts[shard][name] for name, shard in found.items()}
        return OpenTensors(index, format, arrays, stack.pop_all().close)


def files_in_index(index: str, fs: FileSystem) -> dict[str, tuple[str, ...]]:
    """The files, beside an index, that it has for each name: one, or several, as Keras writes it."""
    with closing(fs.open(index)) as file:
        if file.size > _MOST_INDEX:
            raise DataLossError(f'"{index}" has {file.size} bytes, more than an index can have')
        stored = parsed_object(index, bytes(file.read(0, file.size))).get("weight_map")
    listed = (
        {}
        if not isinstance(stored, dict)
        else {name: tuple(files) if isinstance(files, list) else (files,) for name, files in stored.items()}
    )
    names = [name for files in listed.values() for name in files]
    if not isinstance(stored, dict) or not all(isinstance(name, str) for name in names):
        raise DataLossError(f'"{index}": expected a "weight_map" of file names')
    if outside := [name for name in names if not is_plain_name(name)]:
        raise DataLossError(f'"{index}" speaks of "{outside[0]}", which does not lie beside it')
    return listed


def parsed_object(path: str, data: bytes) -> dict[str, Any]:
    """JSON of which no name stands twice: two readers would take two meanings from it."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise ValueError("a name stands in it twice")
        return found

    try:
        header = json.loads(data.decode("utf-8"), object_pairs_hook=unique)
    except (ValueError, RecursionError) as error:
        raise DataLossError(f'"{path}": its header cannot be read: {error}') from None
    if not isinstance(header, dict):
        raise DataLossError(f'"{path}": its header is {type(header).__name__}, expected an object')
    return header
