"""InceptionV3: blocks of branches, each with windows of other sizes."""

# ruff: noqa: N802 - the names are Keras's

from __future__ import annotations

from typing import Any, Final

from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.keras.applications.building import (
    ImageShape,
    Options,
    StoredWeights,
    begin,
    channel_axis,
    classify,
    convolve,
    finish,
    normalize,
    rectify,
)
from tensorkeep.tf1.keras.engine.model import Model
from tensorkeep.tf1.keras.layers.merge import concatenate
from tensorkeep.tf1.keras.layers.pooling import AveragePooling2D, MaxPooling2D
from tensorkeep.tf1.layers.arguments import ActivationLike

_HASHES: Final = ("9a0d58056eeedaa3f26cb7ebd46da564", "bcbd6486424b2319ff4ef7d526e38f63")
Chain = tuple[tuple[int, Any], ...]
"""Convolutions one after the other: how many filters, of which size."""


def _convolve(x: Any, filters: int, size: Any, stride: int = 1, padding: str = "same") -> Any:
    x = convolve(x, filters, size, strides=stride, padding=padding)
    return rectify(normalize(x, scale=False))


def _chain(x: Any, chain: Chain) -> Any:
    for filters, size in chain:
        x = _convolve(x, filters, size)
    return x


def _join(branches: list[Any], name: str | None = None) -> Any:
    return concatenate(branches, axis=channel_axis(), name=name)


def _mix(x: Any, chains: tuple[Chain, ...], pooled: int, name: str) -> Any:
    """The outputs of branches, and of one with a pool of means, concatenated along the channels."""
    branches = [_chain(x, chain) for chain in chains]
    means = AveragePooling2D(3, strides=1, padding="same")(x)
    return _join([*branches, _convolve(means, pooled, 1)], name)


def _reduce(x: Any, chains: tuple[Chain, ...], name: str) -> Any:
    """Half as many rows and columns: branches that end in steps of two and a pool of maxima, concatenated."""
    branches = []
    for *before, (filters, size) in chains:
        branches.append(_convolve(_chain(x, tuple(before)), filters, size, 2, "valid"))
    return _join([*branches, MaxPooling2D(3, strides=2)(x)], name)


def _widen(x: Any, at: int) -> Any:
    """Branches that fork at their ends."""
    single = _convolve(x, 320, 1)
    fork = _convolve(x, 384, 1)
    short = _join([_convolve(fork, 384, (1, 3)), _convolve(fork, 384, (3, 1))], f"mixed9_{at}")
    fork = _chain(x, ((448, 1), (384, 3)))
    long = _join([_convolve(fork, 384, (1, 3)), _convolve(fork, 384, (3, 1))])
    means = _convolve(AveragePooling2D(3, strides=1, padding="same")(x), 192, 1)
    return _join([single, short, long, means], f"mixed{9 + at}")


def _long_chains(filters: int) -> tuple[Chain, ...]:
    row, column = (1, 7), (7, 1)
    twice = ((filters, 1), (filters, column), (filters, row), (filters, column), (192, row))
    return ((192, 1),), ((filters, 1), (filters, row), (192, column)), twice


def _network(options: Options) -> Model:
    ending = "" if options.include_top else "_notop"
    file = f"inception_v3_weights_tf_dim_ordering_tf_kernels{ending}.h5"
    stored = StoredWeights.of("inception_v3", file, _HASHES[not options.include_top])
    beginning = begin(options, 299, 75, lambda shape: stored)
    x = _convolve(beginning.tensor, 32, 3, 2, "valid")
    x = _convolve(_convolve(x, 32, 3, padding="valid"), 64, 3)
    x = MaxPooling2D(3, strides=2)(x)
    x = _convolve(_convolve(x, 80, 1, padding="valid"), 192, 3, padding="valid")
    x = MaxPooling2D(3, strides=2)(x)
    short: tuple[Chain, ...] = (((64, 1),), ((48, 1), (64, 5)), ((64, 1), (96, 3), (96, 3)))
    for at, pooled in enumerate((32, 64, 64)):
        x = _mix(x, short, pooled, f"mixed{at}")
    x = _reduce(x, (((384, 3),), ((64, 1), (96, 3), (96, 3))), "mixed3")
    for at, filters in enumerate((128, 160, 160, 192), start=4):
        x = _mix(x, _long_chains(filters), 192, f"mixed{at}")
    x = _reduce(x, (((192, 1), (320, 3)), ((192, 1), (192, (1, 7)), (192, (7, 1)), (192, 3))), "mixed8")
    for at in range(2):
        x = _widen(x, at)
    return finish(beginning, classify(x, options), "inception_v3")


def InceptionV3(
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: Tensor | None = None,
    input_shape: ImageShape = None,
    pooling: str | None = None,
    classes: int = 1000,
    classifier_activation: ActivationLike = "softmax",
) -> Model:
    """A network of branches with windows of several sizes."""
    told = Options(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    return _network(told)
