"""`tf.nn.ctc_*` beside TensorFlow: equal graphs, equal results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as ours
from tests.interop.programs import build

LOGITS = np.random.default_rng(4).standard_normal((7, 2, 5)).astype(np.float32)
LENGTHS = np.array([7, 3], np.int32)


def loss(tf: Any) -> Any:
    labels = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([1, 3, 2]), [2, 2])
    return tf.nn.ctc_loss(labels, tf.constant(LOGITS), LENGTHS)


@pytest.mark.parametrize(
    "program",
    [
        loss,
        lambda tf: tf.nn.ctc_greedy_decoder(tf.constant(LOGITS), LENGTHS),
        lambda tf: tf.nn.ctc_beam_search_decoder(tf.constant(LOGITS), LENGTHS, beam_width=20, top_paths=2),
        lambda tf: tf.nn.ctc_beam_search_decoder_v2(tf.constant(LOGITS), LENGTHS, top_paths=3),
    ],
    ids=["loss", "greedy", "beams", "beams that keep repeated labels"],
)
def test_the_graph_and_the_values_are_tensorflows(program: Any) -> None:
    build(program, ours).expect_same_values(tolerance=1e-5)
