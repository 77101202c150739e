"""`tensorkeep salvage`, `repair-state` and `gc`."""

from __future__ import annotations

from argparse import Namespace

from tensorkeep.cli.changing.checkpoint_changes import add_places, change, change_data
from tensorkeep.cli.command import DONE, FOUND, Command, Parser
from tensorkeep.cli.output import Column, Output, amount_of, shown_value, size_text
from tensorkeep.edit.plan import EditOptions, Written
from tensorkeep.edit.repairing import Salvaged, find_garbage, remove_garbage, repair_state, salvage


def _run_salvage(given: Namespace, output: Output) -> int:
    found: list[Salvaged] = []

    def work(options: EditOptions) -> Written:
        found.append(salvage(given.source, given.target, options))
        return found[0].written

    if output.is_json:
        work(EditOptions(overwrite=given.force, dry_run=given.dry_run))
        lost = [{"tensor": item.tensor, "message": str(item)} for item in found[0].lost]
        output.data("salvage/1", {**change_data(found[0].written), "lost": lost})
    else:
        change(given, output, work)
        for problem in found[0].lost:
            output.line(f"lost: {shown_value(problem)}")
    return FOUND if found[0].lost else DONE


def _add_state(parser: Parser) -> None:
    parser.add_argument("directory", metavar="DIR", help="a folder with checkpoints")
    parser.add_argument("--verify", choices=["quick", "full"], default="quick", help="how checkpoints are checked")
    parser.add_argument("--dry-run", action="store_true", help="write nothing, and say what would be written")


def _run_state(given: Namespace, output: Output) -> int:
    done = repair_state(given.directory, verify=given.verify, dry_run=given.dry_run)
    if output.is_json:
        output.data(
            "repair-state/1",
            {
                "directory": given.directory,
                "is_dry_run": given.dry_run,
                "latest": done.latest,
                "checkpoints": list(done.paths),
                "dropped": [{"path": path, "reason": reason} for path, reason in done.dropped],
                "added": list(done.added),
                "problem": done.problem,
            },
        )
        return DONE
    if done.problem is not None:
        output.line(f"the old state file could not be read: {shown_value(done.problem)}")
    for path, reason in done.dropped:
        output.line(f"dropped {shown_value(path)}: {shown_value(reason)}")
    for path in done.added:
        output.line(f"added {shown_value(path)}")
    verb = "would list" if given.dry_run else "lists"
    output.line(
        f"the state file {verb} {amount_of(len(done.paths), 'checkpoint')}, the latest is {shown_value(done.latest)}"
    )
    return DONE


def _add_gc(parser: Parser) -> None:
    parser.add_argument("directory", metavar="DIR", help="a folder with checkpoints")
    parser.add_argument("--older-than", metavar="SECONDS", type=float, help="an hour by default; a day in a store")
    parser.add_argument("--force", action="store_true", help="delete what is found; else it is only listed")
    parser.add_argument("--dry-run", action="store_true", help="only list it, even with --force")


_GARBAGE = (Column("path", "cyan", is_name=True), Column("bytes", is_size=True), Column("what it is", is_prose=True))


def _run_gc(given: Namespace, output: Output) -> int:
    given.force = given.force and not given.dry_run
    found = find_garbage(given.directory, older_than=given.older_than)
    removed = remove_garbage(found) if given.force else []
    if output.is_json:
        items = [
            {"path": item.path, "bytes": item.nbytes, "reason": item.reason, "is_removed": item in removed}
            for item in found
        ]
        output.data("gc/1", {"directory": given.directory, "garbage": items})
        return DONE
    if not found:
        output.line("there is nothing to delete: 0 items, 0 B")
    else:
        output.table(_GARBAGE, [(item.path, item.nbytes, item.reason) for item in found])
    if found and output.is_table:
        size = size_text(sum(item.nbytes for item in (removed if given.force else found)))
        verb = (
            f"deleted {amount_of(len(removed), 'item')}"
            if given.force
            else f"{amount_of(len(found), 'item')} to delete"
        )
        output.line(f"{verb}, {size}{'' if given.force else '; --force deletes them'}")
    return DONE


COMMANDS = {
    "salvage": Command(
        "Writes a sound checkpoint of all that is good in a damaged one, and lists what is lost.",
        ("salvage run/model-1000 saved/model",),
        add_places,
        _run_salvage,
    ),
    "repair-state": Command(
        'Writes the state file, "checkpoint", of a folder anew from the whole checkpoints that are there, with\n'
        "relative paths.",
        (
            "repair-state run --dry-run",
            "repair-state run --verify full",
        ),
        _add_state,
        _run_state,
    ),
    "gc": Command(
        "Lists what saves that died have left in a folder: temporary files, data files of which no index speaks,\n"
        "records of an SSD tier of which no checkpoint speaks, folders of sharded saves. --force deletes it.",
        ("gc run", "gc run --force"),
        _add_gc,
        _run_gc,
    ),
}
