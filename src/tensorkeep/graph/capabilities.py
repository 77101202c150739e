"""What TensorFlow's ops do besides computing: the one table, for all of its ops.

An op without an entry only computes: its results depend on its inputs, on the state of the graph and on chance. A few
ops do more only if an attribute says so; `effects_of_node` looks at these. An op that is not TensorFlow's is code from
elsewhere, about which nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from functools import cache
from typing import Final

from tensorkeep.graph.known_ops import KNOWN_OPS
from tensorkeep.graph.op_families import OP_FAMILIES
from tensorkeep.proto.messages import NodeDef


class Effect(Enum):
    """A class of things that an op can do besides computing."""

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


_OPS: Final[dict[Effect, str]] = {
    Effect.READS_FILES: """
        ReadFile MatchingFiles MatchingFilesDataset ExperimentalMatchingFilesDataset ImmutableConst Skipgram
        Restore RestoreSlice RestoreV2 DTensorRestoreV2 LoadAndRemapMatrix GenerateVocabRemapping
        KvResourceImportV2 KvResourceImportV3 KvResourceIncrImport IncrRestore KvRebaseOnDelta
        InitializeTableFromTextFile InitializeTableFromTextFileV2
        TFRecordReader TFRecordReaderV2 TextLineReader TextLineReaderV2 WholeFileReader WholeFileReaderV2
        FixedLengthRecordReader FixedLengthRecordReaderV2 LMDBReader RecordInput
        TextLineDataset TFRecordDataset TFRecordDatasetV2 FixedLengthRecordDataset FixedLengthRecordDatasetV2
        CSVDataset CSVDatasetV2 ExperimentalCSVDataset LMDBDataset ExperimentalLMDBDataset SqlDataset
        ExperimentalSqlDataset LoadDataset CacheDataset CacheDatasetV2 SnapshotDataset SnapshotDatasetV2
        SnapshotDatasetReader SnapshotNestedDatasetReader SnapshotChunkDataset ListSnapshotChunksDataset
    """,
    Effect.WRITES_FILES: """
        WriteFile Save SaveSlices SaveV2 MergeV2Checkpoints DistributedSave DumpTensor CalibrationStatisticsSaver
        CreateSummaryFileWriter CreateSummaryDbWriter WriteSummary WriteScalarSummary WriteHistogramSummary
        WriteImageSummary WriteAudioSummary WriteGraphSummary WriteRawProtoSummary ImportEvent
        StatsAggregatorSetSummaryWriter SaveDataset SaveDatasetV2 DatasetToTFRecord ExperimentalDatasetToTFRecord
        CacheDataset CacheDatasetV2 SnapshotDataset SnapshotDatasetV2 SaveV3 KvIncrSave IncrSave
    """,
    Effect.USES_NETWORK: """
        RpcCall RpcCheckStatus RpcClient RpcGetValue RpcServer RpcServerRegister RpcServerStart
        DeleteRpcFutureResource RemoteCall Send Recv _Send _Recv _HostSend _HostRecv
        DataServiceDataset DataServiceDatasetV2 DataServiceDatasetV3 DataServiceDatasetV4 RegisterDataset
        RegisterDatasetV2 SqlDataset ExperimentalSqlDataset
        CollectiveAllToAllV2 CollectiveAllToAllV3 CollectiveAssignGroupV2 CollectiveBcastRecv CollectiveBcastRecvV2
        CollectiveBcastSend CollectiveBcastSendV2 CollectiveGather CollectiveGatherV2 CollectiveInitializeCommunicator
        CollectivePermute CollectiveReduce CollectiveReduceScatterV2 CollectiveReduceV2 CollectiveReduceV3
        ConnectTPUEmbeddingHosts
    """,
    Effect.CALLS_PYTHON: "PyFunc PyFuncStateless EagerPyFunc",
    Effect.PRINTS: "Print PrintV2",
    Effect.CONTROLS_PROCESS: """
        Abort FileSystemSetConfiguration WorkerHeartbeat ConfigureDistributedTPU ConfigureAndInitializeGlobalTPU
        ShutdownDistributedTPU ShutdownTPUSystem _ConfigureDistributedTPU _ShutdownDistributedTPU
        _WaitForDistributedTPU _InitializeHostForDistributedTPU _DisconnectHostFromDistributedTPUSystem
    """,
    Effect.RUNS_UNKNOWN_CODE: """
        DatasetFromGraph XlaCallModule XlaCustomCall XlaCustomCallV2 XlaHostCompute _XlaHostComputeMlir
        MlirPassthroughOp TPUCompile _TPUCompileMlir TPUExecute TPUExecuteAndUpdateVariables
    """,
}
_NOTHING: Final[frozenset[Effect]] = frozenset()


@cache
def _table() -> dict[str, frozenset[Effect]]:
    found: dict[str, set[Effect]] = {}
    for effect, names in _OPS.items():
        for name in names.split():
            found.setdefault(name, set()).add(effect)
    return {name: frozenset(effects) for name, effects in found.items()}


@cache
def tensorflow_ops() -> frozenset[str]:
    """The names of all of TensorFlow's ops."""
    known = (line.partition("(")[0] for line in KNOWN_OPS.splitlines() if line)
    return frozenset(known).union(*(names.split() for names in OP_FAMILIES.values()))


