# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.keras.applications.images import decode_predictions, prepare_caffe_input as preprocess_input
from tensorkeep.tf1.keras.applications.vgg import VGG19

__all__ = [
    "VGG19", "decode_predictions", "preprocess_input",
]
