"""`convert` by several workers: to checkpoints, and to safetensors in several files.

Other formats are one file each, which one process writes.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from tensorkeep.checkpoint.casting import CastLoss, refuse_losses
from tensorkeep.checkpoint.finding.file_names import index_path
from tensorkeep.cluster.executors import SERIAL, Executor
from tensorkeep.cluster.jobs.cutting import place_for_workers
from tensorkeep.cluster.jobs.journals import file_mark
from tensorkeep.cluster.jobs.writing import count_losses, merge_parts, run_writing
from tensorkeep.convert.checkpoints import BUNDLE
from tensorkeep.convert.converting import Converted, ConvertOptions
from tensorkeep.convert.converting import convert as convert_serially
from tensorkeep.convert.rules import AnyRule
from tensorkeep.convert.safetensors import SAFETENSORS, safetensors_files
from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import Durability, FileSystem, PathLike, atomic_write, path_text
from tensorkeep.shapes import element_count

_DEFAULT: Final = ConvertOptions()


@dataclass(frozen=True)
class _Job:
    """A conversion that several workers do."""

    path: str
    rules: tuple[str | AnyRule, ...]
    options: ConvertOptions
    index: tuple[str, bytes] | None = None
    """The file that names the others, and what is in it; None for a checkpoint."""
    files: tuple[str, ...] = ()
    """What the files are called in the end, in the order of the parts."""

    mark: tuple[int, int] = (0, 0)
    """By what the source is known again."""

    def sources(self) -> Sequence[str]:
        return ()

    def description(self) -> dict[str, Any]:
        return {"job": repr(replace(self, index=None))}

    def write(self, place: str, only: frozenset[str], fs: FileSystem) -> dict[str, Any]:
        path = f"{place}.safetensors" if self.files else place
        convert_serially(self.path, path, self.rules, replace(self.options, written=only), fs=fs)
        return {}

    def losses(self, only: frozenset[str], fs: FileSystem) -> dict[str, CastLoss]:
        options = replace(self.options, dry_run=True, written=only)
        return dict(convert_serially(self.path, f"{self.path}.converted", self.rules, options, fs=fs).losses)

    def finish(self, places: Sequence[str], target: str, fs: FileSystem) -> None:
        if not self.files:
            merge_parts(places, target, fs, self.options.durability)
            return
        for place, name in zip(places, self.files, strict=True):
            fs.rename(f"{place}.safetensors", name)
        if self.options.durability is Durability.DISK:
            fs.sync_directory(posixpath.dirname(target))
        if self.index is not None:
            atomic_write(fs, self.index[0], self.index[1], self.options.durability)


def convert(
    source: PathLike,
    target: PathLike,
    rules: Sequence[str | AnyRule] = (),
    options: ConvertOptions = _DEFAULT,
    executor: Executor = SERIAL,
    *,
    fs: FileSystem = FILES,
) -> Converted:
    """What `tensorkeep.convert.convert` writes, by the workers of a cluster.

    The target is a checkpoint, or safetensors in several files (`shard_bytes`), which are the same byte for byte. Other
    formats, and a proof, are for one process.
    """
    if options.prove:
        raise UnimplementedError("a proof is written by one process: convert without a cluster, or without prove")
    # Nothing is read but names, types and shapes: what is wrong with them is raised here.
    planned = convert_serially(
        source, target, rules, replace(options, dry_run=True, allow_loss=True, written=frozenset()), fs=fs
    )
    if planned.target_format not in (BUNDLE.name, SAFETENSORS.name):
        raise UnimplementedError(
            f"{planned.target_format} is one file, which one process writes in one go; in parts, by workers of a "
            "cluster or with --resume, are written checkpoints, and safetensors in several files"
        )
    whole = planned.explanation
    sizes = {item.name: element_count(item.shape) * item.dtype.array_dtype.itemsize for item in whole.tensors}
    place = place_for_workers(target, fs)
    plain = replace(options, overwrite=True, allow_loss=True, dry_run=False, progress=None, to=planned.target_format)
    origin = place_for_workers(source, fs)
    job = _Job(origin, tuple(rules), replace(plain, shard_bytes=None), mark=_mark(origin, fs))
    groups = None
    if planned.target_format == SAFETENSORS.name:
        if options.shard_bytes is None:
            raise InvalidArgumentError(
                "safetensors in one file are written by one process: say how large a file may be (shard_bytes, "
                "--max-shard-size)"
            )
        kinds = {item.name: (item.dtype, item.shape) for item in whole.tensors}
        files, index = safetensors_files(place, kinds, options.shard_bytes)
        job = replace(job, index=index, files=tuple(files))
        groups = [list(names) for names in files.values()]
    losses = count_losses(job, sizes, executor, fs)
    if not options.allow_loss:
        refuse_losses(f'converting "{path_text(source)}" to "{path_text(target)}"', losses)
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
    return replace(
        planned,
        files=planned.files if groups is None else _file_names(job, path_text(target)),
        nbytes=sum(sizes.values()),
        explanation=whole,
        losses=losses,
        is_dry_run=options.dry_run,
    )


def _mark(path: str, fs: FileSystem) -> tuple[int, int]:
    """By what a source is known again: its file, or the index of a checkpoint; nothing of a folder."""
    for file in (path, index_path(path)):
        if fs.exists(file) and not fs.is_directory(file):
            return file_mark(fs, file)
    return 0, 0


def _file_names(job: _Job, target: str) -> list[str]:
    folder = posixpath.dirname(target)
    names = [*job.files, *([job.index[0]] if job.index else [])]
    return [posixpath.join(folder, posixpath.basename(name)) for name in names]
