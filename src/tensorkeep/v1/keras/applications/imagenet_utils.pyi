# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.keras.applications.images import decode_predictions, preprocess_input

__all__ = [
    "decode_predictions", "preprocess_input",
]
