"""A cell that attends to memories at every step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tensorkeep.dtypes import INT32
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, Structure
from tensorkeep.graph.building import control_dependencies, name_scope
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.contrib.seq2seq.attention import Attending, AttentionMechanism
from tensorkeep.tf1.functions.arrays.shapes import concat, expand_dims, identity, squeeze, zeros
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.control.assertions import assert_equal
from tensorkeep.tf1.functions.control.tensor_array import TensorArray
from tensorkeep.tf1.functions.linear_algebra.matrices import matmul
from tensorkeep.tf1.functions.structures import flatten, map_structure
from tensorkeep.tf1.layers.base import Layer
from tensorkeep.tf1.layers.cells import CellLike, RNNCell, Sizes, State, check_cell, joined_shape
from tensorkeep.tf1.layers.core import Dense


class AttentionWrapperState(NamedTuple):
    """The state of an AttentionWrapper."""

    cell_state: Any
    attention: Any
    time: Any
    alignments: Any
    alignment_history: Any
    attention_state: Any

    def clone(self, **kwargs: object) -> AttentionWrapperState:
        """A copy of the state with some parts replaced, whose shapes must fit."""

        def fitting(old: Any, new: Any) -> Any:
            if isinstance(old, Tensor) and isinstance(new, Tensor):
                new.set_shape(old.get_shape())
            return new

        return map_structure(fitting, self, self._replace(**kwargs))  # type: ignore[no-any-return]


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple) else (value,)


class AttentionWrapper(RNNCell):
    """A cell whose inputs are joined with what it attended to last, and whose outputs become what it attends to."""

    def __init__(
        self,
        cell: CellLike,
        attention_mechanism: AttentionMechanism | Sequence[AttentionMechanism],
        attention_layer_size: int | Sequence[int] | None = None,
        alignment_history: bool = False,
        cell_input_fn: Callable[[Any, Any], Any] | None = None,
        output_attention: bool = True,
        initial_cell_state: State | None = None,
        name: str | None = None,
        attention_layer: Layer | Sequence[Layer] | None = None,
        attention_fn: Callable[..., tuple[Any, Any, Any]] | None = None,
    ) -> None:
        super().__init__(name=name)
        check_cell("cell", cell)
        self._is_multi = isinstance(attention_mechanism, list | tuple)
        self._attention_mechanisms = _as_tuple(attention_mechanism)
        for item in self._attention_mechanisms:
            if not isinstance(item, AttentionMechanism):
                raise WrongTypeError(
                    f"attention_mechanism must contain only instances of AttentionMechanism, saw {type(item).__name__}"
                )
        if cell_input_fn is not None and not callable(cell_input_fn):
            raise WrongTypeError(f"cell_input_fn must be callable, saw type: {type(cell_input_fn).__name__}")
        self._cell: Any = cell
        self._cell_input_fn = cell_input_fn or (lambda inputs, attention: concat([inputs, attention], -1))
        self._attention_fn = attention_fn or compute_attention
        self._output_attention, self._alignment_history = output_attention, alignment_history
        self._set_layers(attention_layer_size, attention_layer)
        with name_scope(name or "AttentionWrapperInit"):
            self._initial_cell_state = None
            if initial_cell_state is not None:
                rows = _rows_of(initial_cell_state)
                with control_dependencies(self._batch_size_checks(rows, "initial_cell_state")):
                    self._initial_cell_state = map_structure(
                        lambda part: identity(part, name="check_initial_cell_state"), initial_cell_state
                    )

    def _set_layers(self, sizes: Any, layers: Any) -> None:
        if sizes is not None and layers is not None:
            raise InvalidArgumentError("Only one of attention_layer_size and attention_layer should be set")
        self._attention_layers: tuple[Any, ...] | None = None
        if sizes is not None:
            self._attention_layers = tuple(
                Dense(size, name="attention_layer", use_bias=False, dtype=mechanism.dtype)
                for size, mechanism in zip(_as_tuple(sizes), self._attention_mechanisms, strict=False)
            )
            self._attention_layer_size = sum(_as_tuple(sizes))
        elif layers is not None:
            self._attention_layers = _as_tuple(layers)
            self._attention_layer_size = sum(layer.units for layer in self._attention_layers)
        else:
            self._attention_layer_size = sum(item.values.get_shape()[-1].value for item in self._attention_mechanisms)
        if self._attention_layers is not None and len(self._attention_layers) != len(self._attention_mechanisms):
            raise InvalidArgumentError(
                "If provided, attention_layer must contain exactly one layer per attention_mechanism, saw: "
                f"{len(self._attention_layers)} vs {len(self._attention_mechanisms)}"
            )

    def _batch_size_checks(self, rows: Any, what: str) -> list[Any]:
        message = (
            f"When applying AttentionWrapper {self.name}: Non-matching batch sizes between the memory (encoder output) "
            f"and {what}. Are you using the BeamSearchDecoder? You may need to tile your initial state via "
            "tf.contrib.seq2seq.tile_batch with argument multiple=beam_width."
        )
        return [assert_equal(rows, item.batch_size, message=message) for item in self._attention_mechanisms]

    def _item_or_tuple(self, items: Any) -> Any:
        found = tuple(items)
        return found if self._is_multi else found[0]

    @property
    def output_size(self) -> Sizes:
        size: Sizes = self._attention_layer_size if self._output_attention else self._cell.output_size
        return size

    @property
    def state_size(self) -> AttentionWrapperState:
        mechanisms = self._attention_mechanisms
        return AttentionWrapperState(
            cell_state=self._cell.state_size,
            time=TensorShape([]),
            attention=self._attention_layer_size,
            alignments=self._item_or_tuple(item.alignments_size for item in mechanisms),
            attention_state=self._item_or_tuple(item.state_size for item in mechanisms),
            alignment_history=self._item_or_tuple(
                item.alignments_size if self._alignment_history else () for item in mechanisms
            ),
        )

    def zero_state(self, batch_size: Tensor | int, dtype: DTypeLike) -> AttentionWrapperState:
        """The first state: that of the cell or the one given, attending to nothing."""
        with name_scope(f"{type(self).__name__}ZeroState"):
            cell_state = self._initial_cell_state
            if cell_state is None:
                cell_state = self._cell.get_initial_state(batch_size=batch_size, dtype=dtype)
            with control_dependencies(self._batch_size_checks(batch_size, "the requested batch size")):
                cell_state = map_structure(lambda part: identity(part, name="checked_cell_state"), cell_state)
            first = [item.initial_alignments(batch_size, dtype) for item in self._attention_mechanisms]
            width = zeros(joined_shape(batch_size, self._attention_layer_size), dtype=dtype)
            histories: list[Any] = [()] * len(first)
            if self._alignment_history:
                histories = [
                    TensorArray(dtype, size=0, dynamic_size=True, element_shape=part.get_shape()) for part in first
                ]
            return AttentionWrapperState(
                cell_state=cell_state,
                time=zeros([], dtype=INT32),
                attention=width,
                alignments=self._item_or_tuple(first),
                attention_state=self._item_or_tuple(
                    item.initial_state(batch_size, dtype) for item in self._attention_mechanisms
                ),
                alignment_history=self._item_or_tuple(histories),
            )

    def call(self, inputs: Structure, state: State) -> tuple[Any, Any]:
        """One step: what is attended to, or the output of the cell, and the new state."""
        if not isinstance(state, AttentionWrapperState):
            raise WrongTypeError(f"Expected state to be instance of AttentionWrapperState. Received type {type(state)}")
        output, cell_state = self._cell(self._cell_input_fn(inputs, state.attention), state.cell_state)
        rows = output.get_shape()[0].value or shape_of(output)[0]
        with control_dependencies(self._batch_size_checks(rows, "the query (decoder output)")):
            output = identity(output, name="checked_cell_output")
        before = _as_tuple(state.attention_state) if self._is_multi else (state.attention_state,)
        past = state.alignment_history if self._is_multi else (state.alignment_history,)
        attentions, alignments, states, histories = [], [], [], []
        for number, mechanism in enumerate(self._attention_mechanisms):
            layer = self._attention_layers[number] if self._attention_layers else None
            attended, where_to, next_state = self._attention_fn(mechanism, output, before[number], layer)
            attentions.append(attended)
            alignments.append(where_to)
            states.append(next_state)
            histories.append(past[number].write(state.time, where_to) if self._alignment_history else ())
        attention = concat(attentions, 1)
        new_state = AttentionWrapperState(
            time=state.time + 1,
            cell_state=cell_state,
            attention=attention,
            attention_state=self._item_or_tuple(states),
            alignments=self._item_or_tuple(alignments),
            alignment_history=self._item_or_tuple(histories),
        )
        return (attention if self._output_attention else output), new_state


def compute_attention(
    attention_mechanism: Attending, cell_output: Tensor, attention_state: Tensor, attention_layer: Layer | None
) -> tuple[Any, Any, Any]:
    """What is attended to, where, and the next state of the mechanism."""
    alignments, next_state = attention_mechanism(cell_output, state=attention_state)
    context = squeeze(matmul(expand_dims(alignments, 1), attention_mechanism.values), [1])
    if attention_layer is not None:
        return attention_layer(concat([cell_output, context], 1)), alignments, next_state
    return context, alignments, next_state


def _rows_of(state: Any) -> Any:
    last = flatten(state)[-1]
    return last.get_shape()[0].value or shape_of(last)[0]
