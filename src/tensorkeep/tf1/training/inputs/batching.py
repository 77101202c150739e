"""Batches from queues: single examples of one input or of several, put together as they come or shuffled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from tensorkeep.dtypes import FLOAT32, INT32
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import dynamic_partition
from tensorkeep.tf1.functions.control.control_flow import smart_cond
from tensorkeep.tf1.functions.control.grouping import no_op
from tensorkeep.tf1.functions.data.queues import FIFOQueue, PaddingFIFOQueue, QueueBase, RandomShuffleQueue
from tensorkeep.tf1.functions.data.summaries import scalar
from tensorkeep.tf1.functions.numbers.elementwise import cast, maximum
from tensorkeep.tf1.training.inputs.input_producers import scope_for
from tensorkeep.tf1.training.inputs.queue_runner import QueueRunner, add_queue_runner
from tensorkeep.tf1.training.inputs.sparse_batching import restored, stored_sets


@dataclass(frozen=True)
class Shuffling:
    """That elements are given out at random, of at least so many."""

    min_after_dequeue: int
    seed: int | None = None


@dataclass(frozen=True)
class Batching:
    """How a queue makes batches of what is put into it."""

    batch_size: Any
    capacity: int = 32
    enqueue_many: bool = False
    """Whether each tensor that is put in holds several examples."""
    shapes: Any = None
    dynamic_pad: bool = False
    allow_smaller_final_batch: bool = False
    shared_name: str | None = None
    shuffling: Shuffling | None = None

    def queue(self, dtypes: Sequence[Any], shapes: Any) -> QueueBase:
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
    sets: Sequence[Any], keep_input: Any, threads: int, batching: Batching, name: str | None, default: str
) -> Any:
    """Batches of the examples of several inputs, each with a thread; of one input, with several threads.

    An input is a list of tensors, or a dictionary; a batch is of the same form.
    """
    if not sets:
        raise InvalidArgumentError("Expected at least one set of tensors")
    lists = _lists(sets)
    with scope_for(name, default, [*(tensor for tensors in lists for tensor in tensors), keep_input]) as scope:
        shuffling = batching.shuffling
        if threads and shuffling is not None and batching.capacity <= shuffling.min_after_dequeue:
            raise InvalidArgumentError(
                f"capacity {batching.capacity} must be bigger than min_after_dequeue {shuffling.min_after_dequeue}."
            )
        given = [[item if isinstance(item, SparseTensor) else convert(item) for item in items] for items in lists]
        if not given[0]:
            raise InvalidArgumentError("Expected at least one tensor in batch().")
        kept = _checked_choice(keep_input, batching.enqueue_many)
        converted, sparse = stored_sets(given, batching.enqueue_many, kept)
        queue = batching.queue(_common_types(converted), _common_shapes(converted, batching))
        enqueuing = [_enqueuing(queue, tensors, batching.enqueue_many, kept) for tensors in converted]
        add_queue_runner(QueueRunner(queue, enqueuing * (threads or 1)))
        batching.summarize(queue)
        take = queue.dequeue_up_to if batching.allow_smaller_final_batch else queue.dequeue_many
        return _like(sets[0], restored(take(batching.batch_size, name=scope), sparse))


def _lists(sets: Sequence[Any]) -> list[list[Any]]:
    """The tensors of each set; those of dictionaries in the order of their keys."""
    if not isinstance(sets[0], Mapping):
        return [list(tensors) for tensors in sets]
    if any(set(tensors) != set(sets[0]) for tensors in sets):
        raise InvalidArgumentError("All dictionaries in tensors_list must have the same keys")
    return [[tensors[key] for key in sorted(tensors, key=str)] for tensors in sets]


def _like(original: Any, taken: Any) -> Any:
    if not isinstance(original, Mapping):
        return taken
    values = [taken] if len(original) == 1 else taken
    return dict(zip(sorted(original, key=str), values, strict=True))


def _checked_choice(keep_input: Any, enqueue_many: bool) -> Tensor:
    kept = convert(keep_input)
    rank = kept.static_shape.rank
    if rank is None:
        raise InvalidArgumentError("`keep_input` dimensions must be known at graph construction.")
    if not enqueue_many and rank == 1:
        raise InvalidArgumentError("`keep_input` cannot be a vector when `enqueue_many=False`.")
    if rank > 1:
        raise InvalidArgumentError("`keep_input` must be 0 or 1 dimensions.")
    return kept


def _common_types(lists: Sequence[Sequence[Tensor]]) -> list[Any]:
    first = [tensor.dtype for tensor in lists[0]]
    for tensors in lists[1:]:
        other = [tensor.dtype for tensor in tensors]
        if other != first:
            names = (", ".join(dtype.name for dtype in dtypes) for dtypes in (first, other))
            raise WrongTypeError(f"Expected types to be consistent: {' vs. '.join(names)}.")
    return first


def _common_shapes(lists: Sequence[Sequence[Tensor]], batching: Batching) -> Any:
    """The shapes of one example: given, or those that the tensors of all inputs share."""
    if batching.shapes is not None:
        return batching.shapes
    unknown = [tensor for tensors in lists for tensor in tensors if tensor.static_shape.rank is None]
    if unknown:
        raise InvalidArgumentError(f"Cannot infer Tensor's rank: {unknown[0]}")
    found = []
    for tensors in zip(*lists, strict=True):
        shapes = [TensorShape(tensor.shape) for tensor in tensors]
        if batching.enqueue_many:
            shapes = [shape.with_rank_at_least(1)[1:] for shape in shapes]
        for shape in shapes[1:]:
            shapes[0].merge_with(shape)  # refuses what does not go together
        found.append(shapes[0].as_list())
    return found


def _enqueuing(queue: QueueBase, tensors: list[Tensor], enqueue_many: bool, kept: Tensor) -> Any:
    enqueue: Callable[[list[Tensor]], Any] = queue.enqueue_many if enqueue_many else queue.enqueue
    if kept.static_shape.rank == 1:
        chosen = cast(kept, INT32)
        return enqueue([dynamic_partition(tensor, chosen, num_partitions=2)[1] for tensor in tensors])
    return smart_cond(kept, partial(enqueue, tensors), no_op)


# ---------------------------------------------------------------------------------------------------- TensorFlow's


def batch(
    tensors: Any,
    batch_size: Any,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of the examples of one input."""
    return maybe_batch(
        tensors,
        True,
        batch_size,
        num_threads,
        capacity,
        enqueue_many,
        shapes,
        dynamic_pad,
        allow_smaller_final_batch,
        shared_name,
        name,
    )


