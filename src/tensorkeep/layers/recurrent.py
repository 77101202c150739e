"""Recurrent networks, under the names of TensorFlow 1's `tf.nn`: a cell called once for each step of a sequence."""

from __future__ import annotations

from typing import Any

from tensorkeep.dtypes import INT32
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.functions.array import (
    concat,
    identity,
    rank,
    reverse,
    reverse_sequence,
    shape,
    stack,
    transpose,
    unstack,
    where,
    zeros,
)
from tensorkeep.functions.constants import constant
from tensorkeep.functions.control_flow import Assert, cond, while_loop
from tensorkeep.functions.math import cast, equal, maximum, minimum
from tensorkeep.functions.math import range as number_range
from tensorkeep.functions.reductions import reduce_all, reduce_max, reduce_min
from tensorkeep.functions.structures import assert_same_structure, flatten, is_nested, map_structure, pack_sequence_as
from tensorkeep.functions.tensor_array import TensorArray
from tensorkeep.graph.building import colocate_with, control_dependencies, current_graph, name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.layers.recurrent_cells import check_cell, joined_shape, joined_sizes, known_sizes
from tensorkeep.shapes import Shape
from tensorkeep.variables.scope import VariableScope
from tensorkeep.variables.scopes import variable_scope


def _cache(scope: VariableScope) -> None:
    """Variables read in a loop are read once, before it; unless it is inside of another loop."""
    context = current_graph().scopes.control_flow
    while context is not None and not getattr(context, "is_while", False):
        context = getattr(context, "outer", None)
    if context is None and scope.caching_device is None:
        scope.set_caching_device(_device_of)


def _device_of(op: Operation) -> str:
    return op.device


def _swapped(x: Any) -> Tensor:
    """The tensor with its first two dimensions exchanged: batch and time."""
    known = x.static_shape
    if known.rank is not None and known.rank < 2:
        same: Tensor = x
        return same
    swapped = transpose(x, concat(([1, 0], number_range(2, rank(x))), axis=0))
    dims = known.dims
    if dims is not None:
        swapped.set_shape(Shape((dims[1], dims[0], *dims[2:])))
    return swapped


def _batch_size(inputs: Any) -> Any:
    """The size of the batch: a number if some input tells it."""
    for tensor in inputs:
        dims = tensor.static_shape.dims
        if dims is None:
            continue
        if len(dims) < 2:
            raise InvalidArgumentError(f"Input tensor should have rank >= 2. Received input={tensor}")
        if dims[1] is not None:
            return dims[1]
    return shape(inputs[0])[1]


def _state_dtype(dtype: Any, state: Any) -> Any:
    if dtype is not None:
        return dtype
    found = {part.dtype.base_dtype for part in flatten(state)}
    if len(found) != 1:
        raise InvalidArgumentError(f"Unable to infer a single representative dtype of the state {state}")
    return found.pop()


def _initial_state(cell: Any, initial_state: Any, batch_size: Any, dtype: Any) -> Any:
    if initial_state is not None:
        return initial_state
    if not dtype:
        raise InvalidArgumentError("If no initial_state is provided, argument `dtype` must be specified")
    if getattr(cell, "get_initial_state", None) is not None:
        return cell.get_initial_state(inputs=None, batch_size=batch_size, dtype=dtype)
    return cell.zero_state(batch_size, dtype)


def _step(
    time: Any, lengths: Any, zero_output: Any, state: Any, call: Any, bounds: tuple[Any, Any] | None = None
) -> tuple[Any, Any]:
    """One step of sequences of several lengths: beyond its end, a sequence has zeros for output and keeps its state.

    With `bounds`, the least and the greatest length, what all or none of the sequences need is skipped.
    """
    flat_zeros, flat_state = flatten(zero_output), flatten(state)
    is_over = time >= lengths if isinstance(time, Tensor) else lengths <= time

    def copied(old: Any, new: Any) -> Any:
        if isinstance(old, TensorArray) or old.static_shape.rank == 0:
            return new
        with colocate_with(new):
            return where(is_over, old, new)

    def computed() -> list[Any]:
        new_output, new_state = call()
        assert_same_structure(zero_output, new_output)
        assert_same_structure(state, new_state)
        return flatten(new_output) + flatten(new_state)

    def merged(found: list[Any]) -> list[Any]:
        return [copied(old, new) for old, new in zip([*flat_zeros, *flat_state], found, strict=True)]

    def bounded() -> Any:
        assert bounds is not None
        found = computed()
        return cond(_is_before(time, bounds[0]), lambda: found, lambda: merged(found))

    if bounds is None:
        final = merged(computed())
    else:
        final = cond(_is_not_before(time, bounds[1]), lambda: flat_zeros + flat_state, bounded)
    for tensor, like in zip(final, [*flat_zeros, *flat_state], strict=True):
        if not isinstance(tensor, TensorArray):
            tensor.set_shape(like.static_shape)
    count = len(flat_zeros)
    return pack_sequence_as(zero_output, final[:count]), pack_sequence_as(state, final[count:])


