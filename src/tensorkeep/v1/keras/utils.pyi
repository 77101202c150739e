# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.keras.engine.nodes import get_source_inputs
from tensorkeep.tf1.keras.named_objects import (
    CustomObjectScope, custom_object_scope, deserialize_keras_object, get_custom_objects, serialize_keras_object,
)
from tensorkeep.tf1.keras.utils.arrays import HDF5Matrix, normalize, to_categorical
from tensorkeep.tf1.keras.utils.downloads import get_file
from tensorkeep.tf1.keras.utils.models import model_to_dot, multi_gpu_model, plot_model
from tensorkeep.tf1.keras.utils.progress import Progbar
from tensorkeep.tf1.keras.utils.sequences import GeneratorEnqueuer, OrderedEnqueuer, Sequence, SequenceEnqueuer

__all__ = [
    "CustomObjectScope", "GeneratorEnqueuer", "HDF5Matrix", "OrderedEnqueuer", "Progbar", "Sequence",
    "SequenceEnqueuer", "custom_object_scope", "deserialize_keras_object", "get_custom_objects", "get_file",
    "get_source_inputs", "model_to_dot", "multi_gpu_model", "normalize", "plot_model", "serialize_keras_object",
    "to_categorical",
]
