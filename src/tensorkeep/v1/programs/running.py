"""A program run as Python runs it, with TensorFlow's names ours: `tensorkeep run`, `python -m tensorkeep.v1`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import SourceFileLoader
from types import ModuleType, TracebackType
from typing import Final, NamedTuple

from tensorkeep.io.coding.text_and_bytes import as_bytes
from tensorkeep.io.files.gfile_object import GFile
from tensorkeep.io.files.paths import absolute_path, with_slashes
from tensorkeep.v1.programs.causes import cause_of
from tensorkeep.v1.programs.finding import install

_FAILED: Final = 1
_INTERRUPTED: Final = 130


class Ending(NamedTuple):
    """How a program ended: its exit code, what it says with it, and what is known of why it stopped."""

    code: int
    said: str | None = None
    cause: str | None = None


def read_program(path: str) -> bytes:
    """The source of a program; MissingFileError if there is none."""
    with GFile(path, "rb") as file:
        return as_bytes(file.read())


def run_program(path: str, arguments: Sequence[str]) -> Ending:
    """Runs a file as Python does: as `__main__`, with its folder first in `sys.path` and its own command line.

    What it raises goes to `sys.excepthook`, without the frames that are ours.
    """
    source = read_program(path)
    install()
    sys.argv[:] = [path, *arguments]
    sys.path.insert(0, with_slashes(absolute_path(path)).rpartition("/")[0])
    main = _main_module(path)
    try:
        exec(compile(source, path, "exec", dont_inherit=True), vars(main))
    except SystemExit as ending:
        return _ending_of_exit(ending)
    except BaseException as error:
        return _report_error(error)
    return Ending(0)


def _main_module(path: str) -> ModuleType:
    """An empty module for the program, which is `__main__` from now on."""
    main = ModuleType("__main__")
    main.__file__, main.__loader__ = path, SourceFileLoader("__main__", path)
    vars(main).update(__builtins__=__builtins__, __cached__=None)
    sys.modules["__main__"] = main
    return main


def _ending_of_exit(ending: SystemExit) -> Ending:
    """What Python makes of `sys.exit`: a number is the code, nothing is success, anything else is said and fails."""
    if ending.code is None or isinstance(ending.code, int):
        return Ending(ending.code or 0)
    return Ending(_FAILED, str(ending.code))


def _report_error(error: BaseException) -> Ending:
    own = _own_frames(error.__traceback__)
    sys.excepthook(type(error), error.with_traceback(own), own)
    return Ending(_INTERRUPTED if isinstance(error, KeyboardInterrupt) else _FAILED, cause=cause_of(error))


def _own_frames(trace: TracebackType | None) -> TracebackType | None:
    """The frames of a traceback from the program on."""
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    return trace
