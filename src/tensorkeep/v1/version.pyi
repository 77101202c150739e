# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.graph.graph import PRODUCER as GRAPH_DEF_VERSION
from tensorkeep.v1.framework import COMPILER_VERSION, GRAPH_DEF_VERSION_MIN_CONSUMER, GRAPH_DEF_VERSION_MIN_PRODUCER
from tensorkeep.v1.versions import GIT_VERSION, VERSION

__all__ = [
    "COMPILER_VERSION", "GIT_VERSION", "GRAPH_DEF_VERSION", "GRAPH_DEF_VERSION_MIN_CONSUMER",
    "GRAPH_DEF_VERSION_MIN_PRODUCER", "VERSION",
]
