"""Iterators in checkpoints: a saver saves where they are, and training goes on in the middle of the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorkeep.dtypes import VARIANT
from tensorkeep.graph.arguments import emit, emit_operation
from tensorkeep.graph.building import colocate_with
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.saveable import SaveableObject, SaveSpec
from tensorkeep.tf1.datasets.iterators import Iterator
from tensorkeep.tf1.datasets.options import ExternalStatePolicy


class IteratorSaveable(SaveableObject):
    """An iterator as something that savers save. It must have been initialized when it is saved or restored."""

    def __init__(self, resource: Tensor, name: str, policy: ExternalStatePolicy = ExternalStatePolicy.FAIL) -> None:
        state = emit("SerializeIterator", resource, external_state_policy=int(policy))
        specs = [SaveSpec(state, "", f"{name}_STATE", VARIANT)]
        super().__init__(resource, specs, name)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Sequence[Any] | None) -> Operation:
        with colocate_with(self.op):
            return emit_operation("DeserializeIterator", self.op, restored_tensors[0])


def make_saveable_from_iterator(iterator: Iterator, external_state_policy: Any = None) -> IteratorSaveable:
    """What a saver saves of an iterator; add it to the collection of saveable objects, or hand it to the saver."""
    policies = {None: ExternalStatePolicy.FAIL, "fail": ExternalStatePolicy.FAIL, "warn": ExternalStatePolicy.WARN}
    policy = policies.get(external_state_policy, ExternalStatePolicy.IGNORE)
    return IteratorSaveable(iterator._resource, iterator._resource.name, policy)
