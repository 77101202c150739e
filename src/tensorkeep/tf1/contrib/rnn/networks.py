"""Networks of several bidirectional layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike, Structure, TensorLike
from tensorkeep.tf1.functions.arrays.shapes import concat
from tensorkeep.tf1.layers.cells import CellLike, State
from tensorkeep.tf1.layers.recurrent import bidirectional_dynamic_rnn, dynamic_rnn, static_bidirectional_rnn
from tensorkeep.tf1.variables.scope import VariableScope
from tensorkeep.tf1.variables.scopes import variable_scope


def _check_layers(cells_fw: Any, cells_bw: Any, initial_fw: Any, initial_bw: Any) -> None:
    for name, cells in (("cells_fw", cells_fw), ("cells_bw", cells_bw)):
        if not isinstance(cells, list) or not cells:
            raise InvalidArgumentError(f"{name} must be a list of RNNCells (one per layer), of which there is one.")
    if len(cells_fw) != len(cells_bw):
        raise InvalidArgumentError("Forward and Backward cells must have the same depth.")
    for name, states in (("initial_states_fw", initial_fw), ("initial_states_bw", initial_bw)):
        if states is not None and (not isinstance(states, list) or len(states) != len(cells_fw)):
            raise InvalidArgumentError(f"{name} must be a list of state tensors (one per layer).")


def stack_bidirectional_rnn(
    cells_fw: list[Any],
    cells_bw: list[Any],
    inputs: Sequence[Any],
    initial_states_fw: list[Any] | None = None,
    initial_states_bw: list[Any] | None = None,
    dtype: DTypeLike | None = None,
    sequence_length: TensorLike | None = None,
    scope: str | VariableScope | None = None,
) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """Layers that each read the joined outputs of the one before from both ends; unrolled."""
    _check_layers(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    states_fw, states_bw, outputs = [], [], inputs
    with variable_scope(scope or "stack_bidirectional_rnn"):
        for number, (forward, backward) in enumerate(zip(cells_fw, cells_bw, strict=True)):
            with variable_scope(f"cell_{number}") as opened:
                outputs, state_fw, state_bw = static_bidirectional_rnn(
                    forward,
                    backward,
                    outputs,
                    initial_state_fw=initial_states_fw[number] if initial_states_fw else None,
                    initial_state_bw=initial_states_bw[number] if initial_states_bw else None,
                    sequence_length=sequence_length,
                    dtype=dtype,
                    scope=opened,
                )
            states_fw.append(state_fw)
            states_bw.append(state_bw)
    return outputs, tuple(states_fw), tuple(states_bw)


def stack_bidirectional_dynamic_rnn(
    cells_fw: list[Any],
    cells_bw: list[Any],
    inputs: TensorLike,
    initial_states_fw: list[Any] | None = None,
    initial_states_bw: list[Any] | None = None,
    dtype: DTypeLike | None = None,
    sequence_length: TensorLike | None = None,
    parallel_iterations: int | None = None,
    time_major: bool = False,
    scope: str | VariableScope | None = None,
    swap_memory: bool = False,
) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """Layers that each read the joined outputs of the one before from both ends; in a loop."""
    _check_layers(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    states_fw, states_bw = [], []
    outputs: Any = inputs
    with variable_scope(scope or "stack_bidirectional_rnn"):
        for number, (forward, backward) in enumerate(zip(cells_fw, cells_bw, strict=True)):
            with variable_scope(f"cell_{number}"):
                both, (state_fw, state_bw) = bidirectional_dynamic_rnn(
                    forward,
                    backward,
                    outputs,
                    initial_state_fw=initial_states_fw[number] if initial_states_fw else None,
                    initial_state_bw=initial_states_bw[number] if initial_states_bw else None,
                    sequence_length=sequence_length,
                    parallel_iterations=parallel_iterations,
                    dtype=dtype,
                    swap_memory=swap_memory,
                    time_major=time_major,
                )
                outputs = concat(both, 2)
            states_fw.append(state_fw)
            states_bw.append(state_bw)
    return outputs, tuple(states_fw), tuple(states_bw)


def functional_rnn(
    cell: CellLike,
    inputs: Structure,
    sequence_length: TensorLike | None = None,
    initial_state: State | None = None,
    dtype: DTypeLike | None = None,
    time_major: bool = False,
    scope: str | VariableScope | None = None,
    use_tpu: bool = False,
) -> tuple[Any, Any]:
    """The outputs of a cell for sequences, and its last state: `tf.nn.dynamic_rnn`, under its name for TPUs."""
    return dynamic_rnn(cell, inputs, sequence_length, initial_state, dtype, time_major=time_major, scope=scope)


def bidirectional_functional_rnn(
    cell_fw: CellLike,
    cell_bw: CellLike,
    inputs: Structure,
    initial_state_fw: State | None = None,
    initial_state_bw: State | None = None,
    dtype: DTypeLike | None = None,
    sequence_length: TensorLike | None = None,
    time_major: bool = False,
    use_tpu: bool = False,
    fast_reverse: bool = False,
    scope: str | VariableScope | None = None,
) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """The same of two cells, of which one reads the sequences from their ends."""
    return bidirectional_dynamic_rnn(
        cell_fw,
        cell_bw,
        inputs,
        sequence_length,
        initial_state_fw,
        initial_state_bw,
        dtype,
        time_major=time_major,
        scope=scope,
    )
