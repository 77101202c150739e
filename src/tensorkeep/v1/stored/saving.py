"""`tf.train.Saver`: a saver with TensorFlow 1's arguments."""

from __future__ import annotations

import math
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from tensorkeep.checkpoint.finding.state_file import STATE_FILE
from tensorkeep.checkpoint.restore.items import RestoreOutcome
from tensorkeep.checkpoint.restore.wanted_tensors import OnMismatch, Policy
from tensorkeep.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    InvalidArgumentError,
    MissingFileError,
    WrongTypeError,
)
from tensorkeep.graph.arguments import SessionLike
from tensorkeep.graph.building import current_graph
from tensorkeep.graph.collections import saveable_objects
from tensorkeep.graph.messages.graph_def import export_graph
from tensorkeep.io.files.filesystem import Durability, FileSystem, PathLike, path_text
from tensorkeep.io.files.places import text_of
from tensorkeep.metagraph.exporting import export_meta_graph
from tensorkeep.metagraph.files import write_exported
from tensorkeep.proto.messages import MetaGraphDef, SaverDef
from tensorkeep.saving.retention import KeepAll, RetentionPolicy
from tensorkeep.saving.saver import GraphFile, SaveHandle, SaverOptions, StepNaming, existing_with_times
from tensorkeep.saving.saver import Saver as CoreSaver
from tensorkeep.tf1.training.savers.incremental import IncrementalSaver, incremental_arguments
from tensorkeep.tf1.training.savers.saver_graph import V2, BaseSaverBuilder, BulkSaverBuilder
from tensorkeep.tf1.training.savers.saver_recipe import SaverRecipe, saver_def_without
from tensorkeep.tf1.variables.global_step import Step
from tensorkeep.tf1.variables.global_step import global_step as step_in
from tensorkeep.tf1.variables.saveable import SaveItem, SaveItems
from tensorkeep.v1.sessions import core_session


@contextmanager
def _telling_of_parent(path: str, fs: FileSystem) -> Iterator[None]:
    """Says in the words of TensorFlow's saver.py that a checkpoint cannot be where it is to be saved."""
    try:
        yield
    except (AlreadyExistsError, MissingFileError) as error:
        if fs.is_directory(posixpath.dirname(path) or "."):
            raise
        raise InvalidArgumentError(f"Parent directory of {path} doesn't exist, can't save. {error}") from error


