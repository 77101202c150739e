"""`tf.app`: a program's `main`, called with what its flags leave of the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NoReturn

from tensorkeep.v1 import basic_flags, flags


def _parse_known(arguments: list[str] | None) -> list[str]:
    """What is no flag of the program; unknown flags are left in it, which absl would refuse."""
    given = flags.process_arguments() if arguments is None else arguments
    rest: list[str] = flags.FLAGS(given, known_only=True)
    return rest


def run(main: Callable[[list[str]], Any] | None = None, argv: list[str] | None = None) -> NoReturn:
    """Reads the command line and ends the program with the result of `main`, as `absl.app.run` does."""
    called = main or sys.modules["__main__"].main
    if flags.flag_library() is basic_flags:
        basic_flags.run(called, argv, _parse_known)
    import absl.app

    absl.app.run(called, argv=argv, flags_parser=_parse_known)
    raise AssertionError("absl.app.run ends the program")


__all__ = ["flags", "run"]
