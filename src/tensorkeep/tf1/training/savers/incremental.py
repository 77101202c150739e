"""Incremental checkpoints: between full saves, what changed since the last of them.

    <folder>/model.ckpt-100.index                                           full
    <folder>/.incremental_checkpoint/checkpoint                             names the newest incremental ones
    <folder>/.incremental_checkpoint/incremental_model.ckpt-150.index       what changed from step 100 to 150

An incremental checkpoint holds everything since the full one, so the newest is all that is needed besides that.
"""

from __future__ import annotations

import logging
import posixpath
from collections.abc import Mapping
from typing import Any, Final

from tensorkeep.checkpoint.finding.latest import located_state
from tensorkeep.checkpoint.finding.state_file import STATE_FILE
from tensorkeep.checkpoint.restore.items import RestoreOutcome
from tensorkeep.checkpoint.restore.wanted_tensors import OnMismatch, Policy
from tensorkeep.embedding.restore.finding_deltas import later_full, newest_delta
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import current_graph
from tensorkeep.graph.collections import saveable_objects
from tensorkeep.graph.graph import Graph
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text
from tensorkeep.proto.messages import SaverDef
from tensorkeep.runtime.session import Session
from tensorkeep.saving.saver import GraphFile, Saver
from tensorkeep.tf1.training.savers.incremental_graph import SCOPE, add_restoring_to_model, by_rows
from tensorkeep.tf1.variables.embedding_variables.saving import EmbeddingSaveable
from tensorkeep.tf1.variables.saveable import sorted_saveables

LOG: Final = logging.getLogger("tensorkeep")

DELTA_FOLDER: Final = ".incremental_checkpoint"
DELTA_BASE: Final = "incremental_model.ckpt"

_NO_GRAPH: Final = GraphFile(is_written=False)


def incremental_def(saver_def: SaverDef, graph: Graph) -> SaverDef | None:
    """The operations for incremental checkpoints that stand beside those of a saver, if there are any."""
    scope = saver_def.filename_tensor_name.rpartition("/")[0]
    save, restore = (f"{scope}/{SCOPE}/{name}" for name in ("save", "restore"))
    if save not in graph or restore not in graph:
        return None
    found = SaverDef.FromString(saver_def.SerializeToString())
    found.save_tensor_name, found.restore_op_name, found.sharded = f"{save}:0", restore, False
    return found


def restoring_in_model(graph: Graph, saver_def: SaverDef | None) -> SaverDef | None:
    """Adds what puts incremental checkpoints over a model to the graph being built; None if it has nothing to save.

    Of plain variables the rows that changed are expected where those of the model's own saver save them so.
    """
    saveables = sorted_saveables(saveable_objects(current_graph()))
    if not saveables:
        return None
    tables = [saveable for saveable in saveables if isinstance(saveable, EmbeddingSaveable)]
    plain = [saveable for saveable in saveables if saveable not in tables]
    scope = "" if saver_def is None else saver_def.filename_tensor_name.rpartition("/")[0]
    saves_rows = f"{scope}/{SCOPE}/restored_delta" in graph
    return add_restoring_to_model(plain, by_rows(plain) if saves_rows else [], tables)


def incremental_arguments(save_restore: bool, include_normal_var: bool) -> dict[str, Any]:
    """What a builder of savers is told about incremental checkpoints, in DeepRec's words.

    `include_normal_var`: of plain variables, too, only the rows that changed are saved, where they change by rows.
    """
    if include_normal_var and not save_restore:
        raise InvalidArgumentError(
            "incremental_include_normal_var=True says what an incremental checkpoint holds; set "
            "incremental_save_restore=True, too"
        )
    rows = {"incremental_rows": True} if include_normal_var else {}
    return {"incremental": True, **rows} if save_restore else {}


