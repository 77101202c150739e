"""Where ops are known to answer otherwise than TensorFlow on inputs drawn by chance, and why.

An entry holds for the kinds of difference and for the changes of a sample that it names, and for no others: an op that
begins to differ in another way is found. `docs/differences-from-tensorflow.md` tells users of those that they can meet.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.interop.side_by_side import Report

VALUES = frozenset({"values", "infinite or no number", "last digits", "shape"})
ANY_CHANGE = frozenset({""})


@dataclass(frozen=True)
class Known:
    """Ops that differ in one way: the reason, the kinds of difference, and words of which a change has one."""

    reason: str
    kinds: frozenset[str]
    changes: frozenset[str]
    ops: frozenset[str]

    def explains(self, report: Report) -> bool:
        return (
            report.kind in self.kinds
            and report.op in self.ops
            and any(change in report.label for change in self.changes)
        )


def _known(reason: str, kinds: set[str] | frozenset[str], changes: str, ops: str) -> Known:
    return Known(reason, frozenset(kinds), frozenset(changes.split()) or ANY_CHANGE, frozenset(ops.split()))


KNOWN = (
    _known(
        "TensorFlow hands out memory that it has not set",
        VALUES | {"sign of zero"},
        "nothing_first other_shape other_attribute _values",
        "BatchCholesky BlockLSTM BlockLSTMV2 Cholesky DepthwiseConv2dNativeBackpropFilter Empty"
        " FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3 IRFFT IRFFT2D IRFFT3D MatrixSolveLs RFFT RFFT2D"
        " RFFT3D",
    ),
    _known(
        "TensorFlow broadcasts vectors along the last dimension only, and fills a part of the result",
        VALUES,
        "other_shape",
        "QuantizedAdd QuantizedMul",
    ),
    _known("which of several right answers is not specified: signs, orders", VALUES, "", "BatchSelfAdjointEig Eig"),
    _known("the order of what is not sorted is not specified", VALUES, "other_attribute", "TopKV2"),
    _known("a row of the page of differences", VALUES, "", "Erf Expint Round SelfAdjointEig"),
    _known(
        "NaN, infinities and the ends of types: sums and factors in another order, one of which overflows",
        VALUES,
        "awkward_values other_type",
        "AdjustHue AudioSpectrogram AudioSummary AvgPool3D BatchCholeskyGrad BatchMatrixBandPart"
        " BatchMatrixInverse BatchMatrixSolveLs BesselK0e BesselK1e CTCBeamSearchDecoder Cholesky CholeskyGrad"
        " Conv3DBackpropFilterV2 Conv3DBackpropInput Conv3DBackpropInputV2 ExtractGlimpseV2"
        " FakeQuantWithMinMaxVarsPerChannelGradient IFFT2D IFFT3D Igamma ImageProjectiveTransformV3 Inv"
        " KmeansPlusPlusInitialization LRNGrad Log1p LogMatrixDeterminant Lu MatrixDeterminant MatrixInverse"
        " MatrixSolve MatrixSolveLs MatrixSquareRoot Mfcc NearestNeighbors Pow Qr QuantizeAndDequantize"
        " QuantizedBiasAdd QuantizedConv2D RealDiv ResizeBilinearGrad Rsqrt ScaleAndTranslateGrad SparseMatMul"
        " Spence SqrtGrad Svd TridiagonalSolve UniformQuantize UniformQuantizedAdd UniformQuantizedConvolution"
        " UniformQuantizedDotHybrid UniformRequantize Xdivy",
    ),
    _known(
        "roots of negative numbers, which TensorFlow gives up", VALUES, "ordinary_values", "Cholesky MatrixSquareRoot"
    ),
    _known("texts that are no UTF-8 stand in events with U+FFFD", VALUES, "_values", "HistogramSummary ScalarSummary"),
    _known("a rate that is NaN or beyond whole numbers", VALUES, "_values", "AudioSummary AudioSummaryV2"),
    _known(
        "indices outside of the shape, of which nobody promises anything",
        VALUES,
        "_values",
        "EditDistance SetSize SparseAddGrad SparseSlice SparseSparseMaximum",
    ),
    _known("TensorFlow reads the bits of a threshold of another type", VALUES, "other_type", "SparseAdd"),
    _known("what is outside of the image is noise", VALUES, "", "ExtractGlimpse"),
    _known("TensorFlow's decoder remembers the string before", VALUES, "awkward_values", "UnicodeDecodeWithOffsets"),
    _known("means of whole numbers, in another order", VALUES, "other_attribute", "FractionalAvgPoolGrad"),
    _known("a range that is too narrow for floats", VALUES, "ordinary_values", "QuantizeDownAndShrinkRange"),
    _known("no rows and no values", VALUES, "", "RaggedFillEmptyRows"),
    _known("another series", {"last digits", "infinite or no number"}, "other_shape", "Igammac RandomGammaGrad"),
    _known("an attribute for GPUs", {"refused here alone"}, "other_attribute", "TridiagonalSolve"),
    _known("defaults with more than one dimension", {"refused there alone"}, "other_shape", "DecodeCSV"),
    _known(
        "an attribute that only accelerators heed",
        {"refused there alone"},
        "other_attribute",
        "Conv3D Dilation2DBackpropInput",
    ),
    _known("types that cannot be serialized there", {"refused there alone"}, "other_type", "SerializeSparse"),
    _known("nobody listens to a debugger here", VALUES, "other_attribute", "DebugIdentity"),
    _known("exact zeros, which are off by a rounding here", VALUES, "other_type", "Lgamma"),
    _known(
        "TensorFlow computes float64 in float32 on the way",
        {"last digits"},
        "",
        "CTCBeamSearchDecoder CTCLoss FusedResizeAndPadConv2D",
    ),
    _known("exp(x) - 1 in TensorFlow, which loses digits near zero", {"last digits"}, "", "Elu Selu"),
    _known("many terms that cancel, in another order", {"last digits"}, "", "FusedBatchNormGrad FusedBatchNormGradV2"),
    _known(
        "minus zero, which equals zero",
        {"sign of zero"},
        "",
        "BesselI1 BesselJ1 BlockLSTMGrad CTCGreedyDecoder CholeskyGrad Elu Erfinv FloorMod IgammaGradA"
        " InvGrad LRNGrad Qr QuantizeV2 RandomGammaGrad ReciprocalGrad Relu ScaleAndTranslate Selu"
        " SparseSegmentMeanGradV2",
    ),
    _known(
        "nothing goes in and nothing comes out; TensorFlow refuses it",
        {"refused there alone"},
        "nothing_first other_shape",
        "AudioSummary DepthwiseConv2dNative FusedPadConv2D FusedResizeAndPadConv2D LSTMBlockCell"
        " MaxPool3DGradGrad MaxPoolWithArgmax MirrorPad QuantizedMul ResizeArea ResizeBilinear"
        " ResizeNearestNeighbor",
    ),
    _known(
        "TensorFlow has no kernel of that type", {"refused there alone"}, "other_type", "Dequantize ScatterNd Where"
    ),
    _known("an attribute that means nothing", {"refused there alone"}, "other_attribute", "MaxPoolGradWithArgmax"),
    _known("matrices that have no inverse", {"refused there alone"}, "awkward_values", "BandedTriangularSolve"),
    _known(
        "a range that ends at NaN",
        {"refused there alone"},
        "awkward_values",
        "MatrixSolveLs QuantizeAndDequantizeV3 QuantizeAndDequantizeV4",
    ),
    _known("TensorFlow's message is no text", {"refused there alone"}, "ordinary_values", "RegexReplace"),
    _known(
        "sparse tensors with repeated or outer indices, and axes of nothing",
        {"refused there alone"},
        "",
        "CTCLoss Concat DenseToSparseSetOperation EditDistance SetSize SparseBincount SparseSliceGrad"
        " SparseSoftmax SparseToSparseSetOperation",
    ),
    _known(
        "shapes and sizes that do not go together, with which TensorFlow reads on",
        {"refused here alone"},
        "nothing_first other_shape other_attribute awkward_values",
        "AdjustHue AvgPool AvgPool3DGrad BatchMatrixSolveLs BatchNormWithGlobalNormalization"
        " BatchNormWithGlobalNormalizationGrad Bincount BlockLSTMGrad BlockLSTMGradV2 BroadcastArgs"
        " CTCBeamSearchDecoder Conv2D DepthwiseConv2dNativeBackpropFilter Dilation2D Dilation2DBackpropFilter"
        " Dilation2DBackpropInput EncodeProto ExtractGlimpse ExtractGlimpseV2 FractionalAvgPoolGrad"
        " FractionalMaxPoolGrad FusedBatchNormV2 FusedPadConv2D LSTMBlockCell MatrixDiagV3 MatrixLogarithm"
        " MatrixSquareRoot MaxPoolGradV2 QuantizeAndDequantizeV3 QuantizeDownAndShrinkRange QuantizedMaxPool"
        " RaggedBincount RaggedCountSparseOutput RaggedCross RaggedTensorToSparse RandomCrop"
        " RequantizationRange ResizeBicubicGrad ResizeBilinearGrad ResizeNearestNeighborGrad Reverse ReverseV2"
        " ScaleAndTranslate ScaleAndTranslateGrad SparseCross SparseSegmentSumGradV2 StatelessRandomGammaV3"
        " StatelessRandomNormalV2 StatelessRandomUniformFullIntV2 StatelessRandomUniformIntV2"
        " StatelessRandomUniformV2 StatelessTruncatedNormalV2 TensorStridedSliceUpdate"
        " UniformQuantizedDotHybrid",
    ),
    _known(
        "indices outside of shapes, names that are no text, and other values that make no sense",
        {"refused here alone"},
        "",
        "AvgPoolGrad CTCLoss EditDistance MaxPoolV2 ParseExampleV2 RaggedCross RaggedTensorToTensor Requantize SetSize"
        " ShardedFilename SparseAdd SparseBincount SparseCross SparseCrossHashed SparseCrossV2 SparseReduceMaxSparse"
        " SparseReduceSum SparseReduceSumSparse SparseReshape SparseSoftmax StatelessRandomUniformFullInt"
        " TensorSummaryV2",
    ),
    _known(
        "several things are wrong, and another one is told first",
        {"other error"},
        "",
        "AvgPoolGrad CTCBeamSearchDecoder CTCGreedyDecoder Conv2D Conv2DBackpropFilter Conv2DBackpropInput"
        " Conv3DBackpropFilter Conv3DBackpropInput Conv3DBackpropInputV2 CropAndResize"
        " DepthwiseConv2dNativeBackpropFilter DepthwiseConv2dNativeBackpropInput Dilation2D"
        " Dilation2DBackpropInput EditDistance EncodeJpeg EncodeJpegVariableQuality ExtractImagePatches"
        " MaxPoolGradGradV2 MaxPoolGradV2 ParseExample ParseExampleV2 QuantizedAvgPool QuantizedMaxPool"
        " SparseConcat SparseReduceMax TridiagonalSolve",
    ),
    _known(
        "what TensorFlow makes of infinities depends on their place",
        {"refused here alone"},
        "awkward_values",
        "BatchSelfAdjointEig BatchSelfAdjointEigV2 SelfAdjointEig SelfAdjointEigV2",
    ),
    _known("TensorFlow's error is internal", {"other error"}, "awkward_values", "TruncateDiv TruncateMod"),
)