def maybe_batch(
    tensors: Any,
    keep_input: Any,
    batch_size: Any,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of those examples of one input that are to be kept."""
    how = Batching(batch_size, capacity, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch, shared_name)
    return batches([tensors], keep_input, num_threads, how, name, "batch")


def batch_join(
    tensors_list: Sequence[Any],
    batch_size: Any,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of the examples of several inputs."""
    how = Batching(batch_size, capacity, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch, shared_name)
    return batches(tensors_list, True, 0, how, name, "batch_join")


def maybe_batch_join(
    tensors_list: Sequence[Any],
    keep_input: Any,
    batch_size: Any,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of those examples of several inputs that are to be kept."""
    how = Batching(batch_size, capacity, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch, shared_name)
    return batches(tensors_list, keep_input, 0, how, name, "batch_join")


def shuffle_batch(
    tensors: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of the examples of one input, at random."""
    how = _shuffled(batch_size, capacity, min_after_dequeue, seed)(
        enqueue_many, shapes, False, allow_smaller_final_batch, shared_name
    )
    return batches([tensors], True, num_threads, how, name, "shuffle_batch")


def maybe_shuffle_batch(
    tensors: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    keep_input: Any,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of those examples of one input that are to be kept, at random."""
    how = _shuffled(batch_size, capacity, min_after_dequeue, seed)(
        enqueue_many, shapes, False, allow_smaller_final_batch, shared_name
    )
    return batches([tensors], keep_input, num_threads, how, name, "shuffle_batch")


def shuffle_batch_join(
    tensors_list: Sequence[Any],
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of the examples of several inputs, at random."""
    how = _shuffled(batch_size, capacity, min_after_dequeue, seed)(
        enqueue_many, shapes, False, allow_smaller_final_batch, shared_name
    )
    return batches(tensors_list, True, 0, how, name, "shuffle_batch_join")


def maybe_shuffle_batch_join(
    tensors_list: Sequence[Any],
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    keep_input: Any,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of those examples of several inputs that are to be kept, at random."""
    how = _shuffled(batch_size, capacity, min_after_dequeue, seed)(
        enqueue_many, shapes, False, allow_smaller_final_batch, shared_name
    )
    return batches(tensors_list, keep_input, 0, how, name, "shuffle_batch_join")


def _shuffled(batch_size: Any, capacity: int, least: int, seed: int | None) -> Callable[..., Batching]:
    return partial(Batching, batch_size, capacity, shuffling=Shuffling(least, seed))


__all__ = [
    "batch",
    "batch_join",
    "maybe_batch",
    "maybe_batch_join",
    "maybe_shuffle_batch",
    "maybe_shuffle_batch_join",
    "shuffle_batch",
    "shuffle_batch_join",
]
