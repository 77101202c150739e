"""A program run as Python runs it, with TensorFlow's names ours: `tensorkeep run`, `python -m tensorkeep.v1`."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import find_spec
from types import ModuleType, TracebackType
from typing import Final, NamedTuple

from tensorkeep.errors import InvalidArgumentError, MissingFileError
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
    if path.endswith(".ipynb"):
        raise InvalidArgumentError(
            f'"{path}" is a notebook: put `import tensorkeep.v1; tensorkeep.v1.install()` into its first cell and run '
            "it as any other, or make a program of it by `jupyter nbconvert --to script`"
        )
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
    return _ending_of(lambda: exec(compile(source, path, "exec", dont_inherit=True), vars(main)))


def run_module(name: str, arguments: Sequence[str]) -> Ending:
    """Runs a module as `python -m` does: by its name, with the current folder first in `sys.path`."""
    module_file(name)
    install()
    sys.argv[:] = [name, *arguments]
    sys.path.insert(0, absolute_path("."))
    return _ending_of(lambda: runpy.run_module(name, run_name="__main__", alter_sys=True))


def module_file(name: str) -> str:
    """The file that `python -m` runs for a module, or of a package its `__main__`; MissingFileError if there is none.

    Nothing is imported, not the packages that the module is in either: whoever only asks runs nothing of a program.
    """
    found = _find_module(name)
    if found is not None and found.submodule_search_locations is not None:
        found = _find_module(f"{name}.__main__")
    if found is None or not found.origin:
        raise MissingFileError(f'there is no module "{name}" to be run, in the current folder or installed')
    return found.origin


def _find_module(name: str) -> ModuleSpec | None:
    """Where a module is; None if it, or a package that it would be in, is not there."""
    package, _, last = name.rpartition(".")
    if not last:
        return None
    if not package:
        return PathFinder.find_spec(name, [absolute_path(".")]) or find_spec(name)
    above = _find_module(package)
    if above is None or above.submodule_search_locations is None:
        return None
    return PathFinder.find_spec(name, above.submodule_search_locations)


def _ending_of(run: Callable[[], object]) -> Ending:
    try:
        run()
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
    while trace is not None and trace.tb_frame.f_code.co_filename in (__file__, runpy.__file__, "<frozen runpy>"):
        trace = trace.tb_next
    return trace
