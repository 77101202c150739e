"""`tensorkeep report`: a page about what is at a path, which `tensorkeep view --export` writes too."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from tensorkeep.cli.command import DONE, Command, Parser
from tensorkeep.cli.files import require_free, write_text
from tensorkeep.cli.looking.any_tensors import PATH_HELP
from tensorkeep.cli.output import Output, amount_of, shown_value, size_text, watching
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.inspect.identifying import identify
from tensorkeep.viewer.page import export_page


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("path", metavar="PATH", help=PATH_HELP)
    parser.add_argument("target", metavar="OUT", help="the page to write: out.html")
    parser.add_argument("--force", action="store_true", help="replace OUT if it is there")
    parser.add_argument("--dry-run", action="store_true", help="write nothing, and say what would be written")


def _run(given: Namespace, output: Output) -> int:
    require_free(given.target, given.force or given.dry_run)
    return write_page("report/2", [given.path], given.target, given, output)


def write_page(schema: str, paths: Sequence[str], target: str, given: Namespace, output: Output) -> int:
    """Writes a page on what is at some paths, or says what would be written."""
    with watching(output) as bar:
        page = export_page(paths, progress=bar)
    if not page.tensors and not page.graphs:
        kinds = ", ".join(f'"{path}" ({identify(path).kind})' for path in paths)
        raise InvalidArgumentError(f"there are neither tensors nor a graph at {kinds}")
    if not given.dry_run:
        write_text(target, page.text, overwrite=given.force)
    size = len(page.text.encode("utf-8", "backslashreplace"))
    if output.is_json:
        sizes = {"bytes": size, "tensors": page.tensors, "graphs": page.graphs, "findings": page.findings}
        told = {"paths": list(paths), "target": target, "is_dry_run": given.dry_run, **sizes}
        output.data(schema, {**told, "left_out": page.left_out})
        return DONE
    verb = "would write" if given.dry_run else "wrote"
    parts = ((page.tensors, "tensor"), (page.graphs, "graph"), (page.findings, "finding"))
    what = ", ".join(amount_of(count, noun) for count, noun in parts)
    output.line(f"{verb} {shown_value(target)}, {size_text(size)}: {what}")
    for remark in page.left_out:
        output.note(f"not in the page: {remark}")
    return DONE


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
