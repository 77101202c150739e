"""Models of Keras 3 (`.keras`): their weights, read by h5py (the extra `convert`) where they lie in the archive.

    archive   zip: metadata.json  config.json  model.weights.h5  assets/…
    weights   HDF5: <object>/vars/<number>, of each object the attribute "name" of its group "vars"

What the variables are called is the rule of `keras_names`. No Python in a configuration is run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.reader import TensorInfo
from tensorkeep.checkpoint.slices.tensor_slice import Box
from tensorkeep.convert.hdf5 import HDF5_ERRORS, arrays_of, datasets_in, named_objects
from tensorkeep.convert.hub import OpenTensors, StoredArray, TensorSource, listed_names
from tensorkeep.convert.keras_names import NamedVariables, named_variables
from tensorkeep.convert.zip_files import Member, members_of, names_in_archive
from tensorkeep.embedding.formats.streams import Input
from tensorkeep.errors import DataLossError, TensorKeepError
from tensorkeep.io.files.archives import unpack_to_file
from tensorkeep.io.files.filesystem import FileSystem, RandomAccessFile
from tensorkeep.io.files.hdf5_images import imported_h5py

_CONFIG: Final = "config.json"
_METADATA: Final = "metadata.json"
_WEIGHTS: Final = "model.weights.h5"
_MOST_CONFIG: Final = 1 << 28  # bytes
_MOST_UNPACKED: Final = 100  # times as much as is packed: weights are no text
_SLACK: Final = 1 << 28
_CHUNK: Final = 1 << 20


class KerasFormat:
    """Archives of Keras 3."""

    name = "keras"
    endings = (".keras",)

    def holds(self, path: str, fs: FileSystem) -> bool:
        return {_CONFIG, _METADATA} <= set(names_in_archive(path, fs) or ())

    def open_source(self, path: str, fs: FileSystem) -> TensorSource:
        h5py = imported_h5py()
        with ExitStack() as stack:
            file = fs.open(path)
            stack.callback(file.close)
            members = members_of(file)
            if missing := [name for name in (_CONFIG, _WEIGHTS) if name not in members]:
                raise DataLossError(
                    f'"{path}" is no model of Keras 3, or is damaged: it has no "{missing[0]}"; it has '
                    f"{listed_names(list(members))}"
                )
            config = _parsed_json(members[_CONFIG], path)
            weights = _open_weights(h5py, file, members[_WEIGHTS], stack)
            arrays, others, named = _read_names(h5py, weights, config, f"{path}/{_WEIGHTS}")
            check = cache(lambda: _require_checksum(members[_WEIGHTS]))
            close = stack.pop_all().close
        checked = {name: _CheckedArray(array, check) for name, array in arrays.items()}
        return OpenTensors(path, self.name, checked, close, others, tuple(named.remarks()))


def _parsed_json(member: Member, path: str) -> object:
    try:
        return json.loads(member.read(_MOST_CONFIG))
    except (ValueError, RecursionError) as error:
        raise DataLossError(f'"{path}": "{member.name}" is no JSON: {error}') from None


def _open_weights(h5py: Any, file: RandomAccessFile, member: Member, stack: ExitStack) -> Any:
    """The weights as they lie in the archive; packed ones are unpacked to a file, for HDF5 is not read in order."""
    if member.offset is not None:
        given: Any = Input(file, member.offset, member.size)
    else:
        given = unpack_to_file(
            _pieces(member), f'"{member.name}" in "{file.path}"', most=_most_unpacked(member, file.path)
        )
        stack.callback(given.close)
    try:
        return stack.enter_context(h5py.File(given, "r"))
    except HDF5_ERRORS as error:
        raise DataLossError(f'"{file.path}": "{member.name}" cannot be read as HDF5: {error}') from error


def _most_unpacked(member: Member, path: str) -> int:
    most = _MOST_UNPACKED * member.packed_size + _SLACK
    if member.size > most:
        raise DataLossError(
            f'"{path}": "{member.name}" says that {member.packed_size:,} bytes unpack to {member.size:,}, more than '
            f"{most:,}: if that is what it shall be, unpack it yourself, and read the .h5 file"
        )
    return most


def _pieces(member: Member) -> Iterator[bytes]:
    """What is in a member, in order; DataLossError with the last of it if its checksum is wrong."""
    with member.opened() as file:
        while data := file.read(_CHUNK):
            yield data


def _require_checksum(member: Member) -> None:
    """Reads a member that is not packed to its end, which compares its checksum, as HDF5 has none of its own. A packed
    one was compared when it was unpacked.
    """
    if member.offset is not None:
        for _ in _pieces(member):
            pass


def _read_names(
    h5py: Any, file: Any, config: object, path: str
) -> tuple[dict[str, StoredArray], dict[str, str], NamedVariables]:
    """The tensors by name, what is no tensor, and what there is to say of the names."""
    try:
        datasets = dict(datasets_in(h5py, file))
        named = named_variables(named_objects(h5py, file, datasets), datasets, config)
        arrays, others = arrays_of(h5py, {named.names[key]: item for key, item in datasets.items()}, path)
    except TensorKeepError:
        raise
    except HDF5_ERRORS as error:
        raise DataLossError(f'"{path}" cannot be read as HDF5: {error}') from error
    return dict(arrays), others, named


@dataclass(frozen=True)
class _CheckedArray:
    """A tensor in an archive, whose checksum is compared before the first elements are read."""

    base: StoredArray
    check: Callable[[], None]

    @property
    def info(self) -> TensorInfo:
        return self.base.info

    def read(self, box: Box) -> Array:
        self.check()
        return self.base.read(box)

    def chunks(self) -> Iterator[Array]:
        self.check()
        yield from self.base.chunks()


KERAS: Final = KerasFormat()
