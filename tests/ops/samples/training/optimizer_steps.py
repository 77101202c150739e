"""The ops of optimizers change variables, which a node by itself has not got."""

from __future__ import annotations

from tensorkeep.graph.registry.opspec import registered_ops
from tensorkeep.ops.training import optimizer_steps

assert optimizer_steps

ELSEWHERE = {
    name: "tests/interop/test_training_ops.py"
    for name in registered_ops()
    if name.startswith(("Apply", "SparseApply", "ResourceApply", "ResourceSparseApply"))
}
