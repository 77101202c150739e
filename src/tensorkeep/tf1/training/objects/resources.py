"""Resources that are neither variables nor tables: initializing them, asking which are not initialized yet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorkeep.dtypes import STRING
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.building import current_graph, device, name_scope
from tensorkeep.graph.collections import GraphKeys, get_collection
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.tf1.functions.arrays.shapes import stack
from tensorkeep.tf1.functions.arrays.slicing import boolean_mask
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.grouping import group, no_op


def shared_resources() -> list[Any]:
    return get_collection(current_graph(), GraphKeys.RESOURCES)


def local_resources() -> list[Any]:
    return get_collection(current_graph(), GraphKeys.LOCAL_RESOURCES)


def initialize_resources(resources: Sequence[Any], name: str = "init") -> Operation:
    """An operation that makes all of these; each has `handle`, `create` and `is_initialized`."""
    if resources:
        return group(*[resource.create for resource in resources], name=name)
    return no_op(name=name)


def report_uninitialized_resources(
    resources: Sequence[Any] | None = None, name: str = "report_uninitialized_resources"
) -> Tensor:
    """The names of the resources that are not there yet, found when run."""
    found = shared_resources() + local_resources() if resources is None else resources
    with name_scope(name), device("/cpu:0"):
        if not found:
            return constant(np.empty(0, object), STRING)
        without = emit("LogicalNot", stack([resource.is_initialized for resource in found]))
        return boolean_mask(constant([resource.handle.name for resource in found]), without)
