"""`tf.keras` besides layers and models beside Keras 2: the same names, configurations and numbers."""

from __future__ import annotations

import os
import pickle
import random
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf  # noqa: F401 - Keras 2 stands on it

import tensorkeep.v1 as v1
from tensorkeep.tf1.functions.structures import flatten
from tests.interop.keras_part_programs import OPTIMIZERS, observed

NAMES = [*(f"optimizer {name}" for name in OPTIMIZERS), "losses", "small", "metrics", "backend"]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, Any]]:
    """What we make of all programs, and what Keras does."""
    file = tmp_path_factory.mktemp("keras") / "parts.pickle"
    running = subprocess.Popen(
        [sys.executable, "-m", "tests.interop.keras_parts_oracle", str(file)],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    ours = observed(v1, v1.keras)
    _, said = running.communicate()
    assert running.returncode == 0, said.decode()
    return ours, pickle.loads(file.read_bytes())


@pytest.mark.parametrize("name", NAMES)
def test_a_part_gives_what_keras_gives(name: str, both: tuple[dict[str, Any], dict[str, Any]]) -> None:
    (facts, numbers), (expected_facts, expected) = both[0][name], both[1][name]
    assert facts == expected_facts
    mine, theirs = flatten(numbers), flatten(expected)
    assert len(mine) == len(theirs)
    for one, other in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=3e-5, atol=3e-6)


def test_sequences_and_texts_are_prepared_as_keras_does() -> None:
    from tf_keras.preprocessing import sequence, text

    ours = v1.keras.preprocessing
    ragged = [[1, 2, 3], [4], [5, 6, 7, 8]]
    padded: list[dict[str, Any]] = [
        {},
        {"maxlen": 2},
        {"maxlen": 2, "truncating": "post"},
        {"padding": "post", "value": 9},
        {"maxlen": 6, "dtype": "float32"},
    ]
    for options in padded:
        np.testing.assert_array_equal(
            ours.sequence.pad_sequences(ragged, **options), sequence.pad_sequences(ragged, **options)
        )
    np.testing.assert_allclose(ours.sequence.make_sampling_table(20), sequence.make_sampling_table(20))
    pairs = []
    for module in (ours.sequence, sequence):
        random.seed(0)
        pairs.append(module.skipgrams([1, 2, 3, 0, 4], 6, 2, seed=5))
    assert pairs[0] == pairs[1]
    windows: dict[str, Any] = {"length": 5, "sampling_rate": 2, "stride": 2, "batch_size": 3, "reverse": True}
    mine, theirs = (
        module.TimeseriesGenerator(np.arange(20), np.arange(20), **windows) for module in (ours.sequence, sequence)
    )
    assert len(mine) == len(theirs)
    for at in range(len(mine)):
        np.testing.assert_array_equal(mine[at][0], theirs[at][0])
    texts = ["The cat sat, on the mat!", "A dog; the Dog's bone"]
    kinds: list[dict[str, Any]] = [{}, {"num_words": 4}, {"oov_token": "?"}, {"char_level": True}, {"lower": False}]
    for options in kinds:
        one, other = ours.text.Tokenizer(**options), text.Tokenizer(**options)
        one.fit_on_texts(texts), other.fit_on_texts(texts)
        assert one.to_json() == other.to_json()
        assert one.texts_to_sequences([*texts, "new cat"]) == other.texts_to_sequences([*texts, "new cat"])
        assert one.sequences_to_texts([[1, 2, 9]]) == other.sequences_to_texts([[1, 2, 9]])
        for mode in ("binary", "count", "freq", "tfidf"):
            np.testing.assert_allclose(one.texts_to_matrix(texts, mode), other.texts_to_matrix(texts, mode))
    assert ours.text.hashing_trick("a b c a", 7, "md5") == text.hashing_trick("a b c a", 7, "md5")


@pytest.mark.filterwarnings("ignore:Please import `affine_transform`:DeprecationWarning")  # Keras's use of SciPy
def test_images_are_changed_as_keras_changes_them() -> None:
    from tf_keras.preprocessing import image

    ours = v1.keras.preprocessing.image
    picture = np.random.RandomState(0).rand(9, 11, 3).astype("float32")
    steps: list[dict[str, Any]] = [
        {"theta": 30},
        {"tx": 2.5, "ty": -1.2},
        {"theta": -70, "tx": 3, "ty": 4, "shear": 5, "zx": 1.4, "zy": 0.6},
    ]
    axes = {"row_axis": 0, "col_axis": 1, "channel_axis": 2, "cval": 0.5}
    for mode in ("nearest", "constant", "reflect", "wrap"):
        for step in steps:
            mine, theirs = (
                module.apply_affine_transform(picture, fill_mode=mode, **axes, **step) for module in (ours, image)
            )
            np.testing.assert_allclose(mine, theirs, atol=1e-4)
    pictures = np.random.RandomState(1).rand(10, 8, 8, 3).astype("float32")
    options: dict[str, Any] = {
        "rotation_range": 40,
        "width_shift_range": 0.2,
        "height_shift_range": 3,
        "shear_range": 10,
        "zoom_range": 0.3,
        "channel_shift_range": 0.2,
        "horizontal_flip": True,
        "featurewise_std_normalization": True,
        "rescale": 2.0,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Keras's own, about what overrides what
        made = [module.ImageDataGenerator(**options) for module in (ours, image)]
    for generator in made:
        generator.fit(pictures)
    flows = [generator.flow(pictures, np.arange(10), batch_size=4, seed=3) for generator in made]
    for _ in range(4):
        (mine, numbers), (theirs, expected) = (next(flow) for flow in flows)
        np.testing.assert_allclose(mine, theirs, atol=1e-4)
        np.testing.assert_array_equal(numbers, expected)
