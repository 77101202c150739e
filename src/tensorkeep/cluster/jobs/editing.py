"""`cast`, `average` and `split` by several workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy.typing as npt

from tensorkeep.checkpoint.casting import CastLoss, refuse_losses
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.checkpoint.saving import Piece, ShardBySize
from tensorkeep.checkpoint.slices.tensor_slice import box_shape
from tensorkeep.cluster.executors import SERIAL, Executor
from tensorkeep.cluster.jobs.cutting import part_size, place_for_workers
from tensorkeep.cluster.jobs.writing import count_losses, merge_parts, refuse_records, run_writing
from tensorkeep.dtypes import DType
from tensorkeep.edit.combining import average as average_serially
from tensorkeep.edit.combining import normal_shares
from tensorkeep.edit.forms import split as split_serially
from tensorkeep.edit.names import Selection
from tensorkeep.edit.plan import EditOptions, Written, require_free
from tensorkeep.edit.values import cast as cast_serially
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import Durability, FileSystem, PathLike, path_text
from tensorkeep.shapes import element_count

_DEFAULT: Final = EditOptions()


@dataclass(frozen=True)
class _Job:
    """What the jobs that edit have in common."""

    paths: tuple[str, ...]
    durability: Durability

    def sources(self) -> Sequence[str]:
        return self.paths

    def description(self) -> dict[str, Any]:
        return {"job": repr(replace(self, durability=Durability.DISK))}

    def finish(self, places: Sequence[str], target: str, fs: FileSystem) -> None:
        merge_parts(places, target, fs, self.durability)

    def _options(self, only: frozenset[str]) -> EditOptions:
        return EditOptions(compact=True, overwrite=True, durability=self.durability, only=only)


@dataclass(frozen=True)
class _Cast(_Job):
    dtype: str = ""
    selection: Selection | None = None

    def write(self, place: str, only: frozenset[str], fs: FileSystem) -> dict[str, Any]:
        cast_serially(
            self.paths[0], place, DType.of(self.dtype), self.selection, self._options(only), allow_loss=True, fs=fs
        )
        return {}

    def losses(self, only: frozenset[str], fs: FileSystem) -> dict[str, CastLoss]:
        path, options = self.paths[0], EditOptions(overwrite=True, dry_run=True, only=only)
        return dict(
            cast_serially(
                path, f"{path}.cast", DType.of(self.dtype), self.selection, options, allow_loss=True, fs=fs
            ).losses
        )


@dataclass(frozen=True)
class _Average(_Job):
    weights: tuple[float, ...] | None = None

    def write(self, place: str, only: frozenset[str], fs: FileSystem) -> dict[str, Any]:
        average_serially(self.paths, place, self._options(only), weights=self.weights, fs=fs)
        return {}


@dataclass(frozen=True)
class _Split(_Job):
    limit: int = 0

    def write(self, place: str, only: frozenset[str], fs: FileSystem) -> dict[str, Any]:
        split_serially(self.paths[0], place, self.limit, self._options(only), fs=fs)
        return {}


def cast(
    source: PathLike,
    target: PathLike,
    dtype: DType | npt.DTypeLike,
    selection: Selection | None = None,
    options: EditOptions = _DEFAULT,
    executor: Executor = SERIAL,
    *,
    allow_loss: bool = False,
    fs: FileSystem = FILES,
) -> Written:
    """What `tensorkeep.edit.cast` writes, by the workers of a cluster, each into a data file of its own."""
    wanted = DType.of(dtype)
    place = _free_place(target, options, fs)
    with open_checkpoint(source, fs=fs) as reader:
        path, sizes, counts = reader.path, _sizes(reader, fs), {name: reader[name].size for name in reader}
    job = _Cast((place_for_workers(path, fs),), options.durability, wanted.name, selection)
    _check_arguments(job, fs)
    found = count_losses(job, sizes, executor, fs)
    if not allow_loss:
        refuse_losses(f'casting "{path}" to {wanted}', found)
    done = _write_parts(job, place, target, sizes, executor, options, fs)
    made = {name: counts[name] * wanted.itemsize for name in found}
    return replace(done, losses=found, written_bytes=sum((sizes | made).values()))


def _check_arguments(job: _Cast, fs: FileSystem) -> None:
    """Raises what one process would raise of the arguments. No tensor is read."""
    try:
        job.losses(frozenset(), fs)
    except InvalidArgumentError as error:
        if not str(error).startswith("nothing would be left"):
            raise


def average(
    sources: Sequence[PathLike],
    target: PathLike,
    options: EditOptions = _DEFAULT,
    executor: Executor = SERIAL,
    *,
    weights: Sequence[float] | None = None,
    fs: FileSystem = FILES,
) -> Written:
    """What `tensorkeep.edit.average` writes, by the workers of a cluster, each into a data file of its own."""
    normal_shares(len(sources), weights)  # refuses what is wrong with them
    place = _free_place(target, options, fs)
    paths = []
    sizes: dict[str, int] = {}
    for source in sources:
        with open_checkpoint(source, fs=fs) as reader:
            paths.append(place_for_workers(reader.path, fs))
            sizes = _sizes(reader, fs)
    job = _Average(tuple(paths), options.durability, None if weights is None else tuple(weights))
    return _write_parts(job, place, target, sizes, executor, options, fs)


def split(
    source: PathLike,
    target: PathLike,
    limit: int,
    options: EditOptions = _DEFAULT,
    executor: Executor = SERIAL,
    *,
    fs: FileSystem = FILES,
) -> Written:
    """What `tensorkeep.edit.split` writes, byte for byte, by the workers of a cluster, each some of the data files."""
    place = _free_place(target, options, fs)
    with open_checkpoint(source, fs=fs) as reader:
        job = _Split((place_for_workers(reader.path, fs),), options.durability, limit)
        sizes = _sizes(reader, fs)
        files = _whole_files(reader, limit)
    size = part_size(sum(sizes.values()), executor.workers)
    groups: list[list[str]] = [[]]
    for names in files:
        if groups[-1] and sum(sizes[name] for name in (*groups[-1], *names)) > size:
            groups.append([])
        groups[-1] += names
    return _write_parts(job, place, target, sizes, executor, options, fs, groups)


def _whole_files(reader: CheckpointReader, limit: int) -> list[list[str]]:
    """The tensors of each data file that a split makes, in order; of several together, where one is in all of them."""
    pieces = []
    for name in sorted(reader):
        info = reader[name]
        for part in info.slices or (None,):
            shape = info.shape if part is None else box_shape(part.box(info.shape))
            pieces.append(Piece(name, part, element_count(shape) * info.dtype.array_dtype.itemsize))
    files: list[list[str]] = []
    last = -1
    for piece, number in zip(pieces, ShardBySize(limit).assign(pieces), strict=True):
        is_known = bool(files) and piece.name == files[-1][-1]
        if number != last and not is_known:
            files.append([])
        if not is_known:
            files[-1].append(piece.name)
        last = number
    return files


def _free_place(target: PathLike, options: EditOptions, fs: FileSystem) -> str:
    path = path_text(target)
    if not options.overwrite:
        require_free(path, fs)
    return place_for_workers(path, fs)


def _sizes(reader: CheckpointReader, fs: FileSystem) -> dict[str, int]:
    refuse_records(reader, reader, fs)
    return {name: reader[name].nbytes for name in reader}


def _write_parts(
    job: _Cast | _Average | _Split,
    place: str,
    target: PathLike,
    sizes: dict[str, int],
    executor: Executor,
    options: EditOptions,
    fs: FileSystem,
    groups: Sequence[Sequence[str]] | None = None,
) -> Written:
    if not options.dry_run:
        run_writing(
            job,
            place,
            sizes,
            executor,
            fs=fs,
            durability=options.durability,
            progress=options.progress,
            groups=groups,
        )
    return Written(path_text(target), len(sizes), 0, sum(sizes.values()), options.dry_run)
