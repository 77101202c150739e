"""Bearer tokens: who may ask for anything but whether the server lives."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable
from typing import Final

import grpc

from tensorkeep.errors import InvalidArgumentError, UnauthenticatedError
from tensorkeep.io.files.local import LOCAL
from tensorkeep.saved_model.files.layout import read_file

_SCHEME: Final = "bearer"
_OPEN: Final = "/grpc.health.v1.Health/"
Handler = grpc.RpcMethodHandler
Continuation = Callable[[grpc.HandlerCallDetails], Awaitable[Handler]]


class Tokens:
    """The tokens of a file, one in each line. All comparisons take the same time, whatever is asked with."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._known: tuple[bytes, ...] = ()
        self.reread()

    def reread(self) -> None:
        """Takes the tokens that are in the file now."""
        lines = [line.strip() for line in read_file(self._path, LOCAL).splitlines()]
        known = tuple(line for line in lines if line and not line.startswith(b"#"))
        if not known:
            raise InvalidArgumentError(f'"{self._path}" holds no token: expected one in each line')
        self._known = known

    def check(self, authorization: str | None) -> None:
        """UnauthenticatedError unless the header of a request names one of the tokens."""
        scheme, _, token = (authorization or "").partition(" ")
        given = token.strip().encode("utf-8", "surrogateescape")
        matches = [hmac.compare_digest(given, known) for known in self._known]
        if scheme.lower() != _SCHEME or not any(matches):
            raise UnauthenticatedError("the request carries no valid token: expected 'Authorization: Bearer TOKEN'")


class TokenInterceptor(grpc.aio.ServerInterceptor):  # type: ignore[misc]
    """Refuses calls by gRPC that carry no token; asking for the server's health is free."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._refusal = grpc.unary_unary_rpc_method_handler(_refuse)

    async def intercept_service(self, continuation: Continuation, details: grpc.HandlerCallDetails) -> Handler:
        if details.method.startswith(_OPEN):
            return await continuation(details)
        given = next((value for key, value in details.invocation_metadata if key == "authorization"), None)
        try:
            self._tokens.check(given if isinstance(given, str) else None)
        except UnauthenticatedError:
            return self._refusal
        return await continuation(details)


async def _refuse(request: bytes, context: grpc.aio.ServicerContext) -> None:
    await context.abort(
        grpc.StatusCode.UNAUTHENTICATED, "the call carries no valid token: expected 'authorization: Bearer TOKEN'"
    )
