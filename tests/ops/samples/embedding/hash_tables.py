"""Ops of DeepRec's hash tables: they keep tables behind handles, which tests in tests/ops and tests/v1 show."""

from __future__ import annotations

_OPS = "tests/ops/embedding/test_hash_tables.py"
_PROGRAMS = "tests/v1/test_hash_tables.py"

RULES = (
    "GradientDescent",
    "ProximalGradientDescent",
    "Adadelta",
    "Adagrad",
    "AdagradDA",
    "ProximalAdagrad",
    "Ftrl",
    "FtrlV2",
    "Momentum",
    "Adam",
    "RMSProp",
    "CenteredRMSProp",
)

ELSEWHERE = {
    **dict.fromkeys(
        (
            "HashTableOp",
            "HashTableInitializeOp",
            "HashTableLookupOp",
            "HashTableLookupWithAdmitOp",
            "HashTableSizeOp",
            "HashTableSnapshotOp",
            "TensibleVariableOp",
            "TensibleVariableInitializeOp",
            "TensibleVariableIsInitializedOp",
            "TensibleVariableGather",
            "BloomFilterAdmitStrategyOp",
            "BloomFilterInitializeOp",
            "BloomFilterAdmitOp",
            "ReadOnlyHashTableAdmitStrategyOp",
            "RestoreHashTable",
            "RestoreBloomFilter",
            *(f"TensibleVariableApply{rule}" for rule in RULES),
            *(f"TensibleVariableScatter{change}" for change in ("Add", "Sub", "Mul", "Div", "Update")),
        ),
        _PROGRAMS,
    ),
    **dict.fromkeys(
        (
            "HashTableFilterOp",
            "HashSlice",
            "CopyTensor",
            "BloomFilterIsInitializedOp",
            "BlackListHashTableAdmitStrategyOp",
            "InitBlackList",
        ),
        _OPS,
    ),
}
