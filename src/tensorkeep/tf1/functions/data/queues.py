"""Queues for programs: what some runs leave for others, of the same thread or of another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import md5
from typing import Any, TypeAlias

from tensorkeep.dtypes import INT64, RESOURCE, DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, ShapeLike, Structure, TensorLike, emit, emit_operation, emit_tensors
from tensorkeep.graph.building import chosen_name, device, init_scope, name_scope
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.tensor_shape import TensorShape, plain_shape
from tensorkeep.ops.data.queues import fifo_queue_v2, padding_fifo_queue_v2, priority_queue_v2, random_shuffle_queue_v2
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape
from tensorkeep.tf1.functions.arrays.shapes import stack
from tensorkeep.tf1.functions.arrays.slicing import gather
from tensorkeep.tf1.functions.random.numbers import get_seed

QueueElement: TypeAlias = "Tensor | Sequence[Tensor] | dict[str, Tensor]"
"""What a queue gives: a tensor, or several if it has several components, by name if these have names."""


class QueueBase:
    """A queue of tuples of tensors. With names, its elements are dictionaries."""

    def __init__(
        self, dtypes: Sequence[Any], shapes: Sequence[Any] | None, names: Sequence[str] | None, queue_ref: Tensor
    ) -> None:
        self._dtypes = [DType.of(dtype) for dtype in dtypes]
        for what, given in (("shapes", shapes), ("names", names)):
            if given is not None and len(given) != len(dtypes):
                raise InvalidArgumentError(
                    f"Queue {what} must have the same length as dtypes, received len({what})={len(given)}, "
                    f"len(dtypes)={len(dtypes)}"
                )
        self._shapes = [UNKNOWN_SHAPE] * len(dtypes) if shapes is None else [plain_shape(shape) for shape in shapes]
        self._names = None if names is None else list(names)
        self._queue_ref = queue_ref
        self._name = queue_ref.op.name.rpartition("/")[2]

    @staticmethod
    def from_list(index: TensorLike, queues: Sequence[QueueBase]) -> QueueBase:
        """The queue that is number `index` of several, which may be another one in each run."""
        if not isinstance(queues, list) or not queues or not all(isinstance(queue, QueueBase) for queue in queues):
            raise WrongTypeError(f"A list of queues expected, got {queues!r}")
        first, *others = queues
        if any(queue.dtypes != first.dtypes for queue in others):
            raise WrongTypeError(
                f"Queues do not have matching component dtypes: {[list(map(str, queue.dtypes)) for queue in queues]}"
            )
        if any(queue.names != first.names for queue in others):
            raise WrongTypeError(f"Queues do not have matching component names: {[queue.names for queue in queues]}")
        shapes = [_common_shape(parts) for parts in zip(*(queue._shapes for queue in queues), strict=True)]
        handles = stack([queue.queue_ref for queue in queues])
        return QueueBase(first.dtypes, shapes, first.names, gather(handles, index))

    @property
    def queue_ref(self) -> Tensor:
        return self._queue_ref

    @property
    def name(self) -> str:
        return self._queue_ref.op.name

    @property
    def dtypes(self) -> list[DType]:
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        return [TensorShape(shape) for shape in self._shapes]

    @property
    def names(self) -> list[str] | None:
        return self._names

    def enqueue(self, vals: Structure, name: str | None = None) -> Operation:
        """Adds an element. When run, it waits while the queue is full."""
        with name_scope(chosen_name(name, f"{self._name}_enqueue"), self._queue_ref.graph) as scope:
            tensors = self._components(vals)
            for tensor, shape in zip(tensors, self._shapes, strict=True):
                _check_fits(tensor.static_shape, shape)
            return emit_operation(self._versioned("QueueEnqueue"), self._queue_ref, tensors, name=scope)

    def enqueue_many(self, vals: Structure, name: str | None = None) -> Operation:
        """Adds the rows of tensors as elements."""
        with name_scope(chosen_name(name, f"{self._name}_EnqueueMany"), self._queue_ref.graph) as scope:
            tensors = self._components(vals)
            rows = Shape((None,))
            for tensor, shape in zip(tensors, self._shapes, strict=True):
                dims = tensor.static_shape.dims
                if dims == ():
                    raise InvalidArgumentError(f"Shape () must have rank at least 1: {tensor}")
                if dims is not None:
                    rows = rows.merge(Shape(dims[:1]))
                    _check_fits(Shape(dims[1:]), shape)
            return emit_operation(self._versioned("QueueEnqueueMany"), self._queue_ref, tensors, name=scope)

    def dequeue(self, name: str | None = None) -> QueueElement:
        """The next element. When run, it waits while the queue is empty."""
        found = emit_tensors(
            self._versioned("QueueDequeue"),
            self._queue_ref,
            component_types=self._dtypes,
            name=chosen_name(name, f"{self._name}_Dequeue"),
        )
        return self._element(found, Shape(()))

    def dequeue_many(self, n: TensorLike, name: str | None = None) -> QueueElement:
        """The next `n` elements, stacked."""
        name = chosen_name(name, f"{self._name}_DequeueMany")
        found = emit_tensors(
            self._versioned("QueueDequeueMany"), self._queue_ref, n, component_types=self._dtypes, name=name
        )
        count = constant_value(found[0].op.inputs[1])
        return self._element(found, Shape((None if count is None else int(count),)))

    def dequeue_up_to(self, n: TensorLike, name: str | None = None) -> QueueElement:
        """The next `n` elements, stacked; fewer if the queue is closed."""
        name = chosen_name(name, f"{self._name}_DequeueUpTo")
        found = emit_tensors(
            self._versioned("QueueDequeueUpTo"), self._queue_ref, n, component_types=self._dtypes, name=name
        )
        return self._element(found, Shape((None,)))

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Operation:
        """The operation that closes the queue: nothing more can be put in, and what is in can be taken out."""
        name = chosen_name(name, f"{self._name}_Close")
        return emit_operation(
            self._versioned("QueueClose"), self._queue_ref, cancel_pending_enqueues=cancel_pending_enqueues, name=name
        )

    def is_closed(self, name: str | None = None) -> Tensor:
        return emit(
            self._versioned("QueueIsClosed"), self._queue_ref, name=chosen_name(name, f"{self._name}_Is_Closed")
        )

    def size(self, name: str | None = None) -> Tensor:
        return emit(self._versioned("QueueSize"), self._queue_ref, name=chosen_name(name, f"{self._name}_Size"))

    def _versioned(self, op: str) -> str:
        """The op for this kind of handle: a resource, or a reference as in older graphs."""
        return f"{op}V2" if self._queue_ref.dtype is RESOURCE else op

    def _components(self, values: Any) -> list[Tensor]:
        if isinstance(values, Mapping):
            if not self._names:
                raise InvalidArgumentError("Queue must have names to enqueue a dictionary")
            if set(self._names) != set(values):
                raise InvalidArgumentError(
                    f"Keys in dictionary to enqueue do not match names of Queue.  Dictionary: {sorted(values)},"
                    f"Queue: {sorted(self._names)}"
                )
            values = [values[name] for name in self._names]
        elif self._names:
            raise InvalidArgumentError("You must enqueue a dictionary in a Queue with names")
        elif not isinstance(values, list | tuple):
            values = [values]
        if len(values) != len(self._dtypes):
            raise InvalidArgumentError(f"a queue of {len(self._dtypes)} components was given {len(values)}")
        return [
            convert(value, dtype, f"component_{i}")
            for i, (value, dtype) in enumerate(zip(values, self._dtypes, strict=True))
        ]

    def _element(self, tensors: Sequence[Tensor], rows: Shape) -> QueueElement:
        for tensor, shape in zip(tensors, self._shapes, strict=True):
            tensor.set_shape(rows.concatenate(shape))
        if self._names:
            return dict(zip(self._names, tensors, strict=True))
        return tensors[0] if len(tensors) == 1 else tensors


class FIFOQueue(QueueBase):
    """A queue that gives out elements in the order in which they came."""

    def __init__(
        self,
        capacity: int,
        dtypes: DTypeLike | Sequence[DTypeLike],
        shapes: ShapeLike | Sequence[ShapeLike] = None,
        names: Sequence[str] | str | None = None,
        shared_name: str | None = None,
        name: str | None = "fifo_queue",
    ) -> None:
        types, told = _as_list(dtypes), _known_shapes(shapes)
        with init_scope(), device("/device:CPU:*"):
            handle = fifo_queue_v2(
                component_types=types, shapes=told, capacity=capacity, shared_name=shared_name, name=name
            )
        super().__init__(types, told, _name_list(names), handle)


class PaddingFIFOQueue(QueueBase):
    """A queue of elements that may differ in size; taken together, they are padded with zeros."""

    def __init__(
        self,
        capacity: int,
        dtypes: DTypeLike | Sequence[DTypeLike],
        shapes: Sequence[ShapeLike],
        names: Sequence[str] | str | None = None,
        shared_name: str | None = None,
        name: str = "padding_fifo_queue",
    ) -> None:
        types = _as_list(dtypes)
        if not isinstance(shapes, Sequence) or not shapes or any(s is None or isinstance(s, int) for s in shapes):
            raise InvalidArgumentError("When providing partial shapes, a list of shapes must be provided.")
        told = [plain_shape(shape) for shape in shapes]
        if any(shape.dims is None for shape in told):
            raise InvalidArgumentError(f"All shapes must have a defined rank: {list(map(str, told))}")
        if len(types) != len(told):
            raise InvalidArgumentError(
                f"Shapes must be provided for all components, but received {len(types)} dtypes and {len(told)} shapes."
            )
        handle = padding_fifo_queue_v2(
            component_types=types, shapes=told, capacity=capacity, shared_name=shared_name, name=name
        )
        super().__init__(types, told, _name_list(names), handle)


class RandomShuffleQueue(QueueBase):
    """A queue that gives out elements at random, and keeps `min_after_dequeue` to choose from until it is closed."""

    def __init__(
        self,
        capacity: int,
        min_after_dequeue: int,
        dtypes: DTypeLike | Sequence[DTypeLike],
        shapes: ShapeLike | Sequence[ShapeLike] = None,
        names: Sequence[str] | str | None = None,
        seed: int | None = None,
        shared_name: str | None = None,
        name: str = "random_shuffle_queue",
    ) -> None:
        types, told = _as_list(dtypes), _known_shapes(shapes)
        seed1, seed2 = get_seed(seed)
        if seed is None and seed1 is not None and shared_name is not None:
            # All that share the queue must come to the same seed.
            digest = md5(f"{seed1}{shared_name}".encode()).hexdigest()
            seed2 = int(digest[:8], 16) & 0x7FFFFFFF
        handle = random_shuffle_queue_v2(
            component_types=types,
            shapes=told,
            capacity=capacity,
            min_after_dequeue=min_after_dequeue,
            seed=seed1 or 0,
            seed2=seed2 or 0,
            shared_name=shared_name,
            name=name,
        )
        super().__init__(types, told, _name_list(names), handle)


class PriorityQueue(QueueBase):
    """A queue whose elements have a priority before their components, and that gives out the smallest first."""

    def __init__(
        self,
        capacity: int,
        types: DTypeLike | Sequence[DTypeLike],
        shapes: ShapeLike | Sequence[ShapeLike] = None,
        names: Sequence[str] | str | None = None,
        shared_name: str | None = None,
        name: str = "priority_queue",
    ) -> None:
        dtypes, told = _as_list(types), _known_shapes(shapes)
        handle = priority_queue_v2(
            component_types=dtypes, shapes=told, capacity=capacity, shared_name=shared_name, name=name
        )
        super().__init__([INT64, *dtypes], [Shape(()), *told] if told else told, _name_list(names), handle)


def _as_list(dtypes: Any) -> list[Any]:
    return list(dtypes) if isinstance(dtypes, list | tuple) else [dtypes]


def _name_list(names: Any) -> list[str] | None:
    return None if names is None else list(names) if isinstance(names, list | tuple) else [names]


def _known_shapes(shapes: Any) -> list[Shape] | None:
    """Shapes as a list: of one component, its shape alone will do."""
    if shapes is None:
        return None
    if isinstance(shapes, Shape | TensorShape):
        shapes = [shapes]
    if not isinstance(shapes, list | tuple):
        raise WrongTypeError(
            f"Shapes must be a TensorShape or a list or tuple of TensorShapes, got {type(shapes)} instead."
        )
    if all(size is None or isinstance(size, int) for size in shapes):
        shapes = [shapes]
    told = [plain_shape(shape) for shape in shapes]
    if not all(shape.is_fully_known for shape in told):
        raise InvalidArgumentError(f"All shapes must be fully defined: {list(map(str, told))}")
    return told


def _common_shape(shapes: Sequence[Shape]) -> Shape:
    """What is known of the sizes of all of them."""
    sizes = [shape.dims for shape in shapes]
    first = sizes[0]
    if first is None or any(dims is None or len(dims) != len(first) for dims in sizes):
        return UNKNOWN_SHAPE
    known = zip(*(dims for dims in sizes if dims is not None), strict=True)
    return Shape(tuple(size[0] if len(set(size)) == 1 else None for size in known))


def _check_fits(shape: Shape, wanted: Shape) -> None:
    if not shape.is_compatible(wanted):
        raise InvalidArgumentError(f"Shapes {TensorShape(shape)} and {TensorShape(wanted)} are incompatible")


__all__ = ["FIFOQueue", "PaddingFIFOQueue", "PriorityQueue", "QueueBase", "RandomShuffleQueue"]
