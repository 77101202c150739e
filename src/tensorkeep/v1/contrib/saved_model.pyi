# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.keras.engine.saving.directory_reading import load_from_saved_model as load_keras_model
from tensorkeep.tf1.keras.engine.saving.directory_writing import export_saved_model as save_keras_model

__all__ = [
    "load_keras_model", "save_keras_model",
]
