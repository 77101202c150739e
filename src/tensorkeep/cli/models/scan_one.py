"""`tensorkeep saved-model scan`."""

from __future__ import annotations

import json
from argparse import Namespace

from tensorkeep.cli.command import DONE, FOUND, INCOMPLETE, Command, Parser
from tensorkeep.cli.models.model_arguments import add_model, model_of, tags_of
from tensorkeep.cli.output import Output
from tensorkeep.saved_model.files.layout import meta_graph_with_tags, read_saved_model
from tensorkeep.saved_model.scan.model_scan import scan_model
from tensorkeep.saved_model.scan.report import ScanReport
from tensorkeep.saved_model.show.flag_values import scan_policy, split_names
from tensorkeep.saved_model.show.tensorflow_text import denylist_text


def _add_arguments(parser: Parser) -> None:
    add_model(parser)
    parser.add_argument("--allow", metavar="NAMES", help="classes and ops that are no findings: prints,ReadFile")
    parser.add_argument("--allow_ops", metavar="NAMES", help="the only ops that a model may have; or @FILE with them")
    parser.add_argument("--op_denylist", metavar="OPS", help="only say, in TensorFlow's words, whether these are there")
    parser.add_argument("--sarif", action="store_true", help="print the report as SARIF 2.1.0, for CI")


def _run(given: Namespace, output: Output) -> int:
    if given.op_denylist is not None:
        return _print_denied(given, output)
    report = scan_model(model_of(given), scan_policy(given.allow, given.allow_ops))
    if given.sarif:
        output.line(report.to_sarif())
    elif output.is_json:
        output.data("saved-model.scan/1", json.loads(report.to_json()))
    else:
        output.text(f"{report}\n")
    return _code(report)


def _code(report: ScanReport) -> int:
    if not report.is_complete:
        return INCOMPLETE
    return DONE if report.is_clean else FOUND


def _print_denied(given: Namespace, output: Output) -> int:
    model, tags = read_saved_model(model_of(given)), tags_of(given)
    for meta_graph in model.meta_graphs if tags is None else [meta_graph_with_tags(model, tags)]:
        output.text(denylist_text(meta_graph, set(split_names(given.op_denylist))))
    return DONE


COMMANDS = {
    "saved-model scan": Command(
        "Reports what a model can do besides computing: in graph, functions, objects, collections, assets, metadata.\n"
        "Nothing of it runs. The exit code is 3 if something was found, and 4 if something could not be looked at.",
        (
            "saved-model scan export/1",
            "saved-model scan export/1/saved_model.pb              # any file of a model",
            "saved-model scan export/1 --allow reads-files --json",
            "saved-model scan export/1 --sarif",
        ),
        _add_arguments,
        _run,
    )
}
