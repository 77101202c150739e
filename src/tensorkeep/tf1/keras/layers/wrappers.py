"""Layers around layers: at every step of sequences, and in both directions of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import ShapeLike
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import concat, reshape, reverse
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.numbers.reductions import reduce_any
from tensorkeep.tf1.functions.structures import flatten
from tensorkeep.tf1.keras.backend.recurrence import rnn
from tensorkeep.tf1.keras.engine import serialization
from tensorkeep.tf1.keras.engine.base_layer import Layer, untracked_method
from tensorkeep.tf1.keras.engine.tensor_notes import history_of
from tensorkeep.tf1.layers.arguments import Training
from tensorkeep.tf1.layers.input_spec import InputSpec

if TYPE_CHECKING:
    from typing_extensions import Unpack  # in `typing` since Python 3.11

    from tensorkeep.tf1.keras.layers.options import LayerOptions, ShapesLike, WrapperOptions
    from tensorkeep.tf1.keras.layers.recurrent import RNN


class Wrapper(Layer):
    """A layer around another one."""

    def __init__(self, layer: Layer, **kwargs: Unpack[LayerOptions]) -> None:
        if not isinstance(layer, Layer):
            raise InvalidArgumentError(f"Please initialize `{type(self).__name__}` with a layer. You passed: {layer}")
        super().__init__(**kwargs)
        self.layer = layer

    def build(self, input_shape: TensorShape) -> None:
        if not self.layer.built:
            self.layer.build(input_shape)
            vars(self.layer)["built"] = True
        self.built = True

    def get_config(self) -> dict[str, Any]:
        return {**Layer.get_config(self), "layer": serialization.serialize(self.layer)}

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Wrapper:
        given = dict(config)
        return cls(serialization.deserialize(given.pop("layer"), custom_objects), **given)


class TimeDistributed(Wrapper):
    """A layer applied to every step of sequences."""

    def __init__(self, layer: Layer, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(layer, **kwargs)
        self.supports_masking = True

    def _step_shape(self, input_shape: Any) -> TensorShape:
        sizes = TensorShape(input_shape).as_list()
        if len(sizes) < 3:
            raise InvalidArgumentError(
                f"`TimeDistributed` Layer should be passed an `input_shape` with at least 3 dimensions: {sizes}"
            )
        return TensorShape([sizes[0], *sizes[2:]])

    @untracked_method
    def build(self, input_shape: TensorShape) -> None:
        shape = TensorShape(input_shape)
        self.input_spec = InputSpec(shape=[None, None, *shape.as_list()[2:]])
        super().build(self._step_shape(shape))

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        sizes = TensorShape(input_shape).as_list()
        inner = TensorShape(self.layer.compute_output_shape(self._step_shape(input_shape))).as_list()
        return TensorShape([inner[0], sizes[1], *inner[1:]])

    def call(self, inputs: Tensor, training: Training = None, mask: Tensor | None = None) -> Tensor:
        given = {} if training is None or not _takes(self.layer, "training") else {"training": training}
        shape = inputs.get_shape()
        if shape.as_list()[0]:

            def step(item: Any, states: Any) -> tuple[Any, Any]:
                return self.layer(item, **given), []

            _, outputs, _ = rnn(step, inputs, initial_states=[], input_length=shape.as_list()[1], mask=mask)
            stepped: Tensor = outputs
            return stepped
        sizes = shape_of(inputs)
        length = shape.as_list()[1]
        steps = sizes[1] if length is None else length
        inner = [sizes[at] if size is None else size for at, size in enumerate(shape.as_list())][2:]
        made = self.layer(_with_sizes(reshape(inputs, [-1, *inner]), [None, *shape.as_list()[2:]]), **given)
        known = made.get_shape().as_list()
        out = [shape_of(made)[at] if size is None else size for at, size in enumerate(known)][1:]
        return _with_sizes(reshape(made, [-1, steps, *out]), [shape.as_list()[0], length, *known[1:]])

    def compute_mask(self, inputs: Tensor, mask: Tensor | None = None) -> Tensor | None:
        """The mask of the steps; that of a layer's own mask counts a step if anything of it counts."""
        if mask is None:
            return None
        rank: Any = mask.get_shape().rank
        return mask if rank <= 2 else reduce_any(mask, axis=list(range(2, rank)))


def _with_sizes(value: Tensor, sizes: list[Any]) -> Tensor:
    value.set_shape(sizes)
    return value


def _takes(layer: Any, name: str) -> bool:
    return name in layer.call.__code__.co_varnames[: layer.call.__code__.co_argcount]


