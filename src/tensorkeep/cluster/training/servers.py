"""The process that has a model's variables: it applies gradients, saves, and takes all back when something is lost.

Gradients are applied as they come (asynchronous, as DeepRec's parameter servers do), or those of all workers together
(synchronous, at a barrier). What is saved is one checkpoint: the variables, the tables, written by all their parts at
the same time, and how many batches of each worker are in it. When a part of a table is lost, or this process, all go
back to that checkpoint, and workers go on from the batches that it has not seen: no batch counts twice, none is lost.
"""

from __future__ import annotations

import posixpath
import threading
import uuid
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.bundle.writer import remove_bundle
from tensorkeep.checkpoint.finding.latest import latest_checkpoint
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.finding.state_file import read_checkpoint_state, write_checkpoint_state
from tensorkeep.cluster.tables.links import PartitionLostError
from tensorkeep.cluster.tables.saving import save_parts
from tensorkeep.cluster.tables.sharded_table import ShardedEmbeddingTable
from tensorkeep.cluster.training.programs import BuiltProgram, Gradients, TrainingProgram
from tensorkeep.errors import DataLossError, FailedPreconditionError, InvalidArgumentError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import Durability, FileSystem, atomic_write

Mode = Literal["synchronous", "asynchronous"]

POSITIONS: Final = "tensorkeep_training/positions"
"""The tensor of a checkpoint that says how many batches of each worker are in it."""
STEPS: Final = "tensorkeep_training/steps"

_GLOBAL_STEP: Final = "global_step"
_RUN: Final = "tensorkeep_training.run"


@dataclass(frozen=True)
class TrainingOptions:
    """How several workers train a model."""

    folder: str
    """Where checkpoints go; all machines reach it."""
    workers: int = 1
    mode: Mode = "synchronous"
    save_every: int = 100
    """Steps from one checkpoint to the next; the last one is saved when all is done."""
    base: str = "model"
    """What checkpoints are called, with the number of updates behind it."""
    keep: int = 5
    """How many checkpoints are kept."""
    durability: Durability = Durability.DISK
    fs: FileSystem = FILES

    def __post_init__(self) -> None:
        if self.mode not in ("synchronous", "asynchronous"):
            raise InvalidArgumentError(f'mode: expected "synchronous" or "asynchronous", got {self.mode!r}')
        if min(self.workers, self.save_every, self.keep) < 1:
            raise InvalidArgumentError(
                f"{self.workers} workers, a checkpoint every {self.save_every} steps, {self.keep} of which are kept: "
                "expected at least 1 of each"
            )


def begin_run(options: TrainingOptions) -> str:
    """Takes the folder of a training over, and gives the name of the run that has it from now on.

    Processes of a run whose program was killed may live on for some seconds; they save nothing any more.
    """
    run = uuid.uuid4().hex
    options.fs.make_directory(options.folder)
    atomic_write(options.fs, posixpath.join(options.folder, _RUN), run.encode(), options.durability)
    return run


def check_run(options: TrainingOptions, run: str) -> None:
    """FailedPreconditionError if another run has taken the folder over."""
    with closing(options.fs.open(posixpath.join(options.folder, _RUN))) as file:
        owner = bytes(file.read(0, file.size)).decode(errors="replace")
    if owner != run:
        raise FailedPreconditionError(
            f'another run has taken "{options.folder}" over: this one saves nothing there any more; choose another '
            "folder to train twice at a time"
        )


@dataclass(frozen=True)
class Turn:
    """Where a worker goes on."""

    epoch: str
    """Another one whenever all went back: what was computed before counts no more."""
    position: int
    """How many of its batches have been applied."""


