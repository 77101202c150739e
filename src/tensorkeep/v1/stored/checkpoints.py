"""`tf.train`'s functions for checkpoints that are there: finding, reading, removing, starting from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.describing import CheckpointDescription
from tensorkeep.checkpoint.finding import files, latest, state_file
from tensorkeep.checkpoint.finding.waiting import Waiting, new_checkpoints
from tensorkeep.checkpoint.saving import CheckpointFormat
from tensorkeep.dtypes import DType
from tensorkeep.embedding.stored.record_files import remove_checkpoint_with_records
from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.proto.messages import CheckpointState, SaverDef
from tensorkeep.tf1.training.savers import initializing, warm_starting
from tensorkeep.tf1.training.savers.initializing import AssignmentMap
from tensorkeep.tf1.training.savers.warm_starting import Choice, VocabInfo

_FORMATS: Final = {SaverDef.V2: CheckpointFormat.V2}


class CheckpointReader:
    """An open checkpoint, of either format."""

    def __init__(self, filename: PathLike) -> None:
        self._checkpoint = CheckpointDescription.open(filename)

    def debug_string(self) -> bytes:
        """A line for each tensor: name, type, shape."""
        return self._checkpoint.debug_string()

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        return self._checkpoint.shapes()

    def get_variable_to_dtype_map(self) -> dict[str, DType]:
        return self._checkpoint.dtypes()

    def has_tensor(self, tensor_str: str | bytes) -> bool:
        return self._checkpoint.has(tensor_str)

    def get_tensor(self, tensor_str: str | bytes) -> Array | np.generic | bytes:
        """The tensor as an array; a scalar as NumPy's, a string as `bytes`."""
        value: Array | np.generic | bytes = self._checkpoint.value(tensor_str)
        return value


def NewCheckpointReader(filepattern: PathLike) -> CheckpointReader:  # noqa: N802 - as TensorFlow calls it
    return CheckpointReader(filepattern)


def load_checkpoint(ckpt_dir_or_file: PathLike) -> CheckpointReader:
    """A reader of a checkpoint, or of the latest of a folder."""
    return CheckpointReader(latest.checkpoint_named(ckpt_dir_or_file))


def load_variable(ckpt_dir_or_file: PathLike, name: str) -> Array | np.generic | bytes:
    """One tensor of a checkpoint; a trailing ":0" of its name is dropped."""
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))


def list_variables(ckpt_dir_or_file: PathLike) -> list[tuple[str, list[int]]]:
    """Names and shapes of the tensors of a checkpoint, in order of name."""
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


def latest_checkpoint(
    checkpoint_dir: PathLike, latest_filename: str | None = None, *, verify: latest.Verification | None = None
) -> str | None:
    """The latest checkpoint of a folder by its state file, or None; the latest that is whole with `verify`."""
    if verify is not None:
        return latest.latest_checkpoint(checkpoint_dir, latest_filename or state_file.STATE_FILE, verify=verify)
    return latest.recorded_checkpoint(checkpoint_dir, latest_filename)


def get_checkpoint_state(checkpoint_dir: PathLike, latest_filename: str | None = None) -> CheckpointState | None:
    """What the state file of a folder says; None if there is none that can be understood."""
    found = latest.recorded_state(checkpoint_dir, latest_filename)
    return None if found is None else state_file.state_message(found)


def generate_checkpoint_state_proto(
    save_dir: PathLike,
    model_checkpoint_path: PathLike,
    all_model_checkpoint_paths: Sequence[PathLike] | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> CheckpointState:
    """What a state file of the folder would say."""
    made = state_file.state_to_write(
        save_dir,
        model_checkpoint_path,
        all_model_checkpoint_paths or (),
        timestamps=all_model_checkpoint_timestamps or (),
        last_preserved=last_preserved_timestamp,
    )
    return state_file.state_message(made)


def update_checkpoint_state(
    save_dir: PathLike,
    model_checkpoint_path: PathLike,
    all_model_checkpoint_paths: Sequence[PathLike] | None = None,
    latest_filename: str | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> None:
    """Writes the state file of a folder."""
    state_file.write_checkpoint_state(
        save_dir,
        model_checkpoint_path,
        all_model_checkpoint_paths or (),
        timestamps=all_model_checkpoint_timestamps or (),
        last_preserved=last_preserved_timestamp,
        filename=latest_filename or state_file.STATE_FILE,
    )


def checkpoint_exists(checkpoint_prefix: PathLike) -> bool:
    """Whether there is a checkpoint of that name, of either format."""
    return files.checkpoint_exists(checkpoint_prefix)


def checkpoints_iterator(
    checkpoint_dir: PathLike,
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Iterator[str]:
    """The latest checkpoint of a folder, and each later one as it comes."""
    return new_checkpoints(checkpoint_dir, Waiting(min_interval_secs, timeout, timeout_fn))


def get_checkpoint_mtimes(checkpoint_prefixes: Sequence[PathLike]) -> list[float]:
    """When those of the checkpoints that exist were written, in whole seconds since 1970."""
    times = map(files.checkpoint_modified, checkpoint_prefixes)
    return [float(int(time)) for time in times if time is not None]


def remove_checkpoint(
    checkpoint_prefix: PathLike, checkpoint_format_version: int = SaverDef.V2, meta_graph_suffix: str = "meta"
) -> None:
    """Deletes the files of a checkpoint; the state file stays as it is."""
    form = _FORMATS.get(checkpoint_format_version, CheckpointFormat.V1)
    remove_checkpoint_with_records(checkpoint_prefix, form, meta_suffix=meta_graph_suffix)


def init_from_checkpoint(
    ckpt_dir_or_file: PathLike, assignment_map: AssignmentMap, *, reset_version: bool = False
) -> None:
    """Lets variables take their initial values from a checkpoint, or from the latest of a folder.

    With `reset_version`, which is DeepRec's, the keys of embedding variables count as updated at step 0.
    """
    initializing.init_from_checkpoint(ckpt_dir_or_file, assignment_map, reset_version=reset_version)


def warm_start(
    ckpt_to_initialize_from: PathLike,
    vars_to_warm_start: Choice = ".*",
    var_name_to_vocab_info: Mapping[str, VocabInfo] | None = None,
    var_name_to_prev_var_name: Mapping[str, str] | None = None,
) -> None:
    """Lets variables begin as those of an earlier model."""
    warm_starting.warm_start(
        ckpt_to_initialize_from, vars_to_warm_start, var_name_to_vocab_info, var_name_to_prev_var_name
    )
