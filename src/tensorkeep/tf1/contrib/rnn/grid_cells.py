"""Cells that walk over the frequencies of their input as well as over time.

The input of a step is cut into windows of `feature_size` numbers, `frequency_skip` apart. A time-frequency cell goes
over the windows with one LSTM; a grid cell has two, whose memories go on along the frequencies and along time. The
names of variables, and the order of gates, states and outputs, are those of TensorFlow 1.15; its grid cells take an
`initializer` and do not use it, and so it is here.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.contrib.rnn.lstm_cells import peephole, sharded_variable
from tensorkeep.tf1.functions.arrays.shapes import concat, pad, split, zeros
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.arrays.slicing import slice as slice_of
from tensorkeep.tf1.functions.linear_algebra.products import matmul
from tensorkeep.tf1.functions.nn.activations import bias_add
from tensorkeep.tf1.functions.numbers.clipping import clip_by_value
from tensorkeep.tf1.functions.numbers.elementwise import sigmoid, tanh
from tensorkeep.tf1.layers.cells import RNNCell, Sizes, State
from tensorkeep.tf1.variables.initializers import Zeros
from tensorkeep.tf1.variables.options import InitializerLike
from tensorkeep.tf1.variables.scopes import get_variable, variable_scope


def _input_size(inputs: Any) -> int:
    size: int | None = inputs.get_shape().with_rank(2)[-1].value
    if size is None:
        raise InvalidArgumentError(
            f"Cannot infer input_size from static shape inference: the input is {inputs.get_shape()}"
        )
    return size


def _windows(inputs: Any, start: int, count: int, skip: int, size: int) -> list[Tensor]:
    return [slice_of(inputs, [0, start + number * skip], [-1, size]) for number in range(count)]


def _clipped_value(value: Any, limit: float | None) -> Any:
    return value if limit is None else clip_by_value(value, -limit, limit)


class TimeFreqLSTMCell(RNNCell):
    """An LSTM that goes over windows of frequencies, each with a memory in time and the output of the window before.

    The state of a step is the memory and the output of each window, side by side: `state_size` for every window.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: InitializerLike = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int = 1,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        if feature_size is None:
            raise InvalidArgumentError(
                "TimeFreqLSTMCell needs feature_size, how many numbers a window of the input has"
            )
        self._num_units, self._use_peepholes, self._cell_clip = num_units, use_peepholes, cell_clip
        self._num_unit_shards, self._forget_bias = num_unit_shards, forget_bias
        self._feature_size, self._frequency_skip = feature_size, frequency_skip

    @property
    def state_size(self) -> int:
        return 2 * self._num_units

    @property
    def output_size(self) -> int:
        return self._num_units

    def call(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """One step: the outputs of the windows side by side, and the new state."""
        units, dtype, size = self._num_units, inputs.dtype, self._feature_size
        count = (_input_size(inputs) - size) // self._frequency_skip + 1
        weights = sharded_variable("W", [size + 2 * units, 4 * units], dtype, self._num_unit_shards)
        bias = get_variable("B", shape=[4 * units], initializer=Zeros(), dtype=dtype)
        seen = [peephole(f"W_{gate}_diag", units, dtype) for gate in "FIO"] if self._use_peepholes else [0.0] * 3
        before = zeros([inputs.get_shape()[0].value or shape_of(inputs)[0], units], dtype)
        outputs, states = [], []
        for number, window in enumerate(_windows(inputs, 0, count, self._frequency_skip, size)):
            c = slice_of(state, [0, 2 * number * units], [-1, units])
            m = slice_of(state, [0, (2 * number + 1) * units], [-1, units])
            joined = bias_add(matmul(concat([window, m, before], 1), weights), bias)
            i, j, f, o = split(value=joined, num_or_size_splits=4, axis=1)
            kept = sigmoid(f + self._forget_bias + seen[0] * c) * c
            c = _clipped_value(kept + sigmoid(i + seen[1] * c) * tanh(j), self._cell_clip)
            before = sigmoid(o + seen[2] * c) * tanh(c)
            outputs.append(before)
            states += [c, before]
        return concat(outputs, 1), concat(states, 1)


class _Direction:
    """The weights of one of the two LSTMs of a block, and what its gates are."""

    def __init__(self, cell: GridLSTMCell, kind: str, block: int, inputs: int, dtype: Any) -> None:
        units, gates = cell._num_units, 3 if cell._couples else 4
        letter = kind[0]
        self._cell = cell
        self.weights = sharded_variable(
            f"W_{letter}_{block}", [inputs + 2 * units, gates * units], dtype, cell._num_unit_shards
        )
        self.bias = get_variable(f"B_{letter}_{block}", shape=[gates * units], initializer=Zeros(), dtype=dtype)
        self.seen: dict[str, Any] = {}
        if cell._use_peepholes:
            for gate in "IO" if cell._couples else "FIO":
                for way in "ft":
                    name = f"W_{gate}_diag_{kind}{way}_{block}"
                    self.seen[gate + way] = peephole(name, units, dtype)

    def gates(self, inputs: Any) -> list[Any]:
        """Input, new values, forget (none if it is coupled) and output gates, before they are squashed."""
        joined = bias_add(matmul(inputs, self.weights), self.bias)
        parts = list(split(value=joined, num_or_size_splits=3 if self._cell._couples else 4, axis=1))
        return [*parts[:2], None, parts[2]] if self._cell._couples else parts

    def peek(self, gate: str, value: Any, frequency: Any, time: Any) -> Any:
        """A gate, with what it sees of the two memories."""
        if not self.seen:
            return value
        return value + self.seen[gate + "f"] * frequency + self.seen[gate + "t"] * time

    def memory(self, gates: Any, old: Any, frequency: Any, time: Any) -> Any:
        """The new memory of this LSTM, of its old one."""
        i, j, f, _ = gates
        taken = sigmoid(self.peek("I", i, frequency, time))
        kept = 1.0 - taken if f is None else sigmoid(self.peek("F", f + self._cell._forget_bias, frequency, time))
        return _clipped_value(kept * old + taken * tanh(j), self._cell._cell_clip)


class GridLSTMCell(RNNCell):
    """Two LSTMs that cross: one goes along the windows of an input, the other along time."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        share_time_frequency_weights: bool = False,
        cell_clip: float | None = None,
        initializer: InitializerLike = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int | None = None,
        num_frequency_blocks: Sequence[int] | None = None,
        start_freqindex_list: Sequence[int] | None = None,
        end_freqindex_list: Sequence[int] | None = None,
        couple_input_forget_gates: bool = False,
        state_is_tuple: bool = True,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        if num_frequency_blocks is None:
            raise InvalidArgumentError("Must specify num_frequency_blocks")
        if feature_size is None or frequency_skip is None:
            raise InvalidArgumentError(
                "a grid cell needs feature_size and frequency_skip, which cut its input into windows"
            )
        if not state_is_tuple and len(num_frequency_blocks) > 1:
            # TensorFlow reads the state of the first block for all of them.
            raise InvalidArgumentError("a grid cell of several blocks has its state in a tuple: state_is_tuple=True")
        self._num_units, self._use_peepholes, self._shares = num_units, use_peepholes, share_time_frequency_weights
        self._cell_clip, self._num_unit_shards, self._forget_bias = cell_clip, num_unit_shards, forget_bias
        self._feature_size, self._frequency_skip = feature_size, frequency_skip
        self._blocks = [int(count) for count in num_frequency_blocks]
        self._starts, self._ends = start_freqindex_list, end_freqindex_list
        self._couples, self._state_is_tuple = couple_input_forget_gates, state_is_tuple
        self._state_tuple_type: Any = _state_tuple("GridLSTMStateTuple", ["state"], self._blocks)
        if not state_is_tuple:
            self._state_tuple_type = None

    @property
    def state_size(self) -> Sizes:
        sizes = [self._num_units, self._num_units] * sum(self._blocks)
        return self._state_tuple_type(*sizes) if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> int:
        return 2 * self._num_units * sum(self._blocks)

    @property
    def state_tuple_type(self) -> Callable[..., tuple[Any, ...]] | None:
        """The class of states, with a memory and an output of each window of each block; None if they are a tensor."""
        found: Callable[..., tuple[Any, ...]] | None = self._state_tuple_type
        return found

    def call(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """One step: the outputs in time and in frequency of each window, and the new state."""
        outputs, states = self._walk(self._cut(inputs), state, inputs, "state")
        joined = self._state_tuple_type(*states) if self._state_is_tuple else concat(states, 1)
        return concat(outputs, 1), joined

    def _walk(self, blocks: list[list[Tensor]], state: Any, inputs: Any, prefix: str) -> tuple[list[Any], list[Any]]:
        batch = inputs.get_shape()[0].value or shape_of(inputs)[0]
        outputs: list[Any] = []
        states: list[Any] = []
        for block, windows in enumerate(blocks):
            more_outputs, more_states = self._walk_block(block, windows, state, batch, prefix)
            outputs += more_outputs
            states += more_states
        return outputs, states

    def _walk_block(self, block: int, windows: list[Any], state: Any, batch: Any, prefix: str) -> Any:
        units, dtype = self._num_units, windows[0].dtype
        along = _Direction(self, "freq", block, self._feature_size, dtype)
        across = along if self._shares else _Direction(self, "time", block, self._feature_size, dtype)
        c_frequency = m_frequency = zeros([batch, units], dtype)
        outputs, states = [], []
        for number, window in enumerate(windows):
            c_time, m_time = self._states_of(state, number, block, prefix)
            joined = concat([window, m_time, m_frequency], 1)
            of_frequency = along.gates(joined)
            of_time = of_frequency if self._shares else across.gates(joined)
            c_frequency, c_time = (
                along.memory(of_frequency, c_frequency, c_frequency, c_time),
                across.memory(of_time, c_time, c_frequency, c_time),
            )
            m_frequency = sigmoid(along.peek("O", of_frequency[3], c_frequency, c_time)) * tanh(c_frequency)
            m_time = sigmoid(across.peek("O", of_time[3], c_frequency, c_time)) * tanh(c_time)
            states += [c_time, m_time]
            outputs += [m_time, m_frequency]
        return outputs, states

    def _states_of(self, state: Any, number: int, block: int, prefix: str) -> tuple[Any, Any]:
        if self._state_is_tuple:
            name = f"{prefix}_f{number:02d}_b{block:02d}"
            return getattr(state, f"{name}_c"), getattr(state, f"{name}_m")
        units = self._num_units
        return (
            slice_of(state, [0, 2 * number * units], [-1, units]),
            slice_of(state, [0, (2 * number + 1) * units], [-1, units]),
        )

    def _cut(self, inputs: Any, offset: int = 0) -> list[list[Tensor]]:
        """The windows of each block; shifted, with zeros where the input ends."""
        size = _input_size(inputs)
        if offset:
            inputs = pad(inputs, [[0, 0], [0, offset] if offset > 0 else [-offset, 0]])
        starts, ends = self._starts or [0], self._ends or [size]
        if not len(starts) == len(ends) == len(self._blocks):
            raise InvalidArgumentError(
                f"num_frequency_blocks has {len(self._blocks)} blocks, start_freqindex_list {len(starts)} and "
                f"end_freqindex_list {len(ends)}: they have to be as many"
            )
        found = []
        for start, end, wanted in zip(starts, ends, self._blocks, strict=True):
            count = (end - start - self._feature_size) // self._frequency_skip + 1
            if count != wanted:
                raise InvalidArgumentError(
                    f"Invalid num_frequency_blocks, requires {count} but gets {wanted}, please check the input size "
                    "and filter config are correct."
                )
            first = start + max(offset, 0)
            found.append(_windows(inputs, first, count, self._frequency_skip, self._feature_size))
        return found


def _state_tuple(name: str, prefixes: list[str], blocks: list[int]) -> Any:
    fields = [
        f"{prefix}_f{number:02d}_b{block:02d}_{part}"
        for prefix in prefixes
        for block, count in enumerate(blocks)
        for number in range(count)
        for part in "cm"
    ]
    return namedtuple(name, fields)


class BidirectionalGridLSTMCell(GridLSTMCell):
    """A grid cell that goes along the windows from both ends, with weights for each way."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        share_time_frequency_weights: bool = False,
        cell_clip: float | None = None,
        initializer: InitializerLike = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int | None = None,
        num_frequency_blocks: Sequence[int] | None = None,
        start_freqindex_list: Sequence[int] | None = None,
        end_freqindex_list: Sequence[int] | None = None,
        couple_input_forget_gates: bool = False,
        backward_slice_offset: int = 0,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(
            num_units,
            use_peepholes,
            share_time_frequency_weights,
            cell_clip,
            initializer,
            num_unit_shards,
            forget_bias,
            feature_size,
            frequency_skip,
            num_frequency_blocks,
            start_freqindex_list,
            end_freqindex_list,
            couple_input_forget_gates,
            True,
            reuse,
        )
        self._offset = int(backward_slice_offset)
        prefixes = ["fwd_state", "bwd_state"]
        self._state_tuple_type = _state_tuple("BidirectionalGridLSTMStateTuple", prefixes, self._blocks)

    @property
    def state_size(self) -> Sizes:
        sizes: Sizes = self._state_tuple_type(*[self._num_units] * (4 * sum(self._blocks)))
        return sizes

    @property
    def output_size(self) -> int:
        return 4 * self._num_units * sum(self._blocks)

    def call(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """One step: the outputs of both ways, and the new state."""
        forward = self._cut(inputs)
        backward = [block[::-1] for block in (self._cut(inputs, self._offset) if self._offset else forward)]
        with variable_scope("fwd"):
            outputs, states = self._walk(forward, state, inputs, "fwd_state")
        with variable_scope("bwd"):
            more_outputs, more_states = self._walk(backward, state, inputs, "bwd_state")
        return concat(outputs + more_outputs, 1), self._state_tuple_type(*states, *more_states)
