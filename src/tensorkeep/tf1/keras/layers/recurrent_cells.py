"""Cells of recurrent layers: one step of a sequence, with the states that it takes and gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any, Protocol

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike, Structure
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import concat, ones_like, split, unstack, zeros
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.control.control_flow import smart_cond
from tensorkeep.tf1.functions.linear_algebra.products import matmul
from tensorkeep.tf1.functions.nn.activations import bias_add
from tensorkeep.tf1.functions.nn.activations import dropout as nn_dropout
from tensorkeep.tf1.functions.structures import flatten, pack_sequence_as
from tensorkeep.tf1.keras import activations, constraints, initializers, regularizers
from tensorkeep.tf1.keras.engine import serialization
from tensorkeep.tf1.keras.engine.base_layer import Layer
from tensorkeep.tf1.layers.arguments import Training
from tensorkeep.tf1.layers.base import learning_phase
from tensorkeep.tf1.layers.cells import Sizes, State

if TYPE_CHECKING:
    from typing_extensions import Unpack  # in `typing` since Python 3.11

    from tensorkeep.tf1.keras.layers.options import (
        ActivationOption,
        ConstraintOption,
        InitializerOption,
        LayerOptions,
        RegularizerOption,
        StackOptions,
    )

WEIGHTS = tuple(
    f"{kind}_{what}"
    for what in ("initializer", "regularizer", "constraint")
    for kind in ("kernel", "recurrent", "bias")
)
"""What programs say of the weights of a cell: those of inputs, those of states, and the bias."""


class RecurrentCell(Protocol):
    """What a recurrent layer needs of a cell: how wide its states are, and what an input and states give."""

    @property
    def state_size(self) -> Sizes: ...

    @property
    def call(self) -> Callable[..., tuple[Any, Any]]: ...


def zero_state(inputs: Tensor | None, batch_size: Tensor | int | None, dtype: DTypeLike | None, sizes: Sizes) -> State:
    """States of zeros, of some sizes, for inputs or for a size of batches."""
    if inputs is not None:
        batch_size, dtype = shape_of(inputs)[0], inputs.dtype
    if batch_size is None or dtype is None:
        raise InvalidArgumentError(
            "batch_size and dtype cannot be None while constructing initial state: "
            f"batch_size={batch_size}, dtype={dtype}"
        )

    def made(size: Any) -> Tensor:
        inner = TensorShape(size).as_list() if not isinstance(size, int) else [size]
        return zeros([batch_size, *inner], dtype)

    if isinstance(sizes, list | tuple):
        return [made(size) for size in sizes]
    return made(sizes)


class AbstractRNNCell(Layer):
    """What cells of a program's own may derive from: they say `state_size` and `output_size`, and override `call`."""

    def call(self, inputs: Tensor, states: Sequence[Tensor]) -> tuple[Structure, State]:
        raise NotImplementedError(f"cell {type(self).__name__} must say what a step gives: override `call`")

    @property
    def state_size(self) -> Sizes:
        raise NotImplementedError(f"cell {type(self).__name__} must say the sizes of its states: `state_size`")

    @property
    def output_size(self) -> Sizes:
        raise NotImplementedError(f"cell {type(self).__name__} must say the size of its outputs: `output_size`")

    def get_initial_state(
        self, inputs: Tensor | None = None, batch_size: Tensor | int | None = None, dtype: DTypeLike | None = None
    ) -> State:
        """States of zeros."""
        return zero_state(inputs, batch_size, dtype, self.state_size)


