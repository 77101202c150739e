"""Messages of gRPC's server reflection, and the files of our schemas that it hands out."""

from __future__ import annotations

from google.protobuf.descriptor import FileDescriptor

from tensorkeep.errors import NotFoundError
from tensorkeep.proto._generated import health_pb2, serving_services_pb2
from tensorkeep.proto._generated.reflection_pb2 import ServerReflectionRequest, ServerReflectionResponse
from tensorkeep.proto._pool import POOL

__all__ = ["ServerReflectionRequest", "ServerReflectionResponse", "files_of_name", "files_of_symbol"]

_SERVICES = (health_pb2, serving_services_pb2)  # imported so that they are in the pool


def files_of_symbol(symbol: str) -> list[bytes]:
    """The serialized FileDescriptorProto that defines a service, method, message or enum, then those it depends on."""
    owner, _, method = symbol.rpartition(".")
    try:
        return _with_dependencies(POOL.FindFileContainingSymbol(symbol))
    except KeyError:
        pass
    try:
        if method in POOL.FindServiceByName(owner).methods_by_name:
            return _with_dependencies(POOL.FindServiceByName(owner).file)
    except KeyError:
        pass
    raise NotFoundError(f"Symbol not found: {symbol}")


def files_of_name(name: str) -> list[bytes]:
    """The serialized FileDescriptorProto of a file name, then those it depends on."""
    try:
        return _with_dependencies(POOL.FindFileByName(name))
    except KeyError:
        raise NotFoundError(f"File not found: {name}") from None


def _with_dependencies(file: FileDescriptor) -> list[bytes]:
    found: dict[str, bytes] = {}
    waiting = [file]
    while waiting:
        item = waiting.pop()
        if item.name not in found:
            found[item.name] = item.serialized_pb
            waiting.extend(item.dependencies)
    return list(found.values())
