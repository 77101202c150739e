"""The ledger: what we wrote in a folder of checkpoints, and what is known of each checkpoint beside its files.

It lies beside the state file and has its name with ".tensorkeep.json" after it; TensorFlow never looks at it. Names
are without the folder, which can therefore be moved as a whole.

    {"version": 1, "checkpoints": [
        {"name": "model-7", "time": 1794725063.96, "step": 7, "metrics": {"loss": 0.25}, "pinned": false,
         "files": {"model-7.index": 410, "model-7.data-00000-of-00001": 8192}, "crc32c": 305419896, "doomed": false,
         "writer": "save model", "tensorkeep": "0.2.0"}]}

`files` are in the order in which they are deleted: the first one is the file without which there is no checkpoint,
so that none ever looks whole that is not. `crc32c` is of that file, or of its last mebibyte. By both we know our own
files again: what somebody else wrote under the same name is not ours to delete. `writer` says which of those who save
into the folder it was; each goes by a name of its own. `tensorkeep` is the version that wrote the files, and "" of a
checkpoint that somebody else wrote and we look after. A number that is none of JSON's is written as text.
"""

from __future__ import annotations

import json
import math
import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tensorkeep.checkpoint.finding.file_names import (
    META_SUFFIX,
    index_path,
    parse_data_path,
    parse_shard_path,
    parse_shard_pattern,
)
from tensorkeep.checkpoint.finding.state_file import STATE_FILE
from tensorkeep.embedding.stored.record_files import is_record_file, record_files
from tensorkeep.errors import DataLossError, InvalidArgumentError, NotFoundError
from tensorkeep.io.coding.crc32c import crc32c
from tensorkeep.io.files.directories import file_size
from tensorkeep.io.files.filesystem import Durability, FileSystem, atomic_write
from tensorkeep.io.files.paths import is_plain_name
from tensorkeep.saving.retention import Record

LEDGER_SUFFIX: Final = ".tensorkeep.json"
_LARGEST: Final = 256 << 20
_CHECKED: Final = 1 << 20
_VERSION: Final = 1


@dataclass(frozen=True)
class Entry:
    """One checkpoint that we wrote."""

    name: str
    time: float
    step: int | None = None
    metrics: Mapping[str, float] = field(default_factory=dict, hash=False)
    pinned: bool = False
    files: Mapping[str, int] = field(default_factory=dict, hash=False)
    """Their names and sizes, in the order in which they are deleted."""
    crc32c: int = 0
    doomed: bool = False
    """It was decided to delete it; perhaps not all of it is deleted yet."""
    writer: str = ""
    tensorkeep: str = ""
    """Our version that wrote the files; nothing if others did."""

    def record(self, folder: str) -> Record:
        path = posixpath.join(folder, self.name)
        return Record(path, self.time, self.step, self.metrics, sum(self.files.values()), self.pinned)


def ledger_path(folder: str, filename: str = STATE_FILE) -> str:
    return posixpath.join(folder, filename + LEDGER_SUFFIX)


def files_of(name: str, names: Sequence[str]) -> list[str]:
    """Of the names in a folder those that belong to a checkpoint, in the order in which they are to be deleted."""
    pattern = parse_shard_pattern(name)
    if pattern is not None:
        shards = ((item, parse_shard_path(item)) for item in names)
        first = [item for item, found in shards if found and (found[0], found[2]) == pattern]
        rest = {pattern[0] + META_SUFFIX}
    elif index_path(name) in names:
        first = [index_path(name)]
        rest = {item for item in names if (found := parse_data_path(item)) and found[0] == name}
        rest.add(name + META_SUFFIX)
    else:
        first, rest = [item for item in names if item == name], {name + META_SUFFIX}
    return [*first, *sorted(rest.intersection(names))] if first else []


def describe(fs: FileSystem, folder: str, record: Record, also: Sequence[str] = ()) -> Entry:
    """The entry of a checkpoint that lies there; NotFoundError if there is none. `also` go along if they are there."""
    name = posixpath.basename(record.path)
    names = fs.list(folder)
    files = files_of(name, names)
    files += [item for item in also if item in names and item not in files]
    if not files or files[0] in also:
        raise NotFoundError(f'"{record.path}": no file of such a checkpoint is in "{folder}"')
    files += record_files(fs, posixpath.join(folder, name))
    sizes = {item: file_size(fs, posixpath.join(folder, item)) for item in files}
    metrics = {metric: float(value) for metric, value in record.metrics.items()}
    checksum = _fingerprint(fs, posixpath.join(folder, files[0]))
    return Entry(name, float(record.time), record.step, metrics, record.pinned, sizes, checksum)


