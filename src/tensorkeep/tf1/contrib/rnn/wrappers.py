"""Wrappers that project, embed or bypass."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike, Structure
from tensorkeep.graph.building import device, name_scope
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.contrib.rnn.linear_maps import linear
from tensorkeep.tf1.functions.arrays.shapes import reshape
from tensorkeep.tf1.functions.embedding.lookups import embedding_lookup
from tensorkeep.tf1.functions.nn.activations import xw_plus_b
from tensorkeep.tf1.functions.numbers.elementwise import sigmoid
from tensorkeep.tf1.functions.structures import assert_same_structure, flatten, map_structure
from tensorkeep.tf1.layers.cells import CellLike, RNNCell, Sizes, State, check_cell
from tensorkeep.tf1.variables.initializers import Constant, RandomUniform
from tensorkeep.tf1.variables.options import InitializerLike
from tensorkeep.tf1.variables.scope import VariableScope, get_variable_scope
from tensorkeep.tf1.variables.scopes import get_variable


class _Around(RNNCell):
    """A cell around another one, whose sizes and first state it has."""

    def __init__(self, cell: CellLike, reuse: bool | None = None) -> None:
        super().__init__(_reuse=reuse)
        check_cell("cell", cell)
        self._cell: Any = cell

    @property
    def state_size(self) -> Sizes:
        sizes: Sizes = self._cell.state_size
        return sizes

    @property
    def output_size(self) -> Sizes:
        sizes: Sizes = self._cell.output_size
        return sizes

    def zero_state(self, batch_size: Tensor | int, dtype: DTypeLike) -> State:
        with name_scope(f"{type(self).__name__}ZeroState"):
            state: State = self._cell.zero_state(batch_size, dtype)
            return state


class EmbeddingWrapper(_Around):
    """A cell whose inputs are numbers, of which each has a row in the variable "embedding"."""

    def __init__(
        self,
        cell: CellLike,
        embedding_classes: int,
        embedding_size: int,
        initializer: InitializerLike = None,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(cell, reuse)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise InvalidArgumentError(
                f"Both embedding_classes and embedding_size must be > 0: {embedding_classes}, {embedding_size}."
            )
        self._shape = [embedding_classes, embedding_size]
        self._initializer = initializer

    def call(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """One step of the cell, for the rows of the inputs."""
        with device("/cpu:0"):
            begin = self._initializer or get_variable_scope().initializer
            begin = begin or RandomUniform(-math.sqrt(3), math.sqrt(3))  # of variance one
            dtype = flatten(state)[0].dtype
            table = get_variable("embedding", self._shape, initializer=begin, dtype=dtype)
            rows = embedding_lookup(table, reshape(inputs, [-1]))
            found: tuple[Tensor, State] = self._cell(rows, state)
            return found


class InputProjectionWrapper(_Around):
    """A cell whose inputs are projected first."""

    def __init__(
        self,
        cell: CellLike,
        num_proj: int,
        activation: Callable[..., Tensor] | None = None,
        input_size: int | None = None,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(cell, reuse)
        self._num_proj, self._activation = num_proj, activation

    def call(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """One step of the cell, for the projected inputs."""
        projected: Any = linear(inputs, self._num_proj, True)
        found: tuple[Tensor, State] = self._cell(self._activation(projected) if self._activation else projected, state)
        return found


class OutputProjectionWrapper(_Around):
    """A cell whose outputs are projected."""

    def __init__(
        self,
        cell: CellLike,
        output_size: int,
        activation: Callable[..., Tensor] | None = None,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(cell, reuse)
        if output_size < 1:
            raise InvalidArgumentError(f"Parameter output_size must be > 0: {output_size}.")
        self._output_size, self._activation = output_size, activation

    @property
    def output_size(self) -> int:
        return self._output_size

    def call(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """One step of the cell, with its output projected."""
        output, new_state = self._cell(inputs, state)
        projected: Any = linear(output, self._output_size, True)
        return (self._activation(projected) if self._activation else projected), new_state


class HighwayWrapper(_Around):
    """A cell whose outputs are mixed with its inputs, in the proportion that a learned gate says."""

    def __init__(self, cell: CellLike, couple_carry_transform_gates: bool = True, carry_bias_init: float = 1.0) -> None:
        super().__init__(cell)
        self._is_coupled, self._bias = couple_carry_transform_gates, carry_bias_init

    def __call__(self, inputs: Structure, state: State, scope: str | VariableScope | None = None) -> tuple[Any, Any]:
        outputs, new_state = self._cell(inputs, state, scope=scope)
        assert_same_structure(inputs, outputs)
        return map_structure(self._mixed, inputs, outputs), new_state

    def _mixed(self, before: Any, after: Any) -> Any:
        before.get_shape().assert_is_compatible_with(after.get_shape())
        carried = self._gate("carry", before, self._bias)
        changed = 1 - carried if self._is_coupled else self._gate("transform", before, -self._bias)
        return before * carried + after * changed

    def _gate(self, name: str, value: Any, bias: float) -> Any:
        size = value.get_shape()[1].value
        weights = get_variable(f"{name}_w", [size, size])
        return sigmoid(xw_plus_b(value, weights, get_variable(f"{name}_b", [size], initializer=Constant(bias))))


class CompiledWrapper(_Around):
    """A cell as it is: runs are compiled without asking."""

    def __init__(self, cell: CellLike, compile_stateful: bool = False) -> None:
        super().__init__(cell)

    def __call__(self, inputs: Structure, state: State, scope: str | VariableScope | None = None) -> tuple[Any, Any]:
        found: tuple[Any, Any] = self._cell(inputs, state, scope=scope)
        return found
