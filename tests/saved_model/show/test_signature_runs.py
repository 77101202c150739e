"""A signature is run once, and whatever it gives can be printed as JSON and written to files."""

from __future__ import annotations

import json

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.io.files.numpy_files import read_numpy_file
from tensorkeep.runtime.composite_values import RaggedTensorValue, SparseTensorValue
from tensorkeep.saved_model.export.graph_exporting import from_function
from tensorkeep.saved_model.show.signature_runs import (
    InputTexts,
    MissingInputsError,
    RunRequest,
    plain_value,
    run_signature,
    save_outputs,
)

RAGGED = RaggedTensorValue(RaggedTensorValue(np.float32([1, 2, 3]), np.int64([0, 1, 3])), np.int64([0, 0, 2]))
SPARSE = SparseTensorValue(np.int64([[0, 2]]), np.float32([5]), np.int64([1, 3]))


def run(fs: MemoryFileSystem, **texts: str):
    values = InputTexts(**texts).values(pytest.fail, fs, may_be_none=True)
    return run_signature(RunRequest("model", None, "serving_default"), values, fs=fs).outputs


def test_a_signature_without_inputs_is_run_without_any():
    fs = MemoryFileSystem()
    from_function(lambda: {"y": tf.constant([1, 2])}, {}, "model", fs=fs)
    assert run(fs)["y"].tolist() == [1, 2]


def test_inputs_that_a_signature_takes_must_be_given():
    fs = MemoryFileSystem()
    from_function(lambda x: {"y": x + 1}, {"x": (tf.int32, [])}, "model", fs=fs)
    assert run(fs, expressions="x=2")["y"] == 3
    with pytest.raises(MissingInputsError, match="At least one of --inputs"):
        run(fs)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (RAGGED, [[], [[1.0], [2.0, 3.0]]]),
        (SPARSE, {"indices": [[0, 2]], "values": [5.0], "dense_shape": [1, 3]}),
        (np.array([np.nan, np.inf, -np.inf, 1]), ["NaN", "Infinity", "-Infinity", 1.0]),
        (np.complex64(complex(1, np.nan)), [1.0, "NaN"]),
        (np.array([b"\xff", "é".encode()], object), ["\\xff", "é"]),
    ],
    ids=["ragged", "sparse", "not finite", "complex", "bytes"],
)
def test_every_value_has_a_form_in_json(value, plain):
    assert plain_value(value) == plain
    json.dumps(plain_value(value), allow_nan=False)


def test_values_of_several_arrays_go_to_archives():
    fs = MemoryFileSystem()
    paths = save_outputs({"r": RAGGED, "s": SPARSE, "d": np.ones(2)}, "out", fs=fs)
    assert paths == {"d": "out/d.npy", "r": "out/r.npz", "s": "out/s.npz"}
    ragged, sparse = read_numpy_file("out/r.npz", fs), read_numpy_file("out/s.npz", fs)
    assert {name: array.tolist() for name, array in ragged.items()} == {
        "values": [1, 2, 3],
        "row_splits_0": [0, 0, 2],
        "row_splits_1": [0, 1, 3],
    }
    assert {name: array.tolist() for name, array in sparse.items()} == {
        "indices": [[0, 2]],
        "values": [5],
        "dense_shape": [1, 3],
    }
