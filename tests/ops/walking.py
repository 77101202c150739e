"""A sample as a graph of one node, and results compared."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import numpy as np

import tensorkeep.tf1.functions
import tests.ops.samples.control.memory
import tests.ops.samples.data.deeprec
import tests.ops.samples.embedding.hash_tables
import tests.ops.samples.embedding.lookups
import tests.ops.samples.images.addons
from tensorkeep.dtypes import DType, dtype_of_array
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.ops.every import load_op
from tensorkeep.tf1.functions.constants import constant
from tests.ops.sample import Sample

_ELSEWHERE = (
    tests.ops.samples.control.memory,
    tests.ops.samples.data.deeprec,
    tests.ops.samples.images.addons,
    tests.ops.samples.embedding.lookups,
    tests.ops.samples.embedding.hash_tables,
)
NOT_IN_TENSORFLOW = frozenset(name for family in _ELSEWHERE for name in family.ELSEWHERE)
"""Ops of DeepRec, of add-ons and of contrib; TensorFlow cannot say whether they are right, so tests of their own do."""

TOLERANCES = {
    "float16": 4e-3,
    "bfloat16": 3e-2,
    "float32": 2e-5,
    "complex64": 2e-5,
    "float64": 1e-9,
    "complex128": 1e-9,
}


def import_all_ops() -> None:
    """Registers every op, and the gradients that are written with functions: they exist once their file is imported."""
    load_op(None)
    for module in pkgutil.walk_packages(tensorkeep.tf1.functions.__path__, f"{tensorkeep.tf1.functions.__name__}."):
        if not module.name.rpartition(".")[2].startswith("_"):
            importlib.import_module(module.name)


class OneNode:
    """A graph in which placeholders feed one operation."""

    def __init__(self, name: str, sample: Sample, shapes: str = "known") -> None:
        """`shapes` says what the placeholders know of theirs: "known", "rank" (unknown sizes), or "nothing"."""
        self.graph = Graph()
        self.feeds: dict[Tensor, Any] = {}
        self.sources: list[Tensor] = []
        with building(self.graph):
            arguments = [self._argument(i, item, sample, shapes) for i, item in enumerate(sample.inputs)]
            results = get_op(name)(*arguments, name="node", **sample.attrs)
        self.node = self.graph.operation("node")
        self.outputs = self.node.outputs
        self.results = results

    def _argument(self, position: int, item: Any, sample: Sample, shapes: str) -> Any:
        if isinstance(item, list):
            return [
                self._tensor(f"input_{position}_{i}", part, position, sample, shapes) for i, part in enumerate(item)
            ]
        return self._tensor(f"input_{position}", item, position, sample, shapes)

    def _tensor(self, name: str, value: Any, position: int, sample: Sample, shapes: str) -> Tensor:
        array = np.asarray(value)
        dtype = dtype_of_array(array.dtype)
        if dtype.quantized:
            array = array[dtype.name]
        if position in sample.constant:
            return constant(array, dtype, name=name)
        shape: Any = {"known": array.shape, "rank": [None] * array.ndim, "nothing": None}[shapes]
        tensor: Tensor = placeholder(dtype=dtype, shape=shape, name=name)
        self.feeds[tensor] = array
        self.sources.append(tensor)
        return tensor


def assert_close(ours: Any, theirs: Any, dtype: DType, tolerance: float | None, what: str) -> None:
    """Equal in type, shape and values; of numbers with a fraction, within the tolerance of their type."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    if dtype.is_object:
        assert ours.shape == theirs.shape, f"{what}: shape {ours.shape}, TensorFlow has {theirs.shape}"
        assert ours.tolist() == theirs.tolist(), what
        return
    assert ours.dtype == dtype.array_dtype, f"{what}: a {ours.dtype} array for {dtype}"
    assert ours.shape == theirs.shape, f"{what}: shape {ours.shape}, TensorFlow has {theirs.shape}"
    allowed = TOLERANCES.get(dtype.name, 0.0) if tolerance is None else tolerance
    if not (dtype.is_floating or dtype.is_complex):
        np.testing.assert_array_equal(ours, theirs, err_msg=what)
        return
    wide = np.complex128 if dtype.is_complex else np.float64
    np.testing.assert_allclose(
        ours.astype(wide), theirs.astype(wide), rtol=allowed, atol=allowed, equal_nan=True, err_msg=what
    )
