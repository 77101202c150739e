"""`tensorkeep saved-model`, and what checks models: `scan`, `sign`, `check`.

assets           `tensorkeep saved-model extract-assets` and `replace-asset`
ends             `tensorkeep saved-model add-input` and the like: the inputs and outputs of signatures
graphs           `tensorkeep saved-model retag`, `drop-tags`, `prune` and `strip`
model_arguments  the arguments by which a SavedModel and a meta graph in it are named
model_changes    commands that change a SavedModel
run              `tensorkeep saved-model run`
scan_many        `tensorkeep scan`
scan_one         `tensorkeep saved-model scan`
show             `tensorkeep saved-model show`
sign             `tensorkeep sign` and `check`
signatures       `tensorkeep saved-model add-signature`, `rename-signature` and `drop-signature`
variables        `tensorkeep saved-model freeze` and `set-variables`
warmup           `tensorkeep saved-model warmup`
"""
