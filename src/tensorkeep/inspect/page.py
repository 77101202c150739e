"""All that a report on a model or a checkpoint tells, as data. `tensorkeep.viewer` makes a page of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tensorkeep.checkpoint.checking import check_checkpoint
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.objects.reader import RenamedReader
from tensorkeep.checkpoint.reader import Checksums, ReadOptions
from tensorkeep.errors import TensorKeepError
from tensorkeep.inspect.comparing import OpenedTensors
from tensorkeep.inspect.costs import Cost, graph_cost
from tensorkeep.inspect.graphs import GraphSummary, read_graphs, summarize
from tensorkeep.inspect.health import Ailment, Finding, look_at
from tensorkeep.inspect.identifying import Identification, contents_facts, identify, with_format
from tensorkeep.inspect.listing import CheckpointListing, list_checkpoint
from tensorkeep.inspect.reader_listing import list_opened, list_variables
from tensorkeep.inspect.statistics import TensorStatistics
from tensorkeep.inspect.watching import phase
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text
from tensorkeep.io.showing.amounts import amount_of
from tensorkeep.io.showing.html_tables import html_table
from tensorkeep.io.showing.progress import Progress
from tensorkeep.proto.messages import MetaGraphDef

_BINS: Final = 30


@dataclass(frozen=True)
class PageData:
    """All that a page tells."""

    identification: Identification
    listing: CheckpointListing | None
    statistics: Sequence[TensorStatistics]
    findings: Sequence[Finding]
    graphs: Sequence[GraphSummary]
    costs: Sequence[Cost | None] = ()
    """What each graph costs; None where that cannot be told."""
    tables: Mapping[str, str] = field(default_factory=dict)
    """Embedding tables by name, with how many keys each has."""
    has_checksums: bool = True
    """Whether there were checksums to compare: a checkpoint has them."""

    def _repr_html_(self) -> str:
        """What a notebook shows: what it is and how it fares. `tensorkeep.view` shows all of it."""
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
    costs = [_cost(item) for _, item in graphs]
    tables = contents_facts(listing.path, fs).get("embedding tables", {}) if listing and tensors is None else {}
    return PageData(found, listing, statistics, findings, summaries, costs, tables, tensors is None)


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
