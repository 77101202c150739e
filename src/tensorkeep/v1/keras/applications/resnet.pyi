# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.keras.applications.images import decode_predictions, prepare_caffe_input as preprocess_input
from tensorkeep.tf1.keras.applications.residual import ResNet101, ResNet152, ResNet50

__all__ = [
    "ResNet101", "ResNet152", "ResNet50", "decode_predictions", "preprocess_input",
]
