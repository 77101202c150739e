# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.v1.keras.wrappers import scikit_learn

__all__ = [
    "scikit_learn",
]
