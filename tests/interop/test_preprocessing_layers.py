"""Exported preprocessing of images, at batches of none, one and three, beside TensorFlow.

Layers that draw do so by Keras' seed generators, whose state is a variable of the model: from the same state, call
after call, both draw the same numbers.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import tensorkeep as tk
from tensorkeep.arrays import Array
from tests.support.depth import thinned

layers = keras.layers

BATCHES = (0, 1, 3)
SIZES = (12, 10, 3)
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "RandomBrightness": (0.3,),
    "RandomColorDegeneration": (0.5,),
    "RandomColorJitter": ((0, 255), 0.2, 0.2, 0.2, 0.2),
    "RandomContrast": (0.3,),
    "RandomCrop": (6, 5),
    "RandomGaussianBlur": (1.0, 3),
    "RandomHue": (0.2,),
    "RandomPosterization": (3,),
    "RandomRotation": (0.2,),
    "RandomSaturation": (0.4,),
    "RandomSharpness": (0.5,),
    "RandomShear": (0.2, 0.2),
    "RandomTranslation": (0.2, 0.2),
    "RandomZoom": (0.2,),
}
RANDOM = sorted(name for name in dir(layers) if name.startswith(("Random", "RandAugment")))
RANDOM += ["AugMix", "CutMix", "MixUp"]
FIXED = ("AutoContrast", "ContrastLimitedAdaptiveHistogramEqualization", "Equalization", "Solarization")

# TensorFlow refuses batches of none here: these layers look at their first image.
REFUSED_WHEN_EMPTY = {("RandomElasticTransform", True), ("RandAugment", True), ("Equalization", True)}


def images(batch: int) -> Array:
    return np.random.default_rng(batch).uniform(0, 255, (batch, *SIZES)).astype(np.float32)


def states_of(layer: Any) -> list[Any]:
    """The variables of a layer, and those of the seed generators in it, which Keras does not track for an export."""
    parts = layer._flatten_layers()
    return [generator.state.value for part in parts for generator in part._seed_generators] + [
        variable.value for variable in layer.variables
    ]


def export(folder: Path, compute: Callable[[Any], Any], variables: Callable[[], list[Any]]) -> None:
    """A model whose one signature computes this of images. What the computation uses is made by running it once."""
    module = tf.Module()
    module.compute = tf.function(
        lambda x: {"y": compute(x)}, input_signature=[tf.TensorSpec([None, *SIZES], tf.float32, "x")]
    )
    compute(tf.constant(images(1)))
    module.variables_of_layers = variables()
    tf.saved_model.save(module, str(folder), signatures={"serving_default": module.compute})


def expect_equal_answers(folder: Path, refused: tuple[int, ...] = ()) -> None:
    theirs = tf.saved_model.load(str(folder)).signatures["serving_default"]
    with tk.load_saved_model(folder) as model:
        ours = model.signatures["serving_default"]
        for batch in BATCHES:
            x = images(batch)
            if batch in refused:
                with pytest.raises(tf.errors.InvalidArgumentError):
                    theirs(x=tf.constant(x))
                with pytest.raises(tk.errors.InvalidArgumentError):
                    ours(x=x)
                continue
            wanted, answer = theirs(x=tf.constant(x))["y"].numpy(), ours(x=x)["y"]
            assert answer.dtype == wanted.dtype
            assert answer.shape == wanted.shape
            np.testing.assert_allclose(answer, wanted, rtol=1e-5, atol=1e-3, err_msg=f"a batch of {batch}")


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("name", thinned(list(RANDOM), 2))
def test_layers_that_draw(name: str, training: bool, tmp_path: Path) -> None:
    random.seed(3)  # by which AugMix chooses what it does, once, when it is traced
    layer = getattr(layers, name)(*ARGUMENTS.get(name, ()), seed=5)
    export(tmp_path, lambda x: layer(x, training=training), lambda: states_of(layer))
    expect_equal_answers(tmp_path, refused=(0,) if (name, training) in REFUSED_WHEN_EMPTY else ())


@pytest.mark.parametrize("name", FIXED)
def test_layers_that_do_not_draw(name: str, tmp_path: Path) -> None:
    layer = getattr(layers, name)()
    export(tmp_path, layer, lambda: states_of(layer))
    expect_equal_answers(tmp_path, refused=(0,) if (name, True) in REFUSED_WHEN_EMPTY else ())


def crops_and_pads(x: Any) -> Any:
    """What a model that cuts and frames its images does, every result beside the others."""
    boxes = tf.constant([[0.1, 0.2, 0.9, 0.8]]) * tf.ones([tf.shape(x)[0], 1])
    results = [
        layers.CenterCrop(8, 6)(x),
        layers.ZeroPadding2D(((1, 2), (3, 0)))(x),
        layers.CenterCrop(15, 14)(x),
        layers.Cropping2D(((1, 2), (3, 0)))(x),
        layers.Resizing(9, 7, crop_to_aspect_ratio=True)(x),
        layers.Resizing(9, 7, pad_to_aspect_ratio=True)(x),
        tf.image.crop_and_resize(x, boxes, tf.range(tf.shape(x)[0]), [5, 6]),
        tf.image.crop_and_resize(x, boxes - 0.3, tf.range(tf.shape(x)[0]), [5, 6], "nearest", 7.0),
        tf.image.crop_to_bounding_box(x, 2, 1, 7, 8),
        tf.image.pad_to_bounding_box(x, 2, 1, 15, 16),
        tf.image.resize_with_crop_or_pad(x, 9, 14),
        tf.image.resize_with_pad(x, 9, 17),
        tf.image.resize_with_pad(x, 17, 9, "bicubic", antialias=True),
        tf.image.central_crop(x, 0.5),
    ]
    sizes = [tf.stack([tf.shape(y)[0], tf.reduce_prod(tf.shape(y)[1:])]) for y in results]
    return tf.concat([tf.reshape(y, size) for y, size in zip(results, sizes, strict=True)], 1)


def test_crops_and_pads(tmp_path: Path) -> None:
    export(tmp_path, crops_and_pads, list)
    expect_equal_answers(tmp_path)
