# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.slim.analysis import analyze_ops, analyze_vars, tensor_description

__all__ = [
    "analyze_ops", "analyze_vars", "tensor_description",
]
