"""`tensorkeep graph`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from tensorkeep.cli.command import DONE, Command, Parser
from tensorkeep.cli.files import require_free, write_text, written_path
from tensorkeep.cli.output import Column, Output, amount_of, shown_value, size_text
from tensorkeep.errors import InvalidArgumentError, NotFoundError, TensorKeepError
from tensorkeep.inspect.costs import Cost, graph_cost
from tensorkeep.inspect.drawing import graphviz, picture, svg
from tensorkeep.inspect.graphs import End, GraphSummary, read_graphs, summarize
from tensorkeep.proto.messages import MetaGraphDef

_ENDS = (
    Column("end"),
    Column("name", "cyan", is_name=True),
    Column("type"),
    Column("shape"),
    Column("tensor", is_name=True, spare=1),
)
_OPS = (
    Column("op", "cyan", is_name=True),
    Column("count", is_number=True),
    Column("bytes", is_size=True),
    Column("operations", is_number=True),
)


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("path", metavar="PATH", help="a SavedModel, a .meta, .pb or .pbtxt, or a checkpoint with .meta")
    parser.add_argument("--tag_set", metavar="TAGS", help="of several graphs, the one with these tags")
    parser.add_argument("--dot", type=written_path, metavar="FILE", help="draw it for Graphviz")
    parser.add_argument("--svg", type=written_path, metavar="FILE", help="draw it as SVG")
    parser.add_argument("--boxes", metavar="N", type=int, default=60, help="draw no more boxes than this, by scopes")
    parser.add_argument("--force", action="store_true", help="replace FILE if it is there")
    parser.add_argument("--dry-run", action="store_true", help="write no FILE, and say what would be written")


def _run(given: Namespace, output: Output) -> int:
    for path in filter(None, (given.dot, given.svg)):
        require_free(path, given.force or given.dry_run)
    graphs = _chosen_graphs(read_graphs(given.path), given.tag_set)
    if (given.dot or given.svg) and len(graphs) > 1:
        labels = ", ".join(repr(label) for label, _ in graphs)
        raise InvalidArgumentError(f"there are several graphs: say which to draw, --tag_set of {labels}")
    if given.boxes < 1:
        raise InvalidArgumentError(f"--boxes: expected at least 1, got {given.boxes}")
    found = [(summarize(*item), _cost(item[1])) for item in graphs]
    drawn = picture(graphs[0][1].graph_def, given.boxes)
    if given.dot and not given.dry_run:
        write_text(given.dot, graphviz(drawn), overwrite=given.force)
    if given.svg and not given.dry_run:
        write_text(given.svg, svg(drawn), overwrite=given.force)
    if output.is_json:
        files = [path for path in (given.dot, given.svg) if path]
        output.data("graph/1", {"path": given.path, "graphs": [_data(*item) for item in found], "files": files})
        return DONE
    for at, (summary, cost) in enumerate(found):
        if at:
            output.line()
        _print(summary, cost, output)
    for path in filter(None, (given.dot, given.svg)):
        output.line(f"{'would write' if given.dry_run else 'wrote'} {shown_value(path)}")
    return DONE


def _chosen_graphs(graphs: Sequence[tuple[str, MetaGraphDef]], tags: str | None) -> Sequence[tuple[str, MetaGraphDef]]:
    wanted = None if tags is None else set(tags.split(","))
    found = [item for item in graphs if wanted is None or set(item[0].split(",")) == wanted]
    if not found:
        labels = ", ".join(repr(label) for label, _ in graphs) or "none"
        raise NotFoundError(f"there is no graph with the tags {tags!r}; there are {labels}")
    return found


def _cost(meta_graph: MetaGraphDef) -> Cost | None:
    """What the graph costs; None if it has ops of which nothing is known, or is damaged."""
    try:
        return graph_cost(meta_graph.graph_def)
    except TensorKeepError:
        return None


def _print(summary: GraphSummary, cost: Cost | None, output: Output) -> None:
    facts: dict[str, object] = {"tags": summary.label} if summary.label else {}
    facts["nodes"] = f"{summary.nodes:,}"
    facts["functions"] = f"{summary.functions:,}"
    facts["bytes"] = size_text(summary.nbytes) if output.is_table else summary.nbytes
    facts["operations"] = "not known" if cost is None else _cost_text(cost)
    output.facts(facts)
    for key, (inputs, outputs) in summary.signatures.items():
        _print_ends(f"signature {key}", inputs, outputs, output)
    if not summary.signatures:
        _print_ends("ends", summary.placeholders, [End(name, name, "-", "-") for name in summary.outputs], output)
    by_op = {} if cost is None else cost.by_op
    output.line()
    output.table(_OPS, [(op, n, summary.bytes_by_op[op], by_op.get(op, 0)) for op, n in summary.ops.items()])


def _cost_text(cost: Cost) -> str:
    text = f"{cost.total:,} if all runs once, for one example"
    missing = sum(cost.unknown.values())
    return f"{text}; {amount_of(missing, 'node')} of unknown shapes not counted" if missing else text


def _print_ends(title: str, inputs: Sequence[End], outputs: Sequence[End], output: Output) -> None:
    output.line()
    output.line(output.styled(shown_value(title), "bold"))
    rows = [("input", end.name, end.dtype, end.shape, end.tensor) for end in inputs]
    rows += [("output", end.name, end.dtype, end.shape, end.tensor) for end in outputs]
    output.table(_ENDS, rows)


def _data(summary: GraphSummary, cost: Cost | None) -> dict[str, Any]:
    return {
        "label": summary.label,
        "nodes": summary.nodes,
        "functions": summary.functions,
        "bytes": summary.nbytes,
        "operations": None if cost is None else cost.total,
        "ops": [
            {
                "op": op,
                "count": count,
                "bytes": summary.bytes_by_op[op],
                "operations": None if cost is None else cost.by_op.get(op, 0),
            }
            for op, count in summary.ops.items()
        ],
        "unknown_shapes": {} if cost is None else dict(cost.unknown),
        "placeholders": [_end_data(end) for end in summary.placeholders],
        "outputs": list(summary.outputs),
        "signatures": {
            key: {"inputs": [_end_data(end) for end in inputs], "outputs": [_end_data(end) for end in outputs]}
            for key, (inputs, outputs) in summary.signatures.items()
        },
    }


def _end_data(end: End) -> dict[str, str]:
    return {"name": end.name, "tensor": end.tensor, "dtype": end.dtype, "shape": end.shape}


COMMANDS = {
    "graph": Command(
        "Shows what a graph consists of: its inputs and outputs, how often each op occurs, the bytes that each takes,\n"
        "and the floating-point operations that each costs, as far as shapes tell.",
        (
            "graph export/1",
            "graph run/model-1000                       # the .meta file beside it",
            "graph export/1 --dot graph.dot --svg graph.svg",
            "graph export/many --tag_set serve --json",
        ),
        _add_arguments,
        _run,
    )
}
