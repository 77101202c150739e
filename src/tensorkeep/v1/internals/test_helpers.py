"""Decorators and functions of `test_util` and `googletest` besides `tf.test`."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any
from unittest import skip, skipIf, skipUnless

import numpy as np

from tensorkeep.proto.messages import GraphDef
from tensorkeep.v1.internals.decorators import unchanged_function
from tensorkeep.v1.testing import StubOutForTesting as StubOutForTesting
from tensorkeep.v1.testing import TestCase, is_gpu_available

TensorFlowTestCase = TestCase
__all__ = ["skip", "skipIf", "skipUnless"]


def run_in_graph_and_eager_modes(func: Callable[..., Any] | None = None, **kwargs: object) -> Callable[..., Any]:
    """Decorates a test, which runs once: in a graph."""
    return unchanged_function if func is None else func


run_all_in_graph_and_eager_modes = run_deprecated_v1 = run_v1_only = run_in_graph_and_eager_modes
run_all_without_tensor_float_32 = enable_control_flow_v2 = assert_no_new_pyobjects_executing_eagerly = (
    unchanged_function
)


def gpu_device_name() -> str:
    """Empty: there is no accelerator."""
    return ""


def IsMklEnabled() -> bool:  # noqa: N802 - as TensorFlow calls it
    """Whether TensorFlow was built with MKL: never."""
    return False


def set_seed(seed: int) -> None:
    """Has the random numbers of Python and NumPy begin again."""
    random.seed(seed)
    np.random.seed(seed)


def assert_equal_graph_def(actual: GraphDef, expected: GraphDef, checkpoint_v2: bool = False) -> None:
    """Raises AssertionError unless two graphs have the same nodes, in any order."""
    mine, theirs = ({node.name: node for node in graph.node} for graph in (actual, expected))
    if mine != theirs:
        differing = sorted(name for name in {*mine, *theirs} if mine.get(name) != theirs.get(name))
        raise AssertionError(f"the graphs differ in the nodes {differing}")


def NHWCToNCHW(input_tensor: Any) -> Any:  # noqa: N802 - as TensorFlow calls it
    """Sizes, or an image, with the channels moved to the second place."""
    sizes = list(input_tensor) if isinstance(input_tensor, list) else None
    return [sizes[0], sizes[-1], *sizes[1:-1]] if sizes else np.moveaxis(input_tensor, -1, 1)


__all__ += ["is_gpu_available"]
