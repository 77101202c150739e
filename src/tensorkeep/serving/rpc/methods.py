"""Methods of gRPC services: what each does with a request, and who may call it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from tensorkeep.errors import DataLossError, InvalidArgumentError, TensorKeepError
from tensorkeep.proto.messages import MessageType, parse
from tensorkeep.serving.rpc.wire import Metadata
from tensorkeep.serving.statuses import code_of

Authorize: TypeAlias = Callable[[Metadata], None]
Answer: TypeAlias = Callable[[bytes, float | None], Awaitable[bytes]]
Conversation: TypeAlias = Callable[[AsyncIterator[bytes]], AsyncIterator[bytes]]

_LOG: Final = logging.getLogger("tensorkeep.serving")


def everybody(metadata: Metadata) -> None:
    """Lets everybody call."""


@dataclass(frozen=True, slots=True)
class UnaryMethod:
    """A method that takes one message and gives one."""

    answer: Answer
    """Takes the bytes of a request and its deadline, and gives those of its answer."""
    authorize: Authorize = everybody
    """Is shown the metadata of a call, and raises UnauthenticatedError for those who may not call."""


@dataclass(frozen=True, slots=True)
class StreamingMethod:
    """A method that takes messages and gives messages, any number of each."""

    answer: Conversation
    authorize: Authorize = everybody


Method: TypeAlias = UnaryMethod | StreamingMethod
Methods: TypeAlias = Mapping[bytes, Method]
"""By the path of their URL."""


def methods_of(service: str, methods: Mapping[str, Method]) -> Methods:
    """The methods of a service, by the paths that they are called by."""
    return {f"/{service}/{name}".encode(): method for name, method in methods.items()}


def status_of(error: BaseException) -> tuple[int, str]:
    """An error as gRPC's status code and the text that goes with it."""
    if not isinstance(error, TensorKeepError | TimeoutError | asyncio.TimeoutError):
        _LOG.error("a call failed in an unforeseen way", exc_info=error)
    return code_of(error), str(error) or type(error).__name__


def parse_received(message_type: type[MessageType], data: bytes) -> MessageType:
    """The message that a client sent."""
    try:
        return parse(message_type, data, "the request")
    except DataLossError as error:
        raise InvalidArgumentError(str(error)) from error
