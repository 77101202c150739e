"""Layers of sequences [batch, steps, channels]: recurrent ones, and attention."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any

from tensorkeep.arrays import Array
from tensorkeep.dtypes import FLOAT16
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.saved_model.layers.core import linear
from tensorkeep.saved_model.layers.weights import (
    Sizes,
    array_of,
    check_input,
    check_sizes,
    optional_array,
    set_fields,
    weight,
)
from tensorkeep.tf1.functions.arrays.shapes import concat, expand_dims, reshape, reverse, split, stack, transpose, zeros
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.control.control_flow import while_loop
from tensorkeep.tf1.functions.control.tensor_array import TensorArray
from tensorkeep.tf1.functions.linear_algebra.products import matmul
from tensorkeep.tf1.functions.nn.activations import bias_add, softmax
from tensorkeep.tf1.functions.numbers.elementwise import add, cast, less, multiply, sigmoid, subtract, tanh
from tensorkeep.tf1.functions.numbers.elementwise import range as number_range


@dataclass(frozen=True, eq=False)
class LSTM:
    """Long short-term memory. Kernels are [inputs, 4 * units] and [units, 4 * units], with the gates in the order of
    Keras and PyTorch, input, forget, cell, output: PyTorch's `weight_ih_l0.T`, `weight_hh_l0.T`, and the sum of its
    two biases. Gives the last state, or with `sequences` all of them.
    """

    kernel: Any
    recurrent_kernel: Any
    bias: Any = None
    sequences: bool = False
    backwards: bool = False

    def __post_init__(self) -> None:
        _set_recurrent(self, 4, (1,))

    @property
    def takes(self) -> Sizes:
        return (None, None, len(self.kernel))

    def __call__(self, x: Tensor) -> Tensor:
        check_input(self, x, (3,), len(self.kernel))
        with name_scope("lstm"):
            recurrent = weight(self.recurrent_kernel, x.dtype, "recurrent_kernel").value()

            def step(told: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
                output, memory = state
                gates = add(told, matmul(output, recurrent))
                taken, kept, new, given = split(gates, 4, axis=1)
                memory = add(multiply(sigmoid(kept), memory), multiply(sigmoid(taken), tanh(new)))
                return multiply(sigmoid(given), tanh(memory)), memory

            units = len(self.recurrent_kernel)
            return _along_steps(self, linear(x, self.kernel, self.bias), units, 2, step)


@dataclass(frozen=True, eq=False)
class GRU:
    """Gated recurrent units. Kernels are [inputs, 3 * units] and [units, 3 * units], with the gates in Keras' order,
    update, reset, new (PyTorch has reset, update, new). A bias of two rows, for inputs and for states, is that of a
    layer that resets after the product, as PyTorch's and Keras' layers do unless told otherwise.
    """

    kernel: Any
    recurrent_kernel: Any
    bias: Any = None
    sequences: bool = False
    backwards: bool = False
    reset_after: bool = True

    def __post_init__(self) -> None:
        _set_recurrent(self, 3, (1, 2))
        if self.bias is not None and self.bias.shape[:-1] != ((2,) if self.reset_after else ()):
            raise InvalidArgumentError(
                f"GRU: the bias has shape {self.bias.shape}; it must be (2, 3 * units) with reset_after, and "
                "(3 * units,) without"
            )

    @property
    def takes(self) -> Sizes:
        return (None, None, len(self.kernel))

    def __call__(self, x: Tensor) -> Tensor:
        check_input(self, x, (3,), len(self.kernel))
        with name_scope("gru"):
            units = len(self.recurrent_kernel)
            recurrent = weight(self.recurrent_kernel, x.dtype, "recurrent_kernel").value()
            bias = self.bias if self.bias is None or self.bias.ndim == 1 else self.bias[0]
            inner = self.bias[1] if self.reset_after and self.bias is not None else None
            added = None if inner is None else weight(inner, x.dtype, "recurrent_bias").value()
            compute = _reset_after if self.reset_after else _reset_before

            def step(told: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
                return (compute(told, state[0], recurrent, added, units),)

            return _along_steps(self, linear(x, self.kernel, bias), units, 1, step)


def _reset_after(told: Tensor, state: Tensor, recurrent: Tensor, added: Tensor | None, units: int) -> Tensor:
    inner = matmul(state, recurrent)
    inner = inner if added is None else bias_add(inner, added)
    of_input, of_state = split(told, 3, axis=1), split(inner, 3, axis=1)
    update, reset = sigmoid(add(of_input[0], of_state[0])), sigmoid(add(of_input[1], of_state[1]))
    return _mixed_state(update, state, tanh(add(of_input[2], multiply(reset, of_state[2]))))


def _reset_before(told: Tensor, state: Tensor, recurrent: Tensor, added: Tensor | None, units: int) -> Tensor:
    of_input = split(told, 3, axis=1)
    gates = split(matmul(state, recurrent[:, : 2 * units]), 2, axis=1)
    update, reset = sigmoid(add(of_input[0], gates[0])), sigmoid(add(of_input[1], gates[1]))
    new = tanh(add(of_input[2], matmul(multiply(reset, state), recurrent[:, 2 * units :])))
    return _mixed_state(update, state, new)


def _mixed_state(update: Tensor, state: Tensor, new: Tensor) -> Tensor:
    return add(multiply(update, state), multiply(subtract(1.0, update), new))


def _set_recurrent(layer: Any, gates: int, bias_ranks: tuple[int, ...]) -> None:
    kernel = array_of(layer.kernel, (2,), "the kernel")
    recurrent = array_of(layer.recurrent_kernel, (2,), "the recurrent kernel")
    bias = optional_array(layer.bias, bias_ranks, "the bias")
    who = type(layer).__name__
    check_sizes(who, gates * len(recurrent), kernel=kernel, recurrent_kernel=recurrent, bias=bias)
    set_fields(layer, kernel=kernel, recurrent_kernel=recurrent, bias=bias)


Step = Callable[[Tensor, tuple[Tensor, ...]], tuple[Tensor, ...]]


def _along_steps(layer: LSTM | GRU, told: Tensor, units: int, states: int, step: Step) -> Tensor:
    """Runs a loop over the steps of sequences, from states of zeros; gives the last first state, or all of them."""
    by_step = transpose(told, [1, 0, 2])
    by_step = reverse(by_step, [0]) if layer.backwards else by_step
    steps, batch = shape_of(by_step)[0], shape_of(by_step)[1]
    inputs = TensorArray(told.dtype, size=steps, name="inputs").unstack(by_step)
    outputs = TensorArray(told.dtype, size=steps, name="outputs", element_shape=[None, units])
    start = [zeros(stack([batch, units]), told.dtype) for _ in range(states)]
    for state in start:
        state.set_shape([None, units])

    def body(at: Tensor, written: Any, *state: Tensor) -> list[Any]:
        row = inputs.read(at)
        row.set_shape(TensorShape([None, told.shape[-1]]))
        new = step(row, state)
        return [at + 1, written.write(at, new[0]) if layer.sequences else written, *new]

    _, written, *last = while_loop(
        lambda at, *_: less(at, steps), body, [0, outputs, *start], parallel_iterations=1, back_prop=False
    )
    if not layer.sequences:
        found: Tensor = last[0]
        return found
    all_states = written.stack()
    return transpose(reverse(all_states, [0]) if layer.backwards else all_states, [1, 0, 2])


# ------------------------------------------------------------------------------------------------------------ attention


@dataclass(frozen=True, eq=False)
class SelfAttention:
    """Each step looks at all steps, or with `causal` at those up to it, in several heads.

    The kernels of query, key and value are [channels, heads * size], that of the output [heads * size, outputs]: of
    PyTorch's MultiheadAttention, `in_proj_weight.T` cut in three along its last dimension, and `out_proj.weight.T`.
    """

    query: Any
    key: Any
    value: Any
    output: Any
    heads: int
    biases: tuple[Any, Any, Any, Any] | None = None
    causal: bool = False

    def __post_init__(self) -> None:
        kernels = {name: array_of(getattr(self, name), (2,), name) for name in ("query", "key", "value", "output")}
        biases = tuple(optional_array(bias, (1,), "a bias") for bias in self.biases or (None,) * 4)
        if len(biases) != 4:
            raise InvalidArgumentError(f"SelfAttention has biases for query, key, value and output, got {len(biases)}")
        width = kernels["query"].shape[1]
        check_sizes("SelfAttention", width, key=kernels["key"], value=kernels["value"], output=kernels["output"].T)
        for (name, kernel), bias in zip(kernels.items(), biases, strict=True):
            check_sizes(f"SelfAttention, bias of {name}", kernel.shape[1], bias=bias)
        if self.heads < 1 or width % self.heads:
            raise InvalidArgumentError(f"SelfAttention: {width} columns cannot be shared by {self.heads} heads")
        set_fields(self, biases=biases, **kernels)

    @property
    def takes(self) -> Sizes:
        return (None, None, len(self.query))

    def __call__(self, x: Tensor) -> Tensor:
        check_input(self, x, (3,), len(self.query))
        with name_scope("self_attention"):
            assert self.biases is not None
            arrays: list[Array] = [self.query, self.key, self.value]
            names = ("_query", "_key", "_value")
            query, key, value = (
                self._in_heads(linear(x, kernel, bias, name))
                for kernel, bias, name in zip(arrays, self.biases, names, strict=False)
            )
            scores = matmul(multiply(query, 1 / sqrt(self.query.shape[1] // self.heads)), key, transpose_b=True)
            weights = softmax(self._hiding_what_follows(scores) if self.causal else scores)
            together = transpose(matmul(weights, value), [0, 2, 1, 3])
            rows = reshape(together, concat([shape_of(x)[:2], [self.query.shape[1]]], 0))
            rows.set_shape([None, None, self.query.shape[1]])
            return linear(rows, self.output, self.biases[3], "_output")

    def _in_heads(self, x: Tensor) -> Tensor:
        shape = concat([shape_of(x)[:2], [self.heads, self.query.shape[1] // self.heads]], 0)
        return transpose(reshape(x, shape), [0, 2, 1, 3])

    def _hiding_what_follows(self, scores: Tensor) -> Tensor:
        steps = number_range(shape_of(scores)[-1])
        follows = cast(less(expand_dims(steps, 1), expand_dims(steps, 0)), scores.dtype)
        return add(scores, multiply(follows, -1e9 if scores.dtype is not FLOAT16 else -6e4))
