"""`tensorkeep scan`."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Sequence

from tensorkeep.cli.command import DONE, FOUND, INCOMPLETE, Command, Parser
from tensorkeep.cli.output import Output, amount_of, shown_value
from tensorkeep.inspect.scanning import sarif, scan_all
from tensorkeep.saved_model.scan.report import ScanReport
from tensorkeep.saved_model.show.flag_values import scan_policy


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="+", help="models, files, folders with models, or patterns")
    parser.add_argument("--allow", metavar="NAMES", help="classes and ops that are no findings: prints,ReadFile")
    parser.add_argument("--allow_ops", metavar="NAMES", help="the only ops that a model may have; or @FILE with them")
    parser.add_argument("--sarif", action="store_true", help="print the report as SARIF 2.1.0, for CI")


def _run(given: Namespace, output: Output) -> int:
    reports = scan_all(given.paths, scan_policy(given.allow, given.allow_ops))
    if given.sarif:
        output.line(sarif(reports))
    elif output.is_json:
        output.data("scan/1", {"models": [json.loads(report.to_json()) for report in reports]})
    else:
        _print(reports, output)
    if not all(report.is_complete for report in reports):
        return INCOMPLETE
    return DONE if all(report.is_clean for report in reports) else FOUND


def _print(reports: Sequence[ScanReport], output: Output) -> None:
    """What was found, model by model; of those in which nothing was found, a line."""
    for report in reports:
        if report.is_clean:
            output.line(f"{shown_value(report.path)}: {output.styled('nothing found', 'green')}")
        else:
            for line in str(report).splitlines():
                output.line(shown_value(line))
    count = sum(sum(report.counts.values()) for report in reports)
    what = "model or file" if len(reports) == 1 else "models and files"
    output.line(f"{len(reports):,} {what} looked at, {amount_of(count, 'finding')}")


COMMANDS = {
    "scan": Command(
        "Reports what models can do besides computing, in all models below folders and under patterns of paths.\n"
        "Nothing of them runs. The exit code is 3 if something was found, and 4 if something could not be looked at.",
        (
            "scan export",
            "scan 'export/*' run                             # patterns, for shells that leave them alone",
            "scan export/1 --allow reads-files --json",
            "scan export --sarif",
        ),
        _add_arguments,
        _run,
    )
}
