# Written by tools/write_stubs.py. Where the names are is said in __init__.py.

from tensorkeep.saved_model import layers as layers
from tensorkeep.saved_model.export.graph_exporting import (
    from_checkpoint as from_checkpoint, from_function as from_function,
)
from tensorkeep.saved_model.export.layer_exporting import Input as Input, from_layers as from_layers

__all__: list[str]
