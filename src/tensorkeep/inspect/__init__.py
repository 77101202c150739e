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
    page               all that a report on a model or a checkpoint tells, as data
    plotting           small line plots as SVG, readable on light and on dark ground
    profiles           how large a graph is by scopes and by types of operations, as TensorFlow's profiler tells it
    reader_listing     what a checkpoint of any kind and size, or another file of tensors, holds
    scanning           scans of all models in folders, and under patterns of paths
    selecting          listings arranged: which tensors are wanted, in which order, and all of them by scope
    statistics         what the numbers in a checkpoint are like
    watching           tensors that are gone through while somebody is told how far it got
"""

from tensorkeep._lazy import on_first_use as _on_first_use

_NAMES = {
    "tensorkeep.inspect.comparing": "Comparison Drift TensorDifference compare drift",
    "tensorkeep.inspect.costs": "Cost graph_cost",
    "tensorkeep.inspect.drawing": "Picture graphviz picture svg",
    "tensorkeep.inspect.folders": "FolderEntry list_checkpoints",
    "tensorkeep.inspect.graph_differences": "GraphComparison compare_graphs",
    "tensorkeep.inspect.graphs": "GraphSummary read_graphs summarize_graphs",
    "tensorkeep.inspect.health": "HealthReport examine examine_tensors",
    "tensorkeep.inspect.identifying": "Identification identify",
    "tensorkeep.inspect.listing": "CheckpointListing StoredTensor list_checkpoint",
    "tensorkeep.inspect.page": "PageData gather",
    "tensorkeep.inspect.plotting": "line_plot",
    "tensorkeep.inspect.reader_listing": "list_opened list_variables list_with_reader",
    "tensorkeep.inspect.scanning": "sarif scan_all",
    "tensorkeep.inspect.selecting": "Order Scope SortKey scope_tree selected",
    "tensorkeep.inspect.statistics": "TensorStatistics checkpoint_statistics tensor_statistics",
}

__getattr__, __dir__, __all__ = _on_first_use(globals(), _NAMES)
