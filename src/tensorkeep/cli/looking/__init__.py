"""Commands that look at files and change nothing.

any_tensors      what a path stands for in commands that look at tensors
checkpoints      `tensorkeep checkpoints`, and what JSON says of a checkpoint in a folder
diff             `tensorkeep diff`
graph            `tensorkeep graph`
list_tensors     `tensorkeep list`
print_tensor     `tensorkeep print`
report           `tensorkeep report`, and the page that `tensorkeep view --export` writes too
show             `tensorkeep show`
stats            `tensorkeep stats` and `health`
tensor_filters   the arguments by which tensors are chosen and sorted, which several commands have
verify           `tensorkeep verify`
view             `tensorkeep view`
what             `tensorkeep what`
"""
