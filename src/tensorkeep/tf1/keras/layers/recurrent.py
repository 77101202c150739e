"""Recurrent layers: a cell applied to each step of sequences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import init_scope
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.structures import flatten, pack_sequence_as
from tensorkeep.tf1.keras.backend.recurrence import rnn
from tensorkeep.tf1.keras.engine import serialization
from tensorkeep.tf1.keras.engine.base_layer import Layer, untracked_method
from tensorkeep.tf1.keras.engine.serialization import described_attribute
from tensorkeep.tf1.keras.engine.session_values import batch_set_value
from tensorkeep.tf1.keras.engine.tensor_notes import history_of
from tensorkeep.tf1.keras.layers.cudnn_layouts import gru_values, lstm_values
from tensorkeep.tf1.keras.layers.recurrent_cells import (
    GRUCell,
    LSTMCell,
    RecurrentCell,
    SimpleRNNCell,
    StackedRNNCells,
    call_cell,
    reset_masks,
    zero_state,
)
from tensorkeep.tf1.keras.surroundings import settings
from tensorkeep.tf1.layers.arguments import Training
from tensorkeep.tf1.layers.cells import State
from tensorkeep.tf1.layers.input_spec import InputSpec
from tensorkeep.tf1.variables.assignments import assign
from tensorkeep.tf1.variables.variable import Variable

if TYPE_CHECKING:
    from typing_extensions import Unpack  # in `typing` since Python 3.11

    from tensorkeep.tf1.keras.layers.options import AnyOption, LoopOptions, ShapesLike

_LOOP = ("return_sequences", "return_state", "go_backwards", "stateful", "unroll", "time_major")


class RNN(Layer):
    """A cell applied to each step of sequences.

    `cell` has `call(inputs, states)`, which gives an output and new states, and a `state_size`; several are stacked.
    """

    _not_followed = Layer._not_followed | {"_kept_states", "constants_spec", "input_spec", "state_spec"}

    def __init__(
        self,
        cell: RecurrentCell | Sequence[RecurrentCell],
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        **kwargs: Unpack[LoopOptions],
    ) -> None:
        if isinstance(cell, list | tuple):
            cell = StackedRNNCells(cell)
        if not hasattr(cell, "call"):
            raise InvalidArgumentError(f"`cell` should have a `call` method. The RNN was passed: {cell}")
        if not hasattr(cell, "state_size"):
            raise InvalidArgumentError(
                "The RNN cell should have an attribute `state_size` (tuple of integers, one integer per RNN state)."
            )
        self_time_major = kwargs.pop("time_major", False)
        super().__init__(**kwargs)
        self.cell: Any = cell
        self.return_sequences, self.return_state = return_sequences, return_state
        self.go_backwards, self.stateful, self.unroll = go_backwards, stateful, unroll
        self.time_major = self_time_major
        self.supports_masking = True
        self.input_spec = [None]
        self.state_spec: Any = None
        self.constants_spec: Any = None
        self._kept_states: Any = None
        self._num_constants = 0

    # ------------------------------------------------------------------------------------------ states

    @property
    def states(self) -> list[Any]:
        """The states that a stateful layer keeps; None for each before it is built."""
        if self._kept_states is None:
            return [None] * len(flatten(self.cell.state_size))
        kept: list[Any] = self._kept_states
        return kept

    @states.setter
    def states(self, values: list[Any]) -> None:
        vars(self)["_kept_states"] = values

    def get_initial_state(self, inputs: Tensor) -> list[Any]:
        """States of zeros."""
        first = flatten(inputs)[0]
        if hasattr(self.cell, "get_initial_state"):
            batch = first[:, 0] if not self.time_major else first[0]
            made = self.cell.get_initial_state(inputs=batch, batch_size=None, dtype=first.dtype)
        else:
            made = zero_state(first[:, 0] if not self.time_major else first[0], None, None, self.cell.state_size)
        return list(made) if isinstance(made, list | tuple) else [made]

    def reset_states(self, states: Sequence[Tensor] | None = None) -> None:
        """Sets the states that a stateful layer keeps to zeros, or to some values."""
        if not self.stateful:
            raise AttributeError("Layer must be stateful.")
        shapes = self._kept_shapes()
        if self._kept_states is None:
            kind = self.dtype or settings().floatx
            with init_scope():
                made = [
                    Variable(np.zeros(shape, kind), trainable=False, use_resource=True, name=f"{self.name}_state")
                    for shape in shapes
                ]
            vars(self)["_kept_states"] = made
            if states is None:
                return
        values = [np.zeros(shape) for shape in shapes] if states is None else list(flatten(states))
        if len(values) != len(shapes):
            raise InvalidArgumentError(
                f"Layer {self.name} expects {len(shapes)} states, but it received {len(values)} state values."
            )
        for at, (value, shape) in enumerate(zip(values, shapes, strict=True)):
            if np.shape(value) != shape:
                raise InvalidArgumentError(
                    f"State {at} is incompatible with layer {self.name}: expected shape={shape}, found "
                    f"shape={np.shape(value)}"
                )
        batch_set_value(zip(self._kept_states, values, strict=True))

    def _kept_shapes(self) -> list[tuple[int, ...]]:
        """The shapes of the states that a stateful layer keeps: its inputs must say the size of batches."""
        spec = None if not self.input_spec else self.input_spec[0]
        batch = None if spec is None or spec.shape is None else spec.shape[1 if self.time_major else 0]
        if not batch:
            raise InvalidArgumentError(
                "If a RNN is stateful, it needs to know its batch size. Specify the batch size of your input tensors: "
                "with a Sequential model by `batch_input_shape` of the first layer, with the functional API by "
                "`batch_shape` of Input."
            )
        return [(batch, *_listed_sizes(size)) for size in flatten(self.cell.state_size)]

    # ------------------------------------------------------------------------------------------ calls

    @untracked_method
    def build(self, input_shape: TensorShape) -> None:
        shapes = input_shape if isinstance(input_shape, list) else [input_shape]
        sizes = TensorShape(shapes[0]).as_list()
        batch, step = (sizes[1], sizes[2:]) if self.time_major else (sizes[0], sizes[2:])
        known = (
            [None, batch if self.stateful else None, *step]
            if self.time_major
            else [batch if self.stateful else None, None, *step]
        )
        self.input_spec = [InputSpec(shape=known)]
        if isinstance(self.cell, Layer) and not self.cell.built:
            self.cell.build(TensorShape([batch, *step]))
            vars(self.cell)["built"] = True
        if self.stateful:
            self.reset_states()
        self.built = True

    def __call__(self, inputs: Any, initial_state: Any = None, constants: Any = None, **kwargs: Any) -> Any:
        inputs, initial_state, constants = self._separated(inputs, initial_state, constants)
        if initial_state is None and constants is None:
            return super().__call__(inputs, **kwargs)
        more = [*(initial_state or ()), *(constants or ())]
        vars(self)["_num_constants"] = len(constants or ())
        if not more or not all(history_of(item) is not None for item in more):
            if initial_state is not None:
                kwargs["initial_state"] = initial_state
            if constants is not None:
                kwargs["constants"] = constants
            return super().__call__(inputs, **kwargs)
        spec = self.input_spec
        vars(self)["input_spec"] = [*(spec or [None])[:1], *([None] * len(more))]
        try:
            return super().__call__([inputs, *more], **kwargs)
        finally:
            vars(self)["input_spec"] = (self.input_spec or [None])[:1]

    def _separated(self, inputs: Any, initial_state: Any, constants: Any) -> tuple[Any, Any, Any]:
        """Inputs, states and constants, of which the latter may stand in one list with the inputs."""
        if isinstance(inputs, list | tuple) and not hasattr(inputs, "get_shape"):
            items = list(inputs)
            if self._num_constants and constants is None:
                constants = items[-self._num_constants :]
                items = items[: -self._num_constants]
            if len(items) > 1 and initial_state is None:
                initial_state = items[1:]
            inputs = items[0]

        def listed(value: Any) -> Any:
            return None if value is None else list(value) if isinstance(value, list | tuple) else [value]

        return inputs, listed(initial_state), listed(constants)

    def call(
        self,
        inputs: Tensor | Sequence[Tensor],
        mask: Tensor | Sequence[Tensor | None] | None = None,
        training: Training = None,
        initial_state: State | None = None,
        constants: Sequence[Tensor] | None = None,
    ) -> Tensor | list[Tensor]:
        reset_masks(self.cell)
        sequences: Any
        sequences, initial_state, constants = self._separated(inputs, initial_state, constants)
        if initial_state is not None and not initial_state:
            initial_state = None
        if initial_state is None:
            initial_state = list(self.states) if self.stateful else self.get_initial_state(sequences)
        flat = flatten(initial_state)
        count = len(flatten(self.cell.state_size))
        if len(flat) != count:
            raise InvalidArgumentError(
                f"Layer {self.name} expects {count} states, but was passed {len(flat)} initial states."
            )
        if isinstance(mask, list | tuple):
            mask = mask[0]
        sizes = sequences.get_shape().as_list()
        steps = sizes[0 if self.time_major else 1]
        if self.unroll and steps is None:
            raise InvalidArgumentError(
                "Cannot unroll a RNN if the time dimension is undefined. If using a Sequential model, specify the time "
                "dimension by passing an `input_shape` or `batch_input_shape` argument to your first layer."
            )
        last, outputs, states = rnn(
            self._step(constants, training),
            sequences,
            [item.value() if isinstance(item, Variable) else item for item in flat],
            constants=constants,
            go_backwards=self.go_backwards,
            mask=mask,
            unroll=self.unroll,
            input_length=steps,
            time_major=self.time_major,
        )
        if self.stateful:
            self.add_update([assign(own, new) for own, new in zip(self._kept_states, states, strict=True)])
        output = outputs if self.return_sequences else last
        return [output, *states] if self.return_state else output

    def _step(self, constants: Any, training: Any) -> Any:
        """What is done at each step: of an input and states, an output and new states."""

        def step(item: Any, states: Any) -> tuple[Any, list[Any]]:
            given = list(states)
            held: Any = given[: len(given) - len(constants or ())]
            nested = self.cell.state_size
            if isinstance(self.cell, StackedRNNCells):
                held = pack_sequence_as(nested, held)
            output, changed = call_cell(self.cell, item, held, constants, training)
            return output, flatten(changed)

        return step

    def compute_mask(
        self, inputs: Tensor | Sequence[Tensor], mask: Tensor | Sequence[Tensor | None] | None = None
    ) -> Tensor | list[Tensor | None] | None:
        first: Any = flatten(mask)[0] if isinstance(mask, list | tuple) else mask
        own = first if self.return_sequences else None
        return [own, *([None] * len(flatten(self.cell.state_size)))] if self.return_state else own

    def compute_output_shape(self, input_shape: ShapesLike) -> TensorShape | list[TensorShape]:
        shape: Any = input_shape[0] if isinstance(input_shape, list) else input_shape
        sizes = TensorShape(shape).as_list()
        batch, steps = (sizes[1], sizes[0]) if self.time_major else (sizes[0], sizes[1])
        states = [TensorShape([batch, *_listed_sizes(size)]) for size in flatten(self.cell.state_size)]
        size = getattr(self.cell, "output_size", None)
        size = flatten(self.cell.state_size)[0] if size is None else size
        around = [steps, batch] if self.time_major else [batch, steps]
        output = (
            TensorShape([*around, *_listed_sizes(size)])
            if self.return_sequences
            else TensorShape([batch, *_listed_sizes(size)])
        )
        return [output, *states] if self.return_state else output

    @property
    def trainable_weights(self) -> list[Any]:
        if not self.trainable:
            return []
        return list(self.cell.trainable_weights) if isinstance(self.cell, Layer) else []

    @property
    def non_trainable_weights(self) -> list[Any]:
        if not isinstance(self.cell, Layer):
            return []
        return list(self.cell.non_trainable_weights if self.trainable else self.cell.weights)

    def get_config(self) -> dict[str, Any]:
        config = {**_layer_config(self), **{name: getattr(self, name) for name in _LOOP}}
        if self._num_constants:
            config["num_constants"] = self._num_constants
        return {**config, "cell": serialization.serialize(self.cell)}

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> RNN:
        given = dict(config)
        given.pop("zero_output_for_mask", None)
        count = given.pop("num_constants", None)
        layer = cls(serialization.deserialize(given.pop("cell"), custom_objects), **given)
        vars(layer)["_num_constants"] = count or 0
        return layer


def _layer_config(layer: Layer) -> dict[str, Any]:
    """The part of a configuration that all layers have: name, type, and whether they are trained."""
    config: dict[str, Any] = {"name": layer.name, "trainable": layer.trainable}
    if hasattr(layer, "_batch_input_shape"):
        config["batch_input_shape"] = layer._batch_input_shape
    return {**config, "dtype": layer.dtype}


def _listed_sizes(size: Any) -> list[Any]:
    return [size] if isinstance(size, int) or size is None else TensorShape(size).as_list()


class CellLayer(RNN):
    """A recurrent layer whose arguments are those of its cell."""

    _cell_type: type = SimpleRNNCell
    _of_cell: tuple[str, ...] = ()

    def __init__(self, units: int, *args: AnyOption, **kwargs: AnyOption) -> None:
        kwargs.pop("zero_output_for_mask", None)
        loop: dict[str, Any] = {name: kwargs.pop(name) for name in _LOOP if name in kwargs}
        regularizer: Any = kwargs.pop("activity_regularizer", None)
        names = self._of_cell[1:]
        told = dict(zip(names, args, strict=False))
        if len(args) > len(names):
            raise TypeError(f"{type(self).__name__} takes at most {len(names) + 1} arguments by position")
        told.update({name: kwargs.pop(name) for name in names if name in kwargs})
        cell_options = {"dtype": kwargs.get("dtype"), "trainable": kwargs.get("trainable", True)}
        super().__init__(
            self._cell_type(units, **told, **cell_options),
            activity_regularizer=regularizer,
            **loop,
            **dict[str, Any](kwargs),
        )

    def __getattr__(self, name: str) -> Any:
        """What is the cell's: `units`, `activation`, `kernel_initializer` and so on."""
        if name in type(self)._of_cell and "cell" in vars(self):
            return getattr(self.cell, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def get_config(self) -> dict[str, Any]:
        own = self.cell.get_config()
        told = {name: own[name] for name in type(self)._of_cell if name in own}
        loop = {name: getattr(self, name) for name in _LOOP}
        regularizer = described_attribute("activity_regularizer", self.activity_regularizer)
        return {**_layer_config(self), **loop, **told, "activity_regularizer": regularizer}

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> CellLayer:
        given = dict(config)
        if "implementation" in given and given["implementation"] == 0:
            given["implementation"] = 1
        return cls(**given)


_NAMES = (
    "kernel_initializer", "recurrent_initializer", "bias_initializer", "kernel_regularizer", "recurrent_regularizer",
    "bias_regularizer",
)  # fmt: skip
_ENDS = ("kernel_constraint", "recurrent_constraint", "bias_constraint", "dropout", "recurrent_dropout")


class SimpleRNN(CellLayer):
    """A recurrent layer whose output is its state."""

    _cell_type = SimpleRNNCell
    _of_cell = ("units", "activation", "use_bias", *_NAMES, *_ENDS)


class LSTM(CellLayer):
    """A long short-term memory."""

    _cell_type = LSTMCell
    _of_cell = (
        "units", "activation", "recurrent_activation", "use_bias", "kernel_initializer", "recurrent_initializer",
        "bias_initializer", "unit_forget_bias", "kernel_regularizer", "recurrent_regularizer", "bias_regularizer",
        *_ENDS, "implementation",
    )  # fmt: skip

    def _laid_out_values(self, values: Any) -> list[Any]:
        return lstm_values(values, as_cudnn=False)


class GRU(CellLayer):
    """A layer of gated recurrent units."""

    _cell_type = GRUCell
    _of_cell = (
        "units", "activation", "recurrent_activation", "use_bias", *_NAMES, *_ENDS, "implementation", "reset_after",
    )  # fmt: skip

    def _laid_out_values(self, values: Any) -> list[Any]:
        return gru_values(values, as_cudnn=False, reset_after=self.cell.reset_after)
