"""`tf.contrib.legacy_seq2seq`: decoders unrolled over lists of steps.

Inputs are lists with a tensor for each step. With `feed_previous` a decoder reads its own last output instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from functools import partial
from typing import Any, TypeAlias

from tensorkeep.dtypes import FLOAT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike, TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.contrib.layers.collecting import last_dimension
from tensorkeep.tf1.contrib.rnn.linear_maps import linear
from tensorkeep.tf1.contrib.rnn.wrappers import EmbeddingWrapper, OutputProjectionWrapper
from tensorkeep.tf1.functions.arrays.shapes import concat, reshape, stack, stop_gradient, zeros
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.control.control_flow import cond
from tensorkeep.tf1.functions.embedding.lookups import embedding_lookup
from tensorkeep.tf1.functions.nn.activations import softmax, xw_plus_b
from tensorkeep.tf1.functions.nn.convolution import conv2d
from tensorkeep.tf1.functions.nn.cross_entropies import sparse_softmax_cross_entropy_with_logits
from tensorkeep.tf1.functions.numbers.elementwise import add_n, cast, tanh
from tensorkeep.tf1.functions.numbers.reductions import argmax, reduce_sum
from tensorkeep.tf1.functions.structures import flatten, is_nested, pack_sequence_as
from tensorkeep.tf1.layers.cells import CellLike, State
from tensorkeep.tf1.layers.recurrent import static_rnn
from tensorkeep.tf1.variables.scope import VariableScope, get_variable_scope
from tensorkeep.tf1.variables.scopes import get_variable, variable_scope

Loop: TypeAlias = "Callable[[Any, int], Any]"
"""A function of the last output and the number of a step that gives the next input."""


def _own_outputs(
    embedding: Any, output_projection: tuple[TensorLike, TensorLike] | None = None, update_embedding: bool = True
) -> Loop:
    """The row of the most likely symbol of the last output."""

    def following(last: Any, _: int) -> Any:
        if output_projection is not None:
            last = xw_plus_b(last, *output_projection)
        row = embedding_lookup(embedding, argmax(last, 1))
        return row if update_embedding else stop_gradient(row)

    return following


def rnn_decoder(
    decoder_inputs: Iterable[Any],
    initial_state: State,
    cell: CellLike,
    loop_function: Loop | None = None,
    scope: str | VariableScope | None = None,
) -> tuple[list[Any], Any]:
    """The outputs of a cell for each step, and its last state."""
    with variable_scope(scope or "rnn_decoder"):
        state, outputs, last = initial_state, [], None
        for number, given in enumerate(decoder_inputs):
            read = given
            if loop_function is not None and last is not None:
                with variable_scope("loop_function", reuse=True):
                    read = loop_function(last, number)
            if number:
                get_variable_scope().reuse_variables()
            output, state = cell(read, state)
            outputs.append(output)
            last = output
        return outputs, state


def basic_rnn_seq2seq(
    encoder_inputs: Sequence[Any],
    decoder_inputs: Sequence[Any],
    cell: CellLike,
    dtype: DTypeLike = FLOAT32,
    scope: str | VariableScope | None = None,
) -> tuple[list[Any], Any]:
    """One cell reads, and another one like it writes from its last state."""
    with variable_scope(scope or "basic_rnn_seq2seq"):
        _, state = static_rnn(deepcopy(cell), encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, cell)


def tied_rnn_seq2seq(
    encoder_inputs: Sequence[Any],
    decoder_inputs: Sequence[Any],
    cell: CellLike,
    loop_function: Loop | None = None,
    dtype: DTypeLike = FLOAT32,
    scope: str | None = None,
) -> tuple[list[Any], Any]:
    """One cell reads and writes."""
    with variable_scope("combined_tied_rnn_seq2seq"):
        name = scope or "tied_rnn_seq2seq"
        _, state = static_rnn(cell, encoder_inputs, dtype=dtype, scope=name)
        get_variable_scope().reuse_variables()
        return rnn_decoder(decoder_inputs, state, cell, loop_function, name)


def embedding_rnn_decoder(
    decoder_inputs: Sequence[Any],
    initial_state: State,
    cell: CellLike,
    num_symbols: int,
    embedding_size: int,
    output_projection: tuple[TensorLike, TensorLike] | None = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    scope: str | VariableScope | None = None,
) -> tuple[list[Any], Any]:
    """As `rnn_decoder`, of numbers that have rows in the variable "embedding"."""
    with variable_scope(scope or "embedding_rnn_decoder"):
        table = get_variable("embedding", [num_symbols, embedding_size])
        loop = _own_outputs(table, output_projection, update_embedding_for_previous) if feed_previous else None
        rows = [embedding_lookup(table, item) for item in decoder_inputs]
        return rnn_decoder(rows, initial_state, cell, loop)


def embedding_rnn_seq2seq(
    encoder_inputs: Sequence[Any],
    decoder_inputs: Sequence[Any],
    cell: CellLike,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    output_projection: tuple[TensorLike, TensorLike] | None = None,
    feed_previous: bool | Tensor = False,
    dtype: DTypeLike | None = None,
    scope: str | VariableScope | None = None,
) -> tuple[list[Any], Any]:
    """As `basic_rnn_seq2seq`, of numbers that have rows in variables, and with outputs that are logits."""
    with variable_scope(scope or "embedding_rnn_seq2seq") as opened:
        kind = dtype or opened.dtype
        reader = EmbeddingWrapper(deepcopy(cell), num_encoder_symbols, embedding_size)
        _, state = static_rnn(reader, encoder_inputs, dtype=kind)
        writer = OutputProjectionWrapper(cell, num_decoder_symbols) if output_projection is None else cell

        def written(feeds: bool) -> tuple[list[Any], Any]:
            return embedding_rnn_decoder(
                decoder_inputs, state, writer, num_decoder_symbols, embedding_size, output_projection, feeds
            )

        return _choose_decoding(feed_previous, written)


def embedding_tied_rnn_seq2seq(
    encoder_inputs: Sequence[Any],
    decoder_inputs: Sequence[Any],
    cell: CellLike,
    num_symbols: int,
    embedding_size: int,
    num_decoder_symbols: int | None = None,
    output_projection: tuple[TensorLike, TensorLike] | None = None,
    feed_previous: bool | Tensor = False,
    dtype: DTypeLike | None = None,
    scope: str | VariableScope | None = None,
) -> tuple[list[Any], Any]:
    """As `tied_rnn_seq2seq`, of numbers that have rows in one variable, both what is read and what is written."""
    with variable_scope(scope or "embedding_tied_rnn_seq2seq", dtype=dtype) as opened:
        kind = dtype or opened.dtype
        table = get_variable("embedding", [num_symbols, embedding_size], dtype=kind)
        read, given = ([embedding_lookup(table, item) for item in items] for items in (encoder_inputs, decoder_inputs))
        writer: Any = cell
        if output_projection is None:
            writer = OutputProjectionWrapper(cell, num_decoder_symbols or num_symbols)

        def written(feeds: bool) -> tuple[list[Any], Any]:
            loop = _own_outputs(table, output_projection) if feeds else None
            return tied_rnn_seq2seq(read, given, writer, loop, kind)

        return _choose_decoding(feed_previous, written)


def one2many_rnn_seq2seq(
    encoder_inputs: Sequence[Any],
    decoder_inputs_dict: Mapping[Any, Sequence[Any]],
    enc_cell: CellLike,
    dec_cells_dict: Mapping[Any, CellLike],
    num_encoder_symbols: int,
    num_decoder_symbols_dict: Mapping[Any, int],
    embedding_size: int,
    feed_previous: bool | Tensor = False,
    dtype: DTypeLike | None = None,
    scope: str | VariableScope | None = None,
) -> tuple[dict[Any, list[Any]], dict[Any, Any]]:
    """One reader, and several writers from its last state, by name; what each writes, and its last state."""
    outputs, states = dict[Any, list[Any]](), dict[Any, Any]()
    with variable_scope(scope or "one2many_rnn_seq2seq", dtype=dtype) as opened:
        reader = EmbeddingWrapper(enc_cell, num_encoder_symbols, embedding_size)
        _, read = static_rnn(reader, encoder_inputs, dtype=dtype or opened.dtype)
        for name, given in decoder_inputs_dict.items():
            symbols = num_decoder_symbols_dict[name]
            with variable_scope(f"one2many_decoder_{name}"):
                writer = OutputProjectionWrapper(dec_cells_dict[name], symbols)
                write = partial(_written, given, read, writer, symbols, embedding_size)
                outputs[name], states[name] = _choose_decoding(feed_previous, write)
    return outputs, states


def _written(given: Sequence[Any], read: State, writer: Any, symbols: int, size: int, feeds: bool) -> Any:
    return embedding_rnn_decoder(given, read, writer, symbols, size, feed_previous=feeds)


def _choose_decoding(feeds: bool | Tensor, written: Callable[[bool], tuple[list[Any], Any]]) -> tuple[list[Any], Any]:
    """What a decoder writes, fed as a truth value says; of a tensor both are built, with the same variables."""
    if isinstance(feeds, bool):
        return written(feeds)
    forms: list[Any] = []

    def branch(is_fed: bool) -> list[Any]:
        with variable_scope(get_variable_scope(), reuse=True if forms else None):
            outputs, state = written(is_fed)
            forms.append(state)
            return [*outputs, *flatten(state)]

    found = cond(feeds, lambda: branch(True), lambda: branch(False))
    count = len(found) - len(flatten(forms[0]))
    return list(found[:count]), pack_sequence_as(forms[0], list(found[count:]))


class _Attention:
    """Attention to states [batch, length, size], with several heads."""

    def __init__(self, states: Tensor, heads: int) -> None:
        self.length: Any = states.get_shape()[1].value
        self.size: Any = states.get_shape()[2].value
        if self.size is None:
            raise InvalidArgumentError(f"Shape[2] of attention_states must be known: {states.get_shape()}")
        if self.length is None:
            self.length = shape_of(states)[1]
        self.hidden = reshape(states, [-1, self.length, 1, self.size])
        self.features, self.v = [], []
        for number in range(heads):
            weights = get_variable(f"AttnW_{number}", [1, 1, self.size, self.size])
            self.features.append(conv2d(self.hidden, weights, [1, 1, 1, 1], "SAME"))
            self.v.append(get_variable(f"AttnV_{number}", [self.size]))

    def to(self, query: Any) -> list[Tensor]:
        """What each head attends to."""
        asked = concat(flatten(query), 1) if is_nested(query) else query
        found = []
        for number, (features, v) in enumerate(zip(self.features, self.v, strict=True)):
            with variable_scope(f"Attention_{number}"):
                y = reshape(linear(asked, self.size, True), [-1, 1, 1, self.size])
                shares = softmax(reduce_sum(v * tanh(features + y), [2, 3]))
                seen = reduce_sum(reshape(shares, [-1, self.length, 1, 1]) * self.hidden, [1, 2])
                found.append(reshape(seen, [-1, self.size]))
        return found


def attention_decoder(
    decoder_inputs: Sequence[Any],
    initial_state: State,
    attention_states: Tensor,
    cell: CellLike,
    output_size: int | None = None,
    num_heads: int = 1,
    loop_function: Loop | None = None,
    dtype: DTypeLike | None = None,
    scope: str | VariableScope | None = None,
    initial_state_attention: bool = False,
) -> tuple[list[Any], Any]:
    """As `rnn_decoder`, with inputs and outputs that are mixed with what is attended to."""
    if not decoder_inputs:
        raise InvalidArgumentError("Must provide at least 1 input to attention decoder.")
    if num_heads < 1:
        raise InvalidArgumentError("With less than 1 heads, use a non-attention decoder.")
    wide: Any = cell.output_size if output_size is None else output_size
    with variable_scope(scope or "attention_decoder", dtype=dtype):
        attention = _Attention(attention_states, num_heads)
        state, outputs, last = initial_state, [], None
        none = zeros(stack([shape_of(decoder_inputs[0])[0], attention.size]), dtype=attention_states.dtype)
        none.set_shape([None, attention.size])
        seen = attention.to(initial_state) if initial_state_attention else [none] * num_heads
        for number, given in enumerate(decoder_inputs):
            if number:
                get_variable_scope().reuse_variables()
            read = given
            if loop_function is not None and last is not None:
                with variable_scope("loop_function", reuse=True):
                    read = loop_function(last, number)
            depth = last_dimension(read.get_shape(), min_rank=2)
            output, state = cell(linear([read, *seen], depth, True), state)
            reuse = True if number == 0 and initial_state_attention else None
            with variable_scope(get_variable_scope(), reuse=reuse):
                seen = attention.to(state)
            with variable_scope("AttnOutputProjection"):
                last = linear([output, *seen], wide, True)
            outputs.append(last)
        return outputs, state


def embedding_attention_decoder(
    decoder_inputs: Sequence[Any],
    initial_state: State,
    attention_states: Tensor,
    cell: CellLike,
    num_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_size: int | None = None,
    output_projection: tuple[TensorLike, TensorLike] | None = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    dtype: DTypeLike | None = None,
    scope: str | VariableScope | None = None,
    initial_state_attention: bool = False,
) -> tuple[list[Any], Any]:
    """As `attention_decoder`, of numbers that have rows in the variable "embedding"."""
    with variable_scope(scope or "embedding_attention_decoder", dtype=dtype):
        table = get_variable("embedding", [num_symbols, embedding_size])
        loop = _own_outputs(table, output_projection, update_embedding_for_previous) if feed_previous else None
        rows = [embedding_lookup(table, item) for item in decoder_inputs]
        wide: Any = cell.output_size if output_size is None else output_size
        return attention_decoder(
            rows,
            initial_state,
            attention_states,
            cell,
            output_size=wide,
            num_heads=num_heads,
            loop_function=loop,
            initial_state_attention=initial_state_attention,
        )


def embedding_attention_seq2seq(
    encoder_inputs: Sequence[Any],
    decoder_inputs: Sequence[Any],
    cell: CellLike,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_projection: tuple[TensorLike, TensorLike] | None = None,
    feed_previous: bool | Tensor = False,
    dtype: DTypeLike | None = None,
    scope: str | VariableScope | None = None,
    initial_state_attention: bool = False,
) -> tuple[list[Any], Any]:
    """As `embedding_rnn_seq2seq`, with attention to the outputs of the cell that reads."""
    with variable_scope(scope or "embedding_attention_seq2seq", dtype=dtype) as opened:
        reader = EmbeddingWrapper(deepcopy(cell), num_encoder_symbols, embedding_size)
        outputs, state = static_rnn(reader, encoder_inputs, dtype=opened.dtype)
        size: Any = cell.output_size
        memory = concat([reshape(item, [-1, 1, size]) for item in outputs], 1)
        writer = OutputProjectionWrapper(cell, num_decoder_symbols) if output_projection is None else cell
        wide = num_decoder_symbols if output_projection is None else None

        def written(feeds: bool) -> tuple[list[Any], Any]:
            return embedding_attention_decoder(
                decoder_inputs,
                state,
                memory,
                writer,
                num_decoder_symbols,
                embedding_size,
                num_heads=num_heads,
                output_size=wide,
                output_projection=output_projection,
                feed_previous=feeds,
                initial_state_attention=initial_state_attention,
            )

        return _choose_decoding(feed_previous, written)


# ---------------------------------------------------------------------------------------------------- Losses


def sequence_loss_by_example(
    logits: Sequence[Any],
    targets: Sequence[Any],
    weights: Sequence[Any],
    average_across_timesteps: bool = True,
    softmax_loss_function: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Tensor:
    """The weighted cross entropy of each example over all steps."""
    if not len(logits) == len(targets) == len(weights):
        raise InvalidArgumentError(
            f"Lengths of logits, weights, and targets must be the same {len(logits)}, {len(weights)}, {len(targets)}."
        )
    with name_scope(name or "sequence_loss_by_example"):
        losses: list[Any] = []
        for logit, target, weight in zip(logits, targets, weights, strict=True):
            if softmax_loss_function is None:
                loss = sparse_softmax_cross_entropy_with_logits(labels=reshape(target, [-1]), logits=logit)
            else:
                loss = softmax_loss_function(labels=target, logits=logit)
            losses.append(loss * weight)
        total: Any = add_n(losses)
        if average_across_timesteps:
            total = total / (add_n(list(weights)) + 1e-12)
        return total  # type: ignore[no-any-return]


def sequence_loss(
    logits: Sequence[Any],
    targets: Sequence[Any],
    weights: Sequence[Any],
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    softmax_loss_function: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Tensor:
    """The weighted cross entropy of all steps, and of all examples or their mean."""
    with name_scope(name or "sequence_loss"):
        cost = reduce_sum(
            sequence_loss_by_example(logits, targets, weights, average_across_timesteps, softmax_loss_function)
        )
        if average_across_batch:
            return cost / cast(shape_of(targets[0])[0], cost.dtype)
        return cost


def model_with_buckets(
    encoder_inputs: Sequence[Any],
    decoder_inputs: Sequence[Any],
    targets: Sequence[Any],
    weights: Sequence[Any],
    buckets: Sequence[tuple[int, int]],
    seq2seq: Callable[[Sequence[Any], Sequence[Any]], tuple[list[Any], Any]],
    softmax_loss_function: Callable[..., Any] | None = None,
    per_example_loss: bool = False,
    name: str | None = None,
) -> tuple[list[Any], list[Any]]:
    """The outputs and the losses for each bucket of lengths, with the same variables."""
    for given, place, what in ((encoder_inputs, 0, "encoder_inputs"), (targets, 1, "targets"), (weights, 1, "weights")):
        if len(given) < buckets[-1][place]:
            raise InvalidArgumentError(
                f"Length of {what} ({len(given)}) must be at least that of last bucket ({buckets[-1][place]})."
            )
    outputs, losses = [], []
    total = sequence_loss_by_example if per_example_loss else sequence_loss
    with name_scope(name or "model_with_buckets"):
        for number, (read, written) in enumerate(buckets):
            with variable_scope(get_variable_scope(), reuse=True if number else None):
                found, _ = seq2seq(encoder_inputs[:read], decoder_inputs[:written])
                outputs.append(found)
                loss = total(found, targets[:written], weights[:written], softmax_loss_function=softmax_loss_function)
                losses.append(loss)
    return outputs, losses
