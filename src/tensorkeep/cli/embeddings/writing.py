"""What the commands that write embedding tables have in common: --force, --dry-run, and what they say."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tensorkeep.checkpoint.finding.files import checkpoint_exists
from tensorkeep.cli.command import DONE, Parser
from tensorkeep.cli.output import Output, ProgressBar, shown_value
from tensorkeep.errors import AlreadyExistsError
from tensorkeep.io.showing.progress import Progress


def add_places(parser: Parser) -> None:
    """Adds the arguments of commands that read one checkpoint and write another."""
    parser.add_argument("source", metavar="SOURCE", help="a checkpoint with embedding tables")
    parser.add_argument("target", metavar="TARGET", help="the prefix of the new checkpoint")
    add_force(parser)


def add_force(parser: Parser) -> None:
    """Adds the options of all commands that write: --force and --dry-run."""
    parser.add_argument("--force", action="store_true", help="replace what is there")
    parser.add_argument("--dry-run", action="store_true", help="write nothing, and say what would be written")


def write(
    given: Namespace,
    output: Output,
    work: Callable[[Progress], Any],
    *,
    plan: Callable[[], Mapping[str, Any]] = dict,
    targets: Sequence[str] = (),
    is_there: Callable[[str], bool] = checkpoint_exists,
) -> int:
    """Has something written where the targets are, unless something is there, and says what became of it.

    Without `targets` it is the checkpoint `given.target`. `plan` says beforehand, and alone in a dry run, what comes of
    each table; `work` may say it afterwards in place of that.
    """
    targets = targets or (given.target,)
    occupied = [] if given.force else [target for target in targets if is_there(target)]
    if occupied:
        raise AlreadyExistsError(f'"{occupied[0]}" is there already: say --force to replace it')
    reports = dict(plan())
    if not given.dry_run:
        bar = ProgressBar(output)
        try:
            done = work(bar)
        finally:
            bar.clear()
        reports = dict(done) if isinstance(done, Mapping) else reports
    _say(given, output, {name: str(report) for name, report in reports.items()}, targets)
    return DONE


def _say(given: Namespace, output: Output, lines: Mapping[str, str], targets: Sequence[str]) -> None:
    if output.is_json:
        data = {"source": given.source, "target": given.target, "is_dry_run": given.dry_run, "reports": lines}
        output.data("ev.change/1", data)
        return
    for name, line in lines.items():
        output.line(shown_value(line) if line.startswith('"') else f"{shown_value(name)}: {shown_value(line)}")
    for target in targets:
        output.line(f"{'would write' if given.dry_run else 'wrote'} {shown_value(target)}")
