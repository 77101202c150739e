"""Reports about model files, as data: what the program `tensorkeep` prints, and others can use.

    listing = tensorkeep.inspect.list_checkpoint("run/model-1000")
    listing.tensors[0].name, listing.nbytes
    tensorkeep.inspect.identify("export/1").kind

Every name is imported when it is first asked for.

    comparing          how two checkpoints differ, tensor by tensor
    costs              how much a graph computes: floating-point operations, told from shapes alone
    drawing            graphs as pictures: in Graphviz's language, and as SVG by a layout of our own
    folders            the checkpoints of a folder
    graph_differences  how two graphs differ, node by node
    graphs             what a graph consists of: its operations, its ends, and what takes space in it
    health             whether a checkpoint, or another file of tensors, is fit to be used
    identifying        what is at a path: a checkpoint, a SavedModel, a graph, or something else
    inlining           graphs with the functions that they call written out, to be looked at and not to be run
    listing            what a checkpoint holds, told from its index
    manifests          a model's files and their digests, as one document that can be kept, compared and signed
    page               a report on a model or a checkpoint as one page for a browser
    plotting           small line plots as SVG, readable on light and on dark ground
    reader_listing     what a checkpoint of any kind and size, or another file of tensors, holds
    scanning           scans of all models in folders, and under patterns of paths
    scopes             tensors by the scopes in their names
    selecting          which tensors of a listing are wanted, and in which order
    statistics         what the numbers in a checkpoint are like
    watching           tensors that are gone through while somebody is told how far it got
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from tensorkeep._lazy import on_first_use as _on_first_use

if _TYPE_CHECKING:
    from tensorkeep.inspect.comparing import Comparison, Drift, TensorDifference, compare, drift
    from tensorkeep.inspect.costs import Cost, graph_cost
    from tensorkeep.inspect.drawing import Picture, graphviz, picture, svg
    from tensorkeep.inspect.folders import FolderEntry, list_checkpoints
    from tensorkeep.inspect.graph_differences import GraphComparison, compare_graphs
    from tensorkeep.inspect.graphs import GraphSummary, read_graphs, summarize_graphs
    from tensorkeep.inspect.health import HealthReport, examine, examine_tensors
    from tensorkeep.inspect.identifying import Identification, identify
    from tensorkeep.inspect.listing import CheckpointListing, StoredTensor, list_checkpoint
    from tensorkeep.inspect.page import PageData, gather, html
    from tensorkeep.inspect.plotting import line_plot
    from tensorkeep.inspect.reader_listing import list_opened, list_variables, list_with_reader
    from tensorkeep.inspect.scanning import sarif, scan_all
    from tensorkeep.inspect.scopes import Scope, scope_tree
    from tensorkeep.inspect.selecting import Order, SortKey, selected
    from tensorkeep.inspect.statistics import TensorStatistics, checkpoint_statistics, tensor_statistics

_NAMES = {
    "comparing": "Comparison Drift TensorDifference compare drift",
    "costs": "Cost graph_cost",
    "drawing": "Picture graphviz picture svg",
    "folders": "FolderEntry list_checkpoints",
    "graph_differences": "GraphComparison compare_graphs",
    "graphs": "GraphSummary read_graphs summarize_graphs",
    "health": "HealthReport examine examine_tensors",
    "identifying": "Identification identify",
    "listing": "CheckpointListing StoredTensor list_checkpoint",
    "page": "PageData gather html",
    "plotting": "line_plot",
    "reader_listing": "list_opened list_variables list_with_reader",
    "scanning": "sarif scan_all",
    "scopes": "Scope scope_tree",
    "selecting": "Order SortKey selected",
    "statistics": "TensorStatistics checkpoint_statistics tensor_statistics",
}

if not _TYPE_CHECKING:
    __getattr__, __dir__ = _on_first_use(globals(), _NAMES)

__all__ = [
    "CheckpointListing",
    "Comparison",
    "Cost",
    "Drift",
    "FolderEntry",
    "GraphComparison",
    "GraphSummary",
    "HealthReport",
    "Identification",
    "Order",
    "PageData",
    "Picture",
    "Scope",
    "SortKey",
    "StoredTensor",
    "TensorDifference",
    "TensorStatistics",
    "checkpoint_statistics",
    "compare",
    "compare_graphs",
    "drift",
    "examine",
    "examine_tensors",
    "gather",
    "graph_cost",
    "graphviz",
    "html",
    "identify",
    "line_plot",
    "list_checkpoint",
    "list_checkpoints",
    "list_opened",
    "list_variables",
    "list_with_reader",
    "picture",
    "read_graphs",
    "sarif",
    "scan_all",
    "scope_tree",
    "selected",
    "summarize_graphs",
    "svg",
    "tensor_statistics",
]
