"""`verify` by several workers: checksums of stretches, put together and compared at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tensorkeep.checkpoint.checking import (
    CheckpointReport,
    TensorProblem,
    readable_size,
    report_checkpoint,
    tensor_problems,
)
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.checkpoint.stretches import stretch_checksum
from tensorkeep.cluster.executors import SERIAL, Executor
from tensorkeep.cluster.jobs.cutting import (
    ALWAYS,
    Extent,
    check_reachable,
    cut_extents,
    part_size,
    place_for_workers,
    stored_bytes_of,
)
from tensorkeep.errors import TensorKeepError
from tensorkeep.io.coding.crc32c import combine
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike
from tensorkeep.io.showing.progress import Progress, Told


@dataclass(frozen=True)
class CheckPart:
    """Tensors, and stretches of such, that a worker is to check."""

    path: str
    extents: Sequence[Extent]
    fs: FileSystem


def check_part(part: CheckPart) -> list[TensorProblem | int | None]:
    """For each extent: of a whole tensor what is wrong with it, if anything is; else the checksum of its bytes."""
    with open_checkpoint(part.path, ALWAYS, fs=part.fs) as reader:
        whole = [extent.name for extent in part.extents if extent.is_whole]
        problems = dict(zip(whole, tensor_problems(reader, whole, threads=1), strict=True))
        return [problems[extent.name] if extent.is_whole else _checksum(reader, extent) for extent in part.extents]


def _checksum(reader: CheckpointReader, extent: Extent) -> TensorProblem | int:
    try:
        stored = stored_bytes_of(reader, extent.name)
        assert stored is not None
        assert extent.stop is not None
        return stretch_checksum(stored, extent.start, extent.stop)
    except TensorKeepError as error:
        return TensorProblem(extent.name, error)


def check_checkpoint(
    path: PathLike, executor: Executor = SERIAL, *, progress: Progress | None = None, fs: FileSystem = FILES
) -> CheckpointReport:
    """What `tensorkeep.check_checkpoint` reports, found by the workers of a cluster.

    Large tensors are read in stretches, by several of them.
    """
    check_reachable(fs, is_serial=executor is SERIAL)
    return report_checkpoint(path, lambda reader, names: _problems(reader, names, executor, progress, fs), fs)


def _problems(
    reader: CheckpointReader, names: Sequence[str], executor: Executor, progress: Progress | None, fs: FileSystem
) -> list[TensorProblem | None]:
    """What is wrong with each tensor; None where nothing is."""
    sizes = {name: readable_size(reader, name) for name in names}
    total = sum(sizes.values())
    cut = cut_extents(names, sizes.__getitem__, lambda name: _is_cut(reader, name), part_size(total, executor.workers))
    place = place_for_workers(reader.path, fs)
    told = Told(progress, total)
    results: list[list[TensorProblem | int | None]] = [[] for _ in cut]
    for number, result in executor.run(check_part, [CheckPart(place, extents, fs) for extents in cut]):
        results[number] = result
        told.add(sum(_length(extent, sizes) for extent in cut[number]))
    found: dict[str, TensorProblem | None] = dict.fromkeys(names)
    sums: dict[str, int] = {}
    for extents, outcomes in zip(cut, results, strict=True):
        for extent, outcome in zip(extents, outcomes, strict=True):
            if isinstance(outcome, int):
                sums[extent.name] = combine(sums.get(extent.name, 0), outcome, _length(extent, sizes))
            else:
                found[extent.name] = found[extent.name] or outcome
    for name, crc in sums.items():
        found[name] = found[name] or _compare_checksum(reader, name, crc)
    return [found[name] for name in names]


def _compare_checksum(reader: CheckpointReader, name: str, crc: int) -> TensorProblem | None:
    try:
        stored = stored_bytes_of(reader, name)
        assert stored is not None
        stored.compare(crc)
    except TensorKeepError as error:
        return TensorProblem(name, error)
    return None


def _length(extent: Extent, sizes: dict[str, int]) -> int:
    return sizes[extent.name] if extent.stop is None else extent.stop - extent.start


def _is_cut(reader: CheckpointReader, name: str) -> bool:
    try:
        return stored_bytes_of(reader, name) is not None
    except TensorKeepError:
        return False
