"""Converting files of tensors: checkpoints, safetensors, PyTorch, NumPy, HDF5, Parquet, frozen graphs, SavedModels.

    tensorkeep.convert.convert("bert/bert_model.ckpt", "bert.safetensors", ["bert"])

The end of the target's name says what it shall be, the contents of the source what it is. Rules, by name or as values,
say how names and layouts differ; `explain` shows what they do to which tensor.

    onnx/           exporting models to ONNX
    arrays          tensors where they lie: in a stretch of a file, row-major or with strides, or in memory
    checkpoints     TensorFlow's checkpoints, in either format, as one format among others
    converting      converting: any file of tensors to any other, tensor by tensor, by rules
    formats         all formats, and how one is found: by how a name ends, or by what is in a file
    graphs          graphs as formats: a frozen graph, whose constants are tensors, and a SavedModel
    hdf5            HDF5, by h5py (the extra `convert`)
    hub             the middle of all conversions
    jax_functions   models as functions of JAX (the extra `jax`)
    keras_archives  models of Keras 3 (`.keras`)
    keras_names     names for the variables in a weights file of Keras 3, which numbers them
    keras_shards    weights of Keras 3 in several files (`save_weights("model.weights.json", max_shard_size=5)`)
    lstm            LSTM layers: one cell, three ways to store it
    models          models made of a graph and of what a file holds: frozen graphs and SavedModels
    norms           batch and layer normalization: the same four vectors by two sets of names
    npz             NumPy's archives: every tensor an .npy file in a zip archive, none of them a pickle
    onnx_format     ONNX as a format: a model as a whole to write, and its weights to read (the extra `onnx`)
    parquet         parquet, by pyarrow (the extra `tables`): one embedding table, a row for each key
    presets         rules by name: how TensorFlow and PyTorch lay out the same layers
    proof           the proof of a conversion
    pytorch         PyTorch's files of tensors (`state_dict`): a pickle that describes them, and their bytes
    rules           rules that say which tensors become which: a name, an order of axes, a part of another
    safetensors     safetensors: raw tensors behind a header of JSON
    shards          tensors in several files, and the index of JSON beside them that says which are in which
    steps           tensors made of other tensors, worked out a box at a time
    torch_pickles   the pickles of PyTorch's files, read without running them
    writing         files of tensors in the making: under temporary names until all of them are whole
    zip_files       zip archives of arrays: NumPy's .npz, PyTorch's files and models of Keras are such
"""

from tensorkeep.convert.converting import Converted, ConvertOptions, convert, explain, open_tensors
from tensorkeep.convert.formats import FORMATS
from tensorkeep.convert.hub import Format, ModelOptions, TensorFormat, TensorSink, TensorSource
from tensorkeep.convert.lstm import KerasLstmToTorch, TensorFlowLstmToTorch, TorchLstmToKeras, TorchLstmToTensorFlow
from tensorkeep.convert.norms import NormsToTensorFlow, NormsToTorch
from tensorkeep.convert.presets import PRESETS, depthwise_to_tensorflow
from tensorkeep.convert.proof import Proof, ProvenTensor, check_proof, read_proof
from tensorkeep.convert.rules import (
    CastTo,
    Change,
    Explained,
    Explanation,
    FirstOf,
    Fitting,
    LeaveOut,
    Only,
    Preset,
    Rename,
    Rule,
    WithoutOptimizer,
)

__all__ = [
    "CastTo",
    "Change",
    "ConvertOptions",
    "Converted",
    "Explained",
    "Explanation",
    "FORMATS",
    "FirstOf",
    "Fitting",
    "Format",
    "KerasLstmToTorch",
    "LeaveOut",
    "ModelOptions",
    "NormsToTensorFlow",
    "NormsToTorch",
    "Only",
    "PRESETS",
    "Preset",
    "Proof",
    "ProvenTensor",
    "Rename",
    "Rule",
    "TensorFlowLstmToTorch",
    "TensorFormat",
    "TensorSink",
    "TensorSource",
    "TorchLstmToKeras",
    "TorchLstmToTensorFlow",
    "WithoutOptimizer",
    "check_proof",
    "convert",
    "depthwise_to_tensorflow",
    "explain",
    "open_tensors",
    "read_proof",
]
