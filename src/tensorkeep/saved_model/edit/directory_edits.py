"""SavedModels in directories, made from others: what `message_edits` decides, written in one step.

rewrite_model("m/1", "m/2", partial(rename_signature, old="serving_default", new="score"))

The new directory appears whole or not at all. A model that is changed in its own place is replaced in one step, file by
file: the model after what it needs. All that is not changed keeps its bytes. A model that had a
`fingerprint.pb` gets one that is right for what it has become.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tensorkeep.checkpoint.finding.file_names import OBJECT_GRAPH_KEY, index_path
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.objects.reader import VARIABLE_VALUE, ObjectGraph
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.checkpoint.saving import SaveOptions, save_checkpoint
from tensorkeep.checkpoint.sources import ArrayLike, ArraySource
from tensorkeep.dtypes import DType
from tensorkeep.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError, UnimplementedError
from tensorkeep.graph.rewriting.freezing import EVERYTHING, Selection
from tensorkeep.io.files.directories import StagedDirectory, copy_file, copy_tree, is_empty_directory
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import Durability, FileSystem, PathLike, atomic_write, path_text
from tensorkeep.proto.messages import SavedModel
from tensorkeep.proto.preserving import serialize_preserving
from tensorkeep.saved_model.edit.freezing import loaded_model
from tensorkeep.saved_model.edit.message_edits import asset_names
from tensorkeep.saved_model.edit.meta_graph_pruning import frozen_meta_graph
from tensorkeep.saved_model.files.constants import ASSETS_DIRECTORY, FINGERPRINT_FILENAME, VARIABLES_DIRECTORY
from tensorkeep.saved_model.files.fingerprint import write_fingerprint
from tensorkeep.saved_model.files.layout import (
    CHUNKED_FILE,
    MODEL_FILE,
    TEXT_FILE,
    asset_files,
    asset_path,
    join,
    model_file,
    read_file,
    read_saved_model,
    readable_bytes,
    variables_path,
)
from tensorkeep.saved_model.files.links import require_own_assets, require_own_files
from tensorkeep.saved_model.load.object_graph import SavedObjects
from tensorkeep.saving.freezing import FreezeOptions
from tensorkeep.saving.ledger import files_of

Edit = Callable[[SavedModel], SavedModel]


def rewrite_model(
    source: PathLike,
    target: PathLike | None,
    *edits: Edit,
    fs: FileSystem = FILES,
    durability: Durability = Durability.DISK,
) -> SavedModel:
    """Applies changes to a model, one after the other, and writes it to another directory, or over itself (None).

    Gives the changed model. The directory must not exist, or be empty. Files of assets get the names that these have.
    """
    directory = path_text(source)
    before = read_saved_model(directory, fs)
    model, name, data = _changed_model(before, directory, edits, fs)
    renamed = _renamed_assets(before, model)
    left_over = {*renamed.values()} - {*asset_names(model)}
    if target is None or fs.canonical(path_text(target)) == fs.canonical(directory):
        _copy_assets(directory, directory, renamed, fs, durability)
        _write_in_place(directory, model, name, data, fs, durability)
        _delete_assets(directory, left_over, fs)
        return model

    def prepare(place: str) -> None:
        _copy_assets(directory, place, renamed, fs, durability)
        _delete_assets(place, left_over, fs)

    _publish(directory, path_text(target), model, {name: data}, fs, durability, prepare=prepare)
    return model


def _renamed_assets(before: SavedModel, after: SavedModel) -> dict[str, str]:
    """For each new name of an asset, the old one: that of the asset whose path the same tensor takes."""
    known = asset_names(before)
    old = {asset.tensor_info.name: asset.filename for item in before.meta_graphs for asset in asset_files(item)}
    new = {asset.tensor_info.name: asset.filename for item in after.meta_graphs for asset in asset_files(item)}
    return {name: old[tensor] for tensor, name in new.items() if name not in known and tensor in old}


def _copy_assets(source: str, target: str, renamed: Mapping[str, str], fs: FileSystem, durability: Durability) -> None:
    require_own_assets(source, (asset_path(source, old) for old in renamed.values()), fs)
    for new, old in renamed.items():
        path = asset_path(target, new)
        fs.make_directory(posixpath.dirname(path))
        copy_file(fs, asset_path(source, old), path, durability)


def _delete_assets(directory: str, names: Iterable[str], fs: FileSystem) -> None:
    for name in names:
        fs.delete(asset_path(directory, name))


def write_model_file(model: SavedModel, source: PathLike, target: PathLike, *, fs: FileSystem = FILES) -> str:
    """Writes the file of a model that was read from one directory into another one, or over the old; gives its path.

    It is of the same kind, bytes or text, and keeps the bytes of what was not changed.
    """
    name, data = _encoded_file(model, path_text(source), fs)
    folder = path_text(target)
    fs.make_directory(folder)
    _write_in_place(folder, model, name, data, fs, Durability.DISK)
    return join(folder, name)


def _changed_model(
    model: SavedModel, source: str, edits: Iterable[Edit], fs: FileSystem
) -> tuple[SavedModel, str, bytes]:
    for edit in edits:
        model = edit(model)
    name, data = _encoded_file(model, source, fs)
    return model, name, data


def _encoded_file(model: SavedModel, source: str, fs: FileSystem) -> tuple[str, bytes]:
    """The name of the file and what it is to hold."""
    path = model_file(source, fs)
    name = MODEL_FILE if path is None else posixpath.basename(path)
    if path is None or name == CHUNKED_FILE:
        raise UnimplementedError(
            f'"{path or source}" holds a model in chunks, which can be read but not be written; write it in one piece'
        )
    if name == TEXT_FILE:
        return name, str(model).encode()
    return name, readable_bytes(serialize_preserving(model, read_file(path, fs)))


def _write_in_place(
    directory: str, model: SavedModel, name: str, data: bytes, fs: FileSystem, durability: Durability
) -> None:
    had_fingerprint = _drop_fingerprint(directory, fs)
    atomic_write(fs, join(directory, name), data, durability)
    if had_fingerprint:
        write_fingerprint(model, directory, durability, fs)


def _publish(
    source: str,
    target: str,
    model: SavedModel,
    files: Mapping[str, bytes],
    fs: FileSystem,
    durability: Durability,
    without: Sequence[str] = (),
    prepare: Callable[[str], None] = lambda path: None,
) -> None:
    """Copies a model but for some files, which are written anew, and puts the copy in place."""
    if fs.exists(target) and not is_empty_directory(fs, target):
        raise AlreadyExistsError(f'"{target}" exists and is not empty; choose another directory')
    staged = StagedDirectory(fs, target, durability)
    try:
        left_out = (MODEL_FILE, TEXT_FILE, CHUNKED_FILE, FINGERPRINT_FILENAME, *without)
        require_own_files(source, fs, left_out)
        copy_tree(fs, source, staged.path, durability, without=left_out)
        prepare(staged.path)
        for name, data in files.items():
            atomic_write(fs, join(staged.path, name), data, durability)
        if fs.exists(join(source, FINGERPRINT_FILENAME)):
            write_fingerprint(model, staged.path, durability, fs)
        staged.publish(last=next(iter(files)))
    except BaseException:  # Ctrl-C too
        staged.discard()
        raise


# ----------------------------------------------------------------------------------------------------------- variables


def change_variables(
    source: PathLike,
    target: PathLike | None,
    values: Mapping[str, ArrayLike],
    *,
    fs: FileSystem = FILES,
    durability: Durability = Durability.DISK,
) -> None:
    """Writes a model with other values for some variables, by their names in its checkpoint or, in a model of
    TensorFlow 2, by the paths of their objects, which a loaded model has them by.

    Each must be of the dtype and shape that it has. The other values, and the model itself, keep their bytes.
    """
    directory = path_text(source)
    prefix = variables_path(directory)
    model = read_saved_model(directory, fs)
    with _opened_variables(directory, fs) as reader:
        tensors = _with_values(model, reader, values)
        if target is None or fs.canonical(path_text(target)) == fs.canonical(directory):
            had_fingerprint = _drop_fingerprint(directory, fs)
            save_checkpoint(prefix, tensors, SaveOptions(durability=durability), fs=fs)
            if had_fingerprint:
                write_fingerprint(model, directory, durability, fs)
            return

        def save(place: str) -> None:
            stored, beside = join(directory, VARIABLES_DIRECTORY), join(place, VARIABLES_DIRECTORY)
            own = files_of(posixpath.basename(prefix), fs.list(stored))
            require_own_files(stored, fs, own)
            copy_tree(fs, stored, beside, durability, without=own)  # the records of an SSD tier
            save_checkpoint(variables_path(place), tensors, SaveOptions(durability=durability), fs=fs)

        path = model_file(directory, fs)
        assert path is not None
        files = {posixpath.basename(path): read_file(path, fs)}
        _publish(directory, path_text(target), model, files, fs, durability, (VARIABLES_DIRECTORY,), save)


def check_variables(source: PathLike, values: Mapping[str, ArrayLike], *, fs: FileSystem = FILES) -> None:
    """InvalidArgumentError if `change_variables` could not give a model these values: it says all that is wrong."""
    directory = path_text(source)
    with _opened_variables(directory, fs) as reader:
        _with_values(read_saved_model(directory, fs), reader, values)


def _opened_variables(directory: str, fs: FileSystem) -> CheckpointReader:
    prefix = variables_path(directory)
    if not fs.exists(index_path(prefix)):
        raise NotFoundError(f'"{directory}" has no variables')
    return open_checkpoint(prefix, fs=fs)


def _drop_fingerprint(directory: str, fs: FileSystem) -> bool:
    """Deletes the fingerprint of a model that is about to change. Says whether there was one."""
    path = join(directory, FINGERPRINT_FILENAME)
    if not fs.exists(path):
        return False
    fs.delete(path)
    return True


def _keys_by_path(model: SavedModel, reader: CheckpointReader) -> dict[str, str]:
    """Where the variables of a model of TensorFlow 2 are stored, by the paths of their objects."""
    if OBJECT_GRAPH_KEY not in reader:
        return {}
    stored, found = ObjectGraph.read(reader), {}
    for meta_graph in model.meta_graphs:
        saved = SavedObjects(meta_graph.object_graph_def, "the object graph of the model")
        keys = saved.stored_keys(stored)
        for path, number in saved.of_kind("variable").items():
            if VARIABLE_VALUE in keys.get(number, {}):
                found[path] = keys[number][VARIABLE_VALUE]
    return found


def _with_values(
    model: SavedModel, reader: CheckpointReader, values: Mapping[str, ArrayLike]
) -> dict[str, ArraySource | npt.NDArray[Any]]:
    """All tensors of a model's checkpoint, some with other values; an error if those are not of the form they have."""
    problems = []
    changed: dict[str, npt.NDArray[Any]] = {}
    keys = _keys_by_path(model, reader)
    for name, value in ((keys.get(name, name), value) for name, value in values.items()):
        array = np.asarray(value)
        if name not in reader:
            listed = ", ".join(f'"{known}"' for known in list(reader)[:10])
            problems.append(f'there is no variable "{name}"; there are {listed}{" ..." if len(reader) > 10 else ""}')
        elif (DType.of(array.dtype), array.shape) != (reader[name].dtype, reader[name].shape):
            problems.append(f'"{name}" is {reader[name]}, got {array.dtype} {array.shape}')
        changed[name] = array
    if problems:
        raise InvalidArgumentError(f'"{reader.path}": {"; ".join(problems)}')
    return {name: changed[name] if name in changed else reader.source(name) for name in reader}


