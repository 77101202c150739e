"""Names of layers, models and metrics: their class in small letters, numbered within the graph."""

from __future__ import annotations

from tensorkeep.tf1.layers.base import name_counts, snake_case


def name_for(kind: type) -> str:
    """`Conv2D` as "conv2d"; a class whose name begins with an underscore is "private"."""
    name = snake_case(kind.__name__)
    return f"private{name}" if name.startswith("_") else name


def unique_object_name(name: str, *, zero_based: bool = False) -> str:
    """A name with a number after it: "dense_1", "dense_2"; zero-based "dense", "dense_1"."""
    counts = name_counts()
    number = counts.get(name, 0)
    counts[name] = number + 1
    if zero_based:
        return f"{name}_{number}" if number else name
    return f"{name}_{number + 1}"
