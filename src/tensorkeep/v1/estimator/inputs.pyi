# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.estimators.inputs import numpy_input_fn, pandas_input_fn

__all__ = [
    "numpy_input_fn", "pandas_input_fn",
]
