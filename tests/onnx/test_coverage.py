"""Every op of TensorFlow that the other converter to ONNX lists has a rule here, or a reason why not.

The names are those of its table of supported ops; those of TensorFlow Lite, of ONNX and of libraries for
text, which are no ops of TensorFlow, are left out.
"""

from __future__ import annotations

import pytest

import tensorkeep.onnx.rules.every  # noqa: F401 - makes the rules known
from tensorkeep.onnx.graphs import CannotTranslateError
from tensorkeep.onnx.not_in_onnx import NOT_IN_ONNX
from tensorkeep.onnx.rules.registry import RULES
from tests.onnx.exported_samples import export_sample
from tests.ops.sample import all_samples
from tests.ops.walking import import_all_ops
from tools.onnx_table import listed_ops, without_rule

LISTED_THERE = """
    Abs Acos Acosh Add AddN AddV2 AdjustContrastv2 AdjustHue AdjustSaturation All Any ArgMax ArgMin AsString
    Asin Asinh Atan Atan2 Atanh AvgPool AvgPool3D BatchMatMul BatchMatMulV2 BatchMatMulV3 BatchToSpaceND BiasAdd
    BiasAddV1 Bincount BroadcastTo CTCGreedyDecoder Cast Ceil CheckNumerics ClipByValue
    CombinedNonMaxSuppression ComplexAbs Concat ConcatV2 Const Conv2D Conv2DBackpropInput Conv3D
    Conv3DBackpropInputV2 Cos Cosh CropAndResize CudnnRNN CudnnRNNV2 CudnnRNNV3 Cumsum DenseBincount
    DenseToDenseSetOperation DepthToSpace DepthwiseConv2dNative Div DivNoNan DynamicPartition DynamicStitch
    Einsum Elu EnsureShape Equal Erf Exp ExpandDims FFT FIFOQueueV2 FakeQuantWithMinMaxArgs
    FakeQuantWithMinMaxVars Fill Floor FloorDiv FloorMod FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3 Gather
    GatherNd GatherV2 Greater GreaterEqual HashTableV2 Identity IdentityN If InvertPermutation IsFinite IsInf
    IsNan IteratorGetNext IteratorV2 LRN LSTMBlockCell LeakyRelu LeftShift Less LessEqual Log LogSoftmax
    LogicalAnd LogicalNot LogicalOr LookupTableFindV2 LookupTableSizeV2 MatMul MatrixBandPart MatrixDeterminant
    MatrixDiag MatrixDiagPart MatrixDiagPartV2 MatrixDiagPartV3 MatrixDiagV2 MatrixDiagV3 MatrixInverse
    MatrixSetDiagV3 Max MaxPool MaxPool3D MaxPoolV2 MaxPoolWithArgmax Maximum Mean Min Minimum MirrorPad Mul
    Multinomial Neg NoOp NonMaxSuppressionV2 NonMaxSuppressionV3 NonMaxSuppressionV4 NonMaxSuppressionV5
    NotEqual OneHot Pack Pad PadV2 ParallelDynamicStitch Placeholder PlaceholderV2 PlaceholderWithDefault Pow
    Prod QueueDequeueManyV2 QueueDequeueUpToV2 QueueDequeueV2 RFFT RFFT2D RaggedGather RaggedRange
    RaggedTensorFromVariant RaggedTensorToSparse RaggedTensorToTensor RaggedTensorToVariant RandomShuffle
    RandomStandardNormal RandomUniform RandomUniformInt Range RealDiv Reciprocal Relu Relu6 Reshape
    ResizeBicubic ResizeBilinear ResizeNearestNeighbor ReverseSequence ReverseV2 RightShift Rint Roll Round
    Rsqrt SampleDistortedBoundingBox SampleDistortedBoundingBoxV2 ScatterNd SegmentMax SegmentMean SegmentMin
    SegmentProd SegmentSum Select SelectV2 Selu Shape Sigmoid Sign Sin Sinh Size Slice Softmax
    SoftmaxCrossEntropyWithLogits Softplus Softsign SpaceToBatchND SpaceToDepth SparseFillEmptyRows
    SparseReshape SparseSegmentMean SparseSegmentMeanWithNumSegments SparseSegmentSqrtN
    SparseSegmentSqrtNWithNumSegments SparseSegmentSum SparseSegmentSumWithNumSegments
    SparseSoftmaxCrossEntropyWithLogits SparseToDense Split SplitV Sqrt Square SquaredDifference Squeeze
    StatelessIf StatelessWhile StaticRegexReplace StopGradient StridedSlice StringJoin StringLower StringSplit
    StringSplitV2 StringToHashBucketFast StringToNumber StringUpper Sub Sum Tan Tanh TensorListFromTensor
    TensorListGetItem TensorListLength TensorListReserve TensorListResize TensorListSetItem TensorListStack
    TensorScatterAdd TensorScatterUpdate Tile TopKV2 Transpose TruncateDiv Unique Unpack UnsortedSegmentMax
    UnsortedSegmentMin UnsortedSegmentProd UnsortedSegmentSum Where While ZerosLike
"""
NEEDS_NONE = {"Const", "HashTableV2", "IteratorV2", "NoOp", "Placeholder", "PlaceholderV2"}
"""What is no node of a file: constants, inputs, and resources, which are what they hold."""


def test_what_the_other_converter_lists_has_a_rule_or_a_reason() -> None:
    assert not [op for op in LISTED_THERE.split() if op not in RULES and op not in NOT_IN_ONNX and op not in NEEDS_NONE]


def test_every_op_that_we_run_has_a_rule_or_a_reason_or_needs_none() -> None:
    import_all_ops()
    unsaid = [op for op in listed_ops() if op not in RULES and op not in NOT_IN_ONNX and without_rule(op) is None]
    assert not unsaid


def test_the_engine_tells_the_reason_without_what_to_write_on_the_command_line() -> None:
    sample = next(item for item in all_samples()["Svd"] if not item.fails)
    with pytest.raises(CannotTranslateError) as caught:
        export_sample("Svd", sample, for_engine=True)
    assert "ONNX has no operators that decompose matrices" in str(caught.value)
    assert "--" not in str(caught.value)


def test_no_op_has_both_a_rule_and_a_reason() -> None:
    assert not RULES.keys() & NOT_IN_ONNX.keys()
