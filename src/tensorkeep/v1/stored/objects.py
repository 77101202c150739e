"""Object-based checkpoints in TensorFlow 1's words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from tensorkeep.graph.arguments import SessionLike
from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.runtime.session import Session as CoreSession
from tensorkeep.saving.retention import KeepActive
from tensorkeep.tf1.training.objects import manager, object_checkpoints
from tensorkeep.tf1.training.objects.object_checkpoints import CheckpointOptions, LoadStatus
from tensorkeep.tf1.variables.global_step import Step
from tensorkeep.v1.defaults import get_default_session
from tensorkeep.v1.sessions import core_session


class Checkpoint(object_checkpoints.Checkpoint):
    """Groups objects that are saved and restored together; the session in force is used where none is given."""

    _tracks_arrays: ClassVar[bool] = False

    def __init__(self, **kwargs: object) -> None:
        super().__init__(**kwargs)

    def write(  # type: ignore[override]
        self, file_prefix: PathLike, session: SessionLike | None = None, options: CheckpointOptions | None = None
    ) -> str:
        return super().write(file_prefix, session, options)

    def save(  # type: ignore[override]
        self, file_prefix: PathLike, session: SessionLike | None = None, options: CheckpointOptions | None = None
    ) -> str:
        return super().save(file_prefix, session, options)

    def restore(self, save_path: PathLike | None) -> LoadStatus:  # type: ignore[override]
        return super().restore(save_path)

    def find_session(self, session: SessionLike | None = None) -> CoreSession:
        return core_session(super().find_session(session or get_default_session()))


class CheckpointManager(manager.CheckpointManager):
    """Keeps some of a series of checkpoints, and deletes the others."""

    def __init__(
        self,
        checkpoint: object_checkpoints.Checkpoint,
        directory: PathLike,
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
        step_counter: Step | int | None = None,
        checkpoint_interval: int | None = None,
        init_fn: Callable[[], Any] | None = None,
        last_checkpoint_step: int | None = None,
    ) -> None:
        options = manager.ManagerOptions(
            checkpoint_name, step_counter, checkpoint_interval, last_checkpoint_step, init_fn
        )
        super().__init__(checkpoint, directory, KeepActive(max_to_keep, keep_checkpoint_every_n_hours), options)

    def save(  # type: ignore[override]
        self,
        checkpoint_number: Step | int | None = None,
        check_interval: bool = True,
        options: CheckpointOptions | None = None,
    ) -> str | None:
        return super().save(checkpoint_number, check_interval, options)

    def restore_or_initialize(self) -> str | None:  # type: ignore[override]
        return super().restore_or_initialize()
