"""Fingerprints are compared with the variables they were made of."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.errors import DataLossError
from tensorkeep.ops._hashes import fingerprints
from tensorkeep.saved_model.fingerprint import (
    OnFingerprint,
    checked_fingerprint,
    checkpoint_hash,
    model_checksum,
    read_fingerprint,
)
from tensorkeep.saved_model.layout import read_saved_model
from tensorkeep.saved_model.long_hashes import fingerprint64
from tests.support.golden import golden

TF2 = [
    "g28_tf2_module",
    "g29_keras_dense",
    "g30_keras_conv_bn",
    "g31_keras_lstm",
    "g32_keras_strings",
    "g33_tf2_composite",
]


@given(st.binary(max_size=300))
def test_long_and_short_strings_are_hashed_alike(data: bytes) -> None:
    strings = np.empty(1, object)
    strings[0] = data
    assert fingerprint64(data) == int(fingerprints(strings)[0])


@pytest.mark.parametrize("case", TF2)
def test_the_hashes_are_those_that_tensorflow_wrote(case: str) -> None:
    found = read_fingerprint(golden(case) / "model")
    assert found is not None
    assert checkpoint_hash(golden(case) / "model") == found.checkpoint_hash
    assert model_checksum(read_saved_model(golden(case) / "model")) == found.saved_model_checksum


def checked(folder: Any, action: OnFingerprint = OnFingerprint.WARN) -> Any:
    return checked_fingerprint(folder, read_saved_model(folder), action)


def test_a_model_without_a_fingerprint_has_none() -> None:
    assert checked(golden("g26_tf1_simple_save") / "model", OnFingerprint.RAISE) is None


def test_exchanged_variables_are_noticed(tmp_path: Path) -> None:
    model = shutil.copytree(golden("g28_tf2_module") / "model", tmp_path / "model")
    shutil.copy(golden("g29_keras_dense") / "model/variables/variables.index", model / "variables")
    with pytest.raises(DataLossError, match="the hash of its variables is"):
        checked(model, OnFingerprint.RAISE)
    with pytest.warns(UserWarning, match="not as it was exported"):
        checked(model)
    assert checked(model, OnFingerprint.IGNORE) is not None


def test_an_exchanged_graph_is_noticed_on_request(tmp_path: Path) -> None:
    model = shutil.copytree(golden("g28_tf2_module") / "model", tmp_path / "model")
    shutil.copy(golden("g29_keras_dense") / "model/saved_model.pb", model)
    with pytest.raises(DataLossError, match="the hash of its graph is"):
        checked(model, OnFingerprint.RAISE)
    assert checked(model) is not None


def test_a_damaged_fingerprint_is_damage(tmp_path: Path) -> None:
    (tmp_path / "fingerprint.pb").write_bytes(b"\xff\xff")
    with pytest.raises(DataLossError):
        read_fingerprint(tmp_path)
