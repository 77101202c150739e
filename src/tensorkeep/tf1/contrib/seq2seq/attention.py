"""What attention mechanisms share: memories, masks, keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from tensorkeep.dtypes import FLOAT32, INT32
from tensorkeep.errors import InvalidArgumentError, UnimplementedError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, Structure, TensorLike
from tensorkeep.graph.building import control_dependencies, name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import (
    concat,
    expand_dims,
    ones,
    ones_like,
    reshape,
    stack,
    transpose,
    where,
    zeros,
)
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.arrays.slicing import sequence_mask
from tensorkeep.tf1.functions.control.assertions import assert_positive
from tensorkeep.tf1.functions.control.higher_order import scan
from tensorkeep.tf1.functions.numbers.clipping import clip_by_value
from tensorkeep.tf1.functions.numbers.elementwise import cumprod, cumsum, exp, log
from tensorkeep.tf1.functions.structures import flatten, map_structure
from tensorkeep.tf1.layers.base import Layer


class AttentionMechanism:
    """Says where to attend to in memories."""

    @property
    def alignments_size(self) -> Tensor | int:
        """How many places there are."""
        raise UnimplementedError("Abstract method")

    @property
    def state_size(self) -> Tensor | int:
        """How wide the state is."""
        raise UnimplementedError("Abstract method")


class Attending(Protocol):
    """What a cell needs of a mechanism: the memories, and where a query attends to in them, with the next state."""

    @property
    def values(self) -> Tensor: ...

    def __call__(self, query: Tensor, state: Tensor) -> tuple[Any, Any]: ...


def prepared_memory(memory: Structure | TensorLike, lengths: TensorLike | None, checks_depth: bool) -> Tensor:
    """Memories with zeros after the ends of sequences."""
    found: Tensor = map_structure(lambda item: convert(item, name="memory"), memory)
    if checks_depth:
        for item in flatten(found):
            if not item.get_shape()[2:].is_fully_defined():
                raise InvalidArgumentError(
                    f"Expected memory {item.name} to have fully defined inner dims, but saw shape: {item.get_shape()}"
                )
    if lengths is None:
        return found
    first = flatten(found)[0]
    mask = sequence_mask(lengths, maxlen=shape_of(first)[1], dtype=first.dtype)

    def masked(item: Any) -> Tensor:
        ones_after = ones([(item.get_shape().rank or 3) - 2], INT32)
        result: Tensor = item * reshape(mask, concat((shape_of(mask), ones_after), 0))
        result.set_shape(item.get_shape())
        return result

    kept: Tensor = map_structure(masked, found)
    return kept


def masked_score(score: Tensor, lengths: TensorLike | None, value: float) -> Tensor:
    """Scores, with a value after the ends of sequences, which must have at least one element."""
    if lengths is None:
        return score
    message = "All values in memory_sequence_length must greater than zero."
    with control_dependencies([assert_positive(lengths, message=message)]):
        mask = sequence_mask(lengths, maxlen=shape_of(score)[1])
        return where(mask, score, value * ones_like(score))


class BaseAttentionMechanism(AttentionMechanism):
    """Attention to memories [batch, time, depth], by keys that a layer makes of them."""

    def __init__(
        self,
        query_layer: Layer | None,
        memory: TensorLike,
        probability_fn: Callable[[Any, Any], Any],
        memory_sequence_length: TensorLike | None = None,
        memory_layer: Layer | None = None,
        check_inner_dims_defined: bool = True,
        score_mask_value: float | None = None,
        custom_key_value_fn: Callable[[Any, Any], tuple[Any, Any]] | None = None,
        name: str | None = None,
    ) -> None:
        for kind, layer in (("query_layer", query_layer), ("memory_layer", memory_layer)):
            if layer is not None and not isinstance(layer, Layer):
                raise WrongTypeError(f"{kind} is not a Layer: {type(layer).__name__}")
        if not callable(probability_fn):
            raise WrongTypeError(f"probability_fn must be callable, saw type: {type(probability_fn).__name__}")
        self._query_layer, self._memory_layer = query_layer, memory_layer
        self.dtype = FLOAT32 if memory_layer is None or memory_layer.dtype is None else memory_layer.dtype
        mask_value = -np.inf if score_mask_value is None else score_mask_value
        with name_scope(name or "BaseAttentionMechanismInit"):
            lengths = None
            if memory_sequence_length is not None:
                lengths = convert(memory_sequence_length, name="memory_sequence_length")
            self._probability_fn: Callable[[Any, Any], Any] = lambda score, before: probability_fn(
                masked_score(score, lengths, mask_value), before
            )
            self._values = prepared_memory(memory, lengths, check_inner_dims_defined)
            self._keys: Tensor = self._values if memory_layer is None else memory_layer(self._values)
            if custom_key_value_fn is not None:
                self._keys, self._values = custom_key_value_fn(self._keys, self._values)
            shape = self._keys.get_shape()
            self._batch_size = shape[0].value or shape_of(self._keys)[0]
            self._alignments_size = shape[1].value or shape_of(self._keys)[1]

    @property
    def memory_layer(self) -> Layer | None:
        return self._memory_layer

    @property
    def query_layer(self) -> Layer | None:
        return self._query_layer

    @property
    def values(self) -> Tensor:
        return self._values

    @property
    def keys(self) -> Tensor:
        return self._keys

    @property
    def batch_size(self) -> Tensor | int:
        return self._batch_size

    @property
    def alignments_size(self) -> Tensor | int:
        return self._alignments_size

    @property
    def state_size(self) -> Tensor | int:
        return self._alignments_size

    def initial_alignments(self, batch_size: TensorLike, dtype: DTypeLike) -> Tensor:
        """Where a sequence attends to before it begins: nowhere."""
        return zeros(_pair(batch_size, self._alignments_size), dtype=dtype)

    def initial_state(self, batch_size: TensorLike, dtype: DTypeLike) -> Tensor:
        return self.initial_alignments(batch_size, dtype)


def _pair(first: Any, second: Any) -> Any:
    return stack([first, second]) if isinstance(first, Tensor) or isinstance(second, Tensor) else [first, second]


# ---------------------------------------------------------------------------------------------------- Monotonic


def safe_cumprod(x: TensorLike, *args: Any, **kwargs: Any) -> Tensor:
    """The product of all elements up to each, by way of logarithms, so that it does not become zero."""
    with name_scope("SafeCumprod"):
        found = convert(x, name="x")
        tiny = np.finfo(found.dtype.as_numpy_dtype).tiny
        return exp(cumsum(log(clip_by_value(found, tiny, 1)), *args, **kwargs))


def monotonic_attention(p_choose_i: TensorLike, previous_attention: TensorLike, mode: str) -> Tensor:
    """Attention that only moves forward, from the probabilities of stopping at each place.

    It is computed "recursive", "parallel" (quick, and less exact for long sequences) or "hard": to one place.
    """
    stay = convert(p_choose_i, name="p_choose_i")
    before = convert(previous_attention, name="previous_attention")
    if mode == "parallel":
        passed = safe_cumprod(1 - stay, axis=1, exclusive=True)
        return stay * passed * cumsum(before / clip_by_value(passed, 1e-10, 1.0), axis=1)
    if mode == "hard":
        reached = stay * cumsum(before, axis=1)
        return reached * cumprod(1 - reached, axis=1, exclusive=True)
    if mode != "recursive":
        raise InvalidArgumentError(f"mode must be 'recursive', 'parallel', or 'hard', not {mode!r}.")
    rows = stay.get_shape()[0].value or shape_of(stay)[0]
    shifted = concat([ones(stack([rows, 1]), stay.dtype), 1 - stay[:, :-1]], 1)
    found = scan(
        lambda x, yz: reshape(yz[0] * x + yz[1], (rows,)),
        [transpose(shifted), transpose(before)],
        zeros(expand_dims(convert(rows), 0), stay.dtype),
    )
    return stay * transpose(found)
