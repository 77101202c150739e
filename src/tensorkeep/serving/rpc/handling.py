"""What all methods have in common: bytes in and out, who may call, errors as statuses, deadlines."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, TypeAlias

from tensorkeep.errors import DataLossError, InvalidArgumentError, TensorKeepError
from tensorkeep.proto.messages import MessageType, parse
from tensorkeep.serving.rpc.library import grpc
from tensorkeep.serving.statuses import code_of, cut_text

Metadata: TypeAlias = Sequence[tuple[str, str | bytes]]
Authorize: TypeAlias = Callable[[Metadata], None]
Method: TypeAlias = Callable[[bytes, float | None], Awaitable[bytes]]

_LOG: Final = logging.getLogger("tensorkeep.serving")
_CODES: Final = {code.value[0]: code for code in grpc.StatusCode}


def everybody(metadata: Metadata) -> None:
    """Lets everybody call."""


def unary(method: Method, authorize: Authorize = everybody) -> Any:
    """The handler of a method that takes the bytes of a request and its deadline, and gives those of its answer.

    `authorize` is shown the metadata of a call, and raises UnauthenticatedError for those who may not call.
    """

    async def handle(data: bytes, context: Any) -> bytes:
        left = context.time_remaining()
        try:
            if authorize is not everybody:
                authorize(metadata_of(context))
            return await method(data, None if left is None else time.monotonic() + left)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            code, text = status_of(error)
        await context.abort(code, text)
        raise AssertionError("abort has raised")

    return grpc.unary_unary_rpc_method_handler(handle)


def metadata_of(context: Any) -> Metadata:
    """What a client sent beside its request."""
    return [(key, value) for key, value in context.invocation_metadata() or ()]


def status_of(error: BaseException) -> tuple[Any, str]:
    """An error as gRPC's status code and the text that goes with it."""
    if not isinstance(error, TensorKeepError | TimeoutError | asyncio.TimeoutError):
        _LOG.error("a call failed in an unforeseen way", exc_info=error)
    return _CODES[code_of(error)], cut_text(str(error) or type(error).__name__)


def received(message_type: type[MessageType], data: bytes) -> MessageType:
    """The message that a client sent."""
    try:
        return parse(message_type, data, "the request")
    except DataLossError as error:
        raise InvalidArgumentError(str(error)) from error
