"""Layers and models of `tf.keras` beside Keras 2 in graph mode: equal names and numbers, and files that cross over."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf  # noqa: F401 - Keras 2 stands on it

import tensorkeep.v1 as v1
from tensorkeep.tf1.functions.structures import flatten
from tests.interop.keras_model_programs import (
    PROGRAMS,
    SEQUENCES,
    observed,
    read_cudnn_weights,
    read_files,
    recurrent_model,
    write_cudnn_weights,
    write_files,
)


@dataclass
class Both:
    """What we make of all programs, what Keras does, and the folder with the files of both."""

    ours: dict[str, Any]
    theirs: dict[str, Any]
    folder: Path


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Both:
    folder = tmp_path_factory.mktemp("keras")
    write_files(v1.keras, folder / "ours")
    write_cudnn_weights(v1.keras, folder / "ours")
    running = subprocess.Popen(
        [sys.executable, "-m", "tests.interop.keras_models_oracle", str(folder)],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    ours = observed(v1, v1.keras)
    _, said = running.communicate()
    assert running.returncode == 0, said.decode()  # our files were read there too
    return Both(ours, pickle.loads((folder / "observed.pickle").read_bytes()), folder)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_model_is_named_and_trained_as_by_keras(name: str, both: Both) -> None:
    (facts, numbers), (expected_facts, expected) = both.ours[name], both.theirs[name]
    assert facts == expected_facts
    mine, theirs = flatten(numbers), flatten(expected)
    assert len(mine) == len(theirs)
    for one, other in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_files_of_keras_are_read(both: Both) -> None:
    read_files(v1.keras, both.folder / "theirs")


def test_files_of_ours_are_read(both: Both) -> None:
    read_files(v1.keras, both.folder / "ours")


def test_weights_of_cudnn_layers_are_those_of_others_laid_out_otherwise(both: Both) -> None:
    folder = both.folder / "ours"  # Keras has read cudnn.h5 there, and written plain.h5
    layers = v1.keras.layers
    v1.keras.backend.clear_session()
    model = recurrent_model(v1.keras, layers.CuDNNLSTM, layers.CuDNNGRU)
    model.load_weights(str(folder / "plain.h5"))
    np.testing.assert_allclose(model.predict(SEQUENCES), np.load(folder / "cudnn.npy"), rtol=2e-5, atol=2e-6)
    read_cudnn_weights(v1.keras, folder)
    other = recurrent_model(v1.keras, layers.CuDNNLSTM, layers.GRU)
    with pytest.raises(v1.errors.InvalidArgumentError, match=r"CuDNNGRU are not compatible with GRU"):
        other.load_weights(str(folder / "cudnn.h5"))
