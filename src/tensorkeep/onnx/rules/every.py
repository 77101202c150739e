"""All rules: importing this makes them known."""

from tensorkeep.onnx.rules import (
    arithmetic,
    gathering,
    joining,
    matrices,
    passing,
    scattering,
    selecting,
    shapes,
    slicing,
)

__all__ = [
    "arithmetic",
    "gathering",
    "joining",
    "matrices",
    "passing",
    "scattering",
    "selecting",
    "shapes",
    "slicing",
]
