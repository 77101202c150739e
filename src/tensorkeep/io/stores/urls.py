"""Where a URL leads.

    url = scheme "://" container "/" key
    s3://bucket/key             gs://bucket/key            memory://name/key
    az://container/key          abfss://container@account.dfs.core.windows.net/key
    http://host:port/key        https://host/key           read only

A key is taken literally, but for `.`, `..` and empty parts, which are tidied as in a path.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.files.paths import STORE_SCHEMES, split_scheme

_WEB = ("http", "https")


@dataclass(frozen=True, slots=True)
class StoreUrl:
    """A place in a store: an object, or the folder of those whose keys begin with it."""

    scheme: str
    container: str
    key: str

    @classmethod
    def parse(cls, text: str) -> StoreUrl:
        """What a URL says. InvalidArgumentError if it names no container, leads out of it, or carries a secret."""
        parts = split_scheme(text)
        if parts is None or parts[0] not in STORE_SCHEMES:
            raise InvalidArgumentError(f'"{text}" is not the URL of a store: those begin {known_schemes()}')
        scheme, container, rest = parts
        if not container:
            raise InvalidArgumentError(f'"{text}" names no bucket: expected {scheme}://BUCKET/PATH')
        if scheme in _WEB and ("@" in container or "?" in rest or "#" in rest):
            # Neither is shown: what stands there may be a password or a signature.
            raise InvalidArgumentError(
                f"a URL of {scheme}:// with a user, a query or a fragment is not served: give the plain URL, and what "
                "the server wants to know by tensorkeep.storage(url, headers=...)"
            )
        if "@" in container and ":" in container.partition("@")[0]:
            raise InvalidArgumentError(f"a password has no place in a URL of {scheme}://; see tensorkeep.storage")
        key = posixpath.normpath(rest.lstrip("/")) if rest.strip("/") else ""
        key = "" if key == "." else key
        if key == ".." or key.startswith("../") or "\0" in key or "\n" in key:
            raise InvalidArgumentError(f"{text!r} leads out of its bucket, or holds what no key can")
        return cls(scheme, container, key)

    @property
    def root(self) -> str:
        """The URL of the container."""
        return f"{self.scheme}://{self.container}"

    @property
    def is_read_only(self) -> bool:
        """Whether nothing can be written there."""
        return self.scheme in _WEB

    def __str__(self) -> str:
        return f"{self.root}/{self.key}" if self.key else self.root


def known_schemes() -> str:
    """The schemes of stores, as they are listed in messages."""
    return ", ".join(f"{scheme}://" for scheme in STORE_SCHEMES)
