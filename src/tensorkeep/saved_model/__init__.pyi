# Written by tools/write_stubs.py. Where the names are is said in __init__.py.

from tensorkeep.saved_model import layers
from tensorkeep.saved_model.export.graph_exporting import from_checkpoint, from_function
from tensorkeep.saved_model.export.layer_exporting import Input, from_layers

__all__ = [
    "Input", "from_checkpoint", "from_function", "from_layers", "layers",
]
