"""Files that Keras saves: those with Python code in them are found, the others are clean."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py  # type: ignore[import-untyped]
import numpy as np
import pytest
import tensorflow as tf

from tensorkeep.saved_model.scan.hdf5_texts import attribute_texts
from tensorkeep.saved_model.scan.model_scan import scan_model

keras = tf.keras


def plain() -> Any:
    rows = keras.layers.Input((4,))
    hidden = keras.layers.Dense(3, activation="gelu", kernel_regularizer="l2")(rows)
    joined = keras.layers.Concatenate()([hidden, keras.layers.BatchNormalization()(hidden)])
    model = keras.Model(rows, keras.layers.Dense(2)(joined))
    model.compile("adam", "mse", metrics=["mae"])
    return model


def with_code() -> Any:
    return keras.Sequential([keras.layers.Input((4,)), keras.layers.Lambda(lambda x: x * 2)])


@pytest.mark.parametrize("name", ["m.keras", "m.h5", "m.weights.h5"])
def test_a_model_that_only_computes_is_clean(name: str, tmp_path: Path) -> None:
    model = plain()
    (model.save_weights if "weights" in name else model.save)(tmp_path / name)
    report = scan_model(tmp_path / name)
    assert report.is_clean, str(report)


@pytest.mark.parametrize("name", ["m.keras", "m.h5"])
def test_a_lambda_layer_is_found(name: str, tmp_path: Path) -> None:
    with_code().save(tmp_path / name)
    report = scan_model(tmp_path / name)
    assert report.counts["calls-python"] >= 1, str(report)
    assert report.is_complete


def test_files_beside_a_saved_model_are_looked_at(tmp_path: Path) -> None:
    plain().export(str(tmp_path / "m"), verbose=False)
    assert scan_model(tmp_path / "m").is_clean
    with_code().save(tmp_path / "m" / "assets" / "data.bin.keras")
    (tmp_path / "m" / "assets" / "data.bin.keras").rename(tmp_path / "m" / "assets" / "data.bin")
    assert [item.file for item in scan_model(tmp_path / "m").findings][:1] == ["assets/data.bin"]


@pytest.mark.parametrize("library", ["earliest", "latest"])
@pytest.mark.parametrize("size", [10, 70_000])
@pytest.mark.parametrize("kind", ["text", "fixed"])
def test_attributes_are_found_in_whatever_form_hdf5_keeps_them(
    library: str, size: int, kind: str, tmp_path: Path
) -> None:
    text = '{"class_name": "' + "x" * size + '"}'
    if kind == "fixed" and size > 60_000 and library == "earliest":
        size, text = 50_000, '{"class_name": "' + "x" * 50_000 + '"}'
    path = tmp_path / "m.h5"
    with h5py.File(path, "w", libver=library) as file:
        for index in range(20):  # enough for HDF5 to keep them apart from the object
            file.attrs[f"attribute_{index}"] = "y" * index
        file.attrs["model_config"] = text if kind == "text" else np.bytes_(text)
        file.create_dataset("weights", data=np.arange(1000.0), compression="gzip")
    assert list(attribute_texts(path.read_bytes(), "model_config", "m.h5")) == [text]
