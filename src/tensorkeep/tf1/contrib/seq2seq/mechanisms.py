"""Attention as Bahdanau and Luong have it, plain and monotonic."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tensorkeep.dtypes import FLOAT32, INT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike, TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.contrib.seq2seq.attention import BaseAttentionMechanism, monotonic_attention
from tensorkeep.tf1.functions.arrays.shapes import expand_dims, one_hot, squeeze, zeros
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.linear_algebra.matrices import matmul
from tensorkeep.tf1.functions.nn.activations import softmax
from tensorkeep.tf1.functions.numbers.elementwise import cast, rsqrt, sigmoid, square, tanh
from tensorkeep.tf1.functions.numbers.reductions import argmax, reduce_sum
from tensorkeep.tf1.functions.random.numbers import random_normal
from tensorkeep.tf1.layers.core import Dense
from tensorkeep.tf1.variables.initializers import Constant, Ones, Zeros
from tensorkeep.tf1.variables.scopes import get_variable, variable_scope


def _probabilities(function: Callable[[Any], Any] | None) -> Callable[[Any, Any], Any]:
    chosen = softmax if function is None else function
    return lambda score, _: chosen(score)


def bahdanau_score(query: Tensor, keys: Tensor, units: int, is_normalized: bool) -> Tensor:
    """v * tanh(keys + query), summed over the units; normalized, v has a length that is learned."""
    dtype = query.dtype
    v: Any = get_variable("attention_v", [units], dtype=dtype)
    spread = expand_dims(query, 1)
    if not is_normalized:
        return reduce_sum(v * tanh(keys + spread), [2])
    g = get_variable("attention_g", dtype=dtype, initializer=Constant(math.sqrt(1.0 / units)), shape=())
    b = get_variable("attention_b", [units], dtype=dtype, initializer=Zeros())
    normed = g * v * rsqrt(reduce_sum(square(v)))
    return reduce_sum(normed * tanh(keys + spread + b), [2])


def luong_score(query: Tensor, keys: Tensor, is_scaled: bool) -> Tensor:
    """The products of keys and query."""
    depth, wide = query.get_shape()[-1].value, keys.get_shape()[-1].value
    if depth != wide:
        raise InvalidArgumentError(
            f"Incompatible inner dimensions between query and keys. Query ({query.name}) has units: {depth}. "
            f"Keys ({keys.name}) have units: {wide}. Perhaps num_units should be {wide}?"
        )
    score = squeeze(matmul(expand_dims(query, 1), keys, transpose_b=True), [1])
    if is_scaled:
        score = get_variable("attention_g", dtype=query.dtype, initializer=Ones(), shape=()) * score
    return score


def _layer(units: int, name: str, dtype: Any) -> Dense:
    return Dense(units, name=name, use_bias=False, dtype=dtype)


class BahdanauAttention(BaseAttentionMechanism):
    """Additive attention."""

    def __init__(
        self,
        num_units: int,
        memory: TensorLike,
        memory_sequence_length: TensorLike | None = None,
        normalize: bool = False,
        probability_fn: Callable[[Any], Any] | None = None,
        score_mask_value: float | None = None,
        dtype: DTypeLike | None = None,
        custom_key_value_fn: Callable[[Any, Any], tuple[Any, Any]] | None = None,
        name: str = "BahdanauAttention",
    ) -> None:
        kind = FLOAT32 if dtype is None else dtype
        super().__init__(
            _layer(num_units, "query_layer", kind),
            memory,
            _probabilities(probability_fn),
            memory_sequence_length,
            _layer(num_units, "memory_layer", kind),
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
        )
        self._num_units, self._normalize, self._name = num_units, normalize, name

    def __call__(self, query: Tensor, state: Tensor) -> tuple[Any, Any]:
        """Where a query attends to, which is the next state too."""
        with variable_scope(None, "bahdanau_attention", [query]):
            asked = self.query_layer(query) if self.query_layer else query
            score = bahdanau_score(asked, self._keys, self._num_units, self._normalize)
        found = self._probability_fn(score, state)
        return found, found


class LuongAttention(BaseAttentionMechanism):
    """Multiplicative attention."""

    def __init__(
        self,
        num_units: int,
        memory: TensorLike,
        memory_sequence_length: TensorLike | None = None,
        scale: bool = False,
        probability_fn: Callable[[Any], Any] | None = None,
        score_mask_value: float | None = None,
        dtype: DTypeLike | None = None,
        custom_key_value_fn: Callable[[Any, Any], tuple[Any, Any]] | None = None,
        name: str = "LuongAttention",
    ) -> None:
        super().__init__(
            None,
            memory,
            _probabilities(probability_fn),
            memory_sequence_length,
            _layer(num_units, "memory_layer", FLOAT32 if dtype is None else dtype),
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
        )
        self._num_units, self._scale, self._name = num_units, scale, name

    def __call__(self, query: Tensor, state: Tensor) -> tuple[Any, Any]:
        """Where a query attends to, which is the next state too."""
        with variable_scope(None, "luong_attention", [query]):
            score = luong_score(query, self._keys, self._scale)
        found = self._probability_fn(score, state)
        return found, found


# ---------------------------------------------------------------------------------------------------- Monotonic


def monotonic_probabilities(noise: float, mode: str, seed: int | None) -> Callable[[Any, Any], Any]:
    """The function that makes monotonic attention of scores, with noise before it in training."""

    def found(score: Any, before: Any) -> Any:
        if noise > 0:
            score = score + noise * random_normal(shape_of(score), dtype=score.dtype, seed=seed)
        stay = cast(score > 0, score.dtype) if mode == "hard" else sigmoid(score)
        return monotonic_attention(stay, before, mode)

    return found


class _Monotonic(BaseAttentionMechanism):
    """Attention that begins at the first place."""

    def initial_alignments(self, batch_size: Any, dtype: DTypeLike) -> Tensor:
        rows = expand_dims(convert(batch_size, INT32), 0)
        return one_hot(zeros(rows, dtype=INT32), self._alignments_size, dtype=dtype)


def _biased_score(score: Any, begin: float) -> Any:
    return score + get_variable("attention_score_bias", dtype=score.dtype, initializer=begin)


class BahdanauMonotonicAttention(_Monotonic):
    """Additive attention that never goes back."""

    def __init__(
        self,
        num_units: int,
        memory: TensorLike,
        memory_sequence_length: TensorLike | None = None,
        normalize: bool = False,
        score_mask_value: float | None = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: DTypeLike | None = None,
        name: str = "BahdanauMonotonicAttention",
    ) -> None:
        kind = FLOAT32 if dtype is None else dtype
        super().__init__(
            _layer(num_units, "query_layer", kind),
            memory,
            monotonic_probabilities(sigmoid_noise, mode, sigmoid_noise_seed),
            memory_sequence_length,
            _layer(num_units, "memory_layer", kind),
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units, self._normalize, self._begin = num_units, normalize, score_bias_init

    def __call__(self, query: Tensor, state: Tensor) -> tuple[Any, Any]:
        """Where a query attends to, which is the next state too."""
        with variable_scope(None, "bahdanau_monotonic_attention", [query]):
            asked = self.query_layer(query) if self.query_layer else query
            score = bahdanau_score(asked, self._keys, self._num_units, self._normalize)
            score = _biased_score(score, self._begin)
        found = self._probability_fn(score, state)
        return found, found


class LuongMonotonicAttention(_Monotonic):
    """Multiplicative attention that never goes back."""

    def __init__(
        self,
        num_units: int,
        memory: TensorLike,
        memory_sequence_length: TensorLike | None = None,
        scale: bool = False,
        score_mask_value: float | None = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: DTypeLike | None = None,
        name: str = "LuongMonotonicAttention",
    ) -> None:
        super().__init__(
            None,
            memory,
            monotonic_probabilities(sigmoid_noise, mode, sigmoid_noise_seed),
            memory_sequence_length,
            _layer(num_units, "memory_layer", FLOAT32 if dtype is None else dtype),
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units, self._scale, self._begin = num_units, scale, score_bias_init

    def __call__(self, query: Tensor, state: Tensor) -> tuple[Any, Any]:
        """Where a query attends to, which is the next state too."""
        with variable_scope(None, "luong_monotonic_attention", [query]):
            score = _biased_score(luong_score(query, self._keys, self._scale), self._begin)
        found = self._probability_fn(score, state)
        return found, found


def hardmax(logits: TensorLike, name: str | None = None) -> Tensor:
    """One at the largest of each row, zero elsewhere."""
    with name_scope(name or "Hardmax"):
        found = convert(logits, name="logits")
        classes = found.get_shape()[-1].value or shape_of(found)[-1]
        return one_hot(argmax(found, -1), classes, dtype=found.dtype)
