"""A queue for each set of tensors of a version, and what runs requests through them.

A queue is a row of batches, oldest first. A request goes into the batch of its kind that is being filled, or begins a
new one. A batch leaves the queue when a thread is free and it is full, or its first request has waited for as long as
the settings say. Requests whose shapes do not fit together, and are not to be padded, wait in batches of their own;
the original makes them all fail.
"""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from time import perf_counter
from typing import Final, Protocol

from tensorkeep.arrays import Array
from tensorkeep.errors import (
    InvalidArgumentError,
    ResourceExhaustedError,
    UnavailableError,
)
from tensorkeep.serving.batching.joining import (
    Kind,
    cut_request,
    join_requests,
    kind_of,
    paste_answers,
    piece_sizes,
    rows_of,
    split_outputs,
)
from tensorkeep.serving.batching.notes import BatchNote, BatchNotes, BatchReport, hint_of
from tensorkeep.serving.batching.parameters import BatchSettings
from tensorkeep.serving.batching.sizes import RunSizes
from tensorkeep.serving.batching.tasks import TIMED_OUT_IN_QUEUE, Batch, Task
from tensorkeep.serving.batching.threads import BatchThreads
from tensorkeep.serving.servables import Ends

LOG: Final = logging.getLogger("tensorkeep.serving")
_MOST_KINDS: Final = 8  # times as many batches as may wait otherwise, where requests have different shapes
_MOST_LEARNT: Final = 64  # sets of tensors of which it is known how many rows are best
_HINT_AFTER: Final = 1000  # runs, after which it is said once that none of them had several requests


class Computing(Protocol):
    """The part of a loaded version that queues use: what computes a batch."""

    name: str
    version: int

    def compute(self, ends: Ends, arrays: Sequence[Array]) -> list[Array]: ...


class BatchingRunner:
    """Puts the requests for a version through its graph, several at a time. Used from one event loop."""

    def __init__(
        self,
        servable: Computing,
        settings: BatchSettings,
        threads: BatchThreads,
        notes: BatchNotes | None = None,
        *,
        stopwatch: Callable[[], float] = perf_counter,
    ) -> None:
        self.servable = servable
        self.settings = settings
        self.threads = threads
        self.stopwatch = stopwatch
        self._notes = notes
        self._queues: dict[Ends, _Queue] = {}
        self._sizes: dict[Ends, RunSizes] = {}
        self._counts: Counter[str] = Counter()
        self._has_hinted = False

    async def run(self, ends: Ends, arrays: Sequence[Array], deadline: float | None) -> Sequence[Array]:
        """The fetched tensors for the fed ones; see `Runner`. UnavailableError at once if the queue is full."""
        queue = self._queues[ends] if ends in self._queues else _Queue(self, ends)
        tasks = queue.put(arrays, deadline)
        self._queues[ends] = queue  # only now: what is refused leaves nothing behind
        try:
            if len(tasks) == 1:
                return await tasks[0].future
            return paste_answers([await task.future for task in tasks])
        finally:
            for task in tasks:
                queue.forget(task)

    def change(self, settings: BatchSettings) -> None:
        """Puts other settings in force, for requests that come and for how long those in the queues still wait."""
        self.settings = settings
        for queue in self._queues.values():
            queue.reopen()
            self.threads.wake(queue)

    @property
    def waiting(self) -> int:
        """How many requests, or pieces of them, are in the queues."""
        return sum(queue.tasks for queue in self._queues.values())

    def report(self) -> BatchReport:
        """What has become of requests so far."""
        counts = self._counts
        hint = hint_of(counts) if counts["runs"] and not counts["joined"] else ""
        return BatchReport(counts["requests"], counts["runs"], counts["joined"], counts["rerun"], self.waiting, hint)

    def ran(self, note: BatchNote, rerun: int) -> None:
        """Counts a run, and how many of its requests were run again by themselves, since the joined run had failed."""
        self._counts.update(requests=note.requests, runs=1, joined=note.requests > 1, rerun=rerun)
        if self._notes is not None:
            self._notes.batched(note)
        if not self._has_hinted and self._counts["runs"] >= _HINT_AFTER and not self._counts["joined"]:
            self._has_hinted = True
            LOG.info(
                "batching is on for model %s, version %d, but none of %d runs had several requests: %s",
                self.servable.name, self.servable.version, self._counts["runs"], hint_of(self._counts),
            )  # fmt: skip

    def sizes_of(self, ends: Ends) -> RunSizes | None:
        """What is known of how many rows a run had best have; None where the settings say which sizes there are."""
        if self.settings.allowed_batch_sizes or not self.settings.learns_sizes:
            return None
        if len(self._sizes) >= _MOST_LEARNT and ends not in self._sizes:
            del self._sizes[next(iter(self._sizes))]
        return self._sizes.setdefault(ends, RunSizes())

    def count(self, what: str) -> None:
        """Takes note of why a batch did not grow."""
        self._counts[what] += 1

    def emptied(self, queue: _Queue) -> None:
        """Drops a queue that nothing waits in: a client may ask for any set of outputs."""
        if self._queues.get(queue.ends) is queue:
            del self._queues[queue.ends]


