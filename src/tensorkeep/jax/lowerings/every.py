"""All lowerings: importing this makes them known."""

from tensorkeep.jax.lowerings import (
    activations,
    arithmetic,
    control_flow,
    convolutions,
    images,
    matrices,
    normalisation,
    passing,
    random,
    reductions,
    shapes,
    slicing,
    tensor_lists,
    variables,
)

__all__ = [
    "activations",
    "arithmetic",
    "control_flow",
    "convolutions",
    "images",
    "matrices",
    "normalisation",
    "passing",
    "random",
    "reductions",
    "shapes",
    "slicing",
    "tensor_lists",
    "variables",
]
