# Written by tools/write_stubs.py. Where the names are is said in __init__.py.

from tensorkeep.edit.combining import Conflict, average, exponential_weights, interpolate, merge
from tensorkeep.edit.copying import Copied, copy_files
from tensorkeep.edit.forms import Deduplicated, convert_format, dedupe, names_to_objects, objects_to_names, split
from tensorkeep.edit.names import AddScope, RenameExactly, RenamePattern, Renaming, Selection, StripScope
from tensorkeep.edit.plan import EditOptions, Made, Origin, Plan, Stored, Written, write_plan
from tensorkeep.edit.repairing import (
    Garbage, RepairedState, Salvaged, find_garbage, remove_garbage, repair_state, salvage,
)
from tensorkeep.edit.selecting import NameChanges, drop, keep, optimizer_state, rename, strip_optimizer, swap_averages
from tensorkeep.edit.values import cast, set_tensors
from tensorkeep.io.showing.progress import Progress

__all__ = [
    "AddScope", "Conflict", "Copied", "Deduplicated", "EditOptions", "Garbage", "Made", "NameChanges", "Origin",
    "Plan", "Progress", "RenameExactly", "RenamePattern", "Renaming", "RepairedState", "Salvaged", "Selection",
    "Stored", "StripScope", "Written", "average", "cast", "convert_format", "copy_files", "dedupe", "drop",
    "exponential_weights", "find_garbage", "interpolate", "keep", "merge", "names_to_objects", "objects_to_names",
    "optimizer_state", "remove_garbage", "rename", "repair_state", "salvage", "set_tensors", "split",
    "strip_optimizer", "swap_averages", "write_plan",
]
