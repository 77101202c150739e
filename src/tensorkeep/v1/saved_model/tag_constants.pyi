# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.saved_model.files.constants import GPU, SERVING, TPU, TRAINING

__all__ = [
    "GPU", "SERVING", "TPU", "TRAINING",
]
