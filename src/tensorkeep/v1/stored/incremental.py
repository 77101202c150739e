"""DeepRec's `incremental_saver`: what programs call that save what changed under paths of their own."""

from __future__ import annotations

from typing import Final

from tensorkeep.graph.arguments import SessionLike
from tensorkeep.io.files.filesystem import PathLike, path_text
from tensorkeep.proto.messages import SaverDef
from tensorkeep.tf1.training.savers.incremental import DELTA_FOLDER
from tensorkeep.tf1.variables.global_step import Step
from tensorkeep.v1.sessions import core_session
from tensorkeep.v1.stored.saving import Saver, step_number

SUB_INCR_CKPT_DIR: Final = DELTA_FOLDER


def get_incremental_saver(incremental_save_restore: bool, full_saver: Saver) -> IncrementalSaver | None:
    """What saves what changed since a saver saved all; None if that is not wanted.

    The saver was made with `incremental_save_restore=True`.
    """
    return IncrementalSaver(full_saver) if incremental_save_restore else None


class IncrementalSaver:
    """Saves what changed since the last checkpoint of a full saver, and restores it over one."""

    def __init__(self, full_saver: Saver) -> None:
        self._full, self._increments = full_saver.parts()

    @property
    def incr_saver_def(self) -> SaverDef:
        """The operations that it runs."""
        return self._increments.saver_def

    @property
    def last_incr_checkpoints(self) -> list[str]:
        """The incremental checkpoints that are kept, oldest first."""
        return self._increments.last_checkpoints

    def incremental_save(
        self,
        sess: SessionLike,
        save_path: PathLike,
        global_step: Step | int | None = None,
        meta_graph_suffix: str = "meta",
        write_state: bool = True,
    ) -> str:
        """Saves what changed; gives the prefix, which is the path with the step. No graph is written.

        A restore of the full checkpoint finds it where it lies in the folder `SUB_INCR_CKPT_DIR` beside that one.
        """
        step = step_number(sess, global_step)
        return self._increments.save_at(core_session(sess), save_path, step, writes_state=write_state)

    def incremental_restore(self, sess: SessionLike, save_path: PathLike, incr_save_path: PathLike) -> None:
        """Restores a full checkpoint, and an incremental one over it."""
        session, full = core_session(sess), path_text(save_path)
        outcome = self._full.restore(session, full)
        self._increments.restore_over(session, full, outcome, path_text(incr_save_path))

    def recover_incr_checkpoints(self, sess: SessionLike, checkpoint_dir: PathLike) -> None:
        """Puts the newest incremental checkpoint of a folder over its latest full one, which has been restored."""
        self._increments.recover_incr_checkpoints(core_session(sess), checkpoint_dir)
