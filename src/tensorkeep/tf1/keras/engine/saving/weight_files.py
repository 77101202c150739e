"""The weights of models in files.

HDF5: a group for each layer, with a dataset for each variable; the attribute "layer_names" says in which order the
layers are, "weight_names" of each group in which its variables. Names too long for one attribute are in several, with
numbers behind theirs. Checkpoints are object-based: the model is the root.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorkeep.checkpoint.finding.file_names import OBJECT_GRAPH_KEY
from tensorkeep.checkpoint.finding.files import open_prefix
from tensorkeep.checkpoint.finding.state_file import write_checkpoint_state
from tensorkeep.checkpoint.reader import ReadOptions
from tensorkeep.errors import DataLossError, InvalidArgumentError
from tensorkeep.graph.building import building, current_graph
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import Durability, PathLike, atomic_write, path_text, prepare_directory
from tensorkeep.io.files.hdf5_images import image_bytes, new_image, opened_image
from tensorkeep.tf1.keras.engine.session_values import batch_get_value, batch_set_value, initialized_session
from tensorkeep.tf1.training.objects.load_status import CheckpointLoadStatus, NameBasedSaverStatus
from tensorkeep.tf1.training.objects.object_saver import ObjectSaver, Restoration, in_graph
from tensorkeep.tf1.training.objects.trackable import GraphView

if TYPE_CHECKING:
    from h5py import Group

    from tensorkeep.tf1.keras.engine.network import Network

KERAS_VERSION: Final = "2.2.4-tf"  # that of TensorFlow 1.15
_HDF5_ENDINGS: Final = (".h5", ".keras", ".hdf5")
_MAGIC: Final = b"\x89HDF\r\n\x1a\n"


def is_hdf5_name(path: str) -> bool:
    """Whether a path ends as those of HDF5 files do."""
    return path.endswith(_HDF5_ENDINGS)


def read_whole(path: str) -> bytes:
    """All bytes of a file."""
    with closing(FILES.open(path)) as file:
        return bytes(file.read(0, file.size))


def write_whole(path: str, data: bytes, overwrite: bool) -> None:
    """Writes a file at once, or not at all."""
    if not overwrite and FILES.exists(path):
        raise InvalidArgumentError(f'"{path}" exists already, and `overwrite` is False: give another name')
    prepare_directory(FILES, posixpath.dirname(path), Durability.DISK)
    atomic_write(FILES, path, data)


def is_hdf5_file(path: str) -> bool:
    """Whether there is an HDF5 file at a path."""
    if FILES.is_directory(path) or not FILES.exists(path):
        return False
    with closing(FILES.open(path)) as file:
        return file.size >= len(_MAGIC) and bytes(file.read(0, len(_MAGIC))) == _MAGIC


def save_weights(model: Network, filepath: PathLike, overwrite: bool, save_format: str | None) -> None:
    """Writes the values of a model's variables."""
    path = path_text(filepath)
    kind = save_format.lower().strip() if save_format else ("h5" if is_hdf5_name(path) else "tf")
    if kind in ("tf", "tensorflow"):
        if is_hdf5_name(path):
            raise InvalidArgumentError(
                f'save_weights got save_format="tf"/"tensorflow", but the filepath ("{path}") looks like an HDF5 file. '
                'Omit the ".h5"/".keras" when saving in TensorFlow format.'
            )
        _save_checkpoint(model, path)
    elif kind in ("h5", "hdf5", "keras"):
        file = new_image()
        write_layers(file, model.layers)
        write_whole(path, image_bytes(file), overwrite)
    else:
        raise InvalidArgumentError(f'Unknown format "{save_format}". Was expecting one of {{"tf", "h5"}}.')


