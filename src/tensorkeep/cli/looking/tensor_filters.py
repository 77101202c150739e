"""The arguments by which tensors are chosen and sorted, which several commands have."""

from __future__ import annotations

from argparse import Namespace

from tensorkeep.cli.command import TENSOR_NAMES, Parser
from tensorkeep.edit.names import Selection
from tensorkeep.inspect.selecting import Order, SortKey


def add_filters(parser: Parser) -> None:
    """Adds the arguments by which tensors are chosen and sorted."""
    add_selection(parser, "names that fit")
    keys = [key.value for key in SortKey]
    parser.add_argument("--sort", choices=keys, default=SortKey.STORED.value, help="sizes: largest first")
    parser.add_argument("--reverse", action="store_true", help="the other way round")


def add_selection(parser: Parser, what: str) -> None:
    """Adds the arguments by which tensors are chosen."""
    parser.add_argument(
        "--match", metavar="GLOB", action="append", default=[], help=f"{what}; * also takes /", values=TENSOR_NAMES
    )
    parser.add_argument("--regex", metavar="RE", action="append", default=[], help="the same, by expressions")
    parser.add_argument(
        "--exclude",
        metavar="GLOB",
        action="append",
        default=[],
        help="but not what fits this",
        values=TENSOR_NAMES,
    )


def selection_of(given: Namespace) -> Selection:
    """The selection of tensors that the arguments ask for."""
    excluded = Selection(tuple(given.exclude)) if given.exclude else None
    return Selection(tuple(given.match), tuple(given.regex), excluded)


def order_of(given: Namespace) -> Order:
    """The order that the arguments ask for."""
    return Order(SortKey(given.sort), given.reverse)
