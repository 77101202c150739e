"""Scans of all models in folders, and under patterns of paths."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Final

from tensorkeep.checkpoint.finding.file_names import index_path, meta_path
from tensorkeep.errors import MissingFileError, TensorKeepError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text
from tensorkeep.io.files.globbing import has_wildcards, matching_paths
from tensorkeep.proto.identification import FileKind, identify_proto, kind_of_file
from tensorkeep.saved_model.files.layout import contains_saved_model
from tensorkeep.saved_model.scan.files import scan_other
from tensorkeep.saved_model.scan.model_scan import scan_model
from tensorkeep.saved_model.scan.report import NOT_SCANNED, Finding, Findings, ScanPolicy, ScanReport

_LOOKED_AT: Final = 1 << 20  # bytes of a file, to tell what it is
_MOST_FILES: Final = 100_000
_DEEPEST: Final = 30
_MODELS: Final = (
    FileKind.SAVED_MODEL,
    FileKind.META_GRAPH,
    FileKind.GRAPH,
    FileKind.FUNCTION,
    FileKind.RIEGELI,
    FileKind.HDF5,
    FileKind.ZIP,
)

_NUMBERS_ONLY: Final = (FileKind.CHECKPOINT_TABLE, FileKind.CHECKPOINT_STATE, FileKind.SAFETENSORS, FileKind.NUMPY)


def scan_all(
    paths: Sequence[PathLike], policy: ScanPolicy | None = None, *, fs: FileSystem = FILES
) -> list[ScanReport]:
    """Scans what is at some paths: models, files, checkpoints, folders with models below, or patterns of such.

    There is a report for each model, and for each other file in which something was found. MissingFileError, with all
    of them, if there is nothing at some path.
    """
    chosen = policy or ScanPolicy()
    expanded = [(path_text(path), _expanded_paths(path_text(path), fs)) for path in paths]
    if missing := [given for given, found in expanded if not found]:
        raise MissingFileError(f"there is nothing at {', '.join(map(repr, missing))}")
    unique = dict.fromkeys(path for _, found in expanded for path in found)
    return [report for path in unique for report in _reports(path, chosen, fs)]


def _expanded_paths(path: str, fs: FileSystem) -> list[str]:
    if fs.exists(path):
        return [path]
    if checkpoint := [file for file in (meta_path(path), index_path(path)) if fs.exists(file)]:
        return checkpoint
    if not has_wildcards(path):
        return []
    return matching_paths(
        path, exists=fs.exists, names_in=lambda folder: fs.list(folder or ".") if fs.is_directory(folder or ".") else ()
    )


def _reports(path: str, policy: ScanPolicy, fs: FileSystem) -> Iterator[ScanReport]:
    if not fs.is_directory(path):
        yield from _of_named_file(path, policy, fs)
        return
    if contains_saved_model(path, fs):
        yield scan_model(path, policy, fs)
        return
    pending, count = [(path, 0)], 0
    while pending:
        folder, depth = pending.pop()
        inner: list[tuple[str, int]] = []
        for name in sorted(fs.list(folder)):
            at = posixpath.join(folder, name)
            count += 1
            if count > _MOST_FILES or depth > _DEEPEST:
                yield _unseen(at, policy, "there are too many files, or folders in folders")
                return
            if not fs.is_directory(at):
                yield from _of_file(at, policy, fs)
            elif contains_saved_model(at, fs):
                yield scan_model(at, policy, fs)
            else:
                inner.append((at, depth + 1))
        pending += reversed(inner)


def _of_named_file(path: str, policy: ScanPolicy, fs: FileSystem) -> Iterator[ScanReport]:
    """The report on a file that somebody asks for by its name: there is one, whatever is in it."""
    reports = list(_of_file(path, policy, fs))
    if reports:
        yield from reports
    elif kind_of_file(path, fs) in _NUMBERS_ONLY:
        found = Findings(policy)
        found.files.append(path)
        yield found.report(path)
    else:
        yield scan_model(path, policy, fs)  # which says what it is, and that it could not be looked at


def _of_file(path: str, policy: ScanPolicy, fs: FileSystem) -> Iterator[ScanReport]:
    """The report on a file that is a model, or has something in it that runs."""
    try:
        with closing(fs.open(path)) as file:
            start = bytes(file.read(0, min(file.size, _LOOKED_AT)))
    except TensorKeepError as error:
        yield _unseen(path, policy, str(error)[:500])
        return
    if identify_proto(start).kind in _MODELS:
        yield scan_model(path, policy, fs)
        return
    found = Findings(policy)
    found.files.append(path)
    scan_other(posixpath.join(".", path) if path.startswith("variables/") else path, start, found)
    report = found.report(path)
    if not report.is_clean:
        yield report


def _unseen(path: str, policy: ScanPolicy, reason: str) -> ScanReport:
    found = Findings(policy)
    found.add(Finding(NOT_SCANNED, "files", path, "", reason))
    return found.report(path)


def sarif(reports: Iterable[ScanReport]) -> str:
    """Several reports as one document in the static analysis results interchange format, version 2.1.0."""
    findings = [_with_path(item, report.path) for report in reports for item in report.findings]
    whole = ScanReport("", tuple(findings), (), {}, {}, ())
    return json.dumps(json.loads(whole.to_sarif()), indent=2, sort_keys=True)


def _with_path(item: Finding, path: str) -> Finding:
    """The finding, with the path of its file, not only the name of the file in the model."""
    return item if item.file.startswith(path) else replace(item, file=posixpath.join(path, item.file))
