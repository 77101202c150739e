"""Cells around cells: with dropout, with a shortcut, on a device."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import md5
from numbers import Real
from typing import Any

from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import DeviceLike, DTypeLike
from tensorkeep.graph.building import device, name_scope
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import concat
from tensorkeep.tf1.functions.control.tensor_array import TensorArray
from tensorkeep.tf1.functions.nn.activations import dropout
from tensorkeep.tf1.functions.numbers.elementwise import divide, floor
from tensorkeep.tf1.functions.random.numbers import random_uniform
from tensorkeep.tf1.functions.structures import (
    assert_same_structure,
    flatten,
    is_nested,
    map_structure,
    pack_sequence_as,
)
from tensorkeep.tf1.layers.arguments import LayerOption
from tensorkeep.tf1.layers.cells import CellLike, LSTMStateTuple, RNNCell, Sizes, State, check_cell


class _Wrapper(RNNCell):
    """A cell that changes what goes into or comes out of another."""

    def __init__(self, cell: Any, **kwargs: Any) -> None:
        super().__init__(**dict[str, Any](kwargs))
        check_cell("cell", cell)
        self.cell: Any = cell

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        return self._wrapped(inputs, state, scope)

    def _wrapped(self, inputs: Any, state: Any, scope: Any) -> Any:
        return self.cell(inputs, state, scope=scope)

    @property
    def state_size(self) -> Any:
        return self.cell.state_size

    @property
    def output_size(self) -> Any:
        return self.cell.output_size

    @property
    def trainable_weights(self) -> list[Any]:
        found: list[Any] = self.cell.trainable_weights
        return found

    @property
    def non_trainable_weights(self) -> list[Any]:
        found: list[Any] = self.cell.non_trainable_weights
        return found

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        with name_scope(f"{type(self).__name__}ZeroState"):
            return self.cell.zero_state(batch_size, dtype)


class DropoutWrapper(_Wrapper):
    """Drops inputs, outputs and states out, all but a part that is kept.

    Dropout is variational if the same elements are dropped in all steps. The memory of an LSTM is never dropped,
    unless a visitor says so: of each state it tells by truth values what is to be dropped.
    """

    def __init__(
        self,
        cell: CellLike,
        input_keep_prob: Tensor | float = 1.0,
        output_keep_prob: Tensor | float = 1.0,
        state_keep_prob: Tensor | float = 1.0,
        variational_recurrent: bool = False,
        input_size: Sizes | None = None,
        dtype: DTypeLike | None = None,
        seed: int | None = None,
        dropout_state_filter_visitor: Callable[[Any], Any] | None = None,
        **kwargs: LayerOption,
    ) -> None:
        super().__init__(cell, dtype=dtype, **dict[str, Any](kwargs))
        if dropout_state_filter_visitor is not None and not callable(dropout_state_filter_visitor):
            raise WrongTypeError(
                f"dropout_state_filter_visitor must be callable. Received: {dropout_state_filter_visitor}"
            )
        self._is_dropped = dropout_state_filter_visitor or _all_but_memory
        with name_scope("DropoutWrapperInit"):
            self._input_keep_prob = _probability("input_keep_prob", input_keep_prob)
            self._state_keep_prob = _probability("state_keep_prob", state_keep_prob)
            self._output_keep_prob = _probability("output_keep_prob", output_keep_prob)
        self._seed = seed
        self._variational = variational_recurrent
        self._noises: dict[str, list[Any]] = {}
        if variational_recurrent:
            self._draw(dtype, input_size)

    def _draw(self, dtype: Any, input_size: Any) -> None:
        if dtype is None:
            raise InvalidArgumentError("When variational_recurrent=True, dtype must be provided")

        def noise(salt: str, sizes: Any) -> list[Any]:
            drawn = []
            for i, size in enumerate(flatten(sizes)):
                known: Any = TensorShape(size).as_list()
                shape = concat(([1], known), 0)
                drawn.append(random_uniform(shape, seed=self._salted_seed(salt, i), dtype=dtype))
            return drawn

        if _drops(self._input_keep_prob):
            if input_size is None:
                raise InvalidArgumentError(
                    "When variational_recurrent=True and input_keep_prob < 1.0 or is unknown, input_size must be "
                    "provided"
                )
            self._noises["input"] = noise("input", input_size)
        self._noises["state"] = noise("state", self.cell.state_size)
        self._noises["output"] = noise("output", self.cell.output_size)

    def _salted_seed(self, salt: str, index: int) -> int | None:
        if self._seed is None:
            return None
        text = f"{self._seed}{salt}_{index}".encode()
        return int(md5(text).hexdigest()[:8], 16) & 0x7FFFFFFF

    @property
    def wrapped_cell(self) -> CellLike:
        wrapped: CellLike = self.cell
        return wrapped

    def build(self, input_shape: TensorShape) -> None:
        self.cell.build(input_shape)
        self.built = True

    def _wrapped(self, inputs: Any, state: Any, scope: Any) -> Any:
        if _drops(self._input_keep_prob):
            inputs = self._dropped(inputs, "input", self._input_keep_prob)
        output, new_state = self.cell(inputs, state, scope=scope)
        if _drops(self._state_keep_prob):
            choice = _choices(self._is_dropped, new_state)
            new_state = self._dropped(new_state, "state", self._state_keep_prob, choice)
        if _drops(self._output_keep_prob):
            output = self._dropped(output, "output", self._output_keep_prob)
        return output, new_state

    def _dropped(self, values: Any, salt: str, keep: Any, choice: list[bool] | None = None) -> Any:
        leaves = flatten(values)
        results = []
        for i, (value, is_dropped) in enumerate(zip(leaves, choice or [True] * len(leaves), strict=True)):
            if not is_dropped:
                results.append(value)
            elif self._variational:
                is_kept = floor(keep + self._noises[salt][i])
                result = divide(value, keep) * is_kept
                result.set_shape(value.get_shape())
                results.append(result)
            else:
                results.append(dropout(value, rate=1.0 - keep, seed=self._salted_seed(salt, i)))
        return pack_sequence_as(values, results)


def _probability(name: str, value: Any) -> Any:
    """A probability as a number if it is known, and else as a tensor."""
    tensor = convert(value)
    known = constant_value(tensor)
    if known is None:
        return tensor
    if not 0 <= known <= 1:
        raise InvalidArgumentError(f"Parameter {name} must be between 0 and 1. Received {known}")
    return float(known)


def _drops(keep: Any) -> bool:
    return not isinstance(keep, Real) or float(keep) < 1


def _choices(visitor: Callable[[Any], Any], state: Any) -> list[bool]:
    """For each leaf of a state whether it is dropped: a truth value for a structure goes for all its leaves."""
    told = visitor(state)
    if isinstance(told, bool):
        if told and is_nested(state):
            parts = list(state.values()) if isinstance(state, dict) else list(state)
            return [choice for part in parts for choice in _choices(visitor, part)]
        return [told] if told else _none_of(state)
    chosen = zip(told, state, strict=True)
    return [choice for one, part in chosen for choice in (_choices(visitor, part) if one else _none_of(part))]


def _none_of(state: Any) -> list[bool]:
    return [False] * len(flatten(state))


def _all_but_memory(state: Any) -> Any:
    if isinstance(state, LSTMStateTuple):
        return LSTMStateTuple(c=False, h=True)
    return not isinstance(state, TensorArray)


class ResidualWrapper(_Wrapper):
    """Adds the inputs to the outputs, or does with them what a function says."""

    def __init__(
        self, cell: CellLike, residual_fn: Callable[[Any, Any], Any] | None = None, **kwargs: LayerOption
    ) -> None:
        super().__init__(cell, **dict[str, Any](kwargs))
        self._residual_fn = residual_fn or _add_inputs

    def _wrapped(self, inputs: Any, state: Any, scope: Any) -> Any:
        outputs, new_state = self.cell(inputs, state, scope=scope)
        return self._residual_fn(inputs, outputs), new_state


def _add_inputs(inputs: Any, outputs: Any) -> Any:
    assert_same_structure(inputs, outputs)
    for before, after in zip(flatten(inputs), flatten(outputs), strict=True):
        before.get_shape().assert_is_compatible_with(after.get_shape())
    return map_structure(lambda before, after: before + after, inputs, outputs)


class DeviceWrapper(_Wrapper):
    """Builds a cell for a device."""

    def __init__(self, cell: CellLike, device: DeviceLike, **kwargs: LayerOption) -> None:
        super().__init__(cell, **dict[str, Any](kwargs))
        self._device = device

    def zero_state(self, batch_size: Tensor | int, dtype: DTypeLike) -> State:
        with name_scope(f"{type(self).__name__}ZeroState"), device(self._device):
            state: State = self.cell.zero_state(batch_size, dtype)
            return state

    def _wrapped(self, inputs: Any, state: Any, scope: Any) -> Any:
        with device(self._device):
            return super()._wrapped(inputs, state, scope)


__all__ = ["DeviceWrapper", "DropoutWrapper", "ResidualWrapper"]
