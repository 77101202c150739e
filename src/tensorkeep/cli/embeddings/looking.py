"""`tensorkeep ev`: embedding tables in checkpoints, looked into."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from tensorkeep.cli.command import DONE, FOUND, Command, Parser
from tensorkeep.cli.output import Column, Output, ProgressBar, shown_value
from tensorkeep.embedding.tools.querying import FoundRows, look_up
from tensorkeep.embedding.tools.repairing import KeyComparison, compare_keys
from tensorkeep.embedding.tools.statistics import EmbeddingStatistics, Histogram, embedding_statistics

_COLUMNS = (
    Column("name", "cyan", is_name=True),
    Column("shards", is_number=True, spare=1),
    Column("dim", is_number=True),
    Column("admitted", is_number=True),
    Column("filtered", is_number=True),
    Column("bytes", is_size=True),
    Column("slots", is_name=True, spare=3),
    Column("zero rows", is_number=True, spare=2),
    Column("not finite", is_number=True),
)


def _add_stats(parser: Parser) -> None:
    parser.add_argument("path", metavar="PATH", help="a checkpoint with embedding tables")
    parser.add_argument("names", metavar="NAME", nargs="*", help="tables; all by default")
    parser.add_argument("--histograms", action="store_true", help="show how often keys occurred, and how long rows are")


def _run_stats(given: Namespace, output: Output) -> int:
    bar = ProgressBar(output)
    try:
        found = embedding_statistics(given.path, names=given.names or None, progress=bar)
    finally:
        bar.clear()
    if output.is_json:
        output.data("ev.stats/1", {"path": given.path, "tables": [_data(item) for item in found.values()]})
        return DONE
    output.table(_COLUMNS, [_row(item) for item in found.values()])
    for item in found.values() if given.histograms else ():
        if item.frequencies is not None:
            output.line(f"{shown_value(item.name)} occurrences: {_used_bins(item.frequencies)}")
        output.line(f"{shown_value(item.name)} norms: {_used_bins(item.norms)}")
    return DONE


def _used_bins(found: Histogram) -> str:
    """The bins of a histogram that are not empty, as text: the lower edge of each, and how many numbers are in it."""
    pairs = zip(found.edges, found.counts, strict=True)
    return ", ".join(f"{edge:g}+: {count:,}" for edge, count in pairs if count)


def _row(item: EmbeddingStatistics) -> tuple[object, ...]:
    counts = (item.name, item.shards, item.dim, item.admitted, item.filtered, item.nbytes)
    return (*counts, ",".join(item.slots) or "-", item.zero_rows, item.not_finite)


def _data(item: EmbeddingStatistics) -> dict[str, Any]:
    return {
        "name": item.name,
        "shards": item.shards,
        "dim": item.dim,
        "dtype": str(item.dtype),
        "key_dtype": str(item.key_dtype),
        "slots": list(item.slots),
        "admitted": item.admitted,
        "filtered": item.filtered,
        "bytes": item.nbytes,
        "keys_from": item.keys_from,
        "keys_to": item.keys_to,
        "versions_from": item.versions_from,
        "versions_to": item.versions_to,
        "zero_rows": item.zero_rows,
        "not_finite": item.not_finite,
        "frequencies": _histogram(item.frequencies),
        "norms": _histogram(item.norms),
    }


def _histogram(found: Histogram | None) -> dict[str, Any] | None:
    if found is None:
        return None
    trimmed = found.trimmed()
    return {"edges": list(trimmed.edges), "counts": list(trimmed.counts)}


def _add_look_up(parser: Parser) -> None:
    parser.add_argument("path", metavar="PATH", help="a checkpoint with embedding tables")
    parser.add_argument("name", metavar="NAME", help="a table")
    parser.add_argument("keys", metavar="KEY", nargs="+", type=int, help="keys to look up")
    parser.add_argument("--slot", metavar="SLOT", default="", help="a slot of an optimizer in place of the weights")
    parser.add_argument("--delta", metavar="PATH", help="an incremental checkpoint that is put over it")


def _run_look_up(given: Namespace, output: Output) -> int:
    found = look_up(given.path, given.name, given.keys, given.slot, delta=given.delta)
    rows = [_row_data(found, at) for at in range(len(found.keys))]
    if output.is_json:
        output.data("ev.lookup/1", {"path": given.path, "name": given.name, "slot": given.slot, "rows": rows})
    else:
        columns = (Column("key", is_number=True), Column("state"), Column("freq"), Column("version"), Column("row"))
        output.table(columns, [_found_row(row) for row in rows])
    return DONE if found.is_stored.all() else FOUND


def _row_data(found: FoundRows, at: int) -> dict[str, Any]:
    state = "stored" if found.is_stored[at] else "filtered" if found.is_filtered[at] else "absent"
    return {
        "key": int(found.keys[at]),
        "state": state,
        "freq": None if found.freqs is None or state == "absent" else int(found.freqs[at]),
        "version": None if found.versions is None or state == "absent" else int(found.versions[at]),
        "row": [float(value) for value in found.values[at]] if state == "stored" else None,
    }


def _found_row(row: dict[str, Any]) -> tuple[object, ...]:
    values = "-" if row["row"] is None else " ".join(f"{value:.6g}" for value in row["row"])
    numbers = ("-" if row[name] is None else row[name] for name in ("freq", "version"))
    return (str(row["key"]), row["state"], *numbers, values)


def _add_compare(parser: Parser) -> None:
    parser.add_argument("path", metavar="PATH", help="a checkpoint with embedding tables")
    parser.add_argument("names", metavar="NAME", nargs="*", help="tables; all by default")


def _run_compare(given: Namespace, output: Output) -> int:
    found = compare_keys(given.path, names=given.names or None)
    if output.is_json:
        output.data("ev.compare/1", {"path": given.path, "tables": [_comparison(item) for item in found.values()]})
    else:
        for item in found.values():
            output.line(shown_value(item))
    return DONE if all(item.is_consistent for item in found.values()) else FOUND


def _comparison(item: KeyComparison) -> dict[str, Any]:
    slots = [
        {"slot": slot.slot, "keys": slot.count, "missing": slot.missing, "surplus": slot.surplus} for slot in item.slots
    ]
    return {"name": item.name, "keys": item.count, "is_consistent": item.is_consistent, "slots": slots}


COMMANDS = {
    "ev stats": Command(
        "Shows what embedding tables hold: keys with rows and without, bytes, slots, rows that are zero or not finite.",
        ("ev stats recommender/model", "ev stats recommender/model users --histograms"),
        _add_stats,
        _run_stats,
    ),
    "ev lookup": Command(
        "Looks keys up in an embedding table, straight from the file. The exit code tells whether all have rows.",
        ("ev lookup recommender/model users 7 1003", "ev lookup recommender/model users 7 --slot Adagrad"),
        _add_look_up,
        _run_look_up,
    ),
    "ev compare": Command(
        "Compares the keys of weights and slots, which have to be the same. See the exit code.",
        ("ev compare recommender/model",),
        _add_compare,
        _run_compare,
    ),
}