class Saver:
    """Saves variables to checkpoints, and restores them.

    Beside TensorFlow's arguments there are `retention`, which says in more ways which checkpoints are kept, and
    `durability`; `save` has `wait` and `metrics`, `restore` has `mapping` and `on_mismatch`.
    """

    def __init__(
        self,
        var_list: SaveItems | Mapping[str, SaveItem] | None = None,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        saver_def: SaverDef | None = None,
        builder: BaseSaverBuilder | None = None,
        defer_build: bool = False,
        allow_empty: bool = False,
        write_version: int = V2,
        pad_step_number: bool = False,
        save_relative_paths: bool = False,
        filename: PathLike | None = None,
        *,
        retention: RetentionPolicy | None = None,
        durability: Durability = Durability.DISK,
        incremental_save_restore: bool = False,
        incremental_include_normal_var: bool = False,
    ) -> None:
        if defer_build and var_list:
            raise InvalidArgumentError(
                "If `var_list` is provided then build cannot be deferred. Either set defer_build=False or "
                "var_list=None."
            )
        self._recipe = SaverRecipe(
            var_list,
            saver_def,
            builder or BulkSaverBuilder(write_version),
            {
                "reshape": reshape,
                "sharded": sharded,
                "max_to_keep": max_to_keep,
                "keep_checkpoint_every_n_hours": keep_checkpoint_every_n_hours,
                "name": name,
                "restore_sequentially": restore_sequentially,
                "filename": None if filename is None else text_of(filename),
                **incremental_arguments(incremental_save_restore, incremental_include_normal_var),
            },
            allow_empty,
            retention,
            SaverOptions(KeepAll(), StepNaming(8 if pad_step_number else 0), save_relative_paths, durability),
        )
        self._core: CoreSaver | None = None
        self._incremental: IncrementalSaver | None = None
        self._is_built = False
        self._known_before: list[tuple[str, float]] | None = None  # checkpoints that were set before it was built
        self.saver_def = saver_def
        if not defer_build:
            self.build()

    def build(self) -> None:
        """Adds the operations, unless that is done."""
        if not self._is_built:
            self._is_built = True
            self._found_items = saveable_objects(current_graph())
            self._core = self._recipe.make(current_graph())
            self.saver_def = None if self._core is None else self._core.saver_def
            self._incremental = None if self._core is None else IncrementalSaver.beside(self._core, current_graph())
            if self._core is not None and self._known_before is not None:
                self._core.set_last_checkpoints(self._known_before)

    @property
    def _var_list(self) -> Any:
        """What it saves, as it was given or found: libraries ask for this by TensorFlow's private name."""
        return self._recipe.items if self._recipe.items is not None else getattr(self, "_found_items", None)

    # ------------------------------------------------------------------------------------------------ save

    def save(
        self,
        sess: SessionLike,
        save_path: PathLike,
        global_step: Step | int | None = None,
        latest_filename: str | None = None,
        meta_graph_suffix: str = "meta",
        write_meta_graph: bool = True,
        write_state: bool = True,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
        *,
        wait: bool = True,
        metrics: Mapping[str, float] | None = None,
    ) -> str | SaveHandle | None:
        """Saves, and gives the prefix of the checkpoint; with `wait=False` a handle whose `result()` is the prefix."""
        self._require_built()
        state_file = latest_filename or STATE_FILE
        path = self._checked_path(path_text(save_path), state_file, global_step)
        graph_file = GraphFile(meta_graph_suffix, strip_default_attrs, save_debug_info, write_meta_graph)
        session = core_session(sess)
        if self._core is None:
            self._save_graph_only(session, path, step_number(sess, global_step), graph_file)
            return None
        # The step is that of the moment when it is this thread's turn.
        with _telling_of_parent(path, session.surroundings.filesystem), self._core.turn:
            return self._core.save(
                session,
                path,
                step=step_number(sess, global_step),
                state_file=state_file if write_state else None,
                graph_file=graph_file,
                metrics=metrics,
                wait=wait,
            )

    def incremental_save(self, sess: SessionLike, save_path: PathLike, global_step: Step | int | None = None) -> str:
        """Saves what changed since the full checkpoint at `save_path`, to a folder beside it; gives the prefix."""
        self._require_built()
        if self._incremental is None:
            raise FailedPreconditionError("this saver saves whole checkpoints only: incremental_save_restore=True")
        return self._incremental.save(core_session(sess), path_text(save_path), step_number(sess, global_step))

    def incremental_restore(self, sess: SessionLike, save_path: PathLike) -> None:
        """Puts an incremental checkpoint over what was restored from the full one. `restore` does so by itself."""
        self._restoring_increments().restore(core_session(sess), path_text(save_path))

    def recover_incr_checkpoints(self, sess: SessionLike, checkpoint_dir: PathLike) -> None:
        """Puts the newest incremental checkpoint of a folder over its latest full one, which has been restored.

        For `SessionManager.prepare_session(incr_saver=)`; `restore` does so by itself.
        """
        self._restoring_increments().recover_incr_checkpoints(core_session(sess), path_text(checkpoint_dir))

    def _restoring_increments(self) -> IncrementalSaver:
        return self.parts()[1]

    def parts(self) -> tuple[CoreSaver, IncrementalSaver]:
        """What saves and restores all, and what does so with what changed since."""
        self._require_built()
        if self._core is None or self._incremental is None:
            raise FailedPreconditionError("this saver restores whole checkpoints only: incremental_save_restore=True")
        return self._core, self._incremental

    def _require_built(self) -> None:
        if not self._is_built:
            raise FailedPreconditionError("`build()` should be called before save if defer_build==True")

    def _checked_path(self, save_path: str, state_file: str, global_step: Any) -> str:
        if posixpath.dirname(state_file):
            raise InvalidArgumentError("'latest_filename' must not contain path components")
        if (
            global_step is None
            and posixpath.basename(save_path) == state_file
            and not self._recipe.arguments["sharded"]
        ):
            raise InvalidArgumentError(f"'latest_filename' collides with 'save_path': '{state_file}' and '{save_path}'")
        return save_path

    def _save_graph_only(self, session: Any, path: str, step: int | None, graph_file: GraphFile) -> None:
        if graph_file.is_written:
            exported = export_meta_graph(session.graph, strip_default_attrs=graph_file.strip_default_attrs)
            file = f"{self._recipe.options.naming.prefix(path, step)}.{graph_file.suffix}"
            write_exported(exported, file, fs=session.surroundings.filesystem)

    def wait(self) -> None:
        """Waits for a save under way; what went wrong there is raised, unless somebody was told already."""
        if self._core is not None:
            self._core.wait()

    def export_meta_graph(
        self,
        filename: PathLike | None = None,
        collection_list: Sequence[str] | None = None,
        as_text: bool = False,
        export_scope: str | None = None,
        clear_devices: bool = False,
        clear_extraneous_savers: bool = False,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> MetaGraphDef:
        """The graph being built, with this saver; put into a file if one is named."""
        graph = current_graph()
        exported = export_meta_graph(
            graph,
            graph_def=export_graph(graph, add_shapes=True),
            saver_def=self.saver_def,
            collection_list=collection_list,
            export_scope=export_scope,
            clear_devices=clear_devices,
            clear_extraneous_savers=clear_extraneous_savers,
            strip_default_attrs=strip_default_attrs,
        )
        write_exported(exported, filename, as_text=as_text, save_debug_info=save_debug_info)
        return exported

    # --------------------------------------------------------------------------------------------- restore

    def restore(
        self,
        sess: SessionLike,
        save_path: PathLike | None,
        *,
        mapping: Mapping[str, str] | None = None,
        on_mismatch: Policy = OnMismatch.STRICT,
    ) -> RestoreOutcome | None:
        """Restores, and says what was restored and what was not."""
        if save_path is None and self._core is not None:
            raise InvalidArgumentError("Can't load save_path when it is None.")
        if self._core is None or save_path is None:
            self._require_built()
            return None
        session, path = core_session(sess), path_text(save_path)
        outcome = self._core.restore(session, path, mapping=mapping, on_mismatch=on_mismatch)
        if self._incremental is not None:
            self._incremental.restore_newest(session, path, outcome, mapping, on_mismatch)
        return outcome

    # ------------------------------------------------------------------------------------------- retention

    @property
    def last_checkpoints(self) -> list[str]:
        """The checkpoints that this saver keeps, oldest first."""
        if self._core is not None:
            return self._core.last_checkpoints
        return [path for path, _ in self._known_before or ()]

    def set_last_checkpoints(self, last_checkpoints: list[str]) -> None:
        """Has the saver take checkpoints for ones that it keeps, and that it never deletes."""
        self.set_last_checkpoints_with_time([(path, math.inf) for path in _list(last_checkpoints)])

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time: list[tuple[str, float]]) -> None:
        """Has the saver take checkpoints, with the times when they were saved, for ones that it keeps."""
        checkpoints = _list(last_checkpoints_with_time)
        if self._core is not None:
            self._core.set_last_checkpoints(checkpoints)
        else:
            self._known_before = checkpoints

    def recover_last_checkpoints(self, checkpoint_paths: Sequence[str]) -> None:
        """Has the saver take those of the checkpoints that exist for ones that it keeps."""
        self.set_last_checkpoints_with_time(existing_with_times(checkpoint_paths))

    # ---------------------------------------------------------------------------------------------- protos

    def as_saver_def(self) -> SaverDef | None:
        return self.saver_def

    def to_proto(self, export_scope: str | None = None) -> SaverDef | None:
        """The message, with names below `export_scope`; None if the saver is not in that scope."""
        return None if self.saver_def is None else saver_def_without(self.saver_def, export_scope)

    @staticmethod
    def from_proto(saver_def: SaverDef, import_scope: str | None = None) -> Saver:
        """The saver that a SaverDef describes, whose nodes are in the graph being built."""
        return Saver(saver_def=saver_def, name=import_scope)


def step_number(session: SessionLike, step: Step | int | None) -> int | None:
    """The number of a step that is given as one, or as a variable."""
    if step is None:
        return None
    return int(step) if isinstance(step, int | np.integer) else step_in(session, step)


def _list(items: Any) -> list[Any]:
    if not isinstance(items, list):
        raise WrongTypeError(f"expected a list of checkpoints, got {type(items).__name__}")
    return items
