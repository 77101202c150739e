"""Ops that ONNX has no operators for: why, and what to do instead.

What is missing here has a rule, or could have one, or gives no value and is dropped. What comes up most is what a model
does before its numbers begin (records, pictures, strings that are hashed or cut) and what only training does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tensorkeep.graph.registry.op_families import OP_FAMILIES

CUT: Final = "cut the graph behind it (--inputs) and give the model what it computes, or have it done beside (--split)"
CUSTOM: Final = "if your runtime has an operator for it, name its domain (--custom-op {op}=DOMAIN)"
LEAVE: Final = "leave it out: name outputs that do not need it (--outputs)"

_FAMILIES: Final = {
    "codecs.image_files": ("ONNX has no operator that reads or writes files of pictures which every runtime has", CUT),
    "control.batching": ("a file cannot wait for other requests to make one batch of them", LEAVE),
    "control.script": ("it calls a Python function, which is not in the graph", CUT),
    "data.barriers": ("a file has no queues: whoever runs it brings the data", CUT),
    "data.buffers": ("a file computes nothing ahead: whoever runs it brings the data", CUT),
    "data.datasets": ("a file has no datasets: whoever runs it brings the data", CUT),
    "data.queues": ("a file has no queues: whoever runs it brings the data", CUT),
    "data.readers": ("a file reads no other files: whoever runs it brings the data", CUT),
    "data.stages": ("a file computes nothing ahead: whoever runs it brings the data", CUT),
    "data.work_queues": ("a file has no queues: whoever runs it brings the data", CUT),
    "embedding.checkpoints": ("a file reads and writes no checkpoints", LEAVE),
    "embedding.hash_table_checkpoints": ("a file reads and writes no checkpoints", LEAVE),
    "embedding.hash_table_updates": ("a file keeps nothing from run to run, and so does not train", LEAVE),
    "embedding.incremental": ("a file reads and writes no checkpoints", LEAVE),
    "embedding.sparse_recording": ("a file keeps nothing from run to run, and so does not train", LEAVE),
    "embedding.updates": ("a file keeps nothing from run to run, and so does not train", LEAVE),
    "files.checkpoints": ("a file reads and writes no checkpoints", LEAVE),
    "files.summaries": ("summaries are for watching a training", LEAVE),
    "files.summary_writers": ("summaries are for watching a training", LEAVE),
    "files.vocabulary_remapping": ("a file reads no other files", LEAVE),
    "files.whole_files": ("a file reads and writes no other files", CUT),
    "parsing.decoding": ("ONNX has no operators that take bytes apart", CUT),
    "parsing.examples": ("ONNX has no operators that take tf.train.Example apart", CUT),
    "parsing.protos": ("ONNX has no operators for messages", CUT),
    "parsing.sequence_examples": ("ONNX has no operators that take tf.train.SequenceExample apart", CUT),
    "parsing.serialization": ("ONNX has no operators that take bytes apart", CUT),
    "parsing.single_sequence_examples": ("ONNX has no operators that take tf.train.SequenceExample apart", CUT),
    "random.candidate_sampling": ("ONNX cannot draw candidates; only training does", LEAVE),
    "random.generators": ("a file keeps nothing from run to run, no state of a generator either", CUT),
    "sparse.maps": ("a file keeps nothing from run to run, and so no map of tensors", CUT),
    "state.scatter_updates": ("a file keeps nothing from run to run, and so changes no variables", LEAVE),
    "state.session_tensors": ("a file keeps nothing from run to run, and so no tensors", CUT),
    "training.optimizer_steps": ("a file keeps nothing from run to run, and so does not train", LEAVE),
}
"""By family: why none of its ops is in ONNX, and what to do."""

_HASHES: Final = ("ONNX has no operators that hash strings, which unknown words get their buckets by", CUT)
_TRAINS: Final = ("a file keeps nothing from run to run, and so does not train", LEAVE)
_CUDNN: Final = (
    "its weights are one array in the order of a library for graphics processors, which the graph does not tell",
    "export the layers as they are without that library, or " + CUT,
)
_MEMORY: Final = ("ONNX has no operator that tells how much memory there is", CUT)
_SETS: Final = ("ONNX has no operators for sets, and what they are made of is sparse", CUT)
_SOUNDS: Final = ("ONNX has no operators for sound files", CUT)
_TEXT: Final = "ONNX has no operator that {}"

_OPS: Final[Mapping[str, tuple[str, str]]] = {
    "Fingerprint": _HASHES,
    "SparseCross": _HASHES,
    "SparseCrossHashed": _HASHES,
    "SparseCrossV2": _HASHES,
    "RaggedCross": _HASHES,
    "HashSlice": _HASHES,
    "Substr": (_TEXT.format("cuts strings"), CUT),
    "StringLength": (_TEXT.format("counts the characters of strings"), CUT),
    "StringFormat": (_TEXT.format("writes values as text as it does"), CUT),
    "EncodeBase64": (_TEXT.format("knows base64"), CUT),
    "DecodeBase64": (_TEXT.format("knows base64"), CUT),
    "UnicodeDecode": (_TEXT.format("takes strings apart into characters"), CUT),
    "UnicodeDecodeWithOffsets": (_TEXT.format("takes strings apart into characters"), CUT),
    "UnicodeEncode": (_TEXT.format("makes strings of characters"), CUT),
    "UnicodeScript": (_TEXT.format("knows the scripts of characters"), CUT),
    "UnicodeTranscode": ("strings of ONNX are UTF-8, and none of its operators knows other encodings", CUT),
    "EditDistance": (_TEXT.format("compares sequences by their edits"), CUT),
    "HashTableLookupOp": (
        "it gives keys that are not in its table new rows, which a file cannot",
        "look up with HashTableLookupWithAdmitOp and an admission that is read-only, or " + CUT,
    ),
    "BloomFilterAdmitOp": _TRAINS,
    "GroupEmbeddingVariableLookupGrad": _TRAINS,
    "GroupVariableLookupGrad": _TRAINS,
    "EVGetFrequency": ("how often keys occurred is what a training counts", LEAVE),
    "EVGetVersion": ("when keys occurred is what a training keeps", LEAVE),
    "KvResourceExport": ("a file has tables to look into, and gives none of them as a whole", LEAVE),
    "HashTableSnapshotOp": ("a file has tables to look into, and gives none of them as a whole", LEAVE),
    "BloomFilterIsInitializedOp": _TRAINS,
    "KvResourceLookupTier": ("where rows of a table are kept says nothing of a file", LEAVE),
    "Assign": _TRAINS,
    "AssignAdd": _TRAINS,
    "AssignSub": _TRAINS,
    "CountUpTo": _TRAINS,
    "ResourceCountUpTo": _TRAINS,
    "BytesInUse": _MEMORY,
    "BytesLimit": _MEMORY,
    "MaxBytesInUse": _MEMORY,
    "Timestamp": ("ONNX has no operator that tells the time", CUT),
    "CTCBeamSearchDecoder": ("ONNX has no search for the best sequences", CUT),
    "CudnnRNN": _CUDNN,
    "CudnnRNNV2": _CUDNN,
    "CudnnRNNV3": _CUDNN,
    "DenseToSparseSetOperation": _SETS,
    "SparseToSparseSetOperation": _SETS,
    "SetSize": _SETS,
    "DecodeWav": _SOUNDS,
    "EncodeWav": _SOUNDS,
    "IteratorGetNext": ("a file has no datasets: whoever runs it brings the data", CUT),
    "SampleDistortedBoundingBox": ("only training draws boxes by chance", LEAVE),
    "SampleDistortedBoundingBoxV2": ("only training draws boxes by chance", LEAVE),
    "KMC2ChainInitialization": _TRAINS,
    "KmeansPlusPlusInitialization": _TRAINS,
}


def _every_reason() -> dict[str, str]:
    found = {op: why for family, why in _FAMILIES.items() for op in OP_FAMILIES[family].split()} | dict(_OPS)
    return {op: f"{reason}; {what_to_do}, or {CUSTOM.format(op=op)}" for op, (reason, what_to_do) in found.items()}


NOT_IN_ONNX: Final[Mapping[str, str]] = _every_reason()
"""The reason of each op, with what to do."""