class _Queue:
    """The batches that wait for equal ends, oldest first."""

    def __init__(self, runner: BatchingRunner, ends: Ends) -> None:
        self.ends = ends
        self._runner = runner
        self._batches: deque[Batch] = deque()
        self._open: dict[Kind, Batch] = {}

    @property
    def tasks(self) -> int:
        return sum(len(batch.tasks) for batch in self._batches)

    # ------------------------------------------------------------------------------------------ Requests come

    def put(self, arrays: Sequence[Array], deadline: float | None) -> list[Task]:
        """The tasks that stand for a request now."""
        settings, clock = self._runner.settings, self._runner.threads.clock
        rows = rows_of(arrays)
        if rows > settings.max_batch_size:
            raise InvalidArgumentError(
                f"Task size {rows} is larger than maximum input batch size {settings.max_batch_size}"
            )
        now = clock.now()
        if deadline is not None and deadline <= now:
            raise ResourceExhaustedError(TIMED_OUT_IN_QUEUE)
        kind = kind_of(arrays, settings.pad_variable_length_inputs)
        sizes = self._sizes(kind, rows)
        self._require_room(kind, sizes)
        tasks = [Task(piece, now, deadline) for piece in cut_request(arrays, sizes)]
        for task in tasks:
            self._add(kind, task)
            if deadline is not None:
                task.timer = clock.call_at(deadline, task.expire)
        self._runner.threads.wake(self)
        return tasks

    def _sizes(self, kind: Kind, rows: int) -> list[int]:
        """How many rows each task of a request has: one task with all rows, unless requests are cut."""
        settings = self._runner.settings
        if not settings.enable_large_batch_splitting:
            return [rows]
        return piece_sizes(rows, self._room(kind), settings.rows_of_run)

    def _room(self, kind: Kind) -> int:
        """How many rows the batch that is being filled still takes."""
        batch = self._open.get(kind)
        return max(0, self._runner.settings.rows_of_run - batch.load) if batch is not None else 0

    def _require_room(self, kind: Kind, sizes: list[int]) -> None:
        """UnavailableError if a batch more than may wait would be needed.

        Batches of another kind count by their rows, as many shapes make many batches that hold little; but there is
        an end to that too.
        """
        settings = self._runner.settings
        most = settings.max_enqueued_batches
        needed = len(sizes) - (max(1, sizes[0]) <= self._room(kind))
        if not needed:
            return
        alike = sum(batch.kind == kind for batch in self._batches)
        load = sum(batch.load for batch in self._batches) + sum(sizes)
        is_loaded = len(self._batches) >= most and load > most * settings.rows_of_run
        if alike + needed > most or is_loaded or len(self._batches) >= _MOST_KINDS * most:
            raise UnavailableError(
                "The batch scheduling queue to which this task was submitted is full; currently "
                f"{len(self._batches)} batches enqueued and max_enqueued_batches is {most}"
            )

    def _add(self, kind: Kind, task: Task) -> None:
        most = self._runner.settings.rows_of_run
        batch = self._open.get(kind)
        if batch is None or batch.load + task.load > most:
            if batch is not None:
                self._close(batch)
            batch = self._open[kind] = Batch(kind, task.since)
            self._batches.append(batch)
        batch.add(task)
        if batch.load >= most:
            self._close(batch)

    def _close(self, batch: Batch) -> None:
        """No more requests come into a batch."""
        batch.is_full = True
        if self._open.get(batch.kind) is batch:
            del self._open[batch.kind]

    def reopen(self) -> None:
        """Decides anew which batches are full, after the settings have changed."""
        most = self._runner.settings.rows_of_run
        for batch in self._batches:
            batch.is_full = batch.load >= most or self._open.get(batch.kind) is not batch
            if batch.is_full:
                self._close(batch)

    # ------------------------------------------------------------------------------------------ Requests go

    def forget(self, task: Task) -> None:
        """Takes a task out that nobody waits for any more, if it is still there."""
        if task.timer is not None:
            task.timer.cancel()
        if not task.future.cancel() and not task.future.cancelled():
            task.future.exception()  # or a piece that failed besides another one would be told of as overlooked
        batch = task.batch
        if batch is not None:
            batch.remove(task)
            if not batch.tasks:
                self._drop(batch)
                if not self._batches:
                    self._runner.emptied(self)

    def _drop(self, batch: Batch) -> None:
        self._batches.remove(batch)
        self._close(batch)

    def ready_at(self) -> float | None:
        """When the next batch may be taken; None if none waits."""
        timeout = self._runner.settings.timeout_seconds
        return min((0.0 if batch.is_full else batch.since + timeout for batch in self._batches), default=None)

    def take(self, now: float) -> _Run | None:
        """The oldest batch that is ready, or a part of it, without those whom nobody waits for any more."""
        timeout = self._runner.settings.timeout_seconds
        for batch in list(self._batches):
            if not batch.is_full and now < batch.since + timeout:
                continue
            if len(batch.tasks) == 1 and (batch.is_full or len(self._batches) > 1):
                self._runner.count("large" if batch.is_full else "apart")
            sizes = self._runner.sizes_of(self.ends)
            tasks = self._take_tasks(batch, batch.load if sizes is None else sizes.rows_for(batch.load))
            tasks = [task for task in tasks if self._is_awaited(task, now)]
            if tasks:
                return _Run(self._runner, self.ends, tasks, now)
        return None

    def _take_tasks(self, batch: Batch, rows: int) -> list[Task]:
        """The first tasks of a batch, with at most so many rows together, but at least one task."""
        taken = batch.tasks[:1]
        load = taken[0].load
        for task in batch.tasks[1:]:
            load += task.load
            if load > rows:
                break
            taken.append(task)
        del batch.tasks[: len(taken)]
        batch.load -= sum(task.load for task in taken)
        if batch.tasks:
            batch.since = batch.tasks[0].since
        else:
            self._drop(batch)
            if not self._batches:
                self._runner.emptied(self)
        return taken

    def _is_awaited(self, task: Task, now: float) -> bool:
        if task.deadline is not None and task.deadline <= now:
            task.expire()
        task.batch = None
        return not task.future.done()


