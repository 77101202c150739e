"""Cells whose units do not see each other, and the simple recurrent unit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorkeep.dtypes import FLOAT32
from tensorkeep.graph.arguments import DTypeLike
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import concat, split, tile
from tensorkeep.tf1.functions.linear_algebra.matrices import matmul
from tensorkeep.tf1.functions.nn.activations import bias_add
from tensorkeep.tf1.functions.numbers.elementwise import sigmoid, tanh
from tensorkeep.tf1.layers.arguments import LayerOption, known_dimension
from tensorkeep.tf1.layers.cells import LayerRNNCell, LSTMStateTuple, Sizes, State
from tensorkeep.tf1.layers.input_spec import InputSpec
from tensorkeep.tf1.variables.initializers import Constant, RandomUniform, Zeros
from tensorkeep.tf1.variables.options import InitializerLike


class _Units(LayerRNNCell):
    """What the cells below share: units, inputs that are rows, and a weight for each unit's own past."""

    def __init__(
        self, num_units: int, activation: Callable[..., Tensor] | None, reuse: Any, name: Any, dtype: Any, **kwargs: Any
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation: Any = activation or tanh

    @property
    def state_size(self) -> Sizes:
        return self._num_units

    @property
    def output_size(self) -> int:
        return self._num_units

    def _own_weights(self, input_shape: Any, prefix: str, count: int, kernel: Any, bias: Any) -> tuple[Any, Any, Any]:
        depth = known_dimension(input_shape, -1, "The last dimension of the inputs")
        wide = count * self._num_units
        return (
            self.add_weight(f"{prefix}kernel_w", [depth, wide], initializer=kernel),
            self.add_weight(
                f"{prefix}kernel_u", [1, wide], initializer=RandomUniform(-1, 1, dtype=self._dtype or FLOAT32)
            ),
            self.add_weight(f"{prefix}bias", [wide], initializer=bias),
        )


def _weighted_sum(inputs: Any, past: Any, weights: tuple[Any, Any, Any]) -> Tensor:
    kernel, own, bias = weights
    return bias_add(matmul(inputs, kernel) + past * own, bias)


class IndRNNCell(_Units):
    """A basic cell in which each unit sees only its own past."""

    def __init__(
        self,
        num_units: int,
        activation: Callable[..., Tensor] | None = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(num_units, activation, reuse, name, dtype)

    def build(self, input_shape: TensorShape) -> None:
        self._all = self._own_weights(input_shape, "", 1, None, Zeros(dtype=self._dtype))
        self.built = True

    def call(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """One step: the output, which is the new state."""
        output = self._activation(_weighted_sum(inputs, state, self._all))
        return output, output


class IndyGRUCell(_Units):
    """A gated recurrent unit in which each unit sees only its own past."""

    def __init__(
        self,
        num_units: int,
        activation: Callable[..., Tensor] | None = None,
        reuse: bool | None = None,
        kernel_initializer: InitializerLike = None,
        bias_initializer: InitializerLike = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(num_units, activation, reuse, name, dtype)
        self._kernel_initializer, self._bias_initializer = kernel_initializer, bias_initializer

    def build(self, input_shape: TensorShape) -> None:
        kernel, bias = self._kernel_initializer, self._bias_initializer
        ones, zeros = bias or Constant(1.0, dtype=self._dtype), bias or Zeros(dtype=self._dtype)
        self._gates = self._own_weights(input_shape, "gates/", 2, kernel, ones)
        self._candidate = self._own_weights(input_shape, "candidate/", 1, kernel, zeros)
        self.built = True

    def call(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """One step: the output, which is the new state."""
        gates = sigmoid(_weighted_sum(inputs, tile(state, [1, 2]), self._gates))
        reset, update = split(value=gates, num_or_size_splits=2, axis=1)
        new = self._activation(_weighted_sum(inputs, reset * state, self._candidate))
        output = update * state + (1 - update) * new
        return output, output


class IndyLSTMCell(_Units):
    """A basic LSTM in which each unit sees only its own past."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        activation: Callable[..., Tensor] | None = None,
        reuse: bool | None = None,
        kernel_initializer: InitializerLike = None,
        bias_initializer: InitializerLike = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(num_units, activation, reuse, name, dtype)
        self._forget_bias = forget_bias
        self._kernel_initializer, self._bias_initializer = kernel_initializer, bias_initializer

    @property
    def state_size(self) -> LSTMStateTuple:
        return LSTMStateTuple(self._num_units, self._num_units)

    def build(self, input_shape: TensorShape) -> None:
        bias = self._bias_initializer or Zeros(dtype=self._dtype)
        self._all = self._own_weights(input_shape, "", 4, self._kernel_initializer, bias)
        self.built = True

    def call(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """One step: the output, and the new state."""
        c, h = state
        gates = _weighted_sum(inputs, tile(h, [1, 4]), self._all)
        i, j, f, o = split(value=gates, num_or_size_splits=4, axis=1)
        new_c = c * sigmoid(f + self._forget_bias) + sigmoid(i) * self._activation(j)
        new_h = self._activation(new_c) * sigmoid(o)
        return new_h, LSTMStateTuple(new_c, new_h)


class SRUCell(LayerRNNCell):
    """The simple recurrent unit, whose gates see the inputs alone."""

    def __init__(
        self,
        num_units: int,
        activation: Callable[..., Tensor] | None = None,
        reuse: bool | None = None,
        name: str | None = None,
        **kwargs: LayerOption,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, **dict[str, Any](kwargs))
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation: Any = activation or tanh

    @property
    def state_size(self) -> int:
        return self._num_units

    @property
    def output_size(self) -> int:
        return self._num_units

    def build(self, input_shape: TensorShape) -> None:
        depth = known_dimension(input_shape, -1, "The last dimension of the inputs")
        self._kernel = self.add_weight("kernel", [depth, 4 * self._num_units])
        self._bias = self.add_weight("bias", [2 * self._num_units], initializer=Constant(0.0))
        self.built = True

    def call(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """One step: the output, and the new state."""
        parts = split(value=matmul(inputs, self._kernel), num_or_size_splits=4, axis=1)
        gates = sigmoid(bias_add(concat([parts[1], parts[2]], 1), self._bias))
        forget, shown = split(value=gates, num_or_size_splits=2, axis=1)
        new = forget * state + (1.0 - forget) * parts[0]
        return shown * self._activation(new) + (1.0 - shown) * parts[3], new
