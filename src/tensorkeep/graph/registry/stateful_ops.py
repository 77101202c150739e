"""The ops of TensorFlow and DeepRec that keep state, draw from chance or run functions, and do no more than that.

Every op that TensorFlow calls stateful, and that is not among those of `effect_ops.py`, stands here, in a group whose
title says why its state is no more than the memory of the process. So do ops on references, which change variables
without being called stateful. Each was put here by hand.

An op whose attributes can make it do more is here too, and in `capabilities.py` with these attributes.
"""

from __future__ import annotations

from typing import Final

STATEFUL_OPS: Final[dict[str, str]] = {
    # -------------------------------------------------------------------------------------------------- variables
    "variables: memory of a session, found by name and read and written whole": """
        Assign AssignAdd AssignAddVariableOp AssignSub AssignSubVariableOp AssignVariableOp AssignVariableXlaConcatND
        CountUpTo DestroyResourceOp DestroyTemporaryVariable DisableCopyOnRead IsVariableInitialized ReadVariableOp
        ReadVariableXlaSplitND ResourceCountUpTo TemporaryVariable VarHandleOp VarIsInitializedOp Variable VariableShape
        VariableV2 _ReadVariablesOp _VarHandlesOp _XlaAotOnlyVarHandleOp
    """,
    "parts of variables: rows and slices of that memory": """
        ResourceGather ResourceGatherNd ResourceScatterAdd ResourceScatterDiv ResourceScatterMax ResourceScatterMin
        ResourceScatterMul ResourceScatterNdAdd ResourceScatterNdMax ResourceScatterNdMin ResourceScatterNdSub
        ResourceScatterNdUpdate ResourceScatterSub ResourceScatterUpdate ResourceStridedSliceAssign ScatterAdd
        ScatterDiv ScatterMax ScatterMin ScatterMul ScatterNdAdd ScatterNdMax ScatterNdMin ScatterNdSub ScatterNdUpdate
        ScatterSub ScatterUpdate StridedSliceAssign
    """,
    "optimizers: change the variables that they are given, by gradients that they are given": """
        ApplyAdaMax ApplyAdadelta ApplyAdagrad ApplyAdagradDA ApplyAdagradV2 ApplyAdam ApplyAddSign ApplyCenteredRMSProp
        ApplyFtrl ApplyFtrlV2 ApplyGradientDescent ApplyMomentum ApplyPowerSign ApplyProximalAdagrad
        ApplyProximalGradientDescent ApplyRMSProp NegTrain ResourceApplyAdaMax ResourceApplyAdadelta
        ResourceApplyAdagrad ResourceApplyAdagradDA ResourceApplyAdagradV2 ResourceApplyAdam
        ResourceApplyAdamWithAmsgrad ResourceApplyAddSign ResourceApplyCenteredRMSProp ResourceApplyFtrl
        ResourceApplyFtrlV2 ResourceApplyGradientDescent ResourceApplyKerasMomentum ResourceApplyMomentum
        ResourceApplyPowerSign ResourceApplyProximalAdagrad ResourceApplyProximalGradientDescent ResourceApplyRMSProp
        ResourceSparseApplyAdadelta ResourceSparseApplyAdagrad ResourceSparseApplyAdagradDA ResourceSparseApplyAdagradV2
        ResourceSparseApplyCenteredRMSProp ResourceSparseApplyFtrl ResourceSparseApplyFtrlV2
        ResourceSparseApplyKerasMomentum ResourceSparseApplyMomentum ResourceSparseApplyProximalAdagrad
        ResourceSparseApplyProximalGradientDescent ResourceSparseApplyRMSProp SdcaShrinkL1 SparseApplyAdadelta
        SparseApplyAdagrad SparseApplyAdagradDA SparseApplyAdagradV2 SparseApplyCenteredRMSProp SparseApplyFtrl
        SparseApplyFtrlV2 SparseApplyMomentum SparseApplyProximalAdagrad SparseApplyProximalGradientDescent
        SparseApplyRMSProp
    """,
    "accumulators: sums of gradients in memory, behind a handle": """
        AccumulatorApplyGradient AccumulatorNumAccumulated AccumulatorSetGlobalStep AccumulatorTakeGradient
        ConditionalAccumulator ResourceAccumulatorApplyGradient ResourceAccumulatorNumAccumulated
        ResourceAccumulatorSetGlobalStep ResourceAccumulatorTakeGradient ResourceConditionalAccumulator
        SparseAccumulatorApplyGradient SparseAccumulatorTakeGradient SparseConditionalAccumulator
    """,
    "embedding variables of DeepRec: rows in memory; storage in a file is an attribute of what initializes them": """
        DestroyKvResourceOp EVGetFrequency EVGetVersion GroupEmbeddingVarLookup GroupEmbeddingVarLookupDense
        GroupEmbeddingVariableLookupGrad GroupVariableLookup GroupVariableLookupDense GroupVariableLookupGrad
        InitializeKvVariableOp InitializeKvVariableV2Op KvResourceExport KvResourceGather KvResourceGatherV1
        KvResourceInitCacheStrategyOp KvResourceLookupResource KvResourceLookupTier KvResourceSparseApplyAdagrad
        KvResourceSparseApplyAdagradDecay KvResourceSparseApplyAdagradDecayWithCounts
        KvResourceSparseApplyAdagradWithCounts KvResourceSparseApplyAdam KvResourceSparseApplyAdamAsync
        KvResourceSparseApplyAdamAsyncWithCounts KvResourceSparseApplyAdamW KvResourceSparseApplyAdamWWithCounts
        KvResourceSparseApplyAdamWithCounts KvResourceSparseApplyFtrl KvResourceSparseApplyFtrlV2
        KvResourceSparseApplyFtrlV2WithCounts KvResourceSparseApplyFtrlWithCounts KvResourceSparseApplyGradientDescent
        KvResourceSparseApplyGradientDescentWithCounts KvVarHandleOp KvVarIsInitializedOp KvVariableShape
    """,
    "hash tables of DeepRec: keys, rows and counters in memory, and the functions that make rows or drop keys": """
        BlackListHashTableAdmitStrategyOp BloomFilterAdmitOp BloomFilterAdmitStrategyOp BloomFilterInitializeOp
        BloomFilterIsInitializedOp CopyTensor HashTableFilterOp HashTableInitializeOp HashTableLookupOp
        HashTableLookupWithAdmitOp HashTableOp HashTableSizeOp HashTableSnapshotOp ReadOnlyHashTableAdmitStrategyOp
        TensibleVariableApplyAdadelta TensibleVariableApplyAdagrad TensibleVariableApplyAdagradDA
        TensibleVariableApplyAdam TensibleVariableApplyCenteredRMSProp TensibleVariableApplyFtrl
        TensibleVariableApplyFtrlV2 TensibleVariableApplyGradientDescent TensibleVariableApplyMomentum
        TensibleVariableApplyProximalAdagrad TensibleVariableApplyProximalGradientDescent TensibleVariableApplyRMSProp
        TensibleVariableGather TensibleVariableInitializeOp TensibleVariableIsInitializedOp TensibleVariableOp
        TensibleVariableScatterAdd TensibleVariableScatterDiv TensibleVariableScatterMul TensibleVariableScatterSub
        TensibleVariableScatterUpdate
    """,
    "records of which rows were touched since the last delta of a checkpoint, in memory": """
        ActivateSparseRecorder CollectSparseIndices KvBeginDelta KvForgetTouched KvRecordTouched RecordSparseIndices
    """,
    # ----------------------------------------------------------------------------------------------------- chance
    "random numbers from seeds, and from the machine's entropy where both seeds are 0": """
        AnonymousRandomSeedGenerator AnonymousSeedGenerator DeleteRandomSeedGenerator DeleteSeedGenerator
        DummySeedGenerator Multinomial NonDeterministicInts ParameterizedTruncatedNormal RandomCrop RandomGamma
        RandomPoisson RandomPoissonV2 RandomShuffle RandomStandardNormal RandomUniform RandomUniformInt
        SampleDistortedBoundingBox SampleDistortedBoundingBoxV2 TruncatedNormal
    """,
    "random numbers of a generator whose state is a variable": """
        RngReadAndSkip RngSkip StatefulRandomBinomial StatefulStandardNormal StatefulStandardNormalV2
        StatefulTruncatedNormal StatefulUniform StatefulUniformFullInt StatefulUniformInt
    """,
    "samples of classes at random; FixedUnigramCandidateSampler reads a file if an attribute names one": """
        AllCandidateSampler FixedUnigramCandidateSampler KMC2ChainInitialization KmeansPlusPlusInitialization
        LearnedUnigramCandidateSampler LogUniformCandidateSampler ThreadUnsafeUnigramCandidateSampler
        UniformCandidateSampler
    """,
    # ------------------------------------------------------------------------------------------- tables and queues
    "lookup tables: memory behind a handle; those that fill one from a file are among the effects": """
        AnonymousHashTable AnonymousMutableDenseHashTable AnonymousMutableHashTable AnonymousMutableHashTableOfTensors
        HashTable HashTableV2 InitializeTable InitializeTableFromDataset InitializeTableV2 LookupTableExport
        LookupTableExportV2 LookupTableFind LookupTableFindV2 LookupTableImport LookupTableImportV2 LookupTableInsert
        LookupTableInsertV2 LookupTableRemoveV2 LookupTableSize LookupTableSizeV2 MutableDenseHashTable
        MutableDenseHashTableV2 MutableHashTable MutableHashTableOfTensors MutableHashTableOfTensorsV2
        MutableHashTableV2
    """,
    "queues and barriers: memory that several runs of the same process hand tensors through, and wait at": """
        Barrier BarrierClose BarrierIncompleteSize BarrierInsertMany BarrierReadySize BarrierTakeMany FIFOQueue
        FIFOQueueV2 FakeQueue PaddingFIFOQueue PaddingFIFOQueueV2 PriorityQueue PriorityQueueV2 QueueClose QueueCloseV2
        QueueDequeue QueueDequeueMany QueueDequeueManyV2 QueueDequeueUpTo QueueDequeueUpToV2 QueueDequeueV2 QueueEnqueue
        QueueEnqueueMany QueueEnqueueManyV2 QueueEnqueueV2 QueueIsClosed QueueIsClosedV2 QueueSize QueueSizeV2
        RandomShuffleQueue RandomShuffleQueueV2
    """,
    "buffers and work queues of DeepRec: the same, for records that are computed ahead and for names of files": """
        TensorBufferCancel TensorBufferClose TensorBufferPut TensorBufferSize TensorBufferTake WorkQueueClose
        WorkQueueCreate WorkQueueHandleOp WorkQueueIsInitialized WorkQueuePut WorkQueueRestore WorkQueueSave
        WorkQueueSize WorkQueueTake
    """,
    "stages: the same, by key": """
        MapClear MapIncompleteSize MapPeek MapSize MapStage MapUnstage MapUnstageNoKey OrderedMapClear
        OrderedMapIncompleteSize OrderedMapPeek OrderedMapSize OrderedMapStage OrderedMapUnstage OrderedMapUnstageNoKey
        Stage StageClear StagePeek StageSize Unstage
    """,
    "readers: hand on what an open reader gives; the op that made it and reads files is among the effects": """
        IdentityReader IdentityReaderV2 ReaderNumRecordsProduced ReaderNumRecordsProducedV2 ReaderNumWorkUnitsCompleted
        ReaderNumWorkUnitsCompletedV2 ReaderRead ReaderReadUpTo ReaderReadUpToV2 ReaderReadV2 ReaderReset ReaderResetV2
        ReaderRestoreState ReaderRestoreStateV2 ReaderSerializeState ReaderSerializeStateV2
    """,
    "stacks, arrays of tensors, maps of sparse tensors: memory of one run": """
        AddManySparseToTensorsMap AddSparseToTensorsMap Stack StackClose StackCloseV2 StackPop StackPopV2 StackPush
        StackPushV2 StackV2 TakeManySparseFromTensorsMap TensorArray TensorArrayClose TensorArrayCloseV2
        TensorArrayCloseV3 TensorArrayConcat TensorArrayConcatV2 TensorArrayConcatV3 TensorArrayGather
        TensorArrayGatherV2 TensorArrayGatherV3 TensorArrayGrad TensorArrayGradV2 TensorArrayGradV3
        TensorArrayGradWithShape TensorArrayPack TensorArrayRead TensorArrayReadV2 TensorArrayReadV3 TensorArrayScatter
        TensorArrayScatterV2 TensorArrayScatterV3 TensorArraySize TensorArraySizeV2 TensorArraySizeV3 TensorArraySplit
        TensorArraySplitV2 TensorArraySplitV3 TensorArrayUnpack TensorArrayV2 TensorArrayV3 TensorArrayWrite
        TensorArrayWriteV2 TensorArrayWriteV3
    """,
    "tensors that a session keeps between runs, found by a handle that it gave": """
        DeleteSessionTensor GetSessionHandle GetSessionHandleV2 GetSessionTensor
    """,
    "locks, and batches of concurrent calls: wait for others of the same process": """
        Batch BatchFunction ConsumeMutexLock MutexLock MutexV2 Unbatch UnbatchGrad
    """,
    "trees and quantiles of boosted trees: memory behind a handle": """
        BoostedTreesCenterBias BoostedTreesCreateEnsemble BoostedTreesCreateQuantileStreamResource
        BoostedTreesDeserializeEnsemble BoostedTreesEnsembleResourceHandleOp BoostedTreesExampleDebugOutputs
        BoostedTreesFlushQuantileSummaries BoostedTreesGetEnsembleStates BoostedTreesPredict
        BoostedTreesQuantileStreamResourceAddSummaries BoostedTreesQuantileStreamResourceDeserialize
        BoostedTreesQuantileStreamResourceFlush BoostedTreesQuantileStreamResourceGetBucketBoundaries
        BoostedTreesQuantileStreamResourceHandleOp BoostedTreesSerializeEnsemble BoostedTreesTrainingPredict
        BoostedTreesUpdateEnsemble BoostedTreesUpdateEnsembleV2 IsBoostedTreesEnsembleInitialized
        IsBoostedTreesQuantileStreamResourceInitialized
    """,
    "the handle of a writer of summaries, which writes nothing before one that is among the effects makes it one": """
        SummaryWriter
    """,
    # --------------------------------------------------------------------------------------------------- datasets
    "iterators: where a dataset stands, in memory; what it reads is said by the dataset's own ops": """
        AnonymousIterator AnonymousIteratorV2 AnonymousIteratorV3 AnonymousMultiDeviceIterator
        AnonymousMultiDeviceIteratorV3 DeleteIterator DeleteMultiDeviceIterator ExperimentalIteratorGetDevice Iterator
        IteratorFromStringHandle IteratorFromStringHandleV2 IteratorGetDevice IteratorGetModelProto IteratorGetNext
        IteratorGetNextAsOptional IteratorGetNextSync IteratorToStringHandle IteratorV2 MakeIterator MultiDeviceIterator
        MultiDeviceIteratorFromStringHandle MultiDeviceIteratorGetNextFromShard MultiDeviceIteratorInit
        MultiDeviceIteratorToStringHandle OneShotIterator SerializeIterator
    """,
    "datasets that keep state between elements: seeds, counters, caches in memory, groups": """
        AnonymousMemoryCache DatasetToGraph DatasetToSingleElement DeleteMemoryCache DummyIterationCounter
        DummyMemoryCache ExperimentalGroupByReducerDataset ExperimentalRandomDataset GeneratorDataset
        GlobalShuffleDataset GroupByReducerDataset ListDataset RandomDataset RandomDatasetV2 RangeDataset ReduceDataset
        ShuffleAndRepeatDatasetV2 ShuffleDatasetV2 ShuffleDatasetV3 SparseTensorSliceDataset TensorDataset
        TensorSliceDataset
    """,
    "statistics of datasets, collected in memory; the op that gives them to a writer is among the effects": """
        ExperimentalSetStatsAggregatorDataset ExperimentalStatsAggregatorHandle ExperimentalStatsAggregatorSummary
        SetStatsAggregatorDataset StatsAggregatorHandle StatsAggregatorHandleV2 StatsAggregatorSummary
    """,
    "threads of the process that a dataset runs on": """
        ExperimentalThreadPoolDataset ExperimentalThreadPoolHandle ThreadPoolDataset ThreadPoolHandle
    """,
    # -------------------------------------------------------------------------------------------- functions, checks
    "run functions of the graph's own library, each of whose ops is looked at by itself": """
        Case For If PartitionedCall StatefulPartitionedCall StatelessCase StatelessIf StatelessWhile SymbolicGradient
        TPUPartitionedCall While XlaIf XlaLaunch XlaLaunchV2 XlaWhile _If _TPUReplicate _While _XlaCompile
    """,
    "end the run with an error, and nothing else": """
        Assert CheckNumerics CheckNumericsV2 TPUCompileSucceededAssert
    """,
    "read the clock, how much memory there is, or which device they run on": """
        BytesInUse BytesLimit DeviceIndex GlobalIterId MaxBytesInUse StatelessRandomGetAlg SyncDevice TPUOrdinalSelector
        TPURoundRobin Timestamp
    """,
    "pass a tensor on; they send it to files or addresses that an attribute names, see `capabilities.py`": """
        Copy CopyHost DebugIdentity DebugIdentityV2 DebugIdentityV3 DebugNanCount DebugNumericSummary
    """,
    "give memory of their own, which nothing else shares; in TensorFlow Empty leaves in it what stood there": """
        DeepCopy Empty
    """,
    # ------------------------------------------------------------------------------------- accelerators and the runtime
    "layers of cuDNN, which keep the state of dropout on the GPU": """
        CudnnRNN CudnnRNNBackprop CudnnRNNBackpropV2 CudnnRNNBackpropV3 CudnnRNNV2 CudnnRNNV3
    """,
    "queues between this host and an accelerator of its own": """
        InfeedDequeue InfeedDequeueTuple InfeedEnqueue InfeedEnqueuePrelinearizedBuffer InfeedEnqueueTuple
        OutfeedDequeue OutfeedDequeueTuple OutfeedDequeueTupleV2 OutfeedDequeueV2 OutfeedEnqueue OutfeedEnqueueTuple
    """,
    "embedding tables in the memory of TPUs, filled, looked up and read back; no names of files or hosts": """
        CollateTPUEmbeddingMemory ComputeDedupDataSize ComputeDedupDataSizeV2 ComputeDedupDataTupleMask
        ComputeDedupDataTupleMaskV2 ConvertToCooTensor DynamicEnqueueTPUEmbeddingArbitraryTensorBatch
        DynamicEnqueueTPUEmbeddingRaggedTensorBatch EnqueueTPUEmbeddingArbitraryTensorBatch EnqueueTPUEmbeddingBatch
        EnqueueTPUEmbeddingIntegerBatch EnqueueTPUEmbeddingRaggedTensorBatch EnqueueTPUEmbeddingSparseBatch
        EnqueueTPUEmbeddingSparseTensorBatch ExecuteTPUEmbeddingPartitioner GetMinibatchSplitsWithPhysicalReplica
        GetMinibatchesInCsrWithPhysicalReplica IsTPUEmbeddingInitialized LoadAllTPUEmbeddingParameters
        LoadTPUEmbeddingADAMParameters LoadTPUEmbeddingAdadeltaParameters LoadTPUEmbeddingAdagradMomentumParameters
        LoadTPUEmbeddingAdagradParameters LoadTPUEmbeddingCenteredRMSPropParameters LoadTPUEmbeddingFTRLParameters
        LoadTPUEmbeddingFrequencyEstimatorParameters LoadTPUEmbeddingMDLAdagradLightParameters
        LoadTPUEmbeddingMomentumParameters LoadTPUEmbeddingProximalAdagradParameters
        LoadTPUEmbeddingProximalYogiParameters LoadTPUEmbeddingRMSPropParameters
        LoadTPUEmbeddingStochasticGradientDescentParameters RecvTPUEmbeddingActivations
        RetrieveAllTPUEmbeddingParameters RetrieveTPUEmbeddingADAMParameters RetrieveTPUEmbeddingAdadeltaParameters
        RetrieveTPUEmbeddingAdagradMomentumParameters RetrieveTPUEmbeddingAdagradParameters
        RetrieveTPUEmbeddingCenteredRMSPropParameters RetrieveTPUEmbeddingFTRLParameters
        RetrieveTPUEmbeddingFrequencyEstimatorParameters RetrieveTPUEmbeddingMDLAdagradLightParameters
        RetrieveTPUEmbeddingMomentumParameters RetrieveTPUEmbeddingProximalAdagradParameters
        RetrieveTPUEmbeddingProximalYogiParameters RetrieveTPUEmbeddingRMSPropParameters
        RetrieveTPUEmbeddingStochasticGradientDescentParameters SendTPUEmbeddingGradients XlaRecvTPUEmbeddingActivations
        XlaRecvTPUEmbeddingActivationsV2 XlaRecvTPUEmbeddingDeduplicationData XlaRecvTPUEmbeddingDeduplicationDataV2
        XlaSendTPUEmbeddingGradients XlaSendTPUEmbeddingGradientsV2 XlaSparseCoreAdagrad XlaSparseCoreAdagradMomentum
        XlaSparseCoreAdam XlaSparseCoreFtrl XlaSparseCoreSgd
    """,
    "marks that compilers and runtimes put into graphs; stateful so that nothing folds them away": """
        GuaranteeConst RiscWhile TPUAnnotateTensorsWithDynamicShape TPUCopyWithDynamicShape TPUDummyInput XlaDequantize
        _Arg _DeviceArg _DeviceRetval _ParallelConcatStart _ParallelConcatUpdate _Retval _ScopedAllocator
        _ScopedAllocatorConcat _ScopedAllocatorSplit _XlaCompileMlirPlaceholderProgramKey
    """,
}