def is_present(fs: FileSystem, folder: str, entry: Entry) -> bool:
    """Whether the checkpoint is there and is the one that we wrote."""
    name = next(iter(entry.files), None)
    if name is None or not fs.exists(path := posixpath.join(folder, name)):
        return False
    return file_size(fs, path) == entry.files[name] and _fingerprint(fs, path) == entry.crc32c


def remaining_files(fs: FileSystem, folder: str, entry: Entry) -> list[str]:
    """The files of a checkpoint that are still there; none, if somebody else has since written one of that name."""
    first = next(iter(entry.files), None)
    if first is None or (fs.exists(posixpath.join(folder, first)) and not is_present(fs, folder, entry)):
        return []
    paths = {posixpath.join(folder, name): size for name, size in entry.files.items()}
    return [
        path
        for path, size in paths.items()
        if fs.exists(path) and not fs.is_directory(path) and file_size(fs, path) == size
    ]


def read_ledger(fs: FileSystem, folder: str, filename: str = STATE_FILE) -> tuple[Entry, ...]:
    """What we wrote in a folder, oldest first; nothing, if there is no ledger. A damaged one is a DataLossError."""
    path = ledger_path(folder, filename)
    if not fs.exists(path):
        return ()
    file = fs.open(path)
    try:
        if file.size > _LARGEST:
            raise DataLossError(f'"{path}": {file.size} bytes are too many for a ledger')
        data = bytes(file.read(0, file.size))
    finally:
        file.close()
    try:
        message = json.loads(data)
        if message["version"] != _VERSION:
            raise DataLossError(f'"{path}" is of version {message["version"]!r}, expected {_VERSION}')
        return tuple(_decode(item) for item in message["checkpoints"])
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        if isinstance(error, DataLossError):
            raise
        raise DataLossError(
            f'"{path}" is no ledger of checkpoints: {error}. Delete it, and the checkpoints in the folder stay for '
            "good, or adopt them anew"
        ) from None


def write_ledger(
    fs: FileSystem,
    folder: str,
    entries: Sequence[Entry],
    filename: str = STATE_FILE,
    durability: Durability = Durability.DISK,
) -> None:
    """Replaces the ledger in one step."""
    message = {"version": _VERSION, "checkpoints": [_encode(entry) for entry in entries]}
    text = json.dumps(message, indent=1, allow_nan=False, ensure_ascii=False)
    try:
        data = text.encode()
    except UnicodeEncodeError:
        raise InvalidArgumentError(f'names of checkpoints in "{folder}" are not UTF-8') from None
    atomic_write(fs, ledger_path(folder, filename), data, durability)


def _encode(entry: Entry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "time": _number(entry.time),
        "step": entry.step,
        "metrics": {name: _number(value) for name, value in entry.metrics.items()},
        "pinned": entry.pinned,
        "files": dict(entry.files),
        "crc32c": entry.crc32c,
        "doomed": entry.doomed,
        "writer": entry.writer,
        "tensorkeep": entry.tensorkeep,
    }


def _decode(item: Mapping[str, Any]) -> Entry:
    files = {_file(name): int(size) for name, size in item["files"].items()}
    step = item["step"]
    return Entry(
        name=_name(item["name"]),
        time=float(item["time"]),
        step=None if step is None else int(step),
        metrics={str(name): float(value) for name, value in item["metrics"].items()},
        pinned=item["pinned"] is True,
        files=files,
        crc32c=int(item["crc32c"]),
        doomed=item["doomed"] is True,
        writer=str(item.get("writer", "")),
        tensorkeep=str(item.get("tensorkeep", "")),
    )


def _name(name: object) -> str:
    """A name in the folder: a ledger that was tampered with must not lead us to delete files elsewhere."""
    if not isinstance(name, str) or not is_plain_name(name):
        raise ValueError(f"{name!r} is not the name of a file in the folder")
    return name


def _file(name: object) -> str:
    """A name in the folder, or in a folder of records in it."""
    if isinstance(name, str) and is_record_file(name):
        return "/".join(map(_name, name.split("/", 1)))
    return _name(name)


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)


def _fingerprint(fs: FileSystem, path: str) -> int:
    file = fs.open(path)
    try:
        length = min(file.size, _CHECKED)
        return crc32c(file.read(file.size - length, length))
    finally:
        file.close()
