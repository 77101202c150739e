"""The networks of keras.applications, with random weights, give here what they give in TensorFlow."""

from __future__ import annotations

import gc
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import tensorflow as tf

from tests.interop.model_zoo import NETWORKS, ZOO
from tests.interop.running_models import expect_agreement
from tests.support.depth import thinned


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder that is gone after the test, as is the model: the largest have more than 100 MB of weights."""
    yield tmp_path
    shutil.rmtree(tmp_path)
    tf.keras.backend.clear_session()
    gc.collect()


@pytest.mark.slow
@pytest.mark.parametrize("name", thinned([*NETWORKS], 12))
def test_a_network_agrees_with_tensorflow(name: str, folder: Path) -> None:
    expect_agreement(ZOO[name], folder)
