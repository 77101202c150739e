"""The ops of TensorFlow and DeepRec whose outputs follow from their inputs and attributes alone, by family.

Each was put here by hand, by its signature and by what is known of its kernel: it opens nothing, sends nothing, keeps
nothing; samples of those that run here are run without files. Ops that keep state in memory, draw from chance or run
functions are in `stateful_ops.py`; all others are in `effect_ops.py`. An op that is in none of the three cannot be
registered under a name of theirs.
"""

from __future__ import annotations

from typing import Final

COMPUTING_OPS: Final[dict[str, str]] = {
    # --------------------------------------------------------------------------------------------- element by element
    "arithmetic of numbers, element by element": """
        Abs AccumulateNV2 Add AddN AddV2 Angle Atan2 BroadcastArgs BroadcastGradientArgs Ceil ClipByValue Complex
        ComplexAbs Conj Cross Div DivNoNan Exp Expm1 Floor FloorDiv FloorMod Imag Inv InvGrad Log Log1p Maximum Minimum
        Mod Mul MulNoNan Neg NextAfter Pow Real RealDiv Reciprocal ReciprocalGrad Rint Round Rsqrt RsqrtGrad Sigmoid
        SigmoidGrad Sign Sqrt SqrtGrad Square SquaredDifference Sub TruncateDiv TruncateMod Xdivy Xlog1py Xlogy
    """,
    "trigonometry and special functions": """
        Acos Acosh Asin Asinh Atan Atanh BesselI0 BesselI0e BesselI1 BesselI1e BesselJ0 BesselJ1 BesselK0 BesselK0e
        BesselK1 BesselK1e BesselY0 BesselY1 Betainc Cos Cosh Dawsn Digamma Erf Erfc Erfinv Expint FresnelCos FresnelSin
        Igamma IgammaGradA Igammac Lgamma Ndtri Polygamma Sin Sinh Spence Tan Tanh TanhGrad Zeta
    """,
    "comparisons, bits and logic": """
        ApproximateEqual BitwiseAnd BitwiseOr BitwiseXor Bucketize Equal Greater GreaterEqual HashSlice Invert IsFinite
        IsInf IsNan LeftShift Less LessEqual LogicalAnd LogicalNot LogicalOr NotEqual PopulationCount RightShift Select
        SelectV2 ToBool
    """,
    "conversions of types": """
        Bitcast Cast StochasticCastToInt _HostCast
    """,
    # ------------------------------------------------------------------------------------------------------ arrays
    "constants, inputs of the graph, and tensors passed on as they are": """
        CheckPinned Const ControlTrigger DebugGradientIdentity DebugGradientRefIdentity EnsureShape FakeParam HostConst
        Identity IdentityN NoOp Placeholder PlaceholderV2 PlaceholderWithDefault PreventGradient Snapshot StopGradient
        _ArrayToList _EagerConst _ListToArray
    """,
    "branches and loops of a graph, which pass tensors on": """
        Enter Exit LoopCond Merge NextIteration RefEnter RefExit RefIdentity RefMerge RefNextIteration RefSelect
        RefSwitch Switch _SwitchN _XlaMerge
    """,
    "shapes, and tensors filled with one value": """
        BroadcastTo ExpandDims Fill OneHot OnesLike Rank Reshape Shape ShapeN Size Squeeze Tile TileGrad UnravelIndex
        ZerosLike
    """,
    "joining, cutting and reordering": """
        Concat ConcatOffset ConcatV2 ConjugateTranspose DataFormatDimMap DataFormatVecPermute DynamicPartition
        DynamicStitch InvertPermutation MirrorPad MirrorPadGrad Pack Pad PadV2 ParallelConcat ParallelDynamicStitch
        Reverse ReverseSequence ReverseV2 Roll Slice Split SplitV StridedSlice StridedSliceGrad TensorStridedSliceUpdate
        Transpose Unpack
    """,
    "gathering, scattering and searching": """
        EditDistance Gather GatherNd GatherTree GatherV2 InplaceAdd InplaceSub InplaceUpdate ListDiff LowerBound
        ScatterNd ScatterNdNonAliasingAdd TensorScatterAdd TensorScatterMax TensorScatterMin TensorScatterSub
        TensorScatterUpdate Unique UniqueV2 UniqueWithCounts UniqueWithCountsV2 UpperBound Where
    """,
    "lists and maps of tensors, as values": """
        EmptyTensorList EmptyTensorMap TensorListConcat TensorListConcatLists TensorListConcatV2 TensorListElementShape
        TensorListFromTensor TensorListGather TensorListGetItem TensorListLength TensorListPopBack TensorListPushBack
        TensorListPushBackBatch TensorListReserve TensorListResize TensorListScatter TensorListScatterIntoExistingList
        TensorListScatterV2 TensorListSetItem TensorListSplit TensorListStack TensorMapErase TensorMapHasKey
        TensorMapInsert TensorMapLookup TensorMapSize TensorMapStackKeys
    """,
    "one value made of several, and back; optional values": """
        CompositeTensorVariantFromComponents CompositeTensorVariantToComponents OptionalFromValue OptionalGetValue
        OptionalHasValue OptionalNone
    """,
    # -------------------------------------------------------------------------------------------------- reductions
    "reductions, cumulations, ranges and histograms": """
        All Any ArgMax ArgMin Bincount Cumprod Cumsum CumulativeLogsumexp DebugNumericSummaryV2 DenseBincount
        DenseCountSparseOutput EuclideanNorm HistogramFixedWidth LinSpace Max Mean Min Prod RaggedBincount
        RaggedCountSparseOutput Range SparseBincount SparseCountSparseOutput Sum
    """,
    "the largest, and order": """
        ApproxTopK InTopK InTopKV2 IsotonicRegression KthOrderStatistic MakeUnique NthElement TopK TopKUnique TopKV2
        TopKWithUnique
    """,
    "sums, products and extremes of segments of rows": """
        SegmentMax SegmentMaxV2 SegmentMean SegmentMin SegmentMinV2 SegmentProd SegmentProdV2 SegmentSum SegmentSumV2
        SparseSegmentMean SparseSegmentMeanGrad SparseSegmentMeanGradV2 SparseSegmentMeanWithNumSegments
        SparseSegmentSqrtN SparseSegmentSqrtNGrad SparseSegmentSqrtNGradV2 SparseSegmentSqrtNWithNumSegments
        SparseSegmentSum SparseSegmentSumGrad SparseSegmentSumGradV2 SparseSegmentSumWithNumSegments UnsortedSegmentMax
        UnsortedSegmentMin UnsortedSegmentProd UnsortedSegmentSum
    """,
    # ---------------------------------------------------------------------------------------------- linear algebra
    "products of matrices": """
        BatchMatMul BatchMatMulV2 BatchMatMulV3 Einsum MatMul SparseMatMul TridiagonalMatMul _FusedMatMul
    """,
    "diagonals and bands": """
        BatchMatrixBandPart BatchMatrixDiag BatchMatrixDiagPart BatchMatrixSetDiag Diag DiagPart MatrixBandPart
        MatrixDiag MatrixDiagPart MatrixDiagPartV2 MatrixDiagPartV3 MatrixDiagV2 MatrixDiagV3 MatrixSetDiag
        MatrixSetDiagV2 MatrixSetDiagV3
    """,
    "linear systems and decompositions": """
        BandedTriangularSolve BatchCholesky BatchCholeskyGrad BatchMatrixDeterminant BatchMatrixInverse BatchMatrixSolve
        BatchMatrixSolveLs BatchMatrixTriangularSolve BatchSelfAdjointEig BatchSelfAdjointEigV2 BatchSvd Cholesky
        CholeskyGrad Eig LogMatrixDeterminant Lu MatrixDeterminant MatrixExponential MatrixInverse MatrixLogarithm
        MatrixSolve MatrixSolveLs MatrixSquareRoot MatrixTriangularSolve Qr SelfAdjointEig SelfAdjointEigV2 Svd
        TridiagonalSolve
    """,
    "Fourier transforms and sound": """
        AudioMicrofrontend AudioSpectrogram BatchFFT BatchFFT2D BatchFFT3D BatchIFFT BatchIFFT2D BatchIFFT3D DecodeWav
        EncodeWav FFT FFT2D FFT3D FFTND IFFT IFFT2D IFFT3D IFFTND IRFFT IRFFT2D IRFFT3D IRFFTND Mfcc RFFT RFFT2D RFFT3D
        RFFTND
    """,
    # ------------------------------------------------------------------------------------------------ neural networks
    "activations and losses": """
        BiasAdd BiasAddGrad BiasAddV1 CTCBeamSearchDecoder CTCGreedyDecoder CTCLoss CTCLossV2 Elu EluGrad L2Loss
        LeakyRelu LeakyReluGrad LogSoftmax Relu Relu6 Relu6Grad ReluGrad Selu SeluGrad Softmax
        SoftmaxCrossEntropyWithLogits Softplus SoftplusGrad Softsign SoftsignGrad SparseSoftmaxCrossEntropyWithLogits
    """,
    "convolutions, pooling, patches": """
        AvgPool AvgPool3D AvgPool3DGrad AvgPoolGrad BatchToSpace BatchToSpaceND Conv Conv2D Conv2DBackpropFilter
        Conv2DBackpropFilterV2 Conv2DBackpropInput Conv2DBackpropInputV2 Conv3D Conv3DBackpropFilter
        Conv3DBackpropFilterV2 Conv3DBackpropInput Conv3DBackpropInputV2 DepthToSpace DepthwiseConv2dNative
        DepthwiseConv2dNativeBackpropFilter DepthwiseConv2dNativeBackpropInput Dilation2D Dilation2DBackpropFilter
        Dilation2DBackpropInput ExtractImagePatches ExtractVolumePatches FractionalAvgPool FractionalAvgPoolGrad
        FractionalMaxPool FractionalMaxPoolGrad FusedPadConv2D FusedResizeAndPadConv2D MaxPool MaxPool3D MaxPool3DGrad
        MaxPool3DGradGrad MaxPoolGrad MaxPoolGradGrad MaxPoolGradGradV2 MaxPoolGradGradWithArgmax MaxPoolGradV2
        MaxPoolGradWithArgmax MaxPoolV2 MaxPoolWithArgmax SpaceToBatch SpaceToBatchND SpaceToDepth _FusedConv2D
        _FusedConv3D _FusedDepthwiseConv2dNative
    """,
    "normalization of batches and of neighbours": """
        BatchNormWithGlobalNormalization BatchNormWithGlobalNormalizationGrad FusedBatchNorm FusedBatchNormGrad
        FusedBatchNormGradV2 FusedBatchNormGradV3 FusedBatchNormV2 FusedBatchNormV3 LRN LRNGrad _FusedBatchNormEx
        _FusedBatchNormGradEx
    """,
    "recurrent cells": """
        BlockLSTM BlockLSTMGrad BlockLSTMGradV2 BlockLSTMV2 CudnnRNNCanonicalToParams CudnnRNNCanonicalToParamsV2
        CudnnRNNParamsSize CudnnRNNParamsToCanonical CudnnRNNParamsToCanonicalV2 GRUBlockCell GRUBlockCellGrad
        LSTMBlockCell LSTMBlockCellGrad
    """,
    "random numbers that follow from a seed, which is an input": """
        ComputeAccidentalHits RandomGammaGrad RandomIndexShuffle SobolSample StatelessMultinomial
        StatelessParameterizedTruncatedNormal StatelessRandomBinomial StatelessRandomGammaV2 StatelessRandomGammaV3
        StatelessRandomGetKeyCounter StatelessRandomGetKeyCounterAlg StatelessRandomNormal StatelessRandomNormalV2
        StatelessRandomPoisson StatelessRandomUniform StatelessRandomUniformFullInt StatelessRandomUniformFullIntV2
        StatelessRandomUniformInt StatelessRandomUniformIntV2 StatelessRandomUniformV2
        StatelessSampleDistortedBoundingBox StatelessShuffle StatelessTruncatedNormal StatelessTruncatedNormalV2
    """,
    "training without variables: coordinates, clusters, trees": """
        BoostedTreesAggregateStats BoostedTreesBucketize BoostedTreesCalculateBestFeatureSplit
        BoostedTreesCalculateBestFeatureSplitV2 BoostedTreesCalculateBestGainsPerFeature
        BoostedTreesMakeQuantileSummaries BoostedTreesMakeStatsSummary BoostedTreesSparseAggregateStats
        BoostedTreesSparseCalculateBestFeatureSplit NearestNeighbors SdcaFprint SdcaOptimizer SdcaOptimizerV2
    """,
    # ---------------------------------------------------------------------------------------------------- quantized
    "quantization of numbers, and back": """
        CustomAggregator Dequantize FakeQuantWithMinMaxArgs FakeQuantWithMinMaxArgsGradient FakeQuantWithMinMaxVars
        FakeQuantWithMinMaxVarsGradient FakeQuantWithMinMaxVarsPerChannel FakeQuantWithMinMaxVarsPerChannelGradient
        QuantizeAndDequantize QuantizeAndDequantizeV2 QuantizeAndDequantizeV3 QuantizeAndDequantizeV4
        QuantizeAndDequantizeV4Grad QuantizeDownAndShrinkRange QuantizeV2 RequantizationRange
        RequantizationRangePerChannel Requantize RequantizePerChannel UniformDequantize UniformQuantize
        UniformRequantize
    """,
    "ops on quantized numbers": """
        QuantizedAdd QuantizedAvgPool QuantizedBatchNormWithGlobalNormalization QuantizedBiasAdd QuantizedConcat
        QuantizedConcatV2 QuantizedConv2D QuantizedConv2DAndRelu QuantizedConv2DAndReluAndRequantize
        QuantizedConv2DAndRequantize QuantizedConv2DPerChannel QuantizedConv2DWithBias QuantizedConv2DWithBiasAndRelu
        QuantizedConv2DWithBiasAndReluAndRequantize QuantizedConv2DWithBiasAndRequantize
        QuantizedConv2DWithBiasSignedSumAndReluAndRequantize QuantizedConv2DWithBiasSumAndRelu
        QuantizedConv2DWithBiasSumAndReluAndRequantize QuantizedDepthwiseConv2D QuantizedDepthwiseConv2DWithBias
        QuantizedDepthwiseConv2DWithBiasAndRelu QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize
        QuantizedInstanceNorm QuantizedMatMul QuantizedMatMulWithBias QuantizedMatMulWithBiasAndDequantize
        QuantizedMatMulWithBiasAndRelu QuantizedMatMulWithBiasAndReluAndRequantize QuantizedMatMulWithBiasAndRequantize
        QuantizedMaxPool QuantizedMul QuantizedRelu QuantizedRelu6 QuantizedReluX QuantizedReshape
        QuantizedResizeBilinear UniformQuantizedAdd UniformQuantizedClipByValue UniformQuantizedConvolution
        UniformQuantizedConvolutionHybrid UniformQuantizedDot UniformQuantizedDotHybrid _FusedQuantizedConv2D
        _FusedQuantizedDepthwiseConv2D _QuantizedMatMul _QuantizedMaxPool3D
    """,
    # ------------------------------------------------------------------------------------------- strings and formats
    "strings: their names of files are text here, and open nothing": """
        AsString DecodeBase64 EncodeBase64 Fingerprint ReduceJoin RegexFullMatch RegexReplace ShardedFilename
        ShardedFilespec StaticRegexFullMatch StaticRegexReplace StringFormat StringJoin StringLength StringLower
        StringNGrams StringSplit StringSplitV2 StringStrip StringToHashBucket StringToHashBucketFast
        StringToHashBucketStrong StringToNumber StringUpper Substr UnicodeDecode UnicodeDecodeWithOffsets UnicodeEncode
        UnicodeScript UnicodeTranscode UnsortedSegmentJoin _TensorToHashBucketFast
    """,
    "messages and numbers in strings; DecodeProtoV2 and EncodeProto read a file if an attribute names one": """
        DecodeCSV DecodeCompressed DecodeJSONExample DecodePaddedRaw DecodeProtoV2 DecodeRaw DeserializeManySparse
        DeserializeSparse EncodeProto ParseExample ParseExampleV2 ParseSequenceExample ParseSequenceExampleV2
        ParseSingleExample ParseSingleSequenceExample ParseTensor SerializeManySparse SerializeSparse SerializeTensor
    """,
    "summaries, as strings that nobody writes anywhere": """
        AudioSummary AudioSummaryV2 HistogramSummary ImageSummary MergeSummary ScalarSummary TensorSummary
        TensorSummaryV2
    """,
    # ------------------------------------------------------------------------------------------------------- images
    "images, decoded from strings and encoded into them": """
        DecodeAndCropJpeg DecodeBmp DecodeGif DecodeImage DecodeJpeg DecodeJxl DecodePng DecodeWebP EncodeJpeg
        EncodeJpegVariableQuality EncodePng ExtractJpegShape
    """,
    "colors, sizes, boxes and warping of images": """
        Addons>GatherTree Addons>Resampler Addons>ResamplerGrad AdjustContrast AdjustContrastv2 AdjustHue
        AdjustSaturation BipartiteMatch CombinedNonMaxSuppression CropAndResize CropAndResizeGradBoxes
        CropAndResizeGradImage
        DrawBoundingBoxes DrawBoundingBoxesV2 ExtractGlimpse ExtractGlimpseV2 GenerateBoundingBoxProposals HSVToRGB
        ImageConnectedComponents
        ImageProjectiveTransformV2 ImageProjectiveTransformV3 NonMaxSuppression NonMaxSuppressionV2 NonMaxSuppressionV3
        NonMaxSuppressionV4 NonMaxSuppressionV5 NonMaxSuppressionWithOverlaps RGBToHSV Resampler ResamplerGrad
        ResizeArea ResizeBicubic ResizeBicubicGrad ResizeBilinear ResizeBilinearGrad ResizeNearestNeighbor
        ResizeNearestNeighborGrad ScaleAndTranslate ScaleAndTranslateGrad
    """,
    # -------------------------------------------------------------------------------------------- sparse and ragged
    "sparse tensors and sets": """
        DenseToDenseSetOperation DenseToSparseSetOperation SetSize SparseAdd SparseAddGrad SparseConcat SparseCross
        SparseCrossHashed SparseCrossV2 SparseDenseCwiseAdd SparseDenseCwiseDiv SparseDenseCwiseMul SparseFillEmptyRows
        SparseFillEmptyRowsGrad SparseReduceMax SparseReduceMaxSparse SparseReduceSum SparseReduceSumSparse
        SparseReorder SparseReshape SparseSlice SparseSliceGrad SparseSoftmax SparseSparseMaximum SparseSparseMinimum
        SparseSplit SparseTensorDenseAdd SparseTensorDenseMatMul SparseToDense SparseToSparseSetOperation
    """,
    "sparse matrices, as values": """
        CSRSparseMatrixComponents CSRSparseMatrixToDense CSRSparseMatrixToSparseTensor DenseToCSRSparseMatrix
        SparseMatrixAdd SparseMatrixMatMul SparseMatrixMul SparseMatrixNNZ SparseMatrixOrderingAMD SparseMatrixSoftmax
        SparseMatrixSoftmaxGrad SparseMatrixSparseCholesky SparseMatrixSparseMatMul SparseMatrixTranspose
        SparseMatrixZeros SparseTensorToCSRSparseMatrix
    """,
    "ragged tensors": """
        RaggedCross RaggedFillEmptyRows RaggedFillEmptyRowsGrad RaggedGather RaggedRange RaggedTensorFromVariant
        RaggedTensorToSparse RaggedTensorToTensor RaggedTensorToVariant RaggedTensorToVariantGradient
    """,
    # ----------------------------------------------------------------------------------------------------- datasets
    "datasets made of datasets, with functions of the graph's own library, whose ops are looked at by themselves": """
        BatchDataset BatchDatasetV2 ChooseFastestBranchDataset ConcatenateDataset DenseToSparseBatchDataset
        DirectedInterleaveDataset ExperimentalDenseToSparseBatchDataset ExperimentalDirectedInterleaveDataset
        ExperimentalGroupByWindowDataset ExperimentalIgnoreErrorsDataset ExperimentalMapAndBatchDataset
        ExperimentalMapDataset ExperimentalParallelInterleaveDataset ExperimentalParseExampleDataset
        ExperimentalRebatchDataset ExperimentalScanDataset ExperimentalSlidingWindowDataset ExperimentalTakeWhileDataset
        ExperimentalUnbatchDataset ExperimentalUniqueDataset FilterByLastComponentDataset FilterDataset FlatMapDataset
        GroupByWindowDataset IgnoreErrorsDataset IndexFlatMapDataset InterleaveDataset LegacyParallelInterleaveDatasetV2
        MapAndBatchDataset MapDataset MapDefun PaddedBatchDataset PaddedBatchDatasetV2 ParallelBatchDataset
        ParallelFilterDataset ParallelInterleaveDataset ParallelInterleaveDatasetV2 ParallelInterleaveDatasetV3
        ParallelInterleaveDatasetV4 ParallelMapDataset ParallelMapDatasetV2 ParseExampleDataset ParseExampleDatasetV2
        PrefetchDataset RebatchDataset RebatchDatasetV2 RepeatDataset SamplingDataset ScanDataset ShardDataset
        ShuffleAndRepeatDataset ShuffleDataset SkipDataset SlidingWindowDataset TakeDataset TakeWhileDataset
        UnbatchDataset UniqueDataset WeightedFlatMapDataset WindowDataset WindowOp ZipDataset
    """,
    "datasets that say how another is to be run: threads, order of work, options": """
        AssertCardinalityDataset AssertNextDataset AssertPrevDataset AutoShardDataset ChooseFastestDataset
        ExperimentalAssertNextDataset ExperimentalAutoShardDataset ExperimentalChooseFastestDataset
        ExperimentalMaxIntraOpParallelismDataset ExperimentalNonSerializableDataset ExperimentalPrivateThreadPoolDataset
        FinalizeDataset MaxIntraOpParallelismDataset ModelDataset NonSerializableDataset OptimizeDataset
        OptimizeDatasetV2 OptionsDataset PrivateThreadPoolDataset RewriteDataset
    """,
    "datasets that take time, or measure it: sleeping is bounded by the limits of a run, as computing is": """
        BytesProducedStatsDataset ExperimentalBytesProducedStatsDataset ExperimentalLatencyStatsDataset
        ExperimentalSleepDataset LatencyStatsDataset SleepDataset
    """,
    "what is known of a dataset, and one element of it": """
        CompressElement ComputeBatchSize DatasetCardinality DatasetFingerprint DatasetToGraphV2
        ExperimentalDatasetCardinality GetElementAtIndex GetOptions UncompressElement UnwrapDatasetVariant
        WrapDatasetVariant
    """,
    # ---------------------------------------------------------------------------------------------- XLA, TPU, oneDNN
    "XLA's own ops, with functions of the graph's own library": """
        XlaBroadcastHelper XlaClusterOutput XlaConcatND XlaConv XlaConvV2 XlaDot XlaDotV2 XlaDynamicSlice
        XlaDynamicUpdateSlice XlaEinsum XlaGather XlaKeyValueSort XlaOptimizationBarrier XlaPad XlaReduce
        XlaReducePrecision XlaReduceWindow XlaRemoveDynamicDimensionSize XlaReplicaId XlaRngBitGenerator XlaScatter
        XlaSelectAndScatter XlaSelfAdjointEig XlaSetBound XlaSetDynamicDimensionSize XlaSharding XlaSort XlaSplitND
        XlaSpmdFullToShardShape XlaSpmdShardToFullShape XlaSvd XlaVariadicReduce XlaVariadicReduceV2 XlaVariadicSort
    """,
    "lookups in embedding tables that are inputs, on the sparse cores of TPUs": """
        ConvertToListOfSparseCoreCooTensors ConvertToSparseCoreCsrWrappedCooTensor
        GetStatsFromListOfSparseCoreCooTensors SortListOfSparseCoreCooTensors XlaSparseActivationsUnstack
        XlaSparseDenseMatmul XlaSparseDenseMatmulCustomCombinerOnTcGradWithAdagradAndCsrInput
        XlaSparseDenseMatmulCustomCombinerOnTcGradWithAdagradMomentumAndCsrInput
        XlaSparseDenseMatmulCustomCombinerOnTcGradWithAdamAndCsrInput
        XlaSparseDenseMatmulCustomCombinerOnTcGradWithCsrInput
        XlaSparseDenseMatmulCustomCombinerOnTcGradWithFtrlAndCsrInput
        XlaSparseDenseMatmulCustomCombinerOnTcGradWithSgdAndCsrInput XlaSparseDenseMatmulCustomCombinerOnTcWithCsrInput
        XlaSparseDenseMatmulGradWithAdagradAndCsrInput XlaSparseDenseMatmulGradWithAdagradAndStaticBufferSize
        XlaSparseDenseMatmulGradWithAdagradMomentumAndCsrInput
        XlaSparseDenseMatmulGradWithAdagradMomentumAndStaticBufferSize XlaSparseDenseMatmulGradWithAdamAndCsrInput
        XlaSparseDenseMatmulGradWithAdamAndStaticBufferSize XlaSparseDenseMatmulGradWithCsrInput
        XlaSparseDenseMatmulGradWithFtrlAndCsrInput XlaSparseDenseMatmulGradWithFtrlAndStaticBufferSize
        XlaSparseDenseMatmulGradWithSgdAndCsrInput XlaSparseDenseMatmulGradWithSgdAndStaticBufferSize
        XlaSparseDenseMatmulWithCsrInput XlaSparseDenseMatmulWithStaticBufferSize XlaSparseGradientsStack
    """,
    "marks of what is to run on TPUs, and layouts of data for them": """
        GetTpuTaskId MergeDedupData Prelinearize PrelinearizeTuple SplitDedupData TPUCompilationResult
        TPUEmbeddingActivations TPUPartitionedInput TPUPartitionedInputV2 TPUPartitionedOutput TPUPartitionedOutputV2
        TPUReplicateMetadata TPUReplicatedInput TPUReplicatedOutput TpuHandleToProtoKey
    """,
    "ops of a reduced instruction set, which nothing implements": """
        RiscAbs RiscAdd RiscBinaryArithmetic RiscBinaryComparison RiscBitcast RiscBroadcast RiscCast RiscCeil
        RiscCholesky RiscConcat RiscCondition RiscConv RiscCos RiscDiv RiscDot RiscExp RiscFft RiscFloor RiscGather
        RiscImag RiscIsFinite RiscLog RiscLogicalAnd RiscLogicalNot RiscLogicalOr RiscMax RiscMin RiscMul RiscNeg
        RiscPad RiscPool RiscPow RiscRandomUniform RiscReal RiscReduce RiscRem RiscReshape RiscReverse RiscScatter
        RiscShape RiscSign RiscSlice RiscSort RiscSqueeze RiscSub RiscTranspose RiscTriangularSolve RiscUnary
    """,
    "oneDNN's forms of ops above, which TensorFlow puts in their place": """
        _MklAvgPool _MklAvgPool3D _MklAvgPool3DGrad _MklAvgPoolGrad _MklBatchMatMul _MklBatchMatMulV2 _MklConcat
        _MklConcatV2 _MklConjugateTranspose _MklConv2D _MklConv2DBackpropFilter _MklConv2DBackpropFilterWithBias
        _MklConv2DBackpropInput _MklConv2DWithBias _MklConv3D _MklConv3DBackpropFilterV2 _MklConv3DBackpropInputV2
        _MklDepthwiseConv2dNative _MklDepthwiseConv2dNativeBackpropFilter _MklDepthwiseConv2dNativeBackpropInput
        _MklDequantize _MklEinsum _MklElu _MklEluGrad _MklFusedBatchMatMulV2 _MklFusedBatchNorm _MklFusedBatchNormEx
        _MklFusedBatchNormGrad _MklFusedBatchNormGradV2 _MklFusedBatchNormGradV3 _MklFusedBatchNormV2
        _MklFusedBatchNormV3 _MklFusedConv2D _MklFusedDepthwiseConv2dNative _MklFusedInstanceNorm _MklFusedMatMul
        _MklFusedMish _MklLayerNorm _MklLeakyRelu _MklLeakyReluGrad _MklMatMul _MklMaxPool _MklMaxPool3D
        _MklMaxPool3DGrad _MklMaxPoolGrad _MklNativeAvgPool _MklNativeAvgPool3D _MklNativeAvgPool3DGrad
        _MklNativeAvgPoolGrad _MklNativeConv2D _MklNativeConv2DBackpropFilter _MklNativeConv2DBackpropFilterWithBias
        _MklNativeConv2DBackpropInput _MklNativeConv2DWithBias _MklNativeConv3D _MklNativeConv3DBackpropFilterV2
        _MklNativeConv3DBackpropInputV2 _MklNativeDepthwiseConv2dNative _MklNativeDepthwiseConv2dNativeBackpropFilter
        _MklNativeDepthwiseConv2dNativeBackpropInput _MklNativeFusedBatchNorm _MklNativeFusedBatchNormEx
        _MklNativeFusedBatchNormGrad _MklNativeFusedBatchNormGradV2 _MklNativeFusedBatchNormGradV3
        _MklNativeFusedBatchNormV2 _MklNativeFusedBatchNormV3 _MklNativeFusedConv2D _MklNativeFusedConv3D
        _MklNativeFusedDepthwiseConv2dNative _MklNativeFusedMatMul _MklNativeMaxPool _MklNativeMaxPool3D
        _MklNativeMaxPool3DGrad _MklNativeMaxPoolGrad _MklNativePadWithConv2D _MklNativePadWithFusedConv2D
        _MklNativeSparseMatrixMatMul _MklPadWithConv2D _MklPadWithFusedConv2D _MklQuantizeV2 _MklQuantizedAvgPool
        _MklQuantizedConcatV2 _MklQuantizedConv2D _MklQuantizedConv2DAndRelu _MklQuantizedConv2DAndReluAndRequantize
        _MklQuantizedConv2DAndRequantize _MklQuantizedConv2DPerChannel _MklQuantizedConv2DWithBias
        _MklQuantizedConv2DWithBiasAndRelu _MklQuantizedConv2DWithBiasAndReluAndRequantize
        _MklQuantizedConv2DWithBiasAndRequantize _MklQuantizedConv2DWithBiasSignedSumAndReluAndRequantize
        _MklQuantizedConv2DWithBiasSumAndRelu _MklQuantizedConv2DWithBiasSumAndReluAndRequantize
        _MklQuantizedDepthwiseConv2D _MklQuantizedDepthwiseConv2DWithBias _MklQuantizedDepthwiseConv2DWithBiasAndRelu
        _MklQuantizedDepthwiseConv2DWithBiasAndReluAndRequantize _MklQuantizedMatMulWithBias
        _MklQuantizedMatMulWithBiasAndDequantize _MklQuantizedMatMulWithBiasAndRelu
        _MklQuantizedMatMulWithBiasAndReluAndRequantize _MklQuantizedMatMulWithBiasAndRequantize _MklQuantizedMaxPool
        _MklRelu _MklRelu6 _MklRelu6Grad _MklReluGrad _MklSoftmax _MklSwish _MklTanh _MklTanhGrad _MklTranspose
        __MklDummyConv2DBackpropFilterWithBias __MklDummyConv2DWithBias __MklDummyPadWithConv2D
        __MklDummyPadWithFusedConv2D
    """,
    "what TensorFlow tests itself with: a fixed sentence, a kernel that cannot be made, a chain of functions": """
        ConstructionFails Fact _UnaryOpsComposition
    """,
}
