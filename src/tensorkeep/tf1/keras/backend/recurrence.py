"""A step applied along the time axis: `rnn`, unrolled or as a loop, with masks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorkeep.dtypes import BOOL, INT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import expand_dims, reverse, stack, tile, transpose, where, zeros_like
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.control_flow import while_loop
from tensorkeep.tf1.functions.control.tensor_array import TensorArray
from tensorkeep.tf1.functions.numbers.elementwise import cast
from tensorkeep.tf1.functions.structures import flatten, map_structure, pack_sequence_as

Step = Callable[[Any, Any], tuple[Any, Any]]


def rnn(
    step_function: Step,
    inputs: Any,
    initial_states: Sequence[Any],
    go_backwards: bool = False,
    mask: Any = None,
    constants: Sequence[Any] | None = None,
    unroll: bool = False,
    input_length: Any = None,
    time_major: bool = False,
    zero_output_for_mask: bool = False,
) -> tuple[Any, Any, Any]:
    """The last output, all outputs, and the last states of a step along the second axis, or the first if `time_major`.

    `step_function(input, states)` gives an output and new states. Where the mask is false, states stay, and outputs are
    those before, or zeros if `zero_output_for_mask`.
    """
    sequences = [convert(item) for item in flatten(inputs)]
    if not time_major:
        sequences = [_swap_time_and_batch(item) for item in sequences]
    masks = None if mask is None else _time_first(cast(mask, BOOL), sequences[0], time_major)
    if go_backwards:
        sequences = [reverse(item, [0]) for item in sequences]
        masks = None if masks is None else reverse(masks, [0])
    run = _Run(
        lambda flat, states: step_function(pack_sequence_as(inputs, flat), (*states, *(constants or ()))),
        sequences,
        tuple(initial_states),
        masks,
        zero_output_for_mask,
    )
    last, outputs, states = run.unrolled() if unroll else run.looped(input_length)
    if not time_major:
        outputs = map_structure(_swap_time_and_batch, outputs)
    return last, outputs, states


def _swap_time_and_batch(item: Any) -> Tensor:
    """Time and batch exchanged."""
    rank = item.static_shape.rank
    if rank is None or rank < 2:
        raise InvalidArgumentError(f"the inputs of rnn need a batch and a time axis; got shape {item.static_shape}")
    return transpose(item, [1, 0, *range(2, rank)])


def _time_first(mask: Tensor, like: Tensor, time_major: bool) -> Tensor:
    if mask.static_shape.rank == 2:
        mask = expand_dims(mask, axis=-1)
    return mask if time_major else _swap_time_and_batch(mask)


def _spread_mask(mask: Tensor, like: Any) -> Tensor:
    """A mask [batch, 1], as wide as a tensor [batch, …]."""
    rank = like.static_shape.rank
    for _ in range(rank - (mask.static_shape.rank or rank)):
        mask = expand_dims(mask, -1)
    sizes = shape_of(like)
    return tile(mask, stack([constant(1), *(sizes[at] for at in range(1, rank))]))


class _Run:
    def __init__(
        self, step: Callable[[Any, Any], Any], sequences: list[Tensor], states: Any, mask: Tensor | None, zeros: bool
    ) -> None:
        self.step = step
        self.sequences = sequences
        self.states = states
        self.mask = mask
        self.zeros = zeros

    def _masked(self, at_mask: Tensor | None, output: Any, states: Any, before: Any, old: Any) -> tuple[Any, Any]:
        """Output and states after a step: those before it where the mask is false."""
        flat_states = flatten(states)
        for new, given in zip(flat_states, flatten(old), strict=True):
            if hasattr(new, "set_shape"):
                new.set_shape(given.get_shape())
        if at_mask is None:
            return output, states
        kept = [
            where(_spread_mask(at_mask, new), new, last)
            for new, last in zip(flatten(output), flatten(before), strict=True)
        ]
        fixed = [
            where(_spread_mask(at_mask, new), new, last) for new, last in zip(flat_states, flatten(old), strict=True)
        ]
        return pack_sequence_as(output, kept), pack_sequence_as(states, fixed)

    def unrolled(self) -> tuple[Any, Any, Any]:
        length = self.sequences[0].get_shape().as_list()[0]
        if length is None:
            raise InvalidArgumentError("Unrolling requires a fixed number of timesteps.")
        states, outputs, output = self.states, [], None
        for at in range(length):
            made, changed = self.step([item[at] for item in self.sequences], states)
            before = map_structure(zeros_like, made) if output is None or self.zeros else output
            at_mask = None if self.mask is None else self.mask[at]
            output, states = self._masked(at_mask, made, tuple(changed), before, states)
            outputs.append(output)
        flat = [flatten(item) for item in outputs]
        stacked = [stack([items[at] for items in flat]) for at in range(len(flat[0]))]
        return output, pack_sequence_as(output, stacked), states

    def looped(self, input_length: Any) -> tuple[Any, Any, Any]:
        length = self.sequences[0].get_shape().as_list()[0]
        steps = shape_of(self.sequences[0])[0] if length is None else length
        arrays = [TensorArray(item.dtype, size=steps).unstack(item) for item in self.sequences]
        like, _ = self.step([item[0] for item in self.sequences], self.states)
        flat_like = flatten(like)
        results = [
            TensorArray(item.dtype, size=steps, element_shape=item.get_shape(), tensor_array_name=f"output_ta_{at}")
            for at, item in enumerate(flat_like)
        ]
        mask = None if self.mask is None else TensorArray(BOOL, size=steps).unstack(self.mask)
        states = [convert(item) for item in flatten(self.states)]
        before = [] if mask is None else [zeros_like(item) for item in flat_like]
        zeros = before

        def body(at: Tensor, made: Any, last: Any, held: Any) -> Any:
            old = pack_sequence_as(self.states, list(held))
            output, changed = self.step([array.read(at) for array in arrays], old)
            at_mask = None if mask is None else mask.read(at)
            earlier = pack_sequence_as(like, list(zeros if self.zeros else last)) if mask is not None else None
            output, changed = self._masked(at_mask, output, tuple(changed), earlier, old)
            flat = flatten(output)
            written = tuple(array.write(at, item) for array, item in zip(made, flat, strict=True))
            return at + 1, written, tuple(flat) if mask is not None else (), tuple(flatten(changed))

        _, made, _, held = while_loop(
            lambda at, *_: at < steps,
            body,
            (constant(0, INT32), tuple(results), tuple(before), tuple(states)),
            parallel_iterations=32,
            swap_memory=True,
            maximum_iterations=steps if input_length is None else input_length,
        )
        outputs = [array.stack() for array in made]
        for item in outputs:
            item.set_shape([length, *item.get_shape().as_list()[1:]])
        last = pack_sequence_as(like, [item[-1] for item in outputs])
        return last, pack_sequence_as(like, outputs), pack_sequence_as(self.states, list(held))