# -------------------------------------------------------------------------------------------------------------- assets


def replace_asset(
    directory: PathLike,
    name: str,
    new_file: PathLike,
    *,
    fs: FileSystem = FILES,
    durability: Durability = Durability.DISK,
) -> None:
    """Puts another file in the place of one that the model's graphs read. The model stays as it is."""
    known = asset_names(read_saved_model(directory, fs))
    if name not in known:
        raise NotFoundError(f'"{name}" is no asset of "{path_text(directory)}"; there are {", ".join(known) or "none"}')
    fs.make_directory(join(directory, ASSETS_DIRECTORY))
    copy_file(fs, path_text(new_file), asset_path(directory, name), durability)


def extract_assets(
    directory: PathLike, target: PathLike, *, fs: FileSystem = FILES, durability: Durability = Durability.DISK
) -> dict[str, str]:
    """Copies the files that a model's graphs read into a folder, which is made; gives their paths by their names."""
    names = asset_names(read_saved_model(directory, fs))
    if missing := [name for name in names if not fs.exists(asset_path(directory, name))]:
        raise NotFoundError(f'"{path_text(directory)}" lacks its assets {", ".join(missing)}')
    require_own_assets(path_text(directory), (asset_path(directory, name) for name in names), fs)
    found = {name: join(target, name) for name in names}
    for name, path in found.items():
        fs.make_directory(posixpath.dirname(path))
        copy_file(fs, asset_path(directory, name), path, durability)
    return found


