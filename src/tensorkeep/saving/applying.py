"""A retention policy applied to a folder as it is, whoever saved what is in it."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from tensorkeep.errors import MissingFileError, NotFoundError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text
from tensorkeep.saving.folder import CheckpointFolder, scan
from tensorkeep.saving.ledger import read_ledger
from tensorkeep.saving.retention import History, Record, Rule, unmeasured_checkpoints


@dataclass(frozen=True)
class Retained:
    """What is kept of a folder, oldest first, and what is deleted, or would be."""

    kept: tuple[Record, ...]
    doomed: tuple[Record, ...]
    is_dry_run: bool
    unmeasured: Mapping[str, tuple[Record, ...]] = field(default_factory=dict)
    """By metric, those that are kept because the rule would have to know it of them, and nobody told."""


@dataclass(frozen=True)
class _Exactly:
    """The policy that keeps exactly the checkpoints that were decided on before."""

    paths: frozenset[str]

    def start(self, now: float) -> History:
        return History()

    def advance(self, history: History, record: Record) -> tuple[History, tuple[Record, ...]]:
        records = (*history.kept, record)
        kept = tuple(item for item in records if item.path in self.paths)
        return replace(history, kept=kept), tuple(item for item in records if item.path not in self.paths)


def retain(
    directory: PathLike, rule: Rule, *, pins: Iterable[str] = (), dry_run: bool = True, fs: FileSystem = FILES
) -> Retained:
    """Asks a rule about all checkpoints of a folder, and unless it is a dry run, deletes what is not wanted.

    The latest checkpoint stays, and so do those that are pinned; `pins` are names of some more, which stay pinned.
    Checkpoints that others wrote are taken into the ledger first; the state file is written anew.
    """
    folder = path_text(directory)
    if not fs.is_directory(folder):
        raise MissingFileError(f'there is no folder "{folder}"')
    names = {posixpath.basename(pin) for pin in pins}
    records = [_pinned_record(item.record, names) for item in scan(folder, fs=fs)]
    if unknown := sorted(names - {posixpath.basename(item.path) for item in records}):
        known = ", ".join(posixpath.basename(item.path) for item in records) or "none"
        raise NotFoundError(f'"{folder}" has no checkpoint {", ".join(unknown)}; there are {known}')
    kept, doomed = rule.plan(records)
    if not dry_run and records:
        _carry_out(folder, _Exactly(frozenset(item.path for item in kept)), names, fs)
    return Retained(kept, doomed, dry_run, unmeasured_checkpoints(rule, kept))


def _pinned_record(record: Record, names: set[str]) -> Record:
    return replace(record, pinned=True) if posixpath.basename(record.path) in names else record


def _carry_out(folder: str, policy: _Exactly, pins: set[str], fs: FileSystem) -> None:
    CheckpointFolder(folder, policy, fs=fs).adopt()
    for writer in dict.fromkeys(entry.writer for entry in read_ledger(fs, folder)):
        ours = CheckpointFolder(folder, policy, writer=writer, fs=fs)
        for record in ours.records:
            if posixpath.basename(record.path) in pins and not record.pinned:
                ours.pin(record.path)
        ours.sweep()
