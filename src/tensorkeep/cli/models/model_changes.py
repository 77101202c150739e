"""Commands that change a SavedModel: their arguments, where the changed model goes, and what is said of it."""

from __future__ import annotations

import posixpath
from argparse import Namespace
from collections.abc import Callable, Mapping
from typing import Any

from tensorkeep.cli.command import DONE, Parser
from tensorkeep.cli.files import written_path
from tensorkeep.cli.output import Output, shown_value
from tensorkeep.errors import AlreadyExistsError, FailedPreconditionError
from tensorkeep.io.files.directories import is_empty_directory, replace_directory
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import path_text
from tensorkeep.proto.messages import SavedModel
from tensorkeep.saved_model.edit.directory_edits import Edit, rewrite_model
from tensorkeep.saved_model.files.layout import read_saved_model, signature_keys


def add_change(parser: Parser) -> None:
    """Adds the arguments of a command that changes a model."""
    parser.add_argument("model", metavar="MODEL", help="the directory of a SavedModel")
    add_place(parser)


def add_place(parser: Parser) -> None:
    """Adds the arguments that say where a changed model goes."""
    parser.add_argument(
        "--output",
        type=written_path,
        metavar="DIR",
        help="where the changed model goes; it appears whole or not at all",
    )
    parser.add_argument("--force", action="store_true", help="replace what is there; without --output: MODEL")
    parser.add_argument("--dry-run", action="store_true", help="change nothing, and say what would be written")


def add_tags(parser: Parser) -> None:
    """Adds the argument that names a meta graph."""
    parser.add_argument("--tag_set", metavar="TAGS", help="only the meta graph with these tags; all by default")


def change_model(given: Namespace, output: Output, *edits: Edit) -> int:
    """Applies changes to the model that is named, and says what became of it."""
    check_place(given)
    if given.dry_run:
        model = read_saved_model(given.model)
        for edit in edits:
            model = edit(model)
        return report_change(given, output, model, changes_between(read_saved_model(given.model), model))
    written: list[SavedModel] = []

    def write(target: str | None) -> None:
        written.append(rewrite_model(given.model, target, *edits))

    if given.output is None or _is_same(given):
        write(None)
    else:
        write_directory(given.output, given.force, write)
    return report_change(given, output, written[0])


def check_place(given: Namespace) -> None:
    """Refuses to write over what is there, unless it is said that this is wanted."""
    given.model = path_text(given.model)
    given.output = None if given.output is None else path_text(given.output)
    if given.output is None or _is_same(given):
        if not given.force:
            raise FailedPreconditionError(
                f'this would change "{given.model}" itself: say --output DIR to write another one, or --force'
            )
    elif not given.force:
        _check_free(given.output)


def _is_same(given: Namespace) -> bool:
    return FILES.canonical(given.output) == FILES.canonical(given.model)


def _check_free(target: str) -> None:
    if FILES.exists(target) and not is_empty_directory(FILES, target):
        raise AlreadyExistsError(f'"{target}" is there already: say --force to replace it, or choose another place')


def write_directory(target: str, force: bool, write: Callable[[str], None]) -> None:
    """Has a folder written, in the place of the one that is there if that is wanted."""
    if force and FILES.exists(target) and not is_empty_directory(FILES, target):
        replace_directory(FILES, target, write)
    else:
        _check_free(target)
        write(target)


def changes_between(before: SavedModel, after: SavedModel) -> str:
    """A line that says how many meta graphs, signatures, nodes, functions and bytes there were before and are after."""
    sizes = _sizes(before)
    return ", ".join(f"{what} {sizes[what]:,} -> {size:,}" for what, size in _sizes(after).items())


def _sizes(model: SavedModel) -> dict[str, int]:
    graphs = [_graph_data(item) for item in model.meta_graphs]
    return {
        "meta graphs": len(graphs),
        "signatures": sum(len(graph["signatures"]) for graph in graphs),
        "nodes": sum(graph["nodes"] for graph in graphs),
        "functions": sum(graph["functions"] for graph in graphs),
        "bytes": model.ByteSize(),
    }


def report_change(given: Namespace, output: Output, model: SavedModel | None = None, changes: str = "") -> int:
    """Says what was written, or would be; `changes` is what a dry run has counted."""
    target = given.output or given.model
    graphs = [] if model is None else [_graph_data(item) for item in model.meta_graphs]
    data = {"source": given.model, "target": target, "is_dry_run": given.dry_run, "meta_graphs": graphs}
    if output.is_json:
        output.data("saved-model.change/1", data)
        return DONE
    output.line(f"{'would write' if given.dry_run else 'wrote'} {shown_value(target)}")
    for graph in graphs:
        tags, keys = ",".join(graph["tags"]), ", ".join(graph["signatures"]) or "no signatures"
        output.line(f"  {shown_value(tags)}: {shown_value(keys)}; {graph['nodes']:,} nodes")
    if changes and given.dry_run:
        output.line(f"  {changes}")
    return DONE


def _graph_data(item: Any) -> dict[str, Any]:
    return {
        "tags": list(item.meta_info_def.tags),
        "signatures": signature_keys(item),
        "nodes": len(item.graph_def.node),
        "functions": len(item.graph_def.library.function),
    }


def report_files(given: Namespace, output: Output, files: Mapping[str, str]) -> int:
    """Says which files were written or, in a dry run, would be. `files` has the size of each, as text, by its path."""
    if output.is_json:
        output.data("saved-model.files/1", {"source": given.model, "is_dry_run": given.dry_run, "files": list(files)})
        return DONE
    for path, amount in files.items():
        name = shown_value(posixpath.normpath(path))
        output.line(f"would write {name}: {amount}" if given.dry_run else f"wrote {name}")
    return DONE


def edit_with(function: Callable[..., SavedModel], *arguments: Any, **keywords: Any) -> Edit:
    """A change of a model: a function of the model that calls `function` with it and then these arguments."""
    return lambda model: function(model, *arguments, **keywords)
