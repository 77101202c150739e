"""The names by which people know the tensors of an object-based checkpoint: one for each variable, and each once.

The keys of such a checkpoint are paths through objects. The description of the objects that is stored with them also
has the name that each variable was given, which is what Keras and everybody else calls it:

    key                                           name
    variables/0/.ATTRIBUTES/VARIABLE_VALUE        sequential/conv2d/kernel
    _all_variables/3/.ATTRIBUTES/VARIABLE_VALUE   sequential/conv2d/kernel, once more

Whoever shows or converts tensors asks here. What has no name, or shares it with another variable, goes by its path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from tensorkeep.checkpoint.finding.file_names import OBJECT_GRAPH_KEY
from tensorkeep.checkpoint.objects.reader import VARIABLE_VALUE, ObjectGraph, RenamedReader, SavedAttribute
from tensorkeep.checkpoint.reader import CheckpointReader

# Keras 3 exports have every variable that a function uses once more in this list of the root: as the plain variable
# that the one of Keras wraps (keras/src/export/saved_model_export_archive.py, _filter_and_track_resources).
_SECOND_LIST: Final = "_all_variables/"


@dataclass(frozen=True)
class VariableNames:
    """What the tensors of an object-based checkpoint are called."""

    keys: Mapping[str, str]
    """The key of each tensor that has a name, by that name, in order."""
    copies: Mapping[str, str] = field(default_factory=dict)
    """Keys of tensors that hold a variable once more, with its name."""
    shared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Names that several variables were given, and the paths by which these go instead."""

    def by_key(self) -> dict[str, str]:
        """The name of the variable that each tensor holds, by its key."""
        return {**self.copies, **{key: name for name, key in self.keys.items()}}


def variable_names(reader: CheckpointReader) -> VariableNames | None:
    """What the tensors of an open checkpoint are called; None if it was not saved from objects."""
    if OBJECT_GRAPH_KEY not in reader:
        return None
    return _named_keys(
        ObjectGraph.read(reader).attributes, list(reader), lambda one, other: _is_same(reader, one, other)
    )


def named_variables(reader: CheckpointReader) -> CheckpointReader:
    """An object-based checkpoint by the names that its variables were given, each variable once.

    Any other checkpoint already is what it would be, and comes back as it is. Closing the view closes the reader.
    """
    names = variable_names(reader)
    return reader if names is None else RenamedReader(reader, names.keys)


def _named_keys(
    attributes: Iterable[SavedAttribute], stored: Iterable[str], is_same: Callable[[str, str], bool]
) -> VariableNames:
    """Decides what each of the stored keys is called."""
    saved, loose = _by_key(attributes, stored)
    bearers: dict[str, list[str]] = {}
    for key, item in saved.items():
        if item.full_name and item.attribute == VARIABLE_VALUE:
            bearers.setdefault(item.full_name, []).append(key)
    keys: dict[str, str] = {}
    copies: dict[str, str] = {}
    shared: dict[str, tuple[str, ...]] = {}
    for name, several in bearers.items():
        first = next((key for key in several if not key.startswith(_SECOND_LIST)), several[0])
        again = [key for key in several if key != first and key.startswith(_SECOND_LIST) and is_same(first, key)]
        if len(again) < len(several) - 1:
            shared[name] = tuple(saved[key].label for key in several)
        else:
            keys[name] = first
            copies.update(dict.fromkeys(again, name))
    for key, item in saved.items():
        if key not in copies and keys.get(item.full_name) != key:
            label = item.label + key[len(item.key) :]
            keys[label if label not in keys else key] = key
    keys.update((key, key) for key in loose if key != OBJECT_GRAPH_KEY)
    return VariableNames(dict(sorted(keys.items())), copies, shared)


def _by_key(attributes: Iterable[SavedAttribute], stored: Iterable[str]) -> tuple[dict[str, SavedAttribute], list[str]]:
    """The object attribute that each stored key holds, by key; and the keys that no object knows of.

    A table saves its keys and values as two tensors whose names continue the one that the objects tell.
    """
    known = {item.key: item for item in attributes}
    there = list(stored)
    tables = {key: known[key] for key in known.keys() - set(there)}
    saved: dict[str, SavedAttribute] = {}
    loose: list[str] = []
    for key in there:
        item = known.get(key) or tables.get(key.rpartition("-")[0])
        if item is None:
            loose.append(key)
        else:
            saved[key] = item
    return saved, loose


def _is_same(reader: CheckpointReader, one: str, other: str) -> bool:
    """Whether two tensors are equal: by type, shape and checksum where there is one, else by their elements."""
    first, second = reader[one], reader[other]
    if first != second or first.slices:
        return False
    places = dict(reader.places([one, other]))
    if places[one] and places[other]:
        (left,), (right,) = places[one], places[other]
        return (left.size, left.checksum) == (right.size, right.checksum)
    return reader.read(one).tobytes() == reader.read(other).tobytes()
