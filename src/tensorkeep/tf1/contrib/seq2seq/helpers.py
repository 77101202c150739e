"""Where the inputs of a decoder come from: data, samples, or both."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from tensorkeep.dtypes import BOOL, INT32, DType
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, ShapeLike, Structure, TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import concat, expand_dims, fill, reshape, size, tile, where, zeros_like
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.arrays.slicing import gather_nd, scatter_nd
from tensorkeep.tf1.functions.control.control_flow import cond
from tensorkeep.tf1.functions.control.tensor_array import TensorArray
from tensorkeep.tf1.functions.embedding.lookups import embedding_lookup
from tensorkeep.tf1.functions.numbers.elementwise import (
    cast,
    equal,
    greater,
    greater_equal,
    less,
    logical_not,
    logical_or,
)
from tensorkeep.tf1.functions.numbers.reductions import argmax, reduce_all, reduce_any
from tensorkeep.tf1.functions.random.numbers import multinomial, random_uniform
from tensorkeep.tf1.functions.structures import map_structure
from tensorkeep.tf1.layers.cells import State
from tensorkeep.tf1.layers.recurrent import with_batch_and_time_exchanged

EmbeddingLike: TypeAlias = "Callable[..., Tensor] | TensorLike"
"""What makes inputs of numbers: a function, or a table with a row for each."""


class Helper(ABC):
    """Samples outputs, and says what the next inputs are."""

    @property
    @abstractmethod
    def batch_size(self) -> Tensor:
        """How many sequences there are."""

    @property
    def sample_ids_shape(self) -> TensorShape:
        """The shape of a sample of one sequence."""
        return TensorShape([])

    @property
    def sample_ids_dtype(self) -> DType:
        """The element type of samples."""
        return INT32

    @abstractmethod
    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        """Which sequences have ended before they begin, and the first inputs."""

    @abstractmethod
    def sample(self, time: Tensor, outputs: TensorLike, state: State, name: str | None = None) -> Tensor:
        """Samples drawn of the outputs of a decoder's step, one for each sequence of the batch."""

    @abstractmethod
    def next_inputs(
        self, time: Tensor, outputs: TensorLike, state: State, sample_ids: Tensor, name: str | None = None
    ) -> tuple[Any, Any, Any]:
        """Which sequences have ended, the next inputs, and the next state."""


class CustomHelper(Helper):
    """A helper made of functions."""

    def __init__(
        self,
        initialize_fn: Callable[[], tuple[Any, Any]],
        sample_fn: Callable[..., Tensor],
        next_inputs_fn: Callable[..., tuple[Any, Any, Any]],
        sample_ids_shape: ShapeLike = None,
        sample_ids_dtype: DTypeLike | None = None,
    ) -> None:
        self._initialize_fn, self._sample_fn, self._next_inputs_fn = initialize_fn, sample_fn, next_inputs_fn
        self._batch_size: Tensor | None = None
        self._sample_ids_shape = TensorShape([] if sample_ids_shape is None else sample_ids_shape)
        self._sample_ids_dtype = DType.of(INT32 if sample_ids_dtype is None else sample_ids_dtype)

    @property
    def batch_size(self) -> Tensor:
        if self._batch_size is None:
            raise FailedPreconditionError("batch_size accessed before initialize was called")
        return self._batch_size

    @property
    def sample_ids_shape(self) -> TensorShape:
        return self._sample_ids_shape

    @property
    def sample_ids_dtype(self) -> DType:
        return self._sample_ids_dtype

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        with name_scope(name or "CustomHelperInitialize"):
            finished, inputs = self._initialize_fn()
            if self._batch_size is None:
                self._batch_size = size(finished)
            return finished, inputs

    def sample(self, time: Tensor, outputs: TensorLike, state: State, name: str | None = None) -> Tensor:
        with name_scope(name or "CustomHelperSample"):
            return self._sample_fn(time=time, outputs=outputs, state=state)

    def next_inputs(
        self, time: Tensor, outputs: TensorLike, state: State, sample_ids: Tensor, name: str | None = None
    ) -> tuple[Any, Any, Any]:
        with name_scope(name or "CustomHelperNextInputs"):
            return self._next_inputs_fn(time=time, outputs=outputs, state=state, sample_ids=sample_ids)


