"""The same program text for TensorFlow 1 and for us: equal graphs, equal results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import tensorflow as tf

from tensorkeep import dtypes
from tensorkeep.graph import building, collections
from tensorkeep.graph.graph import Graph
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions import constants
from tests.interop.graph_comparison import assert_same_nodes, our_nodes, their_nodes
from tests.ops.walking import import_all_ops

import_all_ops()
v1 = tf.compat.v1


@contextmanager
def tensorflow_1() -> Iterator[None]:
    """TensorFlow builds graphs as its first version did; afterwards it is as before."""
    control_flow, resources = v1.control_flow_v2_enabled(), v1.resource_variables_enabled()
    v1.disable_control_flow_v2()
    v1.disable_resource_variables()
    v1.disable_tensor_equality()
    try:
        yield
    finally:
        if control_flow:
            v1.enable_control_flow_v2()
        if resources:
            v1.enable_resource_variables()
        v1.enable_tensor_equality()


def _placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Any:
    return placeholder(dtype=dtype, shape=shape, name=name)


def our_names(*modules: ModuleType, **more: Any) -> Any:
    """What a program calls `tf`: types, constants, scopes, and all public names of some modules."""
    names: dict[str, Any] = {dtype.name: dtype for dtype in dtypes.ALL_DTYPES}
    names.update(
        constant=constants.constant,
        placeholder=_placeholder,
        name_scope=building.name_scope,
        control_dependencies=building.control_dependencies,
        device=building.device,
        GraphKeys=collections.GraphKeys,
        get_collection=lambda name: collections.get_collection(building.current_graph(), name),
    )
    for module in modules:
        names.update((name, getattr(module, name)) for name in module.__all__)
    return SimpleNamespace(**{**names, **more})


@dataclass
class Built:
    """A program's two graphs, and what the program returned for each."""

    graph: Graph
    result: Any
    their_graph: Any
    their_result: Any

    def run(
        self, times: int = 1, feeds: Mapping[str, Any] | None = None, *, prepare: str | None = None, **options: Any
    ) -> list[tuple[Any, Any]]:
        """Our value and theirs of the result, several times in one session, after running what `prepare` names."""
        ours = Session(self.graph, **options)
        pairs = []
        with tensorflow_1(), v1.Session(graph=self.their_graph) as theirs:
            if prepare is not None:
                ours.run(self.graph.operation(prepare))
                theirs.run(self.their_graph.get_operation_by_name(prepare))
            for _ in range(times):
                pairs.append((ours.run(self.result, feeds), theirs.run(self.their_result, feeds)))
        return pairs

    def expect_same_values(
        self,
        times: int = 1,
        feeds: Mapping[str, Any] | None = None,
        tolerance: float = 0,
        absolute: float = 0,
        **options: Any,
    ) -> None:
        """Every value is the same, bit by bit; with a tolerance, numbers with a fraction differ by no more.

        The tolerance is relative; `absolute` is added to what it allows.
        """
        for ours, theirs in self.run(times, feeds, **options):
            for mine, other in zip(_leaves(ours), _leaves(theirs), strict=True):
                mine, other = np.asarray(mine), np.asarray(other)
                assert mine.dtype == other.dtype or other.dtype.kind == "O"
                if tolerance and mine.dtype.kind in "fc":
                    np.testing.assert_allclose(mine, other, rtol=tolerance, atol=absolute)
                else:
                    np.testing.assert_array_equal(mine, other)


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    return [leaf for item in value for leaf in _leaves(item)] if isinstance(value, list | tuple) else [value]


def build(program: Callable[[Any], Any], ours: Any, theirs: Any = v1, seed: int | None = None) -> Built:
    """Builds both graphs, which must have the same nodes in the same order."""
    graph = Graph()
    graph.seed = seed
    with building.building(graph):
        result = program(ours)
    with tensorflow_1(), tf.Graph().as_default() as their_graph:
        their_graph.seed = seed
        their_result = program(theirs)
    our, their = our_nodes(graph), their_nodes(their_graph)
    assert_same_nodes(our, their)
    assert list(our) == list(their)
    return Built(graph, result, their_graph, their_result)
