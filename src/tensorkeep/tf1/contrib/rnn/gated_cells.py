"""Cells with gates of other kinds: update gates, intersections, phases, groups."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tensorkeep.dtypes import FLOAT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.contrib.rnn.linear_maps import linear
from tensorkeep.tf1.functions.arrays.shapes import concat, split, where
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.arrays.slicing import slice as slice_of
from tensorkeep.tf1.functions.linear_algebra.matrices import matmul
from tensorkeep.tf1.functions.nn.activations import bias_add, relu
from tensorkeep.tf1.functions.numbers.elementwise import cast, exp, mod, sigmoid, tanh
from tensorkeep.tf1.functions.random.numbers import random_uniform
from tensorkeep.tf1.layers.arguments import ActivationLike, LayerOption, activation_of, initializer_of, known_dimension
from tensorkeep.tf1.layers.cells import LayerRNNCell, LSTMStateTuple, RNNCell, State
from tensorkeep.tf1.layers.input_spec import InputSpec
from tensorkeep.tf1.variables.initializers import Constant, RandomUniform
from tensorkeep.tf1.variables.options import InitializerLike
from tensorkeep.tf1.variables.scope import get_variable_scope
from tensorkeep.tf1.variables.scopes import get_variable, variable_scope


class UGRNNCell(RNNCell):
    """A cell with one gate, which says how much of the state is kept."""

    def __init__(
        self,
        num_units: int,
        initializer: InitializerLike = None,
        forget_bias: float = 1.0,
        activation: Callable[..., Tensor] = tanh,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units, self._initializer = num_units, initializer
        self._forget_bias, self._activation = forget_bias, activation

    @property
    def state_size(self) -> int:
        return self._num_units

    @property
    def output_size(self) -> int:
        return self._num_units

    def call(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """One step: the output, which is the new state."""
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            joined = linear([concat([inputs, state], 1)], 2 * self._num_units, True)
        gate, candidate = split(value=joined, num_or_size_splits=2, axis=1)
        kept = sigmoid(gate + self._forget_bias)
        new = kept * state + (1.0 - kept) * self._activation(candidate)
        return new, new


class MinimalRNNCell(LayerRNNCell):
    """A cell that projects its input, and has one gate between that and the state."""

    def __init__(
        self,
        units: int,
        activation: ActivationLike = "tanh",
        kernel_initializer: InitializerLike = "glorot_uniform",
        bias_initializer: InitializerLike = "ones",
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: LayerOption,
    ) -> None:
        super().__init__(name=name, dtype=dtype, **dict[str, Any](kwargs))
        self.input_spec = InputSpec(ndim=2)
        self.units = units
        self.activation = activation_of(activation)
        self.kernel_initializer = initializer_of(kernel_initializer)
        self.bias_initializer = initializer_of(bias_initializer)

    @property
    def state_size(self) -> int:
        return self.units

    @property
    def output_size(self) -> int:
        return self.units

    def build(self, input_shape: TensorShape) -> None:
        depth = known_dimension(input_shape, -1, "The last dimension of the inputs")
        shape = [depth + 2 * self.units, self.units]
        self.kernel: Any = self.add_weight("kernel", shape, initializer=self.kernel_initializer)
        self.bias: Any = self.add_weight("bias", [self.units], initializer=self.bias_initializer)
        self.built = True

    def call(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """One step: the output, which is the new state."""
        before: Any = state
        depth = known_dimension(inputs.get_shape(), -1, "The last dimension of the inputs")
        of_inputs, of_gate = split(value=self.kernel, num_or_size_splits=[depth, 2 * self.units], axis=0)
        projected = matmul(inputs, of_inputs)
        new = projected if self.activation is None else self.activation(projected)
        kept = sigmoid(bias_add(matmul(concat([new, before], 1), of_gate), self.bias))
        found = kept * before + (1 - kept) * new
        return found, found


class IntersectionRNNCell(RNNCell):
    """A cell that has a gate through time and another one through depth."""

    def __init__(
        self,
        num_units: int,
        num_in_proj: int | None = None,
        initializer: InitializerLike = None,
        forget_bias: float = 1.0,
        y_activation: Callable[..., Tensor] = relu,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units, self._num_input_proj = num_units, num_in_proj
        self._initializer, self._forget_bias = initializer, forget_bias
        self._y_activation = y_activation

    @property
    def state_size(self) -> int:
        return self._num_units

    @property
    def output_size(self) -> int:
        return self._num_units

    def call(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """One step: the output, and the new state."""
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            if inputs.get_shape()[1].value != self._num_units:
                if not self._num_input_proj:
                    raise InvalidArgumentError(
                        "Must have input size == output size for Intersection RNN. To fix, num_in_proj should be set "
                        "to num_units at cell init."
                    )
                with variable_scope("in_projection"):
                    inputs = linear(inputs, self._num_input_proj, True)
            joined = linear([concat([inputs, state], 1)], 4 * self._num_units, True)
        time_gate, h, depth_gate, y = split(value=joined, num_or_size_splits=4, axis=1)
        through_time = sigmoid(time_gate + self._forget_bias)
        through_depth = sigmoid(depth_gate + self._forget_bias)
        new_state = through_time * state + (1.0 - through_time) * tanh(h)
        return through_depth * inputs + (1.0 - through_depth) * self._y_activation(y), new_state


class PhasedLSTMCell(RNNCell):
    """An LSTM whose units are open only in a part of a period of their own. Inputs are times and values."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        leak: float = 0.001,
        ratio_on: float = 0.1,
        trainable_ratio_on: bool = True,
        period_init_min: float = 1.0,
        period_init_max: float = 1000.0,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units, self._use_peepholes = num_units, use_peepholes
        self._leak, self._ratio_on, self._trainable_ratio_on = leak, ratio_on, trainable_ratio_on
        self._periods = math.log(period_init_min), math.log(period_init_max)

    @property
    def state_size(self) -> LSTMStateTuple:
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> int:
        return self._num_units

    def call(self, inputs: tuple[Tensor, Tensor], state: State) -> tuple[Tensor, State]:
        """One step: the output, and the new state."""
        c_before, h_before = state
        time, x = inputs
        seen = [x, h_before]
        with variable_scope("mask_gates"):
            gates = sigmoid(linear([*seen, c_before] if self._use_peepholes else seen, 2 * self._num_units, True))
        taken, kept = split(value=gates, num_or_size_splits=2, axis=1)
        with variable_scope("new_input"):
            new_input = tanh(linear(seen, self._num_units, True))
        new_c = c_before * kept + taken * new_input
        with variable_scope("output_gate"):
            shown = sigmoid(linear([*seen, new_c] if self._use_peepholes else seen, self._num_units, True))
        new_h = tanh(new_c) * shown
        openness = self._openness(time, x.dtype)
        new_c = openness * new_c + (1 - openness) * c_before
        new_h = openness * new_h + (1 - openness) * h_before
        return new_h, LSTMStateTuple(new_c, new_h)

    def _openness(self, time: Any, dtype: Any) -> Tensor:
        """How open the units are: rising and falling while they are on, and else hardly at all."""
        units = [self._num_units]

        def periods(shape: Any, dtype: Any = FLOAT32, partition_info: Any = None) -> Tensor:
            return exp(random_uniform(shape, *self._periods, dtype))

        period: Any = get_variable("period", units, initializer=periods, dtype=dtype)
        phase: Any = get_variable("phase", units, initializer=RandomUniform(0.0, period.initial_value), dtype=dtype)
        share: Any = get_variable(
            "ratio_on", units, initializer=Constant(self._ratio_on), trainable=self._trainable_ratio_on, dtype=dtype
        )
        length = cast(period, time.dtype)
        place = cast(mod(time - cast(phase, time.dtype), length) / length, dtype)
        rising = 2 * place / share
        where_on = where(place < share, 2 - rising, self._leak * place)
        return where(place < 0.5 * share, rising, where_on)


