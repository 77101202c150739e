"""Sessions that are ready to train: restored from a checkpoint or initialized, and found to lack nothing.

Order and messages are those of TensorFlow's python/training/session_manager.py.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tensorkeep.checkpoint.finding.latest import located_state
from tensorkeep.checkpoint.finding.state_file import CheckpointState
from tensorkeep.errors import DeadlineExceededError, FailedPreconditionError, InvalidArgumentError
from tensorkeep.graph.arguments import Feeds, Fetches
from tensorkeep.graph.building import current_graph
from tensorkeep.graph.collections import get_collection
from tensorkeep.graph.graph import Graph
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.training.loops.roles import Config, GraphSaver, Options, TrainingSession

LOG: Final = logging.getLogger("tensorkeep")

_FOREVER: Final = float("inf")
SAVED_MODEL_INITIALIZERS: Final = "saved_model_initializers"


def session_of(master: str, graph: Graph, config: Config) -> Session:
    """A session of the core, which has no master and takes no configuration."""
    if master or config is not None:
        raise InvalidArgumentError(f"a session runs in this process: there is no master {master!r}, no {config!r}")
    return Session(graph)


class SessionManager:
    """Makes sessions, and brings them to the point where training starts or goes on.

    `ready_op` says what is still missing: it gives the names of variables without a value, or raises. `local_init_op`
    initializes what no checkpoint holds, once `ready_for_local_init_op` lets it.
    """

    new_session: Callable[[str, Graph, Config], TrainingSession] = staticmethod(session_of)
    filesystem: FileSystem = FILES
    clock: Callable[[], float] = staticmethod(time.time)
    sleep: Callable[[float], None] = staticmethod(time.sleep)

    def __init__(
        self,
        local_init_op: Fetches = None,
        ready_op: Fetches = None,
        ready_for_local_init_op: Fetches = None,
        graph: Graph | None = None,
        recovery_wait_secs: float = 30,
        local_init_run_options: Options = None,
        local_init_feed_dict: Feeds | None = None,
    ) -> None:
        if ready_for_local_init_op is not None and local_init_op is None:
            raise InvalidArgumentError(
                "If you pass a ready_for_local_init_op you must also pass a local_init_op , "
                f"ready_for_local_init_op [{ready_for_local_init_op}]"
            )
        self._local_init_op = local_init_op
        self._ready_op = ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._graph = current_graph() if graph is None else graph
        self._recovery_wait_secs = recovery_wait_secs
        self._local_init_run_options = local_init_run_options
        self._local_init_feed_dict = local_init_feed_dict

    # ------------------------------------------------------------------------------------------ three ways

    def prepare_session(
        self,
        master: str,
        init_op: Fetches = None,
        saver: GraphSaver | None = None,
        checkpoint_dir: PathLike | None = None,
        checkpoint_filename_with_path: PathLike | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: Config = None,
        init_feed_dict: Feeds | None = None,
        init_fn: Callable[[TrainingSession], None] | None = None,
        *,
        incr_saver: GraphSaver | None = None,
    ) -> TrainingSession:
        """A session restored from a checkpoint if there is one, else initialized by `init_op` and `init_fn`.

        `incr_saver` puts the newest incremental checkpoint of the folder over the full one, as DeepRec's does; a saver
        made with `incremental_save_restore=True` does so without it. FailedPreconditionError if variables lack a value
        after that.
        """
        sess, is_restored = self._restored(
            master, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint, max_wait_secs, config,
            incr_saver,
        )  # fmt: skip
        if not is_restored:
            if init_op is None and not init_fn and self._local_init_op is None:
                raise FailedPreconditionError(
                    "Model is not initialized and no init_op or init_fn or local_init_op was given"
                )
            if init_op is not None:
                sess.run(init_op, init_feed_dict)
            if init_fn:
                init_fn(sess)
        lacking = self._run_local_init(sess)
        what = f"Init op: {_name(init_op)}, init fn: {init_fn}"
        if lacking is not None:
            raise FailedPreconditionError(
                f"Init operations did not make model ready for local_init.  {what}, error: {lacking}"
            )
        lacking = self._lacking(self._ready_op, sess, "Model not ready")
        if lacking is not None:
            raise FailedPreconditionError(
                f"Init operations did not make model ready.  {what}, local_init_op: {_name(self._local_init_op)}, "
                f"error: {lacking}"
            )
        return sess

    def recover_session(
        self,
        master: str,
        saver: GraphSaver | None = None,
        checkpoint_dir: PathLike | None = None,
        checkpoint_filename_with_path: PathLike | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: Config = None,
    ) -> tuple[TrainingSession, bool]:
        """A session, and whether a checkpoint was found and made it ready."""
        sess, is_restored = self._restored(
            master, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint, max_wait_secs, config
        )
        lacking = self._run_local_init(sess)
        if not is_restored:
            return sess, False
        source = checkpoint_dir or checkpoint_filename_with_path
        if lacking is not None:
            LOG.info("Restoring model from %s did not make model ready for local init: %s", source, lacking)
            return sess, False
        lacking = self._lacking(self._ready_op, sess, "Model not ready")
        if lacking is not None:
            LOG.info("Restoring model from %s did not make model ready: %s", source, lacking)
            return sess, False
        LOG.info("Restored model from %s", source)
        return sess, True

    def wait_for_session(
        self, master: str, config: Config = None, max_wait_secs: float | None = _FOREVER
    ) -> TrainingSession:
        """A session of variables that somebody else initializes. DeadlineExceededError if that takes too long."""
        longest = _FOREVER if max_wait_secs is None else max_wait_secs
        deadline = self.clock() + longest
        while True:
            sess = self.new_session(master, self._graph, config)
            lacking_locally = lacking = self._run_local_init(sess)
            if lacking_locally is None:
                lacking = self._lacking(self._ready_op, sess, "Model not ready")
                if lacking is None:
                    return sess
            sess.close()
            if max(0.0, deadline - self.clock()) - self._recovery_wait_secs < 0:
                raise DeadlineExceededError(f"Session was not ready after waiting {longest:.0f} secs: {lacking}")
            LOG.info(
                "Waiting for model to be ready.  Ready_for_local_init_op:  %s, ready: %s", lacking_locally, lacking
            )
            self.sleep(self._recovery_wait_secs)

    # ------------------------------------------------------------------------------------------ steps

    def _restored(
        self,
        master: str,
        saver: GraphSaver | None,
        directory: PathLike | None,
        path: PathLike | None,
        is_waiting: bool,
        max_wait_secs: float,
        config: Config,
        incr_saver: GraphSaver | None = None,
    ) -> tuple[TrainingSession, bool]:
        """A new session, and whether it was restored."""
        if directory and path:
            raise InvalidArgumentError("Can not provide both checkpoint_dir and checkpoint_filename_with_path.")
        sess = self.new_session(master, self._graph, config)
        try:
            is_restored = self._restore_any(sess, saver, directory, path, max_wait_secs if is_waiting else 0)
            if is_restored and incr_saver is not None and incr_saver is not saver:
                self._restore_increments(sess, incr_saver, directory, path)
            return sess, is_restored
        except BaseException:
            sess.close()
            raise

    def _restore_any(
        self,
        sess: TrainingSession,
        saver: GraphSaver | None,
        directory: PathLike | None,
        path: PathLike | None,
        max_wait_secs: float,
    ) -> bool:
        """Restores the checkpoint named, or the latest of the folder; says whether there was one."""
        if not saver or not (directory or path):
            return False
        if path:
            self._restore(sess, saver, path)
            return True
        assert directory is not None
        state = self._state(directory, max_wait_secs)
        if state is None:
            return False
        self._restore(sess, saver, state.latest)
        saver.recover_last_checkpoints(state.all_paths)
        return True

    def _restore_increments(
        self, sess: TrainingSession, incr_saver: GraphSaver, directory: PathLike | None, path: PathLike | None
    ) -> None:
        """Puts what changed since over a full checkpoint, if that was found by its folder, as DeepRec does."""
        if directory:
            incr_saver.recover_incr_checkpoints(sess, directory)
        else:
            LOG.warning(
                "%s was named, not found by checkpoint_dir: incr_saver restores nothing over it. If it is wanted, call "
                "incremental_restore",
                path,
            )

    def _state(self, directory: PathLike, max_wait_secs: float) -> CheckpointState | None:
        """What the state file of a folder says; it is waited for."""
        waited = 0.0
        while True:
            state = located_state(directory, fs=self.filesystem)
            if state is not None or waited >= max_wait_secs:
                return state
            LOG.info("Waiting for checkpoint to be available.")
            self.sleep(self._recovery_wait_secs)
            waited += self._recovery_wait_secs

    def _restore(self, sess: TrainingSession, saver: GraphSaver, path: PathLike) -> None:
        initializers = get_collection(self._graph, SAVED_MODEL_INITIALIZERS)
        if initializers:
            sess.run(initializers)
        saver.restore(sess, path)

    def _run_local_init(self, sess: TrainingSession) -> str | None:
        """What is lacking for the local initializer to be run; None after it was."""
        if self._local_init_op is None:
            return None
        lacking = self._lacking(self._ready_for_local_init_op, sess, "Model not ready for local init")
        if lacking is not None:
            return lacking
        LOG.info("Running local_init_op.")
        options = [] if self._local_init_run_options is None else [self._local_init_run_options]
        run: Callable[..., Any] = sess.run  # the core's takes no options, the facade's does
        run(self._local_init_op, self._local_init_feed_dict, *options)
        LOG.info("Done running local_init_op.")
        return None

    def _lacking(self, op: Fetches, sess: TrainingSession, message: str) -> str | None:
        """What an operation that asks for it says is missing."""
        if op is None:
            return None
        try:
            found = sess.run(op)
        except FailedPreconditionError as error:
            if "uninitialized" not in str(error):
                LOG.warning("%s : error [%s]", message, error)
                raise
            return str(error)
        if found is None or np.asarray(found).dtype == np.int32 or np.size(found) == 0:
            return None
        return "Variables not initialized: " + ", ".join(name.decode() for name in np.ravel(found))


def _name(item: Fetches) -> str:
    return "None" if item is None else getattr(item, "name", f"<no name for {type(item)}>")
