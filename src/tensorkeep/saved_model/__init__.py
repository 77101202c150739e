"""SavedModel directories.

`from_checkpoint`, `from_function` and `from_layers` write one; `layers` has what the last of them is told. They are
imported when they are first asked for.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from tensorkeep._lazy import on_first_use as _on_first_use

if _TYPE_CHECKING:
    from tensorkeep.saved_model import layers as layers
    from tensorkeep.saved_model.export.graph_exporting import from_checkpoint, from_function
    from tensorkeep.saved_model.export.layer_exporting import Input, from_layers

_NAMES = {
    "export.graph_exporting": "from_checkpoint from_function",
    "export.layer_exporting": "Input from_layers",
}

if not _TYPE_CHECKING:
    __getattr__, __dir__ = _on_first_use(globals(), _NAMES, ("layers",))

__all__ = ["Input", "from_checkpoint", "from_function", "from_layers", "layers"]
