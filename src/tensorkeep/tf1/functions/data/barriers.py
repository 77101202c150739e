"""Barriers for programs: elements whose components several runs bring, by key, and that another takes when complete."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike, ShapeLike, TensorLike, emit, emit_operation, emit_tensors
from tensorkeep.graph.building import chosen_name
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.tensor_shape import plain_shape
from tensorkeep.ops.data.barriers import barrier
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape


class TakenElements(NamedTuple):
    """What was taken from a barrier: when the elements were begun, their keys, and their components, stacked."""

    indices: Tensor
    keys: Tensor
    values: Sequence[Tensor]


class Barrier:
    """Elements that are put together by key, component by component. One can be taken as soon as it is complete."""

    def __init__(
        self,
        types: DTypeLike | Sequence[DTypeLike],
        shapes: Sequence[ShapeLike] | None = None,
        shared_name: str | None = None,
        name: str = "barrier",
    ) -> None:
        several: Sequence[Any] = types if isinstance(types, list | tuple) else [types]
        self._types = [DType.of(dtype) for dtype in several]
        self._shapes = None if shapes is None else [plain_shape(shape) for shape in shapes]
        for i, shape in enumerate(self._shapes or []):
            if not shape.is_fully_known:
                raise InvalidArgumentError(f"All shapes must be fully defined: component {i} has {shape}")
            if 0 in shape.as_tuple():
                raise InvalidArgumentError(f"Empty tensors are not supported, but received shape {shape} at index {i}")
        self._barrier_ref: Tensor = barrier(
            component_types=self._types, shapes=self._shapes or [], shared_name=shared_name, name=name
        )

    @property
    def barrier_ref(self) -> Tensor:
        return self._barrier_ref

    @property
    def name(self) -> str:
        return self._barrier_ref.op.name

    def insert_many(
        self, component_index: int, keys: TensorLike, values: TensorLike, name: str | None = None
    ) -> Operation:
        """The operation that gives each key a row of `values` as its component of this number."""
        return emit_operation(
            "BarrierInsertMany",
            self._barrier_ref,
            keys,
            values,
            component_index=component_index,
            name=self._named(name, "BarrierInsertMany"),
        )

    def take_many(
        self,
        num_elements: TensorLike,
        allow_small_batch: bool = False,
        timeout: int | None = None,
        name: str | None = None,
    ) -> TakenElements:
        """So many complete elements, those first that were begun first. When run, it waits for them.

        With `allow_small_batch`, there may be fewer once the barrier is closed.
        """
        taken: Any = emit_tensors(
            "BarrierTakeMany",
            self._barrier_ref,
            num_elements,
            component_types=self._types,
            allow_small_batch=allow_small_batch,
            timeout_ms=-1 if timeout is None else timeout,
            name=self._named(name, "BarrierTakeMany"),
        )
        indices, keys, values = taken
        count = None if allow_small_batch else constant_value(indices.op.inputs[1])
        rows = Shape((None if count is None else int(count),))
        for tensor in (indices, keys):
            tensor.set_shape(rows)
        for tensor, shape in zip(values, self._shapes or [UNKNOWN_SHAPE] * len(values), strict=True):
            tensor.set_shape(rows.concatenate(shape))
        return TakenElements(indices, keys, values)

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Operation:
        """The operation that closes it: no new keys, but those that are there can still be completed and taken."""
        return emit_operation(
            "BarrierClose",
            self._barrier_ref,
            cancel_pending_enqueues=cancel_pending_enqueues,
            name=self._named(name, "BarrierClose"),
        )

    def ready_size(self, name: str | None = None) -> Tensor:
        """How many elements are complete."""
        return emit("BarrierReadySize", self._barrier_ref, name=self._named(name, "BarrierReadySize"))

    def incomplete_size(self, name: str | None = None) -> Tensor:
        """How many elements lack components."""
        return emit("BarrierIncompleteSize", self._barrier_ref, name=self._named(name, "BarrierIncompleteSize"))

    def _named(self, name: str | None, default: str) -> str:
        return chosen_name(name, f"{self.name.rpartition('/')[2]}_{default}")


__all__ = ["Barrier"]
