"""Messages of reports: profiles of graphs, and the embeddings that TensorBoard shows.

Not among `messages`: few programs ask for them, and making the classes takes time.
"""

from __future__ import annotations

from tensorkeep.proto._generated.profile_pb2 import GraphNodeProto, MultiGraphNodeProto, TFProfTensorProto
from tensorkeep.proto._generated.projector_pb2 import EmbeddingInfo, ProjectorConfig, SpriteMetadata

__all__ = [
    "EmbeddingInfo",
    "GraphNodeProto",
    "MultiGraphNodeProto",
    "ProjectorConfig",
    "SpriteMetadata",
    "TFProfTensorProto",
]