def load_weights(
    model: Network, filepath: PathLike, by_name: bool, skip_mismatch: bool
) -> CheckpointLoadStatus | NameBasedSaverStatus | None:
    """Gives the variables of a model the values of a file; of a checkpoint, the status of restoring it."""
    path = path_text(filepath)
    if skip_mismatch and not by_name:
        raise InvalidArgumentError(
            "When calling model.load_weights, skip_mismatch can only be set to True when by_name is True."
        )
    if not is_hdf5_file(path):
        if by_name:
            raise NotImplementedError(
                "Weights may only be loaded based on topology into Models when loading TensorFlow-formatted weights "
                "(got by_name=True to load_weights)."
            )
        return _load_checkpoint(model, path)
    if not model.built and not model.weights:
        raise InvalidArgumentError(
            "Unable to load weights saved in HDF5 format into a subclassed Model which has not created its variables "
            "yet. Call the Model first, then load the weights."
        )
    with opened_image(read_whole(path), path) as file:
        group = file["model_weights"] if "layer_names" not in file.attrs and "model_weights" in file else file
        if by_name:
            read_layers_by_name(group, model.layers, path, skip_mismatch)
        else:
            read_layers(group, model.layers, path)
    return None


# ---------------------------------------------------------------------------------------------------- HDF5


def _weights_of(layer: Any) -> list[Any]:
    """The variables of a layer in the order of files: those that are trained first."""
    return [*layer.trainable_weights, *layer.non_trainable_weights]


def write_layers(group: Group, layers: Sequence[Any]) -> None:
    """Writes the variables of layers."""
    write_names(group, "layer_names", [layer.name for layer in layers])
    group.attrs["backend"] = b"tensorflow"
    group.attrs["keras_version"] = KERAS_VERSION.encode()
    for layer in layers:
        write_variables(group.create_group(layer.name), _weights_of(layer))


def write_variables(group: Group, variables: Sequence[Any]) -> None:
    """Writes variables under their names."""
    write_names(group, "weight_names", [variable.name for variable in variables])
    for variable, value in zip(variables, batch_get_value(variables), strict=True):
        array = np.asarray(value)
        dataset = group.create_dataset(variable.name, array.shape, dtype=array.dtype)
        if array.shape:
            dataset[:] = array
        else:
            dataset[()] = array


def stored_values(group: Group, path: str) -> list[Any]:
    """The values in a group, in their order."""
    found = []
    for name in read_names(group, "weight_names"):
        if name not in group:
            raise DataLossError(f'"{path}": "{group.name}" names the weight "{name}", which is not there')
        found.append(np.asarray(group[name]))
    return found


def read_layers(group: Group, layers: Sequence[Any], path: str) -> None:
    """Gives variables the stored values, layer by layer in their order. All is looked at before anything is set."""
    _check_version(group, path)
    with_weights = [layer for layer in layers if _weights_of(layer)]
    stored = [
        name for name in read_names(group, "layer_names") if name in group and read_names(group[name], "weight_names")
    ]
    if len(stored) != len(with_weights):
        raise InvalidArgumentError(
            f'You are trying to load a weight file containing {len(stored)} layers ("{path}": {stored}) into a model '
            f"with {len(with_weights)} layers ({[layer.name for layer in with_weights]})."
        )
    pairs: list[tuple[Any, Any]] = []
    problems: list[str] = []
    for layer, name in zip(with_weights, stored, strict=True):
        values = stored_values(group[name], path)
        pairs += _pair_weights(layer, name, values, problems)
    _refuse(problems, path)
    batch_set_value(pairs)


def _pair_weights(layer: Any, name: str, values: list[Any], problems: list[str]) -> list[tuple[Any, Any]]:
    variables = _weights_of(layer)
    try:
        values = layer._laid_out_values(values)
    except InvalidArgumentError as error:
        problems.append(f'layer "{layer.name}" (named "{name}" in the file): {error}')
        return []
    if len(variables) != len(values):
        problems.append(
            f'layer "{layer.name}" (named "{name}" in the file) has {len(variables)} weights, but the saved weights '
            f"have {len(values)} elements"
        )
        return []
    for variable, value in zip(variables, values, strict=True):
        if tuple(variable.get_shape().as_list()) != value.shape:
            problems.append(
                f'layer "{layer.name}", weight {variable.name} has shape {tuple(variable.get_shape().as_list())}, but '
                f"the saved weight has shape {value.shape}"
            )
    return list(zip(variables, values, strict=True))


def _refuse(problems: list[str], path: str) -> None:
    if problems:
        raise InvalidArgumentError(f'"{path}" does not fit the model:\n' + "\n".join(problems))


