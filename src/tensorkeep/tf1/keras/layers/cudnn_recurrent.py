"""Recurrent layers whose weights lie as cuDNN has them; they run on any device here.

Each gate's part of a kernel [inputs, units] holds the numbers of a matrix [units, inputs] row by row, and there are two
biases, one for inputs and one for states.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import concat, reshape, split, transpose
from tensorkeep.tf1.functions.linear_algebra.products import matmul
from tensorkeep.tf1.functions.nn.activations import bias_add
from tensorkeep.tf1.functions.numbers.elementwise import sigmoid, tanh
from tensorkeep.tf1.keras import constraints, initializers, regularizers
from tensorkeep.tf1.keras.engine.base_layer import Layer, untracked_method
from tensorkeep.tf1.keras.layers.cudnn_layouts import gru_values, lstm_values
from tensorkeep.tf1.keras.layers.recurrent import RNN
from tensorkeep.tf1.layers.arguments import Training
from tensorkeep.tf1.layers.input_spec import InputSpec

if TYPE_CHECKING:
    from typing_extensions import Unpack  # in `typing` since Python 3.11

    from tensorkeep.tf1.keras.layers.options import (
        AnyOption,
        ConstraintOption,
        InitializerOption,
        NamedOptions,
        RegularizerOption,
    )

_KINDS = ("kernel", "recurrent", "bias")
_WEIGHTS = tuple(f"{kind}_{what}" for what in ("initializer", "regularizer") for kind in _KINDS)
_CONSTRAINTS = tuple(f"{kind}_constraint" for kind in _KINDS)
_LOOP = ("return_sequences", "return_state", "go_backwards", "stateful", "time_major")


@dataclass(frozen=True)
class _Sizes:
    """What a recurrent layer asks of its cell: these layers have none of their own."""

    state_size: Any

    def call(self, *args: Any) -> Any:
        raise NotImplementedError("the steps of cuDNN's layers are the layers' own")


class _CudnnLayer(RNN):
    """What cuDNN's layers share."""

    _not_followed = RNN._not_followed | {"cell"}
    _configured = ("units", *_WEIGHTS, "activity_regularizer", *_CONSTRAINTS, *_LOOP)
    _gates: ClassVar[int] = 1
    _states: ClassVar[int] = 1

    def __init__(
        self,
        units: int,
        kernel_initializer: InitializerOption = "glorot_uniform",
        recurrent_initializer: InitializerOption = "orthogonal",
        bias_initializer: InitializerOption = "zeros",
        kernel_regularizer: RegularizerOption = None,
        recurrent_regularizer: RegularizerOption = None,
        bias_regularizer: RegularizerOption = None,
        activity_regularizer: RegularizerOption = None,
        kernel_constraint: ConstraintOption = None,
        recurrent_constraint: ConstraintOption = None,
        bias_constraint: ConstraintOption = None,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        **kwargs: Unpack[NamedOptions],
    ) -> None:
        sizes = _Sizes(units if self._states == 1 else [units] * self._states)
        loop = (return_sequences, return_state, go_backwards, stateful)
        super().__init__(sizes, *loop, activity_regularizer=activity_regularizer, **kwargs)
        self.units = units
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.recurrent_initializer = initializers.get(recurrent_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.recurrent_regularizer = regularizers.get(recurrent_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        self.recurrent_constraint = constraints.get(recurrent_constraint)
        self.bias_constraint = constraints.get(bias_constraint)
        self.supports_masking = False
        self.input_spec = [InputSpec(ndim=3)]

    def build(self, input_shape: Any) -> None:
        shape = input_shape[0] if isinstance(input_shape, list) else input_shape
        size: Any = TensorShape(shape).as_list()[-1]
        if size is None:
            raise InvalidArgumentError(f"The last dimension of the inputs of {self.name} should be defined: {shape}")
        self._note_inputs(input_shape)
        wide = self.units * self._gates
        self.kernel = self._weight("kernel", "kernel", (size, wide))
        self.recurrent_kernel = self._weight("recurrent_kernel", "recurrent", (self.units, wide))
        self.bias = self._weight("bias", "bias", (2 * wide,))
        self.built = True

    @untracked_method
    def _note_inputs(self, input_shape: Any) -> None:
        RNN.build(self, input_shape)

    def _weight(self, name: str, kind: str, shape: tuple[int, ...]) -> Any:
        return self.add_weight(
            name,
            shape,
            initializer=self._initializer_of(kind),
            regularizer=getattr(self, f"{kind}_regularizer"),
            constraint=getattr(self, f"{kind}_constraint"),
        )

    def _initializer_of(self, kind: str) -> Any:
        return getattr(self, f"{kind}_initializer")

    def call(
        self, inputs: Any, mask: Any = None, training: Training = None, initial_state: Any = None, constants: Any = None
    ) -> Any:
        if mask is not None and any(item is not None for item in (mask if isinstance(mask, list) else [mask])):
            raise InvalidArgumentError("Masking is not supported for CuDNN RNNs.")
        return super().call(inputs, None, training, initial_state, constants)

    def _plain(self, kernel: Any) -> Any:
        """A kernel as other recurrent layers have it."""
        shape = kernel.get_shape().as_list()
        turned = [shape[1] // self._gates, shape[0]]
        parts = [transpose(reshape(part, turned)) for part in split(kernel, self._gates, axis=1)]
        return concat(parts, axis=1)

    @property
    def trainable_weights(self) -> list[Any]:
        return Layer.trainable_weights.fget(self)  # type: ignore[attr-defined, no-any-return]

    @property
    def non_trainable_weights(self) -> list[Any]:
        return Layer.non_trainable_weights.fget(self)  # type: ignore[attr-defined, no-any-return]

    def get_config(self) -> dict[str, Any]:
        return Layer.get_config(self)

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> _CudnnLayer:
        return cls(**config)


class CuDNNLSTM(_CudnnLayer):
    """A long short-term memory, with tanh and sigmoid, whose weights lie as cuDNN has them."""

    _gates = 4
    _states = 2
    _configured = ("unit_forget_bias", *_CudnnLayer._configured)

    def __init__(
        self,
        units: int,
        kernel_initializer: InitializerOption = "glorot_uniform",
        recurrent_initializer: InitializerOption = "orthogonal",
        bias_initializer: InitializerOption = "zeros",
        unit_forget_bias: bool = True,
        *args: AnyOption,
        **kwargs: AnyOption,
    ) -> None:
        super().__init__(
            units,
            kernel_initializer,
            recurrent_initializer,
            bias_initializer,
            *tuple[Any, ...](args),
            **dict[str, Any](kwargs),
        )
        self.unit_forget_bias = unit_forget_bias

    def _initializer_of(self, kind: str) -> Any:
        told = super()._initializer_of(kind)
        if kind != "bias" or not self.unit_forget_bias:
            return told

        def made(shape: Any, *args: Any, **kwargs: Any) -> Any:
            ones = initializers.get("ones")((self.units,), *args, **kwargs)
            before, after = (told((self.units * count,), *args, **kwargs) for count in (5, 2))
            return concat([before, ones, after], axis=0)

        return made

    def _laid_out_values(self, values: Any) -> list[Any]:
        return lstm_values(values, as_cudnn=True)

    def _step(self, constants: Any, training: Any) -> Any:
        kernel, recurrent = self._plain(self.kernel), self._plain(self.recurrent_kernel)
        of_inputs, of_states = split(self.bias, 2)
        bias = of_inputs + of_states

        def step(item: Any, states: Any) -> tuple[Any, list[Any]]:
            before, carry = states[0], states[1]
            z = bias_add(matmul(item, kernel) + matmul(before, recurrent), bias)
            i, f, c, o = split(z, 4, axis=1)
            carry = sigmoid(f) * carry + sigmoid(i) * tanh(c)
            output = sigmoid(o) * tanh(carry)
            return output, [output, carry]

        return step


class CuDNNGRU(_CudnnLayer):
    """A layer of gated recurrent units that reset after the product, whose weights lie as cuDNN has them."""

    _gates = 3

    def _laid_out_values(self, values: Any) -> list[Any]:
        return gru_values(values, as_cudnn=True, reset_after=True)

    def _step(self, constants: Any, training: Any) -> Any:
        kernel, recurrent = self._plain(self.kernel), self._plain(self.recurrent_kernel)
        of_inputs, of_states = split(self.bias, 2)

        def step(item: Any, states: Any) -> tuple[Any, list[Any]]:
            before = states[0]
            x_z, x_r, x_h = split(bias_add(matmul(item, kernel), of_inputs), 3, axis=1)
            r_z, r_r, r_h = split(bias_add(matmul(before, recurrent), of_states), 3, axis=1)
            z, r = sigmoid(x_z + r_z), sigmoid(x_r + r_r)
            output = z * before + (1 - z) * tanh(x_h + r * r_h)
            return output, [output]

        return step
