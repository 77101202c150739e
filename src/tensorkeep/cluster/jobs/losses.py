"""Counting, by several workers, what a cast or a conversion would lose of each tensor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from tensorkeep.checkpoint.casting import CastLoss
from tensorkeep.cluster.executors import Executor
from tensorkeep.cluster.jobs.cutting import cut_units, part_size
from tensorkeep.io.files.filesystem import FileSystem


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
