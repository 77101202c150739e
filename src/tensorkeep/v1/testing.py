"""`tf.test`: test cases with sessions and comparisons of arrays, gradients by finite differences, benchmarks."""

from __future__ import annotations

import time
import unittest
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, TypeAlias
from unittest import mock as mock

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.errors import FailedPreconditionError, UnimplementedError, WrongTypeError
from tensorkeep.graph.arguments import Fetches, SessionLike
from tensorkeep.graph.graph import Tensor
from tensorkeep.io.files.filesystem import PathLike, path_text
from tensorkeep.proto.messages import GraphDef, NodeDef
from tensorkeep.proto.session_config import ConfigProto
from tensorkeep.tf1.training.gradient_checks import gradients_both_ways
from tensorkeep.v1 import flags
from tensorkeep.v1.defaults import get_default_session
from tensorkeep.v1.test_cases import TestCase as TestCase
from tensorkeep.v1.test_cases import get_temp_dir as get_temp_dir

Sizes: TypeAlias = Sequence[int]


def main(argv: list[str] | None = None) -> NoReturn:
    """Runs the tests of the program, and ends it with what came of them."""
    rest = flags.FLAGS(argv or flags.process_arguments(), known_only=True)
    unittest.main(argv=list(rest))
    raise SystemExit


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: object = None) -> bool:
    """Never: everything runs on processors."""
    return False


def is_built_with_cuda() -> bool:
    """Never: everything runs on processors."""
    return False


is_built_with_rocm = is_built_with_gpu_support = is_built_with_xla = is_built_with_cuda


def gpu_device_name() -> str:
    """Empty: there is no accelerator."""
    return ""


def test_src_dir_path(relative_path: PathLike) -> NoReturn:
    """Raises: TensorFlow's own sources are not here."""
    raise UnimplementedError(f'"{path_text(relative_path)}" is a path in TensorFlow\'s sources, which are not here')


def assert_equal_graph_def(
    actual: GraphDef, expected: GraphDef, checkpoint_v2: bool = False, hash_table_shared_name: bool = False
) -> None:
    """Raises unless two graphs have the same nodes, in any order. The flags leave out names that are made by chance."""
    for graph_def in (actual, expected):
        if not isinstance(graph_def, GraphDef):
            raise WrongTypeError(f"Expected a GraphDef, got {type(graph_def).__name__}")
    ours, theirs = (_nodes_without_chance(given, checkpoint_v2, hash_table_shared_name) for given in (actual, expected))
    different = sorted(name for name in {*ours, *theirs} if ours.get(name) != theirs.get(name))
    if different:
        raise AssertionError(
            f"the graphs differ in {len(different)} nodes: {', '.join(different[:10])}\n"
            f"first is\n{ours.get(different[0])}\nexpected was\n{theirs.get(different[0])}"
        )


def _nodes_without_chance(graph_def: GraphDef, checkpoint_v2: bool, hash_table_shared_name: bool) -> dict[str, NodeDef]:
    copied = GraphDef()
    copied.CopyFrom(graph_def)
    for node in copied.node:
        if checkpoint_v2 and node.op == "Const" and "_temp_" in str(node.attr["value"].tensor.string_val):
            node.attr["value"].tensor.string_val[:] = [b""]
        if hash_table_shared_name and node.op in ("HashTable", "HashTableV2"):
            node.attr["shared_name"].s = b""
    return {node.name: node for node in copied.node}


def benchmark_config() -> ConfigProto:
    """Settings of a session that is measured."""
    return ConfigProto()


def create_local_cluster(num_workers: int, num_ps: int, protocol: str = "grpc", **configs: object) -> NoReturn:
    """Raises: sessions run in one process."""
    raise UnimplementedError(
        "there are no clusters of TensorFlow's servers here: tensorkeep.cluster trains in several processes"
    )


def compute_gradient(
    x: Tensor | list[Tensor],
    x_shape: Sizes | list[Sizes],
    y: Tensor,
    y_shape: Sizes,
    x_init_value: Array | Sequence[Array] | None = None,
    delta: float = 1e-3,
    init_targets: Fetches = None,
    extra_feed_dict: Mapping[Any, Any] | None = None,
) -> tuple[Array, Array] | list[tuple[Array, Array]]:
    """How each element of `y` changes with each of `x`, by the gradients of the graph and by finite differences."""
    session = get_default_session()
    if session is None:
        raise FailedPreconditionError("gradients are checked in a session: `with tf.Session():`")
    for target in [init_targets] if init_targets is not None else []:
        session.run(target)
    told: Any = [x_init_value] if not isinstance(x, list) and x_init_value is not None else x_init_value
    inputs: list[Any] = list(zip(x, x_shape, strict=True)) if isinstance(x, list) else [(x, x_shape)]
    found = gradients_both_ways(session, inputs, (y, y_shape), told, delta, extra_feed_dict or {})
    return found if isinstance(x, list) else found[0]


def compute_gradient_error(
    x: Tensor | list[Tensor],
    x_shape: Sizes | list[Sizes],
    y: Tensor,
    y_shape: Sizes,
    x_init_value: Array | Sequence[Array] | None = None,
    delta: float = 1e-3,
    init_targets: Fetches = None,
    extra_feed_dict: Mapping[Any, Any] | None = None,
) -> float:
    """The largest difference between the gradients of the graph and finite differences."""
    found = compute_gradient(x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict)
    pairs = [found] if isinstance(found, tuple) else found
    return float(max((np.fabs(mine - other).max(initial=0) for mine, other in pairs), default=0.0))


class StubOutForTesting:
    """Replaces attributes of objects, and puts them back."""

    def __init__(self) -> None:
        self._replaced: list[tuple[Any, str, Any]] = []

    def Set(self, parent: object, child_name: str, new_child: object) -> None:  # noqa: N802 - as TensorFlow calls it
        self._replaced.append((parent, child_name, getattr(parent, child_name)))
        setattr(parent, child_name, new_child)

    SmartSet = Set

    def UnsetAll(self) -> None:  # noqa: N802 - as TensorFlow calls it
        while self._replaced:
            setattr(*self._replaced.pop())

    SmartUnsetAll = CleanUp = UnsetAll


class Benchmark:
    """What runs and reports benchmarks; subclass it, with methods `benchmark…`."""

    def report_benchmark(self, **measured: object) -> None:
        """Keeps what a benchmark has measured."""
        self.reported: list[dict[str, Any]] = [*getattr(self, "reported", []), measured]

    def run_op_benchmark(
        self,
        sess: SessionLike,
        op_or_tensor: Fetches,
        feed_dict: Mapping[Any, Any] | None = None,
        burn_iters: int = 2,
        min_iters: int = 10,
        **others: object,
    ) -> dict[str, Any]:
        """Runs something several times; reports, and gives, how long it takes."""
        for _ in range(burn_iters):
            sess.run(op_or_tensor, feed_dict)
        times = [_time_call(lambda: sess.run(op_or_tensor, feed_dict)) for _ in range(min_iters)]
        measured = {"iters": min_iters, "wall_time": float(np.median(times)), "name": others.get("name")}
        self.report_benchmark(**measured)
        return measured


def _time_call(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun
