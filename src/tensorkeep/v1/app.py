"""`tf.app`: a program's `main`, called with what its flags leave of the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from tensorkeep.v1 import flags
from tensorkeep.v1.flag_kinds import BOOLEAN
from tensorkeep.v1.flag_values import Flag


class HelpFlag(Flag):
    """A flag that, given, ends the program with what its flags are for."""

    def __init__(self, name: str, program: str, short_name: str | None = None) -> None:
        super().__init__(BOOLEAN, name, False, "show this help", short_name)
        self._program = program

    def parse(self, argument: str) -> None:
        if self.convert(argument):
            raise SystemExit(usage(self._program))


def usage(program: str) -> str:
    """The text of the main module, or a line instead of it, and the flags."""
    text = getattr(sys.modules["__main__"], "__doc__", None) or f"\nUSAGE: {program} [flags]\n"
    return f"{text.replace('%s', program)}\nflags:\n\n{program}:\n{flags.FLAGS.get_help()}\n"


def _define_help(program: str) -> None:
    for name, short_name in (("help", "?"), ("helpshort", None), ("helpfull", None)):
        if name not in flags.FLAGS:
            flags.DEFINE_flag(HelpFlag(name, program, short_name))


def run(main: Callable[[list[str]], Any] | None = None, argv: Sequence[str] | None = None) -> NoReturn:
    arguments = flags.process_arguments() if argv is None else argv
    called = main or sys.modules["__main__"].main
    _define_help(arguments[0])
    sys.exit(called(flags.FLAGS(arguments, known_only=True)))


__all__ = ["flags", "run"]
