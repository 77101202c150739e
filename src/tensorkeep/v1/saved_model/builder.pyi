# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.v1.stored.saved_models import SavedModelBuilder, simple_save

__all__ = [
    "SavedModelBuilder", "simple_save",
]
