"""NumPy and what comes with it, imported when first used: to name types and to list a checkpoint takes neither.

Importing NumPy takes longer than all the rest of a small command.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING

if _TYPE_CHECKING:
    import ml_dtypes as ml_dtypes
    import numpy as np

_MODULES = {"ml_dtypes": "ml_dtypes", "np": "numpy"}

if not _TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = _import_module(_MODULES[name])
        globals()[name] = found
        return found


__all__ = ["ml_dtypes", "np"]
