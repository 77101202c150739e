"""`tensorkeep ev export` and `ev import`: embedding tables in the formats of others."""

from __future__ import annotations

import posixpath
from argparse import Namespace
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tensorkeep.cli.cluster_options import add_cluster, cluster_of
from tensorkeep.cli.command import Command, Parser
from tensorkeep.cli.embeddings.writing import add_force, write
from tensorkeep.cli.output import Output, amount_of
from tensorkeep.cluster.jobs.embeddings import export_parquet as export_on_cluster
from tensorkeep.embedding.formats.csv import export_csv, import_csv, read_csv
from tensorkeep.embedding.formats.maxcompute import MaxComputeTable, export_maxcompute
from tensorkeep.embedding.formats.npz import export_npz
from tensorkeep.embedding.formats.parquet import export_parquet, import_parquet, parquet_paths, read_parquet
from tensorkeep.embedding.formats.resp import RedisHashes, RedisStrings, export_resp
from tensorkeep.embedding.stored.buckets import require_shards
from tensorkeep.embedding.table.snapshot import ArraySnapshot
from tensorkeep.embedding.tools.rewriting import Rewrite, opened_for_tools
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.showing.progress import Progress


@dataclass(frozen=True)
class _Export:
    """A format: the function that writes it, and which options of the command it has, by the function's names."""

    write: Callable[..., Any]
    options: Mapping[str, str]


_MAXCOMPUTE: Final = "odps://"

_EXPORTS: Final = {
    ".parquet": _Export(
        export_parquet, {"slot": "column", "parts": "parts", "no_filtered": "filtered", "compression": "compression"}
    ),
    ".csv": _Export(
        export_csv, {"slot": "column", "numbers": "numbers", "no_header": "header", "separator": "separator"}
    ),
    ".npz": _Export(export_npz, {"no_slots": "slots"}),
    ".resp": _Export(export_resp, {"slot": "column", "hashes": "layout", "prefix": "layout"}),
    _MAXCOMPUTE: _Export(export_maxcompute, {"slot": "column", "numbers": "numbers", "arrays": "form"}),
}
_OPTIONS: Final = tuple(dict.fromkeys(option for export in _EXPORTS.values() for option in export.options))
_IMPORTS: Final[dict[str, tuple[Callable[..., Any], Callable[[str], ArraySnapshot]]]] = {
    ".parquet": (import_parquet, read_parquet),
    ".csv": (import_csv, read_csv),
}
"""By the ending of a file, what makes a checkpoint of it, and what only reads it."""


def _extension(path: str, known: Mapping[str, object]) -> str:
    extension = posixpath.splitext(path)[1].lower()
    if extension not in known:
        endings = ", ".join(ending for ending in known if ending.startswith("."))
        raise InvalidArgumentError(f'"{path}": expected a name that ends with one of {endings}')
    return extension


def _add_export(parser: Parser) -> None:
    parser.add_argument("source", metavar="SOURCE", help="a checkpoint with embedding tables")
    parser.add_argument("name", metavar="NAME", help="a table")
    parser.add_argument(
        "target", metavar="TARGET", help="a file: .parquet, .csv, .npz, .resp for Redis; or odps://PROJECT/tables/NAME"
    )
    parser.add_argument("--slot", metavar="SLOT", help="a slot of an optimizer in place of the weights")
    parser.add_argument("--parts", metavar="N", type=int, help=".parquet: a file for the keys of each of N parts")
    parser.add_argument("--no-filtered", action="store_true", help=".parquet: without keys that are only counted")
    parser.add_argument("--compression", metavar="KIND", help=".parquet: snappy (the default), zstd, gzip, none, ...")
    parser.add_argument("--numbers", action="store_true", help=".csv, odps: frequencies and versions too")
    parser.add_argument(
        "--arrays", action="store_true", help="odps: rows as arrays, not as text, in a table that is made"
    )
    parser.add_argument("--no-header", action="store_true", help=".csv: without the line that names the columns")
    parser.add_argument("--separator", metavar="C", help=".csv: what stands between columns; a comma by default")
    parser.add_argument("--no-slots", action="store_true", help=".npz: without the slots of optimizers")
    parser.add_argument("--hashes", metavar="N", type=int, help=".resp: rows in N hashes in place of a string for each")
    parser.add_argument("--prefix", metavar="TEXT", help=".resp: what names begin with; {name}: by default")
    add_force(parser)
    add_cluster(parser)


