# Written by tools/write_stubs.py. Where the names are is said in __init__.py.

from tensorkeep.inspect.comparing import (
    Comparison as Comparison, Drift as Drift, TensorDifference as TensorDifference, compare as compare, drift as drift,
)
from tensorkeep.inspect.costs import Cost as Cost, graph_cost as graph_cost
from tensorkeep.inspect.drawing import Picture as Picture, graphviz as graphviz, picture as picture, svg as svg
from tensorkeep.inspect.folders import FolderEntry as FolderEntry, list_checkpoints as list_checkpoints
from tensorkeep.inspect.graph_differences import GraphComparison as GraphComparison, compare_graphs as compare_graphs
from tensorkeep.inspect.graphs import (
    GraphSummary as GraphSummary, read_graphs as read_graphs, summarize_graphs as summarize_graphs,
)
from tensorkeep.inspect.health import (
    HealthReport as HealthReport, examine as examine, examine_tensors as examine_tensors,
)
from tensorkeep.inspect.identifying import Identification as Identification, identify as identify
from tensorkeep.inspect.listing import (
    CheckpointListing as CheckpointListing, StoredTensor as StoredTensor, list_checkpoint as list_checkpoint,
)
from tensorkeep.inspect.page import PageData as PageData, gather as gather, html as html
from tensorkeep.inspect.plotting import line_plot as line_plot
from tensorkeep.inspect.reader_listing import (
    list_opened as list_opened, list_variables as list_variables, list_with_reader as list_with_reader,
)
from tensorkeep.inspect.scanning import sarif as sarif, scan_all as scan_all
from tensorkeep.inspect.scopes import Scope as Scope, scope_tree as scope_tree
from tensorkeep.inspect.selecting import Order as Order, SortKey as SortKey, selected as selected
from tensorkeep.inspect.statistics import (
    TensorStatistics as TensorStatistics, checkpoint_statistics as checkpoint_statistics,
    tensor_statistics as tensor_statistics,
)

__all__: list[str]
