"""`tensorkeep retain`."""

from __future__ import annotations

import posixpath
from argparse import Namespace
from datetime import datetime, timezone
from typing import Any, Literal

from tensorkeep.cli.command import DONE, Command, Parser
from tensorkeep.cli.looking.checkpoints import checkpoint_data
from tensorkeep.cli.output import Column, Output, amount_of, shown_value, size_text
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.showing.amounts import size_of, some_of
from tensorkeep.saving.applying import Retained, retain
from tensorkeep.saving.retention import AnyOf, KeepAll, KeepBest, KeepBytes, KeepEvery, KeepLatest, Record, Rule

_COLUMNS = (
    Column("what"),
    Column("checkpoint", "cyan", is_name=True),
    Column("step", is_number=True),
    Column("saved"),
    Column("bytes", is_size=True),
)


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("directory", metavar="DIR", help="a folder with checkpoints")
    parser.add_argument("--latest", metavar="N", type=int, help="keep the last N")
    parser.add_argument("--every-steps", metavar="N", type=int, help="keep one for every N steps")
    parser.add_argument("--every-hours", metavar="H", type=float, help="keep one for every H hours")
    parser.add_argument(
        "--best",
        metavar="METRIC",
        action="append",
        default=[],
        help="keep the one with the smallest loss (loss), the three with the largest accuracy (accuracy:max:3)",
    )
    parser.add_argument("--max-bytes", metavar="SIZE", help="of what is kept, the newest that fit: 500MB, 2GiB")
    parser.add_argument("--pin", metavar="NAME", action="append", default=[], help="keep this one now and later")
    parser.add_argument("--force", action="store_true", help="delete the others; else they are only listed")
    parser.add_argument("--dry-run", action="store_true", help="only list them, even with --force")


def _run(given: Namespace, output: Output) -> int:
    given.force = given.force and not given.dry_run
    done = retain(given.directory, _rule(given), pins=given.pin, dry_run=not given.force)
    if output.is_json:
        output.data("retain/2", _data(given.directory, done))
        return DONE
    verb = "deleted" if given.force else "delete"
    rows = [("keep", *_row(item)) for item in done.kept] + [(verb, *_row(item)) for item in done.doomed]
    if not rows:
        output.line(f"there are no checkpoints in {shown_value(given.directory)}")
        return DONE
    output.table(_COLUMNS, sorted(rows, key=lambda row: (row[3], str(row[1]))))
    for metric, records in done.unmeasured.items():
        names = some_of([posixpath.basename(item.path) for item in records], 3)
        output.note(
            f'{amount_of(len(records), "checkpoint")} without the metric "{shown_value(metric)}" kept, as it is not '
            f"known whether they are among the best: {shown_value(names)}{_known_metrics(done)}"
        )
    if output.is_table:
        size = size_text(sum(item.nbytes or 0 for item in done.doomed))
        count = amount_of(len(done.doomed), "checkpoint")
        output.line(f"deleted {count}, {size}" if given.force else f"{count} to delete, {size}; --force deletes them")
    return DONE


def _known_metrics(done: Retained) -> str:
    names = sorted({name for item in (*done.kept, *done.doomed) for name in item.metrics})
    return (
        f"; metrics of this folder: {shown_value(', '.join(names))}"
        if names
        else "; no metrics are known of this folder"
    )


def _rule(given: Namespace) -> Rule:
    rules: list[Rule] = [KeepLatest(given.latest)] if given.latest is not None else []
    rules += [KeepEvery(steps=given.every_steps)] if given.every_steps is not None else []
    rules += [KeepEvery(hours=given.every_hours)] if given.every_hours is not None else []
    rules += map(_best, given.best)
    if given.max_bytes is not None:
        return KeepBytes(size_of(given.max_bytes), AnyOf(*rules) if rules else KeepAll())
    if not rules:
        raise InvalidArgumentError(
            "say what shall be kept: --latest, --every-steps, --every-hours, --best or --max-bytes"
        )
    return AnyOf(*rules)


def _best(text: str) -> KeepBest:
    metric, *words = text.split(":")
    count, mode = 1, "min"
    for word in words:
        if word in ("min", "max"):
            mode = word
        elif word.isdecimal():
            count = int(word)
        else:
            raise InvalidArgumentError(f"--best: expected METRIC, METRIC:max or METRIC:max:3, got {text!r}")
    chosen: Literal["min", "max"] = "max" if mode == "max" else "min"
    return KeepBest(metric, count, chosen)


def _row(item: Record) -> tuple[object, object, object, object]:
    step = "-" if item.step is None else item.step
    return posixpath.basename(item.path), step, _time(item.time), item.nbytes or 0


def _time(seconds: float) -> str:
    try:
        return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, ValueError, OSError):
        return "for ever" if seconds > 0 else "-"


def _data(directory: str, done: Retained) -> dict[str, Any]:
    return {
        "directory": directory,
        "is_dry_run": done.is_dry_run,
        "kept": [{**checkpoint_data(item), "is_pinned": item.pinned} for item in done.kept],
        "deleted": [{**checkpoint_data(item), "is_pinned": item.pinned} for item in done.doomed],
        "unmeasured": {name: [item.path for item in records] for name, records in done.unmeasured.items()},
    }


COMMANDS = {
    "retain": Command(
        "Keeps the checkpoints of a folder that at least one of some rules wants, and lists the others, which --force\n"
        "deletes. The latest one, and those that are pinned, always stay. Metrics are those that savers were told of;\n"
        "a checkpoint of which one is not known is not deleted by a rule on it.",
        (
            "retain train --latest 1",
            "retain train --latest 1 --every-steps 1000 --best loss --max-bytes 10GB",
            "retain train --latest 1 --pin model-1 --force",
        ),
        _add_arguments,
        _run,
    )
}
