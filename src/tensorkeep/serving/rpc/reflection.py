"""The standard reflection service, by which clients ask what there is.

Its two versions have the same messages, but for their package, which is not on the wire.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Final

from tensorkeep.errors import InvalidArgumentError, NotFoundError, TensorKeepError, UnimplementedError
from tensorkeep.proto.messages import serialize
from tensorkeep.proto.reflection import (
    ServerReflectionRequest,
    ServerReflectionResponse,
    files_of_name,
    files_of_symbol,
)
from tensorkeep.serving.rpc.methods import Authorize, Methods, StreamingMethod, everybody, methods_of, parse_received

REFLECTION_SERVICE: Final = "grpc.reflection.v1.ServerReflection"
OLD_REFLECTION_SERVICE: Final = "grpc.reflection.v1alpha.ServerReflection"


def reflection_methods(services: Sequence[str], authorize: Authorize = everybody) -> Methods:
    """The methods of both versions of the service; `services` are those of the server."""

    async def info(requests: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        async for data in requests:
            yield serialize(answer_reflection(data, services))

    methods = {"ServerReflectionInfo": StreamingMethod(info, authorize)}
    return {**methods_of(REFLECTION_SERVICE, methods), **methods_of(OLD_REFLECTION_SERVICE, methods)}


def answer_reflection(data: bytes, services: Sequence[str]) -> ServerReflectionResponse:
    """The answer to a question, errors included."""
    response = ServerReflectionResponse()
    try:
        request = parse_received(ServerReflectionRequest, data)
        response.valid_host = request.host
        response.original_request.CopyFrom(request)
        _answer(request, services, response)
    except TensorKeepError as error:
        response.error_response.error_code = error.error_code
        response.error_response.error_message = str(error)
    return response


def _answer(request: ServerReflectionRequest, services: Sequence[str], response: ServerReflectionResponse) -> None:
    kind = request.WhichOneof("message_request")
    if kind == "list_services":
        response.list_services_response.SetInParent()
        for name in services:
            response.list_services_response.service.add(name=name)
    elif kind == "file_by_filename":
        response.file_descriptor_response.file_descriptor_proto.extend(files_of_name(request.file_by_filename))
    elif kind == "file_containing_symbol":
        response.file_descriptor_response.file_descriptor_proto.extend(files_of_symbol(request.file_containing_symbol))
    elif kind == "all_extension_numbers_of_type":  # our schemas have no extensions
        files_of_symbol(request.all_extension_numbers_of_type)
        response.all_extension_numbers_response.base_type_name = request.all_extension_numbers_of_type
    elif kind == "file_containing_extension":
        raise NotFoundError(f"{request.file_containing_extension.containing_type} has no extensions")
    elif kind is None:
        raise InvalidArgumentError("the request asks nothing")
    else:
        raise UnimplementedError(f"{kind} is not answered")
