"""A series of object-based checkpoints in a folder, of which some are kept: TensorFlow's `CheckpointManager`.

With `KeepActive`, its own rule, the state file is TensorFlow's to the byte. With any other policy the folder also has
a ledger; see `tensorkeep.saving.folder`.
"""

from __future__ import annotations

import logging
import posixpath
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol, TypeAlias

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.finding.file_names import META_SUFFIX
from tensorkeep.checkpoint.finding.state_file import read_checkpoint_state, write_checkpoint_state
from tensorkeep.embedding.stored.record_files import delete_records, record_files
from tensorkeep.errors import InvalidArgumentError, MissingFileError
from tensorkeep.graph.arguments import SessionLike
from tensorkeep.graph.graph import Tensor
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import Durability, FileSystem, PathLike, path_text
from tensorkeep.saving.folder import CheckpointFolder
from tensorkeep.saving.ledger import files_of
from tensorkeep.saving.retention import History, KeepActive, Record, RetentionPolicy, checked_metrics
from tensorkeep.saving.save_order import begin_save
from tensorkeep.tf1.training.objects.object_checkpoints import Checkpoint, CheckpointOptions
from tensorkeep.tf1.variables.variable import Variable

LOG: Final = logging.getLogger("tensorkeep")
_FIVE: Final = KeepActive(5)


class Recorder(Protocol):
    """Takes in the checkpoints of a folder, and deletes those that are not kept."""

    @property
    def records(self) -> tuple[Record, ...]: ...

    def add(
        self,
        path: PathLike,
        *,
        step: int | None = None,
        metrics: Mapping[str, float] | None = None,
        pinned: bool = False,
        before: Callable[[], Sequence[str]] = tuple,
    ) -> tuple[Record, ...]: ...


def _check_place(metrics: Mapping[str, float] | None, pinned: bool) -> None:
    if metrics or pinned:
        raise InvalidArgumentError(
            "a state file has no place for metrics or pins: give the manager a policy other than KeepActive, such "
            "as KeepLatest(5)"
        )


class StateFileRecorder:
    """Remembers everything in the state file alone, as TensorFlow's manager does.

    It writes the file before it deletes anything, with all that is still there, and again afterwards.
    """

    def __init__(self, directory: str, policy: KeepActive, clock: Callable[[], float], fs: FileSystem) -> None:
        self._directory = directory
        self._policy = policy
        self._clock = clock
        self._fs = fs
        now = clock()
        state = read_checkpoint_state(directory, fs=fs)
        if state is not None and now < state.last_preserved:
            behind = state.last_preserved - now
            LOG.warning("the clock is %f seconds behind the last preserved checkpoint timestamp", behind)
        self._history = policy.resume(state, now)

    @property
    def records(self) -> tuple[Record, ...]:
        return self._history.kept

    def add(
        self,
        path: PathLike,
        *,
        step: int | None = None,
        metrics: Mapping[str, float] | None = None,
        pinned: bool = False,
        before: Callable[[], Sequence[str]] = tuple,
    ) -> tuple[Record, ...]:
        _check_place(metrics, pinned)
        record = Record(path_text(path), self._clock(), step)
        history, doomed = self._policy.advance(self._history, record)
        everything = [*(item for item in self._history.kept if item.path != record.path), record]
        is_latest = not before()
        if is_latest:
            self._write(replace(self._history, kept=tuple(everything)))
        for item in doomed:
            self._delete(item.path)
        if is_latest:
            self._write(history)
        self._history = history
        return doomed

    def _write(self, history: History) -> None:
        write_checkpoint_state(
            self._directory,
            history.kept[-1].path,
            [item.path for item in history.kept],
            timestamps=[item.time for item in history.kept],
            last_preserved=history.mark,
            relative=True,
            fs=self._fs,
        )

    def _delete(self, path: str) -> None:
        folder, name = posixpath.split(path)
        try:
            names = self._fs.list(folder)
        except MissingFileError:
            return  # a state file may name what lies elsewhere, or no longer anywhere
        files = [file for file in files_of(name, names) if not file.endswith(META_SUFFIX)]
        files += record_files(self._fs, path)
        delete_records(self._fs, [posixpath.join(folder, file) for file in files])


Counter: TypeAlias = Variable | Tensor | Array | int | np.integer[Any]
"""A number, or what holds one or gives it when run."""


@dataclass(frozen=True)
class ManagerOptions:
    """What a manager does besides keeping and deleting."""

    name: str = "ckpt"
    step_counter: Counter | None = None
    """A variable, or anything that is a number, that tells the step."""
    interval: int | None = None
    """How many steps there are at least between two checkpoints; needs a step counter."""
    last_step: int | None = None
    """The step of the last checkpoint, from which the interval counts."""
    initialize: Callable[[], Any] | None = None
    """Called by `restore_or_initialize` if there is no checkpoint."""
    clock: Callable[[], float] = time.time
    durability: Durability = Durability.DISK

    def __post_init__(self) -> None:
        if self.interval is not None and self.step_counter is None:
            raise InvalidArgumentError("`step_counter` should be passed if `checkpoint_interval` is not None.")


