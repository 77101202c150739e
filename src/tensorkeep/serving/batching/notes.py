"""What counters and reports are told of batched runs: a note on each run, and a report on all runs so far."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class BatchNote:
    """What is told of one run to whatever counts runs."""

    model: str
    version: int
    pool: str
    """The name of the threads."""
    requests: int
    rows: int
    """Those of requests."""
    run_rows: int
    """With those to fill up."""
    waits: tuple[float, ...]
    """How long each request waited in the queue, in seconds."""
    left: int = 0
    """How many requests still wait for runs of the version."""


class BatchNotes(Protocol):
    """Something that counts runs. It is called on the event loop, and never raises."""

    def batched(self, note: BatchNote) -> None: ...


@dataclass(frozen=True, slots=True)
class BatchReport:
    """What has become of requests so far, and why they are not joined, if they are not."""

    requests: int
    runs: int
    joined_runs: int
    """Those of several requests."""
    rerun: int
    """Requests that were run once more, by themselves, because the run of all failed."""
    waiting: int
    hint: str = ""


def hint_of(counts: Counter[str]) -> str:
    """A sentence that says why no two requests were joined: the reason that was counted most often."""
    if counts["apart"] > counts["large"]:
        return (
            "requests that waited at the same time had different shapes; set pad_variable_length_inputs, or let "
            "clients send equal shapes"
        )
    if counts["large"]:
        return "single requests fill a batch; raise max_batch_size, or let clients send fewer rows"
    return (
        "no two were waiting at the same time, as a thread was free for each; let them wait with batch_timeout_micros, "
        "or lower num_batch_threads"
    )
