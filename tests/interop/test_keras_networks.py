"""`tf.keras.applications` beside Keras 2 in graph mode: the same layers, names, weights and predictions."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf  # noqa: F401 - Keras 2 stands on it

import tensorkeep.v1 as v1
from tests.interop.keras_network_programs import NETWORKS, QUICK, observe_images, observe_network
from tests.support.depth import depth

_ALL = NETWORKS if depth() == "deep" else QUICK


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("networks") / "observed.pickle"
    subprocess.run(
        [sys.executable, "-m", "tests.interop.keras_networks_oracle", str(path), *_ALL],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        check=True,
        capture_output=True,
    )
    return pickle.loads(path.read_bytes())


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.deep) for name in NETWORKS]
)
def test_a_network_is_that_of_keras(name: str, theirs: Any) -> None:
    (facts, predicted), (expected_facts, expected) = observe_network(v1.keras, name), theirs[name]
    assert facts == expected_facts
    np.testing.assert_allclose(predicted, expected, rtol=1e-3, atol=1e-5)


def test_images_are_made_ready_as_by_keras(theirs: Any) -> None:
    for one, other in zip(observe_images(v1, v1.keras), theirs["images"], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)
