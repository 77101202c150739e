# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.keras.engine.saving.directory_reading import load_from_saved_model
from tensorkeep.tf1.keras.engine.saving.directory_writing import export_saved_model

__all__ = [
    "export_saved_model", "load_from_saved_model",
]
