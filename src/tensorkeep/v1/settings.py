"""The messages by which sessions and runs are set, as `tf` has them; imported when one of them is asked for."""

from __future__ import annotations

from tensorkeep.proto.session_config import (
    ConfigProto,
    GPUOptions,
    GraphOptions,
    OptimizerOptions,
    RewriterConfig,
    RunMetadata,
    RunOptions,
)

__all__ = [
    "ConfigProto",
    "GPUOptions",
    "GraphOptions",
    "OptimizerOptions",
    "RewriterConfig",
    "RunMetadata",
    "RunOptions",
]
