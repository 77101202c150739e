# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.slim.providers import ParallelReader, get_data_files, parallel_read, single_pass_read

__all__ = [
    "ParallelReader", "get_data_files", "parallel_read", "single_pass_read",
]
