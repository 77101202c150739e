"""A folder of checkpoints under a retention policy: where what a policy decides is done.

After a save, in this order: the ledger (this checkpoint is ours, those are to go), the state file (it is the latest),
and then the deletions, of each checkpoint first the file that makes it one. A crash at any moment leaves a state file
whose latest checkpoint is whole; what was not yet deleted is deleted after the next save.

Several writers may share a folder, in one process or in several: all of them list what all of them saved, and a policy
is asked about what its own writer saved, and deletes nothing else.
"""

from __future__ import annotations

import posixpath
import re
import time
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tensorkeep._version import __version__
from tensorkeep.checkpoint.finding.file_names import INDEX_SUFFIX, is_record_prefix
from tensorkeep.checkpoint.finding.state_file import STATE_FILE, write_checkpoint_state
from tensorkeep.embedding.stored.record_files import delete_records
from tensorkeep.errors import InvalidArgumentError, NotFoundError, TensorKeepError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import Durability, FileSystem, PathLike, path_text
from tensorkeep.io.showing.amounts import some_of
from tensorkeep.saving.ledger import Entry, describe, is_present, read_ledger, remaining_files, write_ledger
from tensorkeep.saving.retention import (
    History,
    Record,
    RetentionPolicy,
    checked_metrics,
    checked_policy,
    unmeasured_checkpoints,
)

_STEP: Final = re.compile(r"-(\d{1,18})(?:-\?{5}-of-\d+)?\Z")


@dataclass(frozen=True)
class Found:
    """A checkpoint of a folder."""

    record: Record
    is_ours: bool
    """Whether the ledger says that we wrote it, so that a policy may delete it."""


def step_of(path: str) -> int | None:
    """The step in a checkpoint's name, the 7 of "run/model-7"; None if there is none."""
    found = _STEP.search(path)
    return int(found[1]) if found else None


def scan(directory: PathLike, filename: str = STATE_FILE, *, fs: FileSystem = FILES) -> tuple[Found, ...]:
    """The checkpoints in a folder that have an index, and all that we wrote, oldest first.

    Of what we did not write, the time is that of the file and the step that in the name.
    """
    folder = path_text(directory)
    if not fs.is_directory(folder):
        return ()
    names = fs.list(folder)
    ours = {
        entry.name: entry
        for entry in read_ledger(fs, folder, filename)
        if not entry.doomed and is_present(fs, folder, entry)
    }
    found = [Found(entry.record(folder), True) for entry in ours.values()]
    for name in names:
        prefix = name.removesuffix(INDEX_SUFFIX)
        if name != prefix and prefix and prefix not in ours and not is_record_prefix(prefix):
            described = describe(fs, folder, Record(posixpath.join(folder, prefix), 0.0, step_of(prefix)))
            record = described.record(folder)
            found.append(Found(replace(record, time=fs.modified(posixpath.join(folder, name))), False))
    return tuple(sorted(found, key=lambda item: (item.record.time, item.record.step or 0, item.record.path)))


