"""`tf.contrib.seq2seq`: attention as NumPy computes it, decoders, and beam search against all sequences."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorkeep.v1 as tf
from tensorkeep.v1.programs.finding import module_at
from tests.support.depth import examples
from tests.tf1.contrib.running import values

seq2seq, rnn = tf.contrib.seq2seq, tf.contrib.rnn
DRAWN = np.random.default_rng(0)
MEMORY = DRAWN.normal(size=(4, 5, 3)).astype(np.float32)
LENGTHS = [5, 4, 3, 2]
QUERY = DRAWN.normal(size=(4, 6)).astype(np.float32)
MASK = np.arange(5)[None] < np.array(LENGTHS)[:, None]


def softmax(scores: Any) -> Any:
    kept = np.where(MASK, np.exp(scores), 0)
    return kept / kept.sum(1, keepdims=True)


# ---------------------------------------------------------------------------------------------------- Attention


@pytest.mark.parametrize("normalize", [False, True])
def test_additive_attention(normalize: bool) -> None:
    def build() -> Any:
        mechanism = seq2seq.BahdanauAttention(6, MEMORY, LENGTHS, normalize=normalize)
        return mechanism(tf.constant(QUERY), mechanism.initial_state(4, tf.float32))[0]

    found, w = values(build)
    keys = (MEMORY * MASK[..., None]) @ w["memory_layer/kernel"]
    query, v = QUERY @ w["bahdanau_attention/query_layer/kernel"], w["bahdanau_attention/attention_v"]
    if normalize:
        v = w["bahdanau_attention/attention_g"] * v / np.sqrt(np.sum(v**2))
        query = query + w["bahdanau_attention/attention_b"]
    np.testing.assert_allclose(found, softmax((v * np.tanh(keys + query[:, None])).sum(2)), rtol=1e-4, atol=1e-6)


def test_multiplicative_attention() -> None:
    def build() -> Any:
        mechanism = seq2seq.LuongAttention(6, MEMORY, LENGTHS, scale=True)
        return mechanism(tf.constant(QUERY), mechanism.initial_state(4, tf.float32))[0]

    found, w = values(build)
    keys = (MEMORY * MASK[..., None]) @ w["memory_layer/kernel"]
    scores = w["luong_attention/attention_g"] * np.einsum("bu,btu->bt", QUERY, keys)
    np.testing.assert_allclose(found, softmax(scores), rtol=1e-4, atol=1e-6)
    with tf.Graph().as_default():
        wide = seq2seq.LuongAttention(7, MEMORY)
        with pytest.raises(ValueError, match="inner dimensions"):
            wide(tf.constant(QUERY), None)


def test_monotonic_attention_is_alike_recursive_and_parallel_and_hard_attention_goes_to_one_place() -> None:
    stay = DRAWN.uniform(0.1, 0.9, size=(4, 5)).astype(np.float32)
    before = np.eye(5, dtype=np.float32)[[0, 1, 0, 2]]

    def build() -> Any:
        modes = ("recursive", "parallel", "hard")
        return [
            seq2seq.monotonic_attention((stay > 0.5).astype(np.float32) if mode == "hard" else stay, before, mode)
            for mode in modes
        ]

    (recursive, parallel, hard), _ = values(build)
    expected = np.zeros((4, 5))
    for row in range(4):
        for reached in range(5):
            passed = np.prod(1 - stay[row, np.argmax(before[row]) : reached])
            expected[row, reached] = stay[row, reached] * passed if reached >= np.argmax(before[row]) else 0
    np.testing.assert_allclose(recursive, expected, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(parallel, expected, rtol=1e-4, atol=1e-6)
    assert set(hard.sum(1).tolist()) <= {0.0, 1.0}


@pytest.mark.parametrize("kind", ["BahdanauMonotonicAttention", "LuongMonotonicAttention"])
def test_monotonic_mechanisms_begin_at_the_first_place(kind: str) -> None:
    def build() -> Any:
        mechanism = getattr(seq2seq, kind)(6, MEMORY, LENGTHS, score_bias_init=-2.0)
        first = mechanism.initial_state(4, tf.float32)
        return first, mechanism(tf.constant(QUERY), first)[0]

    (first, following), w = values(build)
    assert first.tolist() == np.eye(5)[[0] * 4].tolist()
    assert next(value for name, value in w.items() if name.endswith("attention_score_bias")) == -2.0
    assert (following.sum(1) <= 1.00001).all()
    assert not following[~MASK].any()


# ---------------------------------------------------------------------------------------------------- Decoders


def decoded(beam: int = 0, **told: Any) -> Any:
    """A network with attention: trained on inputs, or searched with so many beams."""
    memory, lengths = tf.constant(MEMORY), tf.constant(LENGTHS)
    table = tf.get_variable("embedding", [7, 3])
    if beam:
        memory, lengths = seq2seq.tile_batch(memory, beam), seq2seq.tile_batch(lengths, beam)
    mechanism = seq2seq.BahdanauAttention(6, memory, lengths)
    cell = seq2seq.AttentionWrapper(rnn.BasicLSTMCell(6), mechanism, attention_layer_size=6, alignment_history=True)
    layer = tf.layers.Dense(7, use_bias=False)
    if beam:
        first = cell.zero_state(4 * beam, tf.float32)
        decoder = seq2seq.BeamSearchDecoder(cell, table, tf.fill([4], 1), 2, first, beam, layer, **told)
        return seq2seq.dynamic_decode(decoder, maximum_iterations=6)
    inputs = tf.nn.embedding_lookup(table, np.ones((4, 5), np.int32))
    helper = seq2seq.TrainingHelper(inputs, [5, 3, 2, 1])
    decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(4, tf.float32), layer)
    return seq2seq.dynamic_decode(decoder, impute_finished=True)


def test_a_decoder_runs_until_the_sequences_end_and_gives_zeros_after_that() -> None:
    def build() -> Any:
        outputs, state, lengths = decoded()
        loss = seq2seq.sequence_loss(outputs.rnn_output, np.zeros((4, 5), np.int32), np.ones((4, 5), np.float32))
        return outputs, lengths, state.alignment_history.stack(), tf.gradients(loss, tf.trainable_variables())

    (outputs, lengths, history, gradients), variables = values(build)
    assert lengths.tolist() == [5, 3, 2, 1]
    assert outputs.rnn_output.shape == (4, 5, 7)
    assert not outputs.rnn_output[3, 1:].any()
    assert history.shape == (5, 4, 5)
    np.testing.assert_allclose(history[0].sum(1), 1, rtol=1e-5)
    assert all(np.isfinite(item if isinstance(item, np.ndarray) else item.values).all() for item in gradients)
    assert sorted(variables) == [
        "decoder/attention_wrapper/attention_layer/kernel",
        "decoder/attention_wrapper/bahdanau_attention/attention_v",
        "decoder/attention_wrapper/bahdanau_attention/query_layer/kernel",
        "decoder/attention_wrapper/basic_lstm_cell/bias",
        "decoder/attention_wrapper/basic_lstm_cell/kernel",
        "decoder/dense/kernel",
        "embedding",
        "memory_layer/kernel",
    ]


HELPERS = {
    "greedy": lambda table: seq2seq.GreedyEmbeddingHelper(table, tf.fill([4], 1), 2),
    "sample": lambda table: seq2seq.SampleEmbeddingHelper(table, tf.fill([4], 1), 2, 0.5, seed=3),
    "scheduled": lambda table: seq2seq.ScheduledEmbeddingTrainingHelper(
        tf.constant(MEMORY), LENGTHS, table, 0.5, seed=1, scheduling_seed=2
    ),
    "scheduled_outputs": lambda _: seq2seq.ScheduledOutputTrainingHelper(
        tf.constant(np.tile(MEMORY, [1, 1, 3])[..., :7]), LENGTHS, 0.5, seed=1
    ),
    "inference": lambda _: seq2seq.InferenceHelper(
        lambda outputs: outputs, [7], tf.float32, tf.zeros([4, 7]), lambda sampled: sampled[:, 0] > 5.0
    ),
}


@pytest.mark.parametrize("name", sorted(HELPERS))
def test_helpers_say_what_the_next_inputs_are(name: str) -> None:
    def build() -> Any:
        table = tf.get_variable("embedding", [7, 3])
        cell = rnn.GRUCell(7)
        decoder = seq2seq.BasicDecoder(cell, HELPERS[name](table), cell.zero_state(4, tf.float32))
        outputs, _, lengths = seq2seq.dynamic_decode(decoder, maximum_iterations=5)
        return outputs, lengths, table

    (outputs, lengths, _), w = values(build)
    assert (lengths <= 5).all()
    if name == "greedy":
        assert outputs.sample_id.tolist() == outputs.rnn_output.argmax(-1).tolist()
    if name == "scheduled":
        assert set(np.unique(outputs.sample_id)) <= set(range(-1, 7))
        assert (outputs.sample_id == -1).any()
        assert (outputs.sample_id >= 0).any()
    assert w["decoder/gru_cell/gates/kernel"].shape[1] == 14


def test_what_is_no_decoder_or_helper_is_refused() -> None:
    wrong: Any = object()
    with pytest.raises(TypeError, match="Decoder"):
        seq2seq.dynamic_decode(wrong)
    with pytest.raises(TypeError, match="Helper"):
        seq2seq.BasicDecoder(rnn.GRUCell(3), wrong, None)
    with pytest.raises(TypeError, match="AttentionMechanism"):
        seq2seq.AttentionWrapper(rnn.GRUCell(3), wrong)


# ---------------------------------------------------------------------------------------------------- Beams

END = 0
WORDS = 4


def search(table: Any, beams: int, steps: int, weight: float) -> Any:
    """A beam search in which the next word depends on the last one alone, as a table of logits says."""

    class Chain(rnn.RNNCell):
        state_size = output_size = WORDS

        def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
            return inputs, state

    def build() -> Any:
        first = tf.zeros([2 * beams, WORDS])
        decoder = seq2seq.BeamSearchDecoder(
            Chain(), tf.constant(table), tf.constant([1, 2]), END, first, beams, length_penalty_weight=weight
        )
        outputs, state, _ = seq2seq.dynamic_decode(decoder, maximum_iterations=steps)
        return outputs.predicted_ids, outputs.beam_search_decoder_output.scores, state.lengths

    return values(build)[0]


@examples(15, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 3), st.sampled_from([0.0, 1.0]))
def test_a_beam_as_wide_as_all_sequences_finds_the_best_ones(seed: int, steps: int, weight: float) -> None:
    table = np.random.default_rng(seed).normal(size=(WORDS, WORDS)).astype(np.float32)
    beams = WORDS**2
    tokens, scores, _ = search(table, beams, steps, weight)
    logs = table - np.log(np.exp(table).sum(1, keepdims=True))
    for row, start in enumerate([1, 2]):
        every: dict[tuple[int, ...], float] = {}
        for words in product(range(WORDS), repeat=steps):
            end = words.index(END) + 1 if END in words else steps
            if any(word != END for word in words[end:]):
                continue
            before = (start, *words)
            total = sum(float(logs[before[t], before[t + 1]]) for t in range(end))
            # As in TensorFlow, the end counts for the length from the step after it on.
            length = end - 1 if words[end - 1] == END and end == steps else end
            every[words] = total / (((5 + length) / 6) ** weight if weight else 1)
        best = sorted(every.values(), reverse=True)[: min(3, len(every))]
        found = [every[tuple(tokens[row, :, beam].tolist())] for beam in range(len(best))]
        np.testing.assert_allclose(found, best, rtol=1e-4, atol=1e-4)
        if weight == 0:
            np.testing.assert_allclose(scores[row, -1, : len(best)], best, rtol=1e-4, atol=1e-4)


def followed(ids: Any, parents: Any, lengths: Any, end: int) -> Any:
    """Sequences along their parents, one by one."""
    found = np.full_like(ids, end)
    for row, beam in product(range(ids.shape[1]), range(ids.shape[2])):
        at = beam
        for time in reversed(range(min(len(ids), int(lengths[row])))):
            found[time, row, beam], at = ids[time, row, at], parents[time, row, at]
        ends = np.flatnonzero(found[:, row, beam] == end)
        if len(ends):
            found[ends[0] :, row, beam] = end
    return found


@examples(20, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 5), st.integers(1, 3), st.integers(1, 4))
def test_sequences_follow_their_parents(seed: int, steps: int, batch: int, beams: int) -> None:
    random = np.random.default_rng(seed)
    ids = random.integers(0, 5, size=(steps, batch, beams)).astype(np.int32)
    parents = random.integers(0, beams, size=(steps, batch, beams)).astype(np.int32)
    lengths = random.integers(0, steps + 2, size=batch).astype(np.int32)
    found, _ = values(lambda: seq2seq.gather_tree(ids, parents, lengths, 4))
    np.testing.assert_array_equal(found, followed(ids, parents, lengths, 4))


def test_a_beam_search_with_attention_keeps_histories_in_the_order_of_its_sequences() -> None:
    def build() -> Any:
        outputs, state, lengths = decoded(beam=3, length_penalty_weight=1.0)
        penalized, _, _ = decoded_again(coverage_penalty_weight=0.5)
        return outputs.predicted_ids, state.cell_state.alignment_history, lengths, penalized.predicted_ids

    def decoded_again(**told: Any) -> Any:
        with tf.variable_scope("again"):
            return decoded(beam=3, **told)

    (tokens, history, lengths, penalized), _ = values(build)
    assert tokens.shape[0] == 4
    assert tokens.shape[2] == 3
    assert history.shape == (tokens.shape[1], 12, 5)
    np.testing.assert_allclose(history.sum(2)[0], 1, rtol=1e-5)
    assert lengths.shape == (4, 3)
    assert penalized.shape[2] == 3


def test_rows_are_repeated_and_losses_are_averaged_as_told() -> None:
    logits = DRAWN.normal(size=(2, 3, 4)).astype(np.float32)
    targets, weights = np.array([[0, 1, 2], [3, 0, 1]]), np.array([[1, 1, 0], [1, 0, 0]], np.float32)

    def build() -> Any:
        told: list[dict[str, bool]] = [
            {},
            {"average_across_batch": False},
            {"average_across_timesteps": False},
            {"average_across_timesteps": False, "average_across_batch": False},
        ]
        tiled = seq2seq.tile_batch({"a": tf.constant([[1], [2]])}, 2)
        return tiled, [seq2seq.sequence_loss(logits, targets, weights, **each) for each in told]

    (tiled, (whole, by_row, by_step, each)), _ = values(build)
    assert tiled["a"].tolist() == [[1], [1], [2], [2]]
    shifted = np.log(np.exp(logits).sum(-1)) - np.take_along_axis(logits, targets[..., None], -1)[..., 0]
    losses = shifted * weights
    np.testing.assert_allclose(whole, losses.sum() / 3, rtol=1e-5)
    np.testing.assert_allclose(by_row, losses.sum(1) / [2, 1], rtol=1e-5)
    np.testing.assert_allclose(by_step, losses.sum(0) / np.array([2, 1, 1]), rtol=1e-5)
    np.testing.assert_allclose(each, losses, rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match="cannot both be true"):
        seq2seq.sequence_loss(tf.zeros([1, 1, 1]), [[0]], [[1.0]], sum_over_batch=True)


# ---------------------------------------------------------------------------------------------------- Private names


def test_attention_of_one_s_own_stands_on_private_functions() -> None:
    """As programs write it that attend to where they attended before, in the words of TensorFlow 1.8 and of 1.15."""
    inner = module_at("contrib.seq2seq.python.ops.attention_wrapper")

    class Own(inner._BaseAttentionMechanism):  # type: ignore[misc, name-defined]
        def __init__(self, num_units: int, memory: Any, lengths: Any) -> None:
            dense = partial(tf.layers.Dense, use_bias=False, kernel_initializer=tf.ones_initializer())
            super().__init__(
                dense(num_units, name="query_layer"), memory, lambda score, _: tf.nn.softmax(score), lengths,
                dense(num_units, name="memory_layer"),
            )  # fmt: skip
            self._num_units = num_units

        def __call__(self, query: Any, state: Any) -> Any:
            with tf.variable_scope(None, "own_attention", [query]):
                asked = self.query_layer(query)
                weight = tf.get_variable("attention_v", [self._num_units], initializer=tf.ones_initializer())
                with tf.variable_scope("old"):
                    old = inner._bahdanau_score(asked, self.keys, False)
                found = self._probability_fn(inner._bahdanau_score(asked, self.keys, weight) + 0 * old, state)
            return found, found

    def built() -> Any:
        mechanism = Own(2, tf.constant(MEMORY), LENGTHS)
        masked = inner._maybe_mask_score(tf.zeros([4, 5]), LENGTHS, -1.0)
        again = inner._maybe_mask_score(tf.zeros([4, 5]), LENGTHS, score_mask_value=-1.0)
        memory = inner._prepare_memory(tf.constant(MEMORY), LENGTHS, True)
        return mechanism(tf.constant(QUERY), None)[0], masked, again, memory

    (found, masked, again, memory), _ = values(built)
    keys = (MEMORY * MASK[..., None]).sum(2, keepdims=True)
    scores = 2 * np.tanh(keys + QUERY.sum(1)[:, None, None])[..., 0]
    np.testing.assert_allclose(found, softmax(scores), rtol=1e-5)
    np.testing.assert_array_equal(masked, np.where(MASK, 0, -1))
    np.testing.assert_array_equal(again, masked)
    np.testing.assert_array_equal(memory, MEMORY * MASK[..., None])


def test_a_factor_and_a_bias_normalize_scores_together_or_not_at_all() -> None:
    score = module_at("contrib.seq2seq.python.ops.attention_wrapper")._bahdanau_score
    random = np.random.default_rng(4)
    query, keys, v = (random.normal(size=size).astype(np.float32) for size in ((2, 3), (2, 4, 3), (3,)))
    g, b = np.float32(0.5), np.float32([0.1, -0.2, 0.3])
    plain, factor, bias, both = values(
        lambda: [score(*map(tf.constant, (query, keys, v)), *rest) for rest in ((), (g,), (None, b), (g, b))]
    )[0]
    expected = (v * np.tanh(keys + query[:, None])).sum(-1)
    for found in (plain, factor, bias):
        np.testing.assert_allclose(found, expected, rtol=1e-5)
    normed = g * v / np.sqrt(np.square(v).sum())
    np.testing.assert_allclose(both, (normed * np.tanh(keys + query[:, None] + b)).sum(-1), rtol=1e-5)


def test_helpers_and_wrappers_keep_what_they_are_told_under_tensorflow_s_names() -> None:
    class Coldest(seq2seq.GreedyEmbeddingHelper):  # type: ignore[misc, name-defined]
        """Feeds what is least likely."""

        def sample(self, time: Any, outputs: Any, state: Any, name: Any = None) -> Any:
            return tf.argmin(outputs, axis=-1, output_type=tf.int32)

        def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: Any = None) -> Any:
            finished = tf.equal(sample_ids, self._end_token)
            inputs = tf.cond(
                tf.reduce_all(finished), lambda: self._start_inputs, lambda: self._embedding_fn(sample_ids)
            )
            return finished, inputs, state

    def built() -> Any:
        helper = Coldest(tf.eye(4), [1, 2], 3)
        cell = rnn.BasicRNNCell(4)
        decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32))
        assert decoder._rnn_output_size() == 4
        outputs, _, _ = seq2seq.dynamic_decode(decoder, maximum_iterations=3)
        mechanism = seq2seq.LuongAttention(4, tf.constant(MEMORY))
        wrapper = seq2seq.AttentionWrapper(cell, mechanism, attention_layer_size=4, alignment_history=True)
        assert wrapper._attention_mechanisms == (mechanism,)
        assert [layer.units for layer in wrapper._attention_layers] == [4]
        assert wrapper._alignment_history
        return outputs.rnn_output, outputs.sample_id

    (outputs, sampled), _ = values(built)
    np.testing.assert_array_equal(sampled, outputs.argmin(-1))
