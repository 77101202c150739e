"""A report on a model or a checkpoint as one page for a browser, which needs no network and no other file."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import zip_longest
from typing import Any, Final

from tensorkeep.checkpoint.checking import check_checkpoint
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.objects.reader import RenamedReader
from tensorkeep.checkpoint.reader import Checksums, ReadOptions
from tensorkeep.embedding.tools.statistics import Histogram
from tensorkeep.errors import TensorKeepError
from tensorkeep.inspect.comparing import OpenedTensors
from tensorkeep.inspect.costs import Cost, graph_cost
from tensorkeep.inspect.drawing import overview
from tensorkeep.inspect.graphs import End, GraphSummary, read_graphs, summarize
from tensorkeep.inspect.health import Ailment, Finding, look_at
from tensorkeep.inspect.identifying import Identification, contents_facts, identify, with_format
from tensorkeep.inspect.listing import CheckpointListing, list_checkpoint
from tensorkeep.inspect.reader_listing import list_opened, list_variables
from tensorkeep.inspect.selecting import Scope, scope_tree
from tensorkeep.inspect.statistics import TensorStatistics
from tensorkeep.inspect.watching import phase
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text
from tensorkeep.io.showing.amounts import amount_of, size_text
from tensorkeep.io.showing.html_tables import html_table
from tensorkeep.io.showing.progress import Progress
from tensorkeep.proto.messages import MetaGraphDef

_BINS: Final = 30
_MOST_OPS: Final = 25


@dataclass(frozen=True)
class PageData:
    """All that a page tells."""

    identification: Identification
    listing: CheckpointListing | None
    statistics: Sequence[TensorStatistics]
    findings: Sequence[Finding]
    graphs: Sequence[GraphSummary]
    pictures: Sequence[str]
    """A picture of each graph, as SVG."""
    costs: Sequence[Cost | None] = ()
    """What each graph costs; None where that cannot be told."""
    tables: Mapping[str, str] = field(default_factory=dict)
    """Embedding tables by name, with how many keys each has."""
    has_checksums: bool = True
    """Whether there were checksums to compare: a checkpoint has them."""

    def _repr_html_(self) -> str:
        """What a notebook shows: what it is and how it fares. `html` makes the whole page."""
        caption = f"{self.identification.path}: {self.identification.kind}, {amount_of(len(self.graphs), 'graph')}"
        rows = [(item.ailment.value, item.tensor or "", item.detail) for item in self.findings]
        return html_table(caption, ("what", "tensor", "detail"), rows, len(rows))


def gather(
    path: PathLike,
    *,
    tensors: OpenedTensors | None = None,
    progress: Progress | None = None,
    fs: FileSystem = FILES,
) -> PageData:
    """Looks at all that is at a path. What is damaged becomes a finding, and what cannot be read is left out.

    Of what is no checkpoint, `tensors` are what it holds, opened by `tensorkeep.convert.open_tensors`.
    """
    text = path_text(path)
    found = identify(text, fs=fs)
    if tensors is None:
        listing, statistics, findings = _looked_at(text, progress, fs)
    else:
        found = with_format(found, tensors.format)
        listing = list_opened(tensors, fs=fs)
        statistics, findings = look_at(tensors, sorted(tensors), bins=_BINS, progress=progress)
    try:
        graphs = read_graphs(text, fs=fs)
    except TensorKeepError:
        graphs = []
    summaries = [summarize(*item) for item in graphs]
    pictures = [overview(item.graph_def) for _, item in graphs]
    costs = [_cost(item) for _, item in graphs]
    tables = contents_facts(listing.path, fs).get("embedding tables", {}) if listing and tensors is None else {}
    return PageData(found, listing, statistics, findings, summaries, pictures, costs, tables, tensors is None)


def _cost(meta_graph: MetaGraphDef) -> Cost | None:
    try:
        return graph_cost(meta_graph.graph_def)
    except TensorKeepError:
        return None


def _looked_at(
    path: str, progress: Progress | None, fs: FileSystem
) -> tuple[CheckpointListing | None, Sequence[TensorStatistics], Sequence[Finding]]:
    try:
        listing = list_variables(list_checkpoint(path, fs=fs), fs=fs)
    except TensorKeepError:
        return None, (), ()
    checked = check_checkpoint(listing.path, fs=fs, progress=phase(progress, 0, 2))
    findings = [Finding(Ailment.DAMAGED, item.tensor, str(item)) for item in checked.problems]
    if not checked.intact:
        return listing, (), findings
    keys = {tensor.key or tensor.name: tensor.name for tensor in listing.tensors}
    names = {keys[key]: key for key in checked.intact if key in keys}
    with open_checkpoint(listing.path, ReadOptions(checksums=Checksums.OFF), fs=fs) as reader:
        named = RenamedReader(reader, names)
        statistics, more = look_at(named, list(named), bins=_BINS, progress=phase(progress, 1, 2))
    return listing, statistics, findings + more


def html(data: PageData) -> str:
    """The page, in HTML."""
    title = _text(posixpath.basename(data.identification.path.rstrip("/")) or data.identification.path)
    parts = [_header(data), *_checkpoint_parts(data)]
    for summary, drawn, cost in zip_longest(data.graphs, data.pictures, data.costs):
        parts.append(_graph(summary, drawn, cost))
    body = "\n".join(parts)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        f"script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
        f"<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n<script>{_SCRIPT}</script>\n</body>\n</html>\n"
    )


def _header(data: PageData) -> str:
    found = data.identification
    facts: dict[str, Any] = {"kind": found.kind, "written by": found.writer or "not said"}
    if found.format_of:
        facts["format of"] = found.format_of
    if data.listing is not None:
        facts["tensors"] = f"{len(data.listing.tensors):,}"
        facts["elements"] = f"{data.listing.elements:,}"
        facts["bytes"] = size_text(data.listing.nbytes)
        facts["types"] = ", ".join(f"{name} {count:,}" for name, count in data.listing.types.items())
        facts["files"] = ", ".join(
            f"{posixpath.basename(name)} ({'missing' if size is None else size_text(size)})"
            for name, size in data.listing.files.items()
        )
    rows = "".join(f"<div><dt>{_text(key)}</dt><dd>{_text(str(value))}</dd></div>" for key, value in facts.items())
    return f"<header><h1>{_text(found.path)}</h1><dl>{rows}</dl></header>"


def _checks(data: PageData) -> str:
    errors = sum(item.ailment.is_error for item in data.findings)
    warnings = len(data.findings) - errors
    verdict, kind = ("healthy", "good") if not errors else ("not fit for use", "bad")
    rows = "".join(
        f'<tr class="{"bad" if item.ailment.is_error else "odd"}"><td>{_text(item.ailment.value)}</td>'
        f"<td>{_text(item.tensor or '')}</td><td>{_text(item.detail)}</td></tr>"
        for item in data.findings
    )
    table = f'<table class="wrapped"><tr><th>what</th><th>tensor</th><th>detail</th></tr>{rows}</table>' if rows else ""
    looked = "every checksum was compared" if data.has_checksums else "every number was read"
    counts = f"{amount_of(errors, 'error')}, {amount_of(warnings, 'warning')}; {looked}"
    return f'<section id="checks"><h2>Checks</h2><p><b class="{kind}">{verdict}</b> {counts}</p>{table}</section>'


def _checkpoint_parts(data: PageData) -> Iterator[str]:
    if data.listing is None:
        return
    tree = _tree(scope_tree(data.listing.tensors))
    if data.tables:
        lines = "".join(f"<tr><td>{_text(name)}</td><td>{_text(keys)}</td></tr>" for name, keys in data.tables.items())
        yield f'<section id="tables"><h2>Embedding tables</h2><table>{lines}</table></section>'
    yield f'<div class="side">{_checks(data)}<section id="scopes"><h2>Scopes</h2>{tree}</section></div>'
    known = {item.name: item for item in data.statistics}
    rows = "".join(_row(tensor, known.get(tensor.name)) for tensor in data.listing.tensors)
    kinds = dict.fromkeys(_NUMBERS, ' class="n"')
    heads = "".join(f'<th tabindex="0"{kinds.get(name, "")}>{name}</th>' for name in _COLUMNS)
    yield (
        '<section id="tensors"><h2>Tensors</h2><p><input id="filter" type="search" placeholder="part of a name" '
        f'aria-label="part of a name"> <span id="shown"></span></p><table class="sortable"><thead><tr>{heads}</tr>'
        f"</thead><tbody>{rows}</tbody></table></section>"
    )


_NUMBERS: Final = ("elements", "bytes", "min", "max", "mean", "std", "norm", "zeros", "NaN", "Inf")
_COLUMNS: Final = ("name", "type", "shape", *_NUMBERS, "histogram")


def _tree(scope: Scope, total: int | None = None) -> str:
    total = scope.nbytes if total is None else total
    parts = []
    for item in sorted(scope.scopes.values(), key=lambda item: -item.nbytes):
        share = item.nbytes / total if total else 0
        label = (
            f'<span class="bar" style="--share:{share:.4f}"></span>{_text(item.name)}/ <small>'
            f"{amount_of(item.count, 'tensor')}, {size_text(item.nbytes)}, {share:.1%}</small>"
        )
        parts.append(f"<details><summary>{label}</summary>{_tree(item, total)}</details>")
    for tensor in sorted(scope.tensors, key=lambda item: -(item.nbytes or 0)):
        name, shape = tensor.name.rpartition("/")[2], "×".join(map(str, tensor.shape)) or "scalar"
        size = "?" if tensor.nbytes is None else size_text(tensor.nbytes)
        parts.append(f"<div>{_text(name)} <small>{tensor.dtype} {shape}, {size}</small></div>")
    return "".join(parts)


def _row(tensor: Any, found: TensorStatistics | None) -> str:
    cells = [
        f'<td class="name">{_breakable(tensor.name)}</td><td>{tensor.dtype}</td><td>{list(tensor.shape)}</td>',
        _number(tensor.elements),
        _number(tensor.nbytes, "" if tensor.nbytes is None else size_text(tensor.nbytes)),
    ]
    if found is None:
        cells.append('<td colspan="9" class="bad">damaged</td>')
    else:
        numbers = (found.minimum, found.maximum, found.mean, found.deviation, found.norm)
        cells += [_number(value, "" if value is None else f"{value:.4g}") for value in numbers]
        counts = (found.zeros, found.nans, found.infinities) if found.is_numeric else (None, None, None)
        cells.append(_number(counts[0]))
        cells += [_number(value, is_bad=True) for value in counts[1:]]
        cells.append(f"<td>{_histogram(found.histogram)}</td>")
    return f"<tr>{''.join(cells)}</tr>"


def _number(value: float | None, text: str | None = None, is_bad: bool = False) -> str:
    shown = ("" if value is None else f"{value:,}") if text is None else text
    style = ' class="bad"' if is_bad and value else ""
    return f'<td data-v="{"" if value is None else value}"{style}>{shown}</td>'


def _histogram(found: Histogram | None) -> str:
    if found is None:
        return ""
    most = max(found.counts)
    bars = "".join(
        f'<rect x="{at * 4}" y="{20 - 20 * count / most:.1f}" width="3" height="{20 * count / most:.1f}"/>'
        for at, count in enumerate(found.counts)
        if count
    )
    title = f"{found.edges[0]:.4g} to {found.edges[-1]:.4g}"
    return f'<svg class="hist" viewBox="0 0 {len(found.counts) * 4} 20"><title>{title}</title>{bars}</svg>'


def _graph(summary: GraphSummary, drawn: str, cost: Cost | None) -> str:
    label = f" {_text(summary.label)}" if summary.label else ""
    facts = (
        f"{amount_of(summary.nodes, 'node')}, {amount_of(summary.functions, 'function')}, {size_text(summary.nbytes)}"
    )
    if cost is not None and cost.total:
        facts += f"; {cost.total:,} floating-point operations, if all runs once, for one example"
    signatures = "".join(
        f'<h3>{_text(key)}</h3><div class="side">{_ends("inputs", inputs)}{_ends("outputs", outputs)}</div>'
        for key, (inputs, outputs) in summary.signatures.items()
    )
    ends = signatures or _ends("placeholders", summary.placeholders)
    return (
        f'<section class="graph"><h2>Graph{label}</h2><p>{facts}</p>{ends}<h3>Operations</h3>{_ops(summary, cost)}'
        f'<h3>Overview</h3><div class="drawing">{drawn}</div></section>'
    )


def _ends(title: str, ends: Sequence[End]) -> str:
    rows = "".join(
        f'<tr><td class="name">{_text(end.name)}</td><td>{_text(end.dtype)}</td><td>{_text(end.shape)}</td>'
        f'<td class="name">{_text(end.tensor)}</td></tr>'
        for end in ends
    )
    head = f"<tr><th>{title}</th><th>type</th><th>shape</th><th>tensor</th></tr>"
    return f"<table>{head}{rows}</table>" if ends else f"<p>no {title}</p>"


def _ops(summary: GraphSummary, cost: Cost | None) -> str:
    """The most frequent ops, and beside them the most expensive ones."""
    shown = list(summary.ops.items())[:_MOST_OPS]
    sizes = {name: size_text(summary.bytes_by_op[name]) for name, _ in shown}
    more = len(summary.ops) - len(shown)
    note = f"<p><small>and {amount_of(more, 'other op')}</small></p>" if more > 0 else ""
    frequent = _bars("op", "count", "bytes", [(name, count, sizes[name]) for name, count in shown])
    costly = ""
    if cost is not None and cost.total:
        listed = list(cost.by_op.items())[:_MOST_OPS]
        parts = [(name, count, f"{count / cost.total:.1%}") for name, count in listed]
        costly = _bars("op", "operations", "share", parts)
    return f'<div class="side"><div>{frequent}{note}</div>{costly}</div>'


def _bars(name: str, number: str, note: str, rows: Sequence[tuple[str, int, str]]) -> str:
    most = max((count for _, count, _ in rows), default=1)
    body = "".join(
        f'<tr><td class="name">{_text(item)}</td><td data-v="{count}">{count:,}</td><td data-v="">{text}</td>'
        f'<td><span class="bar" style="--share:{count / most:.4f}"></span></td></tr>'
        for item, count, text in rows
    )
    return f'<table><tr><th>{name}</th><th class="n">{number}</th><th class="n">{note}</th><th></th></tr>{body}</table>'


def _text(text: str) -> str:
    """Text for the page. What cannot be seen, or would change how other text is read, is spelled out."""
    return escape("".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text))


def _breakable(name: str) -> str:
    """A name that is broken behind its scopes if it has to be."""
    return _text(name).replace("/", "/<wbr>")


_STYLE: Final = """
:root{color-scheme:light dark;--fg:#1c2430;--bg:#fff;--soft:#667;--line:#dde2ea;--fill:#3b6fd4;--row:#f5f7fa;
--bad:#b3261e;--good:#1b7f3b;--odd:#8a6100}
@media (prefers-color-scheme:dark){:root{--fg:#dfe5ee;--bg:#14181f;--soft:#9aa5b5;--line:#2c3440;--fill:#7aa2ff;
--row:#1b212b;--bad:#ff8a80;--good:#7fd99a;--odd:#e5b94e}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1.5rem;max-width:90rem;font:14px/1.5 system-ui,sans-serif;color:var(--fg);
background:var(--bg)}
h1{font-size:1.4rem;overflow-wrap:anywhere;margin:0 0 .8rem}h2{font-size:1.1rem;margin:2rem 0 .6rem}h3{font-size:1rem}
dl{display:flex;flex-wrap:wrap;gap:.4rem 2rem;margin:0}dt{color:var(--soft);font-size:.8rem}
dd{margin:0;overflow-wrap:anywhere}
small{color:var(--soft)}.good{color:var(--good)}.bad{color:var(--bad)}tr.odd td:first-child{color:var(--odd)}
section{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:.25rem .7rem;text-align:left;border-bottom:1px solid var(--line);white-space:nowrap}
td[data-v],th.n{text-align:right}tbody tr:hover{background:var(--row)}
.sortable th{cursor:pointer;position:sticky;top:0;background:var(--bg)}th[aria-sort=ascending]::after{content:" \\25b2"}
th[aria-sort=descending]::after{content:" \\25bc"}
details>*:not(summary){margin-left:1.4rem}summary{cursor:pointer}
.bar{display:inline-block;width:6rem;height:.6rem;margin-right:.6rem;border-radius:3px;
background:linear-gradient(to right,var(--fill) calc(var(--share)*100%),var(--line) 0)}
.hist{display:block;width:96px;height:20px;fill:var(--fill)}
input{font:inherit;padding:.3rem .6rem;width:20rem;max-width:100%;color:inherit;background:var(--row);
border:1px solid var(--line);border-radius:6px}
.drawing{overflow:auto;max-height:80vh;border:1px solid var(--line);border-radius:6px}
.drawing svg{display:block;margin:auto;max-width:100%;height:auto}
.side{display:flex;flex-wrap:wrap;gap:0 3rem;align-items:flex-start}.side>section{flex:1 1 26rem;min-width:0}
td.name,.wrapped td{white-space:normal;overflow-wrap:anywhere;min-width:9rem;max-width:34rem}
.wrapped td{min-width:5rem}#shown{white-space:nowrap}
#tensors th,#tensors td{padding:.25rem .4rem}#tensors td.name{min-width:10rem}
"""

_SCRIPT: Final = """
for (const table of document.querySelectorAll('table.sortable')) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  const value = (row, at) => { const cell = row.cells[at]; if (!cell) return null;
    const v = cell.dataset.v; return v === undefined ? cell.textContent : v === '' ? null : +v; };
  heads.forEach((head, at) => { const sort = () => {
    const down = head.getAttribute('aria-sort') === 'ascending';
    heads.forEach(other => other.removeAttribute('aria-sort'));
    head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    const rows = [...body.rows].sort((a, b) => { const x = value(a, at), y = value(b, at);
      if (x === null || y === null) return (x === null) - (y === null);
      return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1); });
    body.append(...rows); };
    head.addEventListener('click', sort);
    head.addEventListener('keydown', event => { if (event.key === 'Enter') sort(); }); });
}
const filter = document.getElementById('filter');
if (filter) { const rows = [...document.querySelectorAll('#tensors tbody tr')];
  const shown = document.getElementById('shown');
  const apply = () => { let count = 0; for (const row of rows) {
      const fits = row.cells[0].textContent.toLowerCase().includes(filter.value.toLowerCase());
      row.hidden = !fits; count += fits; }
    shown.textContent = count + ' of ' + rows.length; };
  filter.addEventListener('input', apply); apply(); }
"""
