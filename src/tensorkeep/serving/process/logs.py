"""What a server says of itself: lines on standard error, in the form of TensorFlow Serving's.

    2026-07-30 10:00:00.123456: I tensorkeep.serving] Running gRPC ModelServer at 0.0.0.0:8500 ...

`TF_CPP_MIN_LOG_LEVEL` says how much: 0 all (the default), 1 warnings and errors, 2 errors, 3 nothing but the end.
"""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Final

from tensorkeep.io.machine.resources import environment_variable

LEVEL: Final = "TF_CPP_MIN_LOG_LEVEL"
_LEVELS: Final = {"0": logging.INFO, "1": logging.WARNING, "2": logging.ERROR, "3": logging.CRITICAL}


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
    level = _LEVELS.get(environment_variable(LEVEL) or "0", logging.INFO)
    for name, least in (("tensorkeep", level), ("asyncio", level)):
        log = logging.getLogger(name)
        log.handlers = [handler]
        log.setLevel(least)
        log.propagate = False
