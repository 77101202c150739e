"""Starting a server, as one process or as several."""

from __future__ import annotations

import logging
from importlib import import_module
from importlib.util import find_spec
from typing import Final

from tensorkeep.errors import InvalidArgumentError, UnavailableError, UnimplementedError
from tensorkeep.io.machine.parallel import THREADS, processors
from tensorkeep.io.machine.resources import set_environment_variable
from tensorkeep.serving.process.logs import log_to_standard_error
from tensorkeep.serving.process.options import ServerOptions
from tensorkeep.serving.process.sockets import check_free, check_socket

LOG: Final = logging.getLogger("tensorkeep.serving")
_NEEDED: Final = ("httptools", "orjson")


def serve(options: ServerOptions) -> int:
    """Serves models until the process is told to stop; gives its status. Raises what keeps the server from starting."""
    check_installed()
    if options.workers < 1:
        raise InvalidArgumentError(f"there cannot be {options.workers} workers; expected 1 or more")
    if options.threads < 0:
        raise InvalidArgumentError(f"there cannot be {options.threads} threads; expected 1 or more, or 0 for any")
    if options.threads and options.workers == 1:
        set_environment_variable(THREADS, str(options.threads))
    log_to_standard_error()
    if options.workers > processors():
        LOG.warning(
            "%d workers share %d processors: each takes memory, and none is faster", options.workers, processors()
        )
    check_ports(options)
    # Imported when it is known which: the process that watches over workers needs none of what they compute with.
    if options.workers > 1:
        status: int = import_module("tensorkeep.serving.process.workers").supervise(options)
    else:
        status = import_module("tensorkeep.serving.process.server").serve_alone(options)
    return status


def check_installed() -> None:
    """UnimplementedError that says what to install, if something that a server needs is not there."""
    if missing := [name for name in _NEEDED if find_spec(name) is None]:
        raise UnimplementedError(
            f'serving needs packages that are not installed ({", ".join(missing)}): pip install "tensorkeep[serve]"'
        )


def check_ports(options: ServerOptions) -> None:
    """UnavailableError if another program listens where this one will, when the models are loaded."""
    listening = options.listening
    if listening.grpc_socket:
        check_socket(listening.grpc_socket, "--socket")
    if listening.grpc_port is not None:
        check_free(listening.host, listening.grpc_port, "--port")
    if listening.rest_port is not None:
        try:
            check_free(listening.host, listening.rest_port, "--rest-port")
        except UnavailableError:
            if not listening.rest_may_fail:
                raise
