"""`tensorkeep merge`, `average` and `interpolate`."""

from __future__ import annotations

from argparse import Namespace

from tensorkeep.cli.changing.checkpoint_changes import add_compact, add_places, change
from tensorkeep.cli.cluster_options import add_cluster, cluster_of
from tensorkeep.cli.command import Command, Parser
from tensorkeep.cli.output import Output
from tensorkeep.cluster.jobs.editing import average as average_on_cluster
from tensorkeep.edit.combining import Conflict, average, exponential_weights, interpolate, merge
from tensorkeep.errors import InvalidArgumentError


def _add_merge(parser: Parser) -> None:
    add_places(parser, several=True)
    choices = [item.value for item in Conflict]
    parser.add_argument("--conflict", choices=choices, default=choices[0], help="which counts of two of one name")
    add_compact(parser)


def _run_merge(given: Namespace, output: Output) -> int:
    conflict = Conflict(given.conflict)
    return change(given, output, lambda options: merge(given.sources, given.target, options, conflict=conflict))


def _add_average(parser: Parser) -> None:
    add_places(parser, several=True)
    parser.add_argument("--weights", metavar="W,W,...", help="how much each counts; all the same by default")
    parser.add_argument("--decay", metavar="D", type=float, help="each counts D times as much as the next")
    add_cluster(parser)


def _run_average(given: Namespace, output: Output) -> int:
    if given.weights and given.decay is not None:
        raise InvalidArgumentError("--weights and --decay exclude each other")
    weights = _numbers(given.weights) if given.weights else None
    if given.decay is not None:
        weights = exponential_weights(len(given.sources), given.decay)
    wanted = (given.sources, given.target)
    with cluster_of(given) as executor:
        if executor is not None:
            found = executor
            return change(given, output, lambda options: average_on_cluster(*wanted, options, found, weights=weights))
        return change(given, output, lambda options: average(*wanted, options, weights=weights))


def _numbers(text: str) -> list[float]:
    try:
        return [float(item) for item in text.split(",")]
    except ValueError:
        raise InvalidArgumentError(f"--weights: expected numbers with commas between them, got {text!r}") from None


def _add_interpolate(parser: Parser) -> None:
    parser.add_argument("first", metavar="FIRST", help="a checkpoint, which the result is at a share of 0")
    parser.add_argument("second", metavar="SECOND", help="another one, which it is at a share of 1")
    parser.add_argument("share", metavar="SHARE", type=float, help="where the result lies between them")
    parser.add_argument("target", metavar="TARGET", help="the prefix of the new checkpoint")
    parser.add_argument("--force", action="store_true", help="replace what is there")
    parser.add_argument("--dry-run", action="store_true", help="write nothing, and say what would be written")


def _run_interpolate(given: Namespace, output: Output) -> int:
    return change(
        given, output, lambda options: interpolate(given.first, given.second, given.target, given.share, options)
    )


COMMANDS = {
    "merge": Command(
        "Puts the tensors of several checkpoints into one. Data files are linked, not copied.",
        ("merge run/model-1000 train/model-2 merged/model --conflict first",),
        _add_merge,
        _run_merge,
    ),
    "average": Command(
        "Averages checkpoints of one model. What is not a floating-point number is copied from the last.",
        (
            "average train/model-1 train/model-2 averaged/model",
            "average train/model-1 train/model-2 averaged/model --weights 1,3",
            "average train/model-1 train/model-2 averaged/model --decay 0.9",
        ),
        _add_average,
        _run_average,
    ),
    "interpolate": Command(
        "Makes a checkpoint on the line between two, or beyond them.",
        ("interpolate train/model-1 train/model-2 0.25 between/model",),
        _add_interpolate,
        _run_interpolate,
    ),
}
