# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.contrib.learn.data_files import (
    Dataset, Datasets, load_csv_with_header, load_csv_without_header, maybe_download,
)

__all__ = [
    "Dataset", "Datasets", "load_csv_with_header", "load_csv_without_header", "maybe_download",
]