class CheckpointManager:
    """Saves numbered checkpoints of the same objects in a folder, and keeps those that a policy wants."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        directory: PathLike,
        policy: RetentionPolicy = _FIVE,
        options: ManagerOptions = ManagerOptions(),
        *,
        fs: FileSystem = FILES,
    ) -> None:
        self._checkpoint = checkpoint
        self._directory = path_text(directory)
        self._options = options
        self._fs = fs
        state = read_checkpoint_state(self._directory, fs=fs)
        self._latest = None if state is None else state.latest
        self._recorder = self._recorder_for(policy)
        self._last_step = options.last_step
        self._count_up: Any = None

    def _recorder_for(self, policy: RetentionPolicy) -> Recorder:
        clock, fs = self._options.clock, self._fs
        if isinstance(policy, KeepActive):
            return StateFileRecorder(self._directory, policy, clock, fs)
        options = self._options
        return CheckpointFolder(
            self._directory, policy, writer=options.name, clock=clock, durability=options.durability, fs=fs
        )

    @property
    def directory(self) -> str:
        return self._directory

    @property
    def checkpoint(self) -> Checkpoint:
        return self._checkpoint

    @property
    def checkpoint_interval(self) -> int | None:
        return self._options.interval

    @property
    def latest_checkpoint(self) -> str | None:
        """The path of the latest checkpoint; None if there is none."""
        return self._latest

    @property
    def checkpoints(self) -> list[str]:
        """The checkpoints that are managed, oldest first. Those kept for good by `KeepActive` are not among them."""
        return [item.path for item in self._recorder.records]

    def save(
        self,
        checkpoint_number: Counter | None = None,
        check_interval: bool = True,
        options: CheckpointOptions | None = None,
        *,
        session: SessionLike | None = None,
        metrics: Mapping[str, float] | None = None,
        pinned: bool = False,
    ) -> str | None:
        """Saves a checkpoint, deletes what the policy no longer wants, and returns its path.

        It goes by `checkpoint_number`, or by the counter of the checkpoint, which is counted up in any case. None, if
        the interval has not passed or the step was saved before.
        """
        measured = checked_metrics(metrics)
        if isinstance(self._recorder, StateFileRecorder):
            _check_place(measured, pinned)  # before anything is written
        step = self._step(session)
        if self._options.interval is not None and step is not None:
            if not self._is_due(step, self._options.interval if check_interval else 0):
                return None
            self._last_step = step
        with begin_save(self._fs, self._directory) as turn:
            counted = self._count(session)
            number = counted if checkpoint_number is None else self._number(checkpoint_number, session)
            prefix = f"{posixpath.join(self._directory, self._options.name)}-{number}"
            path = self._checkpoint.write_to(prefix, session, options, self._fs)
            with self._fs.locked(self._directory):
                at = number if step is None else step
                self._recorder.add(path, step=at, metrics=measured, pinned=pinned, before=turn.later)
                turn.path = path
        self._latest = path
        return path

    def restore_or_initialize(self, session: SessionLike | None = None) -> str | None:
        """Restores the latest checkpoint and returns its path; if there is none, initializes and returns None.

        Variables are restored if a session is given; without one, as in TensorFlow, operations are added that do it.
        """
        if self._latest is None:
            if self._options.initialize is not None:
                self._options.initialize()
            return None
        status = self._checkpoint.restore_from(self._latest, None, self._fs)
        if session is not None:
            status.initialize_or_restore(session)
        if self._options.interval is not None:
            self._last_step = self._number(self._options.step_counter, session)
        return self._latest

    def sync(self) -> None:
        """Waits for saves under way; there are none, for each is over when `save` returns."""

    def _step(self, session: SessionLike | None) -> int | None:
        """The step, if anybody wants to know it."""
        counter = self._options.step_counter
        if counter is None or (self._options.interval is None and isinstance(self._recorder, StateFileRecorder)):
            return None
        return self._number(counter, session)

    def _is_due(self, step: int, interval: int) -> bool:
        last = self._last_step
        return last is None or (step != last and step >= last + interval)

    def _count(self, session: SessionLike | None) -> int:
        counter = self._checkpoint.initialized_counter(session)
        if isinstance(counter, np.ndarray):
            counter += 1
            return int(counter)
        if self._count_up is None:
            self._count_up = counter.assign_add(1, read_value=False)
        found = self._checkpoint.find_session(session)
        found.run(self._count_up)
        return int(found.run(counter))

    def _number(self, value: Counter | None, session: SessionLike | None) -> int:
        if isinstance(value, int | np.integer | np.ndarray):
            return int(value)
        return int(self._checkpoint.find_session(session).run(value))
