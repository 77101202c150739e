"""All rules: importing this makes them known."""

from tensorkeep.onnx.rules import (
    activations,
    arithmetic,
    colors,
    convolutions,
    detection,
    fused,
    images,
    losses,
    matrices,
    normalisation,
    passing,
    pooling,
)

__all__ = [
    "activations",
    "arithmetic",
    "colors",
    "convolutions",
    "detection",
    "fused",
    "images",
    "losses",
    "matrices",
    "normalisation",
    "passing",
    "pooling",
]
