"""`tf.logging`: TensorFlow's names for Python's logging."""

from __future__ import annotations

import logging
from logging import DEBUG, ERROR, FATAL, INFO, WARN
from typing import Any

_LOGGER = logging.getLogger("tensorkeep")

debug, info, warn, warning, error, fatal, log = (
    _LOGGER.debug,
    _LOGGER.info,
    _LOGGER.warning,
    _LOGGER.warning,
    _LOGGER.error,
    _LOGGER.critical,
    _LOGGER.log,
)


def get_verbosity() -> int:
    return _LOGGER.getEffectiveLevel()


def set_verbosity(v: int) -> None:
    """Logs what is at least as grave as a level: to the program's own handlers, else to standard error."""
    _LOGGER.setLevel(v)
    if not _LOGGER.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter(logging.BASIC_FORMAT))
        # A program may get handlers later, as `absl.app.run` gives it one: each message is shown once.
        handler.addFilter(lambda record: not logging.getLogger().handlers)
        _LOGGER.addHandler(handler)


def vlog(level: int, msg: str, *args: object, **kwargs: Any) -> None:
    _LOGGER.log(level, msg, *args, **kwargs)


def TaskLevelStatusMessage(msg: str) -> None:  # noqa: N802 - TensorFlow's name
    error(msg)


def log_first_n(level: int, msg: str, n: int, *args: object) -> None:
    log_if(level, msg, _count_message(msg) <= n, *args)


def log_every_n(level: int, msg: str, n: int, *args: object) -> None:
    log_if(level, msg, (_count_message(msg) - 1) % n == 0, *args)


def log_if(level: int, msg: str, condition: bool, *args: object) -> None:
    if condition:
        _LOGGER.log(level, msg, *args)


_COUNTS: dict[str, int] = {}


def _count_message(msg: str) -> int:
    _COUNTS[msg] = _COUNTS.get(msg, 0) + 1
    return _COUNTS[msg]


def flush() -> None:
    """Does nothing: no message is held back."""


__all__ = [
    "DEBUG",
    "ERROR",
    "FATAL",
    "INFO",
    "WARN",
    "TaskLevelStatusMessage",
    "debug",
    "error",
    "fatal",
    "flush",
    "get_verbosity",
    "info",
    "log",
    "log_every_n",
    "log_first_n",
    "log_if",
    "set_verbosity",
    "vlog",
    "warn",
    "warning",
]
