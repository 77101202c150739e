"""Edits of checkpoints: a new checkpoint made of one or several others, which stay as they are.

    tensorkeep.edit.rename("bert/model", "mine/model", [tensorkeep.edit.StripScope("bert")])

What does not change is not written again: the new checkpoint shares the data files of the old one by hard links, so
that renaming and dropping take no time, however large the tensors are. Everything else goes through memory in small
pieces. A result appears whole or not at all.

Every name is imported when it is first asked for: rules about names do without NumPy.

    averaging    averages of the tensors of several checkpoints
    combining    edits that make one checkpoint of several: merged, averaged, or somewhere between two
    forms        edits that change how a checkpoint is laid out, not what it says
    names        rules about names: which tensors are meant, and what they shall be called
    object_keys  the object graph of a checkpoint, kept in step with the keys of its tensors
    plan         what an edited checkpoint shall hold, and how it is written
    records      rows of tables that lie beside a checkpoint, as records of an SSD tier
    repairing    what can be saved of what is damaged
    selecting    edits that change which tensors a checkpoint has and what they are called
    values       edits that change values: other types, other numbers
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from tensorkeep._lazy import on_first_use as _on_first_use

if _TYPE_CHECKING:
    from tensorkeep.edit.combining import Conflict, average, exponential_weights, interpolate, merge
    from tensorkeep.edit.forms import (
        Deduplicated,
        convert_format,
        dedupe,
        names_to_objects,
        objects_to_names,
        split,
    )
    from tensorkeep.edit.names import AddScope, RenameExactly, RenamePattern, Renaming, Selection, StripScope
    from tensorkeep.edit.plan import EditOptions, Made, Origin, Plan, Stored, Written, write_plan
    from tensorkeep.edit.repairing import (
        Garbage,
        RepairedState,
        Salvaged,
        find_garbage,
        remove_garbage,
        repair_state,
        salvage,
    )
    from tensorkeep.edit.selecting import (
        NameChanges,
        drop,
        keep,
        optimizer_state,
        rename,
        strip_optimizer,
        swap_averages,
    )
    from tensorkeep.edit.values import cast, set_tensors
    from tensorkeep.io.showing.progress import Progress

_NAMES = {
    "combining": "Conflict average exponential_weights interpolate merge",
    "forms": "Deduplicated convert_format dedupe names_to_objects objects_to_names split",
    "names": "AddScope RenameExactly RenamePattern Renaming Selection StripScope",
    "plan": "EditOptions Made Origin Plan Progress Stored Written write_plan",
    "repairing": "Garbage RepairedState Salvaged find_garbage remove_garbage repair_state salvage",
    "selecting": "NameChanges drop keep optimizer_state rename strip_optimizer swap_averages",
    "values": "cast set_tensors",
}

if not _TYPE_CHECKING:
    __getattr__, __dir__ = _on_first_use(globals(), _NAMES)

__all__ = [
    "AddScope",
    "Conflict",
    "Deduplicated",
    "EditOptions",
    "Garbage",
    "Made",
    "NameChanges",
    "Origin",
    "Plan",
    "Progress",
    "RenameExactly",
    "RenamePattern",
    "Renaming",
    "RepairedState",
    "Salvaged",
    "Selection",
    "Stored",
    "StripScope",
    "Written",
    "average",
    "cast",
    "convert_format",
    "dedupe",
    "drop",
    "exponential_weights",
    "find_garbage",
    "interpolate",
    "keep",
    "merge",
    "names_to_objects",
    "objects_to_names",
    "optimizer_state",
    "remove_garbage",
    "rename",
    "repair_state",
    "salvage",
    "set_tensors",
    "split",
    "strip_optimizer",
    "swap_averages",
    "write_plan",
]
