"""Ray, found and started: the one place that imports it.

Ray is an extra (`pip install "tensorkeep[ray]"`), imported when it is first needed. Where we start a cluster, its
statistics of use are off; a cluster that somebody else has started is left as it is.
"""

from __future__ import annotations

import logging
import socket
from importlib import import_module
from typing import Any, Final

from tensorkeep.errors import InvalidArgumentError, UnavailableError, UnimplementedError
from tensorkeep.io.machine.resources import environment_variable, set_environment_variable

LOCAL_CLUSTER: Final = "local"
"""In the place of an address: a cluster of this machine, which ends with this process."""

_STATISTICS: Final = "RAY_USAGE_STATS_ENABLED"
_PATIENCE: Final = 10  # seconds that a cluster may take to answer
_STORE: Final = 256 << 20  # bytes of the object store of a cluster that we start


def ray_module() -> Any:
    """The module `ray`; UnimplementedError, which says how to install it, where there is none."""
    if not environment_variable(_STATISTICS):
        set_environment_variable(_STATISTICS, "0")  # before it is imported, and for the processes that it starts
    try:
        return import_module("ray")
    except ImportError as error:
        raise UnimplementedError(
            f"work on a cluster needs the package ray, which cannot be imported ({error}): "
            'pip install "tensorkeep[ray]"'
        ) from error


def connect(address: str | None = None, *, processors: int | None = None, store: int = _STORE) -> Any:
    """The module `ray`, connected to a cluster: the one at an address, or the one that this process is connected to.

    `"local"` starts one on this machine, with so many processors and an object store of so many bytes; without an
    address that is done too if `RAY_ADDRESS` names none. `"auto"` finds the one that runs on this machine.
    """
    ray = ray_module()
    if ray.is_initialized():
        return ray
    quiet = {"log_to_driver": False, "logging_level": logging.WARNING, "configure_logging": False}
    where = address or environment_variable("RAY_ADDRESS") or LOCAL_CLUSTER
    try:
        if where == LOCAL_CLUSTER:
            ray.init(
                address=LOCAL_CLUSTER,
                num_cpus=processors,
                object_store_memory=store,
                include_dashboard=False,
                **quiet,
            )
        else:
            _check_answers(where)
            ray.init(address=where, **quiet)
    except (ConnectionError, RuntimeError, OSError, TimeoutError) as error:
        raise UnavailableError(
            f'no Ray cluster answers at "{where}" ({_first_line(error)}): start one by `ray start --head`, name the '
            'address of one that runs (HOST:PORT, or "auto" on a machine of it), or say "local" for one of this '
            "machine that lasts as long as the command"
        ) from error
    except ValueError as error:
        raise InvalidArgumentError(
            f'"{where}" is no address of a Ray cluster: {_first_line(error)}; expected HOST:PORT, "auto" or "local"'
        ) from error
    return ray


def _check_answers(address: str) -> None:
    """OSError if nobody listens at HOST:PORT, which Ray itself finds out after minutes."""
    host, colon, port = address.rpartition(":")
    if colon and port.isdecimal() and "://" not in address:
        socket.create_connection((host.strip("[]"), int(port)), _PATIENCE).close()


def disconnect() -> None:
    """Leaves the cluster; one that `connect` started ends."""
    ray = ray_module()
    if ray.is_initialized():
        ray.shutdown()


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
