"""Batches from queues: single examples of one input or of several, put together as they come or shuffled.

Queues, names and messages are those of TensorFlow's python/training/input.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from tensorkeep.dtypes import FLOAT32, INT32, DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import ShapeLike, TensorLike
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import dynamic_partition
from tensorkeep.tf1.functions.control.control_flow import smart_cond
from tensorkeep.tf1.functions.control.grouping import no_op
from tensorkeep.tf1.functions.data.queues import FIFOQueue, PaddingFIFOQueue, QueueBase, RandomShuffleQueue
from tensorkeep.tf1.functions.data.summaries import scalar
from tensorkeep.tf1.functions.numbers.elementwise import cast, maximum
from tensorkeep.tf1.training.inputs.input_producers import scope_for
from tensorkeep.tf1.training.inputs.queue_runner import QueueRunner, add_queue_runner
from tensorkeep.tf1.training.inputs.sparse_batching import Dequeued, Example, stored_sets, with_sparse_tensors

Examples: TypeAlias = "Sequence[Example] | Mapping[str, Example]"
"""The tensors of an input: those of one example, or of several."""
Batch: TypeAlias = "Dequeued | dict[str, Tensor | SparseTensor]"
Shapes: TypeAlias = Sequence[ShapeLike]


@dataclass(frozen=True)
class Shuffling:
    """How elements are shuffled: at least `min_after_dequeue` stay in the queue to choose among."""

    min_after_dequeue: int
    seed: int | None = None


@dataclass(frozen=True)
class Batching:
    """How a queue makes batches of what is put into it."""

    batch_size: TensorLike
    capacity: int = 32
    enqueue_many: bool = False
    """Whether each tensor that is put in holds several examples."""
    shapes: Shapes | None = None
    dynamic_pad: bool = False
    allow_smaller_final_batch: bool = False
    shared_name: str | None = None
    shuffling: Shuffling | None = None

    def queue(self, dtypes: Sequence[DType], shapes: Shapes) -> QueueBase:
        """The queue of elements of these types and shapes."""
        if self.shuffling is not None:
            return RandomShuffleQueue(
                capacity=self.capacity,
                min_after_dequeue=self.shuffling.min_after_dequeue,
                seed=self.shuffling.seed,
                dtypes=dtypes,
                shapes=shapes,
                shared_name=self.shared_name,
            )
        kind = PaddingFIFOQueue if self.dynamic_pad else FIFOQueue
        return kind(capacity=self.capacity, dtypes=dtypes, shapes=shapes, shared_name=self.shared_name)

    def summarize(self, queue: QueueBase) -> None:
        """Reports how full the queue is."""
        if self.shuffling is None:
            scalar(f"fraction_of_{self.capacity}_full", cast(queue.size(), FLOAT32) * (1.0 / self.capacity))
            return
        least = self.shuffling.min_after_dequeue
        above = self.capacity - least
        full = cast(maximum(0, queue.size() - least), FLOAT32) * (1.0 / above)
        scalar(f"fraction_over_{least}_of_{above}_full", full)


def batches(
    sets: Sequence[Examples], keep_input: TensorLike, threads: int, batching: Batching, name: str | None, default: str
) -> Batch:
    """Batches of the examples of several inputs, each with a thread; of one input, with several threads.

    An input is a list of tensors, or a dictionary; a batch is of the same form.
    """
    if not sets:
        raise InvalidArgumentError("Expected at least one set of tensors")
    lists = tensor_lists(sets)
    with scope_for(name, default, [*(tensor for tensors in lists for tensor in tensors), keep_input]) as scope:
        shuffling = batching.shuffling
        if threads and shuffling is not None and batching.capacity <= shuffling.min_after_dequeue:
            raise InvalidArgumentError(
                f"capacity {batching.capacity} must be bigger than min_after_dequeue {shuffling.min_after_dequeue}."
            )
        given = [[item if isinstance(item, SparseTensor) else convert(item) for item in items] for items in lists]
        if not given[0]:
            raise InvalidArgumentError("Expected at least one tensor in batch().")
        kept = checked_choice(keep_input, batching.enqueue_many)
        converted, sparse = stored_sets(given, batching.enqueue_many, kept)
        shapes = common_shapes(converted, batching.shapes, batching.enqueue_many)
        queue = batching.queue(common_types(converted), shapes)
        enqueuing = [_enqueuing(queue, tensors, batching.enqueue_many, kept) for tensors in converted]
        add_queue_runner(QueueRunner(queue, enqueuing * (threads or 1)))
        batching.summarize(queue)
        take = queue.dequeue_up_to if batching.allow_smaller_final_batch else queue.dequeue_many
        taken = take(batching.batch_size, name=scope)
        assert not isinstance(taken, dict)  # the queue has no names
        return in_form_of(sets[0], with_sparse_tensors(taken, sparse))


def tensor_lists(sets: Sequence[Examples]) -> list[list[Example]]:
    """The tensors of each set; those of dictionaries in the order of their keys."""
    if not isinstance(sets[0], Mapping):
        listed: Sequence[Any] = sets
        return [list(tensors) for tensors in listed]
    if any(set(tensors) != set(sets[0]) for tensors in sets):
        raise InvalidArgumentError("All dictionaries in tensors_list must have the same keys")
    named: Sequence[Any] = sets
    return [[tensors[key] for key in sorted(tensors, key=str)] for tensors in named]


def in_form_of(original: Examples, taken: Dequeued) -> Batch:
    """What was taken from the queue; by name where the input is a dictionary."""
    if not isinstance(original, Mapping):
        return taken
    values = [taken] if isinstance(taken, Tensor | SparseTensor) else taken
    return dict(zip(sorted(original, key=str), values, strict=True))


def checked_choice(keep_input: TensorLike, enqueue_many: bool) -> Tensor:
    """Which examples are kept: one truth value, or one for each of the examples that are put in together."""
    kept = convert(keep_input)
    rank = kept.static_shape.rank
    if rank is None:
        raise InvalidArgumentError("`keep_input` dimensions must be known at graph construction.")
    if not enqueue_many and rank == 1:
        raise InvalidArgumentError("`keep_input` cannot be a vector when `enqueue_many=False`.")
    if rank > 1:
        raise InvalidArgumentError("`keep_input` must be 0 or 1 dimensions.")
    return kept


def common_types(lists: Sequence[Sequence[Tensor]]) -> list[DType]:
    """The types of the tensors, which have to be the same in all inputs."""
    first = [tensor.dtype for tensor in lists[0]]
    for tensors in lists[1:]:
        other = [tensor.dtype for tensor in tensors]
        if other != first:
            names = (", ".join(dtype.name for dtype in dtypes) for dtypes in (first, other))
            raise WrongTypeError(f"Expected types to be consistent: {' vs. '.join(names)}.")
    return first


def common_shapes(lists: Sequence[Sequence[Tensor]], told: Shapes | None, enqueue_many: bool) -> Shapes:
    """The shapes of one example: given, or those that the tensors of all inputs share."""
    if told is not None:
        return told
    unknown = [tensor for tensors in lists for tensor in tensors if tensor.static_shape.rank is None]
    if unknown:
        raise InvalidArgumentError(f"Cannot infer Tensor's rank: {unknown[0]}")
    found = []
    for tensors in zip(*lists, strict=True):
        shapes = [TensorShape(tensor.shape) for tensor in tensors]
        if enqueue_many:
            shapes = [shape.with_rank_at_least(1)[1:] for shape in shapes]
        for shape in shapes[1:]:
            shapes[0].merge_with(shape)  # refuses what does not go together
        found.append(shapes[0].as_list())
    return found


def _enqueuing(queue: QueueBase, tensors: list[Tensor], enqueue_many: bool, kept: Tensor) -> Operation | Tensor:
    enqueue: Callable[[list[Tensor]], Operation] = queue.enqueue_many if enqueue_many else queue.enqueue
    if kept.static_shape.rank == 1:
        chosen = cast(kept, INT32)
        return enqueue([dynamic_partition(tensor, chosen, num_partitions=2)[1] for tensor in tensors])
    enqueued: Operation | Tensor = smart_cond(kept, partial(enqueue, tensors), no_op)
    return enqueued


# ---------------------------------------------------------------------------------------------------- TensorFlow's


def batch(
    tensors: Examples,
    batch_size: TensorLike,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Shapes | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Batch:
    """Batches of the examples of one input."""
    how = Batching(batch_size, capacity, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch, shared_name)
    return batches([tensors], True, num_threads, how, name, "batch")


def maybe_batch(
    tensors: Examples,
    keep_input: TensorLike,
    batch_size: TensorLike,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Shapes | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Batch:
    """Batches of those examples of one input that are to be kept."""
    how = Batching(batch_size, capacity, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch, shared_name)
    return batches([tensors], keep_input, num_threads, how, name, "batch")


def batch_join(
    tensors_list: Sequence[Examples],
    batch_size: TensorLike,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Shapes | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Batch:
    """Batches of the examples of several inputs."""
    how = Batching(batch_size, capacity, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch, shared_name)
    return batches(tensors_list, True, 0, how, name, "batch_join")


def maybe_batch_join(
    tensors_list: Sequence[Examples],
    keep_input: TensorLike,
    batch_size: TensorLike,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Shapes | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Batch:
    """Batches of those examples of several inputs that are to be kept."""
    how = Batching(batch_size, capacity, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch, shared_name)
    return batches(tensors_list, keep_input, 0, how, name, "batch_join")


def shuffle_batch(
    tensors: Examples,
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Shapes | None = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Batch:
    """Batches of the examples of one input, at random."""
    order = Shuffling(min_after_dequeue, seed)
    how = Batching(batch_size, capacity, enqueue_many, shapes, False, allow_smaller_final_batch, shared_name, order)
    return batches([tensors], True, num_threads, how, name, "shuffle_batch")


def maybe_shuffle_batch(
    tensors: Examples,
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    keep_input: TensorLike,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Shapes | None = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Batch:
    """Batches of those examples of one input that are to be kept, at random."""
    order = Shuffling(min_after_dequeue, seed)
    how = Batching(batch_size, capacity, enqueue_many, shapes, False, allow_smaller_final_batch, shared_name, order)
    return batches([tensors], keep_input, num_threads, how, name, "shuffle_batch")


def shuffle_batch_join(
    tensors_list: Sequence[Examples],
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Shapes | None = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Batch:
    """Batches of the examples of several inputs, at random."""
    order = Shuffling(min_after_dequeue, seed)
    how = Batching(batch_size, capacity, enqueue_many, shapes, False, allow_smaller_final_batch, shared_name, order)
    return batches(tensors_list, True, 0, how, name, "shuffle_batch_join")


def maybe_shuffle_batch_join(
    tensors_list: Sequence[Examples],
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    keep_input: TensorLike,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Shapes | None = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Batch:
    """Batches of those examples of several inputs that are to be kept, at random."""
    order = Shuffling(min_after_dequeue, seed)
    how = Batching(batch_size, capacity, enqueue_many, shapes, False, allow_smaller_final_batch, shared_name, order)
    return batches(tensors_list, keep_input, 0, how, name, "shuffle_batch_join")
