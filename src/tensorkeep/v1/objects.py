"""Object-based checkpoints in TensorFlow 1's words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from tensorkeep.saving.retention import KeepActive
from tensorkeep.tf1.training.objects import manager, object_checkpoints
from tensorkeep.v1.defaults import get_default_session
from tensorkeep.v1.sessions import core_session


class Checkpoint(object_checkpoints.Checkpoint):
    """Groups objects that are saved and restored together; the session in force is used where none is given."""

    _tracks_arrays: ClassVar[bool] = False

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)

    def write(self, file_prefix: Any, session: Any = None, options: Any = None) -> str:  # type: ignore[override]
        return super().write(file_prefix, session, options)

    def save(self, file_prefix: Any, session: Any = None, options: Any = None) -> str:  # type: ignore[override]
        return super().save(file_prefix, session, options)

    def restore(self, save_path: Any) -> Any:  # type: ignore[override]
        return super().restore(save_path)

    def find_session(self, session: Any = None) -> Any:
        return core_session(super().find_session(session or get_default_session()))


class CheckpointManager(manager.CheckpointManager):
    """Keeps some of a series of checkpoints, and deletes the others."""

    def __init__(
        self,
        checkpoint: Any,
        directory: Any,
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
        step_counter: Any = None,
        checkpoint_interval: int | None = None,
        init_fn: Callable[[], Any] | None = None,
        last_checkpoint_step: int | None = None,
    ) -> None:
        options = manager.ManagerOptions(
            checkpoint_name, step_counter, checkpoint_interval, last_checkpoint_step, init_fn
        )
        super().__init__(checkpoint, directory, KeepActive(max_to_keep, keep_checkpoint_every_n_hours), options)

    def save(self, checkpoint_number: Any = None, check_interval: bool = True, options: Any = None) -> str | None:  # type: ignore[override]
        return super().save(checkpoint_number, check_interval, options)

    def restore_or_initialize(self) -> str | None:  # type: ignore[override]
        return super().restore_or_initialize()
