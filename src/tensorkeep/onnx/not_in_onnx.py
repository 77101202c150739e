"""Ops that ONNX has no operators for: why, and what to do instead.

What is missing here has a rule, or gives no value and is dropped, or gives a handle to something that is in the file.
What comes up most is what a model does before its numbers begin (records, pictures, strings that are hashed or cut) and
what only training does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tensorkeep.graph.registry.op_families import OP_FAMILIES

CUT: Final = "cut the graph behind it (--inputs) and give the model what it computes, or have it done beside (--split)"
CUSTOM: Final = "if your runtime has an operator for it, name its domain (--custom-op {op}=DOMAIN)"
LEAVE: Final = "leave it out: name outputs that do not need it (--outputs)"

_DATASETS: Final = ("a file has no datasets: whoever runs it brings the data", CUT)
_QUANTISED: Final = (
    "ONNX states layers of whole numbers in another way, by scales and zero points that are in the file",
    "export the model as it was before it was quantised, or " + CUT,
)
_TREES: Final = ("its trees lie in an ensemble that is no part of the graph", CUT)
_DECOMPOSED: Final = ("ONNX has no operators that decompose matrices", CUT)

_FAMILIES: Final = {
    "codecs.image_files": ("ONNX has no operator that reads or writes files of pictures which every runtime has", CUT),
    "control.batching": ("a file cannot wait for other requests to make one batch of them", LEAVE),
    "control.script": ("it calls a Python function, which is not in the graph", CUT),
    "data.accumulators": ("a file keeps nothing from run to run, and so does not train", LEAVE),
    "data.barriers": ("a file has no queues: whoever runs it brings the data", CUT),
    "data.buffers": ("a file computes nothing ahead: whoever runs it brings the data", CUT),
    "data.dataset_files": _DATASETS,
    "data.dataset_groups": _DATASETS,
    "data.dataset_orders": _DATASETS,
    "data.dataset_parquet": _DATASETS,
    "data.datasets": _DATASETS,
    "data.iterators": _DATASETS,
    "data.mutexes": ("a file waits for no other run", LEAVE),
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
    "nn.fractional_pooling": ("its windows are drawn at random", CUT),
    "parsing.decoding": ("ONNX has no operators that take bytes apart", CUT),
    "parsing.examples": ("ONNX has no operators that take tf.train.Example apart", CUT),
    "parsing.protos": ("ONNX has no operators for messages", CUT),
    "parsing.sequence_examples": ("ONNX has no operators that take tf.train.SequenceExample apart", CUT),
    "parsing.serialization": ("ONNX has no operators that take bytes apart", CUT),
    "parsing.single_sequence_examples": ("ONNX has no operators that take tf.train.SequenceExample apart", CUT),
    "quantized.networks": _QUANTISED,
    "quantized.uniform": _QUANTISED,
    "quantized.uniform_convolution": _QUANTISED,
    "random.candidate_sampling": ("ONNX cannot draw candidates; only training does", LEAVE),
    "random.generators": ("a file keeps nothing from run to run, no state of a generator either", CUT),
    "sparse.maps": ("a file keeps nothing from run to run, and so no map of tensors", CUT),
    "state.scatter_updates": ("a file keeps nothing from run to run, and so changes no variables", LEAVE),
    "state.session_tensors": ("a file keeps nothing from run to run, and so no tensors", CUT),
    "training.boosted_trees": _TREES,
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

_KEEPS: Final = ("a file keeps nothing from run to run, and so changes no variables", LEAVE)
_SLOPES: Final = ("only training needs the gradient that it gives", LEAVE)
_DRAWS: Final = ("ONNX draws numbers of uniform and normal distributions, and no others", CUT)
_FUNCTION: Final = ("ONNX has no such function, and no formula of one length gives it for all numbers", CUT)
_OF_MATRICES: Final = ("ONNX has no such function of matrices", CUT)
_STACKS: Final = ("it is what the rounds of a loop keep for their gradient, which only training needs", LEAVE)

_GRADIENTS: Final = """
    Addons>ResamplerGrad AvgPool3DGrad BatchCholeskyGrad BatchNormWithGlobalNormalizationGrad BlockLSTMGrad
    BlockLSTMGradV2 CholeskyGrad Conv2DBackpropFilter Conv3DBackpropFilter Conv3DBackpropFilterV2
    CropAndResizeGradBoxes CropAndResizeGradImage CTCLoss DepthwiseConv2dNativeBackpropFilter
    Dilation2DBackpropFilter Dilation2DBackpropInput FakeQuantWithMinMaxArgsGradient
    FakeQuantWithMinMaxVarsGradient FakeQuantWithMinMaxVarsPerChannelGradient GRUBlockCellGrad IgammaGradA LRNGrad
    LSTMBlockCellGrad MaxPool3DGrad MaxPool3DGradGrad MaxPoolGradGrad MaxPoolGradGradV2 MaxPoolGradWithArgmax
    MirrorPadGrad QuantizeAndDequantizeV4Grad RaggedFillEmptyRowsGrad RaggedTensorToVariantGradient RandomGammaGrad
    ResamplerGrad ResizeBicubicGrad ResizeBilinearGrad ResizeNearestNeighborGrad ScaleAndTranslateGrad
    SparseAddGrad SparseFillEmptyRowsGrad SparseSegmentMeanGrad SparseSegmentMeanGradV2 SparseSegmentSqrtNGrad
    SparseSegmentSqrtNGradV2 SparseSegmentSumGrad SparseSegmentSumGradV2 SparseSliceGrad SymbolicGradient
    TensorArrayGrad TensorArrayGradV2 TensorArrayGradV3 TensorArrayGradWithShape
