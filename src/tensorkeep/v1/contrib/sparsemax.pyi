# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.sparsemax import sparsemax, sparsemax_loss

__all__ = [
    "sparsemax", "sparsemax_loss",
]
