# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.quantize.rewriting import (
    create_eval_graph, create_training_graph, experimental_create_eval_graph, experimental_create_training_graph,
)

__all__ = [
    "create_eval_graph", "create_training_graph", "experimental_create_eval_graph",
    "experimental_create_training_graph",
]
