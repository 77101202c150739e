"""Policies for scans as they are written on a command line."""

from __future__ import annotations

from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.io.files.local import LOCAL
from tensorkeep.saved_model.edit.name_lists import split_names
from tensorkeep.saved_model.files.layout import read_file
from tensorkeep.saved_model.scan.report import ScanPolicy


def scan_policy(allow: str | None, allow_ops: str | None, fs: FileSystem = LOCAL) -> ScanPolicy:
    """A policy by lists of names, separated by commas. `allow_ops` may be @FILE, a list with remarks after `#`."""
    return ScanPolicy.of(split_names(allow), _only(allow_ops, fs))


def _only(text: str | None, fs: FileSystem) -> list[str] | None:
    """The ops that are allowed; None if all are. A file has them separated by commas or white space."""
    if text is None or not text.startswith("@"):
        return None if text is None else split_names(text)
    lines = read_file(text[1:], fs).decode("utf-8", "replace").splitlines()
    return split_names(",".join(",".join(line.partition("#")[0].split()) for line in lines))
