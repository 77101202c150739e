"""`tensorkeep view`."""

from __future__ import annotations

import webbrowser
from argparse import Namespace
from importlib import import_module
from typing import TYPE_CHECKING

from tensorkeep.cli.command import DONE, Command, Parser
from tensorkeep.cli.files import require_free, written_path
from tensorkeep.cli.looking.report import write_page
from tensorkeep.cli.output import Output, amount_of, shown_value
from tensorkeep.errors import InvalidArgumentError, MissingFileError, TensorKeepError, UnimplementedError
from tensorkeep.inspect.identifying import identify

if TYPE_CHECKING:
    from tensorkeep.viewer.server import Server

_LOOPBACK = "127.0.0.1"


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="+", help="checkpoints, folders of them, SavedModels, graphs")
    parser.add_argument("--port", metavar="PORT", type=int, default=0, help="where to listen; 0: any that is free")
    parser.add_argument("--host", metavar="ADDRESS", default=_LOOPBACK, help="who can reach it (%(default)s)")
    parser.add_argument("--no-browser", action="store_true", help="open no browser; the address is printed")
    parser.add_argument(
        "--export", type=written_path, metavar="OUT", help="write one page for all of it in place of serving: out.html"
    )
    parser.add_argument("--force", action="store_true", help="with --export: replace OUT if it is there")
    parser.add_argument("--dry-run", action="store_true", help="say what would be shown, and end")


def _run(given: Namespace, output: Output) -> int:
    if given.export:
        require_free(given.export, given.force or given.dry_run)
        return write_page("view.export/1", given.paths, given.export, given, output)
    for path in given.paths:
        _require_something(path)
    if given.dry_run:
        found = [(path, identify(path).kind) for path in given.paths]
        if output.is_json:
            output.data("view/1", {"sources": [{"path": path, "kind": kind} for path, kind in found]})
        else:
            output.facts(dict(found))
            output.line(f"would show {amount_of(len(found), 'source')} at port {given.port or 'any that is free'}")
        return DONE
    if output.is_json:
        raise InvalidArgumentError("--json goes with --export and --dry-run: a server prints its address and no more")
    server = _server(given)
    if not server.place.is_loopback:
        output.note(
            f"who can reach {given.host} and knows the address below sees these models and can run them", "warning"
        )
    server.run(lambda: _tell(server, given, output))
    return DONE


def _require_something(path: str) -> None:
    """MissingFileError if nothing is at a path. What is damaged is shown, and says so itself."""
    try:
        identify(path)
    except TensorKeepError as error:
        if isinstance(error, MissingFileError):
            raise


def _tell(server: Server, given: Namespace, output: Output) -> None:
    output.line(f"{', '.join(map(shown_value, given.paths))} at {server.address}")
    output.note("Ctrl-C ends it", "note", "dim")
    output.out.flush()
    if not given.no_browser:
        webbrowser.open(server.address)


def _server(given: Namespace) -> Server:
    try:
        module = import_module("tensorkeep.viewer.server")
    except ModuleNotFoundError as error:
        if error.name not in ("starlette", "uvicorn"):
            raise
        raise UnimplementedError(
            f'{error.name} is not installed, and the viewer is served by it: pip install "tensorkeep[view]", or write '
            "a page that needs no server by --export out.html"
        ) from None
    server: Server = module.Server(given.paths, module.Place(given.host, given.port))
    return server


COMMANDS = {
    "view": Command(
        "Shows models in a browser: graphs, weights, embedding tables, the history of a run, health, and a form to\n"
        "run a SavedModel with. A server on this machine answers the page, and nobody else, until Ctrl-C. Nothing is\n"
        "fetched from a network. Large checkpoints are read only where one looks.",
        (
            "view export/1",
            "view run/ --port 8000 --no-browser",
            "view run/model-1000 export/1 --export out.html   # one page that needs no server",
        ),
        _add_arguments,
        _run,
    )
}
