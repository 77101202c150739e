"""A gRPC server with all of it, without ports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.serving.inference.service import Inference
from tensorkeep.serving.rpc.handling import Authorize, everybody
from tensorkeep.serving.rpc.health import HEALTH_SERVICE, Health, health_service
from tensorkeep.serving.rpc.library import aio
from tensorkeep.serving.rpc.reflection import REFLECTION_SERVICE, reflection_services
from tensorkeep.serving.rpc.services import MODEL_SERVICE, PREDICTION_SERVICE, model_service, prediction_service

_LARGEST: Final = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class RpcOptions:
    """How a gRPC server is set up."""

    most_received_bytes: int = _LARGEST
    """Of one message; TensorFlow Serving has no smaller limit."""
    most_sent_bytes: int = _LARGEST
    channel_arguments: str = ""
    """As `--grpc_channel_arguments` has them: "name=value,name=value", whole numbers or texts."""
    most_calls: int | None = None
    """How many calls are worked on at a time; others are refused with RESOURCE_EXHAUSTED."""
    authorize: Authorize = everybody
    """Is shown the metadata of each call but those for health; raises UnauthenticatedError for who may not call."""
    interceptors: Sequence[Any] = ()
    """Of `grpc.aio.ServerInterceptor`."""
    has_health: bool = True
    has_reflection: bool = True


def build_server(inference: Inference, health: Health, options: RpcOptions = RpcOptions()) -> Any:
    """A `grpc.aio.Server` with all services, to be made in the event loop that runs it; it still needs ports."""
    arguments: list[tuple[str, int | str]] = [
        ("grpc.max_receive_message_length", options.most_received_bytes),
        ("grpc.max_send_message_length", options.most_sent_bytes),
        *channel_arguments(options.channel_arguments),
    ]
    server = aio.server(
        interceptors=list(options.interceptors), options=arguments, maximum_concurrent_rpcs=options.most_calls
    )
    server.add_generic_rpc_handlers(tuple(_handlers(inference, health, options)))
    return server


def _handlers(inference: Inference, health: Health, options: RpcOptions) -> list[Any]:
    authorize = options.authorize
    handlers = [prediction_service(inference, authorize), model_service(inference, authorize)]
    names = [PREDICTION_SERVICE, MODEL_SERVICE]
    if options.has_health:
        handlers.append(health_service(health))
        names.append(HEALTH_SERVICE)
    if options.has_reflection:
        names.append(REFLECTION_SERVICE)
        handlers += reflection_services(sorted(names), authorize)
    return handlers


def channel_arguments(text: str) -> list[tuple[str, int | str]]:
    """The arguments in the value of `--grpc_channel_arguments`."""
    found: list[tuple[str, int | str]] = []
    for item in filter(None, (part.strip() for part in text.split(","))):
        name, separator, value = item.partition("=")
        if not separator or not name:
            raise InvalidArgumentError(f'"{item}" is no argument of a channel: expected name=value')
        is_whole = value.removeprefix("-").isascii() and value.removeprefix("-").isdecimal()
        found.append((name, int(value) if is_whole else value))
    return found
