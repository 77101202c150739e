"""The ops of TensorFlow and DeepRec that do more than compute, by what they do, each written here by hand.

A group says what its ops may do and why. An op stands in one group, once; what it does is what TensorFlow's kernel of
it can be made to do by inputs and attributes of a stranger's choice, in any version that registers it. Where an op
names the file or the address and another op uses it, it is the naming op that stands here: a reader and not
`ReaderRead`, a dataset and not `IteratorGetNext`. The writers of summaries stand here all.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final


class Capability(Enum):
    """A class of things that an op can do besides computing. A session may refuse it."""

    READS_FILES = "reads files"
    WRITES_FILES = "writes files"
    USES_NETWORK = "uses the network"
    CALLS_PYTHON = "calls Python functions"
    PRINTS = "prints"
    CONTROLS_PROCESS = "controls the process"
    RUNS_UNKNOWN_CODE = "runs code that nobody can see"

    @property
    def identifier(self) -> str:
        """The class as one word, for flags and reports: reads-files."""
        return self.name.lower().replace("_", "-")


@dataclass(frozen=True)
class EffectGroup:
    """Ops that do the same things besides computing, and how they come to do it."""

    capabilities: tuple[Capability, ...]
    reason: str
    names: str


_READS: Final = (Capability.READS_FILES,)
_WRITES: Final = (Capability.WRITES_FILES,)
_BOTH: Final = (Capability.READS_FILES, Capability.WRITES_FILES)
_NETWORK: Final = (Capability.USES_NETWORK,)
_PROCESS: Final = (Capability.CONTROLS_PROCESS,)
_UNKNOWN: Final = (Capability.RUNS_UNKNOWN_CODE,)

EFFECT_GROUPS: Final[tuple[EffectGroup, ...]] = (
    # ------------------------------------------------------------------------------------------------------ files
    EffectGroup(
        _READS,
        "give the content or the names of files whose path or pattern is an input",
        """
        ExperimentalMatchingFilesDataset MatchingFiles MatchingFilesDataset ReadFile
        """,
    ),
    EffectGroup(
        _READS,
        "map or read a file whose path is an attribute: memory_region_name, filename, file_pattern",
        """
        ImmutableConst RecordInput Skipgram
        """,
    ),
    EffectGroup(
        _READS,
        "restore from a checkpoint whose prefix is an input",
        """
        DTensorRestoreV2 IncrRestore KvRebaseOnDelta KvResourceImportV2 KvResourceImportV3 KvResourceIncrImport
        LoadAndRemapMatrix Restore RestoreBloomFilter RestoreHashTable RestoreSlice RestoreV2
        """,
    ),
    EffectGroup(
        _READS,
        "read a vocabulary, or a list of keys, whose path is an input",
        """
        GenerateVocabRemapping InitBlackList InitializeTableFromTextFile InitializeTableFromTextFileV2
        """,
    ),
    EffectGroup(
        _READS,
        "make readers, which open the files that a queue names",
        """
        FixedLengthRecordReader FixedLengthRecordReaderV2 LMDBReader TFRecordReader TFRecordReaderV2 TextLineReader
        TextLineReaderV2 WholeFileReader WholeFileReaderV2
        """,
    ),
    EffectGroup(
        _READS,
        "make datasets of the records of files",
        """
        CSVDataset CSVDatasetV2 ExperimentalCSVDataset ExperimentalLMDBDataset FixedLengthRecordDataset
        FixedLengthRecordDatasetV2 LMDBDataset ListSnapshotChunksDataset LoadDataset ParquetTabularDatasetV1
        SnapshotChunkDataset SnapshotDatasetReader SnapshotNestedDatasetReader TFRecordDataset TFRecordDatasetV2
        TextLineDataset
        """,
    ),
    EffectGroup(
        _BOTH,
        "keep a dataset in files and read it from there; a cache without a file name keeps it in memory",
        """
        CacheDataset CacheDatasetV2 SnapshotDataset SnapshotDatasetV2
        """,
    ),
    EffectGroup(
        _BOTH,
        "moves the files of checkpoints to another name, and deletes the folders that they were in",
        """
        MergeV2Checkpoints
        """,
    ),
    EffectGroup(
        _WRITES,
        "write a checkpoint whose prefix is an input",
        """
        IncrSave KvIncrSave Save SaveSlices SaveV2 SaveV3
        """,
    ),
    EffectGroup(
        _WRITES,
        "write a file or the elements of a dataset to a path that is an input or an attribute",
        """
        CalibrationStatisticsSaver DatasetToTFRecord DumpTensor ExperimentalDatasetToTFRecord SaveDataset SaveDatasetV2
        WriteFile
        """,
    ),
    EffectGroup(
        _WRITES,
        "write events to a folder or to a file of a database, make such a writer, or give statistics to one",
        """
        CloseSummaryWriter CreateSummaryDbWriter CreateSummaryFileWriter FlushSummaryWriter ImportEvent
        StatsAggregatorSetSummaryWriter WriteAudioSummary WriteGraphSummary WriteHistogramSummary WriteImageSummary
        WriteRawProtoSummary WriteScalarSummary WriteSummary
        """,
    ),
    # ---------------------------------------------------------------------------------------------------- network
    EffectGroup(
        _NETWORK,
        "call or serve another process at an address that is an input",
        """
        DeleteRpcFutureResource RemoteCall RpcCall RpcCheckStatus RpcClient RpcGetValue RpcServer RpcServerRegister
        RpcServerStart
        """,
    ),
    EffectGroup(
        _NETWORK,
        "have a data service at an address that is an input make the elements of a dataset",
        """
        DataServiceDataset DataServiceDatasetV2 DataServiceDatasetV3 DataServiceDatasetV4 RegisterDataset
        RegisterDatasetV2
        """,
    ),
    EffectGroup(
        (Capability.USES_NETWORK, Capability.WRITES_FILES),
        "has a data service at an address write a dataset to a folder; both are inputs",
        """
        DistributedSave
        """,
    ),
    EffectGroup(
        (Capability.READS_FILES, Capability.USES_NETWORK),
        "ask a database, whose driver and address are inputs",
        """
        ExperimentalSqlDataset SqlDataset
        """,
    ),
    EffectGroup(
        _NETWORK,
        "hand tensors to another device or host by a name that they have agreed on",
        """
        Recv Send XlaRecv XlaRecvFromHost XlaSend XlaSendToHost _HostRecv _HostSend _Recv _Send _XlaRecvAtHost
        _XlaRecvAtHostV2 _XlaSendFromHost _XlaSendFromHostV2
        """,
    ),
    EffectGroup(
        _NETWORK,
        "collective ops: exchange tensors with all members of a group of devices, which may be other hosts",
        """
        AllToAll CollectiveAllToAllV2 CollectiveAllToAllV3 CollectiveAssignGroupV2 CollectiveBcastRecv
        CollectiveBcastRecvV2 CollectiveBcastSend CollectiveBcastSendV2 CollectiveGather CollectiveGatherV2
        CollectiveInitializeCommunicator CollectivePermute CollectiveReduce CollectiveReduceScatterV2 CollectiveReduceV2
        CollectiveReduceV3 CrossReplicaSum DTensorAllGather DTensorAllReduce DTensorAllScatter DTensorAllToAll
        DTensorReduceScatter NcclAllReduce NcclBroadcast NcclReduce XlaAllReduce XlaReduceScatter _NcclBroadcastRecv
        _NcclBroadcastSend _NcclReduceRecv _NcclReduceSend
        """,
    ),
    EffectGroup(
        _NETWORK,
        "spread a tensor over the devices of a mesh, which may be other hosts",
        """
        CopyToMesh CopyToMeshGrad Relayout RelayoutLike
        """,
    ),
    EffectGroup(
        _NETWORK,
        "connect the hosts of TPUs with each other, or tell a service about a training",
        """
        ConnectTPUEmbeddingHosts StoreMinibatchStatisticsInFdo
        """,
    ),
    # -------------------------------------------------------------------------------------- Python, console, process
    EffectGroup(
        (Capability.CALLS_PYTHON,),
        "call a Python function that the process has registered under a token",
        """
        EagerPyFunc PyFunc PyFuncStateless
        """,
    ),
    EffectGroup(
        (Capability.PRINTS,),
        "write to the console or the log; PrintV2 also to a file that an attribute names, see `capabilities.py`",
        """
        Print PrintV2
        """,
    ),
    EffectGroup(
        _PROCESS,
        "end the process, or have it end later, when a coordinator says so",
        """
        Abort WorkerHeartbeat
        """,
    ),
    EffectGroup(
        _PROCESS,
        "changes how the whole process reaches a kind of file system, credentials among it",
        """
        FileSystemSetConfiguration
        """,
    ),
    EffectGroup(
        _PROCESS,
        "start, stop and set up the TPUs of the machine for all that runs on it",
        """
        ConfigureAndInitializeGlobalTPU ConfigureDistributedTPU ConfigureTPUEmbedding ConfigureTPUEmbeddingHost
        ConfigureTPUEmbeddingMemory DTensorSetGlobalTPUArray FinalizeTPUEmbedding FinalizeTPUEmbeddingV2
        ShutdownDistributedTPU ShutdownTPUSystem UpdateTaskIdAndGlobalCoreArray _ConfigureDistributedTPU
        _DisconnectHostFromDistributedTPUSystem _InitializeHostForDistributedTPU _SetGlobalTPUArray
        _ShutdownDistributedTPU _WaitForDistributedTPU
        """,
    ),
    # ------------------------------------------------------------------------------------------------ unknown code
    EffectGroup(
        _UNKNOWN,
        "run a graph that is the value of a tensor, so that nobody sees its ops before; in TensorFlow 1 "
        "DeserializeIterator finds one in the state of the iterator",
        """
        DatasetFromGraph DeserializeIterator
        """,
    ),
    EffectGroup(
        _UNKNOWN,
        "run a module of another language that is an attribute (StableHLO, MLIR), or a library's function by its name",
        """
        MlirPassthroughOp TPUCompile XlaCallModule XlaCustomCall XlaCustomCallV2 XlaHostCompute _TPUCompileMlir
        _XlaHostComputeMlir
        """,
    ),
    EffectGroup(
        _UNKNOWN,
        "run a compiled program that the process keeps under a key, which is an input",
        """
        TPUExecute TPUExecuteAndUpdateVariables TPUReshardVariables _XlaRun
        """,
    ),
)