"""

_OPS: Final[Mapping[str, tuple[str, str]]] = {
    **dict.fromkeys(_GRADIENTS.split(), _SLOPES),
    **dict.fromkeys(("Stack", "StackV2", "StackPop", "StackPopV2", "StackPush", "StackPushV2"), _STACKS),
    **dict.fromkeys(
        (
            "RandomGamma",
            "RandomPoisson",
            "RandomPoissonV2",
            "ParameterizedTruncatedNormal",
            "StatelessRandomBinomial",
            "StatelessParameterizedTruncatedNormal",
            "StatelessRandomGammaV2",
            "StatelessRandomGammaV3",
            "StatelessRandomPoisson",
            "StatelessRandomUniformFullInt",
            "StatelessRandomUniformFullIntV2",
        ),
        _DRAWS,
    ),
    **dict.fromkeys(
        (
            "Betainc",
            "Dawsn",
            "Expint",
            "FresnelCos",
            "FresnelSin",
            "Igamma",
            "Igammac",
            "NextAfter",
            "Polygamma",
            "Spence",
            "Zeta",
        ),
        _FUNCTION,
    ),
    **dict.fromkeys(
        (
            "BatchSelfAdjointEig",
            "BatchSelfAdjointEigV2",
            "BatchSvd",
            "Eig",
            "Lu",
            "Qr",
            "SelfAdjointEig",
            "SelfAdjointEigV2",
            "Svd",
        ),
        _DECOMPOSED,
    ),
    **dict.fromkeys(
        (
            "BandedTriangularSolve",
            "BatchMatrixSolveLs",
            "MatrixExponential",
            "MatrixLogarithm",
            "MatrixSolveLs",
            "MatrixSquareRoot",
            "TridiagonalMatMul",
            "TridiagonalSolve",
        ),
        _OF_MATRICES,
    ),
    **dict.fromkeys(
        ("DestroyTemporaryVariable", "ResourceStridedSliceAssign", "StridedSliceAssign", "TemporaryVariable"), _KEEPS
    ),
    "RefSelect": ("which of its variables it gives is known while the model runs, and not before", CUT),
    "BipartiteMatch": ("ONNX has no operator that pairs boxes, which is done to train", LEAVE),
    "DrawBoundingBoxes": ("ONNX has no operator that draws on images", LEAVE),
    "DrawBoundingBoxesV2": ("ONNX has no operator that draws on images", LEAVE),
    "ExtractGlimpse": ("ONNX has no operator that fills what lies beyond images with noise", CUT),
    "ExtractGlimpseV2": ("ONNX has no operator that fills what lies beyond images with noise", CUT),
    "GenerateBoundingBoxProposals": ("only graphics processors have it", CUT),
    "ImageConnectedComponents": ("ONNX has no operator that finds which pixels belong together", CUT),
    "NonMaxSuppressionWithOverlaps": ("ONNX computes how much boxes overlap itself, and is not told it", CUT),
    "RandomCrop": ("only training cuts images at random", LEAVE),
    "StatelessSampleDistortedBoundingBox": ("only training draws boxes by chance", LEAVE),
    "FusedResizeAndPadConv2D": (
        "only TensorFlow's own optimizer writes it",
        "export the graph as it was before that, or " + CUT,
    ),
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
