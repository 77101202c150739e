# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.keras.applications.images import decode_predictions, prepare_tf_input as preprocess_input
from tensorkeep.tf1.keras.applications.inception import InceptionV3

__all__ = [
    "InceptionV3", "decode_predictions", "preprocess_input",
]
