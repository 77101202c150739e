"""Edits of checkpoints: a new checkpoint made of one or several others, which stay as they are.

    tensorkeep.edit.rename("bert/model", "mine/model", [tensorkeep.edit.StripScope("bert")])

What does not change is not written again: the new checkpoint shares the data files of the old one by hard links, so
that renaming and dropping take no time, however large the tensors are. Everything else goes through memory in small
pieces. A result appears whole or not at all.

Every name is imported when it is first asked for: rules about names do without NumPy.

    averaging    averages of the tensors of several checkpoints
    combining    edits that make one checkpoint of several: merged, averaged, or somewhere between two
    copying      checkpoints, models and other files copied, to and from stores too
    forms        edits that change how a checkpoint is laid out, not what it says
    names        rules about names: which tensors are meant, and what they shall be called
    object_keys  the object graph of a checkpoint, kept in step with the keys of its tensors
    plan         what an edited checkpoint shall hold, and how it is written
    records      rows of tables that lie beside a checkpoint, as records of an SSD tier
    repairing    what can be saved of what is damaged
    selecting    edits that change which tensors a checkpoint has and what they are called
    values       edits that change values: other types, other numbers
"""

from tensorkeep._lazy import on_first_use as _on_first_use

_NAMES = {
    "tensorkeep.edit.combining": "Conflict average exponential_weights interpolate merge",
    "tensorkeep.edit.copying": "Copied copy_files",
    "tensorkeep.edit.forms": "Deduplicated convert_format dedupe names_to_objects objects_to_names split",
    "tensorkeep.edit.names": "AddScope RenameExactly RenamePattern Renaming Selection StripScope",
    "tensorkeep.edit.plan": "EditOptions Made Origin Plan Stored Written write_plan",
    "tensorkeep.edit.repairing": "Garbage RepairedState Salvaged find_garbage remove_garbage repair_state salvage",
    "tensorkeep.edit.selecting": "NameChanges drop keep optimizer_state rename strip_optimizer swap_averages",
    "tensorkeep.edit.values": "cast set_tensors",
    "tensorkeep.io.showing.progress": "Progress",
}

__getattr__, __dir__, __all__ = _on_first_use(globals(), _NAMES)