def effects_of_op(name: str) -> frozenset[Effect]:
    """What an op may do, whatever its attributes; of an op that is not TensorFlow's, nobody knows."""
    found = _table().get(name)
    if found is not None:
        return found
    return _NOTHING if name in tensorflow_ops() else frozenset((Effect.RUNS_UNKNOWN_CODE,))


def effects_of_node(node: NodeDef) -> frozenset[Effect]:
    """What a node may do, with its attributes."""
    more = _BY_ATTRIBUTE.get(node.op)
    found = effects_of_op(node.op)
    return found if more is None else found | frozenset(more(node))


# ------------------------------------------------------------------------------------------------------ by attributes


def _strings(node: NodeDef, attribute: str) -> list[str]:
    if attribute not in node.attr:
        return []
    value = node.attr[attribute]
    return [item.decode("utf-8", "replace") for item in (*value.list.s, value.s) if item]


def _destination(url: str) -> Effect | None:
    """What sending something to an address is."""
    if "grpc://" in url or "http://" in url or "https://" in url:
        return Effect.USES_NETWORK
    return None if url.startswith("memcbk://") else Effect.WRITES_FILES


def _debugged(node: NodeDef) -> Iterator[Effect]:
    """Ops of the debugger send what they see to addresses."""
    urls = _strings(node, "debug_urls")
    for specification in _strings(node, "debug_ops_spec"):
        urls += specification.split(";")[1:2]
    yield from (effect for url in urls if (effect := _destination(url)) is not None)


def _printed(node: NodeDef) -> Iterator[Effect]:
    if any(stream.startswith("file:") for stream in _strings(node, "output_stream")):
        yield Effect.WRITES_FILES


def _described(node: NodeDef) -> Iterator[Effect]:
    """Ops that parse messages take the description of these from a file, unless it is theirs or in the attribute."""
    if any(not source.startswith(("local://", "bytes://")) for source in _strings(node, "descriptor_source")):
        yield Effect.READS_FILES


def _sampled(node: NodeDef) -> Iterator[Effect]:
    if _strings(node, "vocab_file"):
        yield Effect.READS_FILES


STORED_IN_FILES: Final = frozenset((4, 5, 12, 14, 101, 102))
"""The kinds of storage of an embedding variable that keep rows in a file."""


def _stored(node: NodeDef) -> Iterator[Effect]:
    """An embedding variable may keep rows in a file of its own, in a folder that the attributes name."""
    if "storage_type" in node.attr and node.attr["storage_type"].i in STORED_IN_FILES:
        yield Effect.WRITES_FILES


_BY_ATTRIBUTE: Final[dict[str, Callable[[NodeDef], Iterator[Effect]]]] = {
    **dict.fromkeys(("Copy", "CopyHost"), _debugged),
    **dict.fromkeys(("DebugIdentity", "DebugIdentityV2", "DebugIdentityV3", "DebugNanCount"), _debugged),
    **dict.fromkeys(("DebugNumericSummary", "DebugNumericSummaryV2"), _debugged),
    "PrintV2": _printed,
    **dict.fromkeys(("DecodeProtoV2", "EncodeProto"), _described),
    "FixedUnigramCandidateSampler": _sampled,
    **dict.fromkeys(("InitializeKvVariableOp", "InitializeKvVariableV2Op", "KvResourceImportV2"), _stored),
}


__all__ = ["STORED_IN_FILES", "Effect", "effects_of_node", "effects_of_op", "tensorflow_ops"]
