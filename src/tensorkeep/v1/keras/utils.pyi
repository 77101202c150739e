# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.keras.engine.nodes import get_source_inputs
from tensorkeep.tf1.keras.named_objects import (
    CustomObjectScope, custom_object_scope, deserialize_keras_object, get_custom_objects, serialize_keras_object,
)
from tensorkeep.tf1.keras.preprocessing.images import array_to_img, img_to_array, load_img, save_img
from tensorkeep.tf1.keras.preprocessing.sequences import pad_sequences
from tensorkeep.tf1.keras.utils.arrays import HDF5Matrix, normalize, to_categorical
from tensorkeep.tf1.keras.utils.downloads import get_file
from tensorkeep.tf1.keras.utils.models import model_to_dot, multi_gpu_model, plot_model
from tensorkeep.tf1.keras.utils.progress import Progbar
from tensorkeep.tf1.keras.utils.sequences import GeneratorEnqueuer, OrderedEnqueuer, Sequence, SequenceEnqueuer

__all__ = [
    "CustomObjectScope", "GeneratorEnqueuer", "HDF5Matrix", "OrderedEnqueuer", "Progbar", "Sequence",
    "SequenceEnqueuer", "array_to_img", "custom_object_scope", "deserialize_keras_object", "get_custom_objects",
    "get_file", "get_source_inputs", "img_to_array", "load_img", "model_to_dot", "multi_gpu_model", "normalize",
    "pad_sequences", "plot_model", "save_img", "serialize_keras_object", "to_categorical",
]