def _is_before(time: Any, bound: Any) -> Any:
    return time < bound if isinstance(time, Tensor) else bound > time


def _is_not_before(time: Any, bound: Any) -> Any:
    return time >= bound if isinstance(time, Tensor) else bound <= time


# ---------------------------------------------------------------------------------------------------- Dynamic


def dynamic_rnn(
    cell: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state: Any = None,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
) -> tuple[Any, Any]:
    """The outputs of all steps, computed by a loop, and the last state.

    Inputs are [batch, time, ...], or [time, batch, ...] if `time_major`; so are the outputs.
    """
    check_cell("cell", cell)
    with variable_scope(scope or "rnn") as entered:
        _cache(entered)
        flat = flatten(inputs)
        if not time_major:
            flat = [convert(tensor) for tensor in flat]
            flat = [_swapped(tensor) for tensor in flat]
        lengths = _lengths(sequence_length)
        batch_size = _batch_size(flat)
        state = _initial_state(cell, initial_state, batch_size, dtype)
        if lengths is not None:
            with control_dependencies([_assert_shape(lengths, [batch_size])]):
                lengths = identity(lengths, name="CheckSeqLen")
        outputs, final_state = _loop(
            cell,
            pack_sequence_as(inputs, flat),
            state,
            lengths,
            dtype,
            {"parallel_iterations": parallel_iterations or 32, "swap_memory": swap_memory},
        )
        if not time_major:
            outputs = map_structure(_swapped, outputs)
        return outputs, final_state


def _lengths(sequence_length: Any) -> Any:
    if sequence_length is None:
        return None
    lengths = cast(sequence_length, INT32)
    if lengths.static_shape.rank not in (None, 1):
        raise InvalidArgumentError(
            f"Argument sequence_length must be a vector of length batch_size. Received sequence_length={lengths} of "
            f"shape: {lengths.shape}"
        )
    return identity(lengths, name="sequence_length")


def _assert_shape(x: Tensor, sizes: list[Any]) -> Any:
    found = shape(x)
    wanted = stack(sizes)
    is_equal = reduce_all(equal(found, wanted))
    return Assert(is_equal, [f"Expected shape for Tensor {x.name} is ", wanted, " but saw shape: ", found])