class Cell(Layer):
    """What cells share: weights of inputs and of states, a bias, and dropout that is the same at every step."""

    _not_followed = Layer._not_followed | {"_masks", "state_size"}

    _gates = 1

    def __init__(
        self,
        units: int,
        activation: ActivationOption = "tanh",
        use_bias: bool = True,
        kernel_initializer: InitializerOption = "glorot_uniform",
        recurrent_initializer: InitializerOption = "orthogonal",
        bias_initializer: InitializerOption = "zeros",
        kernel_regularizer: RegularizerOption = None,
        recurrent_regularizer: RegularizerOption = None,
        bias_regularizer: RegularizerOption = None,
        kernel_constraint: ConstraintOption = None,
        recurrent_constraint: ConstraintOption = None,
        bias_constraint: ConstraintOption = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.recurrent_initializer = initializers.get(recurrent_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.recurrent_regularizer = regularizers.get(recurrent_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        self.recurrent_constraint = constraints.get(recurrent_constraint)
        self.bias_constraint = constraints.get(bias_constraint)
        self.dropout = min(1.0, max(0.0, dropout))
        self.recurrent_dropout = min(1.0, max(0.0, recurrent_dropout))
        self.state_size: Any = units
        self.output_size = units
        self._masks: dict[str, Any] = {}

    def build(self, input_shape: TensorShape) -> None:
        size: Any = TensorShape(input_shape).as_list()[-1]
        self.kernel = self._weight("kernel", "kernel", (size, self.units * self._gates))
        self.recurrent_kernel = self._weight("recurrent_kernel", "recurrent", (self.units, self.units * self._gates))
        self.bias: Any = self._weight("bias", "bias", self._bias_shape()) if self.use_bias else None
        self.built = True

    def _bias_shape(self) -> tuple[int, ...]:
        return (self.units * self._gates,)

    def _weight(self, name: str, kind: str, shape: tuple[int, ...]) -> Any:
        return self.add_weight(
            shape=shape,
            name=name,
            initializer=self._initializer_of(kind),
            regularizer=getattr(self, f"{kind}_regularizer"),
            constraint=getattr(self, f"{kind}_constraint"),
        )

    def _initializer_of(self, kind: str) -> Any:
        return getattr(self, f"{kind}_initializer")

    def get_initial_state(
        self, inputs: Tensor | None = None, batch_size: Tensor | int | None = None, dtype: DTypeLike | None = None
    ) -> State:
        """States of zeros."""
        return zero_state(inputs, batch_size, dtype, self.state_size)

    # ------------------------------------------------------------------------------------------ dropout

    def reset_dropout_mask(self) -> None:
        """Forgets what is dropped of inputs: a sequence ends."""
        self._masks.pop("inputs", None)

    def reset_recurrent_dropout_mask(self) -> None:
        """Forgets what is dropped of states."""
        self._masks.pop("states", None)

    def _dropped(self, what: str, values: Any, rate: float, training: Any) -> list[Any]:
        """Values for each gate, some of them dropped; the same ones at every step of a sequence."""
        if not 0 < rate < 1:
            return [values] * self._gates
        if what not in self._masks:
            ones = ones_like(values)
            is_trained = learning_phase() if training is None else training

            def mask() -> Any:
                return smart_cond(is_trained, lambda: nn_dropout(ones, rate=rate), lambda: ones)

            self._masks[what] = [mask() for _ in range(self._gates)]
        return [values * mask for mask in self._masks[what]]

    def _inputs(self, inputs: Any, training: Any) -> list[Any]:
        return self._dropped("inputs", inputs, self.dropout, training)

    def _states(self, states: Any, training: Any) -> list[Any]:
        return self._dropped("states", states, self.recurrent_dropout, training)


class SimpleRNNCell(Cell):
    """activation(inputs @ kernel + state @ recurrent_kernel + bias)"""

    _configured = ("units", "activation", "use_bias", *WEIGHTS, "dropout", "recurrent_dropout")

    def call(self, inputs: Tensor, states: Sequence[Tensor], training: Training = None) -> tuple[Tensor, list[Tensor]]:
        before = states[0]
        h = matmul(self._inputs(inputs, training)[0], self.kernel)
        if self.bias is not None:
            h = bias_add(h, self.bias)
        output = self.activation(h + matmul(self._states(before, training)[0], self.recurrent_kernel))
        return output, [output]


class LSTMCell(Cell):
    """A cell of a long short-term memory."""

    _gates = 4
    _configured = (
        "units", "activation", "recurrent_activation", "use_bias", *WEIGHTS, "unit_forget_bias", "dropout",
        "recurrent_dropout", "implementation",
    )  # fmt: skip

    def __init__(
        self,
        units: int,
        activation: ActivationOption = "tanh",
        recurrent_activation: ActivationOption = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: InitializerOption = "glorot_uniform",
        recurrent_initializer: InitializerOption = "orthogonal",
        bias_initializer: InitializerOption = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: RegularizerOption = None,
        recurrent_regularizer: RegularizerOption = None,
        bias_regularizer: RegularizerOption = None,
        kernel_constraint: ConstraintOption = None,
        recurrent_constraint: ConstraintOption = None,
        bias_constraint: ConstraintOption = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        implementation: int = 1,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(
            units,
            activation,
            use_bias,
            kernel_initializer,
            recurrent_initializer,
            bias_initializer,
            kernel_regularizer,
            recurrent_regularizer,
            bias_regularizer,
            kernel_constraint,
            recurrent_constraint,
            bias_constraint,
            dropout,
            recurrent_dropout,
            **kwargs,
        )
        self.recurrent_activation = activations.get(recurrent_activation)
        self.unit_forget_bias = unit_forget_bias
        self.implementation = implementation
        self.state_size = [units, units]

    def _initializer_of(self, kind: str) -> Any:
        told = super()._initializer_of(kind)
        if kind != "bias" or not self.unit_forget_bias:
            return told

        def made(shape: Any, *args: Any, **kwargs: Any) -> Any:
            ones = initializers.get("ones")
            parts = [told((self.units,), *args, **kwargs), ones((self.units,), *args, **kwargs)]
            return concat([*parts, told((self.units * 2,), *args, **kwargs)], axis=-1)

        return made

    def call(self, inputs: Tensor, states: Sequence[Tensor], training: Training = None) -> tuple[Tensor, list[Tensor]]:
        before, carry = states[0], states[1]
        given, held = self._inputs(inputs, training), self._states(before, training)
        if self.implementation == 1:
            kernels = split(self.kernel, num_or_size_splits=4, axis=1)
            parts = [matmul(item, kernel) for item, kernel in zip(given, kernels, strict=True)]
            if self.bias is not None:
                parts = [bias_add(item, bias) for item, bias in zip(parts, split(self.bias, 4, axis=0), strict=True)]
            own = [self.recurrent_kernel[:, at * self.units : (at + 1) * self.units] for at in range(4)]
            i, f, c, o = (item + matmul(state, kernel) for item, state, kernel in zip(parts, held, own, strict=True))
        else:
            z = matmul(given[0], self.kernel) + matmul(held[0], self.recurrent_kernel)
            if self.bias is not None:
                z = bias_add(z, self.bias)
            i, f, c, o = split(z, num_or_size_splits=4, axis=1)
        gate = self.recurrent_activation
        carry = gate(f) * carry + gate(i) * self.activation(c)
        output = gate(o) * self.activation(carry)
        return output, [output, carry]


class GRUCell(Cell):
    """A gated recurrent unit."""

    _gates = 3
    _configured = (
        "units", "activation", "recurrent_activation", "use_bias", *WEIGHTS, "dropout", "recurrent_dropout",
        "implementation", "reset_after",
    )  # fmt: skip

    def __init__(
        self,
        units: int,
        activation: ActivationOption = "tanh",
        recurrent_activation: ActivationOption = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: InitializerOption = "glorot_uniform",
        recurrent_initializer: InitializerOption = "orthogonal",
        bias_initializer: InitializerOption = "zeros",
        kernel_regularizer: RegularizerOption = None,
        recurrent_regularizer: RegularizerOption = None,
        bias_regularizer: RegularizerOption = None,
        kernel_constraint: ConstraintOption = None,
        recurrent_constraint: ConstraintOption = None,
        bias_constraint: ConstraintOption = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        implementation: int = 1,
        reset_after: bool = False,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(
            units,
            activation,
            use_bias,
            kernel_initializer,
            recurrent_initializer,
            bias_initializer,
            kernel_regularizer,
            recurrent_regularizer,
            bias_regularizer,
            kernel_constraint,
            recurrent_constraint,
            bias_constraint,
            dropout,
            recurrent_dropout,
            **kwargs,
        )
        self.recurrent_activation = activations.get(recurrent_activation)
        self.implementation, self.reset_after = implementation, reset_after

    def _bias_shape(self) -> tuple[int, ...]:
        return (2, 3 * self.units) if self.reset_after else (3 * self.units,)

    def call(self, inputs: Tensor, states: Sequence[Tensor], training: Training = None) -> tuple[Tensor, list[Tensor]]:
        before = states[0]
        own: Any = None
        bias: Any = self.bias
        if self.bias is not None and self.reset_after:
            bias, own = unstack(self.bias)
        given, held = self._inputs(inputs, training), self._states(before, training)
        if self.implementation == 1:
            parts = self._separate(given, held, bias, own)
        else:
            parts = self._joined(given[0], held[0], bias, own)
        z, r, x_h, recur = parts
        z, r = self.recurrent_activation(z), self.recurrent_activation(r)
        candidate = self.activation(x_h + recur(r))
        output = z * before + (1 - z) * candidate
        return output, [output]

    def _separate(self, given: list[Any], held: list[Any], bias: Any, own: Any) -> tuple[Any, Any, Any, Any]:
        """The gates by products of their own."""
        size = self.units
        xs = [matmul(item, self.kernel[:, at * size : (at + 1) * size]) for at, item in enumerate(given)]
        if bias is not None:
            xs = [bias_add(item, bias[at * size : (at + 1) * size]) for at, item in enumerate(xs)]
        kernels = [self.recurrent_kernel[:, at * size : (at + 1) * size] for at in range(3)]
        recurrent = [matmul(state, kernel) for state, kernel in zip(held[:2], kernels[:2], strict=True)]
        if self.reset_after and own is not None:
            recurrent = [bias_add(item, own[at * size : (at + 1) * size]) for at, item in enumerate(recurrent)]

        def recur(r: Any) -> Any:
            if not self.reset_after:
                return matmul(r * held[2], kernels[2])
            inner = matmul(held[2], kernels[2])
            return r * (inner if own is None else bias_add(inner, own[size * 2 :]))

        return xs[0] + recurrent[0], xs[1] + recurrent[1], xs[2], recur

    def _joined(self, given: Any, held: Any, bias: Any, own: Any) -> tuple[Any, Any, Any, Any]:
        """The gates by one product."""
        size = self.units
        x = matmul(given, self.kernel)
        if bias is not None:
            x = bias_add(x, bias)
        x_z, x_r, x_h = split(x, 3, axis=-1)
        if self.reset_after:
            inner = matmul(held, self.recurrent_kernel)
            if own is not None:
                inner = bias_add(inner, own)
            r_z, r_r, r_h = split(inner, 3, axis=-1)
            return x_z + r_z, x_r + r_r, x_h, lambda r: r * r_h
        inner = matmul(held, self.recurrent_kernel[:, : 2 * size])
        r_z, r_r = split(inner, 2, axis=-1)
        return x_z + r_z, x_r + r_r, x_h, lambda r: matmul(r * held, self.recurrent_kernel[:, 2 * size :])


class StackedRNNCells(Layer):
    """Cells one on top of the other, as one cell."""

    def __init__(self, cells: Sequence[RecurrentCell], **kwargs: Unpack[StackOptions]) -> None:
        for cell in cells:
            if not hasattr(cell, "call") or not hasattr(cell, "state_size"):
                raise InvalidArgumentError("All cells must have a `call` method and a `state_size`: " + repr(cells))
        kwargs.pop("reverse_state_order", None)
        super().__init__(**kwargs)
        self.cells: list[Any] = list(cells)

    @property
    def state_size(self) -> tuple[Any, ...]:
        return tuple(cell.state_size for cell in self.cells)

    @property
    def output_size(self) -> Sizes:
        last = self.cells[-1]
        size: Sizes | None = getattr(last, "output_size", None)
        return size if size is not None else flatten(last.state_size)[0]

    def build(self, input_shape: TensorShape) -> None:
        shape = TensorShape(input_shape).as_list()
        for cell in self.cells:
            if isinstance(cell, Layer) and not cell.built:
                cell.build(TensorShape(shape))
                vars(cell)["built"] = True
            size = getattr(cell, "output_size", None)
            shape = [shape[0], size if size is not None else flatten(cell.state_size)[0]]
        self.built = True

    def get_initial_state(
        self, inputs: Tensor | None = None, batch_size: Tensor | int | None = None, dtype: DTypeLike | None = None
    ) -> State:
        """States of zeros, for each cell."""
        return tuple(
            cell.get_initial_state(inputs=inputs, batch_size=batch_size, dtype=dtype)
            if hasattr(cell, "get_initial_state")
            else zero_state(inputs, batch_size, dtype, cell.state_size)
            for cell in self.cells
        )

    def call(
        self, inputs: Structure, states: State, constants: Sequence[Tensor] | None = None, **kwargs: Training
    ) -> tuple[Structure, State]:
        nested = pack_sequence_as(self.state_size, flatten(states))
        changed = []
        for cell, own in zip(self.cells, nested, strict=True):
            given = list(own) if isinstance(own, list | tuple) else [own]
            inputs, new = call_cell(cell, inputs, given, constants, kwargs.get("training"))
            changed.append(new if isinstance(own, list | tuple) else flatten(new)[0])
        return inputs, pack_sequence_as(self.state_size, flatten(changed))

    def reset_dropout_mask(self) -> None:
        for cell in self.cells:
            reset_masks(cell)

    reset_recurrent_dropout_mask = reset_dropout_mask

    def get_config(self) -> dict[str, Any]:
        return {**Layer.get_config(self), "cells": [serialization.serialize(cell) for cell in self.cells]}

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> StackedRNNCells:
        given = dict(config)
        cells = [serialization.deserialize(cell, custom_objects) for cell in given.pop("cells")]
        return cls(cells, **given)


def call_cell(
    cell: RecurrentCell,
    inputs: Structure,
    states: Sequence[State],
    constants: Sequence[Tensor] | None = None,
    training: Training = None,
) -> tuple[Any, Any]:
    """One step of a cell: its `call`, with the constants and the phase if it takes them."""
    parameters = signature(cell.call).parameters
    takes_any = any(item.kind is item.VAR_KEYWORD for item in parameters.values())
    given: dict[str, Any] = {}
    if constants and ("constants" in parameters or takes_any):
        given["constants"] = constants
    if training is not None and ("training" in parameters or takes_any):
        given["training"] = training
    return cell.call(inputs, states, **given)


def reset_masks(cell: object) -> None:
    """Has a cell draw new dropout masks for the next sequence."""
    for name in ("reset_dropout_mask", "reset_recurrent_dropout_mask"):
        if hasattr(cell, name):
            getattr(cell, name)()