class GLSTMCell(RNNCell):
    """An LSTM whose inputs and outputs are in groups that do not see each other."""

    def __init__(
        self,
        num_units: int,
        initializer: InitializerLike = None,
        num_proj: int | None = None,
        number_of_groups: int = 1,
        forget_bias: float = 1.0,
        activation: Callable[..., Tensor] = tanh,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units, self._initializer = num_units, initializer
        self._num_proj, self._forget_bias, self._activation = num_proj, forget_bias, activation
        self._number_of_groups = number_of_groups
        if self._num_units % number_of_groups or self.output_size % number_of_groups:
            raise InvalidArgumentError(
                f"num_units {num_units} and num_proj {num_proj} must be divisible by number_of_groups "
                f"{number_of_groups}"
            )

    @property
    def state_size(self) -> LSTMStateTuple:
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self) -> int:
        return self._num_proj or self._num_units

    def call(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """One step: the output, and the new state."""
        c_before, m_before = state
        groups, units = self._number_of_groups, self._num_units
        seen, made = self.output_size // groups, units // groups
        parts: list[list[Any]] = [[], [], [], []]
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            for number in range(groups):
                with variable_scope(f"group{number}"):
                    both = [
                        slice_of(value, [0, number * seen], [shape_of(value)[0], seen]) for value in (inputs, m_before)
                    ]
                    for part in both:
                        part.set_shape([inputs.get_shape()[0], seen])
                    joined = linear([concat(both, 1)], 4 * made, False)
                    for place, gate in zip(parts, split(value=joined, num_or_size_splits=4, axis=1), strict=True):
                        place.append(gate)
            i, j, f, o = (self._biased(part, letter) for part, letter in zip(parts, "ijfo", strict=True))
            c = sigmoid(f + self._forget_bias) * c_before + sigmoid(i) * tanh(j)
            m = sigmoid(o) * self._activation(c)
            if self._num_proj is not None:
                with variable_scope("projection"):
                    m = linear(m, self._num_proj, False)
        return m, LSTMStateTuple(c, m)

    def _biased(self, parts: list[Any], letter: str) -> Tensor:
        bias = get_variable(f"bias_{letter}", shape=[self._num_units], dtype=parts[0].dtype, initializer=Constant(0.0))
        return bias_add(concat(parts, 1), bias)
