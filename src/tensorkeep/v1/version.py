"""`tf.version`: the TensorFlow that this follows."""

from __future__ import annotations

from tensorkeep.graph.graph import PRODUCER as GRAPH_DEF_VERSION
from tensorkeep.metagraph.versions import TENSORFLOW_GIT_VERSION as GIT_VERSION
from tensorkeep.metagraph.versions import TENSORFLOW_VERSION as VERSION

COMPILER_VERSION = "Clang 18.1.8"
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0

__all__ = [
    "COMPILER_VERSION",
    "GIT_VERSION",
    "GRAPH_DEF_VERSION",
    "GRAPH_DEF_VERSION_MIN_CONSUMER",
    "GRAPH_DEF_VERSION_MIN_PRODUCER",
    "VERSION",
]
