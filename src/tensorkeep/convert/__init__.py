"""Converting files of tensors: checkpoints, safetensors, PyTorch, NumPy, HDF5, Parquet, frozen graphs, SavedModels.

    tensorkeep.convert.convert("bert/bert_model.ckpt", "bert.safetensors", ["bert"])

The end of the target's name says what it shall be, the contents of the source what it is. Rules, by name or as values,
say how names and layouts differ; `explain` shows what they do to which tensor.
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
