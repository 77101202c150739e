"""Where queues of input begin: the rows of a tensor, in order or shuffled, for some epochs or for ever."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorkeep.dtypes import FLOAT32, INT64, STRING
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import ShapeLike, TensorLike
from tensorkeep.graph.building import chosen_name, control_dependencies, graph_of, name_scope
from tensorkeep.graph.collections import GraphKeys
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import identity, size
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.arrays.slicing import gather
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.control_flow import Assert
from tensorkeep.tf1.functions.data.queues import FIFOQueue, QueueBase
from tensorkeep.tf1.functions.data.readers import matching_files
from tensorkeep.tf1.functions.data.summaries import scalar
from tensorkeep.tf1.functions.numbers.elementwise import cast, greater
from tensorkeep.tf1.functions.numbers.elementwise import range as range_tensor
from tensorkeep.tf1.functions.random.numbers import random_shuffle
from tensorkeep.tf1.training.inputs.queue_runner import QueueRunner, add_queue_runner
from tensorkeep.tf1.variables.assignments import count_up_to
from tensorkeep.tf1.variables.variable import Variable


def scope_for(name: str | None, default: str, values: Sequence[Any]) -> name_scope:
    """A name scope in the graph that some values belong to."""
    return name_scope(chosen_name(name, default), graph_of(values))


def match_filenames_once(pattern: TensorLike, name: str | None = None) -> Variable:
    """A local variable that holds the names of the files that match, found when it is initialized."""
    with scope_for(name, "matching_filenames", [pattern]) as scope:
        return Variable(
            name=scope,
            initial_value=matching_files(pattern),
            trainable=False,
            validate_shape=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )


def limit_epochs(tensor: Tensor, num_epochs: int | None = None, name: str | None = None) -> Tensor:
    """The tensor, that many times; after that, the error that says that the input is at its end."""
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise InvalidArgumentError(f"num_epochs must be > 0 not {num_epochs}.")
    with scope_for(name, "limit_epochs", [tensor]) as scope:
        zero = constant(0, INT64)
        epochs = Variable(zero, name="epochs", trainable=False, collections=[GraphKeys.LOCAL_VARIABLES])
        with control_dependencies([count_up_to(epochs, num_epochs)]):
            return identity(tensor, name=scope)


def input_producer(
    input_tensor: TensorLike,
    element_shape: ShapeLike = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    summary_name: str | None = None,
    name: str | None = None,
    cancel_op: Operation | None = None,
) -> QueueBase:
    """A queue of the rows of a tensor, which a queue runner fills."""
    with scope_for(name, "input_producer", [input_tensor]):
        rows = convert(input_tensor, name="input_tensor")
        element = TensorShape(rows.shape)[1:].merge_with(element_shape)
        if not element.is_fully_defined():
            raise InvalidArgumentError(
                "Either `input_tensor` must have a fully defined shape or `element_shape` must be specified"
            )
        if shuffle:
            rows = random_shuffle(rows, seed=seed)
        rows = limit_epochs(rows, num_epochs)
        queue = FIFOQueue(
            capacity=capacity,
            dtypes=[rows.dtype.base_dtype],
            shapes=[element],
            shared_name=shared_name,
            name=name,
        )
        add_queue_runner(QueueRunner(queue, [queue.enqueue_many([rows])], cancel_op=cancel_op))
        if summary_name is not None:
            scalar(summary_name, cast(queue.size(), FLOAT32) * (1.0 / capacity))
        return queue


def string_input_producer(
    string_tensor: TensorLike,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
    cancel_op: Operation | None = None,
) -> QueueBase:
    """A queue of strings, such as names of files. That there are none is an error."""
    complaint = "string_input_producer requires a non-null input tensor"
    if not isinstance(string_tensor, Tensor) and not string_tensor:
        raise InvalidArgumentError(complaint)
    with scope_for(name, "input_producer", [string_tensor]) as scope:
        strings = convert(string_tensor, STRING)
        with control_dependencies([Assert(greater(size(strings), 0), [complaint])]):
            strings = identity(strings)
        return input_producer(
            input_tensor=strings,
            element_shape=[],
            num_epochs=num_epochs,
            shuffle=shuffle,
            seed=seed,
            capacity=capacity,
            shared_name=shared_name,
            name=scope,
            summary_name=f"fraction_of_{capacity}_full",
            cancel_op=cancel_op,
        )


def range_input_producer(
    limit: TensorLike,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> QueueBase:
    """A queue of the numbers from 0 up to a limit."""
    with scope_for(name, "input_producer", [limit]) as scope:
        numbers = range_tensor(limit)
        full = f"fraction_of_{capacity}_full"
        return input_producer(numbers, [], num_epochs, shuffle, seed, capacity, shared_name, full, scope)


def slice_input_producer(
    tensor_list: Sequence[TensorLike],
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> list[Tensor]:
    """One row of each tensor, the same of all, another one in each run."""
    with scope_for(name, "input_producer", tensor_list):
        tensors = [convert(tensor) for tensor in tensor_list]
        if not tensors:
            raise InvalidArgumentError("Expected at least one tensor in slice_input_producer().")
        count = shape_of(tensors[0])[0]
        queue = range_input_producer(
            count, num_epochs=num_epochs, shuffle=shuffle, seed=seed, capacity=capacity, shared_name=shared_name
        )
        index = convert(queue.dequeue())
        return [gather(tensor, index) for tensor in tensors]