def _loop(cell: Any, inputs: Any, state: Any, lengths: Any, dtype: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    flat_inputs, output_sizes = flatten(inputs), flatten(cell.output_size)
    steps = shape(flat_inputs[0])[0]
    batch_size = _batch_size(flat_inputs)
    known_steps, known_batch = _check_inputs(flat_inputs)
    kind = _state_dtype(dtype, state)
    flat_zeros = [zeros(joined_sizes(batch_size, size), kind) for size in output_sizes]
    zero_output = pack_sequence_as(cell.output_size, flat_zeros)
    longest = steps
    if lengths is not None:
        reduce_min(lengths)
        longest = reduce_max(lengths)
    time = constant(0, INT32, name="time")
    with name_scope("dynamic_rnn") as base:
        pass
    output_arrays = tuple(
        TensorArray(
            kind,
            steps,
            element_shape=Shape((known_batch,)).concatenate(known_sizes(size)),
            tensor_array_name=f"{base}output_{number}",
        )
        for number, size in enumerate(output_sizes)
    )
    input_arrays = tuple(
        TensorArray(
            tensor.dtype,
            steps,
            element_shape=Shape(tensor.static_shape.dims[1:]),
            tensor_array_name=f"{base}input_{number}",
        )
        for number, tensor in enumerate(flat_inputs)
    )
    filled = tuple(array.unstack(tensor) for array, tensor in zip(input_arrays, flat_inputs, strict=True))

    def body(time: Any, arrays: Any, state: Any) -> Any:
        read = [array.read(time) for array in filled]
        for tensor, source in zip(read, flat_inputs, strict=True):
            tensor.set_shape(Shape(source.static_shape.dims[1:]))
        step_inputs = pack_sequence_as(inputs, read)

        def call() -> Any:
            return cell(step_inputs, state)

        output, new_state = call() if lengths is None else _step(time, lengths, zero_output, state, call)
        written = tuple(array.write(time, part) for array, part in zip(arrays, flatten(output), strict=True))
        return time + 1, written, new_state

    bound = minimum(steps, maximum(1, longest))
    _, final_arrays, final_state = while_loop(
        cond=lambda time, *_: time < bound,
        body=body,
        loop_vars=(time, output_arrays, state),
        maximum_iterations=steps,
        **options,
    )
    outputs = [array.stack() for array in final_arrays]
    for tensor, size in zip(outputs, output_sizes, strict=True):
        tensor.set_shape(joined_shape((known_steps, known_batch), size))
    return pack_sequence_as(cell.output_size, outputs), final_state


def _check_inputs(inputs: list[Any]) -> tuple[int | None, int | None]:
    """How many steps and examples the inputs have, as far as that is known; all must have the same."""
    found: list[tuple[int | None, int | None]] = []
    for tensor in inputs:
        dims = tensor.static_shape.dims
        if dims is None or len(dims) < 3:
            raise InvalidArgumentError(f"Shape {tensor.shape} must have rank at least 3")
        if None in dims[2:]:
            raise InvalidArgumentError(
                "Input size (depth of inputs) must be accessible via shape inference, but saw value None for "
                f"input={tensor}."
            )
        found.append((dims[0], dims[1]))
    if len(set(found)) > 1:
        raise InvalidArgumentError(f"Time steps and batch size must be the same for all inputs, got {found}")
    return found[0]


def bidirectional_dynamic_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
) -> tuple[Any, Any]:
    """Two networks, of which one goes through time backwards: a pair of outputs and a pair of states."""
    check_cell("cell_fw", cell_fw)
    check_cell("cell_bw", cell_bw)
    options = {
        "sequence_length": sequence_length,
        "dtype": dtype,
        "parallel_iterations": parallel_iterations,
        "swap_memory": swap_memory,
        "time_major": time_major,
    }
    time_axis, batch_axis = (0, 1) if time_major else (1, 0)

    def reversed_in_time(tensor: Any) -> Tensor:
        if sequence_length is None:
            return reverse(tensor, axis=[time_axis])
        return reverse_sequence(tensor, sequence_length, seq_axis=time_axis, batch_axis=batch_axis)

    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as forward:
            output_fw, state_fw = dynamic_rnn(cell_fw, inputs, initial_state=initial_state_fw, scope=forward, **options)
        with variable_scope("bw") as backward:
            mirrored = map_structure(reversed_in_time, inputs)
            output_bw, state_bw = dynamic_rnn(
                cell_bw, mirrored, initial_state=initial_state_bw, scope=backward, **options
            )
    return (output_fw, map_structure(reversed_in_time, output_bw)), (state_fw, state_bw)


# ---------------------------------------------------------------------------------------------------- Static