def _run_export(given: Namespace, output: Output) -> int:
    if given.target.startswith(_MAXCOMPUTE):
        return _run_maxcompute(given, output)
    extension = _extension(given.target, _EXPORTS)
    export = _EXPORTS[extension]
    chosen = _chosen_options(given, extension, export)
    targets = parquet_paths(given.target, chosen.get("parts", 1)) if extension == ".parquet" else [given.target]
    if (given.cluster or given.resume) and extension != ".parquet":
        option = "--cluster" if given.cluster else "--resume"
        raise InvalidArgumentError(f"{option} writes Parquet, in several files; {extension} is one, of one process")

    def work(bar: Progress) -> object:
        with cluster_of(given) as executor:
            wanted = (given.source, given.target, given.name)
            if executor is None:
                return export.write(*wanted, progress=bar, **chosen)
            return export_on_cluster(*wanted, executor=executor, progress=bar, **{"parts": 1, **chosen})

    return write(
        given,
        output,
        work,
        plan=lambda: _counts(given),
        targets=targets,
        is_there=FILES.exists,
    )


def _counts(given: Namespace) -> dict[str, str]:
    """How many rows of a table an export would write, for a dry run."""
    if not given.dry_run:
        return {}
    with opened_for_tools(given.source, FILES) as reader:
        [entry] = Rewrite.of(reader, FILES).chosen_embeddings([given.name])
        column = entry.open(reader, given.slot or "", fs=FILES)
        only_counted = int(column.filtered_sizes.sum())
        return {
            given.name: f"{amount_of(column.count, 'key')} with a row, {amount_of(only_counted, 'key')} only counted"
        }


def _run_maxcompute(given: Namespace, output: Output) -> int:
    table = MaxComputeTable.of(given.target)
    chosen = _chosen_options(given, _MAXCOMPUTE, _EXPORTS[_MAXCOMPUTE])
    return write(
        given,
        output,
        lambda bar: {
            given.name: export_maxcompute(
                given.source, table, given.name, overwrite=given.force, progress=bar, **chosen
            )
        },
        plan=lambda: _counts(given),
        is_there=lambda _: False,  # the service says whether it is
    )


def _chosen_options(given: Namespace, extension: str, export: _Export) -> dict[str, Any]:
    """The options that were given, by the names of the function's arguments. Options that the format does not have are
    refused.
    """
    said = [option for option in _OPTIONS if getattr(given, option) not in (None, False)]
    foreign = ["--" + option.replace("_", "-") for option in said if option not in export.options]
    if foreign:
        kind = "MaxCompute tables" if extension == _MAXCOMPUTE else f"{extension} files"
        raise InvalidArgumentError(f"{kind} have no {', '.join(foreign)}: see `tensorkeep ev export --help`")
    chosen = {export.options[option]: _value(given, option) for option in said}
    if "layout" in chosen:
        chosen["layout"] = _redis_layout(given)
    return chosen


def _value(given: Namespace, option: str) -> Any:
    if option == "arrays":
        return "array"
    return False if option.startswith("no_") else getattr(given, option)


def _redis_layout(given: Namespace) -> RedisHashes | RedisStrings:
    prefix = {} if given.prefix is None else {"prefix": given.prefix}
    return RedisStrings(**prefix) if given.hashes is None else RedisHashes(given.hashes, **prefix)


def _add_import(parser: Parser) -> None:
    parser.add_argument("source", metavar="FILE", help="a file: .parquet or .csv")
    parser.add_argument("target", metavar="TARGET", help="the prefix of the new checkpoint")
    parser.add_argument("name", metavar="NAME", help="what the table shall be called")
    parser.add_argument("--shards", metavar="N", type=int, default=1, help="how many parts it shall have")
    add_force(parser)


def _run_import(given: Namespace, output: Output) -> int:
    make, read = _IMPORTS[_extension(given.source, _IMPORTS)]
    return write(
        given,
        output,
        lambda bar: make(given.source, given.target, given.name, shards=given.shards),
        plan=lambda: _to_import(given, read) if given.dry_run else {},
    )


def _to_import(given: Namespace, read: Callable[[str], ArraySnapshot]) -> dict[str, str]:
    """What there is to import, for a dry run, which reads all of the file, and so finds what is wrong in it."""
    require_shards(given.name, given.shards)
    table = read(given.source)
    rows = f"{amount_of(table.keys.size, 'key')} with rows of {table.columns[0].dim}"
    beside = f", {amount_of(table.filtered_keys.size, 'key')} without" if table.filtered_keys.size else ""
    return {given.name: f"{rows}{beside}, {amount_of(given.shards, 'part')} to write"}


COMMANDS = {
    "ev export": Command(
        "Writes an embedding table as a file, Parquet, CSV, npz or a stream for Redis, or to a table of MaxCompute.",
        (
            "ev export recommender/model users users.csv",
            "ev export recommender/model users users.csv --numbers --force  # with frequencies and versions",
            "ev export recommender/model users users.npz --no-slots",
            "ev export recommender/model users users.resp --slot Adagrad --hashes 100",
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
