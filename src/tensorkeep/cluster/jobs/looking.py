"""`stats`, `health` and `diff` by several workers.

Workers give back what blocks and chunks of numbers add up to; these are folded in order, as one process would. So the
result is the same to the last bit, and so is the check of the bytes that were read: checksums of stretches are put
together and compared before anything is told of a tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.cluster.executors import SERIAL, Executor
from tensorkeep.cluster.jobs.checking import check_checkpoint
from tensorkeep.cluster.jobs.cutting import (
    ALWAYS,
    Extent,
    ExtentChunks,
    check_reachable,
    cut_extents,
    part_size,
    place_for_workers,
    stored_bytes_of,
)
from tensorkeep.inspect.comparing import (
    ChunkDifference,
    Comparison,
    TensorDifference,
    chunk_differences,
    folded_difference,
    matched_names,
    source_difference,
)
from tensorkeep.inspect.health import Ailment, Finding, HealthReport, findings_of
from tensorkeep.inspect.statistics import (
    ABSURD,
    BlockMoments,
    TensorStatistics,
    block_histogram,
    blocks_of,
    folded_statistics,
    histogram_of,
    histogram_range,
    moments_of,
    tensor_statistics,
)
from tensorkeep.io.coding.crc32c import combine
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text
from tensorkeep.io.showing.progress import Progress, Told
from tensorkeep.saved_model.files.layout import contains_saved_model, variables_path

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LookPart:
    """Extents of tensors that a worker is to look at: of one checkpoint, or of two that are compared."""

    paths: Sequence[str]
    extents: Sequence[Extent]
    fs: FileSystem
    limit: float = ABSURD
    ranges: Mapping[str, tuple[float, float]] | None = None
    """By tensor, from where to where its histogram goes; None if that is not asked for."""
    bins: int = 0
    names: Mapping[str, str] | None = None
    """Of a comparison: what each tensor is called in the second checkpoint."""
    tolerance: float = 0.0


@dataclass(frozen=True)
class Looked:
    """What a worker has found of an extent: a whole result, or what adds up, with the checksums of what was read."""

    whole: Any = None
    sums: Numbers | npt.NDArray[np.int64] | None = None
    crcs: tuple[int, ...] = ()


def moments_part(part: LookPart) -> list[Looked]:
    """The statistics of whole tensors, and the moments of the blocks of others."""
    with open_checkpoint(part.paths[0], ALWAYS, fs=part.fs) as reader:
        return [_moments(reader, extent, part.limit) for extent in part.extents]


def _moments(reader: CheckpointReader, extent: Extent, limit: float) -> Looked:
    if extent.is_whole:
        return Looked(tensor_statistics(reader, extent.name, absurd=limit))
    chunks = _chunks(reader, extent)
    found = [moments_of(block, limit) for block in blocks_of(chunks)]
    return Looked(None, np.array(found, np.float64), (chunks.crc,))


def histograms_part(part: LookPart) -> list[Looked]:
    """How many numbers of each extent lie in each bin."""
    assert part.ranges is not None
    with open_checkpoint(part.paths[0], ALWAYS, fs=part.fs) as reader:
        found = []
        for extent in part.extents:
            chunks: Iterable[npt.ArrayLike] = (
                reader.source(extent.name).chunks if extent.is_whole else _chunks(reader, extent)
            )
            found.append(Looked(None, block_histogram(blocks_of(chunks), part.ranges[extent.name], part.bins)))
        return found


def differences_part(part: LookPart) -> list[Looked]:
    """The differences of whole tensors, and what the chunks of others add to theirs."""
    assert part.names is not None
    first_path, second_path = part.paths
    with (
        open_checkpoint(first_path, ALWAYS, fs=part.fs) as first,
        open_checkpoint(second_path, ALWAYS, fs=part.fs) as second,
    ):
        found = []
        for extent in part.extents:
            new = part.names[extent.name]
            if extent.is_whole:
                whole = source_difference(first.source(extent.name), second.source(new), part.tolerance)
                found.append(Looked(whole))
                continue
            left, right = _chunks(first, extent), _chunks(second, extent._replace(name=new))
            sums = np.array(list(chunk_differences(left, right, part.tolerance)), np.float64)
            found.append(Looked(None, sums, (left.crc, right.crc)))
        return found


def _chunks(reader: CheckpointReader, extent: Extent) -> ExtentChunks:
    stored = stored_bytes_of(reader, extent.name)
    assert stored is not None
    return ExtentChunks(stored, extent)


# ---------------------------------------------------------------------------------------------------- Statistics


def checkpoint_statistics(
    path: PathLike,
    executor: Executor = SERIAL,
    names: Iterable[str] | None = None,
    *,
    bins: int = 0,
    absurd: float = ABSURD,
    progress: Progress | None = None,
    fs: FileSystem = FILES,
) -> list[TensorStatistics]:
    """What `tensorkeep.inspect.checkpoint_statistics` gives for a checkpoint, found by the workers of a cluster."""
    check_reachable(fs, is_serial=executor is SERIAL)
    with open_checkpoint(path, ALWAYS, fs=fs) as reader:
        wanted = list(reader if names is None else names)
        job = _Looking(executor, [reader], fs, Told(progress))
        found = job.statistics(wanted, absurd)
        if not bins:
            return found
        ranges = {
            item.name: histogram_range(item.minimum, item.maximum)
            for item in found
            if item.minimum is not None and item.maximum is not None
        }
        counts = job.histograms(ranges, bins)
        return [
            replace(item, histogram=histogram_of(ranges[item.name], counts[item.name])) if item.name in ranges else item
            for item in found
        ]


def examine(
    path: PathLike,
    executor: Executor = SERIAL,
    *,
    absurd: float = ABSURD,
    progress: Progress | None = None,
    fs: FileSystem = FILES,
) -> HealthReport:
    """What `tensorkeep.inspect.examine` reports of a checkpoint or a SavedModel, found by the workers of a cluster."""
    given = path_text(path)
    prefix = variables_path(given) if contains_saved_model(given, fs) else given
    checked = check_checkpoint(prefix, executor, fs=fs)
    findings = [Finding(Ailment.DAMAGED, problem.tensor, str(problem)) for problem in checked.problems]
    if not checked.intact:
        return HealthReport(checked.path, 0, tuple(findings))
    with open_checkpoint(checked.path, ALWAYS, fs=fs) as reader:
        statistics = _Looking(executor, [reader], fs, Told(progress)).statistics(list(checked.intact), absurd)
    for item in statistics:
        findings += findings_of(item, absurd)
    return HealthReport(checked.path, len(statistics), tuple(findings))


def compare(
    first: PathLike,
    second: PathLike,
    executor: Executor = SERIAL,
    *,
    rename: Mapping[str, str] | None = None,
    tolerance: float = 0.0,
    progress: Progress | None = None,
    fs: FileSystem = FILES,
) -> Comparison:
    """What `tensorkeep.inspect.compare` says of two checkpoints, found by the workers of a cluster.

    `rename` has the name in the first of tensors that are called otherwise in the second.
    """
    check_reachable(fs, is_serial=executor is SERIAL)
    names = rename or {}
    with open_checkpoint(first, ALWAYS, fs=fs) as old, open_checkpoint(second, ALWAYS, fs=fs) as new:
        matched = matched_names(old, new, lambda name: names.get(name, name))
        job = _Looking(executor, [old, new], fs, Told(progress))
        return matched.comparison(job.differences(dict(matched.shared), tolerance))


class _Looking:
    """Tensors of open checkpoints that are looked at by workers."""

    def __init__(self, executor: Executor, readers: Sequence[CheckpointReader], fs: FileSystem, told: Told) -> None:
        self._executor = executor
        self._readers = readers
        self._fs = fs
        self._told = told
        self._paths = tuple(place_for_workers(reader.path, fs) for reader in readers)

    def statistics(self, names: Sequence[str], absurd: float) -> list[TensorStatistics]:
        reader = self._readers[0]
        pieces = self._run(moments_part, names, {}, limit=absurd)
        found = []
        for name in names:
            self._compare_checksums(name, pieces[name], (name,))
            if len(pieces[name]) == 1 and pieces[name][0][1].whole is not None:
                found.append(pieces[name][0][1].whole)
                continue
            blocks = (_block(row) for _, piece in pieces[name] for row in _rows(piece))
            found.append(folded_statistics(name, reader[name], blocks))
        return found

    def histograms(self, ranges: Mapping[str, tuple[float, float]], bins: int) -> dict[str, npt.NDArray[np.int64]]:
        pieces = self._run(histograms_part, list(ranges), {}, ranges=ranges, bins=bins)
        return {name: np.sum([_rows(piece) for _, piece in pieces[name]], axis=0) for name in ranges}

    def differences(self, shared: Mapping[str, str], tolerance: float) -> dict[str, TensorDifference]:
        pieces = self._run(differences_part, list(shared), shared, names=shared, tolerance=tolerance)
        found = {}
        for name, new in shared.items():
            self._compare_checksums(name, pieces[name], (name, new))
            whole = pieces[name][0][1].whole
            chunks = (_chunk(row) for _, piece in pieces[name] for row in _rows(piece))
            found[name] = folded_difference(chunks) if whole is None else whole
        return found

    def _run(
        self, work: Callable[[LookPart], list[Looked]], wanted: Sequence[str], others: Mapping[str, str], **how: Any
    ) -> dict[str, list[tuple[Extent, Looked]]]:
        """What workers find of each tensor, piece by piece, in order."""
        reader = self._readers[0]
        total = sum(reader[name].nbytes for name in wanted)
        size = part_size(total, self._executor.workers)
        cut = cut_extents(wanted, lambda name: reader[name].nbytes, lambda name: self._is_cut(name, others), size)
        self._told.total += total
        results: list[list[Looked]] = [[] for _ in cut]
        parts = [LookPart(self._paths, extents, self._fs, **how) for extents in cut]
        for number, result in self._executor.run(work, parts):
            results[number] = result
            for extent in cut[number]:
                whole = reader[extent.name].nbytes
                self._told.add(whole if extent.stop is None else extent.stop - extent.start)
        found: dict[str, list[tuple[Extent, Looked]]] = {name: [] for name in wanted}
        for extents, outcomes in zip(cut, results, strict=True):
            for extent, outcome in zip(extents, outcomes, strict=True):
                found[extent.name].append((extent, outcome))
        return found

    def _is_cut(self, name: str, others: Mapping[str, str]) -> bool:
        names = (name, others.get(name, name))
        return all(
            stored_bytes_of(reader, known) is not None for reader, known in zip(self._readers, names, strict=False)
        )

    def _compare_checksums(self, name: str, pieces: Sequence[tuple[Extent, Looked]], names: Sequence[str]) -> None:
        """DataLossError if what was read of a tensor in pieces is not what its checksum says."""
        if any(extent.is_whole for extent, _ in pieces):
            return
        for place, (reader, known) in enumerate(zip(self._readers, names, strict=False)):
            crc = 0
            for extent, piece in pieces:
                crc = combine(crc, piece.crcs[place], (extent.stop or 0) - extent.start)
            stored = stored_bytes_of(reader, known)
            assert stored is not None
            stored.compare(crc)


def _rows(piece: Looked) -> Array:
    assert piece.sums is not None
    return piece.sums


def _block(row: Array) -> BlockMoments:
    return BlockMoments(*map(int, row[:5].tolist()), *row[5:].tolist())


def _chunk(row: Array) -> ChunkDifference:
    return ChunkDifference(*map(int, row[:3].tolist()), *row[3:].tolist())
