"""Batches of examples that are alike: each bucket is a queue, whose batches go into one queue for all.

    input -> bucket_queue_0 .. bucket_queue_n -> top_queue -> (bucket, batch)

At the end of the input the queues are closed one after the other, so that what a bucket still holds comes out: in
TensorFlow 1.15 the last queue is closed first, and how much of the rest comes out is a matter of chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TypeAlias

from tensorkeep.dtypes import FLOAT32, INT32, DType
from tensorkeep.errors import CancelledError, InvalidArgumentError, OutOfRangeError, WrongTypeError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.control_flow import cond, smart_cond
from tensorkeep.tf1.functions.control.grouping import group, no_op
from tensorkeep.tf1.functions.data.queues import FIFOQueue, PaddingFIFOQueue, QueueBase
from tensorkeep.tf1.functions.data.summaries import scalar
from tensorkeep.tf1.functions.numbers.elementwise import cast, equal, greater_equal
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum
from tensorkeep.tf1.training.inputs.batching import (
    Batch,
    Examples,
    Shapes,
    checked_choice,
    common_shapes,
    common_types,
    in_form_of,
    tensor_lists,
)
from tensorkeep.tf1.training.inputs.input_producers import scope_for
from tensorkeep.tf1.training.inputs.queue_runner import QueueRunner, add_queue_runner
from tensorkeep.tf1.training.inputs.sparse_batching import stored_sets, with_sparse_tensors

BatchSize: TypeAlias = "TensorLike | Sequence[TensorLike]"
"""How many examples a batch has, in all buckets or in each."""


@dataclass(frozen=True)
class _Buckets:
    """How many examples each bucket holds, and how many a batch of it has."""

    sizes: list[TensorLike]
    """The sizes of batches, numbers where they are known."""
    common_size: int | None
    """The size of every batch, where it is known and the same."""
    capacities: Sequence[int]

    @classmethod
    def of(cls, count: int, batch_size: BatchSize, capacities: Sequence[int], small: bool) -> _Buckets:
        if isinstance(batch_size, list | tuple) and len(batch_size) != count:
            raise InvalidArgumentError(
                f"If batch_size is a list it must have num_buckets elements: it has {len(batch_size)}, not {count}"
            )
        if len(capacities) != count:
            raise InvalidArgumentError(
                f"The list bucket_capacities ({list(capacities)}) must have exactly num_buckets ({count}) elements."
            )
        given = batch_size if isinstance(batch_size, list | tuple) else [batch_size] * count
        sizes = [_known_size(size) for size in given]
        is_common = not isinstance(batch_size, list | tuple) and not small and isinstance(sizes[0], int)
        return cls(sizes, sizes[0] if is_common and isinstance(sizes[0], int) else None, capacities)

    def queues(self, dtypes: Sequence[DType], shapes: Shapes, pad: bool, shared_name: str | None) -> list[QueueBase]:
        kind = PaddingFIFOQueue if pad else FIFOQueue
        return [
            kind(
                capacity=capacity,
                dtypes=dtypes,
                shapes=shapes,
                shared_name=None if shared_name is None else f"{shared_name}_{number}",
                name=f"bucket_queue_{number}",
            )
            for number, capacity in enumerate(self.capacities)
        ]


def _known_size(size: TensorLike) -> TensorLike:
    tensor = convert(size, INT32, name="batch_size")
    known = constant_value(tensor)
    return tensor if known is None else int(known)


def bucket(
    tensors: Examples,
    which_bucket: TensorLike,
    batch_size: BatchSize,
    num_buckets: int,
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Sequence[int] | None = None,
    shapes: Shapes | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: TensorLike = True,
    shared_name: str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Batch]:
    """The number of a bucket that is full, and its batch: examples for which `which_bucket` gave that number."""
    capacities = [capacity] * num_buckets if bucket_capacities is None else bucket_capacities
    (given,) = tensor_lists([tensors])
    with scope_for(name, "bucket", given):
        if not given:
            raise InvalidArgumentError("Expected at least one tensor in bucket().")
        examples = [item if isinstance(item, SparseTensor) else convert(item) for item in given]
        kept = checked_choice(keep_input, enqueue_many=False)
        sets, sparse = stored_sets([examples], False, kept)
        buckets = _Buckets.of(num_buckets, batch_size, capacities, allow_smaller_final_batch)
        dtypes, element_shapes = common_types(sets), common_shapes(sets, shapes, enqueue_many=False)
        which = convert(which_bucket, INT32, name="which_bucket")
        queues = buckets.queues(dtypes, element_shapes, dynamic_pad, shared_name)
        rows = TensorShape([buckets.common_size])
        # A queue that pads, since batches may differ in size.
        top_queue = PaddingFIFOQueue(
            capacity=capacity,
            dtypes=[INT32, *dtypes],
            shapes=[TensorShape([]), *(rows.concatenate(shape) for shape in queues[0].shapes)],
            shared_name=shared_name,
            name="top_queue",
        )
        enqueue = smart_cond(kept, partial(_enqueue_in_one, queues, which, sets[0]), no_op)
        batches = _enqueuing_batches(top_queue, queues, buckets.sizes, allow_smaller_final_batch)
        _add_runners(top_queue, queues, [enqueue] * num_threads, batches)
        _summarize(top_queue, queues, capacity)
        number, *taken = _components(top_queue.dequeue(name="dequeue_top"))
        batch = with_sparse_tensors(taken if len(taken) > 1 else taken[0], sparse)
        return number, in_form_of(tensors, batch)


def _enqueue_in_one(queues: Sequence[QueueBase], which: Tensor, example: Sequence[Tensor]) -> Operation:
    enqueues = [
        cond(equal(which, number), partial(queue.enqueue, list(example)), no_op) for number, queue in enumerate(queues)
    ]
    return group(*enqueues, name="group_enqueues")


def _enqueuing_batches(
    top_queue: QueueBase, queues: Sequence[QueueBase], sizes: Sequence[TensorLike], small: bool
) -> list[Operation]:
    """For each bucket, the operation that puts a batch of it into the queue for all."""
    batches = []
    for number, (queue, size) in enumerate(zip(queues, sizes, strict=True)):
        index = constant(number)
        take = queue.dequeue_up_to if small else queue.dequeue_many
        batch = _components(take(size, name=f"read_bucket_{number}"))
        batches.append(top_queue.enqueue([index, *batch], name=f"enqueue_from_bucket_{number}"))
    return batches


def _components(taken: object) -> list[Tensor]:
    """What a queue without names gave, as a list."""
    if isinstance(taken, Tensor):
        return [taken]
    assert isinstance(taken, list | tuple)
    return list(taken)


def _add_runners(
    top_queue: QueueBase, queues: Sequence[QueueBase], enqueues: Sequence[Operation], batches: Sequence[Operation]
) -> None:
    """One runner for the buckets, which closes them when the input is over; one for batches, which then ends too."""
    ends = (OutOfRangeError, CancelledError)
    fill = QueueRunner(
        queues[0],
        enqueues,
        close_op=group(*(queue.close() for queue in queues), name="close_buckets"),
        cancel_op=group(*(queue.close(cancel_pending_enqueues=True) for queue in queues), name="cancel_buckets"),
        queue_closed_exception_types=ends,
    )
    add_queue_runner(fill)
    add_queue_runner(QueueRunner(top_queue, batches, queue_closed_exception_types=ends))


def _summarize(top_queue: QueueBase, queues: Sequence[QueueBase], capacity: int) -> None:
    for queue in queues:
        scalar(f"bucket/{queue.name}/size", cast(queue.size(), FLOAT32))
    scalar(f"bucket/{top_queue.name}/fraction_of_{capacity}_full", cast(top_queue.size(), FLOAT32) * (1.0 / capacity))


def bucket_by_sequence_length(
    input_length: TensorLike,
    tensors: Examples,
    batch_size: BatchSize,
    bucket_boundaries: Sequence[int],
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Sequence[int] | None = None,
    shapes: Shapes | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: TensorLike = True,
    shared_name: str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Batch]:
    """The lengths of a batch, and the batch: its examples are of lengths between the same two boundaries."""
    _check_boundaries(bucket_boundaries)
    (given,) = tensor_lists([tensors])
    with scope_for(name, "bucket_by_sequence_length", [input_length, *given]):
        length = convert(input_length, INT32, name="input_length")
        passed = greater_equal(length, constant(list(bucket_boundaries), INT32))
        _, taken = bucket(
            tensors=[length, *given],
            which_bucket=reduce_sum(cast(passed, INT32)),
            batch_size=batch_size,
            num_buckets=len(bucket_boundaries) + 1,
            num_threads=num_threads,
            capacity=capacity,
            bucket_capacities=bucket_capacities,
            shapes=None if shapes is None else [TensorShape([]), *shapes],
            dynamic_pad=dynamic_pad,
            allow_smaller_final_batch=allow_smaller_final_batch,
            keep_input=keep_input,
            shared_name=shared_name,
        )
        assert isinstance(taken, list | tuple)
        lengths, *batch = taken
        assert isinstance(lengths, Tensor)
        return lengths, dict(zip(sorted(tensors, key=str), batch, strict=True)) if isinstance(tensors, dict) else batch


def _check_boundaries(boundaries: Sequence[int]) -> None:
    if not isinstance(boundaries, list | tuple):
        raise WrongTypeError(f"bucket_boundaries must be a list or tuple, but received: {boundaries}")
    if not boundaries:
        raise InvalidArgumentError("bucket_boundaries must not be empty")
    if not all(isinstance(boundary, int) for boundary in boundaries):
        raise WrongTypeError(f"bucket boundaries must be integers, but saw: {list(boundaries)}")
    for low, high in pairwise(boundaries):
        if low >= high:
            raise InvalidArgumentError(
                f"Buckets must contain sequential increasing lengths, but saw: {low} before {high}"
            )
