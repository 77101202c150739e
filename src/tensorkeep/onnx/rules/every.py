"""All rules: importing this makes them known."""

from tensorkeep.onnx.rules import (
    arithmetic,
    diagonals,
    gathering,
    joining,
    matrices,
    passing,
    patches,
    scattering,
    segments,
    selecting,
    sequences,
    shapes,
    slicing,
)

__all__ = [
    "arithmetic",
    "diagonals",
    "gathering",
    "joining",
    "matrices",
    "passing",
    "patches",
    "scattering",
    "segments",
    "selecting",
    "sequences",
    "shapes",
    "slicing",
]
