"""A page as one file, with the answers in it.

It is the page that a server shows, with the same program in it. What it would ask is answered beforehand and lies in it
as JSON, so it needs no network and no other file; what can only be answered by reading more, it says. The graph is
whole; of weights there are statistics of all, and maps of the largest.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Final

from tensorkeep.errors import TensorKeepError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, path_text
from tensorkeep.io.showing.json_values import json_value
from tensorkeep.io.showing.progress import Progress
from tensorkeep.viewer.answers.catalog import LONG, SHORT
from tensorkeep.viewer.asking import Asked
from tensorkeep.viewer.sources import Source, Sources

_MAPPED: Final = 100  # tensors, the largest first, that have a map in the page
_MOST_BYTES: Final = 96 << 20  # of answers; a browser opens no page of any size


@dataclass
class Exported:
    """A page, and what is in it."""

    text: str
    tensors: int = 0
    graphs: int = 0
    findings: int = 0
    left_out: list[str] = field(default_factory=list)
    """What did not fit, in sentences."""


def export_page(
    paths: Sequence[str], *, progress: Progress | None = None, fs: FileSystem = FILES, checked: bool = True
) -> Exported:
    """A page on what is at some paths. With `checked`, all of it is read, for statistics and checks."""
    sources = Sources([path_text(path) for path in paths], fs)
    try:
        gathered = _Gathered(sources, progress)
        gathered.gather(checked)
    finally:
        sources.close()
    found = gathered.exported
    found.text = _html(gathered.answers, found.left_out)
    return found


class _Gathered:
    """Questions that a page asks, with their answers."""

    def __init__(self, sources: Sources, progress: Progress | None) -> None:
        self._sources = sources
        self._progress = progress or (lambda done, total: None)
        self._bytes = 0
        self.answers: dict[str, str] = {}
        self.exported = Exported("")

    def gather(self, checked: bool) -> None:
        self.ask("sources", {})
        for number, source in enumerate(self._sources):
            for name, given in self._questions(number, source, checked):
                self.ask(name, given)

    def ask(self, name: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Answers a question and keeps the answer, an error too; what does not fit any more is told."""
        answer = SHORT.get(name) or LONG[name]
        try:
            found = answer(Asked(self._sources, given, self._progress))
        except TensorKeepError as error:
            found = {"error": type(error).__name__, "message": str(error)}
        text = answer_text(found)
        if self._bytes + len(text) > _MOST_BYTES:
            self.exported.left_out.append(f"{name} {dict(given)}: {len(text):,} letters more than a page should have")
            return found
        self._bytes += len(text)
        self.answers[question(name, given)] = text
        self._count(name, found)
        return found

    def _count(self, name: str, found: Mapping[str, Any]) -> None:
        if name == "weights":
            self.exported.tensors += len(found.get("name", ()))
        elif name == "graphs":
            self.exported.graphs += len(found.get("graphs", ()))
        elif name == "checks":
            self.exported.findings += len(found.get("findings", ()))

    def _questions(self, number: int, source: Source, checked: bool) -> Iterator[tuple[str, dict[str, Any]]]:
        (told,) = [item for item in SHORT["sources"](Asked(self._sources, {}))["sources"] if item["number"] == number]
        views, of = told["views"], {"source": number}
        if "graph" in views:
            yield "graphs", of
            for graph in range(_graph_count(source)):
                yield "graph", {**of, "graph": graph}
                yield "graph_costs", {**of, "graph": graph}
        if "weights" in views:
            yield "weights", of
            for name in _largest(source):
                yield "slice", {**of, "name": name}
        if "tables" in views:
            yield from self._of_tables(of, checked)
        if "history" in views:
            yield "history", of
        if "run" in views:
            yield "signatures", of
        if "checks" in views and checked:
            yield "checks", of

    def _of_tables(self, of: dict[str, Any], checked: bool) -> Iterator[tuple[str, dict[str, Any]]]:
        yield "tables", of
        for item in SHORT["tables"](Asked(self._sources, of))["tables"] if checked else ():
            for name in ("table", "table_keys", "table_map"):
                yield name, {**of, "name": item["name"]}


def _graph_count(source: Source) -> int:
    try:
        return len(source.graphs)
    except TensorKeepError:
        return 0


def _largest(source: Source) -> list[str]:
    """The tensors that have a map in the page."""
    numeric = [item for item in source.listing.tensors if not item.dtype.is_object and len(item.shape) > 1]
    return [item.name for item in sorted(numeric, key=lambda item: (-item.elements, item.name))[:_MAPPED]]


def question(name: str, given: Mapping[str, Any]) -> str:
    """A question as one text; `web/api.ts` makes the same."""
    return f"{name} {json.dumps(json_value(dict(given)), sort_keys=True, separators=(',', ':'), ensure_ascii=False)}"


# ----------------------------------------------------------------------------------------------------------------- HTML


def _html(answers: Mapping[str, str], left_out: Sequence[str]) -> str:
    """The page. Answers are JSON in which no letter can end the element that holds them."""
    script, style = (static_file(name).decode() for name in ("app.js", "app.css"))
    parts = ",".join(f"{json.dumps(key)}:{text}" for key, text in answers.items())
    data = f'{{"answers":{{{parts}}},"left_out":{json.dumps(list(left_out))}}}'
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src data: blob:; "
        "worker-src blob:; base-uri 'none'; form-action 'none'"
    )
    return (
        static_file("index.html")
        .decode()
        .replace("<!--policy-->", f'<meta http-equiv="Content-Security-Policy" content="{policy}">')
        .replace('<link rel="stylesheet" href="app.css">', f"<style>{style}</style>")
        .replace(
            '<script src="app.js"></script>',
            f'<script type="application/json" id="answers">{_harmless(data)}</script>\n'
            f'<script id="app">{script}</script>',
        )
    )


def _harmless(data: str) -> str:
    """JSON without letters that mean something to HTML; it says the same."""
    return data.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def static_file(name: str) -> bytes:
    """A file of the page, as it was built."""
    return files("tensorkeep.viewer").joinpath("static", name).read_bytes()


def answer_text(value: Mapping[str, Any]) -> str:
    """An answer as JSON. Numbers that are not finite are texts."""
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":"))
    except ValueError:  # most answers have none, and going through large ones takes time
        return json.dumps(json_value(value), allow_nan=False, separators=(",", ":"))
