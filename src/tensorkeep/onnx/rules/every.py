"""All rules: importing this makes them known."""

from tensorkeep.onnx.rules import (
    angles,
    arithmetic,
    audio,
    bits,
    casts,
    comparisons,
    complex_numbers,
    einstein,
    fourier,
    functions,
    matrices,
    passing,
    quantisation,
    random,
    reductions,
    special_functions,
)

__all__ = [
    "angles",
    "arithmetic",
    "audio",
    "bits",
    "casts",
    "comparisons",
    "complex_numbers",
    "einstein",
    "fourier",
    "functions",
    "matrices",
    "passing",
    "quantisation",
    "random",
    "reductions",
    "special_functions",
]