class TrainingHelper(Helper):
    """Feeds the inputs of data, whatever was sampled."""

    def __init__(
        self, inputs: Structure, sequence_length: TensorLike, time_major: bool = False, name: str | None = None
    ) -> None:
        with name_scope(name or "TrainingHelper"):
            self._inputs: Structure = map_structure(convert, inputs)
            if not time_major:
                self._inputs = map_structure(with_batch_and_time_exchanged, self._inputs)
            self._input_tas = map_structure(unstacked_array, self._inputs)
            self._sequence_length = cast(convert(sequence_length, name="sequence_length"), INT32)
            if self._sequence_length.get_shape().rank != 1:
                raise InvalidArgumentError(
                    f"Expected sequence_length to be a vector, but received shape: {self._sequence_length.get_shape()}"
                )
            self._zero_inputs = map_structure(lambda item: zeros_like(item[0, :]), self._inputs)
            self._batch_size = shape_of(self._sequence_length)[0]

    @property
    def inputs(self) -> Structure:
        return self._inputs

    @property
    def sequence_length(self) -> Tensor:
        return self._sequence_length

    @property
    def batch_size(self) -> Tensor:
        return self._batch_size

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        with name_scope(name or "TrainingHelperInitialize"):
            finished = equal(0, self._sequence_length)
            return finished, self._inputs_at(0, finished)

    def _inputs_at(self, time: Any, finished: Any) -> Any:
        return cond(
            reduce_all(finished),
            lambda: self._zero_inputs,
            lambda: map_structure(lambda array: array.read(time), self._input_tas),
        )

    def sample(self, time: Tensor, outputs: TensorLike, state: State, name: str | None = None) -> Tensor:
        with name_scope(name or "TrainingHelperSample"):
            return cast(argmax(outputs, axis=-1), INT32)

    def next_inputs(
        self, time: Tensor, outputs: TensorLike, state: State, sample_ids: Tensor, name: str | None = None
    ) -> tuple[Any, Any, Any]:
        with name_scope(name or "TrainingHelperNextInputs"):
            following = time + 1
            finished = greater_equal(following, self._sequence_length)
            return finished, self._inputs_at(following, finished), state


def unstacked_array(value: Tensor) -> TensorArray:
    shape = value.get_shape()
    array = TensorArray(value.dtype, size=shape_of(value)[0], element_shape=shape[1:])
    return array.unstack(value)


class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """Feeds the inputs of data, or by chance the rows of what was sampled. Where nothing was, the sample is -1."""

    def __init__(
        self,
        inputs: Structure,
        sequence_length: TensorLike,
        embedding: EmbeddingLike,
        sampling_probability: TensorLike,
        time_major: bool = False,
        seed: int | None = None,
        scheduling_seed: int | None = None,
        name: str | None = None,
    ) -> None:
        with name_scope(name or "ScheduledEmbeddingSamplingWrapper"):
            self._embedding_fn: Callable[..., Tensor] = (
                embedding if callable(embedding) else partial(embedding_lookup, embedding)
            )
            self._sampling_probability = convert(sampling_probability, name="sampling_probability")
            if self._sampling_probability.get_shape().rank not in (0, 1):
                raise InvalidArgumentError(
                    "sampling_probability must be either a scalar or a vector: "
                    f"{self._sampling_probability.get_shape()}"
                )
            self._seed, self._scheduling_seed = seed, scheduling_seed
            super().__init__(inputs, sequence_length, time_major, name=name)

    def sample(self, time: Tensor, outputs: TensorLike, state: State, name: str | None = None) -> Tensor:
        with name_scope(name or "ScheduledEmbeddingTrainingHelperSample"):
            chosen = bernoulli(self._sampling_probability, self.batch_size, self._scheduling_seed, BOOL)
            sampled = categorical_sample(outputs, self._seed)
            return where(chosen, sampled, fill([self.batch_size], -1))

    def next_inputs(
        self, time: Tensor, outputs: TensorLike, state: State, sample_ids: Tensor, name: str | None = None
    ) -> tuple[Any, Any, Any]:
        with name_scope(name or "ScheduledEmbeddingTrainingHelperNextInputs"):
            finished, base, next_state = super().next_inputs(time, outputs, state, sample_ids)

            def mixed() -> Any:
                is_sampled = greater(sample_ids, -1)
                sampled = cast(where(is_sampled), INT32)
                kept = cast(where(logical_not(is_sampled)), INT32)
                rows = self._embedding_fn(gather_nd(sample_ids, sampled))
                shape = shape_of(base)
                return scatter_nd(sampled, rows, shape) + scatter_nd(kept, gather_nd(base, kept), shape)

            return finished, cond(reduce_all(finished), lambda: base, mixed), next_state