def static_rnn(
    cell: Any,
    inputs: Any,
    initial_state: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """The outputs of the steps, each of which is built, and the last state. `inputs` is a list of steps."""
    check_cell("cell", cell)
    if not is_nested(inputs):
        raise WrongTypeError(f"Argument `inputs` must be a sequence. Received: {inputs}")
    if not inputs:
        raise InvalidArgumentError("Argument `inputs` must not be empty.")
    outputs = []
    with variable_scope(scope or "rnn") as entered:
        _cache(entered)
        first = flatten(inputs)[0]
        known_batch = _check_steps(flatten(inputs))
        batch_size = known_batch or shape(first)[0]
        state = _initial_state(cell, initial_state, batch_size, dtype)
        limits = None
        if sequence_length is not None:
            limits = _limits(cell, sequence_length, batch_size, known_batch, _state_dtype(dtype, state))
        for time, step in enumerate(inputs):
            if time:
                entered.reuse_variables()
            if limits is None:
                output, state = cell(step, state)
            else:
                output, state = _limited_step(cell, time, step, state, limits)
            outputs.append(output)
        return outputs, state


def _limited_step(cell: Any, time: int, inputs: Any, state: Any, limits: tuple[Any, ...]) -> tuple[Any, Any]:
    zero_output, lengths, bounds = limits
    return _step(time, lengths, zero_output, state, lambda: cell(inputs, state), bounds)


def _check_steps(inputs: list[Any]) -> int | None:
    batch: int | None = None
    for tensor in inputs:
        dims = tensor.static_shape.dims
        if dims is None or not dims:
            raise InvalidArgumentError(f"Shape {tensor.shape} must have rank at least 2")
        if None in dims[1:]:
            raise InvalidArgumentError(
                f"Input size of input {tensor} must be accessible via shape inference, but saw value None."
            )
        if batch is not None and dims[0] not in (None, batch):
            raise InvalidArgumentError(f"Dimensions {batch} and {dims[0]} are not compatible")
        batch = dims[0] if batch is None else batch
    size: int | None = inputs[0].static_shape.dims[0]
    return size


def _limits(
    cell: Any, sequence_length: Any, batch_size: Any, known_batch: int | None, dtype: Any
) -> tuple[Any, Tensor, tuple[Tensor, Tensor]]:
    """Zeros for the outputs of steps that are over, the lengths, and the least and the greatest of them."""
    lengths = convert(sequence_length, name="sequence_length")
    if lengths.static_shape.rank not in (None, 1):
        raise InvalidArgumentError(
            f"Argument `sequence_length` must be a vector of length {batch_size}. Received {lengths}."
        )
    found = []
    for size in flatten(cell.output_size):
        output = zeros(joined_sizes(batch_size, size), dtype)
        output.set_shape(joined_shape(known_batch, size))
        found.append(output)
    lengths = cast(lengths, INT32)
    return pack_sequence_as(cell.output_size, found), lengths, (reduce_min(lengths), reduce_max(lengths))


def static_bidirectional_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[Any, Any, Any]:
    """Two networks, of which one goes through time backwards: outputs side by side, and both last states."""
    check_cell("cell_fw", cell_fw)
    check_cell("cell_bw", cell_bw)
    if not is_nested(inputs):
        raise WrongTypeError(f"Argument `inputs` must be a sequence. Received: {inputs}")
    if not inputs:
        raise InvalidArgumentError("Argument `inputs` must not be empty.")
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as forward:
            output_fw, state_fw = static_rnn(cell_fw, inputs, initial_state_fw, dtype, sequence_length, scope=forward)
        with variable_scope("bw") as backward:
            mirrored = _reversed_steps(inputs, sequence_length)
            found, state_bw = static_rnn(cell_bw, mirrored, initial_state_bw, dtype, sequence_length, scope=backward)
    output_bw = _reversed_steps(found, sequence_length)
    joined = [concat([one, other], 1) for one, other in zip(flatten(output_fw), flatten(output_bw), strict=True)]
    return pack_sequence_as(output_fw, joined), state_fw, state_bw


def _reversed_steps(steps: Any, lengths: Any) -> list[Any]:
    """The steps from the last to the first; of each sequence as many as its length says."""
    if lengths is None:
        return list(reversed(steps))
    columns: list[list[Tensor]] = [[] for _ in steps]
    for sequence in zip(*map(flatten, steps), strict=True):
        known = Shape((None,) * (sequence[0].static_shape.rank or 0))
        for tensor in sequence:
            known = known.merge(tensor.static_shape)
        mirrored = unstack(reverse_sequence(stack(list(sequence)), lengths, 0, 1))
        for tensor, column in zip(mirrored, columns, strict=True):
            tensor.set_shape(known)
            column.append(tensor)
    return [pack_sequence_as(step, column) for step, column in zip(steps, columns, strict=True)]


__all__ = ["bidirectional_dynamic_rnn", "dynamic_rnn", "static_bidirectional_rnn", "static_rnn"]
