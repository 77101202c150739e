# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.functions.embedding.keys import lookup_resource, lookup_tier
from tensorkeep.tf1.variables.embedding_variables.handle import EmbeddingVariable

__all__ = [
    "EmbeddingVariable", "lookup_resource", "lookup_tier",
]
