"""`tensorkeep ev`: embedding tables in checkpoints, changed, exported and imported."""

from __future__ import annotations

import posixpath
from argparse import Namespace
from collections.abc import Callable, Mapping
from typing import Any

from tensorkeep.checkpoint.finding import checkpoint_exists
from tensorkeep.cli.command import DONE, Command, Parser
from tensorkeep.cli.output import Output, shown
from tensorkeep.cli.progress import ProgressBar
from tensorkeep.embedding.compacting import compact_checkpoint
from tensorkeep.embedding.formats.csv import export_csv, import_csv
from tensorkeep.embedding.formats.npz import export_npz
from tensorkeep.embedding.formats.parquet import export_parquet, import_parquet
from tensorkeep.embedding.formats.resp import export_resp
from tensorkeep.embedding.pruning import (
    KeepByNorm,
    KeepFrequent,
    KeepTop,
    KeepUpdatedSince,
    PruneRule,
    prune_checkpoint,
)
from tensorkeep.embedding.quantising import quantise_checkpoint
from tensorkeep.embedding.repairing import repair_checkpoint
from tensorkeep.embedding.repartitioning import repartition_checkpoint
from tensorkeep.errors import AlreadyExistsError, InvalidArgumentError
from tensorkeep.io.local import LOCAL
from tensorkeep.io.progress import Progress


def _add_places(parser: Parser) -> None:
    parser.add_argument("source", metavar="SOURCE", help="a checkpoint with embedding tables")
    parser.add_argument("target", metavar="TARGET", help="the prefix of the new checkpoint")
    _add_force(parser)


def _add_force(parser: Parser) -> None:
    parser.add_argument("--force", action="store_true", help="replace what is there")
    parser.add_argument("--dry-run", action="store_true", help="write nothing, and say what would be written")


def _write(given: Namespace, output: Output, work: Callable[[Progress], Any], *, is_file: bool = False) -> int:
    """Has something written where the target is, unless something is there, and says what became of it."""
    if not given.force:
        is_there = LOCAL.exists(given.target) if is_file else checkpoint_exists(given.target)
        if is_there:
            raise AlreadyExistsError(f'"{given.target}" is there already: say --force to replace it')
    lines: dict[str, str] = {}
    if not given.dry_run:
        bar = ProgressBar(output)
        try:
            done = work(bar)
        finally:
            bar.clear()
        if isinstance(done, Mapping):
            lines = {name: str(report) for name, report in done.items()}
    if output.is_json:
        data = {"source": given.source, "target": given.target, "is_dry_run": given.dry_run, "reports": lines}
        output.data("ev.change/1", data)
        return DONE
    for name, line in lines.items():
        output.line(shown(line) if line.startswith('"') else f"{shown(name)}: {shown(line)}")
    output.line(f"{'would write' if given.dry_run else 'wrote'} {shown(given.target)}")
    return DONE


def _add_repartition(parser: Parser) -> None:
    _add_places(parser)
    parser.add_argument("--shards", metavar="N", type=int, required=True, help="how many parts each table shall have")


def _run_repartition(given: Namespace, output: Output) -> int:
    return _write(
        given, output, lambda bar: repartition_checkpoint(given.source, given.target, given.shards, progress=bar)
    )


def _add_prune(parser: Parser) -> None:
    _add_places(parser)
    parser.add_argument("--min-frequency", metavar="N", type=int, help="keep keys that occurred so often")
    parser.add_argument("--min-version", metavar="STEP", type=int, help="keep keys updated at this step or later")
    parser.add_argument("--min-norm", metavar="X", type=float, help="keep rows that are so long")
    parser.add_argument("--top", metavar="N", type=int, help="keep the most frequent")
    parser.add_argument("--only", dest="names", metavar="NAME", action="append", help="a table; all by default")


def _run_prune(given: Namespace, output: Output) -> int:
    rules: list[PruneRule] = []
    rules += [KeepFrequent(given.min_frequency)] if given.min_frequency is not None else []
    rules += [KeepUpdatedSince(given.min_version)] if given.min_version is not None else []
    rules += [KeepByNorm(given.min_norm)] if given.min_norm is not None else []
    rules += [KeepTop(given.top)] if given.top is not None else []
    if len(rules) != 1:
        raise InvalidArgumentError("say one of --min-frequency, --min-version, --min-norm and --top")
    return _write(
        given,
        output,
        lambda bar: prune_checkpoint(given.source, given.target, rules[0], names=given.names, progress=bar),
    )


