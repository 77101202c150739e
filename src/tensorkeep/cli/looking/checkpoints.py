"""`tensorkeep checkpoints`, and what the JSON of commands says of a checkpoint in a folder."""

from __future__ import annotations

import posixpath
import time
from argparse import Namespace
from collections.abc import Mapping
from typing import Any, Protocol

from tensorkeep.cli.command import DONE, FOUND, Command, Parser
from tensorkeep.cli.output import Column, Output, shown_value, watching
from tensorkeep.inspect.folders import FolderEntry, list_checkpoints
from tensorkeep.io.showing.amounts import duration_text

_COLUMNS = (
    Column("checkpoint", "cyan"),
    Column("step", is_number=True),
    Column("age", is_number=True),
    Column("bytes", is_size=True),
    Column("metrics"),
    Column("state"),
)


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("directory", metavar="DIR", help="a folder with checkpoints")
    parser.add_argument("--health", action="store_true", help="read all of each, and tell whether it is fit for use")


def _run(given: Namespace, output: Output) -> int:
    with watching(output) as bar:
        entries = list_checkpoints(given.directory, health=given.health, progress=bar)
    if output.is_json:
        output.data("checkpoints/1", {"directory": given.directory, "checkpoints": [_data(item) for item in entries]})
    elif not entries:
        output.line(f"there are no checkpoints in {shown_value(given.directory)}")
    else:
        output.table(_COLUMNS, [_row(item, time.time()) for item in entries])
        for item in entries:
            for problem in item.problems:
                output.note(problem, "damaged", "red")
    return DONE if all(item.is_sound for item in entries) else FOUND


def _row(item: FolderEntry, now: float) -> tuple[object, ...]:
    metrics = " ".join(f"{name}={value:g}" for name, value in item.metrics.items())
    step = "-" if item.step is None else item.step
    age = duration_text(max(now - item.time, 0))
    return posixpath.basename(item.path), step, age, item.nbytes, metrics or "-", _state(item)


def _state(item: FolderEntry) -> str:
    words = ["latest"] * item.is_latest + ["pinned"] * item.is_pinned
    if item.problems:
        words.append("damaged")
    elif item.health is not None:
        words.append("healthy" if item.health.is_healthy else "ill")
    return ", ".join(words) or "-"


def _data(item: FolderEntry) -> dict[str, Any]:
    return {
        **checkpoint_data(item),
        "is_latest": item.is_latest,
        "is_pinned": item.is_pinned,
        "problems": list(item.problems),
        "is_healthy": None if item.health is None else item.health.is_healthy,
    }


class Kept(Protocol):
    """A checkpoint of a folder, with what is known of it."""

    @property
    def path(self) -> str: ...

    @property
    def step(self) -> int | None: ...

    @property
    def time(self) -> float: ...

    @property
    def nbytes(self) -> int | None: ...

    @property
    def metrics(self) -> Mapping[str, float]: ...


def checkpoint_data(item: Kept) -> dict[str, Any]:
    """The fields that every command gives of a checkpoint."""
    return {
        "path": item.path,
        "step": item.step,
        "time": item.time,
        "bytes": item.nbytes,
        "metrics": dict(item.metrics),
    }


COMMANDS = {
    "checkpoints": Command(
        "Lists the checkpoints of a folder, oldest first: step, age, size, the metrics that savers were told of, and\n"
        "whether files are missing or end too early; with --health also whether the numbers are fit for use. The exit\n"
        "code is 3 if something is wrong with one.",
        ("checkpoints train", "checkpoints train --health", "checkpoints run --json"),
        _add_arguments,
        _run,
    )
}
