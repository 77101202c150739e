# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.keras.applications.images import decode_predictions, prepare_tf_input as preprocess_input
from tensorkeep.tf1.keras.applications.residual import ResNet101V2, ResNet152V2, ResNet50V2

__all__ = [
    "ResNet101V2", "ResNet152V2", "ResNet50V2", "decode_predictions", "preprocess_input",
]
