"""`tensorkeep report`."""

from __future__ import annotations

from argparse import Namespace
from contextlib import AbstractContextManager, nullcontext

from tensorkeep.cli.command import DONE, Command, Parser
from tensorkeep.cli.files import require_free, write_text
from tensorkeep.cli.looking.any_tensors import PATH_HELP, holds_other, meant_path, open_any
from tensorkeep.cli.output import Output, amount_of, shown_value, size_text
from tensorkeep.cli.progress import watching
from tensorkeep.convert.hub import TensorSource
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.inspect.page import PageData, gather, html
from tensorkeep.io.showing.progress import Progress


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("path", metavar="PATH", help=PATH_HELP)
    parser.add_argument("target", metavar="OUT", help="the page to write: out.html")
    parser.add_argument("--force", action="store_true", help="replace OUT if it is there")
    parser.add_argument("--dry-run", action="store_true", help="write nothing, and say what would be written")


def _run(given: Namespace, output: Output) -> int:
    require_free(given.target, given.force or given.dry_run)
    with watching(output) as bar:
        data = _gathered(meant_path(given.path), bar)
    text = html(data)
    if not given.dry_run:
        write_text(given.target, text, overwrite=given.force)
    tensors = 0 if data.listing is None else len(data.listing.tensors)
    size = len(text.encode("utf-8", "backslashreplace"))
    if output.is_json:
        sizes = {"bytes": size, "tensors": tensors, "graphs": len(data.graphs), "findings": len(data.findings)}
        output.data("report/1", {"path": given.path, "target": given.target, "is_dry_run": given.dry_run, **sizes})
        return DONE
    verb = "would write" if given.dry_run else "wrote"
    parts = ((tensors, "tensor"), (len(data.graphs), "graph"), (len(data.findings), "finding"))
    what = ", ".join(amount_of(count, noun) for count, noun in parts)
    output.line(f"{verb} {shown_value(given.target)}, {size_text(size)}: {what}")
    return DONE


def _gathered(path: str, progress: Progress) -> PageData:
    if not holds_other(path):
        data = gather(path, progress=progress)
    else:
        with _opened(path) as tensors:
            data = gather(path, tensors=tensors, progress=progress)
    if data.listing is None and not data.graphs:
        raise InvalidArgumentError(f'there are neither tensors nor a graph at "{path}" ({data.identification.kind})')
    return data


def _opened(path: str) -> AbstractContextManager[TensorSource | None]:
    """The tensors of a file; nothing of one that has a graph only."""
    try:
        return open_any(path)
    except InvalidArgumentError:
        return nullcontext()


COMMANDS = {
    "report": Command(
        "Writes a page for a browser about a checkpoint, a model or another file of tensors: a tree of scopes, a\n"
        "table of all tensors that can be sorted and searched, histograms, checks, and a picture of the graph. It is\n"
        "one file and needs no network.",
        ("report run/model-1000 out.html", "report export/1 out.html --dry-run"),
        _add_arguments,
        _run,
    )
}
