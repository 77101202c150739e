"""RESP, the protocol of Redis: a file of commands that `redis-cli --pipe` takes in.

    SET  <prefix><key>  <row>                        RedisStrings
    HSET <prefix><bucket>  <key>  <row>              RedisHashes: at most so many large hashes

A row is its numbers, little-endian, as they lie in memory; a key is decimal text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.embedding.formats.streams import opened_for_export, writing_file
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text
from tensorkeep.io.showing.progress import Progress, Told

_AT_ONCE: Final = 1 << 14  # commands


class RedisLayout(Protocol):
    """Says under which names rows are stored."""

    def commands(self, name: str, keys: list[int], rows: list[bytes]) -> Iterator[tuple[bytes, ...]]:
        """The words of a command for each key."""
        ...


@dataclass(frozen=True, slots=True)
class RedisStrings:
    """Every row by itself, under `<prefix><key>`; `{name}` in the prefix stands for that of the embedding or slot."""

    prefix: str = "{name}:"

    def commands(self, name: str, keys: list[int], rows: list[bytes]) -> Iterator[tuple[bytes, ...]]:
        prefix = self.prefix.replace("{name}", name)
        return ((b"SET", f"{prefix}{key}".encode(), row) for key, row in zip(keys, rows, strict=True))


@dataclass(frozen=True, slots=True)
class RedisHashes:
    """Rows in so many hashes, under `<prefix><key mod count>`, fields named by key: less overhead for each row."""

    count: int = 1000
    prefix: str = "{name}:"

    def __post_init__(self) -> None:
        if self.count < 1:
            raise InvalidArgumentError(f"{self.count} hashes: expected at least 1")

    def commands(self, name: str, keys: list[int], rows: list[bytes]) -> Iterator[tuple[bytes, ...]]:
        prefix = self.prefix.replace("{name}", name)
        return (
            (b"HSET", f"{prefix}{key % self.count}".encode(), str(key).encode(), row)
            for key, row in zip(keys, rows, strict=True)
        )


def export_resp(
    source: PathLike,
    target: PathLike,
    name: str,
    column: str = "",
    layout: RedisLayout = RedisStrings(),
    *,
    progress: Progress | None = None,
    fs: FileSystem = FILES,
) -> str:
    """Writes the rows of an embedding, its weights or a slot, as commands for Redis. Keys without rows are left out."""
    path = path_text(target)
    with opened_for_export(source, name, column, fs) as found, writing_file(path, fs) as file:
        told = Told(progress, found.column.count)
        for batch in found.batches():
            assert batch.values is not None
            for start in range(0, batch.keys.size, _AT_ONCE):
                keys = batch.keys[start : start + _AT_ONCE].tolist()
                rows = _rows(batch.values[start : start + _AT_ONCE])
                file.write(b"".join(map(_encoded_command, layout.commands(found.column.name, keys, rows))))
            told.add(batch.keys.size)
    return path


def _rows(values: Array) -> list[bytes]:
    data = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
    size = data.itemsize * data.shape[1]
    flat = data.tobytes()
    return [flat[at : at + size] for at in range(0, len(flat), size)]


def _encoded_command(words: tuple[bytes, ...]) -> bytes:
    parts = [b"*%d\r\n" % len(words)]
    for word in words:
        parts.append(b"$%d\r\n%b\r\n" % (len(word), word))
    return b"".join(parts)
