"""Jobs that write: each worker writes files of its own, and one step makes the result of them appear.

A job is cut into units, by name: tensors, or the stems of embedding tables, of which each part has some. A worker
writes those of its part by the very function that one process uses, which is told to write these only. What a cast or a
conversion would lose of each tensor is counted before, by several workers too.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tensorkeep.checkpoint.bundle.merging import merge_bundles
from tensorkeep.checkpoint.casting import CastLoss
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.cluster.executors import SERIAL, Executor
from tensorkeep.cluster.jobs.cutting import check_reachable, cut_units, part_size
from tensorkeep.cluster.jobs.journals import Journal
from tensorkeep.edit.records import stems_with_records
from tensorkeep.embedding.stored.naming import KEYS
from tensorkeep.errors import FailedPreconditionError
from tensorkeep.io.coding.crc32c import crc32c
from tensorkeep.io.files.filesystem import Durability, FileSystem, prepare_directory
from tensorkeep.io.showing.progress import Progress, Told


class WritingJob(Protocol):
    """What is written, of what, and how; plain data that can travel."""

    def description(self) -> dict[str, Any]:
        """What makes it this job and no other, in words for JSON."""
        ...

    def sources(self) -> Sequence[str]:
        """The checkpoints that are read."""
        ...

    def write(self, place: str, only: frozenset[str], fs: FileSystem) -> dict[str, Any]:
        """Writes some units, in files whose names begin with `place`; gives what is to be told of them, for JSON."""
        ...

    def finish(self, places: Sequence[str], target: str, fs: FileSystem) -> None:
        """Makes the result appear of what was written at these places."""
        ...


@dataclass(frozen=True)
class Part:
    """What a worker is to write."""

    job: WritingJob
    target: str
    number: int
    units: frozenset[str]
    fs: FileSystem
    durability: Durability


def write_part(part: Part) -> dict[str, Any]:
    """Writes a part and notes that it is done."""
    journal = Journal(part.target, part.fs, part.durability)
    result = part.job.write(journal.place(part.number), part.units, part.fs)
    journal.note_done(part.number, result)
    return result


def run_writing(
    job: WritingJob,
    target: str,
    units: Mapping[str, int],
    executor: Executor,
    *,
    fs: FileSystem,
    durability: Durability = Durability.DISK,
    progress: Progress | None = None,
    groups: Sequence[Sequence[str]] | None = None,
    before_finish: Callable[[Sequence[Mapping[str, Any]]], None] | None = None,
) -> list[dict[str, Any]]:
    """Has all units written by workers, and the result appear. Gives what each part told.

    What an earlier run of the same job has written is taken as it is. `groups` are the parts, where their sizes alone
    do not say how the units go together. `before_finish` is shown what the parts told, and may raise: then nothing
    appears.
    """
    check_reachable(fs, is_serial=executor is SERIAL)
    journal = Journal(target, fs, durability)
    cut = cut_units(units, part_size(sum(units.values()), executor.workers)) if groups is None else groups
    prepare_directory(fs, posixpath.dirname(target), durability)
    with fs.locked(posixpath.dirname(target) or "."):
        parts = journal.opened({**job.description(), "sources": _marks(job.sources(), fs)}, cut)
    found = {number: result for number in range(len(parts)) if (result := journal.result_of(number)) is not None}
    told = Told(progress, sum(units.values()))
    told.add(sum(units[unit] for number in found for unit in parts[number]))
    left = [number for number in range(len(parts)) if number not in found]
    work = [Part(job, target, number, frozenset(parts[number]), fs, durability) for number in left]
    for at, result in executor.run(write_part, work):
        found[left[at]] = result
        told.add(sum(units[unit] for unit in parts[left[at]]))
    results = [found[number] for number in range(len(parts))]
    if before_finish is not None:
        before_finish(results)
    job.finish([journal.place(number) for number in range(len(parts))], target, fs)
    journal.remove()
    return results


def refuse_records(reader: CheckpointReader, names: Iterable[str], fs: FileSystem) -> None:
    """FailedPreconditionError if tables, some of whose tensors these are, have rows beside the checkpoint.

    Several processes that each write a part of a checkpoint do not carry such along.
    """
    kept = set(names)
    if stems := [stem for stem in stems_with_records(reader, fs) if stem + KEYS in kept]:
        raise FailedPreconditionError(
            f'"{reader.path}" has rows of "{stems[0]}" beside it, as records of an SSD tier, which workers of a '
            "cluster do not carry along: put them into the checkpoint first, with "
            f"`tensorkeep ev repair {reader.path} TARGET`"
        )


def forget_job(target: str, fs: FileSystem) -> None:
    """Removes what a job has left that is not to be finished."""
    Journal(target, fs).remove()


def _marks(sources: Sequence[str], fs: FileSystem) -> dict[str, int]:
    """By what each checkpoint is known again: the checksum of its index, where it has one."""
    marks = {}
    for source in sources:
        with open_checkpoint(source, fs=fs) as reader:
            index = reader.index_bytes()
            marks[source] = 0 if index is None else crc32c(index)
    return marks


def merge_parts(places: Sequence[str], target: str, fs: FileSystem, durability: Durability) -> None:
    """Makes one checkpoint of those that workers have written, their data files under new names."""
    merge_bundles(places, target, delete_inputs=False, durability=durability, fs=fs)


class LossyJob(Protocol):
    """A job that may round values."""

    def losses(self, only: frozenset[str], fs: FileSystem) -> dict[str, CastLoss]:
        """What is lost of each of these tensors; those of which nothing is lost may be left out. Nothing is written."""
        ...


@dataclass(frozen=True)
class LossPart:
    """Tensors of which a worker is to count what a job would lose."""

    job: LossyJob
    names: frozenset[str]
    fs: FileSystem


def losses_part(part: LossPart) -> dict[str, CastLoss]:
    """What the job would lose of each tensor of the part."""
    return part.job.losses(part.names, part.fs)


def count_losses(job: LossyJob, sizes: Mapping[str, int], executor: Executor, fs: FileSystem) -> dict[str, CastLoss]:
    """What a job would lose of each tensor, in the order of `sizes`, which has the bytes of each."""
    cut = cut_units(sizes, part_size(sum(sizes.values()), executor.workers))
    found: dict[str, CastLoss] = {}
    for _, losses in executor.run(losses_part, [LossPart(job, frozenset(names), fs) for names in cut]):
        found |= losses
    return {name: found[name] for name in sizes if name in found}