def _add_quantise(parser: Parser) -> None:
    _add_places(parser)
    parser.add_argument("--to", choices=["bfloat16", "int8"], required=True, help="the type of the values")


def _run_quantise(given: Namespace, output: Output) -> int:
    return _write(given, output, lambda bar: quantise_checkpoint(given.source, given.target, given.to, progress=bar))


def _run_repair(given: Namespace, output: Output) -> int:
    return _write(given, output, lambda bar: repair_checkpoint(given.source, given.target, progress=bar))


def _add_compact(parser: Parser) -> None:
    _add_places(parser)
    parser.add_argument("--delta", metavar="PATH", help="an incremental checkpoint; the newest of SOURCE by default")


def _run_compact(given: Namespace, output: Output) -> int:
    return _write(given, output, lambda bar: compact_checkpoint(given.source, given.target, given.delta, progress=bar))


_EXPORTS: dict[str, Callable[..., Any]] = {
    ".parquet": export_parquet,
    ".csv": export_csv,
    ".npz": export_npz,
    ".resp": export_resp,
}
_IMPORTS: dict[str, Callable[..., Any]] = {".parquet": import_parquet, ".csv": import_csv}


def _by_extension(path: str, known: Mapping[str, Callable[..., Any]]) -> Callable[..., Any]:
    extension = posixpath.splitext(path)[1].lower()
    if extension not in known:
        raise InvalidArgumentError(f'"{path}": expected a name that ends with one of {", ".join(known)}')
    return known[extension]


def _add_export(parser: Parser) -> None:
    parser.add_argument("source", metavar="SOURCE", help="a checkpoint with embedding tables")
    parser.add_argument("name", metavar="NAME", help="a table")
    parser.add_argument("target", metavar="FILE", help="a file: .parquet, .csv, .npz, or .resp for Redis")
    _add_force(parser)


def _run_export(given: Namespace, output: Output) -> int:
    export = _by_extension(given.target, _EXPORTS)
    return _write(given, output, lambda bar: export(given.source, given.target, given.name, progress=bar), is_file=True)


def _add_import(parser: Parser) -> None:
    parser.add_argument("source", metavar="FILE", help="a file: .parquet or .csv")
    parser.add_argument("target", metavar="TARGET", help="the prefix of the new checkpoint")
    parser.add_argument("name", metavar="NAME", help="what the table shall be called")
    parser.add_argument("--shards", metavar="N", type=int, default=1, help="how many parts it shall have")
    _add_force(parser)


def _run_import(given: Namespace, output: Output) -> int:
    read = _by_extension(given.source, _IMPORTS)
    return _write(given, output, lambda bar: read(given.source, given.target, given.name, shards=given.shards))


COMMANDS = {
    "ev repartition": Command(
        "Writes a checkpoint whose embedding tables have another number of parts.",
        ("ev repartition recommender/model split/model --shards 4",),
        _add_repartition,
        _run_repartition,
    ),
    "ev prune": Command(
        "Writes a checkpoint whose embedding tables have fewer keys.",
        (
            "ev prune recommender/model small/model --min-norm 0.1",
            "ev prune recommender/model small/model --top 2",
        ),
        _add_prune,
        _run_prune,
    ),
    "ev quantise": Command(
        "Writes a checkpoint whose embedding tables have values of fewer bits: bfloat16, or int8 with scales.",
        ("ev quantise recommender/model small/model --to int8",),
        _add_quantise,
        _run_quantise,
    ),
    "ev repair": Command(
        "Writes a checkpoint in which weights and slots of embedding tables have the same keys.",
        ("ev repair recommender/model sound/model",),
        _add_places,
        _run_repair,
    ),
    "ev compact": Command(
        "Writes a full checkpoint with an incremental one put over it.",
        ("ev compact recommender/model whole/model --dry-run",),
        _add_compact,
        _run_compact,
    ),
    "ev export": Command(
        "Writes an embedding table as a file: Parquet, CSV as MaxCompute takes it, npz, or a stream for Redis.",
        (
            "ev export recommender/model users users.csv",
            "ev export recommender/model users users.npz",
        ),
        _add_export,
        _run_export,
    ),
    "ev import": Command(
        "Makes a checkpoint with an embedding table of a Parquet or CSV file.",
        ("ev import users-table.csv imported/model users --shards 2",),
        _add_import,
        _run_import,
    ),
}
