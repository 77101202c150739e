"""A wrapper that looks back at the last outputs."""

from __future__ import annotations

from typing import Any

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.contrib.rnn.linear_maps import linear
from tensorkeep.tf1.functions.arrays.shapes import concat, expand_dims, reshape
from tensorkeep.tf1.functions.arrays.slicing import slice as slice_of
from tensorkeep.tf1.functions.nn.activations import softmax
from tensorkeep.tf1.functions.nn.convolution import conv2d
from tensorkeep.tf1.functions.numbers.elementwise import tanh
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum
from tensorkeep.tf1.functions.structures import flatten, is_nested
from tensorkeep.tf1.layers.arguments import known_dimension
from tensorkeep.tf1.layers.cells import CellLike, RNNCell, Sizes, State, check_cell
from tensorkeep.tf1.variables.scopes import get_variable, variable_scope


class AttentionCellWrapper(RNNCell):
    """A cell whose inputs and outputs are mixed with what it attends to of its last `attn_length` outputs.

    Its state is the cell's, what it attended to last, and the outputs that it can look back at.
    """

    def __init__(
        self,
        cell: CellLike,
        attn_length: int,
        attn_size: int | None = None,
        attn_vec_size: int | None = None,
        input_size: int | None = None,
        state_is_tuple: bool = True,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        check_cell("cell", cell)
        if is_nested(cell.state_size) and not state_is_tuple:
            raise InvalidArgumentError(f"Cell returns tuple of states, but the flag state_is_tuple is not set: {cell}")
        if attn_length <= 0:
            raise InvalidArgumentError(f"attn_length should be greater than zero, got {attn_length}")
        self._cell: Any = cell
        self._attn_size: Any = cell.output_size if attn_size is None else attn_size
        self._attn_vec_size: Any = self._attn_size if attn_vec_size is None else attn_vec_size
        self._attn_length, self._input_size, self._state_is_tuple = attn_length, input_size, state_is_tuple

    @property
    def state_size(self) -> Sizes:
        sizes = (self._cell.state_size, self._attn_size, self._attn_size * self._attn_length)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Sizes:
        size: Sizes = self._attn_size
        return size

    def call(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """One step: the output, and the new state."""
        inner, attended, past = self._parts(state)
        past = reshape(past, [-1, self._attn_length, self._attn_size])
        depth = self._input_size or known_dimension(inputs.get_shape(), 1, "The last dimension of the inputs")
        mixed = linear([concat([inputs, attended], 1)], depth, True)
        cell_output, new_inner = self._cell(mixed, inner)
        query = concat(flatten(new_inner), 1) if self._state_is_tuple else new_inner
        attended, past = self._attention(query, past)
        with variable_scope("attn_output_projection"):
            output = linear([concat([cell_output, attended], 1)], self._attn_size, True)
        past = concat([past, expand_dims(output, 1)], 1)
        past = reshape(past, [-1, self._attn_length * self._attn_size])
        new_state = (new_inner, attended, past)
        return output, (new_state if self._state_is_tuple else concat(list(new_state), 1))

    def _parts(self, state: Any) -> Any:
        if self._state_is_tuple:
            return state
        found, at = [], 0
        for size in (self._cell.state_size, self._attn_size, self._attn_size * self._attn_length):
            found.append(slice_of(state, [0, at], [-1, size]))
            at += size
        return found

    def _attention(self, query: Any, past: Any) -> tuple[Tensor, Tensor]:
        """What is attended to of the past, and the past without its first."""
        length, size, wide = self._attn_length, self._attn_size, self._attn_vec_size
        with variable_scope("attention"):
            weights = get_variable("attn_w", [1, 1, size, wide])
            v = get_variable("attn_v", [wide])
            hidden = reshape(past, [-1, length, 1, size])
            features = conv2d(hidden, weights, [1, 1, 1, 1], "SAME")
            y = reshape(linear(query, wide, True), [-1, 1, 1, wide])
            shares = softmax(reduce_sum(v * tanh(features + y), [2, 3]))
            found = reduce_sum(reshape(shares, [-1, length, 1, 1]) * hidden, [1, 2])
            return reshape(found, [-1, size]), slice_of(past, [0, 1, 0], [-1, -1, -1])
