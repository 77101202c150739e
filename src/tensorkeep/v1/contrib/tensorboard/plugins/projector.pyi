# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.proto.reports import EmbeddingInfo, ProjectorConfig, SpriteMetadata
from tensorkeep.tf1.contrib.projector import visualize_embeddings

__all__ = [
    "EmbeddingInfo", "ProjectorConfig", "SpriteMetadata", "visualize_embeddings",
]
