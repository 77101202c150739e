"""What is wrong: checksums, numbers, and what a model does besides computing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tensorkeep.errors import TensorKeepError
from tensorkeep.inspect.page import PageData, gather
from tensorkeep.inspect.scanning import scan_all
from tensorkeep.inspect.statistics import TensorStatistics
from tensorkeep.saved_model.scan.report import NOT_SCANNED, RULES
from tensorkeep.viewer.answers.arrays import histogram_data
from tensorkeep.viewer.asking import Asked
from tensorkeep.viewer.sources import Source

_NUMBERS = ("minimum", "maximum", "mean", "deviation", "norm", "zeros", "nans", "infinities")


def checks(asked: Asked) -> Mapping[str, Any]:
    """All that was found, each with its place; and the statistics of all tensors. Reads everything."""
    source = asked.source
    data = gather(
        source.path, tensors=None if source.is_checkpoint else _other(source), progress=asked.progress, fs=source.fs
    )
    findings = [*_of_numbers(data), *_of_scan(source)]
    return {
        "findings": findings,
        "statistics": statistics_columns(data.statistics),
        "has_checksums": source.is_checkpoint,
        "tensors": 0 if data.listing is None else len(data.listing.tensors),
        "is_scanned": source.has_graph,
    }


def _other(source: Source) -> Any:
    try:
        return source.tensors
    except TensorKeepError:
        return None


def _of_numbers(data: PageData) -> Iterator[dict[str, Any]]:
    for item in data.findings:
        yield {
            "group": "numbers" if item.ailment.value != "damaged" else "files",
            "level": "error" if item.ailment.is_error else "warning",
            "what": item.ailment.value,
            "place": item.tensor or "",
            "kind": "tensor" if item.tensor else "file",
            "text": item.detail,
        }


def _of_scan(source: Source) -> Iterator[dict[str, Any]]:
    """What the model does besides computing; and the parts that could not be looked at."""
    if not source.has_graph and not source.is_model:
        return
    try:
        reports = scan_all([source.path], fs=source.fs)
    except TensorKeepError as error:
        yield _scan_row("error", "not scanned", source.path, "file", str(error))
        return
    names = {node.place.node: node.name for opened in _graphs(source) for node in opened.shown.nodes}
    ops = {node.op: node.name for opened in _graphs(source) for node in reversed(opened.shown.nodes)}
    for report in reports:
        for item in report.findings:
            place = names.get(item.where) or ops.get(item.subject, "")
            level = "warning" if item.rule == NOT_SCANNED else "error"
            kind = "node" if place else "file"
            yield _scan_row(level, RULES.get(item.rule, item.rule), place or item.file, kind, str(item))


def _scan_row(level: str, what: str, place: str, kind: str, text: str) -> dict[str, Any]:
    return {"group": "scan", "level": level, "what": what, "place": place, "kind": kind, "text": text}


def _graphs(source: Source) -> Sequence[Any]:
    try:
        return source.graphs
    except TensorKeepError:
        return ()


def statistics_columns(found: Sequence[TensorStatistics]) -> dict[str, Any]:
    """The statistics of tensors as columns; without numbers for those that have none."""
    told: dict[str, Any] = {"name": [item.name for item in found]}
    for key in _NUMBERS:
        told[key] = [getattr(item, key) if item.is_numeric else None for item in found]
    told["histogram"] = [histogram_data(item.histogram) for item in found]
    return told
