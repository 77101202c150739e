"""What is looked at, and what can be seen of each."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

from tensorkeep._version import __version__
from tensorkeep.convert.formats import FORMATS
from tensorkeep.embedding.stored.embeddings import stored_embeddings
from tensorkeep.errors import TensorKeepError
from tensorkeep.inspect.folders import checkpoints_of
from tensorkeep.proto.identification import FileKind
from tensorkeep.viewer.asking import Asked
from tensorkeep.viewer.sources import Source

_MOST_ENTRIES: Final = 200  # of a folder that are looked into
_DULL: Final = frozenset(
    (
        "folder",
        *(kind.value for kind in (FileKind.UNKNOWN, FileKind.TEXT, FileKind.JSON, FileKind.HTML, FileKind.EMPTY)),
    )
)
"""Entries of a folder in which there is nothing to see."""
_OPENED: Final = (
    "a folder of checkpoints, or one checkpoint by its prefix (run/model-1000)",
    "the directory of a SavedModel (export/1), or its saved_model.pb",
    "a meta graph (.meta) or a frozen graph (.pb)",
)


def sources(asked: Asked) -> Mapping[str, Any]:
    """All that is looked at, each with the views that it has."""
    return {
        "version": __version__,
        "sources": [_source_overview(number, item) for number, item in enumerate(asked.sources)],
    }


def open_entry(asked: Asked) -> Mapping[str, Any]:
    """Looks at something in a folder that is looked at already; gives its number."""
    return {"source": asked.sources.add(asked.integer("source"), asked.text("name"))}


def _source_overview(number: int, source: Source) -> dict[str, Any]:
    views = list(_views(source))
    found = source.found
    told: dict[str, Any] = {
        "number": number,
        "path": source.path,
        "name": source.name,
        "kind": found.kind,
        "writer": found.writer,
        "format": found.format_of,
        "error": source.error,
        "facts": [[key, _text(value)] for key, value in found.facts.items()],
        "views": views,
        "entries": [],
        "could_be": [],
    }
    if source.is_folder and "history" not in views:
        told["entries"] = list(_entries(source))
    if not views:
        endings = sorted({ending for item in FORMATS for ending in item.endings if ending.startswith(".")})
        told["could_be"] = [*_OPENED, f"a file of tensors: {', '.join(endings)}"]
    return told


def _views(source: Source) -> Iterator[str]:
    """What can be seen of a source, by what is cheap to know."""
    if source.has_graph:
        yield "graph"
    if _has_tensors(source):
        yield "weights"
    if source.is_checkpoint:
        with suppress(TensorKeepError):
            if stored_embeddings(source.reader, fs=source.fs):
                yield "tables"
    if source.found.kind == "checkpoint folder" or (source.is_folder and checkpoints_of(source.path, fs=source.fs)):
        yield "history"
    if source.is_model:
        yield "run"
    if source.has_graph or _has_tensors(source):
        yield "checks"


def _has_tensors(source: Source) -> bool:
    with suppress(TensorKeepError):
        return bool(source.listing.tensors)
    return False


def _entries(source: Source) -> Iterator[dict[str, str]]:
    """What is in a folder and can be looked at."""
    with suppress(TensorKeepError):
        for name in sorted(source.fs.list(source.path))[:_MOST_ENTRIES]:
            entry = Source(posixpath.join(source.path, name), source.fs)
            if not entry.error and entry.found.kind not in _DULL:
                yield {"name": name, "kind": entry.found.kind}


def _text(value: object) -> str:
    """A fact in words."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_text(item)}" for key, item in value.items()) or "none"
    if isinstance(value, list | tuple):
        return "; ".join(map(_text, value)) or "none"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
