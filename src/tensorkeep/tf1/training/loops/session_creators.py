"""Makers of sessions for monitored ones: of the chief, who initializes or restores, and of workers, who wait for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from tensorkeep.graph.building import current_graph
from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.tf1.training.loops.roles import Config, TrainingSession
from tensorkeep.tf1.training.loops.scaffold import Scaffold
from tensorkeep.tf1.training.loops.session_manager import SessionManager


class SessionCreator(ABC):
    """Makes the sessions that a monitored session runs in."""

    @abstractmethod
    def create_session(self) -> TrainingSession:
        """A session that is ready."""


class _ScaffoldedCreator(SessionCreator):
    """Makes sessions of the graph being built when it is called, by a scaffold."""

    scaffold_type: ClassVar[type[Scaffold]] = Scaffold
    manager_type: ClassVar[type[SessionManager]] = SessionManager

    def __init__(self, scaffold: Scaffold | None, master: str, config: Config) -> None:
        self._scaffold = scaffold or self.scaffold_type()
        self._master = master
        self._config = config
        self._manager: SessionManager | None = None

    def _session_manager(self) -> SessionManager:
        if self._manager is None:
            self._manager = self.manager_type(
                local_init_op=self._scaffold.local_init_op,
                local_init_feed_dict=self._scaffold.local_init_feed_dict,
                ready_op=self._scaffold.ready_op,
                ready_for_local_init_op=self._scaffold.ready_for_local_init_op,
                graph=current_graph(),
            )
        return self._manager


class ChiefSessionCreator(_ScaffoldedCreator):
    """Makes sessions that are restored from a checkpoint, or initialized."""

    def __init__(
        self,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: Config = None,
        checkpoint_dir: PathLike | None = None,
        checkpoint_filename_with_path: PathLike | None = None,
    ) -> None:
        super().__init__(scaffold, master, config)
        self._checkpoint_dir = checkpoint_dir
        self._checkpoint_filename_with_path = checkpoint_filename_with_path

    def create_session(self) -> TrainingSession:
        scaffold = self._scaffold.finalize()
        return self._session_manager().prepare_session(
            self._master,
            saver=scaffold.saver,
            checkpoint_dir=self._checkpoint_dir,
            checkpoint_filename_with_path=self._checkpoint_filename_with_path,
            config=self._config,
            init_op=scaffold.init_op,
            init_feed_dict=scaffold.init_feed_dict,
            init_fn=scaffold.init_fn,
        )


class WorkerSessionCreator(_ScaffoldedCreator):
    """Makes sessions of variables that somebody else initializes."""

    def __init__(
        self, scaffold: Scaffold | None = None, master: str = "", config: Config = None, max_wait_secs: float = 30 * 60
    ) -> None:
        super().__init__(scaffold, master, config)
        self._max_wait_secs = max_wait_secs

    def create_session(self) -> TrainingSession:
        self._scaffold.finalize()
        return self._session_manager().wait_for_session(
            self._master, config=self._config, max_wait_secs=self._max_wait_secs
        )
