"""In which file of `ops/` the paragraph of an op is; a tool writes this."""

from typing import Final

OP_FAMILIES: Final = {
    "arrays.casting": """
        Cast
    """,
    "arrays.constants": """
        Const ControlTrigger Identity IdentityN NoOp Placeholder PlaceholderWithDefault PreventGradient StopGradient
    """,
    "arrays.gathering": """
        EditDistance Gather GatherNd GatherV2 ListDiff LowerBound Unique UniqueV2 UniqueWithCounts UniqueWithCountsV2
        UpperBound Where
    """,
    "arrays.joining": """
        Concat ConcatOffset ConcatV2 DynamicPartition DynamicStitch Pack ParallelConcat ParallelDynamicStitch Split
        SplitV Unpack
    """,
    "arrays.ordering": """
        ConjugateTranspose InvertPermutation Reverse ReverseSequence ReverseV2 Roll Transpose UnravelIndex
    """,
    "arrays.padding": """
        MirrorPad MirrorPadGrad Pad PadV2
    """,
    "arrays.patches": """
        BatchToSpace BatchToSpaceND DepthToSpace ExtractImagePatches ExtractVolumePatches SpaceToBatch SpaceToBatchND
        SpaceToDepth
    """,
    "arrays.scatter": """
        InplaceAdd InplaceSub InplaceUpdate ScatterNd ScatterNdNonAliasingAdd TensorScatterAdd TensorScatterMax
        TensorScatterMin TensorScatterSub TensorScatterUpdate
    """,
    "arrays.shapes": """
        Bitcast BroadcastArgs BroadcastTo CheckNumerics CheckNumericsV2 Copy CopyHost DebugIdentity DeepCopy Empty
        EnsureShape ExpandDims Fill GuaranteeConst OneHot OnesLike PlaceholderV2 Rank Reshape Shape ShapeN Size Snapshot
        Squeeze Tile ZerosLike
    """,
    "arrays.slicing": """
        ResourceStridedSliceAssign Slice StridedSlice StridedSliceAssign StridedSliceGrad TensorStridedSliceUpdate
        XlaDynamicSlice XlaDynamicUpdateSlice
    """,
    "codecs.audio": """
        AudioSpectrogram DecodeWav EncodeWav Mfcc
    """,
    "codecs.image_files": """
        DecodeAndCropJpeg DecodeBmp DecodeGif DecodeImage DecodeJpeg DecodePng DecodeWebP EncodeJpeg
        EncodeJpegVariableQuality EncodePng ExtractJpegShape
    """,
    "control.batching": """
        BatchFunction
    """,
    "control.control_flow": """
        Abort Enter Exit LoopCond Merge NextIteration RefEnter RefExit RefIdentity RefMerge RefNextIteration RefSelect
        RefSwitch Switch _SwitchN
    """,
    "control.functional": """
        Case DeviceIndex FakeParam For If PartitionedCall StatefulPartitionedCall StatelessCase StatelessIf
        StatelessWhile SymbolicGradient ToBool While
    """,
    "control.logging": """
        Assert DebugGradientIdentity Print PrintV2 Timestamp
    """,
    "control.memory": """
        BytesInUse BytesLimit MaxBytesInUse
    """,
    "control.script": """
        EagerPyFunc PyFunc PyFuncStateless
    """,
    "control.tensor_arrays": """
        Stack StackClose StackCloseV2 StackPop StackPopV2 StackPush StackPushV2 StackV2 TensorArray TensorArrayClose
        TensorArrayCloseV2 TensorArrayCloseV3 TensorArrayConcat TensorArrayConcatV2 TensorArrayConcatV3
        TensorArrayGather TensorArrayGatherV2 TensorArrayGatherV3 TensorArrayGrad TensorArrayGradV2 TensorArrayGradV3
        TensorArrayGradWithShape TensorArrayPack TensorArrayRead TensorArrayReadV2 TensorArrayReadV3 TensorArrayScatter
        TensorArrayScatterV2 TensorArrayScatterV3 TensorArraySize TensorArraySizeV2 TensorArraySizeV3 TensorArraySplit
        TensorArraySplitV2 TensorArraySplitV3 TensorArrayUnpack TensorArrayV2 TensorArrayV3 TensorArrayWrite
        TensorArrayWriteV2 TensorArrayWriteV3
    """,
    "control.tensor_lists": """
        EmptyTensorList TensorListConcat TensorListConcatLists TensorListConcatV2 TensorListElementShape
        TensorListFromTensor TensorListGather TensorListGetItem TensorListLength TensorListPopBack TensorListPushBack
        TensorListPushBackBatch TensorListReserve TensorListResize TensorListScatter TensorListScatterIntoExistingList
        TensorListScatterV2 TensorListSetItem TensorListSplit TensorListStack
    """,
    "data.accumulators": """
        AccumulatorApplyGradient AccumulatorNumAccumulated AccumulatorSetGlobalStep AccumulatorTakeGradient
        ConditionalAccumulator ResourceAccumulatorApplyGradient ResourceAccumulatorNumAccumulated
        ResourceAccumulatorSetGlobalStep ResourceAccumulatorTakeGradient ResourceConditionalAccumulator
        SparseAccumulatorApplyGradient SparseAccumulatorTakeGradient SparseConditionalAccumulator
    """,
    "data.barriers": """
        Barrier BarrierClose BarrierIncompleteSize BarrierInsertMany BarrierReadySize BarrierTakeMany
    """,
    "data.buffers": """
        TensorBufferCancel TensorBufferClose TensorBufferPut TensorBufferSize TensorBufferTake
    """,
    "data.dataset_files": """
        AnonymousMemoryCache CSVDataset CSVDatasetV2 CacheDataset CacheDatasetV2 DatasetToTFRecord DummyMemoryCache
        ExperimentalCSVDataset ExperimentalDatasetToTFRecord ExperimentalMatchingFilesDataset FixedLengthRecordDataset
        FixedLengthRecordDatasetV2 MatchingFilesDataset TFRecordDataset TFRecordDatasetV2 TextLineDataset
    """,
    "data.dataset_groups": """
        DenseToSparseBatchDataset ExperimentalDenseToSparseBatchDataset ExperimentalGroupByReducerDataset
        ExperimentalGroupByWindowDataset ExperimentalMapAndBatchDataset ExperimentalScanDataset
        ExperimentalTakeWhileDataset ExperimentalUnbatchDataset ExperimentalUniqueDataset GeneratorDataset
        GroupByReducerDataset GroupByWindowDataset MapAndBatchDataset ParallelFilterDataset ParseExampleDataset
        ParseExampleDatasetV2 SparseTensorSliceDataset UniqueDataset WindowDataset
    """,
    "data.dataset_orders": """
        AnonymousRandomSeedGenerator AnonymousSeedGenerator AssertCardinalityDataset DatasetCardinality
        DirectedInterleaveDataset DummySeedGenerator ExperimentalDatasetCardinality
        ExperimentalDirectedInterleaveDataset ExperimentalIgnoreErrorsDataset ExperimentalMaxIntraOpParallelismDataset
        ExperimentalNonSerializableDataset ExperimentalParallelInterleaveDataset ExperimentalPrivateThreadPoolDataset
        ExperimentalRandomDataset FinalizeDataset IgnoreErrorsDataset InterleaveDataset
        LegacyParallelInterleaveDatasetV2 MaxIntraOpParallelismDataset ModelDataset NonSerializableDataset
        OptimizeDataset OptimizeDatasetV2 ParallelInterleaveDataset ParallelInterleaveDatasetV2
        ParallelInterleaveDatasetV3 ParallelInterleaveDatasetV4 PrivateThreadPoolDataset RandomDataset RandomDatasetV2
        RebatchDatasetV2 ShardDataset ShuffleAndRepeatDataset ShuffleAndRepeatDatasetV2 ShuffleDataset ShuffleDatasetV2
        ShuffleDatasetV3
    """,
    "data.dataset_parquet": """
        ParquetTabularDatasetV1
    """,
    "data.datasets": """
        BatchDataset BatchDatasetV2 ConcatenateDataset DatasetToSingleElement FilterDataset FlatMapDataset MapDataset
        OptionsDataset PaddedBatchDataset PaddedBatchDatasetV2 ParallelBatchDataset ParallelMapDataset
        ParallelMapDatasetV2 PrefetchDataset RangeDataset ReduceDataset RepeatDataset RewriteDataset ScanDataset
        SkipDataset TakeDataset TakeWhileDataset TensorDataset TensorSliceDataset UnbatchDataset ZipDataset
    """,
    "data.iterators": """
        AnonymousIterator AnonymousIteratorV2 AnonymousIteratorV3 DeleteIterator DeserializeIterator Iterator
        IteratorFromStringHandle IteratorFromStringHandleV2 IteratorGetNext IteratorGetNextAsOptional
        IteratorGetNextSync IteratorToStringHandle IteratorV2 MakeIterator OneShotIterator OptionalFromValue
        OptionalGetValue OptionalHasValue OptionalNone SerializeIterator
    """,
    "data.mutexes": """
        ConsumeMutexLock MutexLock MutexV2
    """,
    "data.queues": """
        FIFOQueue FIFOQueueV2 PaddingFIFOQueue PaddingFIFOQueueV2 PriorityQueue PriorityQueueV2 QueueClose QueueCloseV2
        QueueDequeue QueueDequeueMany QueueDequeueManyV2 QueueDequeueUpTo QueueDequeueUpToV2 QueueDequeueV2 QueueEnqueue
        QueueEnqueueMany QueueEnqueueManyV2 QueueEnqueueV2 QueueIsClosed QueueIsClosedV2 QueueSize QueueSizeV2
        RandomShuffleQueue RandomShuffleQueueV2
    """,
    "data.readers": """
        FakeQueue FixedLengthRecordReader FixedLengthRecordReaderV2 IdentityReader IdentityReaderV2
        ReaderNumRecordsProduced ReaderNumRecordsProducedV2 ReaderNumWorkUnitsCompleted ReaderNumWorkUnitsCompletedV2
        ReaderRead ReaderReadUpTo ReaderReadUpToV2 ReaderReadV2 ReaderReset ReaderResetV2 ReaderRestoreState
        ReaderRestoreStateV2 ReaderSerializeState ReaderSerializeStateV2 TFRecordReader TFRecordReaderV2 TextLineReader
        TextLineReaderV2 WholeFileReader WholeFileReaderV2
    """,
    "data.stages": """
        MapClear MapIncompleteSize MapPeek MapSize MapStage MapUnstage MapUnstageNoKey OrderedMapClear
        OrderedMapIncompleteSize OrderedMapPeek OrderedMapSize OrderedMapStage OrderedMapUnstage OrderedMapUnstageNoKey
        Stage StageClear StagePeek StageSize Unstage
    """,
    "data.work_queues": """
        WorkQueueClose WorkQueueCreate WorkQueueHandleOp WorkQueueIsInitialized WorkQueuePut WorkQueueRestore
        WorkQueueSave WorkQueueSize WorkQueueTake
    """,
    "embedding.checkpoints": """
        KvResourceImportV2 KvResourceImportV3 KvResourceLookupResource SaveV3
    """,
    "embedding.group_lookups": """
        GroupEmbeddingVarLookup GroupEmbeddingVarLookupDense GroupEmbeddingVariableLookupGrad GroupVariableLookup
        GroupVariableLookupDense GroupVariableLookupGrad
    """,
    "embedding.hash_table_checkpoints": """
        RestoreBloomFilter RestoreHashTable
    """,
    "embedding.hash_table_updates": """
        TensibleVariableApplyAdadelta TensibleVariableApplyAdagrad TensibleVariableApplyAdagradDA
        TensibleVariableApplyAdam TensibleVariableApplyCenteredRMSProp TensibleVariableApplyFtrl
        TensibleVariableApplyFtrlV2 TensibleVariableApplyGradientDescent TensibleVariableApplyMomentum
        TensibleVariableApplyProximalAdagrad TensibleVariableApplyProximalGradientDescent TensibleVariableApplyRMSProp
    """,
    "embedding.hash_tables": """
        BlackListHashTableAdmitStrategyOp BloomFilterAdmitOp BloomFilterAdmitStrategyOp BloomFilterInitializeOp
        BloomFilterIsInitializedOp CopyTensor HashSlice HashTableFilterOp HashTableInitializeOp HashTableLookupOp
        HashTableLookupWithAdmitOp HashTableOp HashTableSizeOp HashTableSnapshotOp InitBlackList
        ReadOnlyHashTableAdmitStrategyOp TensibleVariableGather TensibleVariableInitializeOp
        TensibleVariableIsInitializedOp TensibleVariableOp TensibleVariableScatterAdd TensibleVariableScatterDiv
        TensibleVariableScatterMul TensibleVariableScatterSub TensibleVariableScatterUpdate
    """,
    "embedding.incremental": """
        KvBeginDelta KvForgetTouched KvIncrSave KvRecordTouched KvResourceIncrImport
    """,
    "embedding.lookups": """
        DestroyKvResourceOp EVGetFrequency EVGetVersion InitializeKvVariableOp InitializeKvVariableV2Op KvResourceExport
        KvResourceGather KvResourceGatherV1 KvResourceInitCacheStrategyOp KvResourceLookupTier KvVarHandleOp
        KvVarIsInitializedOp KvVariableShape
    """,
    "embedding.sparse_recording": """
        ActivateSparseRecorder CollectSparseIndices IncrRestore IncrSave KvRebaseOnDelta RecordSparseIndices
    """,
    "embedding.updates": """
        KvResourceSparseApplyAdagrad KvResourceSparseApplyAdagradDecay KvResourceSparseApplyAdagradDecayWithCounts
        KvResourceSparseApplyAdagradWithCounts KvResourceSparseApplyAdam KvResourceSparseApplyAdamAsync
        KvResourceSparseApplyAdamAsyncWithCounts KvResourceSparseApplyAdamW KvResourceSparseApplyAdamWWithCounts
        KvResourceSparseApplyAdamWithCounts KvResourceSparseApplyFtrl KvResourceSparseApplyFtrlV2
        KvResourceSparseApplyFtrlV2WithCounts KvResourceSparseApplyFtrlWithCounts KvResourceSparseApplyGradientDescent
        KvResourceSparseApplyGradientDescentWithCounts
    """,
    "files.checkpoints": """
        MergeV2Checkpoints Restore RestoreSlice RestoreV2 Save SaveSlices SaveV2 ShardedFilename ShardedFilespec
    """,
    "files.summaries": """
        AudioSummary AudioSummaryV2 HistogramSummary ImageSummary MergeSummary ScalarSummary TensorSummary
        TensorSummaryV2
    """,
    "files.summary_writers": """
        CloseSummaryWriter CreateSummaryFileWriter FlushSummaryWriter ImportEvent SummaryWriter WriteAudioSummary
        WriteHistogramSummary WriteImageSummary WriteScalarSummary WriteSummary
    """,
    "files.vocabulary_remapping": """
        GenerateVocabRemapping LoadAndRemapMatrix
    """,
    "files.whole_files": """
        MatchingFiles ReadFile WriteFile
    """,
    "images.addons": """
        Addons>GatherTree Addons>Resampler Addons>ResamplerGrad BipartiteMatch GatherTree ImageConnectedComponents
        Resampler ResamplerGrad
    """,
    "images.colors": """
        AdjustContrast AdjustContrastv2 AdjustHue AdjustSaturation HSVToRGB RGBToHSV
    """,
    "images.detection": """
        CombinedNonMaxSuppression DrawBoundingBoxes DrawBoundingBoxesV2 GenerateBoundingBoxProposals NonMaxSuppression
        NonMaxSuppressionV2 NonMaxSuppressionV3 NonMaxSuppressionV4 NonMaxSuppressionV5 NonMaxSuppressionWithOverlaps
    """,
    "images.distortion": """
        ExtractGlimpse ExtractGlimpseV2 RandomCrop SampleDistortedBoundingBox SampleDistortedBoundingBoxV2
        StatelessSampleDistortedBoundingBox
    """,
    "images.resizing": """
        ResizeArea ResizeBicubic ResizeBicubicGrad ResizeBilinear ResizeBilinearGrad ResizeNearestNeighbor
        ResizeNearestNeighborGrad
    """,
    "images.warping": """
        CropAndResize CropAndResizeGradBoxes CropAndResizeGradImage ImageProjectiveTransformV2
        ImageProjectiveTransformV3 ScaleAndTranslate ScaleAndTranslateGrad
    """,
    "linear_algebra.decompositions": """
        BatchCholesky BatchCholeskyGrad BatchMatrixDeterminant BatchMatrixInverse BatchMatrixSolve BatchMatrixSolveLs
        BatchMatrixTriangularSolve BatchSelfAdjointEig BatchSelfAdjointEigV2 BatchSvd Eig Lu Qr SelfAdjointEig
        SelfAdjointEigV2 Svd TridiagonalMatMul TridiagonalSolve
    """,
    "linear_algebra.diagonals": """
        BatchMatrixBandPart BatchMatrixDiag BatchMatrixDiagPart BatchMatrixSetDiag Diag DiagPart MatrixBandPart
        MatrixDiag MatrixDiagPart MatrixDiagPartV2 MatrixDiagPartV3 MatrixDiagV2 MatrixDiagV3 MatrixSetDiag
        MatrixSetDiagV2 MatrixSetDiagV3
    """,
    "linear_algebra.einsum": """
        Einsum
    """,
    "linear_algebra.linear_systems": """
        BandedTriangularSolve Cholesky CholeskyGrad LogMatrixDeterminant MatrixDeterminant MatrixExponential
        MatrixInverse MatrixLogarithm MatrixSolve MatrixSolveLs MatrixSquareRoot MatrixTriangularSolve
    """,
    "linear_algebra.matmul": """
        BatchMatMul BatchMatMulV2 BatchMatMulV3 MatMul SparseMatMul
    """,
    "nn.activations": """
        BiasAdd BiasAddGrad BiasAddV1 Elu EluGrad LeakyRelu LeakyReluGrad Relu Relu6 Relu6Grad ReluGrad Selu SeluGrad
        Softplus SoftplusGrad Softsign SoftsignGrad
    """,
    "nn.convolution": """
        Conv2D Conv2DBackpropFilter Conv2DBackpropInput Conv3D Conv3DBackpropFilter Conv3DBackpropFilterV2
        Conv3DBackpropInput Conv3DBackpropInputV2 DepthwiseConv2dNative DepthwiseConv2dNativeBackpropFilter
        DepthwiseConv2dNativeBackpropInput Dilation2D Dilation2DBackpropFilter Dilation2DBackpropInput
    """,
    "nn.ctc": """
        CTCBeamSearchDecoder CTCGreedyDecoder CTCLoss
    """,
    "nn.fractional_pooling": """
        FractionalAvgPool FractionalAvgPoolGrad FractionalMaxPool FractionalMaxPoolGrad
    """,
    "nn.fused_convolution": """
        FusedPadConv2D FusedResizeAndPadConv2D
    """,
    "nn.normalization": """
        BatchNormWithGlobalNormalization BatchNormWithGlobalNormalizationGrad FusedBatchNorm FusedBatchNormGrad
        FusedBatchNormGradV2 FusedBatchNormGradV3 FusedBatchNormV2 FusedBatchNormV3 LRN LRNGrad
    """,
    "nn.pooling": """
        AvgPool AvgPool3D AvgPool3DGrad AvgPoolGrad MaxPool MaxPool3D MaxPool3DGrad MaxPool3DGradGrad MaxPoolGrad
        MaxPoolGradGrad MaxPoolGradGradV2 MaxPoolGradV2 MaxPoolGradWithArgmax MaxPoolV2 MaxPoolWithArgmax
    """,
    "nn.recurrent": """
        BlockLSTM BlockLSTMGrad BlockLSTMGradV2 BlockLSTMV2 GRUBlockCell GRUBlockCellGrad LSTMBlockCell
        LSTMBlockCellGrad
    """,
    "nn.softmax": """
        L2Loss LogSoftmax Softmax SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits
    """,
    "numbers.arithmetic": """
        AccumulateNV2 Add AddN AddV2 Atan2 BroadcastGradientArgs Cross Div DivNoNan FloorDiv FloorMod Maximum Minimum
        Mod Mul MulNoNan NextAfter Pow RealDiv SquaredDifference Sub TruncateDiv TruncateMod Xdivy Xlog1py Xlogy
    """,
    "numbers.clustering": """
        KMC2ChainInitialization KmeansPlusPlusInitialization NearestNeighbors
    """,
    "numbers.comparisons": """
        ApproximateEqual BitwiseAnd BitwiseOr BitwiseXor Bucketize ClipByValue Equal Greater GreaterEqual Invert
        LeftShift Less LessEqual LogicalAnd LogicalNot LogicalOr NotEqual PopulationCount RightShift Select SelectV2
    """,
    "numbers.counts": """
        DenseCountSparseOutput RaggedCountSparseOutput SparseCountSparseOutput
    """,
    "numbers.cumulative": """
        Bincount Cumprod Cumsum CumulativeLogsumexp DenseBincount HistogramFixedWidth LinSpace RaggedBincount Range
        SparseBincount
    """,
    "numbers.elementwise": """
        Abs Acos Acosh Angle Asin Asinh Atan Atanh Ceil Complex ComplexAbs Conj Cos Cosh Exp Expm1 Floor Imag Inv
        InvGrad IsFinite IsInf IsNan Log Log1p Neg Real Reciprocal ReciprocalGrad Rint Round Rsqrt RsqrtGrad Sigmoid
        SigmoidGrad Sign Sin Sinh Sqrt SqrtGrad Square Tan Tanh TanhGrad
    """,
    "numbers.ranking": """
        ApproxTopK InTopK InTopKV2 NthElement TopK TopKV2
    """,
    "numbers.reductions": """
        All Any ArgMax ArgMin EuclideanNorm Max Mean Min Prod Sum
    """,
    "numbers.segments": """
        SegmentMax SegmentMean SegmentMin SegmentProd SegmentSum SparseSegmentMean SparseSegmentMeanGrad
        SparseSegmentMeanGradV2 SparseSegmentMeanWithNumSegments SparseSegmentSqrtN SparseSegmentSqrtNGrad
        SparseSegmentSqrtNGradV2 SparseSegmentSqrtNWithNumSegments SparseSegmentSum SparseSegmentSumGrad
        SparseSegmentSumGradV2 SparseSegmentSumWithNumSegments UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd
        UnsortedSegmentSum
    """,
    "numbers.sets": """
        DenseToDenseSetOperation DenseToSparseSetOperation SetSize SparseToSparseSetOperation
    """,
    "numbers.signal": """
        BatchFFT BatchFFT2D BatchFFT3D BatchIFFT BatchIFFT2D BatchIFFT3D FFT FFT2D FFT3D IFFT IFFT2D IFFT3D IRFFT
        IRFFT2D IRFFT3D RFFT RFFT2D RFFT3D
    """,
    "numbers.special": """
        BesselI0 BesselI0e BesselI1 BesselI1e BesselJ0 BesselJ1 BesselK0 BesselK0e BesselK1 BesselK1e BesselY0 BesselY1
        Betainc Dawsn Digamma Erf Erfc Erfinv Expint FresnelCos FresnelSin Igamma IgammaGradA Igammac Lgamma Ndtri
        Polygamma Spence Zeta
    """,
    "parsing.decoding": """
        DecodeCSV DecodeCompressed DecodeJSONExample DecodePaddedRaw DecodeRaw
    """,
    "parsing.examples": """
        ParseExample ParseExampleV2 ParseSingleExample
    """,
    "parsing.protos": """
        DecodeProtoV2 EncodeProto
    """,
    "parsing.sequence_examples": """
        ParseSequenceExample ParseSequenceExampleV2
    """,
    "parsing.serialization": """
        DeserializeManySparse DeserializeSparse ParseTensor SerializeManySparse SerializeSparse SerializeTensor
    """,
    "parsing.single_sequence_examples": """
        ParseSingleSequenceExample
    """,
    "quantized.networks": """
        QuantizeDownAndShrinkRange QuantizedAdd QuantizedAvgPool QuantizedBiasAdd QuantizedConcat QuantizedConcatV2
        QuantizedConv2D QuantizedMatMul QuantizedMaxPool QuantizedMul QuantizedRelu QuantizedRelu6 QuantizedReshape
        RequantizationRange Requantize
    """,
    "quantized.ranges": """
        Dequantize QuantizeV2
    """,
    "quantized.rounding": """
        FakeQuantWithMinMaxArgs FakeQuantWithMinMaxArgsGradient FakeQuantWithMinMaxVars FakeQuantWithMinMaxVarsGradient
        FakeQuantWithMinMaxVarsPerChannel FakeQuantWithMinMaxVarsPerChannelGradient QuantizeAndDequantize
        QuantizeAndDequantizeV2 QuantizeAndDequantizeV3 QuantizeAndDequantizeV4 QuantizeAndDequantizeV4Grad
    """,
    "quantized.uniform": """
        UniformDequantize UniformQuantize UniformQuantizedAdd UniformQuantizedClipByValue UniformQuantizedDot
        UniformQuantizedDotHybrid UniformRequantize
    """,
    "quantized.uniform_convolution": """
        UniformQuantizedConvolution UniformQuantizedConvolutionHybrid
    """,
    "ragged.tensors": """
        RaggedCross RaggedFillEmptyRows RaggedFillEmptyRowsGrad RaggedGather RaggedRange RaggedTensorToSparse
        RaggedTensorToTensor
    """,
    "ragged.variants": """
        RaggedTensorFromVariant RaggedTensorToVariant RaggedTensorToVariantGradient
    """,
    "random.candidate_sampling": """
        AllCandidateSampler ComputeAccidentalHits FixedUnigramCandidateSampler LogUniformCandidateSampler
        UniformCandidateSampler
    """,
    "random.generators": """
        NonDeterministicInts RngReadAndSkip RngSkip StatefulRandomBinomial StatefulStandardNormalV2
        StatefulTruncatedNormal StatefulUniform StatefulUniformFullInt StatefulUniformInt
    """,
    "random.stateful": """
        Multinomial ParameterizedTruncatedNormal RandomGamma RandomGammaGrad RandomPoisson RandomPoissonV2 RandomShuffle
        RandomStandardNormal RandomUniform RandomUniformInt TruncatedNormal
    """,
    "random.stateless": """
        StatelessMultinomial StatelessParameterizedTruncatedNormal StatelessRandomBinomial StatelessRandomGammaV2
        StatelessRandomGammaV3 StatelessRandomGetAlg StatelessRandomGetKeyCounter StatelessRandomGetKeyCounterAlg
        StatelessRandomNormal StatelessRandomNormalV2 StatelessRandomPoisson StatelessRandomUniform
        StatelessRandomUniformFullInt StatelessRandomUniformFullIntV2 StatelessRandomUniformInt
        StatelessRandomUniformIntV2 StatelessRandomUniformV2 StatelessShuffle StatelessTruncatedNormal
        StatelessTruncatedNormalV2
    """,
    "sparse.crosses": """
        SparseCross SparseCrossHashed SparseCrossV2
    """,
    "sparse.maps": """
        AddManySparseToTensorsMap AddSparseToTensorsMap TakeManySparseFromTensorsMap
    """,
    "sparse.parts": """
        SparseConcat SparseFillEmptyRows SparseFillEmptyRowsGrad SparseReorder SparseReshape SparseSlice SparseSliceGrad
        SparseSplit
    """,
    "sparse.tensors": """
        SparseAdd SparseAddGrad SparseDenseCwiseAdd SparseDenseCwiseDiv SparseDenseCwiseMul SparseReduceMax
        SparseReduceMaxSparse SparseReduceSum SparseReduceSumSparse SparseSoftmax SparseSparseMaximum
        SparseSparseMinimum SparseTensorDenseAdd SparseTensorDenseMatMul SparseToDense
    """,
    "state.lookup_tables": """
        AnonymousHashTable AnonymousMutableDenseHashTable AnonymousMutableHashTable AnonymousMutableHashTableOfTensors
        HashTable HashTableV2 InitializeTable InitializeTableFromTextFile InitializeTableFromTextFileV2
        InitializeTableV2 LookupTableExport LookupTableExportV2 LookupTableFind LookupTableFindV2 LookupTableImport
        LookupTableImportV2 LookupTableInsert LookupTableInsertV2 LookupTableRemoveV2 LookupTableSize LookupTableSizeV2
        MutableDenseHashTable MutableDenseHashTableV2 MutableHashTable MutableHashTableOfTensors
        MutableHashTableOfTensorsV2 MutableHashTableV2
    """,
    "state.scatter_updates": """
        ResourceScatterAdd ResourceScatterDiv ResourceScatterMax ResourceScatterMin ResourceScatterMul
        ResourceScatterNdAdd ResourceScatterNdMax ResourceScatterNdMin ResourceScatterNdSub ResourceScatterNdUpdate
        ResourceScatterSub ResourceScatterUpdate ScatterAdd ScatterDiv ScatterMax ScatterMin ScatterMul ScatterNdAdd
        ScatterNdMax ScatterNdMin ScatterNdSub ScatterNdUpdate ScatterSub ScatterUpdate
    """,
    "state.session_tensors": """
        DeleteSessionTensor GetSessionHandle GetSessionHandleV2 GetSessionTensor
    """,
    "state.variables": """
        Assign AssignAdd AssignAddVariableOp AssignSub AssignSubVariableOp AssignVariableOp CountUpTo DestroyResourceOp
        DestroyTemporaryVariable DisableCopyOnRead IsVariableInitialized ReadVariableOp ResourceCountUpTo ResourceGather
        ResourceGatherNd TemporaryVariable VarHandleOp VarIsInitializedOp Variable VariableShape VariableV2
    """,
    "text.ngrams": """
        StringNGrams
    """,
    "text.strings": """
        AsString DecodeBase64 EncodeBase64 Fingerprint ReduceJoin RegexFullMatch RegexReplace StaticRegexFullMatch
        StaticRegexReplace StringFormat StringJoin StringLength StringLower StringSplit StringSplitV2 StringStrip
        StringToHashBucket StringToHashBucketFast StringToHashBucketStrong StringToNumber StringUpper Substr
        UnsortedSegmentJoin
    """,
    "text.unicode": """
        UnicodeDecode UnicodeDecodeWithOffsets UnicodeEncode UnicodeScript UnicodeTranscode
    """,
    "training.boosted_trees": """
        BoostedTreesBucketize BoostedTreesCreateEnsemble BoostedTreesCreateQuantileStreamResource
        BoostedTreesDeserializeEnsemble BoostedTreesEnsembleResourceHandleOp BoostedTreesExampleDebugOutputs
        BoostedTreesGetEnsembleStates BoostedTreesPredict BoostedTreesQuantileStreamResourceDeserialize
        BoostedTreesQuantileStreamResourceGetBucketBoundaries BoostedTreesQuantileStreamResourceHandleOp
        BoostedTreesSerializeEnsemble IsBoostedTreesEnsembleInitialized IsBoostedTreesQuantileStreamResourceInitialized
    """,
    "training.optimizer_steps": """
        ApplyAdaMax ApplyAdadelta ApplyAdagrad ApplyAdagradDA ApplyAdagradV2 ApplyAdam ApplyAddSign ApplyCenteredRMSProp
        ApplyFtrl ApplyFtrlV2 ApplyGradientDescent ApplyMomentum ApplyPowerSign ApplyProximalAdagrad
        ApplyProximalGradientDescent ApplyRMSProp ResourceApplyAdaMax ResourceApplyAdadelta ResourceApplyAdagrad
        ResourceApplyAdagradDA ResourceApplyAdagradV2 ResourceApplyAdam ResourceApplyAdamWithAmsgrad
        ResourceApplyAddSign ResourceApplyCenteredRMSProp ResourceApplyFtrl ResourceApplyFtrlV2
        ResourceApplyGradientDescent ResourceApplyKerasMomentum ResourceApplyMomentum ResourceApplyPowerSign
        ResourceApplyProximalAdagrad ResourceApplyProximalGradientDescent ResourceApplyRMSProp
        ResourceSparseApplyAdadelta ResourceSparseApplyAdagrad ResourceSparseApplyAdagradDA ResourceSparseApplyAdagradV2
        ResourceSparseApplyCenteredRMSProp ResourceSparseApplyFtrl ResourceSparseApplyFtrlV2
        ResourceSparseApplyKerasMomentum ResourceSparseApplyMomentum ResourceSparseApplyProximalAdagrad
        ResourceSparseApplyProximalGradientDescent ResourceSparseApplyRMSProp SparseApplyAdadelta SparseApplyAdagrad
        SparseApplyAdagradDA SparseApplyAdagradV2 SparseApplyCenteredRMSProp SparseApplyFtrl SparseApplyFtrlV2
        SparseApplyMomentum SparseApplyProximalAdagrad SparseApplyProximalGradientDescent SparseApplyRMSProp
    """,
}
