"""SavedModel directories.

`from_checkpoint` and `from_function` write one. They are imported when they are first asked for.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING

if _TYPE_CHECKING:
    from tensorkeep.saved_model.exporting import from_checkpoint, from_function

_LATER = {
    "from_checkpoint": "tensorkeep.saved_model.exporting",
    "from_function": "tensorkeep.saved_model.exporting",
}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module 'tensorkeep.saved_model' has no attribute {name!r}")
    found: object = getattr(_import_module(_LATER[name]), name)
    globals()[name] = found
    return found


__all__ = ["from_checkpoint", "from_function"]
