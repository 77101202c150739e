"""SavedModel directories.

`from_checkpoint`, `from_function` and `from_layers` write one; `layers` has what the last of them is told. They are
imported when they are first asked for.

    edit/    SavedModels made from SavedModels: pure functions of messages, and what writes the result
    export/  models made without TensorFlow
    files/   what lies in the folder of a SavedModel, and the messages in it
    layers/  layers as values: arrays and a few settings, for models that are made of weights
    load/    loading a model, and calling it: by signatures, by objects, or into a program's own session
    scan/    what a model can do besides computing, found without running any of it
    show/    models as text: what TensorFlow's command line shows of one
"""

from tensorkeep._lazy import on_first_use as _on_first_use

_NAMES = {
    "tensorkeep.saved_model": "layers",
    "tensorkeep.saved_model.export.graph_exporting": "from_checkpoint from_function",
    "tensorkeep.saved_model.export.layer_exporting": "Input from_layers",
}

__getattr__, __dir__, __all__ = _on_first_use(globals(), _NAMES)