class Bidirectional(Wrapper):
    """A recurrent layer forward and another one backward, merged: "concat", "sum", "mul", "ave", or None for both."""

    def __init__(
        self,
        layer: RNN,
        merge_mode: str | None = "concat",
        weights: Sequence[Array] | None = None,
        backward_layer: RNN | None = None,
        **kwargs: Unpack[WrapperOptions],
    ) -> None:
        if merge_mode not in ("sum", "mul", "ave", "concat", None):
            raise InvalidArgumentError(
                'Invalid merge mode. Merge mode should be one of {"sum", "mul", "ave", "concat", None}'
            )
        super().__init__(layer, **kwargs)
        vars(self)["_layers"] = []
        for arrays in (True, False):
            self._dependencies(arrays).pop("layer", None)
        told = layer.get_config()
        told["name"] = f"forward_{layer.name}"
        self.forward_layer: Any = type(layer).from_config(told)
        if backward_layer is None:
            told = {**layer.get_config(), "name": f"backward_{layer.name}"}
            told["go_backwards"] = not told["go_backwards"]
            self.backward_layer: Any = type(layer).from_config(told)
        else:
            self.backward_layer = backward_layer
        self.merge_mode = merge_mode
        self.stateful, self.return_sequences = layer.stateful, layer.return_sequences
        self.return_state, self.supports_masking = layer.return_state, True
        vars(self)["_initial_weights"] = None
        if weights:
            half = len(weights) // 2
            vars(self.forward_layer)["_initial_weights"] = weights[:half]
            vars(self.backward_layer)["_initial_weights"] = weights[half:]
        vars(self)["layer"] = layer
        vars(self)["_num_states"] = 0

    def build(self, input_shape: TensorShape) -> None:
        vars(self)["built"] = True  # its layers make their variables when they are called, in their own scopes

    def __call__(self, inputs: Any, initial_state: Any = None, constants: Any = None, **kwargs: Any) -> Any:
        if isinstance(inputs, list | tuple):
            items = list(inputs)
            inputs = items[0]
            initial_state = items[1:] or initial_state
        if constants is not None:
            raise InvalidArgumentError("Bidirectional with constants is not supported")
        if initial_state is None:
            return super().__call__(inputs, **kwargs)
        states = list(flatten(initial_state))
        if len(states) % 2:
            raise InvalidArgumentError(
                "When passing `initial_state` to a Bidirectional RNN, the state should be a list containing the states "
                f"of the underlying RNNs. Found: {initial_state}"
            )
        if all(history_of(state) is not None for state in states):
            return super().__call__([inputs, *states], **kwargs)
        return super().__call__(inputs, initial_state=states, **kwargs)

    def call(
        self,
        inputs: Tensor | Sequence[Tensor],
        training: Training = None,
        mask: Tensor | Sequence[Tensor | None] | None = None,
        initial_state: Sequence[Tensor] | None = None,
    ) -> Tensor | list[Tensor]:
        given: dict[str, Any] = {} if training is None else {"training": training}
        if isinstance(inputs, list | tuple):
            initial_state, inputs = list(inputs[1:]), inputs[0]
        if isinstance(mask, list | tuple):
            mask = mask[0]
        if mask is not None:
            given["mask"] = mask
        first: Any = initial_state
        half = len(first or ()) // 2
        forward = self.forward_layer(inputs, initial_state=first[:half] if half else None, **given)
        backward = self.backward_layer(inputs, initial_state=first[half:] if half else None, **given)
        states: list[Any] = []
        if self.return_state:
            states = [*forward[1:], *backward[1:]]
            forward, backward = forward[0], backward[0]
        if self.return_sequences:
            backward = reverse(backward, [0 if getattr(self.forward_layer, "time_major", False) else 1])
        merged = self._merged(forward, backward)
        if not self.return_state:
            outputs: Tensor | list[Tensor] = merged
            return outputs
        return [*merged, *states] if self.merge_mode is None else [merged, *states]

    def _merged(self, forward: Any, backward: Any) -> Any:
        if self.merge_mode == "concat":
            return concat([forward, backward], axis=-1)
        if self.merge_mode == "sum":
            return forward + backward
        if self.merge_mode == "ave":
            return (forward + backward) / 2
        return forward * backward if self.merge_mode == "mul" else [forward, backward]

    def reset_states(self) -> None:
        """Sets the states of both directions back."""
        self.forward_layer.reset_states()
        self.backward_layer.reset_states()

    def compute_output_shape(self, input_shape: ShapesLike) -> TensorShape | list[TensorShape]:
        found = self.forward_layer.compute_output_shape(input_shape)
        output, states = (found[0], list(found[1:])) if self.return_state else (found, [])
        if self.merge_mode == "concat":
            sizes: list[Any] = TensorShape(output).as_list()
            merged: Any = TensorShape([*sizes[:-1], sizes[-1] * 2])
        else:
            merged = [output, output] if self.merge_mode is None else output
        if not self.return_state:
            shape: TensorShape | list[TensorShape] = merged
            return shape
        return [*(merged if self.merge_mode is None else [merged]), *states, *states]

    def compute_mask(
        self, inputs: Tensor | Sequence[Tensor], mask: Tensor | Sequence[Tensor | None] | None = None
    ) -> Tensor | list[Tensor | None] | None:
        first = flatten(mask)[0] if isinstance(mask, list | tuple) else mask
        own: Any = None
        if self.return_sequences:
            own = [first, first] if not self.merge_mode else first
        elif not self.merge_mode:
            own = [None, None]
        if not self.return_state:
            masks: Tensor | list[Tensor | None] | None = own
            return masks
        states = [None] * (2 * len(flatten(self.forward_layer.cell.state_size)))
        return [*(own if isinstance(own, list) else [own]), *states]

    def get_config(self) -> dict[str, Any]:
        config = {**Layer.get_config(self), "layer": serialization.serialize(self.layer), "merge_mode": self.merge_mode}
        return config
