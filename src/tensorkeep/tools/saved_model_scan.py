"""The command `scan` of `saved_model_cli`: TensorFlow's list of ops, and the whole scan beside it."""

from __future__ import annotations

import argparse
import sys
from typing import Final

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.saved_model.files.layout import meta_graph_with_tags, read_saved_model
from tensorkeep.saved_model.scan.model_scan import scan_model
from tensorkeep.saved_model.scan.report import NOT_SCANNED, ScanReport
from tensorkeep.saved_model.show.flag_values import scan_policy
from tensorkeep.saved_model.show.tensorflow_text import denylist_text

FOUND: Final = 3
INCOMPLETE: Final = 4

_DENIED: Final = ("WriteFile", "ReadFile", "PrintV2")
_FORMS: Final = ("text", "json", "sarif")


def main(flags: argparse.Namespace) -> int:
    """Prints TensorFlow's text, or the report that is asked for."""
    form = "json" if flags.json and flags.report is None else flags.report
    if form is None and (flags.allow is not None or flags.allow_ops is not None):
        form = "text"
    if form is not None:
        return _report(flags, form)
    model = read_saved_model(flags.dir)
    meta_graphs = [meta_graph_with_tags(model, flags.tag_set.split(","))] if flags.tag_set else model.meta_graphs
    denied = {op.strip() for op in (flags.op_denylist or "").split(",") if op.strip()} or set(_DENIED)
    for meta_graph in meta_graphs:
        sys.stdout.write(denylist_text(meta_graph, denied))
    _warn(scan_model(flags.dir))
    return 0


def _warn(report: ScanReport) -> None:
    """A word on standard error if there is more to say than TensorFlow does."""
    if report.is_clean:
        return
    listed = ", ".join(f"{rule} ({count})" for rule, count in report.counts.items())
    print(f"WARNING: the whole scan finds {listed}. See --report=text", file=sys.stderr)


def _report(flags: argparse.Namespace, form: str) -> int:
    if form not in _FORMS:
        raise InvalidArgumentError(f"--report is one of {', '.join(_FORMS)}, not {form!r}")
    report = scan_model(flags.dir, scan_policy(flags.allow, flags.allow_ops))
    texts = {"text": report.__str__, "json": report.to_json, "sarif": report.to_sarif}
    sys.stdout.write(texts[form]() + "\n")
    if NOT_SCANNED in report.counts:
        return INCOMPLETE
    return 0 if report.is_clean else FOUND