class _Run:
    """A batch that has left its queue."""

    def __init__(self, runner: BatchingRunner, ends: Ends, tasks: list[Task], now: float) -> None:
        self._runner = runner
        self._ends = ends
        self._tasks = tasks
        self._settings = runner.settings
        self._rows = sum(task.rows for task in tasks)
        self._run_rows = self._rows
        self._rerun = 0
        self._seconds: float | None = None
        self._waits = tuple(now - task.since for task in tasks)

    def work(self) -> list[list[Array] | Exception]:
        """For each task its answer, or its error. In a thread."""
        tasks = self._tasks
        try:
            return [*self._answers(tasks)]
        except Exception as error:
            if len(tasks) == 1:
                return [error]
        self._rerun = len(tasks)
        return [self._alone(task) for task in tasks]  # so that only those fail that are to blame

    def _alone(self, task: Task) -> list[Array] | Exception:
        try:
            return self._answers([task])[0]
        except Exception as error:
            return error

    def _answers(self, tasks: list[Task]) -> list[list[Array]]:
        batch = join_requests(
            self._ends.feeds,
            [task.arrays for task in tasks],
            pads=self._settings.pad_variable_length_inputs,
            sizes=self._settings.allowed_batch_sizes,
        )
        start = self._runner.stopwatch()
        outputs = self._runner.servable.compute(self._ends, batch.arrays)
        if len(tasks) == len(self._tasks):
            self._run_rows = batch.total
            self._seconds = self._runner.stopwatch() - start
        return split_outputs(outputs, batch)

    def finish(self, done: Future[object]) -> None:
        """Hands the answers out. On the event loop."""
        for task, result in zip(self._tasks, self._results(done), strict=True):
            if task.future.done():
                continue  # it was cancelled, or its time passed
            if isinstance(result, Exception):
                task.future.set_exception(result)
            else:
                task.future.set_result(result)
        sizes = self._runner.sizes_of(self._ends)
        if sizes is not None and self._seconds is not None:
            sizes.ran(self._run_rows, self._seconds)
        servable = self._runner.servable
        self._runner.ran(
            BatchNote(
                servable.name,
                servable.version,
                self._settings.thread_pool_name,
                len(self._tasks),
                self._rows,
                self._run_rows,
                self._waits,
                self._runner.waiting,
            ),
            self._rerun,
        )

    def _results(self, done: Future[object]) -> list[list[Array] | Exception]:
        error = None if done.cancelled() else done.exception()
        if done.cancelled() or error is not None:  # it was not begun any more, or the thread itself was ended
            return [
                UnavailableError(f"the server is stopping: {error or 'the run was not begun'}") for _ in self._tasks
            ]
        results = done.result()
        assert isinstance(results, list)
        return results
