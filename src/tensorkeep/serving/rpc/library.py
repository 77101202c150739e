"""The gRPC package, or an error that says how to get it."""

from __future__ import annotations

try:
    import grpc
    from grpc import aio
except ImportError as error:  # pragma: no cover - depends on what is installed
    raise ImportError('gRPC is served by the package grpcio: pip install "tensorkeep[serve]"') from error

__all__ = ["aio", "grpc"]
