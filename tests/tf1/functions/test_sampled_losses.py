"""Losses over samples of classes."""

from __future__ import annotations

import numpy as np

from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.nn.candidate_sampling import all_candidate_sampler
from tensorkeep.tf1.functions.nn.sampled_losses import nce_loss, sampled_softmax_loss

INPUTS = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
WEIGHTS = np.cos(np.arange(20, dtype=np.float32)).reshape(5, 4)
BIASES = np.sin(np.arange(5, dtype=np.float32))
LABELS = np.array([[4], [0], [2]])
LOGITS = INPUTS @ WEIGHTS.T + BIASES
TRUE = np.take_along_axis(LOGITS, LABELS, 1)


def test_a_sample_of_all_classes_gives_the_whole_softmax() -> None:
    with building(Graph()) as graph:
        everything = all_candidate_sampler(constant(LABELS), 1, 5, True)
        loss = sampled_softmax_loss(
            constant(WEIGHTS), constant(BIASES), constant(LABELS), constant(INPUTS), 5, 5, sampled_values=everything
        )
    expected = np.log(np.exp(LOGITS).sum(1)) - TRUE[:, 0]
    np.testing.assert_allclose(Session(graph).run(loss), expected, rtol=1e-5)


def test_noise_contrastive_estimation_tells_true_classes_from_samples() -> None:
    with building(Graph()) as graph:
        everything = all_candidate_sampler(constant(LABELS), 1, 5, True)
        loss = nce_loss(
            constant(WEIGHTS), constant(BIASES), constant(LABELS), constant(INPUTS), 5, 5, sampled_values=everything
        )
    expected = np.log1p(np.exp(-TRUE)).sum(1) + np.log1p(np.exp(LOGITS)).sum(1)
    np.testing.assert_allclose(Session(graph).run(loss), expected, rtol=1e-5)


def test_partitioned_weights_are_looked_up_in_their_shards() -> None:
    with building(Graph()) as graph:
        shards = [constant(WEIGHTS[:3]), constant(WEIGHTS[3:])]
        made = [
            sampled_softmax_loss(
                weights, constant(BIASES), constant(LABELS), constant(INPUTS), 3, 5, partition_strategy="div", seed=2
            )
            for weights in (constant(WEIGHTS), shards)
        ]
    whole, parted = Session(graph).run(made)
    np.testing.assert_array_equal(whole, parted)
