"""Bearer tokens: who may ask for anything but whether the server lives."""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from typing import Final

from tensorkeep.errors import InvalidArgumentError, UnauthenticatedError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.saved_model.files.layout import read_file

_SCHEME: Final = "bearer"


class Tokens:
    """The tokens of a file, one in each line. All comparisons take the same time, whatever is asked with."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._known: tuple[bytes, ...] = ()
        self.reread()

    def reread(self) -> None:
        """Takes the tokens that are in the file now."""
        lines = [line.strip() for line in read_file(self._path, FILES).splitlines()]
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

    def check_headers(self, headers: Mapping[str, str]) -> None:
        """The same for the headers of a request by HTTP."""
        self.check(headers.get("authorization"))

    def check_metadata(self, metadata: Sequence[tuple[str, str | bytes]]) -> None:
        """The same for what came with a call by gRPC."""
        given = next((value for key, value in metadata if key == "authorization"), None)
        self.check(given if isinstance(given, str) else None)
