# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.training.inputs.mnist_files import DataSet, read_data_sets

__all__ = [
    "DataSet", "read_data_sets",
]
