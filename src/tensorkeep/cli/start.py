"""Where the program begins: all of it is imported here, so that Ctrl-C means the same while that goes on."""

from __future__ import annotations

import sys
from importlib import import_module

_INTERRUPTED = 130  # as in command.EXIT_CODES


def main() -> int:
    """Runs the program; gives its exit code."""
    try:
        code: int = import_module("tensorkeep.cli.main").main()
    except KeyboardInterrupt:
        sys.stderr.write("stopped: interrupted\n")
        return _INTERRUPTED
    return code
