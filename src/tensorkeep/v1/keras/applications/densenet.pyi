# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.keras.applications.dense_nets import DenseNet121, DenseNet169, DenseNet201
from tensorkeep.tf1.keras.applications.images import decode_predictions, prepare_torch_input as preprocess_input

__all__ = [
    "DenseNet121", "DenseNet169", "DenseNet201", "decode_predictions", "preprocess_input",
]
