"""Conditional random fields: what the sums and the best of all chains are, by going through all of them."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorkeep.v1 as tf
from tests.support.depth import examples
from tests.tf1.contrib.running import values

crf = tf.contrib.crf
TAGS = 3


def chains(scores: Any, transitions: Any, length: int) -> dict[tuple[int, ...], float]:
    """The score of each chain."""
    return {
        chain: sum(float(scores[t, tag]) for t, tag in enumerate(chain))
        + sum(float(transitions[a, b]) for a, b in pairwise(chain))
        for chain in product(range(TAGS), repeat=length)
    }


@examples(20, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 4), st.lists(st.integers(1, 4), min_size=1, max_size=3))
def test_sums_and_best_chains_are_those_of_all_chains(seed: int, steps: int, drawn: list[int]) -> None:
    lengths = [min(length, steps) for length in drawn]
    random = np.random.default_rng(seed)
    scores = random.normal(size=(len(lengths), steps, TAGS)).astype(np.float32)
    transitions = random.normal(size=(TAGS, TAGS)).astype(np.float32)
    tags = random.integers(0, TAGS, size=(len(lengths), steps)).astype(np.int32)

    def build() -> Any:
        likelihood, _ = crf.crf_log_likelihood(scores, tags, lengths, transitions)
        return crf.crf_log_norm(scores, lengths, transitions), likelihood, crf.crf_decode(scores, transitions, lengths)

    (norms, likelihoods, (best, best_scores)), _ = values(build)
    for row, length in enumerate(lengths):
        every = chains(scores[row], transitions, length)
        norm = np.log(np.sum(np.exp(list(every.values()))))
        np.testing.assert_allclose(norms[row], norm, rtol=1e-4, atol=1e-4)
        chosen = every[tuple(tags[row, :length].tolist())]
        np.testing.assert_allclose(likelihoods[row], chosen - norm, rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(best_scores[row], max(every.values()), rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(every[tuple(best[row, :length].tolist())], max(every.values()), rtol=1e-4, atol=1e-4)
        alone, score = crf.viterbi_decode(scores[row, :length], transitions)
        assert alone == best[row, :length].tolist()
        np.testing.assert_allclose(score, best_scores[row], rtol=1e-4, atol=1e-4)


def test_several_tags_may_be_allowed_and_empty_chains_score_nothing() -> None:
    random = np.random.default_rng(1)
    scores = random.normal(size=(1, 3, TAGS)).astype(np.float32)
    transitions = random.normal(size=(TAGS, TAGS)).astype(np.float32)
    allowed = np.array([[[True, True, False], [True, False, False], [False, True, True]]])

    def build() -> Any:
        some = crf.crf_multitag_sequence_score(scores, allowed, [3], transitions)
        tags = np.zeros((1, 1), np.int32)
        return some, crf.crf_sequence_score(scores[:, :1], tags, [0], transitions)

    (some, none), _ = values(build)
    every = chains(scores[0], transitions, 3)
    kept = [score for chain, score in every.items() if all(allowed[0, t, tag] for t, tag in enumerate(chain))]
    np.testing.assert_allclose(some[0], np.log(np.sum(np.exp(kept))), rtol=1e-5)
    assert none.tolist() == [0.0]


def test_transitions_are_a_variable_unless_they_are_given_and_lengths_are_whole_numbers() -> None:
    _, variables = values(lambda: crf.crf_log_likelihood(np.zeros((1, 2, 4), np.float32), [[0, 1]], [2])[0])
    assert variables["transitions"].shape == (4, 4)
    with pytest.raises(TypeError, match="whole numbers"), tf.Graph().as_default():
        crf.crf_decode(np.zeros((1, 2, 4), np.float32), np.zeros((4, 4), np.float32), [2.0])
