# Written by tools/write_stubs.py. Where the names are is said in __init__.py.

from tensorkeep.saved_model import layers
from tensorkeep.saved_model.edit.directory_edits import (
    change_variables, extract_assets, freeze_model, replace_asset, rewrite_model,
)
from tensorkeep.saved_model.edit.freezing import freeze_saved_model
from tensorkeep.saved_model.edit.message_edits import (
    add_input, add_output, add_signature, drop_input, drop_meta_graph, drop_objects, drop_output, drop_signature,
    rename_asset, rename_input, rename_output, rename_signature, replace_method_name, replace_tags, set_signature,
    strip_default_attrs, strip_devices,
)
from tensorkeep.saved_model.edit.meta_graph_pruning import prune_to_signature, prune_to_signatures
from tensorkeep.saved_model.export.graph_exporting import from_checkpoint, from_function
from tensorkeep.saved_model.export.layer_exporting import Input, from_layers
from tensorkeep.saved_model.files.layout import describe_model, read_saved_model
from tensorkeep.saved_model.files.warmup import read_warmup_requests, write_warmup_requests
from tensorkeep.saved_model.scan.model_scan import scan_model
from tensorkeep.saved_model.scan.report import Finding, ScanPolicy, ScanReport

__all__ = [
    "Finding", "Input", "ScanPolicy", "ScanReport", "add_input", "add_output", "add_signature", "change_variables",
    "describe_model", "drop_input", "drop_meta_graph", "drop_objects", "drop_output", "drop_signature",
    "extract_assets", "freeze_model", "freeze_saved_model", "from_checkpoint", "from_function", "from_layers",
    "layers", "prune_to_signature", "prune_to_signatures", "read_saved_model", "read_warmup_requests", "rename_asset",
    "rename_input", "rename_output", "rename_signature", "replace_asset", "replace_method_name", "replace_tags",
    "rewrite_model", "scan_model", "set_signature", "strip_default_attrs", "strip_devices", "write_warmup_requests",
]
