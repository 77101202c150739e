# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.slim.analysis import tensor_description
from tensorkeep.v1.profiling import analyze_ops, analyze_vars

__all__ = [
    "analyze_ops", "analyze_vars", "tensor_description",
]
