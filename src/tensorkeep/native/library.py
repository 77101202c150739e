"""The compiled library: found and loaded when it is first asked for, and done without where it is absent.

The C++ beside this file is compiled when tensorkeep is installed, if there is a compiler. What comes of it is no module
of Python's but a plain shared library, called through ctypes, which lets other threads run Python meanwhile; so
building it takes no headers of Python's, and one binary serves all versions of Python.

`TENSORKEEP_NATIVE=0` in the environment turns it off.
"""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any, Final, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from tensorkeep.io.machine.resources import environment_variable

SWITCH: Final = "TENSORKEEP_NATIVE"

_INTERFACE: Final = 14  # what native.cpp says it is; a library that was built from another one is not called
_REBUILD: Final = "reinstall tensorkeep to build it"

Address: TypeAlias = "ctypes.Array[ctypes.c_char]"

# Where an array's elements are, as an argument of a compiled function that keeps the array alive. An array that is not
# in C order, or not writable, is refused with an exception. No way is cheaper: a seventh of `array.ctypes.data`.
address: Final = cast("Callable[[npt.NDArray[Any]], Address]", (ctypes.c_char * 0).from_buffer)


@dataclass(frozen=True, slots=True)
class Native:
    """The library, or None; and in a few words whether it is in use, and why not."""

    library: ctypes.CDLL | None
    state: str


@cache
def native() -> Native:
    """The compiled library, loaded at the first call. Never raises: without it, NumPy does the work.

    One that was built from other source is warned of, once: whoever has it does not know that it is not used.
    """
    if environment_variable(SWITCH) == "0":
        return Native(None, f"turned off by {SWITCH}=0")
    found = find_spec("tensorkeep.native._compiled")
    if found is None or found.origin is None:
        return Native(None, f"not built, for want of a C++ compiler when tensorkeep was installed; {_REBUILD}")
    return _load_library(found.origin)


def _load_library(path: str) -> Native:
    try:
        library = ctypes.CDLL(path)
        interface = int(library.tensorkeep_interface())
    except (OSError, AttributeError) as error:
        return Native(None, f"cannot be loaded: {error}; {_REBUILD}")
    if interface != _INTERFACE:
        state = f"out of date: interface {interface}, expected {_INTERFACE} ({path}); {_REBUILD}"
        warnings.warn(f"the native library is {state}. Until then NumPy does its work, slower", stacklevel=2)
        return Native(None, state)
    return Native(library, "in use")


# What a compiled function takes or gives: an address, bytes, a number of so many bits.
_KINDS: Final = {
    "p": ctypes.c_void_p,
    "b": ctypes.c_char_p,
    "i": ctypes.c_int32,
    "l": ctypes.c_int64,
    "w": ctypes.c_uint64,
    "d": ctypes.c_double,
}


def compiled_function(name: str, takes: str, gives: str = "") -> Callable[..., Any] | None:
    """A function of the library, with a letter of `_KINDS` for each argument and for the result, if it has one.

    None if the library is not there, or has no function of this name.
    """
    function = getattr(native().library, name, None)
    if function is not None:
        function.argtypes = [_KINDS[letter] for letter in takes]
        function.restype = _KINDS[gives] if gives else None
    return function


def functions_by_dtype(name: str, takes: str, gives: str = "") -> dict[np.dtype[Any], Callable[..., Any]]:
    """A function that the library has for float32 and for float64, by the dtype; empty where it has none."""
    types = ((np.dtype(np.float32), "float"), (np.dtype(np.float64), "double"))
    found = {dtype: compiled_function(f"{name}_{suffix}", takes, gives) for dtype, suffix in types}
    return {dtype: function for dtype, function in found.items() if function is not None}


def readable(array: npt.NDArray[Any]) -> Address:
    """The address of the elements in C order, for a function that only reads them: a copy's if need be."""
    flags = array.flags
    return address(array if flags.c_contiguous and flags.writeable else np.array(array, order="C"))
