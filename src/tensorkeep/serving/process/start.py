"""Starting a server, as one process or as several, and the lines that it writes to standard error from then on.

They have the form of TensorFlow Serving's:

    2026-07-30 10:00:00.123456: I tensorkeep.serving] Running gRPC ModelServer at 0.0.0.0:8500 ...

`TF_CPP_MIN_LOG_LEVEL` says how much: 0 all (the default), 1 warnings and errors, 2 errors, 3 nothing but the end.
"""

from __future__ import annotations

import logging
from datetime import datetime
from importlib import import_module
from importlib.util import find_spec
from typing import Final

from tensorkeep.errors import InvalidArgumentError, UnavailableError, UnimplementedError
from tensorkeep.io.machine.parallel import THREADS, processors
from tensorkeep.io.machine.resources import environment_variable, set_environment_variable
from tensorkeep.serving.process.options import ServerOptions
from tensorkeep.serving.process.sockets import check_free, check_socket

LOG: Final = logging.getLogger("tensorkeep.serving")
_NEEDED: Final = ("httptools", "orjson")


_LEVEL: Final = "TF_CPP_MIN_LOG_LEVEL"
_LEVELS: Final = {"0": logging.INFO, "1": logging.WARNING, "2": logging.ERROR, "3": logging.CRITICAL}


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


class LineFormatter(logging.Formatter):
    """A record as a line of the original's form."""

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created).strftime("%Y-%m-%d %H:%M:%S.%f")
        text = record.getMessage()
        if record.exc_info:
            text = f"{text}\n{self.formatException(record.exc_info)}"
        return f"{moment}: {record.levelname[0]} {record.name}] {text}"


def log_to_standard_error() -> None:
    """Has the lines of all of the package, and of what it serves by, go to standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(LineFormatter())
    level = _LEVELS.get(environment_variable(_LEVEL) or "0", logging.INFO)
    for name, least in (("tensorkeep", level), ("asyncio", level)):
        log = logging.getLogger(name)
        log.handlers = [handler]
        log.setLevel(least)
        log.propagate = False
