"""All rules: importing this makes them known."""

from tensorkeep.onnx.rules import (
    activations,
    arithmetic,
    convolutions,
    losses,
    matrices,
    normalisation,
    passing,
    pooling,
)

__all__ = [
    "activations",
    "arithmetic",
    "convolutions",
    "losses",
    "matrices",
    "normalisation",
    "passing",
    "pooling",
]
