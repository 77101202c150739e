"""`tf.train`: training loops over TensorFlow 1's sessions and savers, in the graph and the session in force."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence

from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import SessionLike
from tensorkeep.graph.collections import GraphKeys
from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.proto.messages import Event
from tensorkeep.tf1.training.inputs import queue_runner
from tensorkeep.tf1.training.inputs.staging import PrefetchRunnerHook
from tensorkeep.tf1.training.loops import events, monitored, scaffold, session_creators, session_manager, supervisor
from tensorkeep.tf1.training.loops.coordinator import Coordinator
from tensorkeep.tf1.training.loops.hooks import Named, SessionRunHook
from tensorkeep.tf1.training.loops.monitored_training import USE_DEFAULT, Interval, Parts, monitored_training_session
from tensorkeep.tf1.training.loops.recording_hooks import Metrics
from tensorkeep.tf1.training.loops.roles import Config
from tensorkeep.v1 import defaults
from tensorkeep.v1.sessions import Session, core_session
from tensorkeep.v1.stored.saving import Saver


class SessionManager(session_manager.SessionManager):
    """Makes sessions of `tf.Session`."""

    new_session = Session


class Scaffold(scaffold.Scaffold):
    """Saves by a `tf.train.Saver`."""

    new_saver = Saver


class ChiefSessionCreator(session_creators.ChiefSessionCreator):
    """Makes sessions of `tf.Session` that are restored from a checkpoint, or initialized."""

    scaffold_type = Scaffold
    manager_type = SessionManager


class WorkerSessionCreator(session_creators.WorkerSessionCreator):
    """Makes sessions of `tf.Session` of variables that somebody else initializes."""

    scaffold_type = Scaffold
    manager_type = SessionManager


class MonitoredSession(monitored.MonitoredSession):
    """Runs with hooks in a `tf.Session`, and recovers from the loss of it."""

    creator_type = ChiefSessionCreator


class SingularMonitoredSession(monitored.SingularMonitoredSession):
    """Runs with hooks in one `tf.Session`."""

    creator_type = ChiefSessionCreator


class Supervisor(supervisor.Supervisor):
    """Looks after sessions of `tf.Session`, and saves by a `tf.train.Saver`."""

    new_saver = Saver
    manager_type = SessionManager


_PARTS = Parts(Scaffold, ChiefSessionCreator, WorkerSessionCreator, MonitoredSession)


def MonitoredTrainingSession(  # noqa: N802 - TensorFlow's name
    master: str = "",
    is_chief: bool = True,
    checkpoint_dir: PathLike | None = None,
    scaffold: scaffold.Scaffold | None = None,
    hooks: Sequence[SessionRunHook] | None = None,
    chief_only_hooks: Sequence[SessionRunHook] | None = None,
    save_checkpoint_secs: Interval = USE_DEFAULT,
    save_summaries_steps: Interval = USE_DEFAULT,
    save_summaries_secs: Interval = USE_DEFAULT,
    config: Config = None,
    stop_grace_period_secs: float = 120,
    log_step_count_steps: int | None = 100,
    max_wait_secs: float = 7200,
    save_checkpoint_steps: Interval = USE_DEFAULT,
    summary_dir: PathLike | None = None,
    save_graph_def: bool = True,
    *,
    save_incremental_checkpoint_secs: float | None = None,
    target_nodes_or_tensors: Iterable[Named] | None = None,
    save_checkpoint_metrics: Metrics | None = None,
) -> monitored.MonitoredSession:
    """A session that resumes from `checkpoint_dir` and saves there, every ten minutes and at the end by default.

    `save_checkpoint_metrics`, tensors by name or a function of the session and the step, are told to the saver.
    """
    return monitored_training_session(_PARTS, **locals())


def start_queue_runners(
    sess: SessionLike | None = None,
    coord: Coordinator | None = None,
    daemon: bool = True,
    start: bool = True,
    collection: str = GraphKeys.QUEUE_RUNNERS,
) -> list[threading.Thread]:
    """Starts the threads of all queue runners of the graph in force. A monitored session has done so itself."""
    found = sess or defaults.get_default_session()
    if found is None:
        raise InvalidArgumentError(
            "Cannot start queue runners: No default session is registered. Use `with sess.as_default()` or pass an "
            "explicit session to tf.start_queue_runners(sess=sess)"
        )
    if isinstance(found, monitored.BaseMonitoredSession):
        return []
    if not isinstance(found, Session):
        raise WrongTypeError(f"sess must be a `tf.Session` object. Given class: {type(found)}")
    return queue_runner.start_queue_runners(found, coord, daemon, start, collection)


def make_prefetch_hook() -> PrefetchRunnerHook:
    """A hook that has what `tf.staged` staged computed ahead, for as long as the session is open."""
    return PrefetchRunnerHook(lambda session: core_session(session).resources)


def summary_iterator(path: PathLike) -> Iterator[Event]:
    """The events of a file."""
    return events.summary_iterator(path)
