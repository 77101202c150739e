"""A gRPC server with all services: requests of HTTP/2 that come in are calls of methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tensorkeep.errors import ResourceExhaustedError, TensorKeepError, UnimplementedError
from tensorkeep.serving.connections import ConnectionServer
from tensorkeep.serving.http2.connection import Connection
from tensorkeep.serving.http2.heads import RequestHead
from tensorkeep.serving.http2.hpack import Fields
from tensorkeep.serving.http2.streams import Receiver, Stream
from tensorkeep.serving.inference.service import Inference
from tensorkeep.serving.rpc.arguments import Transfer
from tensorkeep.serving.rpc.calls import REFUSED, CallRules, StreamingCall, UnaryCall
from tensorkeep.serving.rpc.health import HEALTH_SERVICE, Health, health_methods
from tensorkeep.serving.rpc.methods import Authorize, Method, Methods, UnaryMethod, everybody, status_of
from tensorkeep.serving.rpc.reflection import REFLECTION_SERVICE, reflection_methods
from tensorkeep.serving.rpc.services import MODEL_SERVICE, PREDICTION_SERVICE, model_methods, prediction_methods
from tensorkeep.serving.rpc.wire import (
    IDENTITY,
    check_encoding,
    is_grpc,
    metadata_of,
    refusal_of,
    timeout_of,
)

_RESOURCE_EXHAUSTED: Final = 8
_NOT_POSTED: Final[Fields] = ((b":status", b"405"), (b"allow", b"POST"), (b"content-length", b"0"))
_NOT_GRPC: Final[Fields] = ((b":status", b"415"), (b"content-length", b"0"))


@dataclass(frozen=True, slots=True)
class RpcOptions:
    """How a gRPC server is set up."""

    transfer: Transfer = field(default_factory=Transfer)
    most_calls: int | None = None
    """How many calls are worked on at a time; others are refused with RESOURCE_EXHAUSTED."""
    authorize: Authorize = everybody
    """Is shown the metadata of each call but those for health; raises UnauthenticatedError for who may not call."""
    has_health: bool = True
    has_reflection: bool = True


def build_server(inference: Inference, health: Health, options: RpcOptions = RpcOptions()) -> ConnectionServer:
    """A server with all services, to be made in the event loop that runs it; it does not listen yet."""
    service = RpcService(_methods(inference, health, options), options)
    limits = options.transfer.limits
    return ConnectionServer(
        lambda transport: Connection(transport, service, limits),
        protocol="h2",
        handshake_seconds=limits.handshake_seconds,
    )


def _methods(inference: Inference, health: Health, options: RpcOptions) -> Methods:
    authorize = options.authorize
    methods: dict[bytes, Method] = {
        **prediction_methods(inference, authorize),
        **model_methods(inference, authorize),
    }
    names = [PREDICTION_SERVICE, MODEL_SERVICE]
    if options.has_health:
        methods |= health_methods(health)
        names.append(HEALTH_SERVICE)
    if options.has_reflection:
        names.append(REFLECTION_SERVICE)
        methods |= reflection_methods(sorted(names), authorize)
    return methods


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a head asks for: a method, or an answer at once."""

    method: Method | None
    rules: CallRules
    refusal: Fields = ()


class RpcService:
    """Takes requests of HTTP/2 as calls of methods."""

    def __init__(self, methods: Methods, options: RpcOptions = RpcOptions()) -> None:
        self._methods = methods
        self._options = options
        self._calls = 0

    def accept(self, stream: Stream, head: RequestHead) -> Receiver:
        """Who takes what comes of a new request. What cannot be a call, or may not be one, is answered at once."""
        asked = head.note
        if not isinstance(asked, _Asked):
            asked = head.note = self._asked_method(head)
        method, refusal = asked.method, asked.refusal
        if method is not None:
            try:
                self._admit(head, method)
            except Exception as error:
                refusal = refusal_of(*status_of(error))
        if method is None or refusal:
            stream.send(tail=refusal)
            return REFUSED
        self._calls += 1
        if isinstance(method, UnaryMethod):
            return UnaryCall(stream, asked.rules, self._over, method)
        return StreamingCall(stream, asked.rules, self._over, method)

    def refuse(self, stream: Stream, text: str) -> Receiver:
        """Answers a request whose headers are too large."""
        stream.send(tail=refusal_of(_RESOURCE_EXHAUSTED, f"received metadata size exceeds limit: {text}"))
        return REFUSED

    def _over(self) -> None:
        self._calls -= 1

    def _admit(self, head: RequestHead, method: Method) -> None:
        """Raises what keeps a call from being worked on."""
        if method.authorize is not everybody:
            method.authorize(metadata_of(head.fields))
        most = self._options.most_calls
        if most is not None and self._calls >= most:
            raise ResourceExhaustedError(f"Concurrent RPC limit exceeded: {most} calls are being worked on")

    def _asked_method(self, head: RequestHead) -> _Asked:
        fields = dict(head.fields)
        if head.method != b"POST":
            return _Asked(None, CallRules(), _NOT_POSTED)
        if not is_grpc(fields.get(b"content-type", b"")):
            return _Asked(None, CallRules(), _NOT_GRPC)
        try:
            return _Asked(self._method(head.path), self._rules(fields))
        except TensorKeepError as error:
            return _Asked(None, CallRules(), refusal_of(*status_of(error)))

    def _method(self, path: bytes) -> Method:
        method = self._methods.get(path)
        if method is None:
            raise UnimplementedError(f"Method not found: {path.decode('latin-1')}")
        return method

    def _rules(self, fields: Mapping[bytes, bytes]) -> CallRules:
        transfer = self._options.transfer
        encoding = fields.get(b"grpc-encoding", IDENTITY)
        check_encoding(encoding)
        timeout = fields.get(b"grpc-timeout")
        accepted: Sequence[bytes] = fields.get(b"grpc-accept-encoding", b"").replace(b" ", b"").split(b",")
        return CallRules(
            timeout=None if timeout is None else timeout_of(timeout),
            encoding=encoding,
            answer_encoding=transfer.answer_encoding if transfer.answer_encoding in accepted else IDENTITY,
            most_received=transfer.most_received,
            most_sent=transfer.most_sent,
        )
