"""LSTM cells with layer normalization, coupled gates, normalized weights, or found by search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike, TensorLike
from tensorkeep.graph.building import control_dependencies
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.contrib.layers.normalizations import layer_norm
from tensorkeep.tf1.contrib.rnn.linear_maps import biased_sum, kernel_for, linear, weighted_sum
from tensorkeep.tf1.functions.arrays.shapes import concat, split
from tensorkeep.tf1.functions.arrays.slicing import slice as slice_of
from tensorkeep.tf1.functions.linear_algebra.matrices import matmul
from tensorkeep.tf1.functions.nn.activations import bias_add, dropout, relu
from tensorkeep.tf1.functions.nn.normalization import l2_normalize
from tensorkeep.tf1.functions.numbers.clipping import clip_by_value
from tensorkeep.tf1.functions.numbers.elementwise import sigmoid, tanh
from tensorkeep.tf1.layers.arguments import LayerOption, known_dimension
from tensorkeep.tf1.layers.cells import LayerRNNCell, LSTMStateTuple, RNNCell, Sizes, State
from tensorkeep.tf1.variables.initializers import Constant, GlorotUniform, Zeros
from tensorkeep.tf1.variables.options import InitializerLike
from tensorkeep.tf1.variables.scope import get_variable_scope
from tensorkeep.tf1.variables.scopes import get_variable, variable_scope

_WEIGHT_NORM_SCOPE: Final = "wn_lstm_cell"


class _LSTM(RNNCell):
    """What the cells below share: units, and a state of a memory and an output."""

    def __init__(
        self, num_units: int, activation: Callable[..., Tensor] | None, reuse: bool | None, **kwargs: Any
    ) -> None:
        super().__init__(_reuse=reuse, **kwargs)
        self._num_units = num_units
        self._activation: Any = activation or tanh

    @property
    def state_size(self) -> Sizes:
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> int:
        return self._num_units


def normalized_gate(value: Tensor, scope: str, gain: float, shift: float) -> Tensor:
    """A gate with layer normalization; its variables begin with a gain and a shift."""
    shape = value.get_shape()[-1:]
    with variable_scope(scope):  # made here for their initial values, and found again by the layer
        get_variable("gamma", shape=shape, dtype=value.dtype, initializer=Constant(gain))
        get_variable("beta", shape=shape, dtype=value.dtype, initializer=Constant(shift))
    return layer_norm(value, reuse=True, scope=scope)


class LayerNormBasicLSTMCell(_LSTM):
    """A basic LSTM with layer normalization of each gate, and dropout of what is new."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        input_size: int | None = None,
        activation: Callable[..., Tensor] = tanh,
        layer_norm: bool = True,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
        dropout_keep_prob: Tensor | float = 1.0,
        dropout_prob_seed: int | None = None,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(num_units, activation, reuse)
        self._forget_bias = forget_bias
        self._keep_prob, self._seed = dropout_keep_prob, dropout_prob_seed
        self._layer_norm = layer_norm
        self._norm_gain, self._norm_shift = norm_gain, norm_shift

    def _normalized(self, value: Any, scope: str) -> Any:
        return normalized_gate(value, scope, self._norm_gain, self._norm_shift) if self._layer_norm else value

    def call(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """One step: the output, and the new state."""
        c, h = state
        joined = linear([concat([inputs, h], 1)], 4 * self._num_units, not self._layer_norm, _glorot_or_scope())
        i, j, f, o = split(value=joined, num_or_size_splits=4, axis=1)
        i, j = self._normalized(i, "input"), self._normalized(j, "transform")
        f, o = self._normalized(f, "forget"), self._normalized(o, "output")
        new = self._activation(j)
        if not isinstance(self._keep_prob, float) or self._keep_prob < 1:
            new = dropout(new, self._keep_prob, seed=self._seed)
        new_c = self._normalized(c * sigmoid(f + self._forget_bias) + sigmoid(i) * new, "state")
        new_h = self._activation(new_c) * sigmoid(o)
        return new_h, LSTMStateTuple(new_c, new_h)


def _glorot_or_scope() -> Any:
    """The initializer that a variable of the scope has if none is given."""
    return get_variable_scope().initializer or GlorotUniform()


class LayerNormLSTMCell(_LSTM):
    """An LSTM that may have layer normalization, peepholes, a clipped memory and projected outputs."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: InitializerLike = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        forget_bias: float = 1.0,
        activation: Callable[..., Tensor] | None = None,
        layer_norm: bool = False,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(num_units, activation, reuse)
        self._use_peepholes, self._cell_clip = use_peepholes, cell_clip
        self._initializer = initializer
        self._num_proj, self._proj_clip = num_proj, proj_clip
        self._forget_bias = forget_bias
        self._layer_norm = layer_norm
        self._norm_gain, self._norm_shift = norm_gain, norm_shift

    @property
    def state_size(self) -> LSTMStateTuple:
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self) -> int:
        return self._num_proj or self._num_units

    def _gates(self, inputs: Any, m: Any) -> list[Any]:
        joined = linear([inputs, m], 4 * self._num_units, not self._layer_norm)
        gates = split(value=joined, num_or_size_splits=4, axis=1)
        if not self._layer_norm:
            return list(gates)
        scopes = ("input", "transform", "forget", "output")
        return [
            normalized_gate(gate, scope, self._norm_gain, self._norm_shift)
            for gate, scope in zip(gates, scopes, strict=True)
        ]

    def call(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """One step: the output, and the new state."""
        c_before, m_before = state
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            i, j, f, o = self._gates(inputs, m_before)
            f = f + self._forget_bias
            if self._use_peepholes:
                f = f + peephole("w_f_diag", self._num_units, inputs.dtype) * c_before
                i = i + peephole("w_i_diag", self._num_units, inputs.dtype) * c_before
            c = sigmoid(f) * c_before + sigmoid(i) * self._activation(j)
            if self._layer_norm:
                c = normalized_gate(c, "state", self._norm_gain, self._norm_shift)
            if self._cell_clip is not None:
                c = clip_by_value(c, -self._cell_clip, self._cell_clip)
            if self._use_peepholes:
                o = o + peephole("w_o_diag", self._num_units, inputs.dtype) * c
            m = sigmoid(o) * self._activation(c)
            if self._num_proj is not None:
                with variable_scope("projection"):
                    m = linear(m, self._num_proj, bias=False)
                if self._proj_clip is not None:
                    m = clip_by_value(m, -self._proj_clip, self._proj_clip)
        return m, LSTMStateTuple(c, m)


def peephole(name: str, units: int, dtype: DTypeLike | None) -> Any:
    """The weights by which a gate sees the memory."""
    return get_variable(name, shape=[units], dtype=dtype)


def sharded_variable(name: str, shape: list[int], dtype: DTypeLike | None, count: int) -> TensorLike:
    """A variable in pieces of rows, called name_0, name_1 and so on, as one tensor."""
    if count > shape[0]:
        raise InvalidArgumentError(f"Too many shards: shape={shape}, num_shards={count}")
    each, rest = divmod(shape[0], count)
    parts = [
        get_variable(f"{name}_{number}", [each + (number < rest), *shape[1:]], dtype=dtype) for number in range(count)
    ]
    return parts[0] if count == 1 else concat(parts, 0, name=f"{name}/concat")


class CoupledInputForgetGateLSTMCell(_LSTM):
    """An LSTM that takes in as much of the new as it forgets of the old."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        initializer: InitializerLike = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int = 1,
        num_proj_shards: int = 1,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Callable[..., Tensor] = tanh,
        reuse: bool | None = None,
        layer_norm: bool = False,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
    ) -> None:
        super().__init__(num_units, activation, reuse)
        self._use_peepholes, self._initializer = use_peepholes, initializer
        self._num_proj, self._proj_clip = num_proj, proj_clip
        self._num_unit_shards, self._num_proj_shards = num_unit_shards, num_proj_shards
        self._forget_bias, self._state_is_tuple = forget_bias, state_is_tuple
        self._layer_norm = layer_norm
        self._norm_gain, self._norm_shift = norm_gain, norm_shift

    @property
    def state_size(self) -> LSTMStateTuple | int:
        sizes = LSTMStateTuple(self._num_units, self.output_size)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> int:
        return self._num_proj or self._num_units

    def _normalized(self, value: Any, scope: str) -> Any:
        return normalized_gate(value, scope, self._norm_gain, self._norm_shift) if self._layer_norm else value

    def call(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """One step: the output, and the new state."""
        units, hidden, dtype = self._num_units, self.output_size, inputs.dtype
        if self._state_is_tuple:
            c_before, m_before = state
        else:
            c_before = slice_of(state, [0, 0], [-1, units])
            m_before = slice_of(state, [0, units], [-1, hidden])
        depth = inputs.get_shape()[1].value
        if depth is None:
            raise InvalidArgumentError("Could not infer input size from inputs.get_shape()[-1]")
        weights = sharded_variable("W", [depth + hidden, 3 * units], dtype, self._num_unit_shards)
        bias = get_variable("B", shape=[3 * units], initializer=Zeros(), dtype=dtype)
        joined = matmul(concat([inputs, m_before], 1), weights)
        if not self._layer_norm:
            joined = bias_add(joined, bias)
        j, f, o = split(value=joined, num_or_size_splits=3, axis=1)
        j, f, o = self._normalized(j, "transform"), self._normalized(f, "forget"), self._normalized(o, "output")
        f = f + self._forget_bias
        if self._use_peepholes:
            f = f + peephole("W_F_diag", units, dtype) * c_before
        kept = sigmoid(f)
        c = self._normalized(kept * c_before + (1 - kept) * self._activation(j), "state")
        if self._use_peepholes:
            o = o + peephole("W_O_diag", units, dtype) * c
        m = sigmoid(o) * self._activation(c)
        if self._num_proj is not None:
            m = matmul(m, sharded_variable("W_P", [units, self._num_proj], dtype, self._num_proj_shards))
            if self._proj_clip is not None:
                m = clip_by_value(m, -self._proj_clip, self._proj_clip)
        return m, (LSTMStateTuple(c, m) if self._state_is_tuple else concat([c, m], 1))


class WeightNormLSTMCell(_LSTM):
    """An LSTM whose weights are directions, one for the inputs and one for the output before, with a length for each.

    Its variables are in a scope "wn_lstm_cell" in another one of that name, as in TensorFlow 1.15.
    """

    def __init__(
        self,
        num_units: int,
        norm: bool = True,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: InitializerLike = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        forget_bias: float = 1,
        activation: Callable[..., Tensor] | None = None,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(num_units, activation, reuse)
        self._norm = norm
        self._use_peepholes, self._cell_clip = use_peepholes, cell_clip
        self._initializer = initializer
        self._num_proj, self._proj_clip = num_proj, proj_clip
        self._forget_bias = forget_bias

    @property
    def state_size(self) -> LSTMStateTuple:
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self) -> int:
        return self._num_proj or self._num_units

    def _set_scope(self, scope: Any) -> None:
        super()._set_scope(_WEIGHT_NORM_SCOPE)

    def _weighted(self, inputs: list[Any], output_size: int) -> Tensor:
        kernel: TensorLike = kernel_for(inputs, output_size)
        if not self._norm:
            return weighted_sum(inputs, kernel)
        with control_dependencies(None):  # once for all steps of a loop
            parts = split(kernel, [item.get_shape()[1].value for item in inputs], axis=0)
            directions = [
                l2_normalize(part, axis=0) * get_variable(f"norm_{number}", [output_size], dtype=part.dtype)
                for number, part in enumerate(parts)
            ]
            kernel = concat(directions, 0)
        return weighted_sum(inputs, kernel)

    def call(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """One step: the output, and the new state."""
        c_before, h_before = state
        units, dtype = self._num_units, inputs.dtype
        with variable_scope(_WEIGHT_NORM_SCOPE, initializer=self._initializer):
            joined = biased_sum(self._weighted([inputs, h_before], 4 * units), 4 * units)
            i, j, f, o = split(value=joined, num_or_size_splits=4, axis=1)
            f = f + self._forget_bias
            if self._use_peepholes:
                f = f + peephole("w_f_diag", units, dtype) * c_before
                i = i + peephole("w_i_diag", units, dtype) * c_before
            c = c_before * sigmoid(f) + sigmoid(i) * self._activation(j)
            if self._cell_clip is not None:
                c = clip_by_value(c, -self._cell_clip, self._cell_clip)
            if self._use_peepholes:
                o = o + peephole("w_o_diag", units, dtype) * c
            h = sigmoid(o) * self._activation(c)
            if self._num_proj is not None:
                with variable_scope("projection"):
                    h = self._weighted([h], self._num_proj)
                if self._proj_clip is not None:
                    h = clip_by_value(h, -self._proj_clip, self._proj_clip)
        return h, LSTMStateTuple(c, h)


class NASCell(LayerRNNCell):
    """The cell that "Neural Architecture Search with Reinforcement Learning" found."""

    def __init__(
        self,
        num_units: int,
        num_proj: int | None = None,
        use_bias: bool = False,
        reuse: bool | None = None,
        **kwargs: LayerOption,
    ) -> None:
        super().__init__(_reuse=reuse, **dict[str, Any](kwargs))
        self._num_units, self._num_proj, self._use_bias = num_units, num_proj, use_bias

    @property
    def state_size(self) -> LSTMStateTuple:
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self) -> int:
        return self._num_proj or self._num_units

    def build(self, input_shape: TensorShape) -> None:
        depth, wide = known_dimension(input_shape, -1, "The last dimension of the inputs"), 8 * self._num_units
        self._recurrent_kernel = self.add_weight("recurrent_kernel", [self.output_size, wide])
        self._kernel = self.add_weight("kernel", [depth, wide])
        if self._use_bias:
            self._bias = self.add_weight("bias", [wide], initializer=Zeros())
        if self._num_proj is not None:
            self._projection = self.add_weight("projection_weights", [self._num_units, self._num_proj])
        self.built = True

    def call(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """One step: the output, and the new state."""
        c_before, m_before = state
        before = matmul(m_before, self._recurrent_kernel)
        if self._use_bias:
            before = bias_add(before, self._bias)
        m = split(value=before, num_or_size_splits=8, axis=1)
        x = split(value=matmul(inputs, self._kernel), num_or_size_splits=8, axis=1)
        left = tanh(sigmoid(x[0] + m[0]) * relu(x[1] + m[1]))
        middle = tanh(sigmoid(x[2] + m[2]) + relu(x[3] * m[3]))
        right = tanh(tanh(x[4] + m[4]) * sigmoid(x[5] + m[5]))
        last = sigmoid(tanh(x[6] + m[6]) + sigmoid(x[7] + m[7]))
        new_c = tanh(left + c_before) * middle
        new_m = tanh(new_c * tanh(right + last))
        if self._num_proj is not None:
            new_m = matmul(new_m, self._projection)
        return new_m, LSTMStateTuple(new_c, new_m)
