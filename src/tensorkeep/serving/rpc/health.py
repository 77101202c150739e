"""The standard health service: the server (""), its services, and each model ("model/NAME").

A model serves while one of its versions is available. From the moment the server stops, nothing serves.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Final

from tensorkeep.errors import InternalError, NotFoundError
from tensorkeep.proto.messages import serialize
from tensorkeep.proto.serving import HealthCheckRequest, HealthCheckResponse
from tensorkeep.serving.models import ModelAsked, Models, State
from tensorkeep.serving.rpc.methods import Methods, StreamingMethod, UnaryMethod, methods_of, parse_received
from tensorkeep.serving.rpc.services import MODEL_SERVICE, PREDICTION_SERVICE

HEALTH_SERVICE: Final = "grpc.health.v1.Health"
MODEL_PREFIX: Final = "model/"

_Status: Final = HealthCheckResponse.ServingStatus
_SERVICES: Final = frozenset(("", "ModelService", "PredictionService", MODEL_SERVICE, PREDICTION_SERVICE))


class Health:
    """What is told of the server's health. Safe to ask from any thread; watched in the event loop."""

    def __init__(self, models: Models, poll_seconds: float = 1.0) -> None:
        """Those who watch are told of a change of a model within `poll_seconds`, of draining at once."""
        self._models = models
        self._poll_seconds = poll_seconds
        self._changed: set[asyncio.Event] = set()
        self.is_draining = False

    def drain(self) -> None:
        """From now on, nothing serves. To be called in the event loop."""
        self.is_draining = True
        for event in self._changed:
            event.set()

    def status(self, service: str) -> int | None:
        """How a service is; None if there is none of that name."""
        if service not in _SERVICES and not service.startswith(MODEL_PREFIX):
            return None
        if service.startswith(MODEL_PREFIX):
            try:
                versions = self._models.statuses(ModelAsked(service.removeprefix(MODEL_PREFIX)))
            except NotFoundError:
                return None
            if not any(version.state is State.AVAILABLE for version in versions):
                return int(_Status.NOT_SERVING)
        return int(_Status.NOT_SERVING if self.is_draining else _Status.SERVING)

    async def watched(self, service: str) -> AsyncIterator[int]:
        """How a service is, now and after each change. It ends when the server stops, which would wait for it."""
        event = asyncio.Event()
        self._changed.add(event)
        told: int | None = None
        try:
            while True:
                is_last = self.is_draining  # as of before it is looked at: what changes while it is told, is told next
                found = self.status(service)
                found = int(_Status.SERVICE_UNKNOWN) if found is None else found
                if found != told:
                    told = found
                    yield found
                if is_last:
                    return
                await _set_within(event, self._poll_seconds)
                event.clear()
        finally:
            self._changed.discard(event)


async def _set_within(event: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError, asyncio.TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)


def health_methods(health: Health) -> Methods:
    """The methods of the health service. Everybody may call them."""

    async def check(data: bytes, deadline: float | None) -> bytes:
        service = parse_received(HealthCheckRequest, data).service
        status = health.status(service)
        if status is None:
            raise NotFoundError(f"there is no service {service}")
        return serialize(HealthCheckResponse(status=status))

    async def watch(requests: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        data = await anext(requests, None)
        if data is None:
            raise InternalError("the call has no message, and Watch takes one")
        async for status in health.watched(parse_received(HealthCheckRequest, data).service):
            yield serialize(HealthCheckResponse(status=status))

    return methods_of(HEALTH_SERVICE, {"Check": UnaryMethod(check), "Watch": StreamingMethod(watch)})
