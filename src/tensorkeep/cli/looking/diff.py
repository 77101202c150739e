"""`tensorkeep diff`."""

from __future__ import annotations

import posixpath
from argparse import Namespace
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from tensorkeep.checkpoint.reader import TensorInfo
from tensorkeep.cli.changing.checkpoint_changes import pairs_of
from tensorkeep.cli.cluster_options import add_cluster, cluster_of
from tensorkeep.cli.command import DONE, FOUND, Command, Parser
from tensorkeep.cli.files import require_free, write_text, written_path
from tensorkeep.cli.looking.any_tensors import meant_path, open_any, require_checkpoint
from tensorkeep.cli.output import Column, Output, amount_of, shape_text, shown_value, watching
from tensorkeep.cluster.jobs.looking import compare as compare_on_cluster
from tensorkeep.convert.hub import OpenTensors, TensorSource
from tensorkeep.errors import InvalidArgumentError, TensorKeepError
from tensorkeep.inspect.comparing import Comparison, Drift, TensorDifference, Tensors, compare, drift
from tensorkeep.inspect.graph_differences import GraphComparison, compare_all_graphs
from tensorkeep.inspect.graphs import read_graphs
from tensorkeep.inspect.plotting import line_plot
from tensorkeep.inspect.watching import Watched, bytes_of
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.showing.progress import Told
from tensorkeep.saved_model.files.layout import contains_saved_model, variables_path

_MOST_NODES = 20  # of a kind that are printed
_COLUMNS = (
    Column("what"),
    Column("name", "cyan", is_name=True),
    Column("type and shape", spare=2),
    Column("differing", is_number=True),
    Column("max", is_number=True),
    Column("mean", is_number=True, spare=4),
    Column("relative", is_number=True),
    Column("cosine", is_number=True, spare=3),
)


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="+", help="two to compare, or more of one run, in order")
    parser.add_argument("--tolerance", metavar="T", type=float, default=0.0, help="numbers so close are the same")
    parser.add_argument(
        "--rename", metavar="OLD=NEW", action="append", default=[], help="what OLD is in the first is NEW in the second"
    )
    parser.add_argument("--no-graph", action="store_true", help="compare tensors only")
    parser.add_argument(
        "--plot", type=written_path, metavar="FILE", help="of three or more, draw how tensors moved, as SVG"
    )
    parser.add_argument("--force", action="store_true", help="replace FILE if it is there")
    parser.add_argument("--dry-run", action="store_true", help="write no FILE, and say what would be written")
    add_cluster(parser, writes=False)


def _run(given: Namespace, output: Output) -> int:
    if len(given.paths) < 2:
        raise InvalidArgumentError("say what shall be compared: at least two paths")
    if len(given.paths) == 2 and given.plot:
        raise InvalidArgumentError("--plot shows how tensors move from one to the next: name three or more")
    if given.cluster and len(given.paths) > 2:
        raise InvalidArgumentError("--cluster compares two checkpoints: name two")
    return _run_two(given, output) if len(given.paths) == 2 else _run_many(given, output)


def _open_all(paths: Sequence[str], stack: ExitStack) -> list[Tensors]:
    return [stack.enter_context(_open(path)) for path in paths]


def _open(path: str) -> TensorSource:
    """The tensors at a path: none, if there is a graph only."""
    try:
        return open_any(path)
    except InvalidArgumentError:
        if not _has_graph(path):
            raise
        return OpenTensors(path, "graph", {})


def _has_graph(path: str) -> bool:
    try:
        return bool(read_graphs(meant_path(path)))
    except TensorKeepError:
        return False


# ----------------------------------------------------------------------------------------------------------------- two


def _run_two(given: Namespace, output: Output) -> int:
    names = {new: old for old, new in pairs_of(given.rename, "--rename").items()}
    with ExitStack() as stack, watching(output) as bar:
        executor = stack.enter_context(cluster_of(given))
        first, second = _open_all(given.paths, stack)
        _require_names(names, first, second)
        if executor is not None:
            old, new = map(_checkpoint, given.paths)
            found = compare_on_cluster(old, new, executor, rename=names, tolerance=given.tolerance, progress=bar)
        else:
            watch = Told(bar, bytes_of(first) + bytes_of(second))
            found = compare(
                Watched(first, watch),
                Watched(second, watch),
                rename=lambda name: names.get(name, name),
                tolerance=given.tolerance,
            )
        infos = {name: first[name] for name in (*found.removed, *found.changed)}
        news = {new: old for old, new in names.items()}
        infos |= {name: second[news.get(name, name)] for name in found.added}
    graphs = [] if given.no_graph else _graphs(given.paths)
    if output.is_json:
        output.data("diff/1", _data(given.paths, found, infos, graphs))
    else:
        _print(found, infos, graphs, output)
    return DONE if found.is_same and all(graph.is_same for graph in graphs) else FOUND


