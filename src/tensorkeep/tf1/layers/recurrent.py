"""Recurrent networks: a cell applied to each element of sequences, unrolled or in a loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from tensorkeep.dtypes import INT32
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, Structure, TensorLike
from tensorkeep.graph.building import colocate_with, control_dependencies, current_graph, name_scope
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import (
    concat,
    identity,
    rank,
    reverse,
    reverse_sequence,
    stack,
    transpose,
    unstack,
    where,
    zeros,
)
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.contexts import current_context, while_context
from tensorkeep.tf1.functions.control.control_flow import Assert, cond, while_loop
from tensorkeep.tf1.functions.control.tensor_array import TensorArray
from tensorkeep.tf1.functions.numbers.elementwise import cast, equal, logical_not, logical_or, maximum, minimum
from tensorkeep.tf1.functions.numbers.elementwise import range as number_range
from tensorkeep.tf1.functions.numbers.reductions import reduce_all, reduce_max, reduce_min
from tensorkeep.tf1.functions.structures import (
    assert_same_structure,
    flatten,
    is_nested,
    map_structure,
    pack_sequence_as,
)
from tensorkeep.tf1.layers.cells import CellLike, State, check_cell, joined_shape, joined_static_shape
from tensorkeep.tf1.variables.scope import VariableScope
from tensorkeep.tf1.variables.scopes import variable_scope


@contextmanager
def _network_scope(scope: Any) -> Iterator[VariableScope]:
    """The scope of a network: what it reads is cached where the network is, unless it is in a loop."""
    with variable_scope(scope or "rnn") as opened:
        in_loop = while_context(current_context(current_graph())) is not None
        if not in_loop and opened.caching_device is None:
            opened.set_caching_device(lambda op: op.device)
        yield opened


def _initial_state(cell: Any, told: Any, batch_size: Any, dtype: Any) -> Any:
    if told is not None:
        return told
    if not dtype:
        raise InvalidArgumentError("If no initial_state is provided, argument `dtype` must be specified")
    if getattr(cell, "get_initial_state", None) is not None:
        return cell.get_initial_state(inputs=None, batch_size=batch_size, dtype=dtype)
    return cell.zero_state(batch_size, dtype)


def _state_dtype(told: Any, state: Any) -> Any:
    if told is not None:
        return told
    dtypes = [item.dtype for item in flatten(state)]
    if not dtypes:
        raise InvalidArgumentError(f"Unable to infer dtype from argument state={state}.")
    if any(dtype is not dtypes[0] for dtype in dtypes):
        raise InvalidArgumentError(
            f"Argument state={state} has tensors of different inferred dtypes. Unable to infer a single "
            f"representative dtype. Dtypes received: {dtypes}"
        )
    return dtypes[0]


def with_batch_and_time_exchanged(x: Tensor) -> Tensor:
    """A tensor with its first two axes exchanged; what has fewer stays as it is."""
    shape = x.get_shape()
    if shape.rank is not None and shape.rank < 2:
        return x
    order = number_range(2, rank(x))
    result = transpose(x, concat(([1, 0], order), axis=0))
    if shape.rank is not None:
        result.set_shape([shape[1], shape[0], *shape[2:]])
    return result


def batch_size_of(inputs: Sequence[Tensor]) -> Tensor | int:
    """The size of the batch in inputs that have time first: a number if any input knows it."""
    for item in inputs:
        shape = item.get_shape()
        if shape.rank is None:
            continue
        if shape.rank < 2:
            raise InvalidArgumentError(
                f"Input tensor should have rank >= 2. Received input={item} of rank {shape.rank}"
            )
        if shape[1].value is not None:
            return shape[1].value
    return shape_of(inputs[0])[1]


# ---------------------------------------------------------------------------------------------------- Steps


@dataclass(frozen=True)
class _Lengths:
    """The lengths of the sequences of a batch, and what is put out after their ends."""

    each: Any
    least: Any
    most: Any
    zero_output: Any

    def step(self, time: Any, state: Any, call: Callable[[], Any], always: bool) -> Any:
        """One step of the cell: sequences that have ended keep their states and put out zeros.

        Unless it is `always` called, the cell is not called once all sequences have ended.
        """
        zero, old = flatten(self.zero_output), flatten(state)
        has_ended = time >= self.each

        def kept(before: Any, after: Any) -> Any:
            if isinstance(before, TensorArray) or before.get_shape().rank == 0:
                return after
            with colocate_with(after):
                return where(has_ended, before, after)

        def called() -> tuple[list[Any], list[Any]]:
            output, new_state = call()
            assert_same_structure(self.zero_output, output)
            assert_same_structure(state, new_state)
            return flatten(output), flatten(new_state)

        def some(output: list[Any], new: list[Any]) -> list[Any]:
            return [kept(*pair) for pair in zip([*zero, *old], [*output, *new], strict=True)]

        def some_or_all() -> Any:
            output, new_state = called()
            return cond(time < self.least, lambda: output + new_state, lambda: some(output, new_state))

        results = some(*called()) if always else cond(time >= self.most, lambda: zero + old, some_or_all)
        for result, like in zip(results, [*zero, *old], strict=True):
            if not isinstance(result, TensorArray):
                result.set_shape(like.get_shape())
        return (
            pack_sequence_as(self.zero_output, results[: len(zero)]),
            pack_sequence_as(state, results[len(zero) :]),
        )


# ---------------------------------------------------------------------------------------------------- Loops


def dynamic_rnn(
    cell: CellLike,
    inputs: Structure,
    sequence_length: TensorLike | None = None,
    initial_state: State | None = None,
    dtype: DTypeLike | None = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: str | VariableScope | None = None,
) -> tuple[Any, State]:
    """The outputs of a cell for sequences, and its last state, by a loop."""
    check_cell("cell", cell)
    with _network_scope(scope):
        flat = flatten(inputs)
        if not time_major:
            flat = [with_batch_and_time_exchanged(item) for item in [convert(item) for item in flat]]
        lengths = None
        if sequence_length is not None:
            lengths = cast(sequence_length, INT32)
            if lengths.get_shape().rank not in (None, 1):
                raise InvalidArgumentError(
                    "Argument sequence_length must be a vector of length batch_size. Received "
                    f"sequence_length={lengths} of shape: {lengths.get_shape()}"
                )
            lengths = identity(lengths, name="sequence_length")
        batch_size = batch_size_of(flat)
        state = _initial_state(cell, initial_state, batch_size, dtype)
        if lengths is not None:
            with control_dependencies([_shape_check(lengths, [batch_size])]):
                lengths = identity(lengths, name="CheckSeqLen")
        loop = _Loop(cell, pack_sequence_as(inputs, flat), state, dtype, lengths)
        outputs, final = loop.run(parallel_iterations or 32, swap_memory)
        return (outputs if time_major else map_structure(with_batch_and_time_exchanged, outputs)), final


def _shape_check(x: Any, sizes: list[Any]) -> Any:
    found = shape_of(x)
    wanted = stack(sizes)
    return Assert(
        reduce_all(equal(found, wanted)),
        [f"Expected shape for Tensor {x.name} is ", wanted, " but saw shape: ", found],
    )


class _Loop:
    """A loop over time, which comes first in `inputs`."""

    def __init__(self, cell: Any, inputs: Any, state: Any, dtype: Any, lengths: Any) -> None:
        self.cell, self.inputs, self.state, self.dtype = cell, inputs, state, dtype
        self.flat = flatten(inputs)
        self.sizes = flatten(cell.output_size)
        self.steps = shape_of(self.flat[0])[0]
        batch_size = batch_size_of(self.flat)
        self.shapes = [item.get_shape().with_rank_at_least(3) for item in self.flat]
        self._check_shapes()
        zero = [zeros(stack(joined_shape(batch_size, size)), _state_dtype(dtype, state)) for size in self.sizes]
        self.lengths: _Lengths | None = None
        if lengths is not None:
            self.lengths = _Lengths(
                lengths, reduce_min(lengths), reduce_max(lengths), pack_sequence_as(cell.output_size, zero)
            )

    def _check_shapes(self) -> None:
        for item, shape in zip(self.flat, self.shapes, strict=True):
            if not shape[2:].is_fully_defined():
                raise InvalidArgumentError(
                    "Input size (depth of inputs) must be accessible via shape inference, but saw value None for "
                    f"input={item}."
                )
            if shape.as_list()[:2] != self.shapes[0].as_list()[:2]:
                raise InvalidArgumentError(
                    "Time steps or batch size are not the same for all the elements in the input. Received shape "
                    f"{shape} for input={item}."
                )

    def run(self, parallel_iterations: int, swap_memory: bool) -> Any:
        time = constant(0, dtype=INT32, name="time")
        with name_scope("dynamic_rnn") as base:
            pass
        known_steps, known_batch = self.shapes[0].as_list()[:2]
        outputs = tuple(
            self._array(f"{base}output_{i}", [known_batch, *_known_sizes(size)], _state_dtype(self.dtype, self.state))
            for i, size in enumerate(self.sizes)
        )
        arrays = [self._array(f"{base}input_{i}", x.get_shape()[1:], x.dtype) for i, x in enumerate(self.flat)]
        arrays = [array.unstack(x) for array, x in zip(arrays, self.flat, strict=True)]

        def step(time: Any, written: Any, state: Any) -> Any:
            read = [array.read(time) for array in arrays]
            for item, shape in zip(read, self.shapes, strict=True):
                item.set_shape(shape[1:])
            inputs = pack_sequence_as(self.inputs, read)
            output, new_state = self._step(time, inputs, state)
            done = tuple(array.write(time, out) for array, out in zip(written, flatten(output), strict=True))
            return time + 1, done, new_state

        most = self.steps if self.lengths is None else self.lengths.most
        bound = minimum(self.steps, maximum(1, most))
        _, arrays_out, final = while_loop(
            cond=lambda time, *_: time < bound,
            body=step,
            loop_vars=(time, outputs, self.state),
            parallel_iterations=parallel_iterations,
            maximum_iterations=self.steps,
            swap_memory=swap_memory,
        )
        results = [array.stack() for array in arrays_out]
        for result, size in zip(results, self.sizes, strict=True):
            result.set_shape(joined_static_shape([known_steps, known_batch], size))
        return pack_sequence_as(self.cell.output_size, results), final

    def _array(self, name: str, shape: Any, dtype: Any) -> TensorArray:
        return TensorArray(dtype=dtype, size=self.steps, element_shape=shape, tensor_array_name=name)

    def _step(self, time: Any, inputs: Any, state: Any) -> Any:
        if self.lengths is None:
            return self.cell(inputs, state)
        return self.lengths.step(time, state, lambda: self.cell(inputs, state), always=True)


def _known_sizes(size: Any) -> list[int | None]:
    return TensorShape(constant_value(size) if isinstance(size, Tensor) else size).as_list()


def bidirectional_dynamic_rnn(
    cell_fw: CellLike,
    cell_bw: CellLike,
    inputs: Structure,
    sequence_length: TensorLike | None = None,
    initial_state_fw: State | None = None,
    initial_state_bw: State | None = None,
    dtype: DTypeLike | None = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: str | VariableScope | None = None,
) -> tuple[tuple[Any, Any], tuple[State, State]]:
    """The outputs and last states of two cells, of which one reads the sequences from their ends."""
    check_cell("cell_fw", cell_fw)
    check_cell("cell_bw", cell_bw)
    time_axis, batch_axis = (0, 1) if time_major else (1, 0)
    options = (parallel_iterations, swap_memory, time_major)

    def reversed_in_time(x: Any) -> Any:
        if sequence_length is None:
            return reverse(x, axis=[time_axis])
        return reverse_sequence(input=x, seq_lengths=sequence_length, seq_axis=time_axis, batch_axis=batch_axis)

    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as forward:
            output_fw, state_fw = dynamic_rnn(
                cell_fw, inputs, sequence_length, initial_state_fw, dtype, *options, scope=forward
            )
        with variable_scope("bw") as backward:
            turned = map_structure(reversed_in_time, inputs)
            output_bw, state_bw = dynamic_rnn(
                cell_bw, turned, sequence_length, initial_state_bw, dtype, *options, scope=backward
            )
    return (output_fw, reversed_in_time(output_bw)), (state_fw, state_bw)


def raw_rnn(
    cell: CellLike,
    loop_fn: Callable[..., Any],
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    scope: str | VariableScope | None = None,
) -> tuple[Any, State, Any]:
    """A loop of a cell whose inputs, states and outputs a function decides: arrays of what it emits, the last state
    of the cell and that of the loop.
    """
    check_cell("cell", cell)
    if not callable(loop_fn):
        raise WrongTypeError(f"Argument `loop_fn` must be a callable. Received: {loop_fn}.")
    with _network_scope(scope):
        time = constant(0, dtype=INT32)
        finished, next_input, state, emitted, loop_state = loop_fn(time, None, None, None)
        has_loop_state = loop_state is not None
        if not has_loop_state:
            loop_state = constant(0, dtype=INT32)
        flat = flatten(next_input)
        known = flat[0].get_shape()[0].value
        for item in flat:
            item.get_shape()[0].assert_is_compatible_with(known)
        batch_size = shape_of(flat[0])[0] if known is None else known
        assert_same_structure(state, cell.state_size)
        state = map_structure(convert, state)
        if emitted is None:
            emitted = cell.output_size
            sizes: list[Any] = flatten(emitted)
            dtypes = [flatten(state)[0].dtype] * len(sizes)
        else:
            shapes = [(item, item.get_shape()) for item in flatten(emitted)]
            sizes = [shape if shape.is_fully_defined() else shape_of(item) for item, shape in shapes]
            dtypes = [item.dtype for item, _ in shapes]
        arrays = [
            TensorArray(
                dtype, dynamic_size=True, element_shape=[known, *_known_sizes(size)], size=0, name=f"rnn_output_{i}"
            )
            for i, (dtype, size) in enumerate(zip(dtypes, sizes, strict=True))
        ]
        zero = [zeros(joined_shape(batch_size, size), dtype) for size, dtype in zip(sizes, dtypes, strict=True)]
        zero_emit = pack_sequence_as(emitted, zero)

        def body(time: Any, finished: Any, inputs: Any, arrays: Any, state: Any, loop_state: Any) -> Any:
            output, cell_state = cell(inputs, state)
            assert_same_structure(state, cell_state)
            assert_same_structure(cell.output_size, output)
            next_time = time + 1
            done, next_input, next_state, emit, next_loop_state = loop_fn(next_time, output, cell_state, loop_state)
            assert_same_structure(state, next_state)
            assert_same_structure(inputs, next_input)
            assert_same_structure(arrays, emit)

            def kept(before: Any, after: Any) -> Any:
                if isinstance(before, TensorArray) or before.get_shape().rank == 0:
                    return after
                with colocate_with(after):
                    return where(finished, before, after)

            emit = map_structure(kept, zero_emit, emit)
            next_state = map_structure(kept, state, next_state)
            arrays = map_structure(lambda array, item: array.write(time, item), arrays, emit)
            loop_state = loop_state if next_loop_state is None else next_loop_state
            return next_time, logical_or(finished, done), next_input, arrays, next_state, loop_state

        result = while_loop(
            lambda _, finished, *rest: logical_not(reduce_all(finished)),
            body,
            [time, finished, next_input, pack_sequence_as(emitted, arrays), state, loop_state],
            parallel_iterations=parallel_iterations or 32,
            swap_memory=swap_memory,
        )
        return result[3], result[4], (result[5] if has_loop_state else None)


# ---------------------------------------------------------------------------------------------------- Unrolled


def static_rnn(
    cell: CellLike,
    inputs: Sequence[Structure],
    initial_state: State | None = None,
    dtype: DTypeLike | None = None,
    sequence_length: TensorLike | None = None,
    scope: str | VariableScope | None = None,
) -> tuple[list[Any], State]:
    """The outputs of a cell for each of a list of inputs, and its last state, built step by step."""
    check_cell("cell", cell)
    _check_sequence(inputs)
    with _network_scope(scope) as opened:
        first: Any = inputs
        while is_nested(first):
            first = first[0]
        known = _known_batch(first, inputs)
        batch_size = known or shape_of(first)[0]
        state = _initial_state(cell, initial_state, batch_size, dtype)
        lengths = None
        if sequence_length is not None:
            lengths = _unrolled_lengths(cell, sequence_length, batch_size, known, _state_dtype(dtype, state))
        outputs = []
        for time, item in enumerate(inputs):
            if time > 0:
                opened.reuse_variables()
            if lengths is None:
                output, state = cell(item, state)
            else:
                output, state = lengths.step(time, state, lambda x=item, old=state: cell(x, old), always=False)  # type: ignore[misc]
            outputs.append(output)
        return outputs, state


def _check_sequence(inputs: Any) -> None:
    if not is_nested(inputs):
        raise WrongTypeError(f"Argument `inputs` must be a sequence. Received: {inputs}")
    if not inputs:
        raise InvalidArgumentError("Argument `inputs` must not be empty.")


def _known_batch(first: Any, inputs: Any) -> int | None:
    shape = first.get_shape()
    if shape.rank == 1:
        size: int | None = shape[0].value
        return size
    known = shape.with_rank_at_least(2)[0]
    for item in flatten(inputs):
        other = item.get_shape().with_rank_at_least(2)
        known.assert_is_compatible_with(other[0])
        if not other[1:].is_fully_defined():
            raise InvalidArgumentError(
                f"Input size (of input {item}) must be accessible via shape inference, but saw value None."
            )
    size = known.value
    return size


def _unrolled_lengths(cell: Any, told: Any, batch_size: Any, known: int | None, dtype: Any) -> _Lengths:
    lengths = convert(told, name="sequence_length")
    if lengths.get_shape().rank not in (None, 1):
        raise InvalidArgumentError(
            f"Argument `sequence_length` must be a vector of length {batch_size}. Received sequence_length={lengths}."
        )

    def zero(size: Any) -> Any:
        made = zeros(stack(joined_shape(batch_size, size)), dtype)
        made.set_shape(joined_static_shape([known], size))
        return made

    zero_output = map_structure(zero, cell.output_size)
    lengths = cast(lengths, INT32)
    return _Lengths(lengths, reduce_min(lengths), reduce_max(lengths), zero_output)


def static_bidirectional_rnn(
    cell_fw: CellLike,
    cell_bw: CellLike,
    inputs: Sequence[Structure],
    initial_state_fw: State | None = None,
    initial_state_bw: State | None = None,
    dtype: DTypeLike | None = None,
    sequence_length: TensorLike | None = None,
    scope: str | VariableScope | None = None,
) -> tuple[list[Any], State, State]:
    """The joined outputs of two cells, of which one reads the list from its end, and the last state of each."""
    check_cell("cell_fw", cell_fw)
    check_cell("cell_bw", cell_bw)
    _check_sequence(inputs)
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as forward:
            output_fw, state_fw = static_rnn(cell_fw, inputs, initial_state_fw, dtype, sequence_length, scope=forward)
        with variable_scope("bw") as backward:
            turned = _reversed_items(inputs, sequence_length)
            output_bw, state_bw = static_rnn(cell_bw, turned, initial_state_bw, dtype, sequence_length, scope=backward)
    output_bw = _reversed_items(output_bw, sequence_length)
    joined = [concat([fw, bw], 1) for fw, bw in zip(flatten(output_fw), flatten(output_bw), strict=True)]
    return pack_sequence_as(output_fw, joined), state_fw, state_bw


def _reversed_items(items: Sequence[Any], lengths: Any) -> list[Any]:
    """A list from its end; with lengths, each sequence of the batch from its own."""
    if lengths is None:
        return list(reversed(items))
    flat: list[list[Any]] = [[] for _ in items]
    for sequence in zip(*(flatten(item) for item in items), strict=True):
        turned = unstack(reverse_sequence(stack(sequence), lengths, 0, 1))
        for results, result in zip(flat, turned, strict=True):
            results.append(result)
    return [pack_sequence_as(item, results) for item, results in zip(items, flat, strict=True)]


class StateSaver(Protocol):
    """What keeps states from call to call, by name."""

    def state(self, name: str, /) -> Tensor: ...

    def save_state(self, name: str, value: Tensor, /) -> Operation: ...


def static_state_saving_rnn(
    cell: CellLike,
    inputs: Sequence[Structure],
    state_saver: StateSaver,
    state_name: str | Sequence[str],
    sequence_length: TensorLike | None = None,
    scope: str | VariableScope | None = None,
) -> tuple[list[Any], State]:
    """As `static_rnn`, with states that a saver keeps from call to call."""
    if is_nested(cell.state_size) != is_nested(state_name):
        raise InvalidArgumentError(
            "Argument `state_name` should be the same type as `cell.state_size`. Received: "
            f"state_name={state_name!s}, cell.state_size={cell.state_size!s}."
        )
    names = flatten(state_name)
    state = pack_sequence_as(cell.state_size, [state_saver.state(name) for name in names])
    outputs, state = static_rnn(cell, inputs, initial_state=state, sequence_length=sequence_length, scope=scope)
    saved = [state_saver.save_state(name, part) for name, part in zip(names, flatten(state), strict=True)]
    with control_dependencies(saved):
        outputs[-1] = map_structure(identity, outputs[-1])
        return outputs, map_structure(identity, state)


__all__ = [
    "bidirectional_dynamic_rnn",
    "dynamic_rnn",
    "raw_rnn",
    "static_bidirectional_rnn",
    "static_rnn",
    "static_state_saving_rnn",
]