# ------------------------------------------------------------------------------------------------------------ freezing


def freeze_model(
    source: PathLike,
    target: PathLike,
    *,
    selection: Selection = EVERYTHING,
    run_initializers: bool = False,
    fs: FileSystem = FILES,
    durability: Durability = Durability.DISK,
) -> SavedModel:
    """Writes a model with constants in the place of variables: each meta graph, for the signatures that it has.

    Nodes that no signature needs are left out, and so are objects, savers and the checkpoint. Nothing of the model
    runs, unless `run_initializers` has what restores and initializes it run, which may then read the model's files.
    """
    directory = path_text(source)
    frozen = frozen_model(directory, FreezeOptions(selection, run_initializers=run_initializers), fs)
    data = frozen.SerializeToString(deterministic=True)
    _publish(directory, path_text(target), frozen, {MODEL_FILE: data}, fs, durability, (VARIABLES_DIRECTORY,))
    return frozen


def frozen_model(directory: str, options: FreezeOptions, fs: FileSystem = FILES) -> SavedModel:
    """What `freeze_model` would write; nothing is written."""
    model = read_saved_model(directory, fs)
    frozen = SavedModel(saved_model_schema_version=model.saved_model_schema_version)
    for meta_graph in model.meta_graphs:
        with loaded_model(meta_graph, directory, options, fs=fs) as loaded:
            frozen.meta_graphs.append(frozen_meta_graph(meta_graph, loaded, options))
    return frozen
