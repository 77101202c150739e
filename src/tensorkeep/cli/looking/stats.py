"""`tensorkeep stats` and `health`."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from tensorkeep.cli.cluster_options import add_cluster, cluster_of
from tensorkeep.cli.command import DONE, FOUND, Command, Parser
from tensorkeep.cli.looking.any_tensors import (
    PATH_HELP,
    holds_other,
    list_any,
    meant_path,
    open_any,
    require_checkpoint,
    tell_none,
    tell_remarks,
)
from tensorkeep.cli.looking.tensor_filters import add_filters, order_of, selection_of
from tensorkeep.cli.output import Column, Output, amount_of, shape_text, shown_value, watching
from tensorkeep.cluster.executors import Executor
from tensorkeep.cluster.jobs.looking import checkpoint_statistics as statistics_on_cluster
from tensorkeep.cluster.jobs.looking import examine as examine_on_cluster
from tensorkeep.errors import DataLossError
from tensorkeep.inspect.folders import checkpoints_of
from tensorkeep.inspect.health import Ailment, Finding, HealthReport, examine, examine_tensors
from tensorkeep.inspect.selecting import selected
from tensorkeep.inspect.statistics import ABSURD, TensorStatistics, checkpoint_statistics
from tensorkeep.inspect.watching import Watched, bytes_of
from tensorkeep.io.showing.progress import Progress, Told

_BARS = " ▁▂▃▄▅▆▇█"
_COLUMNS = (
    Column("name", "cyan", is_name=True),
    Column("type", spare=5),
    Column("shape", spare=1),
    Column("min", is_number=True),
    Column("max", is_number=True),
    Column("mean", is_number=True, spare=2),
    Column("std", is_number=True, spare=3),
    Column("norm", is_number=True, spare=6),
    Column("zeros", is_number=True, spare=4),
    Column("nan", is_number=True),
    Column("inf", is_number=True),
)


def _add_stats(parser: Parser) -> None:
    parser.add_argument("path", metavar="PATH", help=PATH_HELP)
    add_filters(parser)
    parser.add_argument("--bins", metavar="N", type=int, default=0, help="show a histogram of so many bins")
    add_cluster(parser, writes=False)


def _run_stats(given: Namespace, output: Output) -> int:
    listing = list_any(given.path)
    tell_remarks(listing, output)
    names = [tensor.name for tensor in selected(listing.tensors, selection_of(given), order_of(given))]
    tell_none(names, listing, output)
    found = _statistics(given, listing.path, names, output)
    if output.is_json:
        output.data("stats/1", {"path": listing.path, "tensors": [_data(item) for item in found]})
        return DONE
    columns = (*_COLUMNS, Column("histogram")) if given.bins > 0 else _COLUMNS
    output.table(columns, [_row(item, given.bins > 0) for item in found])
    return DONE


def _statistics(given: Namespace, path: str, names: list[str], output: Output) -> list[TensorStatistics]:
    bins = max(given.bins, 0)
    with cluster_of(given) as executor, watching(output) as bar:
        if executor is not None:
            require_checkpoint(path, ", which a cluster does not read")
            return statistics_on_cluster(path, executor, names, bins=bins, progress=bar)
        with open_any(path) as reader:
            watch = Told(bar, bytes_of(reader, names) * (2 if bins else 1))
            return list(checkpoint_statistics(Watched(reader, watch), names, bins=bins))


def _row(item: TensorStatistics, has_histogram: bool) -> list[object]:
    numbers = (item.minimum, item.maximum, item.mean, item.deviation, item.norm)
    cells: list[object] = [item.name, item.dtype, shape_text(item.shape)]
    cells += ["-" if number is None else f"{number:.6g}" for number in numbers]
    cells += [item.zeros, item.nans, item.infinities] if item.is_numeric else ["-"] * 3
    return [*cells, _sketch(item)] if has_histogram else cells


def _sketch(item: TensorStatistics) -> str:
    if item.histogram is None:
        return "-"
    most = max(item.histogram.counts)
    return "".join(_BARS[-(-count * (len(_BARS) - 1) // most)] for count in item.histogram.counts)


def _data(item: TensorStatistics) -> dict[str, Any]:
    histogram = None
    if item.histogram is not None:
        histogram = {"edges": list(item.histogram.edges), "counts": list(item.histogram.counts)}
    return {
        "name": item.name,
        "dtype": item.dtype.name,
        "shape": list(item.shape),
        "elements": item.count,
        "min": item.minimum,
        "max": item.maximum,
        "mean": item.mean,
        "std": item.deviation,
        "norm": item.norm,
        "zeros": item.zeros,
        "nan": item.nans,
        "inf": item.infinities,
        "absurd": item.absurd,
        "histogram": histogram,
    }


def _add_health(parser: Parser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="+", help=PATH_HELP)
    parser.add_argument("--absurd", metavar="LIMIT", type=float, default=ABSURD, help="what is absurdly large: 1e8")
    parser.add_argument("--strict", action="store_true", help="warnings count as errors")
    add_cluster(parser, writes=False)


def _run_health(given: Namespace, output: Output) -> int:
    paths = [prefix for path in given.paths for prefix in checkpoints_of(meant_path(path)) or [meant_path(path)]]
    with watching(output) as bar, cluster_of(given) as executor:
        reports = [_examine_path(path, given.absurd, bar, executor) for path in paths]
    is_ill = any(report.findings if given.strict else not report.is_healthy for report in reports)
    if output.is_json:
        output.data("health/1", {"checkpoints": [_health_data(report) for report in reports]})
    else:
        for report in reports:
            _print_health(report, output)
    return FOUND if is_ill else DONE


def _examine_path(path: str, absurd: float, progress: Progress, executor: Executor | None) -> HealthReport:
    if executor is not None:
        require_checkpoint(path, ", which a cluster does not read")
        return examine_on_cluster(path, executor, absurd=absurd, progress=progress)
    if not holds_other(path):
        return examine(path, absurd=absurd, progress=progress)
    try:
        with open_any(path) as tensors:
            return examine_tensors(tensors, absurd=absurd, progress=progress)
    except DataLossError as error:
        return HealthReport(path, 0, (Finding(Ailment.DAMAGED, None, str(error)),))


def _print_health(report: HealthReport, output: Output) -> None:
    style = "green" if report.is_healthy else "red"
    state = output.styled("healthy" if report.is_healthy else "ill", style)
    output.line(f"{shown_value(report.path)}: {state}, {amount_of(report.tensors, 'tensor')} looked at")
    for item in report.findings:
        kind = output.styled("error", "red") if item.ailment.is_error else output.styled("warning", "yellow")
        where = "" if item.tensor is None else f"{shown_value(item.tensor)}: "
        output.line(f"  {kind}  {where}{item.ailment.value}: {shown_value(item.detail)}")


def _health_data(report: HealthReport) -> dict[str, Any]:
    return {
        "path": report.path,
        "is_healthy": report.is_healthy,
        "tensors": report.tensors,
        "findings": [_finding_data(item) for item in report.findings],
    }


def _finding_data(item: Finding) -> dict[str, Any]:
    return {
        "ailment": item.ailment.value,
        "is_error": item.ailment.is_error,
        "tensor": item.tensor,
        "detail": item.detail,
    }


COMMANDS = {
    "stats": Command(
        "Shows what the numbers of tensors are like: range, mean, deviation, norm, and how many are 0, NaN or\n"
        "infinite.",
        (
            "stats run/model-1000",
            "stats run/model-1000 --match 'dense/*' --bins 20",
            "stats run/model-1000 --json",
        ),
        _add_stats,
        _run_stats,
    ),
    "health": Command(
        "Tells whether checkpoints, or other files of tensors, are fit for use: whole, with no NaN and nothing\n"
        "infinite; warns of numbers that are absurdly large, and of matrices that are constant. Of a folder, all\n"
        "checkpoints in it. The exit code is 3 if one is not.",
        (
            "health run/model-1000",
            "health run/model-1000 export/1 --strict",
            "health moving",
        ),
        _add_health,
        _run_health,
    ),
}
