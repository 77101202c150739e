"""`tensorkeep verify`."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from tensorkeep.checkpoint.checking import CheckpointReport, check_checkpoint
from tensorkeep.cli.cluster_options import add_cluster, cluster_of
from tensorkeep.cli.command import DONE, FOUND, Command, Parser
from tensorkeep.cli.looking.any_tensors import meant_path, require_checkpoint
from tensorkeep.cli.output import Output, ProgressBar, shown_value, watching
from tensorkeep.cluster.executors import Executor
from tensorkeep.cluster.jobs.checking import check_checkpoint as check_on_cluster
from tensorkeep.inspect.folders import checkpoints_of
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.saved_model.files.layout import contains_saved_model, variables_path


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="+", help="prefixes of checkpoints, folders, SavedModels")
    parser.add_argument("--threads", metavar="N", type=int, help="how many threads read; as many as help by default")
    add_cluster(parser, writes=False)


def _run(given: Namespace, output: Output) -> int:
    for path in given.paths:
        require_checkpoint(path, ", and has no checksums that could be compared")
    paths = [prefix for path in given.paths for prefix in checkpoints_of(meant_path(path)) or [meant_path(path)]]
    with watching(output) as bar, cluster_of(given) as executor:
        reports = [_check(path, given.threads, bar, executor) for path in paths]
    if output.is_json:
        output.data("verify/1", {"checkpoints": [_data(report) for report in reports]})
    else:
        for report in reports:
            _print(report, output)
    return DONE if all(report.is_intact for report in reports) else FOUND


def _check(path: str, threads: int | None, bar: ProgressBar, executor: Executor | None) -> CheckpointReport:
    prefix = variables_path(path) if contains_saved_model(path, FILES) else path
    if executor is not None:
        return check_on_cluster(prefix, executor, progress=bar)
    return check_checkpoint(prefix, threads=threads, progress=bar)


def _print(report: CheckpointReport, output: Output) -> None:
    first, *rest = str(report).splitlines()
    output.line(output.styled(shown_value(first), "green" if report.is_intact else "red"))
    for line in rest:
        output.line(shown_value(line))


def _data(report: CheckpointReport) -> dict[str, Any]:
    problems = [
        {"tensor": problem.tensor, "error": type(problem.error).__name__, "message": str(problem.error)}
        for problem in report.problems
    ]
    return {"path": report.path, "intact": len(report.intact), "is_intact": report.is_intact, "problems": problems}


COMMANDS = {
    "verify": Command(
        "Reads every tensor of checkpoints, compares every checksum, and says all that is wrong.\n"
        "Of a folder, those of all checkpoints in it. The exit code is 0 if all is intact, and 3 if something is\n"
        "damaged or missing.",
        (
            "verify run/model-1000",
            "verify run/model-1000 export/1   # the variables of a SavedModel too",
            "verify run --json",
        ),
        _add_arguments,
        _run,
    )
}
