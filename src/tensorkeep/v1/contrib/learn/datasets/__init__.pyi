# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.learn.data_files import Dataset, Datasets
from tensorkeep.v1.contrib.learn.datasets import base, mnist

__all__ = [
    "Dataset", "Datasets", "base", "mnist",
]
