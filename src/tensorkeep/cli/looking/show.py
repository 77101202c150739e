"""`tensorkeep show`."""

from __future__ import annotations

import posixpath
from argparse import Namespace

from tensorkeep.cli.command import DONE, Command, Parser
from tensorkeep.cli.looking.any_tensors import PATH_HELP, list_any, tell_none, tell_remarks
from tensorkeep.cli.looking.list_tensors import listing_data
from tensorkeep.cli.looking.tensor_filters import add_filters, order_of, selection_of
from tensorkeep.cli.output import Column, Output, amount_of, shape_text, size_text
from tensorkeep.inspect.listing import CheckpointListing, StoredTensor
from tensorkeep.inspect.selecting import Scope, scope_tree, selected


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("path", metavar="PATH", help=PATH_HELP)
    add_filters(parser)
    parser.add_argument("--depth", metavar="N", type=int, help="show scopes to this depth only")


def _run(given: Namespace, output: Output) -> int:
    listing = list_any(given.path)
    tell_remarks(listing, output)
    tensors = selected(listing.tensors, selection_of(given), order_of(given))
    tell_none(tensors, listing, output)
    root = scope_tree(tensors)
    if output.is_json:
        data = listing_data(listing, tensors)
        output.data("show/1", {**data, "types": listing.types, "scopes": _scopes(root, given.depth)})
        return DONE
    output.facts(_facts(listing))
    output.line()
    output.table(_COLUMNS, [_row(level, item) for level, item in root.walk(given.depth)])
    return DONE


_COLUMNS = (
    Column("scope or tensor", "cyan", is_name=True),
    Column("type"),
    Column("shape"),
    Column("bytes", is_size=True),
)


def _facts(listing: CheckpointListing) -> dict[str, object]:
    missing = [posixpath.basename(path) for path, size in listing.files.items() if size is None]
    size = sum(size or 0 for size in listing.files.values())
    facts: dict[str, object] = {
        "checkpoint": listing.path,
        "format": listing.format,
        "tensors": f"{len(listing.tensors):,}",
        "elements": f"{listing.elements:,}",
        "bytes": f"{listing.nbytes:,} ({size_text(listing.nbytes)})",
        "types": ", ".join(f"{name} {count:,}" for name, count in listing.types.items()) or "none",
        "files": f"{amount_of(len(listing.files), 'file')}, {size:,} bytes",
    }
    if missing:
        facts["missing"] = " ".join(missing)
    return facts


def _row(level: int, item: Scope | StoredTensor) -> tuple[object, ...]:
    indent = "  " * level
    if isinstance(item, Scope):
        return f"{indent}{item.name}/", amount_of(item.count, "tensor"), "", item.nbytes
    name = item.name.split("/", 64)[-1]
    return f"{indent}{name}", item.dtype, shape_text(item.shape), "?" if item.nbytes is None else item.nbytes


def _scopes(root: Scope, depth: int | None) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    path: list[str] = []
    for level, item in root.walk(depth):
        if isinstance(item, Scope):
            path[level:] = [item.name]
            name = "/".join(path)
            found.append({"name": name, "tensors": item.count, "elements": item.elements, "bytes": item.nbytes})
    return found


COMMANDS = {
    "show": Command(
        "Shows a checkpoint as a whole: its format, files, totals and types, and its tensors as a tree of scopes.",
        (
            "show run/model-1000",
            "show run/model-1000 --depth 1             # the outermost scopes",
            "show run/model-1000 --exclude '*/Adam*'   # without the slots of an optimizer",
            "show export/1 --json",
        ),
        _add_arguments,
        _run,
    )
}