class ScheduledOutputTrainingHelper(TrainingHelper):
    """Feeds the inputs of data, or by chance the outputs themselves."""

    def __init__(
        self,
        inputs: Structure,
        sequence_length: TensorLike,
        sampling_probability: TensorLike,
        time_major: bool = False,
        seed: int | None = None,
        next_inputs_fn: Callable[[Any], Any] | None = None,
        auxiliary_inputs: Structure = None,
        name: str | None = None,
    ) -> None:
        with name_scope(name or "ScheduledOutputTrainingHelper"):
            self._sampling_probability = convert(sampling_probability, name="sampling_probability")
            if self._sampling_probability.get_shape().rank not in (0, 1):
                raise InvalidArgumentError(
                    "sampling_probability must be either a scalar or a vector: "
                    f"{self._sampling_probability.get_shape()}"
                )
            whole = inputs
            self._auxiliary_input_tas: Any = None
            if auxiliary_inputs is not None:
                whole = map_structure(lambda x, y: concat((x, y), -1), inputs, auxiliary_inputs)
                more = map_structure(convert, auxiliary_inputs)
                if not time_major:
                    more = map_structure(with_batch_and_time_exchanged, more)
                self._auxiliary_input_tas = map_structure(unstacked_array, more)
            self._seed, self._next_inputs_fn = seed, next_inputs_fn
            super().__init__(whole, sequence_length, time_major, name=name)

    def sample(self, time: Tensor, outputs: TensorLike, state: State, name: str | None = None) -> Tensor:
        with name_scope(name or "ScheduledOutputTrainingHelperSample"):
            return bernoulli(self._sampling_probability, self.batch_size, self._seed, INT32)

    def next_inputs(
        self, time: Tensor, outputs: TensorLike, state: State, sample_ids: Tensor, name: str | None = None
    ) -> tuple[Any, Any, Any]:
        with name_scope(name or "ScheduledOutputTrainingHelperNextInputs"):
            finished, base, next_state = super().next_inputs(time, outputs, state, sample_ids)
            is_sampled = cast(sample_ids, BOOL)

            def mixed() -> Any:
                own = self._next_inputs_fn(outputs) if self._next_inputs_fn is not None else outputs
                if self._auxiliary_input_tas is not None:
                    more = map_structure(lambda array: array.read(time + 1), self._auxiliary_input_tas)
                    own = map_structure(lambda x, y: concat((x, y), -1), own, more)
                return map_structure(lambda x, y: where(is_sampled, x, y), own, base)

            nothing = logical_or(reduce_all(finished), logical_not(reduce_any(is_sampled)))
            return finished, cond(nothing, lambda: base, mixed), next_state


