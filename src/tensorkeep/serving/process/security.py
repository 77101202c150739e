"""What a server proves itself by, and who may ask it: certificates and keys, as contexts of Python's, one for gRPC and
one for HTTP; and bearer tokens.
"""

from __future__ import annotations

import hmac
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tensorkeep.errors import InvalidArgumentError, TensorKeepError, UnauthenticatedError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.passing_files import passing_file
from tensorkeep.proto.serving import SSLConfig
from tensorkeep.saved_model.files.layout import read_file
from tensorkeep.serving.life.configuration import read_configuration
from tensorkeep.serving.process.options import Security

# Those of TLS 1.2 that HTTP/2 does not advise against (RFC 9113, appendix A); TLS 1.3 has no others.
_CIPHERS: Final = "ECDHE+AESGCM:ECDHE+CHACHA20:DHE+AESGCM:DHE+CHACHA20"


@dataclass(frozen=True, slots=True)
class Certificates:
    """What a server proves itself by, and what it asks of its clients."""

    key: bytes
    certificate: bytes
    client_authorities: bytes = b""
    asks_clients: bool = False


def certificates_of(security: Security) -> Certificates | None:
    """What the options say; None for connections that are not protected."""
    if security.ssl_config_file:
        config = read_configuration(SSLConfig, security.ssl_config_file)
        return Certificates(
            config.server_key.encode(), config.server_cert.encode(), config.custom_ca.encode(), config.client_verify
        )
    if not (security.certificate_file and security.key_file):
        if security.certificate_file or security.key_file or security.client_ca_file:
            missing = "--tls-key" if security.certificate_file else "--tls-cert"
            raise InvalidArgumentError(f"TLS takes both --tls-cert and --tls-key, and there is no {missing}")
        return None
    authorities = read_file(security.client_ca_file, FILES) if security.client_ca_file else b""
    key, certificate = (read_file(path, FILES) for path in (security.key_file, security.certificate_file))
    return Certificates(key, certificate, authorities, bool(authorities))


def grpc_context(found: Certificates) -> ssl.SSLContext:
    """The certificates as Python's own servers take them, for connections of HTTP/2."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.set_ciphers(_CIPHERS)
    context.set_alpn_protocols(["h2"])
    try:
        with passing_file(found.certificate) as certificate, passing_file(found.key) as key:  # it takes files alone
            context.load_cert_chain(certificate, key)
    except (OSError, ValueError) as error:
        raise InvalidArgumentError(f"there is no certificate and its key in PEM: {_reason(error)}") from error
    if found.asks_clients:
        if not found.client_authorities:
            raise InvalidArgumentError("clients shall be verified, and there is no authority to verify them by")
        try:
            context.load_verify_locations(cadata=found.client_authorities.decode("ascii", "replace"))
        except (OSError, ValueError) as error:
            raise InvalidArgumentError(f"the authorities of clients are no certificates: {_reason(error)}") from error
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def http_context(security: Security) -> ssl.SSLContext | None:
    """The certificates as Python's own servers take them; None where HTTP is not protected.

    An `ssl_config_file` is for gRPC alone, as the original's.
    """
    if security.ssl_config_file or not security.certificate_file:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(security.certificate_file, security.key_file)
    except (OSError, ValueError) as error:
        raise InvalidArgumentError(
            f'"{security.certificate_file}" (--tls-cert) and "{security.key_file}" (--tls-key) are no certificate and '
            f"its key in PEM: {_reason(error)}"
        ) from error
    try:
        if security.client_ca_file:
            context.load_verify_locations(security.client_ca_file)
    except (OSError, ValueError) as error:
        raise InvalidArgumentError(
            f'"{security.client_ca_file}" (--client-ca) holds no certificates in PEM: {_reason(error)}'
        ) from error
    context.verify_mode = ssl.CERT_REQUIRED if security.client_ca_file else ssl.CERT_NONE
    context.set_alpn_protocols(["http/1.1"])
    return context


def _reason(error: Exception) -> str:
    return str(getattr(error, "reason", None) or error).replace("_", " ").lower()


def check_certificates(security: Security) -> Certificates | None:
    """The certificates, if all that will be made of them can be made; else what is wrong, before models are loaded."""
    try:
        found = certificates_of(security)
    except TensorKeepError as error:
        raise InvalidArgumentError(f"the certificates cannot be used: {error}") from error
    http_context(security)
    if found is not None:
        _check_usable(found)
    return found


def _check_usable(found: Certificates) -> None:
    try:
        grpc_context(found)
    except InvalidArgumentError as error:
        raise InvalidArgumentError(f"the certificates cannot be used: {error}") from error


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