class CheckpointFolder:
    """The checkpoints that we wrote in a folder, kept and deleted as a policy says.

    What was written there before, by us, is found again; what others wrote is left alone unless it is adopted. Others
    are also those who use the same ledger under another name than `writer`; who goes by the same name, in this process
    or another one, or after a restart, is one and the same. The state file lists all that are kept, by relative paths.
    """

    def __init__(
        self,
        directory: PathLike,
        policy: RetentionPolicy,
        *,
        writer: str = "",
        filename: str = STATE_FILE,
        clock: Callable[[], float] = time.time,
        durability: Durability = Durability.DISK,
        fs: FileSystem = FILES,
    ) -> None:
        self.directory = path_text(directory)
        self.policy = checked_policy(policy)
        self._writer = writer
        self._filename = filename
        self._clock = clock
        self._durability = durability
        self._fs = fs
        self._entries: dict[str, Entry] = {}
        self._told: set[str] = set()
        self._history = policy.start(clock())
        self._look()

    @property
    def records(self) -> tuple[Record, ...]:
        """The checkpoints under the policy, oldest first."""
        return self._history.kept

    def add(
        self,
        path: PathLike,
        *,
        step: int | None = None,
        metrics: Mapping[str, float] | None = None,
        pinned: bool = False,
        also: Sequence[str] = (),
        before: Callable[[], Sequence[str]] = tuple,
    ) -> tuple[Record, ...]:
        """Takes in a checkpoint that was just saved, as the latest, and returns those that were deleted for it.

        `also` are names of other files of the folder that are deleted along with it one day; its `.meta` is so anyhow.
        `before` gives the paths of checkpoints that are later than this one though they were taken in earlier.
        """
        text = path_text(path)
        if self._fs.canonical(posixpath.dirname(text) or ".") != self._fs.canonical(self.directory):
            raise InvalidArgumentError(f'"{text}" is not in the folder "{self.directory}"')
        number = step_of(text) if step is None else step
        record = Record(text, self._clock(), number, checked_metrics(metrics), pinned=pinned)
        with self._fs.locked(self.directory):
            self._look()
            described = describe(self._fs, self.directory, record, also)
            entry = replace(described, writer=self._writer, tensorkeep=__version__)
            history, doomed = self.policy.advance(self._history, entry.record(self.directory))
            self._insert(entry, {posixpath.basename(item) for item in before()})
            deleted = self._carry_out(history, doomed)
        self._tell_unmeasured()
        return deleted

    def _tell_unmeasured(self) -> None:
        """Says once of each metric that checkpoints stay because it is not known of them."""
        for metric, records in unmeasured_checkpoints(self.policy, self.records).items():
            if metric not in self._told:
                self._told.add(metric)
                names = [posixpath.basename(item.path) for item in records]
                warnings.warn(
                    f'{some_of(names, 3)} in "{self.directory}": saved without the metric "{metric}", by which the '
                    f'policy chooses, and kept for that; give it with each save (metrics={{"{metric}": …}}), or '
                    "delete them by another rule",
                    stacklevel=3,
                )

    def plan(self, policy: RetentionPolicy | None = None) -> tuple[Record, ...]:
        """What would be deleted if the latest checkpoint had just been saved, under this policy or another one."""
        *earlier, latest = self.records or (None,)
        if latest is None:
            return ()
        history = replace(self._history, kept=tuple(item for item in earlier if item is not None))
        return (policy or self.policy).advance(history, latest)[1]

    def sweep(self) -> tuple[Record, ...]:
        """Deletes what `plan` says, without a new checkpoint."""
        if not self._fs.is_directory(self.directory):
            return ()
        with self._fs.locked(self.directory):
            self._look()
            doomed = self.plan()
            kept = tuple(item for item in self.records if item not in doomed)
            return self._carry_out(replace(self._history, kept=kept), doomed) if self.records else ()

    def pin(self, path: PathLike, pinned: bool = True) -> None:
        """Exempts a checkpoint from deletion by any rule, or ends that. It must be one of `records`."""
        name = posixpath.basename(path_text(path))
        if not any(posixpath.basename(item.path) == name for item in self.records):
            raise self._not_kept(path)
        with self._fs.locked(self.directory):
            self._look()
            if name not in self._entries:
                raise self._not_kept(path)
            self._entries[name] = replace(self._entries[name], pinned=pinned)
            self._write_ledger()
            self._history = self._history.with_records(self._present())

    def adopt(self) -> tuple[Record, ...]:
        """Takes over the checkpoints that we did not write, and returns them; rules then apply to them too.

        What other writers of the same ledger saved is theirs.
        """
        if not self._fs.is_directory(self.directory):
            return ()
        with self._fs.locked(self.directory):
            self._look()
            found = [item.record for item in scan(self.directory, self._filename, fs=self._fs) if not item.is_ours]
            for record in found:
                entry = replace(describe(self._fs, self.directory, record), writer=self._writer)
                self._entries[entry.name] = entry
            if found:
                self._entries = dict(sorted(self._entries.items(), key=lambda item: item[1].time))
                self._write_ledger()
                self._history = self._history.with_records(self._present())
        return tuple(found)

    def _path(self, name: str) -> str:
        return posixpath.join(self.directory, name)

    def _not_kept(self, path: PathLike) -> NotFoundError:
        known = ", ".join(posixpath.basename(item.path) for item in self.records) or "none"
        return NotFoundError(f'"{path_text(path)}" is none of the checkpoints kept here: {known}')

    def _look(self) -> None:
        """Reads what the ledger says now; others may have written to it."""
        entries = {entry.name: entry for entry in read_ledger(self._fs, self.directory, self._filename)}
        if entries != self._entries:
            self._entries = entries
            self._history = self._history.with_records(self._present())

    def _present(self) -> list[Record]:
        """This writer's checkpoints of the ledger that are there and are ours, in the order in which they were saved.

        Not by their times: a clock may have been set back since.
        """
        entries = (entry for entry in self._entries.values() if not entry.doomed and entry.writer == self._writer)
        return [entry.record(self.directory) for entry in entries if is_present(self._fs, self.directory, entry)]

    def _insert(self, saved: Entry, later: Collection[str]) -> None:
        """Adds a checkpoint to the ledger as the latest one, but before those in `later`, which were asked for after
        it.
        """
        self._entries.pop(saved.name, None)
        after = [name for name in self._entries if name in later]
        if after:
            names = list(self._entries)
            names = names[names.index(after[0]) :]
            moved = {name: self._entries.pop(name) for name in names}
            self._entries |= {saved.name: saved} | moved
        else:
            self._entries[saved.name] = saved

    def _carry_out(self, history: History, doomed: Sequence[Record]) -> tuple[Record, ...]:
        self._drop_deleted()
        for record in doomed:
            name = posixpath.basename(record.path)
            self._entries[name] = replace(self._entries[name], doomed=True)
        self._write_ledger()
        self._history = history
        self._write_state()
        self._delete_doomed()
        return tuple(doomed)

    def _write_state(self) -> None:
        """Lists all that are kept: by our policy, and by the others'."""
        ours = {posixpath.basename(item.path) for item in self._history.kept}
        kept = [entry.record(self.directory) for entry in self._entries.values() if self._is_listed(entry, ours)]
        write_checkpoint_state(
            self.directory,
            kept[-1].path,
            [item.path for item in kept],
            timestamps=[item.time for item in kept],
            relative=True,
            filename=self._filename,
            durability=self._durability,
            fs=self._fs,
        )

    def _is_listed(self, entry: Entry, ours: Collection[str]) -> bool:
        if entry.writer == self._writer:
            return entry.name in ours
        return not entry.doomed and is_present(self._fs, self.directory, entry)

    def _drop_deleted(self) -> None:
        """Takes checkpoints out of the ledger that were to be deleted and of which no file is left."""
        for entry in [item for item in self._entries.values() if item.doomed]:
            if not remaining_files(self._fs, self.directory, entry):
                del self._entries[entry.name]

    def _delete_doomed(self) -> None:
        for entry in [item for item in self._entries.values() if item.doomed and item.writer == self._writer]:
            try:
                delete_records(self._fs, remaining_files(self._fs, self.directory, entry))
            except TensorKeepError as error:  # the checkpoint was saved: that is what counts
                warnings.warn(
                    f'"{self._path(entry.name)}" stays for now, it could not be deleted: {error}', stacklevel=4
                )

    def _write_ledger(self) -> None:
        entries = list(self._entries.values())
        write_ledger(self._fs, self.directory, entries, self._filename, self._durability)
