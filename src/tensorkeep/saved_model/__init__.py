"""SavedModel directories.

`from_checkpoint`, `from_function` and `from_layers` write one; `layers` has what the last of them is told. Changes are
functions of a model (`rename_signature`, `strip_devices`, …) that `rewrite_model` applies to a folder; `scan_model`
says what a model can do. Names are imported when they are first asked for.

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
    "tensorkeep.saved_model.edit.directory_edits": (
        "change_variables extract_assets freeze_model replace_asset rewrite_model"
    ),
    "tensorkeep.saved_model.edit.freezing": "freeze_saved_model",
    "tensorkeep.saved_model.edit.message_edits": """
        add_input add_output add_signature drop_input drop_meta_graph drop_objects drop_output drop_signature
        rename_asset rename_input rename_output rename_signature replace_method_name replace_tags set_signature
        strip_default_attrs strip_devices
    """,
    "tensorkeep.saved_model.edit.meta_graph_pruning": "prune_to_signature prune_to_signatures",
    "tensorkeep.saved_model.export.graph_exporting": "from_checkpoint from_function",
    "tensorkeep.saved_model.export.layer_exporting": "Input from_layers",
    "tensorkeep.saved_model.files.layout": "describe_model read_saved_model",
    "tensorkeep.saved_model.files.warmup": "read_warmup_requests write_warmup_requests",
    "tensorkeep.saved_model.scan.model_scan": "scan_model",
    "tensorkeep.saved_model.scan.report": "Finding ScanPolicy ScanReport",
}

__getattr__, __dir__, __all__ = _on_first_use(globals(), _NAMES)
