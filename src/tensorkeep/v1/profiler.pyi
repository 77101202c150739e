# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.proto.reports import GraphNodeProto, MultiGraphNodeProto
from tensorkeep.v1.profiling import ProfileOptionBuilder, Profiler, profile

__all__ = [
    "GraphNodeProto", "MultiGraphNodeProto", "ProfileOptionBuilder", "Profiler", "profile",
]
