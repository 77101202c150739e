"""The names of checkpoint files.

V2   prefix.index, prefix.data-00000-of-00003 ...        the index says how many data files there are
V1   path                                                 one file
     path-00000-of-00003 ...                              several; together they go by path-?????-of-00003, and
                                                          by path-?????-of-????? if there is no other number of them
both prefix.meta                                          the graph, if one was saved along

The directory of a SavedModel stands for the checkpoint variables/variables in it.
"""

from __future__ import annotations

import re
from typing import Final

INDEX_SUFFIX: Final = ".index"
META_SUFFIX: Final = ".meta"
IN_MODEL: Final = "variables/variables"
"""Where a SavedModel has its checkpoint."""
RECORDS: Final = "-ssd_record"
"""What the bundle ends with that says where DeepRec's SSD tier has rows of a table, beside the checkpoint."""
OBJECT_GRAPH_KEY: Final = "_CHECKPOINTABLE_OBJECT_GRAPH"
"""The tensor by which an object-based checkpoint is known: the description of its objects."""

_DATA: Final = re.compile(r"(?P<prefix>.*)\.data-(?P<shard>[0-9]{5,10})-of-(?P<count>[0-9]{5,10})", re.DOTALL)
_PATTERN: Final = re.compile(r"(?P<path>.*)-\?{5}-of-(?P<count>[0-9]{5,10})", re.DOTALL)
_OPEN_PATTERN: Final = re.compile(r"(?P<path>.*)-\?{5}-of-\?{5}", re.DOTALL)
_NUMBERED: Final = re.compile(r"-[0-9?]+-of-[0-9?]+$")
_SHARD: Final = re.compile(r"(?P<path>.*)-(?P<shard>[0-9]{5,10})-of-(?P<count>[0-9]{5,10})", re.DOTALL)


def index_path(prefix: str) -> str:
    return prefix + INDEX_SUFFIX


def data_path(prefix: str, shard: int, count: int) -> str:
    return f"{prefix}.data-{shard:05d}-of-{count:05d}"


def shard_path(path: str, shard: int, count: int) -> str:
    """One file of a V1 checkpoint in several."""
    return f"{path}-{shard:05d}-of-{count:05d}"


def shard_pattern(path: str, count: int) -> str:
    """The name by which the files of a V1 checkpoint in several go together."""
    return f"{path}-?????-of-{count:05d}"


def meta_path(prefix: str, suffix: str = "meta") -> str:
    """The file of the graph that was saved along with a checkpoint, given by prefix, pattern or one of its files."""
    return f"{_NUMBERED.sub('', prefix)}.{suffix}"


def is_record_prefix(prefix: str) -> bool:
    """Whether a bundle of that prefix says where records of an SSD tier lie, and so is part of another checkpoint."""
    return prefix.endswith(RECORDS)


def parse_data_path(path: str) -> tuple[str, int, int] | None:
    """Prefix, shard and number of shards, if it is the name of a data file."""
    found = _DATA.fullmatch(path)
    return found and (found["prefix"], int(found["shard"]), int(found["count"]))


def parse_shard_pattern(path: str) -> tuple[str, int] | None:
    """Path and number of files, if it is the common name of a V1 checkpoint in several files."""
    found = _PATTERN.fullmatch(path)
    return found and (found["path"], int(found["count"]))


def parse_open_pattern(path: str) -> str | None:
    """The path, if it is the common name of a V1 checkpoint in several files that leaves their number open."""
    found = _OPEN_PATTERN.fullmatch(path)
    return found and found["path"]


def parse_shard_path(path: str) -> tuple[str, int, int] | None:
    """Path, shard and number of files, if it could be one of several files of a V1 checkpoint."""
    found = _SHARD.fullmatch(path)
    return found and (found["path"], int(found["shard"]), int(found["count"]))


def prefix_of_file(path: str) -> str | None:
    """The prefix that somebody meant who gave one of its files instead; None if it is no such file's name."""
    for suffix in (INDEX_SUFFIX, META_SUFFIX):
        if path.endswith(suffix) and len(path) > len(suffix):
            return path[: -len(suffix)]
    data = parse_data_path(path)
    return data[0] if data else None
