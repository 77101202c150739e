"""Repartitioning, compacting, pruning and exporting embedding tables by several workers.

A table is cut as it will be stored: by its shards, which are ranges of buckets of keys, and by its columns.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.cluster.executors import SERIAL, Executor
from tensorkeep.cluster.jobs.best_keys import resolved_rule
from tensorkeep.cluster.jobs.cutting import place_for_workers
from tensorkeep.cluster.jobs.writing import forget_job, merge_parts, refuse_records, run_writing
from tensorkeep.embedding.formats.parquet import export_parquet as export_parquet_serially
from tensorkeep.embedding.formats.parquet import parquet_paths
from tensorkeep.embedding.stored.embeddings import StoredEmbedding, stored_deltas
from tensorkeep.embedding.stored.naming import part_stem, slot_stem
from tensorkeep.embedding.tools.compacting import compact_checkpoint as compact_serially
from tensorkeep.embedding.tools.compacting import full_and_newest_delta, put_delta
from tensorkeep.embedding.tools.pruning import PruneReport, PruneRule, nothing_left
from tensorkeep.embedding.tools.pruning import prune_checkpoint as prune_serially
from tensorkeep.embedding.tools.repartitioning import repartition_checkpoint as repartition_serially
from tensorkeep.embedding.tools.repartitioning import wanted_shards
from tensorkeep.embedding.tools.rewriting import Rewrite, opened_for_tools
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import Durability, FileSystem, PathLike, path_text
from tensorkeep.io.showing.progress import Progress


@dataclass(frozen=True)
class _Job:
    """What the jobs about tables have in common."""

    paths: tuple[str, ...]

    def sources(self) -> Sequence[str]:
        return self.paths

    def description(self) -> dict[str, Any]:
        return {"job": repr(self)}

    def finish(self, places: Sequence[str], target: str, fs: FileSystem) -> None:
        merge_parts(places, target, fs, Durability.DISK)


@dataclass(frozen=True)
class _Repartition(_Job):
    shards: tuple[tuple[str, int], ...]

    def write(self, place: str, only: frozenset[str], fs: FileSystem) -> dict[str, Any]:
        repartition_serially(self.paths[0], place, dict(self.shards), only=only, fs=fs)
        return {}


@dataclass(frozen=True)
class _Compact(_Job):
    def write(self, place: str, only: frozenset[str], fs: FileSystem) -> dict[str, Any]:
        full, delta = self.paths
        compact_serially(full, place, delta, only=only, fs=fs)
        return {}


@dataclass(frozen=True)
class _Prune(_Job):
    rules: tuple[tuple[str, PruneRule], ...]
    """By embedding, what is kept of it: a rule that looks at one key at a time."""
    keep_filtered: bool

    def write(self, place: str, only: frozenset[str], fs: FileSystem) -> dict[str, Any]:
        rule = _ByName(dict(self.rules))
        reports = prune_serially(
            self.paths[0],
            place,
            rule,
            names=[name for name, _ in self.rules],
            keep_filtered=self.keep_filtered,
            allow_empty=True,
            only=only,
            fs=fs,
        )
        weights = {name: report for name, report in reports.items() if _has_weights(self.paths[0], name, only, fs)}
        return {"reports": {name: asdict(report) for name, report in weights.items()}}


def repartition_checkpoint(
    source: PathLike,
    target: PathLike,
    shards: int | Mapping[str, int],
    executor: Executor = SERIAL,
    *,
    progress: Progress | None = None,
    fs: FileSystem = FILES,
) -> str:
    """What `tensorkeep.embedding.repartition_checkpoint` writes, by the workers of a cluster."""
    with opened_for_tools(source, fs) as reader:
        work = Rewrite.of(reader, fs)
        wanted = wanted_shards(work, shards)
        units: dict[str, int] = {}
        for entry, count in wanted:
            work.drop(entry, count)
            units |= _stems(reader, entry, count)
        units |= _kept_tensors(work, reader, fs)
        job = _Repartition((place_for_workers(reader.path, fs),), tuple((entry.name, n) for entry, n in wanted))
    run_writing(job, place_for_workers(target, fs), units, executor, fs=fs, progress=progress)
    return path_text(target)


def compact_checkpoint(
    full: PathLike,
    target: PathLike,
    delta: PathLike | None = None,
    executor: Executor = SERIAL,
    *,
    progress: Progress | None = None,
    fs: FileSystem = FILES,
) -> str:
    """The tensors that `tensorkeep.embedding.compact_checkpoint` writes, by the workers of a cluster.

    They lie in as many data files as there were parts of the work, and not where the full checkpoint has them.
    """
    prefix, newest = full_and_newest_delta(full, delta, fs=fs)
    with opened_for_tools(prefix, fs) as reader, opened_for_tools(newest, fs) as changes:
        work = Rewrite.of(reader, fs, only=frozenset(reader))  # the tensors: no stem is among them, so none is read
        put_delta(work, changes, fs)
        units: dict[str, int] = {}
        for name in stored_deltas(changes):
            entry = work.embeddings[name]
            units |= _stems(reader, entry, entry.shard_count)
        units |= _kept_tensors(work, reader, fs)
    job = _Compact((place_for_workers(prefix, fs), place_for_workers(newest, fs)))
    run_writing(job, place_for_workers(target, fs), units, executor, fs=fs, progress=progress)
    return path_text(target)


def prune_checkpoint(
    source: PathLike,
    target: PathLike,
    rule: PruneRule,
    executor: Executor = SERIAL,
    *,
    names: Collection[str] | None = None,
    keep_filtered: bool = True,
    allow_empty: bool = False,
    progress: Progress | None = None,
    fs: FileSystem = FILES,
) -> dict[str, PruneReport]:
    """What `tensorkeep.embedding.prune_checkpoint` writes and reports, by the workers of a cluster."""
    with opened_for_tools(source, fs) as reader:
        work = Rewrite.of(reader, fs)
        entries = work.chosen_embeddings(names)
        place = place_for_workers(reader.path, fs)
        units: dict[str, int] = {}
        for entry in entries:
            work.drop(entry)
            units |= _stems(reader, entry, entry.shard_count)
        units |= _kept_tensors(work, reader, fs)
        rules = {entry.name: resolved_rule(rule, place, entry, executor, fs) for entry in entries}
        job = _Prune((place,), tuple(rules.items()), keep_filtered)
        output = place_for_workers(target, fs)

        def refuse_emptied(results: Sequence[Mapping[str, Any]]) -> None:
            reports = _added_up(results, rules)
            weights = [entry.open(reader, fs=fs) for entry in entries if not reports[entry.name].kept]
            emptied = [column for column in weights if column.count]
            if emptied and not allow_empty:
                forget_job(output, fs)
                raise nothing_left(reader.path, rule, emptied)

        results = run_writing(job, output, units, executor, fs=fs, progress=progress, before_finish=refuse_emptied)
        return _added_up(results, rules)


def _added_up(results: Sequence[Mapping[str, Any]], names: Collection[str]) -> dict[str, PruneReport]:
    totals = {name: PruneReport(0, 0, 0, 0) for name in names}
    for result in results:
        for name, counts in result["reports"].items():
            totals[name] = PruneReport(**{what: count + getattr(totals[name], what) for what, count in counts.items()})
    return totals


@dataclass(frozen=True)
class _ByName:
    """Rules of which each is for one table."""

    rules: Mapping[str, PruneRule]

    def selection(self, column: Any) -> Any:
        return self.rules[column.name].selection(column)

    @property
    def filtered(self) -> Any:
        return next(iter(self.rules.values())).filtered


def _has_weights(path: str, name: str, only: frozenset[str], fs: FileSystem) -> bool:
    """Whether the weights of an embedding, by which its keys are counted, are among what was written."""
    with opened_for_tools(path, fs) as reader:
        entry = Rewrite.of(reader, fs).embeddings[name]
        return any(part_stem(name, number, entry.shard_count) in only for number in range(entry.shard_count))


def _stems(reader: CheckpointReader, entry: StoredEmbedding, count: int) -> dict[str, int]:
    """The stems under which an embedding will be stored, with about how many bytes each has."""
    found = {}
    for column in entry.columns:
        stems = set(entry.stems_of(column).values())
        nbytes = sum(reader[name].nbytes for name in entry.tensors(reader) if name.rpartition("-")[0] in stems)
        for number in range(count):
            found[slot_stem(part_stem(entry.name, number, count), column)] = nbytes // count
    return found


def _kept_tensors(work: Rewrite, reader: CheckpointReader, fs: FileSystem) -> dict[str, int]:
    """The tensors that stay as they are."""
    kept = work.units()
    refuse_records(reader, kept, fs)
    return kept


# ---------------------------------------------------------------------------------------------------- Parquet


@dataclass(frozen=True)
class _Export(_Job):
    name: str
    column: str
    parts: int
    filtered: bool
    compression: str

    def write(self, place: str, only: frozenset[str], fs: FileSystem) -> dict[str, Any]:
        export_parquet_serially(
            self.paths[0],
            f"{place}.parquet",
            self.name,
            self.column,
            parts=self.parts,
            filtered=self.filtered,
            compression=self.compression,
            only=sorted(map(int, only)),
            fs=fs,
        )
        return {}

    def finish(self, places: Sequence[str], target: str, fs: FileSystem) -> None:
        finals = parquet_paths(target, self.parts)
        folder = posixpath.dirname(places[0])
        there = set(fs.list(folder))
        for place in places:
            for written, final in zip(parquet_paths(f"{place}.parquet", self.parts), finals, strict=True):
                if posixpath.basename(written) in there:
                    fs.rename(written, final)
        fs.sync_directory(posixpath.dirname(target))


def export_parquet(
    source: PathLike,
    target: PathLike,
    name: str,
    column: str = "",
    executor: Executor = SERIAL,
    *,
    parts: int | None = None,
    filtered: bool = True,
    compression: str = "snappy",
    progress: Progress | None = None,
    fs: FileSystem = FILES,
) -> list[str]:
    """The files that `tensorkeep.embedding.export_parquet` writes, by the workers of a cluster: each some of them.

    Without `parts` there are as many files as workers.
    """
    count = executor.workers if parts is None else parts
    output = place_for_workers(target, fs)
    paths = parquet_paths(path_text(target), count)
    with opened_for_tools(source, fs) as reader:
        [entry] = Rewrite.of(reader, fs).chosen_embeddings([name])
        rows = entry.open(reader, column, fs=fs).count
        job = _Export((place_for_workers(reader.path, fs),), name, column, count, filtered, compression)
    units = {f"{number:05d}": max(1, rows // count) for number in range(count)}
    run_writing(job, output, units, executor, fs=fs, progress=progress, groups=[[unit] for unit in units])
    return paths
