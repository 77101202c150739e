"""All of Keras beside TensorFlow: each layer, activation, loss, metric and function of `keras.ops`, exported.

What is compared follows from the package: a public name of Keras without a row here fails a test.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import keras
import pytest
import tensorflow as tf

import tensorkeep as tk
from tests.interop import keras_measure_rows, keras_op_rows, keras_op_rows_of_arrays, keras_recurrent_rows
from tests.interop.keras_layer_rows import NOT_EXPORTED, ROWS, Row
from tests.interop.keras_recurrent_rows import RANDOM
from tests.interop.keras_sweep import Case, differences, endpoint_of, export, together
from tests.support.depth import thinned

WITH_MORE_ROWS = (keras_op_rows_of_arrays, keras_recurrent_rows)  # importing them adds their rows to the others'

# Layers whose halves TensorFlow rounds after every step, or divides by multiplying: their answers differ by some units
# in the last place (docs/differences-from-tensorflow.md).
ROUNDED_OTHERWISE = {
    *("Conv1DTranspose", "Conv2DTranspose", "Conv3D", "Conv3DTranspose"),
    *("DepthwiseConv1D", "DepthwiseConv2D", "SeparableConv1D", "SeparableConv2D"),
    *("ConvLSTM3D", "Equalization"),
}
# Layers that Keras or TensorFlow has in float32 only, on the CPU.
IN_FLOAT32_ALONE = {
    *("AdaptiveAveragePooling3D", "AdaptiveMaxPooling3D", "AveragePooling3D", "MaxPooling3D"),
    *("MelSpectrogram", "STFTSpectrogram", "TFSMLayer"),
}


def expect_agreement(cases: Iterable[Case], folder: Path) -> None:
    keras.utils.set_random_seed(1)
    groups = together(cases)
    functions = export(groups, folder)
    with tk.load_saved_model(folder) as model:
        lines = [
            line
            for group in groups
            for line in differences(group, functions[endpoint_of(group)], model.signatures[endpoint_of(group)])
        ]
    assert not lines, "\n".join(lines)


def layer_case(name: str, number: int, row: Row, policy: str) -> Case:
    keras.config.set_dtype_policy(policy)
    try:
        layer = row.make()
    finally:
        keras.config.set_dtype_policy("float32")
    inputs = tuple(given.as_wide_as(policy) for given in row.inputs)
    return Case(
        f"{name}_{number}_{policy}",
        lambda *x: row.call(layer, *x),
        inputs,
        (layer,),
        row.batches,
        row.refused,
        row.ours_alone,
    )


def classes(base: type) -> dict[type, list[str]]:
    """The layers of Keras with all their public names."""
    found: dict[type, list[str]] = {}
    for name in dir(keras.layers):
        thing = getattr(keras.layers, name)
        if isinstance(thing, type) and issubclass(thing, base):
            found.setdefault(thing, []).append(name)
    return found


def test_every_layer_has_rows_or_a_reason_to_have_none() -> None:
    names = classes(keras.Layer).values()
    assert not [known for known in names if not (set(known) & ROWS.keys()) ^ (set(known) & NOT_EXPORTED.keys())]


@pytest.mark.slow
def test_layers(tmp_path: Path) -> None:
    expect_agreement(
        (layer_case(name, i, row, "float32") for name, rows in ROWS.items() for i, row in enumerate(rows)), tmp_path
    )


@pytest.mark.filterwarnings("ignore:(.|\n)*overflow encountered in cast:RuntimeWarning")  # of Keras' 1e-12 in halves
@pytest.mark.slow
@pytest.mark.parametrize("policy", thinned(["mixed_float16", "mixed_bfloat16", "float64"], 3))
def test_layers_of_other_types(policy: str, tmp_path: Path) -> None:
    left_out = {*IN_FLOAT32_ALONE, *RANDOM, *(() if policy == "float64" else ROUNDED_OTHERWISE)}
    cases = [
        layer_case(name, 0, rows[0], policy)
        for name, rows in ROWS.items()
        if name not in left_out and any(given.dtype == "float32" for given in rows[0].inputs)
    ]
    expect_agreement(cases, tmp_path)


def public_ops() -> dict[str, Any]:
    """The functions of `keras.ops` and `keras.ops.image`. Those of its other modules are among the first."""
    found = {name: getattr(keras.ops, name) for name in dir(keras.ops) if not name.startswith("_")}
    images = {f"image.{name}": getattr(keras.ops.image, name) for name in dir(keras.ops.image)}
    both = {name: function for name, function in (found | images).items() if callable(function)}
    return {name: function for name, function in both.items() if not name.startswith("image._")}


def test_every_function_has_rows_or_a_reason_to_have_none() -> None:
    known = [*keras_op_rows.ROWS, *keras_op_rows.NOT_EXPORTED, *keras_op_rows.UNTRACEABLE]
    assert sorted(known) == sorted(public_ops())
    for module in (keras.ops.linalg, keras.ops.nn, keras.ops.numpy):
        assert {name for name in dir(module) if not name.startswith("_")} <= public_ops().keys()


@pytest.mark.slow
def test_functions(tmp_path: Path) -> None:
    def cases() -> Iterator[Case]:
        for name, function in public_ops().items():
            for i, row in enumerate(keras_op_rows.ROWS.get(name, ())):
                yield Case(
                    f"{name}_{i}",
                    lambda *x, r=row, f=function: r.call(f, *x),
                    row.inputs,
                    (),
                    row.batches,
                    row.refused,
                    row.ours_alone,
                )

    expect_agreement(cases(), tmp_path)


@pytest.mark.parametrize("name", keras_op_rows.UNTRACEABLE)
def test_functions_that_keras_cannot_trace(name: str) -> None:
    call, function = keras_op_rows.UNTRACEABLE[name], getattr(keras.ops, name)
    with pytest.raises((TypeError, tf.errors.OperatorNotAllowedInGraphError)):
        tf.function(lambda x: call(function, x), autograph=False).get_concrete_function(tf.TensorSpec([3, 5]))


@pytest.mark.slow
def test_activations_losses_and_metrics(tmp_path: Path) -> None:
    rows = keras_measure_rows
    expect_agreement([*rows.activations(), *rows.losses(), *rows.metrics()], tmp_path)