class IncrementalSaver:
    """Saves what changed since the last full checkpoint of a saver, and restores it over that."""

    def __init__(self, graph: Graph, saver_def: SaverDef, full: Saver) -> None:
        self._saver = Saver(graph, saver_def, full.options)

    @classmethod
    def beside(cls, full: Saver, graph: Graph) -> IncrementalSaver | None:
        """The incremental saver that belongs to a saver; None if its graph does not have the operations."""
        found = incremental_def(full.saver_def, graph)
        return None if found is None else cls(graph, found, full)

    def save(self, session: Session, full_path: PathLike, step: int | None) -> str:
        """Saves what changed since the full checkpoint that was saved to `full_path` last; gives the prefix."""
        folder = posixpath.join(posixpath.dirname(path_text(full_path)) or ".", DELTA_FOLDER)
        return self.save_at(session, posixpath.join(folder, DELTA_BASE), step)

    def save_at(self, session: Session, path: PathLike, step: int | None, *, writes_state: bool = True) -> str:
        """Saves what changed under a path of its own; gives the prefix, which ends in the step if there is one."""
        state_file = STATE_FILE if writes_state else None
        saved = self._saver.save(session, path, step=step, state_file=state_file, graph_file=_NO_GRAPH)
        assert isinstance(saved, str)
        return saved

    @property
    def saver_def(self) -> SaverDef:
        """The operations that save and restore what changed."""
        return self._saver.saver_def

    @property
    def last_checkpoints(self) -> list[str]:
        """The incremental checkpoints that are kept, oldest first."""
        return self._saver.last_checkpoints

    def restore(
        self,
        session: Session,
        prefix: PathLike,
        *,
        mapping: Mapping[str, str] | None = None,
        on_mismatch: Policy = OnMismatch.STRICT,
    ) -> None:
        """Puts an incremental checkpoint over what was restored from the full one that it goes with."""
        self._saver.restore(session, prefix, mapping=mapping, on_mismatch=on_mismatch)

    def restore_newest(
        self,
        session: Session,
        full: PathLike,
        outcome: RestoreOutcome,
        mapping: Mapping[str, str] | None = None,
        on_mismatch: Policy = OnMismatch.STRICT,
    ) -> str | None:
        """Puts the newest incremental checkpoint that goes with a full one over it; None if there is none.

        The full one has just been restored, with that outcome.
        """
        newest = delta_of(path_text(full), session.surroundings.filesystem)
        self.restore_over(session, full, outcome, newest, mapping, on_mismatch)
        return newest

    def restore_over(
        self,
        session: Session,
        full: PathLike,
        outcome: RestoreOutcome,
        prefix: str | None,
        mapping: Mapping[str, str] | None = None,
        on_mismatch: Policy = OnMismatch.STRICT,
    ) -> None:
        """Puts an incremental checkpoint, or none, over a full one that has just been restored with that outcome.

        If that was restored as it is, what changes from now on is a change to it.
        """
        is_exact = not mapping and outcome.is_complete
        if is_exact:
            self._tell(session, "restored", path_text(full))
        if prefix is not None:
            LOG.info("Restoring what changed since from %s", prefix)
            self.restore(session, prefix, mapping=mapping, on_mismatch=on_mismatch)
            if is_exact:
                self._tell(session, "restored_delta", prefix)

    def recover_incr_checkpoints(self, session: Session, directory: PathLike) -> str | None:
        """Puts the newest incremental checkpoint of a folder over its latest full one, which has just been restored.

        Gives the prefix; None if there is nothing newer than the full one.
        """
        fs = session.surroundings.filesystem
        state = located_state(directory, fs=fs)
        prefix = None if state is None else delta_of(state.latest, fs)
        if prefix is not None:
            LOG.info("Restoring what changed since from %s", prefix)
            self.restore(session, prefix)
        return prefix

    def _tell(self, session: Session, operation: str, prefix: str) -> None:
        """Runs the operation that says what plain variables have just been restored from, if there is one."""
        saver_def = self._saver.saver_def
        name = f"{saver_def.restore_op_name.rpartition('/')[0]}/{operation}"
        if name in session.graph:
            session.run(session.graph.operation(name), {saver_def.filename_tensor_name: prefix})


def delta_of(full: str, fs: FileSystem) -> str | None:
    """The newest incremental checkpoint that goes with a full one: no other full one lies between them."""
    newest = newest_delta(full, fs=fs)
    if newest is None:
        return None
    later = later_full(full, newest, fs)
    if later is None:
        return newest
    LOG.warning(
        '"%s" does not go with "%s" but with a later full checkpoint, of step %d: it is not restored',
        newest,
        full,
        later,
    )
    return None
