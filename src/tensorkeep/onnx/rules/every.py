"""All rules: importing this makes them known."""

from tensorkeep.onnx.rules import (
    angles,
    arithmetic,
    bits,
    casts,
    comparisons,
    complex_numbers,
    functions,
    matrices,
    passing,
    reductions,
)

__all__ = [
    "angles",
    "arithmetic",
    "bits",
    "casts",
    "comparisons",
    "complex_numbers",
    "functions",
    "matrices",
    "passing",
    "reductions",
]
