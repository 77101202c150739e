"""Batches of segments of sequences, with states that go from one segment of a sequence to the next.

An example is cut into segments of `num_unroll` steps. All of them lie in a barrier, each under a key of its own; what
the first lacks are its states, which it gets at once, and what each later one lacks are the states that the run of the
one before it saves. So a segment can be taken when the one before it is done. Keys, order and ends are those of
TensorFlow 1.15's tf.contrib.training; tests/tf1/contrib/test_sequence_states.py has a simulation of it.

    key = five digits "_of_" five digits ":" key of the example          which segment, of how many
    next key = the key of the segment after it | "STOP:" key of the example
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from tensorkeep.dtypes import FLOAT32, INT32, STRING
from tensorkeep.errors import CancelledError, InvalidArgumentError, NotFoundError, OutOfRangeError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import chosen_name, control_dependencies, name_scope
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.shapes import Shape
from tensorkeep.tf1.contrib.training.sequence_inputs import Named, checked_example, padded_sequences
from tensorkeep.tf1.functions.arrays.shapes import concat, expand_dims, identity, ones, reshape, stack, tile, where
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.arrays.slicing import gather
from tensorkeep.tf1.functions.control.control_flow import Assert
from tensorkeep.tf1.functions.control.grouping import group
from tensorkeep.tf1.functions.data.barriers import Barrier
from tensorkeep.tf1.functions.data.queues import FIFOQueue
from tensorkeep.tf1.functions.data.summaries import scalar
from tensorkeep.tf1.functions.numbers.elementwise import cast, equal, floordiv, logical_not, maximum, minimum
from tensorkeep.tf1.functions.numbers.elementwise import range as number_range
from tensorkeep.tf1.functions.numbers.reductions import reduce_all, reduce_sum
from tensorkeep.tf1.functions.parsing.decoding import deserialize_many_sparse, serialize_many_sparse, serialize_sparse
from tensorkeep.tf1.functions.parsing.strings import as_string, string_join
from tensorkeep.tf1.functions.random.numbers import random_uniform
from tensorkeep.tf1.functions.sparse.tensors import sparse_reshape
from tensorkeep.tf1.training.inputs.queue_runner import QueueRunner, add_queue_runner

Batched: TypeAlias = Tensor | SparseTensor

_OF_SEGMENTS: Final = ("length", "total_length", "next_key", "sequence", "sequence_count")
_PARTS_OF_SPARSE: Final = 3  # what a sparse tensor is as strings: places, values and shape
_LARGEST_SUFFIX: Final = 2**31 - 1


class NextQueuedSequenceBatch:
    """A batch of segments, each of another example, and the way to save the states that their next segments get."""

    def __init__(self, state_saver: SequenceQueueingStateSaver) -> None:
        self._saver = state_saver
        taken = state_saver.barrier.take_many(
            state_saver.batch_size, state_saver.allow_small_batch, name="BarrierTakeMany"
        )
        self._indices, self._keys = taken.indices, taken.keys
        self._values = dict(zip(state_saver.components, taken.values, strict=True))
        self._context: dict[str, Batched] = self._of("context")
        self._sequences: dict[str, Batched] = self._of("sequence")
        self._is_done = self.sequence + 1 >= self.sequence_count
        with control_dependencies([state_saver.release(reduce_sum(cast(self._is_done, INT32)))]):
            self._states: dict[str, Tensor] = {name: identity(value) for name, value in self._of("state").items()}

    def _of(self, kind: str) -> dict[str, Any]:
        return {name: value for (found, name), value in self._values.items() if found == kind}

    @property
    def total_length(self) -> Tensor:
        """The lengths of the examples, without what they were filled up with."""
        return self._values["segment", "total_length"]

    @property
    def length(self) -> Tensor:
        """How many steps of each segment are of the example, and not filled up."""
        return self._values["segment", "length"]

    @property
    def batch_size(self) -> Tensor:
        """How many segments there are."""
        size: Tensor = shape_of(self.length)[0]
        return size

    @property
    def insertion_index(self) -> Tensor:
        """When the examples came: the smaller, the earlier. Segments of earlier examples go first."""
        return self._indices

    @property
    def key(self) -> Tensor:
        """The keys of the segments."""
        return self._keys

    @property
    def next_key(self) -> Tensor:
        """The keys of the segments after these."""
        return self._values["segment", "next_key"]

    @property
    def sequence(self) -> Tensor:
        """Which segment of its example each is, from 0."""
        return self._values["segment", "sequence"]

    @property
    def sequence_count(self) -> Tensor:
        """How many segments the example of each has."""
        return self._values["segment", "sequence_count"]

    @property
    def context(self) -> dict[str, Batched]:
        """By name, what belongs to the examples as a whole, a row each."""
        return self._context

    @property
    def sequences(self) -> dict[str, Batched]:
        """By name, the segments: batch, steps, and the sizes of a step."""
        return self._sequences

    def state(self, state_name: str) -> Tensor:
        """The states that the segments before these have saved; of first segments, those that examples begin with."""
        self._check_state(state_name)
        return self._states[state_name]

    def save_state(self, state_name: str, value: TensorLike, name: str | None = None) -> Operation:
        """The operation that saves a row of `value` for each segment after these.

        It has to run whenever a batch is taken, for all states: the next segments wait for it.
        """
        self._check_state(state_name)
        with name_scope(chosen_name(name, "InputQueueingStateSaver_SaveState")):
            going_on = reshape(where(logical_not(self._is_done)), [-1])
            return self._saver.barrier.insert_many(
                self._saver.component("state", state_name),
                gather(self.next_key, going_on),
                gather(self._of_same_shape(state_name, value), going_on),
                name=f"BarrierInsertState_{state_name}",
            )

    def _of_same_shape(self, state_name: str, value: TensorLike) -> Tensor:
        state = self._states[state_name]
        tensor = convert(value, state.dtype, name=f"convert_{state_name}")
        tensor.static_shape.merge(state.static_shape)  # refuses what cannot be the same
        found, wanted = shape_of(tensor), shape_of(state)
        said = f"the value to save for state {state_name} should have the shape of the state: "
        with control_dependencies([Assert(reduce_all(equal(found, wanted)), [said, wanted, " received: ", found])]):
            return identity(tensor)

    def _check_state(self, state_name: str) -> None:
        if state_name not in self._states:
            raise NotFoundError(f"state was not declared: {state_name}; there are {', '.join(self._states)}")


class SequenceQueueingStateSaver:
    """Takes examples one at a time, and gives batches of segments, each with the states of the segment before it.

    `prefetch_op` takes an example in; threads run it. It waits while `capacity` examples are not done. `next_batch` is
    of one segment of each of `batch_size` examples. The length of the sequences has to be a multiple of `num_unroll`.
    With `allow_small_batch`, batches become smaller after the input's end, until all examples are done.
    """

    def __init__(
        self,
        batch_size: TensorLike,
        num_unroll: int,
        input_length: TensorLike,
        input_key: TensorLike,
        input_sequences: Named,
        input_context: Named,
        initial_states: Named,
        capacity: int | None = None,
        allow_small_batch: bool = False,
        name: str | None = None,
    ) -> None:
        if capacity is not None and isinstance(batch_size, int) and capacity < batch_size:
            raise InvalidArgumentError(f"capacity must be larger or equal to batch_size: got {capacity} < {batch_size}")
        with name_scope(chosen_name(name, "InputQueueingStateSaver")) as scope:
            self._scope = scope
            self._batch_size = batch_size
            self._num_unroll = num_unroll
            self._example = checked_example(
                input_key, input_length, input_sequences, input_context, initial_states, num_unroll
            )
            # One token for each example that is not done: a barrier has no capacity, and counts segments besides.
            self._tokens = FIFOQueue(-1 if capacity is None else capacity, [INT32], shapes=[[]])
            self._barrier = self._made_barrier()
        self.allow_small_batch = allow_small_batch
        self._prefetch_op: Operation | None = None
        self._next_batch: NextQueuedSequenceBatch | None = None

    def _made_barrier(self) -> Barrier:
        kinds: dict[tuple[str, str], tuple[Any, Any]] = {
            ("segment", name): (STRING if name == "next_key" else INT32, ()) for name in _OF_SEGMENTS
        }
        for name, tensor in self._example.sequences.items():
            kinds["sequence", name] = (tensor.dtype, (self._num_unroll, *_step_sizes(tensor)))
        for kind, tensors in (("context", self._example.context), ("state", self._example.states)):
            kinds.update({(kind, name): (item.dtype, item.static_shape.as_tuple()) for name, item in tensors.items()})
        self.components = tuple(kinds)
        """What each component of the barrier is: of which kind, and its name."""
        return Barrier([dtype for dtype, _ in kinds.values()], shapes=[shape for _, shape in kinds.values()])

    @property
    def name(self) -> str:
        """The name of the barrier, by which a graph that is imported finds it."""
        return self._barrier.name

    @property
    def barrier(self) -> Barrier:
        return self._barrier

    @property
    def batch_size(self) -> TensorLike:
        return self._batch_size

    @property
    def num_unroll(self) -> int:
        return self._num_unroll

    @property
    def prefetch_op(self) -> Operation:
        """The operation that takes one example in."""
        if self._prefetch_op is None:
            with name_scope(self._scope):
                self._prefetch_op = self._prefetching()
        return self._prefetch_op

    @property
    def next_batch(self) -> NextQueuedSequenceBatch:
        """The next batch. There is one: each run that uses it takes another."""
        if self._next_batch is None:
            with name_scope(self._scope):
                self._next_batch = NextQueuedSequenceBatch(self)
        return self._next_batch

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Operation:
        """The operation that ends the input. Segments of examples that are here still come, unless cancelled."""
        with name_scope(chosen_name(name, "SQSSClose")) as scope:
            barrier = self._barrier.close(cancel_pending_enqueues, "BarrierClose")
            return group(barrier, self._tokens.close(cancel_pending_enqueues, "FIFOClose"), name=scope)

    def component(self, kind: str, name: str) -> int:
        """The number of a component of the barrier."""
        return self.components.index((kind, name))

    def release(self, count: Tensor) -> Tensor:
        """Makes room for as many examples as are done, when it is run."""
        released = self._tokens.dequeue_many(count)
        assert isinstance(released, Tensor)
        return released

    def _prefetching(self) -> Operation:
        keys, values = self._segments()
        inserts = [
            self._barrier.insert_many(self.component(*which), keys, value, name=f"BarrierInsert_{which[1]}")
            for which, value in values.items()
        ]
        # All segments come in first, by one insertion, and so have one index; the wait for room is after it, so that a
        # barrier that is closed meanwhile does not lose the example.
        with control_dependencies(inserts):
            token = self._tokens.enqueue(0)
        with control_dependencies([token]):
            begun = [
                self._barrier.insert_many(
                    self.component("state", name), keys[:1], stack([state]), name=f"BarrierInitialInsertState_{name}"
                )
                for name, state in self._example.states.items()
            ]
        return group(*begun, name="StateSaverPrefetchGroup")

    def _segments(self) -> tuple[Tensor, dict[tuple[str, str], Tensor]]:
        """The keys of the segments of an example, and what they have from the beginning, by component."""
        example, steps = self._example, self._num_unroll
        count = floordiv(example.padded_length, steps)
        number = number_range(count)
        texts = [as_string(number, width=5, fill="0"), "_of_", as_string(count, width=5, fill="0"), ":", example.key]
        keys = string_join(texts, name="StringJoinCurrentKeys")
        stop = expand_dims(string_join(["STOP:", example.key], name="StringJoinStop"), 0)
        same = ones(expand_dims(count, 0), INT32)
        values = {
            ("segment", "sequence"): number,
            ("segment", "length"): minimum(steps, maximum(0, example.length - steps * number)),
            ("segment", "total_length"): example.length * same,
            ("segment", "next_key"): concat([keys[1:], stop], 0, name="concat_next_keys"),
            ("segment", "sequence_count"): count * same,
        }
        for name, tensor in example.sequences.items():
            values["sequence", name] = reshape(tensor, stack([count, steps, *_step_sizes(tensor)]))
        for name, tensor in example.context.items():
            rank = len(tensor.static_shape.as_tuple())
            values["context", name] = tile(expand_dims(tensor, 0), stack([count, *[1] * rank]))
        return keys, values


def _step_sizes(sequence: Tensor) -> tuple[int, ...]:
    return Shape((sequence.static_shape.dims or ())[1:]).as_tuple()


# ---------------------------------------------------------------------------------------------------- With threads


def batch_sequences_with_states(
    input_key: TensorLike,
    input_sequences: Mapping[str, TensorLike | SparseTensor],
    input_context: Mapping[str, TensorLike | SparseTensor],
    input_length: TensorLike | None,
    initial_states: Named,
    num_unroll: int,
    batch_size: TensorLike,
    num_threads: int = 3,
    capacity: int = 1000,
    allow_small_batch: bool = True,
    pad: bool = True,
    make_keys_unique: bool = False,
    make_keys_unique_seed: int | None = None,
    name: str | None = None,
) -> NextQueuedSequenceBatch:
    """Batches of segments of examples that the threads of a queue runner bring, with states from segment to segment.

    With `pad`, sequences are filled up to a multiple of `num_unroll`, and `input_length` may be None. With
    `make_keys_unique`, a random number is put behind the key. Sparse sequences and contexts come out sparse.
    """
    with name_scope(chosen_name(name, "batch_sequences_with_states")):
        sequences: Mapping[str, Any] = input_sequences
        if pad:
            length, sequences = padded_sequences(sequences, num_unroll)
            input_length = length if input_length is None else input_length
        if make_keys_unique:
            suffix = random_uniform([], 0, _LARGEST_SUFFIX, dtype=INT32, seed=make_keys_unique_seed)
            input_key = string_join([input_key, ":", as_string(suffix)])
        saver = SequenceQueueingStateSaver(
            batch_size,
            num_unroll,
            input_length=input_length,  # type: ignore[arg-type]  # that it is there is checked, with a word
            input_key=input_key,
            input_sequences={key: _as_strings(item, serialize_many_sparse) for key, item in sequences.items()},
            input_context={key: _as_strings(item, serialize_sparse) for key, item in input_context.items()},
            initial_states=initial_states,
            capacity=capacity,
            allow_small_batch=allow_small_batch,
        )
        ready = cast(saver.barrier.ready_size(), FLOAT32)
        scalar(f"queue/{saver.barrier.name}/ready_segment_batches_", ready)
        closed = (OutOfRangeError, CancelledError)
        add_queue_runner(QueueRunner(saver, [saver.prefetch_op] * num_threads, queue_closed_exception_types=closed))
        batch = saver.next_batch
        _restore_sparse(batch, sequences, input_context)
        return batch


def _as_strings(item: Any, serialize: Any) -> Any:
    """A sparse tensor as strings, which can be cut and stacked; anything else as it is."""
    if not isinstance(item, SparseTensor):
        return item
    strings: Tensor = serialize(item)
    strings.set_shape([None, _PARTS_OF_SPARSE] if serialize is serialize_many_sparse else [_PARTS_OF_SPARSE])
    return strings


def _restore_sparse(batch: NextQueuedSequenceBatch, sequences: Mapping[str, Any], context: Mapping[str, Any]) -> None:
    for name, item in context.items():
        if isinstance(item, SparseTensor):
            batch.context[name] = deserialize_many_sparse(batch.context[name], item.values.dtype)
    for name, item in sequences.items():
        if isinstance(item, SparseTensor):
            strings = batch.sequences[name]
            assert isinstance(strings, Tensor)
            steps = deserialize_many_sparse(reshape(strings, [-1, _PARTS_OF_SPARSE]), item.values.dtype)
            sizes = cast(shape_of(strings)[:2], steps.dense_shape.dtype)
            batch.sequences[name] = sparse_reshape(steps, concat([sizes, steps.dense_shape[1:]], 0))