def _checkpoint(path: str) -> str:
    """The checkpoint at a path, as a cluster reads it: that of a SavedModel too."""
    require_checkpoint(path, ", which a cluster does not read")
    found = meant_path(path)
    return variables_path(found) if contains_saved_model(found, FILES) else found


def _require_names(names: dict[str, str], first: Tensors, second: Tensors) -> None:
    wrong = [old for old in names.values() if old not in set(first)] + [new for new in names if new not in set(second)]
    if wrong:
        raise InvalidArgumentError(f"--rename: there is no tensor {', '.join(map(repr, wrong))}")


def _graphs(paths: Sequence[str]) -> list[GraphComparison]:
    """How the graphs differ, if there are graphs on both sides."""
    try:
        first, second = (read_graphs(meant_path(path)) for path in paths)
    except TensorKeepError:
        return []
    return compare_all_graphs(first, second)


def _print(found: Comparison, infos: dict[str, TensorInfo], graphs: Sequence[GraphComparison], output: Output) -> None:
    rows: list[Sequence[object]] = [("removed", name, _kind(infos[name]), *["-"] * 5) for name in found.removed]
    rows += [("added", name, _kind(infos[name]), *["-"] * 5) for name in found.added]
    rows += [
        ("reshaped", name, f"{_kind(old)} -> {_kind(new)}", *["-"] * 5) for name, (old, new) in found.reshaped.items()
    ]
    rows += [("changed", name, _kind(infos[name]), *_numbers(item)) for name, item in found.changed.items()]
    if rows:
        output.table(_COLUMNS, rows)
    for graph in graphs:
        _print_graph(graph, output)
    if output.is_table or not rows:
        output.line(_totals(found, graphs))


def _totals(found: Comparison, graphs: Sequence[GraphComparison]) -> str:
    parts = {
        "removed": len(found.removed),
        "added": len(found.added),
        "reshaped": len(found.reshaped),
        "changed": len(found.changed),
    }
    told = [f"{count:,} {what}" for what, count in parts.items() if count]
    text = f"{amount_of(len(found.same), 'tensor')} the same" + "".join(f", {item}" for item in told)
    if graphs:
        is_same = all(graph.is_same for graph in graphs)
        text += "; the graphs are the same" if is_same else "; the graphs differ"
    return text


def _print_graph(graph: GraphComparison, output: Output) -> None:
    where = f"graph {shown_value(graph.label)}" if graph.label else "graph"
    _print_some(
        [f"{where}: removed {shown_value(name)} ({shown_value(op)})" for name, op in graph.removed.items()], output
    )
    _print_some([f"{where}: added {shown_value(name)} ({shown_value(op)})" for name, op in graph.added.items()], output)
    changed = [
        f"{where}: changed {shown_value(name)}: {shown_value('; '.join(item))}" for name, item in graph.changed.items()
    ]
    _print_some(changed, output)
    for key, what in graph.signatures.items():
        output.line(f"{where}: {what} signature {shown_value(key)}")


def _print_some(lines: Sequence[str], output: Output) -> None:
    for line in lines[:_MOST_NODES]:
        output.line(line)
    if len(lines) > _MOST_NODES:
        output.line(output.styled(f"and {len(lines) - _MOST_NODES:,} more, which --json lists", "dim"))


def _kind(info: TensorInfo) -> str:
    return f"{info.dtype} {shape_text(info.shape)}"


def _numbers(item: TensorDifference) -> list[object]:
    numbers = (item.largest, item.mean, item.relative, item.cosine)
    return [item.differing, *("-" if number is None else f"{number:.6g}" for number in numbers)]


