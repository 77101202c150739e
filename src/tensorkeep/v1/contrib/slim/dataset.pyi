# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.slim.providers import Dataset

__all__ = [
    "Dataset",
]
