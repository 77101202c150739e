# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.keras.datasets.arrays import load_ten_things as load_data

__all__ = [
    "load_data",
]
