"""Ops of embedding variables: they keep tables behind handles, which tests in tests/ops and tests/variables show."""

from __future__ import annotations

_OPS = "tests/ops/embedding/test_lookups.py"
_UPDATES = "tests/ops/embedding/test_updates.py"
_FILES = "tests/ops/embedding/test_checkpoints.py"
_GROUPS = "tests/ops/embedding/test_group_lookups.py"
_RECORDING = "tests/ops/embedding/test_sparse_recording.py"
_DELTAS = "tests/tf1/training/test_incremental.py"

RULES = ("GradientDescent", "Adagrad", "AdagradDecay", "Adam", "AdamW", "AdamAsync", "Ftrl", "FtrlV2")

ELSEWHERE = {
    "KvVarHandleOp": _OPS,
    "InitializeKvVariableOp": _OPS,
    "InitializeKvVariableV2Op": _OPS,
    "KvVarIsInitializedOp": _OPS,
    "KvResourceInitCacheStrategyOp": _OPS,
    "DestroyKvResourceOp": _OPS,
    "KvResourceGather": _OPS,
    "KvResourceGatherV1": _OPS,
    "KvVariableShape": _OPS,
    "EVGetFrequency": _OPS,
    "EVGetVersion": _OPS,
    "KvResourceLookupTier": _OPS,
    "KvResourceExport": _OPS,
    **{f"KvResourceSparseApply{rule}{form}": _UPDATES for rule in RULES for form in ("", "WithCounts")},
    "KvResourceLookupResource": _FILES,
    "SaveV3": _FILES,
    "KvResourceImportV2": _FILES,
    "KvResourceImportV3": _FILES,
    "KvResourceIncrImport": _DELTAS,
    "KvRecordTouched": _DELTAS,
    "KvBeginDelta": _DELTAS,
    "KvForgetTouched": _DELTAS,
    "KvIncrSave": _DELTAS,
    "RecordSparseIndices": _DELTAS,
    "ActivateSparseRecorder": _RECORDING,
    "IncrSave": _RECORDING,
    "IncrRestore": _RECORDING,
    "CollectSparseIndices": _RECORDING,
    "KvRebaseOnDelta": _DELTAS,
    "GroupEmbeddingVarLookup": _GROUPS,
    "GroupEmbeddingVarLookupDense": _GROUPS,
    "GroupEmbeddingVariableLookupGrad": _GROUPS,
    "GroupVariableLookup": _GROUPS,
    "GroupVariableLookupDense": _GROUPS,
    "GroupVariableLookupGrad": _GROUPS,
}