class GreedyEmbeddingHelper(Helper):
    """Feeds the rows of what is most likely, until the end token."""

    def __init__(self, embedding: EmbeddingLike, start_tokens: TensorLike, end_token: TensorLike) -> None:
        self._embedding_fn: Callable[..., Tensor] = (
            embedding if callable(embedding) else partial(embedding_lookup, embedding)
        )
        self._start_tokens = convert(start_tokens, INT32, name="start_tokens")
        self._end_token = convert(end_token, INT32, name="end_token")
        if self._start_tokens.get_shape().rank != 1:
            raise InvalidArgumentError("start_tokens must be a vector")
        if self._end_token.get_shape().rank != 0:
            raise InvalidArgumentError("end_token must be a scalar")
        self._batch_size = size(self._start_tokens)
        self._start_inputs = self._embedding_fn(self._start_tokens)

    @property
    def batch_size(self) -> Tensor:
        return self._batch_size

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        return tile([False], [self._batch_size]), self._start_inputs

    def sample(self, time: Tensor, outputs: TensorLike, state: State, name: str | None = None) -> Tensor:
        if not isinstance(outputs, Tensor):
            raise WrongTypeError(f"Expected outputs to be a single Tensor, got: {type(outputs)}")
        return argmax(outputs, axis=-1, output_type=INT32)

    def next_inputs(
        self, time: Tensor, outputs: TensorLike, state: State, sample_ids: Tensor, name: str | None = None
    ) -> tuple[Any, Any, Any]:
        finished = equal(sample_ids, self._end_token)
        inputs = cond(reduce_all(finished), lambda: self._start_inputs, lambda: self._embedding_fn(sample_ids))
        return finished, inputs, state


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """Feeds the rows of what is drawn, until the end token."""

    def __init__(
        self,
        embedding: EmbeddingLike,
        start_tokens: TensorLike,
        end_token: TensorLike,
        softmax_temperature: TensorLike | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(embedding, start_tokens, end_token)
        self._softmax_temperature, self._seed = softmax_temperature, seed

    def sample(self, time: Tensor, outputs: TensorLike, state: State, name: str | None = None) -> Tensor:
        if not isinstance(outputs, Tensor):
            raise WrongTypeError(f"Expected outputs to be a single Tensor, got: {type(outputs)}")
        logits = outputs if self._softmax_temperature is None else outputs / self._softmax_temperature
        return categorical_sample(logits, self._seed)


class InferenceHelper(Helper):
    """Feeds what a function makes of samples, which another function draws."""

    def __init__(
        self,
        sample_fn: Callable[[Any], Tensor],
        sample_shape: ShapeLike,
        sample_dtype: DTypeLike,
        start_inputs: TensorLike,
        end_fn: Callable[[Any], Any],
        next_inputs_fn: Callable[[Any], Any] | None = None,
    ) -> None:
        self._sample_fn, self._end_fn, self._next_inputs_fn = sample_fn, end_fn, next_inputs_fn
        self._sample_shape, self._sample_dtype = TensorShape(sample_shape), DType.of(sample_dtype)
        self._start_inputs = convert(start_inputs, name="start_inputs")
        self._batch_size = shape_of(self._start_inputs)[0]

    @property
    def batch_size(self) -> Tensor:
        return self._batch_size

    @property
    def sample_ids_shape(self) -> TensorShape:
        return self._sample_shape

    @property
    def sample_ids_dtype(self) -> DType:
        return self._sample_dtype

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        return tile([False], [self._batch_size]), self._start_inputs

    def sample(self, time: Tensor, outputs: TensorLike, state: State, name: str | None = None) -> Tensor:
        return self._sample_fn(outputs)

    def next_inputs(
        self, time: Tensor, outputs: TensorLike, state: State, sample_ids: Tensor, name: str | None = None
    ) -> tuple[Any, Any, Any]:
        following = sample_ids if self._next_inputs_fn is None else self._next_inputs_fn(sample_ids)
        return self._end_fn(sample_ids), following, state


# ---------------------------------------------------------------------------------------------------- Chance


def categorical_sample(logits: TensorLike, seed: int | None) -> Tensor:
    """One class for each row, drawn as likely as the logits say."""
    return reshape(multinomial(logits, 1, seed=seed, output_dtype=INT32), [-1])


def bernoulli(probability: Tensor, count: Tensor, seed: int | None, dtype: DType) -> Tensor:
    """For each sequence whether something happens that does so with a probability."""
    drawn = random_uniform(expand_dims(count, 0), seed=seed, dtype=probability.dtype)
    return cast(less(drawn, probability), dtype)
