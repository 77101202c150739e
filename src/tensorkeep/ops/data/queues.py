"""Queues: what one thread's runs leave for another's.

A queue outlives runs, as a variable does. An operation that finds it full or empty waits for another thread's run, or
until the queue is closed. The first generation of the ops, whose handles are references, does the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import OpSpec, not_differentiable, op, takes_attributes
from tensorkeep.ops.data._queue_values import AtRandom, ByPriority, FirstIn, Order, Queue
from tensorkeep.ops.shared.families import two_generations
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.shared.shape_rules import SCALAR
from tensorkeep.runtime.context import KernelContext
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

if TYPE_CHECKING:
    from typing_extensions import Unpack  # in `typing` since Python 3.11

_PAIR = Shape((2,))  # what handles of the first generation were: a container and a name


class SharingAttributes(TypedDict):
    """What says which queue is meant."""

    container: bytes
    shared_name: bytes


class BoundedAttributes(SharingAttributes):
    """The same, and how many elements it takes."""

    capacity: int


class ElementAttributes(SharingAttributes):
    """The same, and of which types and shapes its elements are."""

    component_types: tuple[DType, ...]
    shapes: tuple[Shape, ...]


class QueueAttributes(ElementAttributes):
    """All that a queue is made of."""

    capacity: int


def _makers(name: str, *clauses: str) -> tuple[OpSpec, OpSpec]:
    """The ops that make a queue of a kind, or find one that is shared: one gives a reference, one a handle."""
    sharing = ("container: string = ''", "shared_name: string = ''", "stateful")
    old = op(f"{name}() -> handle: Ref(string)", *clauses, *sharing)
    old.shape(lambda: _PAIR)
    new = op(f"{name}V2() -> handle: resource", *clauses, *sharing)
    new.shape(lambda: SCALAR)
    return old, new


def _shared_queue(
    ctx: KernelContext,
    kind: str,
    order: Order,
    component_types: tuple[DType, ...],
    shapes: tuple[Shape, ...],
    capacity: int,
    container: bytes,
    shared_name: bytes,
) -> Queue:
    return ctx.shared(
        container, shared_name, Queue, lambda name: Queue(f"{kind} '{name}'", order, component_types, shapes, capacity)
    )


_MAKING = ("component_types", "shapes", "capacity", "container", "shared_name")
_ELEMENTS = ("component_types: list(type) >= 1", "shapes: list(shape) >= 0 = []", "capacity: int = -1")
fifo_queue, fifo_queue_v2 = _makers("FIFOQueue", *_ELEMENTS)


@fifo_queue_v2.stateful_kernel
@fifo_queue.stateful_kernel
@takes_attributes(*_MAKING)
def fifo_queue_kernel(ctx: KernelContext, **attributes: Unpack[QueueAttributes]) -> Queue:
    return _shared_queue(ctx, "FIFOQueue", FirstIn(), **attributes)


padding_fifo_queue, padding_fifo_queue_v2 = _makers("PaddingFIFOQueue", *_ELEMENTS)


@padding_fifo_queue_v2.stateful_kernel
@padding_fifo_queue.stateful_kernel
@takes_attributes(*_MAKING)
def padding_fifo_queue_kernel(ctx: KernelContext, **attributes: Unpack[QueueAttributes]) -> Queue:
    return _shared_queue(ctx, "PaddingFIFOQueue", FirstIn(), **attributes)


priority_queue, priority_queue_v2 = _makers(
    "PriorityQueue", "component_types: list(type) >= 0 = []", "shapes: list(shape) >= 0", "capacity: int = -1"
)


@priority_queue_v2.stateful_kernel
@priority_queue.stateful_kernel
@takes_attributes(*_MAKING)
def priority_queue_kernel(
    ctx: KernelContext,
    *,
    component_types: tuple[DType, ...],
    shapes: tuple[Shape, ...],
    **attributes: Unpack[BoundedAttributes],
) -> Queue:
    dtypes = (DType.of("int64"), *component_types)
    shapes = (SCALAR, *shapes) if shapes or not component_types else ()
    return _shared_queue(ctx, "PriorityQueue", ByPriority(), dtypes, shapes, **attributes)


random_shuffle_queue, random_shuffle_queue_v2 = _makers(
    "RandomShuffleQueue", *_ELEMENTS, "min_after_dequeue: int = 0", "seed: int = 0", "seed2: int = 0"
)


@random_shuffle_queue_v2.stateful_kernel
@random_shuffle_queue.stateful_kernel
@takes_attributes(*_MAKING, "min_after_dequeue", "seed", "seed2")
def random_shuffle_queue_kernel(
    ctx: KernelContext,
    *,
    capacity: int,
    min_after_dequeue: int,
    seed: int,
    seed2: int,
    **attributes: Unpack[ElementAttributes],
) -> Queue:
    if min_after_dequeue < 0 or 0 <= capacity <= min_after_dequeue:
        raise InvalidArgumentError(f"min_after_dequeue {min_after_dequeue} must be >= 0 and < capacity {capacity}")
    order = AtRandom(min_after_dequeue, (seed, seed2))
    return _shared_queue(ctx, "RandomShuffleQueue", order, capacity=capacity, **attributes)


# ---------------------------------------------------------------------------------------------------- In and out


def _refuse_timeout(timeout_ms: int) -> None:
    if timeout_ms != -1:
        raise InvalidArgumentError("Timeout not supported yet.")


_PUT = ("Tcomponents: list(type) >= 1", "timeout_ms: int = -1")
_TAKEN = ("component_types: list(type) >= 1", "timeout_ms: int = -1")

queue_enqueue, queue_enqueue_v2 = two_generations("QueueEnqueue", "handle", ", components: Tcomponents", *_PUT)


@queue_enqueue_v2.kernel
@queue_enqueue.kernel
def queue_enqueue_kernel(handle: Queue, components: list[Array], *, timeout_ms: int) -> tuple[()]:
    _refuse_timeout(timeout_ms)
    handle.put(tuple(map(np.array, components)))  # copies, for what is fed may be changed by its owner after the run
    return ()


queue_enqueue_many, queue_enqueue_many_v2 = two_generations(
    "QueueEnqueueMany", "handle", ", components: Tcomponents", *_PUT
)


@queue_enqueue_many_v2.kernel
@queue_enqueue_many.kernel
def queue_enqueue_many_kernel(handle: Queue, components: list[Array], *, timeout_ms: int) -> tuple[()]:
    _refuse_timeout(timeout_ms)
    if any(np.ndim(value) == 0 for value in components) or len({len(value) for value in components}) > 1:
        shapes = ", ".join(str(list(np.shape(value))) for value in components)
        raise InvalidArgumentError(f"All input tensors must have the same size in the 0th dimension, got {shapes}")
    for row in zip(*components, strict=True):
        handle.put(tuple(np.array(value, whole.dtype) for value, whole in zip(row, components, strict=True)))
    return ()


queue_dequeue, queue_dequeue_v2 = two_generations("QueueDequeue", "handle", " -> components: component_types", *_TAKEN)


@queue_dequeue_v2.shape
@queue_dequeue.shape
def queue_dequeue_shape(handle: Tensor, *, component_types: tuple[DType, ...]) -> list[Shape]:
    return [UNKNOWN_SHAPE] * len(component_types)


@queue_dequeue_v2.kernel
@queue_dequeue.kernel
def queue_dequeue_kernel(handle: Queue, *, component_types: tuple[DType, ...], timeout_ms: int) -> list[Array]:
    _refuse_timeout(timeout_ms)
    return list(handle.take(1, component_types)[0])


def _several_shape(handle: Tensor, n: Tensor, *, component_types: tuple[DType, ...]) -> list[Shape]:
    return [UNKNOWN_SHAPE] * len(component_types)


def _several(handle: Queue, n: Any, component_types: tuple[DType, ...], timeout_ms: int, up_to: bool) -> list[Any]:
    _refuse_timeout(timeout_ms)
    if n < 0:
        raise InvalidArgumentError(f"DequeueManyOp requested {int(n)} < 0 elements")
    return handle.take_stacked(int(n), component_types, up_to)


queue_dequeue_many, queue_dequeue_many_v2 = two_generations(
    "QueueDequeueMany", "handle", ", n: int32 -> components: component_types", *_TAKEN
)
queue_dequeue_many.shape(_several_shape)
queue_dequeue_many_v2.shape(_several_shape)


@queue_dequeue_many_v2.kernel
@queue_dequeue_many.kernel
def queue_dequeue_many_kernel(
    handle: Queue, n: Array, *, component_types: tuple[DType, ...], timeout_ms: int
) -> list[Array]:
    return _several(handle, n, component_types, timeout_ms, up_to=False)


queue_dequeue_up_to, queue_dequeue_up_to_v2 = two_generations(
    "QueueDequeueUpTo", "handle", ", n: int32 -> components: component_types", *_TAKEN
)
queue_dequeue_up_to.shape(_several_shape)
queue_dequeue_up_to_v2.shape(_several_shape)


@queue_dequeue_up_to_v2.kernel
@queue_dequeue_up_to.kernel
def queue_dequeue_up_to_kernel(
    handle: Queue, n: Array, *, component_types: tuple[DType, ...], timeout_ms: int
) -> list[Array]:
    return _several(handle, n, component_types, timeout_ms, up_to=True)


queue_close, queue_close_v2 = two_generations("QueueClose", "handle", "", "cancel_pending_enqueues: bool = false")


@queue_close_v2.kernel
@queue_close.kernel
def queue_close_kernel(handle: Queue, *, cancel_pending_enqueues: bool) -> tuple[()]:
    handle.close(cancel_pending_enqueues)
    return ()


queue_is_closed, queue_is_closed_v2 = two_generations("QueueIsClosed", "handle", " -> is_closed: bool")


@queue_is_closed_v2.shape
@queue_is_closed.shape
def queue_is_closed_shape(handle: Tensor) -> Shape:
    return SCALAR


@queue_is_closed_v2.kernel
@queue_is_closed.kernel
def queue_is_closed_kernel(handle: Queue) -> np.bool_:
    return np.bool_(handle.is_closed)


queue_size, queue_size_v2 = two_generations("QueueSize", "handle", " -> size: int32")


@queue_size_v2.shape
@queue_size.shape
def queue_size_shape(handle: Tensor) -> Shape:
    return SCALAR


@queue_size_v2.kernel
@queue_size.kernel
def queue_size_kernel(handle: Queue) -> np.int32:
    return np.int32(len(handle))


not_differentiable(queue_enqueue_v2, queue_enqueue, queue_enqueue_many_v2, queue_enqueue_many)
not_differentiable(queue_dequeue_v2, queue_dequeue, queue_dequeue_many_v2, queue_dequeue_many)
not_differentiable(queue_dequeue_up_to_v2, queue_dequeue_up_to, queue_close_v2, queue_close, queue_size_v2, queue_size)