def _check_version(group: Any, path: str) -> None:
    version = read_text(group, "keras_version") or "1"
    if version.startswith("1") and "keras_version" in group.attrs:
        raise InvalidArgumentError(f'"{path}" was written by Keras {version}, whose kernels lie otherwise: not read')


def read_layers_by_name(group: Group, layers: Sequence[Any], path: str, skip_mismatch: bool) -> None:
    """Gives the variables of those layers values that have a stored one of their name."""
    _check_version(group, path)
    pairs: list[tuple[Any, Any]] = []
    problems: list[str] = []
    for name in read_names(group, "layer_names"):
        values = stored_values(group[name], path) if name in group else []
        for layer in (layer for layer in layers if layer.name == name):
            wrong: list[str] = []
            found = _pair_weights(layer, name, values, wrong)
            if not wrong:
                pairs += found
            elif not skip_mismatch:
                problems += wrong
    _refuse(problems, path)
    batch_set_value(pairs)


# ---------------------------------------------------------------------------------------------------- Checkpoints


def _core(session: Any) -> Any:
    return getattr(session, "core", session)


def _saver_of(model: Any) -> ObjectSaver:
    saver: ObjectSaver = vars(model).setdefault("_object_saver", ObjectSaver())
    return saver


def _graph_of(model: Any) -> Any:
    weights = model.weights
    return weights[0].graph if weights else current_graph()


def _save_checkpoint(model: Any, path: str) -> None:
    graph = _graph_of(model)
    with building(graph):
        session = _core(initialized_session())
        saved = _saver_of(model).save(session, model, GraphView(model, graph, arrays=False), path)
    folder = posixpath.dirname(path)
    write_checkpoint_state(folder or ".", saved, [saved], relative=True, fs=FILES)


def _load_checkpoint(model: Any, path: str) -> CheckpointLoadStatus | NameBasedSaverStatus:
    """Restores what there is of the model; what it makes later is restored when it is called."""
    graph = _graph_of(model)
    view = GraphView(model, graph, arrays=False)

    def session_of(given: Any = None) -> Any:
        with building(graph):
            return _core(given or initialized_session())

    with open_prefix(path, ReadOptions(), FILES) as reader:
        if OBJECT_GRAPH_KEY not in reader:
            by_name = NameBasedSaverStatus(model, view, reader.path, session_of, FILES)
            by_name.run_restore_ops()
            return by_name
        with in_graph(graph):
            _saver_of(model).prefix_feed()
        restoration = Restoration(_saver_of(model), model, view, reader, FILES)
    restoration.extend()
    status = CheckpointLoadStatus(restoration, view, session_of)
    if model.weights:
        status.assert_nontrivial_match()
        status.run_restore_ops()
    else:
        vars(model).setdefault("_pending_restores", []).append(status)
    return status


_MOST_BYTES: Final = 64512  # of an attribute, with what HDF5 writes around it


def write_names(group: Group, key: str, names: Sequence[str]) -> None:
    """Writes names under a key, or under `key0`, `key1` and so on."""
    encoded = [name.encode("utf8") for name in names]
    if wrong := [name for name in encoded if len(name) > _MOST_BYTES]:
        raise InvalidArgumentError(f"A name is too long for an attribute of an HDF5 file: {wrong[0][:80]!r}…")
    whole = np.asarray(encoded)
    parts, count = [whole], 1
    while any(part.nbytes > _MOST_BYTES for part in parts):
        count += 1
        parts = np.array_split(whole, count)
    if count == 1:
        group.attrs[key] = encoded
    else:
        for at, part in enumerate(parts):
            group.attrs[f"{key}{at}"] = part


def read_names(group: Group, key: str) -> list[str]:
    """The names that `write_names` wrote under a key; none if it wrote none."""
    if key in group.attrs:
        return [_text(name) for name in group.attrs[key]]
    found: list[str] = []
    at = 0
    while f"{key}{at}" in group.attrs:
        found += [_text(name) for name in group.attrs[f"{key}{at}"]]
        at += 1
    return found


def read_text(group: Group, key: str) -> str | None:
    """An attribute that is one text; None if there is none."""
    value = group.attrs.get(key)
    return None if value is None else _text(value)


def _text(value: Any) -> str:
    return value.decode("utf8") if isinstance(value, bytes) else str(value)
