"""Weights of Keras 3 in several files (`save_weights("model.weights.json", max_shard_size=5)`), by h5py.

    model.weights.json           {"metadata": {"total_size": n}, "weight_map": {"/layers/dense/vars": name or names}}
    model_00000.weights.h5 …     HDF5, beside it, as in `hdf5`; the variables of an object may be in several of them

What the variables are called is the rule of `keras_names`, without a configuration.
"""

from __future__ import annotations

import posixpath
from contextlib import ExitStack
from typing import Any, Final

from tensorkeep.convert.hdf5 import (
    HDF5_ERRORS,
    arrays_of,
    datasets_in,
    named_objects,
    opened_hdf5,
)
from tensorkeep.convert.hub import OpenTensors, TensorSource, head_of
from tensorkeep.convert.keras_names import named_variables
from tensorkeep.convert.shards import files_in_index
from tensorkeep.errors import DataLossError, TensorKeepError
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.io.files.hdf5_images import imported_h5py

_ENDING: Final = ".weights.json"
_PART: Final = ".weights.h5"


class KerasShardsFormat:
    """Weights of Keras 3 in several files, by the index beside them."""

    name = "keras-weights"
    endings = (_ENDING,)

    def holds(self, path: str, fs: FileSystem) -> bool:
        if not path.lower().endswith(_ENDING) or not head_of(path, fs).lstrip().startswith(b"{"):
            return False
        try:
            files = files_in_index(path, fs).values()
        except DataLossError:
            return False
        return all(name.endswith(_PART) for names in files for name in names)

    def open_source(self, path: str, fs: FileSystem) -> TensorSource:
        h5py = imported_h5py()
        index = files_in_index(path, fs)
        with ExitStack() as stack:
            opened = {}
            for name in dict.fromkeys(name for names in index.values() for name in names):
                opened[name] = opened_hdf5(h5py, posixpath.join(posixpath.dirname(path), name), fs)
                stack.callback(opened[name].close)
            datasets, objects = _united_datasets(h5py, path, opened)
            for group, names in index.items():
                _require(path, group, names, datasets)
            named = named_variables(objects, datasets)
            arrays, others = arrays_of(h5py, {named.names[key]: item for key, (_, item) in datasets.items()}, path)
            return OpenTensors(path, self.name, arrays, stack.pop_all().close, others, tuple(named.remarks()))


def _united_datasets(h5py: Any, path: str, opened: dict[str, Any]) -> tuple[dict[str, tuple[str, Any]], dict[str, str]]:
    """The datasets of all files by their paths, each with its file; and the names of objects."""
    datasets: dict[str, tuple[str, Any]] = {}
    objects: dict[str, str] = {}
    for name, file in opened.items():
        try:
            inside = dict(datasets_in(h5py, file))
            own = named_objects(h5py, file, inside)
        except TensorKeepError:
            raise
        except HDF5_ERRORS as error:
            raise DataLossError(f'"{path}": "{name}" cannot be read as HDF5: {error}') from error
        if twice := sorted(inside.keys() & datasets.keys()):
            raise DataLossError(f'"{path}": both "{datasets[twice[0]][0]}" and "{name}" have "{twice[0]}"')
        datasets |= {key: (name, item) for key, item in inside.items()}
        objects = {**own, **objects}  # only the first file that has variables of an object says what it is called
    return datasets, objects


def _require(path: str, group: str, names: tuple[str, ...], datasets: dict[str, tuple[str, Any]]) -> None:
    """DataLossError unless each of these files has variables of a group."""
    below = f"{group.strip('/')}/"
    there = {file for key, (file, _) in datasets.items() if key.startswith(below)}
    if missing := [name for name in names if name not in there]:
        raise DataLossError(f'"{path}": "{missing[0]}" has no variables in "{group}", which it shall have')


KERAS_SHARDS: Final = KerasShardsFormat()
