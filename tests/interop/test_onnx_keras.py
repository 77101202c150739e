"""All of Keras exported to ONNX: each layer, activation, loss, metric and function of `keras.ops`, beside TensorFlow.

What cannot be exported stands here with a word of the reason; what can be from now on has to be taken out.
"""

from __future__ import annotations

from pathlib import Path

import keras
import pytest

from tests.interop import keras_measure_rows, keras_op_rows
from tests.interop.keras_layer_rows import ROWS
from tests.interop.keras_sweep import Case
from tests.interop.onnx_sweep import expect_agreement
from tests.interop.test_keras import layer_case, public_ops
from tests.support.depth import depth

HASHES = "no operators that hash strings"
DECOMPOSITIONS = "ONNX has no operators that decompose matrices"
NOT_RUN = "Could not find an implementation"

REFUSED_LAYERS: dict[str, dict[int, str]] = {  # the numbers of their rows
    "HashedCrossing": dict.fromkeys(range(2), HASHES),
    "Hashing": dict.fromkeys(range(8), HASHES),
    "StringLookup": dict.fromkeys((0, 2, 4, 6, 9), HASHES),
    "TextVectorization": {4: "no operator that takes strings apart into characters"},
}
STATEFUL_LAYERS = {"GRU": 6, "LSTM": 6, "SimpleRNN": 6, "SpectralNormalization": 2}
RANDOM_LAYERS = {"Solarization": 1}


def is_looked_at(name: str, number: int) -> bool:
    """Whether a row of a layer is exported: all of them if tests are deep, else the first and what is special."""
    special = {*REFUSED_LAYERS.get(name, ()), STATEFUL_LAYERS.get(name), RANDOM_LAYERS.get(name)}
    return depth() == "deep" or number == 0 or number in special


@pytest.mark.slow
def test_layers(tmp_path: Path) -> None:
    expect_agreement(
        (
            layer_case(name, i, row, "float32")
            for name, rows in ROWS.items()
            for i, row in enumerate(rows)
            if is_looked_at(name, i)
        ),
        tmp_path,
        {f"{name}_{i}_float32": reason for name, rows in REFUSED_LAYERS.items() for i, reason in rows.items()},
        {f"{name}_{i}_float32" for name, i in STATEFUL_LAYERS.items()},
        {f"{name}_{i}_float32" for name, i in RANDOM_LAYERS.items()},
    )


REFUSED_FUNCTIONS: dict[str, str] = {
    "ctc_decode_1": "no search for the best sequences",
    "erf_1": NOT_RUN,
    "nextafter_0": "ONNX has no such function",
    "diag_1": "the size of its matrices is not known",
    "power_1": "the exponent of whole numbers is computed",
    "view_0": "ONNX does not take the bits of a number apart",
    **dict.fromkeys(
        ("eig_0", "eigh_0", "lstsq_0", "lu_factor_0", "matrix_rank_0", "norm_2", "pinv_0", "qr_0", "svd_0"),
        DECOMPOSITIONS,
    ),
}


@pytest.mark.deep
def test_functions(tmp_path: Path) -> None:
    cases = [
        Case(
            f"{name}_{i}",
            lambda *x, r=row, f=function: r.call(f, *x),
            row.inputs,
            (),
            row.batches,
            row.refused,
            row.ours_alone,
        )
        for name, function in public_ops().items()
        for i, row in enumerate(keras_op_rows.ROWS.get(name, ()))
    ]
    expect_agreement(cases, tmp_path, REFUSED_FUNCTIONS)


REFUSED_MEASURES: dict[str, str] = {
    "activation_elu_float64": NOT_RUN,
    "activation_gelu_float64": "as exact as float64",
    "activation_leaky_relu_float64": NOT_RUN,
}


@pytest.mark.deep
def test_activations_losses_and_metrics(tmp_path: Path) -> None:
    rows = keras_measure_rows
    cases = [*rows.activations(), *rows.losses(), *rows.metrics()]
    metrics = {case.name for case in cases if any(isinstance(part, keras.Metric) for part in case.parts)}
    expect_agreement(cases, tmp_path, REFUSED_MEASURES, metrics - REFUSED_MEASURES.keys())
