"""Functions of a program's own in configurations: by name, or as Python's bytecode.

Bytecode is written, as Keras writes it, and only read if this process has written the same: who can change a file could
otherwise have it do anything.
"""

from __future__ import annotations

import codecs
import marshal
from collections.abc import Mapping
from hashlib import sha256
from types import CellType, FunctionType, LambdaType
from typing import Any, Final

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.tf1.keras.named_objects import deserialize_keras_object


def function_as_text(function: Any) -> tuple[Any, str]:
    """A function as it is stored, and in which way: "lambda", "function", or "raw" for what is no function."""
    if isinstance(function, LambdaType) and function.__name__ == "<lambda>":
        return _code_as_text(function), "lambda"
    if callable(function):
        return function.__name__, "function"
    return function, "raw"


_OWN_CODE: Final[dict[bytes, dict[str, Any]]] = {}
"""By the digests of bytecode that this process has written, what was global to its functions."""


class _Code(tuple[Any, ...]):
    """Bytecode, default arguments and captured values of a function, which it still knows in this process."""

    function: Any


def _code_as_text(function: FunctionType) -> tuple[Any, ...]:
    code = codecs.encode(marshal.dumps(function.__code__), "base64").decode("ascii")
    _OWN_CODE[_digest(code)] = function.__globals__
    cells = None if function.__closure__ is None else tuple(cell.cell_contents for cell in function.__closure__)
    found = _Code((code, function.__defaults__, cells))
    found.function = function
    return found


def function_of_text(told: Any, kind: str | None, custom_objects: Mapping[str, Any] | None) -> Any:
    """The function that was stored: one by name is found among the program's own; bytecode is refused."""
    if kind == "function":
        return deserialize_keras_object(told, {}, custom_objects, "function in Lambda layer")
    if isinstance(told, _Code):
        return told.function
    if kind == "lambda" and not callable(told):
        if (found := _own_function(told)) is not None:
            return found
        raise InvalidArgumentError(
            "A Lambda layer whose function another process has stored as Python's bytecode is not loaded: that belongs "
            "to one version of Python, and could do anything. Give the layer a function with a name, and that name in "
            "`custom_objects`; or make the model by its code, and load its weights"
        )
    return told


def _own_function(told: Any) -> FunctionType | None:
    """The function that this process has stored as this bytecode; None if it has not."""
    if not (isinstance(told, list | tuple) and len(told) == 3 and isinstance(told[0], str)):
        return None
    code, defaults, cells = told
    space = _OWN_CODE.get(_digest(code))
    if space is None:
        return None
    given = None if defaults is None else tuple(defaults)
    captured = None if cells is None else tuple(map(CellType, cells))
    return FunctionType(marshal.loads(codecs.decode(code.encode("ascii"), "base64")), space, None, given, captured)


def _digest(code: str) -> bytes:
    return sha256(code.encode()).digest()
