# Written by tools/write_stubs.py. Where the names are is said in __init__.py.

from tensorkeep.edit.combining import (
    Conflict as Conflict, average as average, exponential_weights as exponential_weights, interpolate as interpolate,
    merge as merge,
)
from tensorkeep.edit.forms import (
    Deduplicated as Deduplicated, convert_format as convert_format, dedupe as dedupe,
    names_to_objects as names_to_objects, objects_to_names as objects_to_names, split as split,
)
from tensorkeep.edit.names import (
    AddScope as AddScope, RenameExactly as RenameExactly, RenamePattern as RenamePattern, Renaming as Renaming,
    Selection as Selection, StripScope as StripScope,
)
from tensorkeep.edit.plan import (
    EditOptions as EditOptions, Made as Made, Origin as Origin, Plan as Plan, Stored as Stored, Written as Written,
    write_plan as write_plan,
)
from tensorkeep.edit.repairing import (
    Garbage as Garbage, RepairedState as RepairedState, Salvaged as Salvaged, find_garbage as find_garbage,
    remove_garbage as remove_garbage, repair_state as repair_state, salvage as salvage,
)
from tensorkeep.edit.selecting import (
    NameChanges as NameChanges, drop as drop, keep as keep, optimizer_state as optimizer_state, rename as rename,
    strip_optimizer as strip_optimizer, swap_averages as swap_averages,
)
from tensorkeep.edit.values import cast as cast, set_tensors as set_tensors
from tensorkeep.io.showing.progress import Progress as Progress

__all__: list[str]
