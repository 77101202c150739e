"""Boosted trees: no TensorFlow of today has kernels for them, so a test of their own shows what they do."""

from __future__ import annotations

ELSEWHERE = dict.fromkeys(
    (
        "BoostedTreesBucketize",
        "BoostedTreesCreateEnsemble",
        "BoostedTreesCreateQuantileStreamResource",
        "BoostedTreesDeserializeEnsemble",
        "BoostedTreesEnsembleResourceHandleOp",
        "BoostedTreesExampleDebugOutputs",
        "BoostedTreesGetEnsembleStates",
        "BoostedTreesPredict",
        "BoostedTreesQuantileStreamResourceDeserialize",
        "BoostedTreesQuantileStreamResourceGetBucketBoundaries",
        "BoostedTreesQuantileStreamResourceHandleOp",
        "BoostedTreesSerializeEnsemble",
        "IsBoostedTreesEnsembleInitialized",
        "IsBoostedTreesQuantileStreamResourceInitialized",
    ),
    "tests/ops/training/test_boosted_trees.py",
)
