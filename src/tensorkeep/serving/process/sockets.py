"""The places where a server listens: whether they are free, and sockets that are bound to them."""

from __future__ import annotations

import errno
import posixpath
import socket
from typing import Final

from tensorkeep.errors import InvalidArgumentError, StorageError, UnavailableError
from tensorkeep.io.files.everywhere import FILES

ANYWHERE: Final = "0.0.0.0"
_LONGEST_PATH: Final = 103  # of a Unix socket, on all systems


def grpc_address(host: str, port: int) -> str:
    """What gRPC calls an address; all of IPv4 without a host, as the original."""
    return f"[{host}]:{port}" if ":" in host else f"{host or ANYWHERE}:{port}"


def check_port(port: int, option: str) -> None:
    """InvalidArgumentError for what is no port."""
    if not 0 < port < 1 << 16:
        raise InvalidArgumentError(f"{option} is {port}, expected a port from 1 to 65535, or 0 for none")


def check_socket(path: str, option: str) -> None:
    """InvalidArgumentError if there can be no Unix socket at a path."""
    if len(path.encode()) > _LONGEST_PATH:
        raise InvalidArgumentError(f'{option} is "{path}", which is longer than the {_LONGEST_PATH} bytes of a socket')
    folder = posixpath.dirname(path) or "."
    if not FILES.is_directory(folder):
        raise InvalidArgumentError(f'{option} is "{path}", and there is no folder "{folder}"')


def check_free(host: str, port: int, option: str) -> None:
    """Raises UnavailableError if another program listens there, whether or not it would share the port."""
    check_port(port, option)
    bound_socket(host, port, option, shared=False).close()


def bound_socket(host: str, port: int, option: str, *, shared: bool) -> socket.socket:
    """A socket that is bound and does not listen yet. Without a host it is for all addresses, those of IPv6 included.

    Sockets that are `shared` can be bound to the same port by several processes, and each gets some of the
    connections.
    """
    try:
        return _bound_socket(*_family_of(host, port), shared=shared)
    except OSError as error:
        if not host and error.errno in (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL):
            return _bound_to_ipv4(port, option, shared=shared)
        raise _explained_error(error, host, port, option) from error


def _bound_to_ipv4(port: int, option: str, *, shared: bool) -> socket.socket:
    try:
        return _bound_socket(socket.AF_INET, (ANYWHERE, port), shared=shared)
    except OSError as error:
        raise _explained_error(error, "", port, option) from error


def _family_of(host: str, port: int) -> tuple[socket.AddressFamily, tuple[str, int]]:
    if not host:
        return (socket.AF_INET6, ("::", port)) if socket.has_ipv6 else (socket.AF_INET, (ANYWHERE, port))
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    return family, (str(address[0]), port)


def _bound_socket(family: socket.AddressFamily, address: tuple[str, int], *, shared: bool) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0 if address[0] == "::" else 1)
        made.bind(address)
        made.setblocking(False)
    except BaseException:
        made.close()
        raise
    return made


def _explained_error(error: OSError, host: str, port: int, option: str) -> Exception:
    where = f"{host or 'all addresses'}, port {port}"
    if error.errno == errno.EADDRINUSE:
        return UnavailableError(f"{where}: another program listens there; choose another port by {option}")
    if error.errno == errno.EACCES:
        return StorageError(f"{where}: this user may not listen there; choose a port above 1023 by {option}")
    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
        return InvalidArgumentError(f'"{host}" is no address of this machine')
    return StorageError(f"{where}: {error.strerror or error}")
