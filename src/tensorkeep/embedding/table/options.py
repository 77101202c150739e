"""Where a table keeps its rows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from tensorkeep.errors import InvalidArgumentError


@dataclass(frozen=True, slots=True)
class Memory:
    """All rows are in memory."""


class Cache(Enum):
    """Which rows leave memory when others need the room."""

    LRU = "least recently used"
    LFU = "least frequently used"


@dataclass(frozen=True, slots=True)
class FileTier:
    """Rows are in a file, and as many of them as fit into so many bytes in memory.

    `folder` is where the file is; it has no name, and is gone when the process ends. Keys, frequencies and versions are
    in memory all the same.
    """

    folder: str
    memory_bytes: int
    cache: Cache = Cache.LFU

    def __post_init__(self) -> None:
        if self.memory_bytes < 1:
            raise InvalidArgumentError(f"{self.memory_bytes} bytes of memory hold no rows")


Storage: TypeAlias = Memory | FileTier
