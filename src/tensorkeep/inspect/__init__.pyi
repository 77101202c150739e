# Written by tools/write_stubs.py. Where the names are is said in __init__.py.

from tensorkeep.inspect.comparing import Comparison, Drift, TensorDifference, compare, drift
from tensorkeep.inspect.costs import Cost, graph_cost
from tensorkeep.inspect.drawing import Picture, graphviz, picture, svg
from tensorkeep.inspect.folders import FolderEntry, list_checkpoints
from tensorkeep.inspect.graph_differences import GraphComparison, compare_graphs
from tensorkeep.inspect.graphs import GraphSummary, read_graphs, summarize_graphs
from tensorkeep.inspect.health import HealthReport, examine, examine_tensors
from tensorkeep.inspect.identifying import Identification, identify
from tensorkeep.inspect.listing import CheckpointListing, StoredTensor, list_checkpoint
from tensorkeep.inspect.page import PageData, gather
from tensorkeep.inspect.plotting import line_plot
from tensorkeep.inspect.reader_listing import list_opened, list_variables, list_with_reader
from tensorkeep.inspect.scanning import sarif, scan_all
from tensorkeep.inspect.selecting import Order, Scope, SortKey, scope_tree, selected
from tensorkeep.inspect.statistics import TensorStatistics, checkpoint_statistics, tensor_statistics

__all__ = [
    "CheckpointListing", "Comparison", "Cost", "Drift", "FolderEntry", "GraphComparison", "GraphSummary",
    "HealthReport", "Identification", "Order", "PageData", "Picture", "Scope", "SortKey", "StoredTensor",
    "TensorDifference", "TensorStatistics", "checkpoint_statistics", "compare", "compare_graphs", "drift", "examine",
    "examine_tensors", "gather", "graph_cost", "graphviz", "identify", "line_plot", "list_checkpoint",
    "list_checkpoints", "list_opened", "list_variables", "list_with_reader", "picture", "read_graphs", "sarif",
    "scan_all", "scope_tree", "selected", "summarize_graphs", "svg", "tensor_statistics",
]
