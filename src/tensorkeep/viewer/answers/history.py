"""The checkpoints of a folder, and how two of them differ."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, Final

from tensorkeep.checkpoint.finding.file_names import meta_path
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.objects.variable_names import named_variables
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.errors import InvalidArgumentError, TensorKeepError
from tensorkeep.inspect.comparing import TensorDifference, compare, drift
from tensorkeep.inspect.folders import list_checkpoints
from tensorkeep.inspect.health import examine
from tensorkeep.inspect.watching import Watched, bytes_of
from tensorkeep.io.showing.progress import Told
from tensorkeep.viewer.asking import Asked
from tensorkeep.viewer.sources import Source

_MOST_DRIFTING: Final = 30  # checkpoints over which drift is told
_MOST_TENSORS: Final = 2000


def history(asked: Asked) -> Mapping[str, Any]:
    """The checkpoints of a folder, oldest first, with what their ledger says of them."""
    source = asked.source
    entries = list_checkpoints(source.path, fs=source.fs)
    return {
        "path": source.path,
        "checkpoints": [
            {
                "name": posixpath.basename(item.path),
                "step": item.step,
                "time": item.time,
                "bytes": item.nbytes,
                "metrics": dict(item.metrics),
                "is_latest": item.is_latest,
                "is_pinned": item.is_pinned,
                "problems": list(item.problems),
                "has_graph": source.fs.exists(meta_path(item.path)),
            }
            for item in entries
        ],
    }


def health(asked: Asked) -> Mapping[str, Any]:
    """Whether one checkpoint of a folder is fit for use. Reads all of it."""
    name = _name(asked, "name")
    report = examine(posixpath.join(asked.source.path, name), progress=asked.progress, fs=asked.source.fs)
    findings = [[item.ailment.value, item.tensor, item.detail] for item in report.findings]
    return {"name": name, "is_healthy": report.is_healthy, "tensors": report.tensors, "findings": findings}


def _name(asked: Asked, key: str) -> str:
    name = asked.text(key)
    if not name or posixpath.basename(name) != name or name in (".", ".."):
        raise InvalidArgumentError(f'"{name}" is no checkpoint of the folder')
    return name


@contextmanager
def _opened_by_names(source: Source, name: str) -> Iterator[CheckpointReader]:
    with open_checkpoint(posixpath.join(source.path, name), fs=source.fs) as reader:
        found = reader
        with suppress(TensorKeepError):  # its tensors go by their keys
            found = named_variables(reader)
        yield found


def comparison(asked: Asked) -> Mapping[str, Any]:
    """How two checkpoints of a folder differ, tensor by tensor. Reads both."""
    source = asked.source
    with (
        _opened_by_names(source, _name(asked, "first")) as first,
        _opened_by_names(source, _name(asked, "second")) as second,
    ):
        told = Told(asked.progress, bytes_of(first) + bytes_of(second))
        found = compare(Watched(first, told), Watched(second, told))
    return {
        "removed": list(found.removed),
        "added": list(found.added),
        "reshaped": [[name, str(old), str(new)] for name, (old, new) in found.reshaped.items()],
        "changed": [[name, *_difference(item)] for name, item in found.changed.items()],
        "same": list(found.same),
    }


def _difference(item: TensorDifference) -> list[Any]:
    return [item.differing, item.count, item.largest, item.mean, item.relative, item.cosine]


def drifting(asked: Asked) -> Mapping[str, Any]:
    """How far tensors have moved from each checkpoint of a folder to the next. Reads all of them, twice."""
    source = asked.source
    entries = [item for item in list_checkpoints(source.path, fs=source.fs) if not item.problems]
    chosen = entries[-_MOST_DRIFTING:]
    with ExitStack() as stack:
        opened = [
            (
                posixpath.basename(item.path),
                stack.enter_context(_opened_by_names(source, posixpath.basename(item.path))),
            )
            for item in chosen
        ]
        told = Told(asked.progress, 2 * sum(bytes_of(reader) for _, reader in opened))
        found = drift([(label, Watched(reader, told)) for label, reader in opened])
    ordered = sorted(found.steps, key=lambda name: -(found.total[name] or 0))
    return {
        "labels": list(found.labels),
        "left_out": len(entries) - len(chosen),
        "tensors": [[name, list(found.steps[name]), found.total[name]] for name in ordered[:_MOST_TENSORS]],
        "more_tensors": max(len(ordered) - _MOST_TENSORS, 0),
    }
