"""SavedModel directories.

`from_checkpoint`, `from_function` and `from_layers` write one; `layers` has what the last of them is told. They are
imported when they are first asked for.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING

if _TYPE_CHECKING:
    from tensorkeep.saved_model import layers as layers
    from tensorkeep.saved_model.exporting import from_checkpoint, from_function
    from tensorkeep.saved_model.layer_exporting import Input, from_layers

_LATER = {
    "Input": "tensorkeep.saved_model.layer_exporting",
    "from_checkpoint": "tensorkeep.saved_model.exporting",
    "from_function": "tensorkeep.saved_model.exporting",
    "from_layers": "tensorkeep.saved_model.layer_exporting",
}


def __getattr__(name: str) -> object:
    if name == "layers":
        return _import_module("tensorkeep.saved_model.layers")
    if name not in _LATER:
        raise AttributeError(f"module 'tensorkeep.saved_model' has no attribute {name!r}")
    found: object = getattr(_import_module(_LATER[name]), name)
    globals()[name] = found
    return found


__all__ = ["Input", "from_checkpoint", "from_function", "from_layers", "layers"]
