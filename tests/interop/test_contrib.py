"""`tf.contrib`: the same program text builds the nodes and collections of slim's port, and gives its values."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tests.interop.contrib_programs import LAYERS, NETS, OTHER_NODES, observed

SLIM = SimpleNamespace(
    **{name: getattr(space, name) for space in (tf.contrib.layers, tf.contrib.slim) for name in space.__all__}
)


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the port makes of all programs."""
    file = tmp_path_factory.mktemp("contrib") / "observed.pickle"
    subprocess.run(
        [sys.executable, "-m", "tests.interop.contrib_oracle", str(file)],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        check=True,
        capture_output=True,
    )
    found: dict[str, Any] = pickle.loads(file.read_bytes())
    return found


@pytest.mark.parametrize("name", sorted(LAYERS))
def test_a_layer_is_built_and_trained_as_in_the_port(oracle: dict[str, Any], name: str) -> None:
    ours, theirs = observed(tf, SLIM, LAYERS[name]), oracle[name]
    assert ours["collections"] == theirs["collections"]
    if name not in OTHER_NODES:
        assert ours["nodes"] == theirs["nodes"]
    assert len(ours["values"]) == len(theirs["values"])
    for our, their in zip(ours["values"], theirs["values"], strict=True):
        np.testing.assert_allclose(our, their, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", sorted(NETS))
def test_a_network_has_the_nodes_variables_and_end_points_of_the_port(oracle: dict[str, Any], name: str) -> None:
    ours, theirs = observed(tf, SLIM, NETS[name]), oracle[name]
    assert ours["nodes"] == theirs["nodes"]
    assert ours["collections"] == theirs["collections"]
