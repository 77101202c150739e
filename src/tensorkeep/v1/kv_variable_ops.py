"""Functions of embedding variables, in DeepRec's module of this name."""

from __future__ import annotations

from tensorkeep.tf1.functions.embedding.keys import lookup_resource, lookup_tier
from tensorkeep.tf1.variables.embedding import EmbeddingVariable

__all__ = ["EmbeddingVariable", "lookup_resource", "lookup_tier"]
