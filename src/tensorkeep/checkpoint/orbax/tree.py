"""`_METADATA`: what is in a tree that Orbax has saved, and under which names it is stored.

    {"tree_metadata": {"('opt', '0', 'mu')": {
         "key_metadata":   [{"key": "opt", "key_type": 2}, {"key": "0", "key_type": 1}, {"key": "mu", "key_type": 2}],
         "value_metadata": {"value_type": "jax.Array", "skip_deserialize": false, …}}, …},
     "use_ocdbt": true, "use_zarr3": true, "store_array_data_equal_to_fill_value": true, …}

A leaf goes by its keys, joined by "/" here and by "." in the store. Texts are in `_strings.json`, by the latter name.
`None` and empty containers have no value, which `skip_deserialize` says.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Final

from tensorkeep.checkpoint.orbax.folders import MANIFEST, METADATA
from tensorkeep.errors import DataLossError, MissingFileError
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.io.machine.resources import available_memory

_STRINGS: Final = "_strings.json"
_TEXT: Final = "string"
_EMPTY: Final = {"None": "None", "Dict": "an empty dictionary", "List": "an empty list", "Tuple": "an empty tuple"}
_EXPANSION: Final = 32  # bytes of Python's objects, at most, for each byte of JSON


@dataclass(frozen=True)
class SavedTree:
    """A tree of arrays and other values."""

    folder: str
    is_ocdbt: bool
    is_zarr3: bool | None
    """Whether arrays are in zarr of version 3, and not 2; None if nothing says so."""
    has_all_chunks: bool
    """Whether every chunk was written. Otherwise those that are nothing but fill values were left out."""
    arrays: Mapping[str, str] | None
    """The names of arrays in the store, by their names in the tree; None if nothing says what is in the tree."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """The values of leaves that are text."""
    empty: Mapping[str, str] = field(default_factory=dict)
    """What the leaves without a value are, in words."""


def read_tree(folder: str, fs: FileSystem) -> SavedTree:
    """What is in the tree that was saved to a folder."""
    is_ocdbt = fs.exists(posixpath.join(folder, MANIFEST))
    path = posixpath.join(folder, METADATA)
    if not fs.exists(path):
        return SavedTree(folder, is_ocdbt, None, False, None)
    said = _read_json(path, fs)
    leaves = said.get("tree_metadata")
    if not isinstance(leaves, dict):
        raise DataLossError(f'"{path}" has no "tree_metadata", which says what is in the tree')
    arrays: dict[str, str] = {}
    texts: dict[str, str] = {}
    empty: dict[str, str] = {}
    for leaf in leaves.values():
        keys, kind, has_value = _leaf(leaf, path)
        name, stored = "/".join(keys), ".".join(keys)
        if name in arrays or name in texts or name in empty:
            raise DataLossError(f'"{path}": two leaves would be called "{name}", for a key of one of them has a "/"')
        if not has_value:
            empty[name] = _EMPTY.get(kind, f"{kind} without a value")
        elif kind == _TEXT:
            texts[name] = stored
        else:
            arrays[name] = stored
    return SavedTree(
        folder,
        is_ocdbt,
        bool(said.get("use_zarr3", False)),
        bool(said.get("store_array_data_equal_to_fill_value", False)),
        arrays,
        _texts(texts, folder, fs),
        empty,
    )


def _leaf(leaf: Any, path: str) -> tuple[list[str], str, bool]:
    """The keys of a leaf, what it is, and whether it has a value."""
    try:
        keys = [str(key["key"]) for key in leaf["key_metadata"]]
        value = leaf["value_metadata"]
        kind, has_value = str(value["value_type"]), not value.get("skip_deserialize", False)
    except (KeyError, TypeError, AttributeError) as error:
        raise DataLossError(f'"{path}": a leaf without keys and type ({type(error).__name__}: {error})') from None
    strange = [key for key in keys if not key.isprintable() or ".." in key.split("/")]
    if not keys or strange:
        raise DataLossError(f'"{path}": {keys} cannot be the keys of a leaf')
    return keys, kind, has_value


def _texts(stored: Mapping[str, str], folder: str, fs: FileSystem) -> dict[str, str]:
    path = posixpath.join(folder, _STRINGS)
    values = _read_json(path, fs) if stored else {}
    missing = [name for name, key in stored.items() if not isinstance(values.get(key), str)]
    if missing:
        raise DataLossError(f'"{path}" has no text for "{missing[0]}", which "{METADATA}" speaks of')
    return {name: values[key] for name, key in stored.items()}


def _read_json(path: str, fs: FileSystem) -> dict[str, Any]:
    """The dictionary in a file of JSON."""
    try:
        file = fs.open(path)
    except MissingFileError:
        raise DataLossError(f'"{path}" is missing, which belongs to the checkpoint') from None
    with closing(file):
        if file.size * _EXPANSION > available_memory():
            raise DataLossError(f'"{path}" has {file.size} bytes, and would take more memory than there is')
        data = bytes(file.read(0, file.size))
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise DataLossError(f'"{path}" is no JSON: {error}') from None
    if not isinstance(found, dict):
        raise DataLossError(f'"{path}": expected a dictionary, got {type(found).__name__}')
    return found
