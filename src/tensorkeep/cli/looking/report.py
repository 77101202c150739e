"""`tensorkeep report`."""

from __future__ import annotations

from argparse import Namespace

from tensorkeep.cli.command import Command, Parser
from tensorkeep.cli.files import require_free
from tensorkeep.cli.looking.any_tensors import PATH_HELP
from tensorkeep.cli.looking.pages import write_page
from tensorkeep.cli.output import Output


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("path", metavar="PATH", help=PATH_HELP)
    parser.add_argument("target", metavar="OUT", help="the page to write: out.html")
    parser.add_argument("--force", action="store_true", help="replace OUT if it is there")
    parser.add_argument("--dry-run", action="store_true", help="write nothing, and say what would be written")


def _run(given: Namespace, output: Output) -> int:
    require_free(given.target, given.force or given.dry_run)
    return write_page("report/2", [given.path], given.target, given, output)


COMMANDS = {
    "report": Command(
        "Writes a page for a browser about a checkpoint, a model or another file of tensors: the graph, a table of\n"
        "all tensors that can be sorted and searched, histograms, maps of the largest, checks. It is the page of\n"
        "`tensorkeep view` as one file, and needs no network.",
        ("report run/model-1000 out.html", "report export/1 out.html --dry-run"),
        _add_arguments,
        _run,
    )
}
