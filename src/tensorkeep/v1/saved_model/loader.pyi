# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.v1.stored.saved_models import load, maybe_saved_model_directory

__all__ = [
    "load", "maybe_saved_model_directory",
]
