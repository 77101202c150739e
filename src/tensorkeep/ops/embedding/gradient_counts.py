"""How often the keys of a gradient occurred: lookups that are told put it aside for the optimizer."""

from __future__ import annotations

from typing import Final

COUNTS: Final = "embedding counts"
"""In `graph.extras`: the counts of keys, by the tensor of a gradient's indices."""
