"""Commands that make checkpoints of checkpoints, and keep folders of them in order.

change_form         `tensorkeep split`, `convert-format`, `objects-to-names`, `names-to-objects` and `dedupe`
change_names        `tensorkeep rename`, `keep`, `drop`, `strip-optimizer` and `ema-swap`
change_values       `tensorkeep cast` and `set`
checkpoint_changes  commands that make a checkpoint of others
combine             `tensorkeep merge`, `average` and `interpolate`
convert_tensors     `tensorkeep convert` and `presets`
copy_files          `tensorkeep copy`
onnx_export         `tensorkeep convert` to ONNX
repair              `tensorkeep salvage`, `repair-state` and `gc`
retain              `tensorkeep retain`
"""
