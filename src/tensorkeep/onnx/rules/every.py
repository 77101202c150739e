"""All rules: importing this makes them known."""

from tensorkeep.onnx.rules import (
    arithmetic,
    diagonals,
    gathering,
    joining,
    matrices,
    passing,
    patches,
    ragged,
    scattering,
    segments,
    selecting,
    sequences,
    shapes,
    slicing,
    sparse,
)

__all__ = [
    "arithmetic",
    "diagonals",
    "gathering",
    "joining",
    "matrices",
    "passing",
    "patches",
    "ragged",
    "scattering",
    "segments",
    "selecting",
    "sequences",
    "shapes",
    "slicing",
    "sparse",
]