def _data(
    paths: Sequence[str], found: Comparison, infos: dict[str, TensorInfo], graphs: Sequence[GraphComparison]
) -> dict[str, Any]:
    return {
        "paths": list(paths),
        "is_same": found.is_same and all(graph.is_same for graph in graphs),
        "removed": [{"name": name, **_info_data(infos[name])} for name in found.removed],
        "added": [{"name": name, **_info_data(infos[name])} for name in found.added],
        "reshaped": [
            {"name": name, "before": _info_data(old), "after": _info_data(new)}
            for name, (old, new) in found.reshaped.items()
        ],
        "changed": [
            {"name": name, **_info_data(infos[name]), **_difference_data(item)} for name, item in found.changed.items()
        ],
        "same": list(found.same),
        "graphs": [_graph_data(graph) for graph in graphs],
    }


def _info_data(info: TensorInfo) -> dict[str, Any]:
    return {"dtype": info.dtype.name, "shape": list(info.shape)}


def _difference_data(item: TensorDifference) -> dict[str, Any]:
    return {
        "differing": item.differing,
        "max": item.largest,
        "mean": item.mean,
        "relative": item.relative,
        "cosine": item.cosine,
    }


def _graph_data(graph: GraphComparison) -> dict[str, Any]:
    return {
        "label": graph.label,
        "is_same": graph.is_same,
        "removed": dict(graph.removed),
        "added": dict(graph.added),
        "changed": {name: list(items) for name, items in graph.changed.items()},
        "signatures": dict(graph.signatures),
        "same": graph.same,
    }


# ---------------------------------------------------------------------------------------------------------------- many


def _run_many(given: Namespace, output: Output) -> int:
    if given.rename or given.tolerance:
        raise InvalidArgumentError("--rename and --tolerance are for two checkpoints, not for a run of them")
    if given.plot:
        require_free(given.plot, given.force or given.dry_run)
    with ExitStack() as stack, watching(output) as bar:
        tensors = _open_all(given.paths, stack)
        # Each is read with the one before and the one after it, the first and the last once more with each other.
        watch = Told(bar, 2 * sum(map(bytes_of, tensors)))
        found = drift([(path, Watched(item, watch)) for path, item in zip(given.paths, tensors, strict=True)])
    labels = [posixpath.basename(path.rstrip("/")) or path for path in given.paths]
    if given.plot and not given.dry_run:
        title = "Relative change of each tensor since the checkpoint before"
        write_text(given.plot, line_plot(title, labels[1:], found.steps), overwrite=given.force)
    if output.is_json:
        output.data("drift/1", _drift_data(given.paths, found))
    else:
        _print_drift(labels, found, output)
        if given.plot and output.is_table:
            output.line(f"{'would write' if given.dry_run else 'wrote'} {shown_value(given.plot)}")
    return DONE


def _print_drift(labels: Sequence[str], found: Drift, output: Output) -> None:
    columns = (
        Column("name", "cyan", is_name=True),
        *(Column(label, is_number=True) for label in labels[1:]),
        Column("total", is_number=True),
    )
    ranked = sorted(found.steps, key=lambda name: -(found.total[name] or 0.0))
    rows = [
        (name, *("-" if value is None else f"{value:.4g}" for value in (*found.steps[name], found.total[name])))
        for name in ranked
    ]
    output.table(columns, rows)


def _drift_data(paths: Sequence[str], found: Drift) -> dict[str, Any]:
    return {
        "paths": list(paths),
        "tensors": [
            {"name": name, "steps": list(steps), "total": found.total[name]} for name, steps in found.steps.items()
        ],
    }


COMMANDS = {
    "diff": Command(
        "Compares two checkpoints, or other files of tensors: what was added, removed, reshaped, and how far numbers\n"
        "changed; and their graphs, node by node, if both have one. The exit code is 3 if they differ.\n"
        "Of three or more, which are those of a run in order, tells how far each tensor moved from one to the next.",
        (
            "diff train/model-1 train/model-2",
            "diff train/model-1 train/model-2 --tolerance 1e-6 --json",
            "diff run/model-1000 other/model --rename dense/kernel=dense/weights",
            "diff export/1 export/many                          # two models, with their graphs",
            "diff moving/model-1 moving/model-2 moving/model-3 --plot drift.svg",
        ),
        _add_arguments,
        _run,
    )
}
