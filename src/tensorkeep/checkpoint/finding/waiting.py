"""Waiting for checkpoints that another process writes."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from tensorkeep.checkpoint.finding.latest import recorded_checkpoint
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike

LOG: Final = logging.getLogger("tensorkeep")


@dataclass(frozen=True)
class Waiting:
    """How to wait. All times are in seconds."""

    interval: float = 0.0
    """The least time from one checkpoint to the next."""
    timeout: float | None = None
    """How long to wait for one; for ever unless it is given."""
    is_over: Callable[[], bool] | None = None
    """Asked whenever a wait has ended, with a checkpoint or for lack of time: whether no more will come."""
    period: float = 1.0
    """The time from one look at the folder to the next."""
    clock: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep


def new_checkpoints(directory: PathLike, waiting: Waiting = Waiting(), *, fs: FileSystem = FILES) -> Iterator[str]:
    """The latest checkpoint of a folder, by its state file, and each later one as it comes.

    Those that come and go between two looks are missed. It ends when nothing has come in time, unless `is_over` says
    that something still may; and whenever that says that nothing will.
    """
    last: str | None = None
    while True:
        found = next_checkpoint(directory, last, waiting, fs)
        if found is not None:
            start = waiting.clock()
            last = found
            yield found
            rest = start + waiting.interval - waiting.clock()
            if rest > 0:
                waiting.sleep(rest)
        elif waiting.is_over is None:
            LOG.info("Timed-out waiting for a checkpoint (without timeout_fn).")
            return
        if waiting.is_over is not None and waiting.is_over():
            LOG.info("Done. No new checkpoints will be generated.")
            return


def next_checkpoint(directory: PathLike, last: str | None, waiting: Waiting, fs: FileSystem = FILES) -> str | None:
    """The latest checkpoint once it is another than the last one; None if that takes too long."""
    LOG.info("Waiting for new checkpoint at %s", directory)
    end = None if waiting.timeout is None else waiting.clock() + waiting.timeout
    while True:
        found = recorded_checkpoint(directory, fs=fs)
        if found is not None and found != last:
            LOG.info("Found new checkpoint at %s", found)
            return found
        if end is not None and waiting.clock() + waiting.period > end:
            return None
        waiting.sleep(waiting.period)