class TrainingServer:
    """The variables of a model, and those who change them."""

    def __init__(self, build: Callable[[], TrainingProgram], options: TrainingOptions, run: str) -> None:
        """`run` is what `begin_run` gave: who begins another run in the folder ends the saving of this one."""
        self._options = options
        self._run = run
        self._built = BuiltProgram.of(build)
        self._tables: dict[str, ShardedEmbeddingTable] = {}
        self._condition = threading.Condition()
        self._waiting: dict[int, tuple[int, Gradients]] = {}
        self._finished: set[int] = set()
        self._positions = np.zeros(options.workers, np.int64)
        self._steps = 0
        self._version = 0
        self._epoch = uuid.uuid4().hex
        self.losses: dict[int, int] = {}
        """How often all went back, by the step they went back to."""
        self._built.initialize()
        self._find_tables()
        with self._condition:
            if self._latest() is None:
                self._save_first()
            else:
                self._restore()

    def _save_first(self) -> None:
        """Saves what there is before the first step. A part that is lost meanwhile had no rows yet."""
        for _ in range(sum(table.partitions for table in self._tables.values())):
            try:
                return self._save()
            except PartitionLostError:
                continue
        self._save()

    def _find_tables(self) -> None:
        for name, variable in self._built.tables.items():
            placement = variable.recipe.placement
            table = None if placement is None else placement.known_table(name)
            if table is None:
                raise InvalidArgumentError(
                    f'the table of "{name}" is in the session of each process, where others do not see it: give '
                    "get_embedding_variable a placement (TablesOnRay)"
                )
            self._tables[name] = table

    # ------------------------------------------------------------------------------------------ what workers ask

    def begin(self, worker: int) -> Turn:
        """Where a worker begins, or goes on."""
        with self._condition:
            self._finished.discard(worker)
            self._waiting.pop(worker, None)
            return Turn(self._epoch, int(self._positions[worker]))

    def pull(self, version: int) -> tuple[int, dict[str, Array]] | None:
        """The variables that gradients are computed from, with their version; None if the caller's is the newest."""
        with self._condition:
            if version == self._version:
                return None
            return self._version, self._built.values(self._built.needed)

    def push(self, epoch: str, worker: int, position: int, gradients: Gradients) -> bool:
        """Takes the gradients of a worker's batch. False if all went back meanwhile: then they count no more.

        Synchronous, it returns when the gradients of all workers have been applied.
        """
        with self._condition:
            if epoch != self._epoch or position != int(self._positions[worker]):
                return False
            try:
                if self._options.mode == "asynchronous":
                    self._positions[worker] += 1
                    self._apply(gradients)
                    return True
                self._waiting[worker] = (position, gradients)
                self._apply_together()
                self._condition.wait_for(lambda: self._is_over(epoch, worker, position))
                return epoch == self._epoch
            except PartitionLostError:
                self._recover()
                return False

    def push_all(self, epoch: str, several: Mapping[int, Gradients]) -> None:
        """Takes the gradients of several workers at once: together, or one after the other."""
        with self._condition:
            assert epoch == self._epoch
            for worker, gradients in several.items():
                if self._options.mode == "asynchronous":
                    self._positions[worker] += 1
                    self._apply(gradients)
                else:
                    self._waiting[worker] = (int(self._positions[worker]), gradients)
            self._apply_together()

    def finish(self, epoch: str, worker: int) -> bool:
        """Says that a worker has no more batches. False if all went back meanwhile."""
        with self._condition:
            if epoch != self._epoch:
                return False
            self._finished.add(worker)
            try:
                self._apply_together()
                if len(self._finished) == self._options.workers:
                    self._save()
            except PartitionLostError:
                self._recover()
                return False
            return True

    def report_loss(self, epoch: str) -> None:
        """Says that a part of a table was lost, as a worker has found out that looked something up."""
        with self._condition:
            if epoch == self._epoch:
                self._recover()

    def steps(self) -> int:
        """How many updates have been applied."""
        with self._condition:
            return self._steps

    def is_done(self) -> bool:
        """Whether all workers have finished, and the last checkpoint is saved."""
        with self._condition:
            return len(self._finished) == self._options.workers

    def latest(self) -> str | None:
        """The newest checkpoint."""
        return self._latest()

    # ------------------------------------------------------------------------------------------ updates

    def _is_over(self, epoch: str, worker: int, position: int) -> bool:
        return epoch != self._epoch or int(self._positions[worker]) > position

    def _apply_together(self) -> None:
        """Applies the gradients of all workers that still have batches, once they are all there, in their order."""
        expected = [worker for worker in range(self._options.workers) if worker not in self._finished]
        if not self._waiting or any(worker not in self._waiting for worker in expected):
            return
        taken = [self._waiting[worker][1] for worker in sorted(self._waiting)]
        for worker in self._waiting:
            self._positions[worker] += 1
        self._waiting.clear()
        self._apply(self._built.combined(taken))
        self._condition.notify_all()

    def _apply(self, gradients: Gradients) -> None:
        self._built.apply(gradients)
        self._steps += 1
        self._version += 1
        if self._steps % self._options.save_every == 0:
            self._save()

    # ------------------------------------------------------------------------------------------ files

    def _latest(self) -> str | None:
        folder, fs = self._options.folder, self._options.fs
        return latest_checkpoint(folder, fs=fs) if fs.is_directory(folder) else None

    def _save(self) -> None:
        """Saves variables, tables and positions as one checkpoint, and notes it as the latest."""
        options = self._options
        names = list(self._built.dense)
        tensors: dict[str, Any] = dict(self._built.values(names))
        tensors |= {POSITIONS: self._positions.copy(), STEPS: np.int64(self._steps)}
        target = posixpath.join(options.fs.canonical(options.folder), f"{options.base}-{self._steps}")
        if not self._tables:
            raise InvalidArgumentError("the program has no table on the cluster: train it in one process")
        links = [table.link for table in self._tables.values()]
        step = int(tensors[_GLOBAL_STEP]) if _GLOBAL_STEP in tensors else self._steps
        save_parts(
            links,
            target,
            tensors,
            step=step,
            is_delta=False,
            durability=options.durability,
            check=lambda: check_run(options, self._run),
        )
        for table in self._tables.values():
            table.note_saved(target, None, self._steps)
        self._note_latest(target)

    def _note_latest(self, target: str) -> None:
        """Notes a checkpoint as the latest of the folder, and deletes those that are not kept."""
        options = self._options
        state = read_checkpoint_state(options.folder, fs=options.fs)
        known = [] if state is None else [path for path in state.all_paths if path != target]
        first = max(0, len(known) + 1 - options.keep)
        write_checkpoint_state(options.folder, target, known[first:], fs=options.fs, durability=options.durability)
        for prefix in known[:first]:
            remove_bundle(options.fs, prefix, options.durability)

    def _restore(self) -> None:
        """Takes variables, tables and positions back to the newest checkpoint."""
        prefix = self._latest()
        assert prefix is not None
        with open_checkpoint(prefix, fs=self._options.fs) as reader:
            missing = [name for name in (*self._built.dense, POSITIONS, STEPS) if name not in reader]
            if missing:
                raise DataLossError(
                    f'"{prefix}" was not saved by this training: it has no "{missing[0]}"; choose another folder'
                )
            values: Mapping[str, Array] = reader.read_many(list(self._built.dense))
            positions = reader.read(POSITIONS)
            steps = int(reader.read(STEPS))
        if positions.size != self._options.workers:
            raise InvalidArgumentError(
                f'"{prefix}" was saved with {positions.size} workers, and there are {self._options.workers}: which '
                "batches are in it cannot be told; use as many workers, or restore it into a new training"
            )
        for table in self._tables.values():
            self._restore_table(table, prefix, steps)
        self._built.load(values)
        self._positions, self._steps = positions.copy(), steps
        self._version += 1

    def _restore_table(self, table: ShardedEmbeddingTable, prefix: str, steps: int) -> None:
        for _ in range(table.partitions + 1):  # each part may turn out to have come back
            try:
                table.restore(prefix, step=steps)
                return
            except PartitionLostError:
                continue
        table.restore(prefix, step=steps)

    def _recover(self) -> None:
        """Takes all back to the newest checkpoint; what workers compute for what was before counts no more."""
        self._epoch = uuid.uuid4().hex
        self._waiting.clear()
        self._finished.clear()
        self._restore()
        self.losses[self._steps] = self.losses.get(self._steps, 0) + 1
        self._condition.notify_all()
