"""Fingerprints are compared with the variables they were made of, and bear the mark of who wrote them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep import __version__
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.errors import DataLossError
from tensorkeep.ops.text.hashes import fingerprints
from tensorkeep.proto.messages import FingerprintDef
from tensorkeep.saved_model.files.fingerprint import (
    OnFingerprint,
    checked_fingerprint,
    checkpoint_hash,
    fingerprint_of,
    marked_uuid,
    model_checksum,
    read_fingerprint,
    writer_of,
)
from tensorkeep.saved_model.files.layout import read_saved_model
from tensorkeep.saved_model.files.long_hashes import fingerprint64
from tensorkeep.saved_model.files.program_hashes import program_hash
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


@pytest.mark.parametrize("case", TF2)
def test_the_fingerprint_is_the_one_that_tensorflow_wrote(case: str) -> None:
    folder = golden(case) / "model"
    expected = read_fingerprint(folder)
    assert expected is not None
    assert fingerprint_of(read_saved_model(folder), folder, uuid=lambda: UUID(int=int(expected.uuid))) == expected


def test_a_function_without_a_number_has_no_fingerprint() -> None:
    model = read_saved_model(golden("g28_tf2_module") / "model")
    model.meta_graphs[0].object_graph_def.concrete_functions["call"].SetInParent()
    assert fingerprint_of(model, golden("g28_tf2_module") / "model") is None


def test_another_process_gives_functions_other_numbers_and_the_program_the_same_hash() -> None:
    graph_def = read_saved_model(golden("g29_keras_dense") / "model").meta_graphs[0].graph_def
    expected = program_hash(graph_def)
    called = [node.attr["f"].func for node in graph_def.node if node.op == "StatefulPartitionedCall"]
    assert called
    for function in called:
        function.name = f"{function.name.rsplit('_', 1)[0]}_123456"
    assert program_hash(graph_def) == expected
    called[0].name = "other_123456"
    assert program_hash(graph_def) != expected


def checked(folder: Any, action: OnFingerprint = OnFingerprint.WARN) -> Any:
    with open_checkpoint(folder) as variables:
        return checked_fingerprint(folder, read_saved_model(folder), variables, action)


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


def test_the_mark_says_which_version_wrote_a_model() -> None:
    assert writer_of(FingerprintDef(uuid=str(marked_uuid().int))) == f"tensorkeep {__version__}"
    assert writer_of(FingerprintDef(uuid=str(marked_uuid("12.34.56").int))) == "tensorkeep 12.34.56"


def test_a_mark_is_a_uuid_of_its_own_kind_and_like_no_other() -> None:
    marks = [marked_uuid() for _ in range(100)]
    assert {mark.version for mark in marks} == {8}
    assert {mark.variant for mark in marks} == {"specified in RFC 4122"}
    assert len(set(marks)) == 100


@pytest.mark.parametrize("case", ["g28_tf2_module", "g29_keras_dense", "g33_tf2_composite"])
def test_models_that_tensorflow_wrote_bear_no_mark(case: str) -> None:
    assert writer_of(read_fingerprint(golden(case) / "model")) == ""


@pytest.mark.parametrize("uuid", ["", "x", "-1", "5", str(1 << 200), "\u0665"])
def test_what_is_no_uuid_bears_no_mark(uuid: str) -> None:
    assert writer_of(FingerprintDef(uuid=uuid)) == ""
