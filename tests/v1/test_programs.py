"""Whole programs of TensorFlow 1 run as they stand, and learn what they are to learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tests.v1 import programs
from tests.v1.programs import PROGRAMS, outcome

# What is left of the first loss after training, at most.
LEARNING = {
    "linear_regression": 1e-4,
    "perceptron_with_layers": 0.3,
    "convolutions_with_dropout": 0.6,
    "batch_normalization": 0.9,
    "recurrent_classifier": 0.3,
    "characters": 0.2,
    "greedy_decoder": 0.1,
    "skip_grams": 0.7,
    "wide_and_deep": 0.6,
    "variational_autoencoder": 0.95,
    "target_network": 0.8,
    "towers": 0.05,
    "attention": 0.6,
}


def test_every_program_is_run() -> None:
    apart = {"adversaries", "curvature", "frozen_graph", "streaming_accuracy", "text_to_ids"}
    assert {*LEARNING, *apart} == set(PROGRAMS)


@pytest.mark.parametrize("name", LEARNING)
def test_a_program_learns(name: str) -> None:
    found = outcome(PROGRAMS[name], tf)
    losses = found["losses"]
    assert np.isfinite(losses).all()
    assert losses[-1] < LEARNING[name] * losses[0]
    if name in CHECKS:
        CHECKS[name](found)


def linear_regression(found: dict[str, Any]) -> None:
    np.testing.assert_allclose(found["weights"], [[1.5], [-2.0], [0.5]], atol=1e-3)
    np.testing.assert_allclose(found["bias"], 0.3, atol=1e-3)


def perceptron_with_layers(found: dict[str, Any]) -> None:
    assert found["accuracy"] > 0.9
    assert found["steps"] == 60
    np.testing.assert_allclose(found["rate"], 2e-2 * 0.9**6, rtol=1e-5)
    assert found["variables"][:7] == [
        *("first/kernel:0", "first/bias:0", "dense/kernel:0", "dense/bias:0", "last/kernel:0", "last/bias:0"),
        "global_step:0",
    ]


def batch_normalization(found: dict[str, Any]) -> None:
    assert len(found["updates"]) == 4
    assert all(np.isfinite(values).all() and np.any(values) for values in found["moving"])
    assert found["in use"] < 2 * found["losses"][-1]


def characters(found: dict[str, Any]) -> None:
    assert found["written"].startswith("hello world, hello tensor")


def greedy_decoder(found: dict[str, Any]) -> None:
    assert (found["decoded"] == found["wanted"]).mean() > 0.9


def target_network(found: dict[str, Any]) -> None:
    assert max(found["apart"]) == 0  # the last step copied
    assert all(name.startswith("online/") for name in found["trained"])


def towers(found: dict[str, Any]) -> None:
    assert found["devices"] == ["/device:CPU:0", "/device:CPU:1"]
    np.testing.assert_allclose(found["w"].ravel(), [2, -1, 0, 0, 0], atol=0.2)


def attention(found: dict[str, Any]) -> None:
    np.testing.assert_allclose(found["weights"].sum(-1), 1, rtol=1e-5)
    assert not np.triu(found["weights"], 1).any()


CHECKS = {
    check.__name__: check
    for check in (
        linear_regression,
        perceptron_with_layers,
        batch_normalization,
        characters,
        greedy_decoder,
        target_network,
        towers,
        attention,
    )
}


def test_adversaries_train_each_their_own_variables() -> None:
    found = outcome(programs.adversaries, tf)
    judges, forgers = found["variables"]
    assert [len(judges), len(forgers)] == [4, 4]
    assert np.isfinite(found["history"]).all()
    assert np.linalg.norm(found["made"] - 3) < np.linalg.norm([3, 3])  # nearer to what is real than at first


def test_second_derivatives_are_the_matrix_and_the_curvature_of_the_sine() -> None:
    found = outcome(programs.curvature, tf)
    matrix = np.array([[2, 1, 0], [1, 3, 1], [0, 1, 4]])
    hessian = matrix + np.diag(2 * np.cos(2 * found["at"]))
    np.testing.assert_allclose(found["gradient"], matrix @ found["at"] + np.sin(2 * found["at"]), rtol=1e-5)
    np.testing.assert_allclose(found["hessian"], hessian, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found["product"], hessian @ [1, 0, 2], rtol=1e-4)


def test_a_frozen_graph_is_imported_and_fed() -> None:
    found = outcome(programs.frozen_graph, tf)
    assert (found["mapped"].tolist(), found["fed"].tolist()) == ([[2.0], [0.0]], [[10.0]])
    assert found["inputs"] == ["mine:0", "frozen/w:0"]
    assert found["operations"][:3] == ["mine", "frozen/input", "frozen/w"]


def test_a_metric_streams_through_local_variables() -> None:
    found = outcome(programs.streaming_accuracy, tf)
    np.testing.assert_allclose(found["running"], [2 / 3, 2 / 3, 7 / 9], rtol=1e-6)
    assert (found["before"], found["after"]) == (0, found["running"][-1])
    assert found["local"] == ["accuracy/right:0", "accuracy/total:0"]
    assert found["uninitialized"].size == 0


def test_text_becomes_numbers_and_numbers_text() -> None:
    found = outcome(programs.text_to_ids, tf)
    assert found["dense"].tolist() == [[0, 1, 2], [-1, 1, -2]]
    assert found["words"].tolist() == [b"the", b"cat", b"sat", b"?", b"cat"]
    assert found["name"] == b"vocabulary-3"
