"""A supervisor: sessions that resume from a folder, and threads that save and summarize while a program trains.

As TensorFlow's python/training/supervisor.py does.
"""

from __future__ import annotations

import logging
import posixpath
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, ClassVar, Final, TypeVar

from tensorkeep.dtypes import INT32, INT64
from tensorkeep.errors import AbortedError, FailedPreconditionError, InvalidArgumentError, NotFoundError
from tensorkeep.graph.arguments import Feeds, Fetches
from tensorkeep.graph.building import building, current_graph
from tensorkeep.graph.collections import GraphKeys, add_to_collection, get_collection
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.messages.files import write_graph
from tensorkeep.graph.messages.graph_def import export_graph
from tensorkeep.io.files.filesystem import PathLike, path_text
from tensorkeep.metagraph.exporting import create_meta_graph_def
from tensorkeep.proto.messages import SessionLog, Summary
from tensorkeep.tf1.functions.control.grouping import group
from tensorkeep.tf1.functions.data.lookup_tables import tables_initializer
from tensorkeep.tf1.functions.data.summaries import merge_all
from tensorkeep.tf1.training.inputs.queue_runner import QueueRunner
from tensorkeep.tf1.training.loops.coordinator import Coordinator, ExceptionInfo, LooperThread
from tensorkeep.tf1.training.loops.events import FileWriter
from tensorkeep.tf1.training.loops.roles import Config, GraphSaver, Options, SummaryWriter, TrainingSession
from tensorkeep.tf1.training.loops.scaffold import no_saver
from tensorkeep.tf1.training.loops.session_manager import SessionManager
from tensorkeep.tf1.training.loops.supervisor_threads import (
    SVStepCounterThread,
    SVSummaryThread,
    SVTimerCheckpointThread,
)
from tensorkeep.tf1.variables.global_step import Step
from tensorkeep.tf1.variables.global_step import global_step as step_value
from tensorkeep.tf1.variables.listing import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)

LOG: Final = logging.getLogger("tensorkeep")

Given = TypeVar("Given")

_UNPLACED: Final = ("Variable", "VariableV2")


class Supervisor:
    """Prepares sessions of a graph, and looks after them while a program trains in them.

    What is not given is taken from the graph's collections, or else made and put there; then the graph is finalized.
    The chief restores from `logdir` and saves there, the others wait for it.
    """

    USE_DEFAULT: ClassVar = 0
    new_saver: Callable[..., GraphSaver] = staticmethod(no_saver)
    manager_type: ClassVar[type[SessionManager]] = SessionManager

    def __init__(
        self,
        graph: Graph | None = None,
        ready_op: Fetches | int = USE_DEFAULT,
        ready_for_local_init_op: Fetches | int = USE_DEFAULT,
        is_chief: bool = True,
        init_op: Fetches | int = USE_DEFAULT,
        init_feed_dict: Feeds | None = None,
        local_init_op: Fetches | int = USE_DEFAULT,
        logdir: PathLike | None = None,
        summary_op: Fetches | int = USE_DEFAULT,
        saver: GraphSaver | int | None = USE_DEFAULT,
        global_step: Step | int | None = USE_DEFAULT,
        save_summaries_secs: float = 120,
        save_model_secs: float = 600,
        recovery_wait_secs: float = 30,
        stop_grace_secs: float = 120,
        checkpoint_basename: str = "model.ckpt",
        session_manager: SessionManager | None = None,
        summary_writer: SummaryWriter | int | None = USE_DEFAULT,
        init_fn: Callable[[TrainingSession], None] | None = None,
        local_init_run_options: Options = None,
    ) -> None:
        self._graph = current_graph() if graph is None else graph
        with building(self._graph):
            self._ready_op = _given_or_collected(ready_op, GraphKeys.READY_OP, report_uninitialized_variables)
            self._ready_for_local_init_op = _given_or_collected(
                ready_for_local_init_op, GraphKeys.READY_FOR_LOCAL_INIT_OP, lambda: None
            )
            self._init_op = _given_or_collected(init_op, GraphKeys.INIT_OP, global_variables_initializer)
            self._local_init_op = _given_or_collected(local_init_op, GraphKeys.LOCAL_INIT_OP, _default_local_init_op)
            self._saver = _given_or_collected(saver, GraphKeys.SAVERS, self._default_saver)
            self._summary_op = _given_or_collected(summary_op, GraphKeys.SUMMARY_OP, merge_all)
            self._global_step = _given_or_collected(global_step, GraphKeys.GLOBAL_STEP, _default_global_step)
        self._init_feed_dict = init_feed_dict
        self._init_fn = init_fn
        self._meta_graph_def = create_meta_graph_def(
            self._graph,
            graph_def=export_graph(self._graph, True),
            saver_def=self._saver.saver_def if self._saver else None,
        )
        self._is_chief = is_chief
        self._coord = Coordinator()
        self._stop_grace_secs = stop_grace_secs
        self._logdir = path_text(logdir) if logdir and is_chief else None
        self._save_summaries_secs = save_summaries_secs if is_chief else None
        self._save_model_secs = save_model_secs if is_chief else None
        self._save_path = posixpath.join(self._logdir, checkpoint_basename) if self._logdir else None
        self._summary_writer = self._writer(summary_writer) if is_chief else None
        self._graph_added_to_summary = False
        self._session_manager = session_manager or self.manager_type(
            local_init_op=self._local_init_op,
            ready_op=self._ready_op,
            ready_for_local_init_op=self._ready_for_local_init_op,
            graph=self._graph,
            recovery_wait_secs=recovery_wait_secs,
            local_init_run_options=local_init_run_options,
        )
        self._check_devices()
        self._graph.finalize()

    def _default_saver(self) -> GraphSaver | None:
        return self.new_saver() if global_variables() else None

    def _writer(self, given: SummaryWriter | int | None) -> SummaryWriter | None:
        if not isinstance(given, int):
            return given
        return FileWriter(self._logdir) if self._logdir else None

    def _check_devices(self) -> None:
        if self._is_chief:
            return
        unplaced = [op.name for op in self._graph.operations if op.type in _UNPLACED and not op.device]
        if unplaced:
            raise InvalidArgumentError(
                f"When using replicas, all Variables must have their device set: {', '.join(unplaced)}"
            )

    # ------------------------------------------------------------------------------------------ properties

    @property
    def is_chief(self) -> bool:
        return self._is_chief

    @property
    def session_manager(self) -> SessionManager:
        return self._session_manager

    @property
    def coord(self) -> Coordinator:
        return self._coord

    @property
    def init_op(self) -> Fetches:
        return self._init_op

    @property
    def init_feed_dict(self) -> Feeds | None:
        return self._init_feed_dict

    @property
    def ready_op(self) -> Fetches:
        return self._ready_op

    @property
    def ready_for_local_init_op(self) -> Fetches:
        return self._ready_for_local_init_op

    @property
    def summary_writer(self) -> SummaryWriter | None:
        return self._summary_writer

    @property
    def summary_op(self) -> Fetches:
        return self._summary_op

    @property
    def save_summaries_secs(self) -> float | None:
        return self._save_summaries_secs

    @property
    def global_step(self) -> Step | None:
        return self._global_step

    @property
    def saver(self) -> GraphSaver | None:
        return self._saver

    @property
    def save_model_secs(self) -> float | None:
        return self._save_model_secs

    @property
    def save_path(self) -> str | None:
        return self._save_path

    # ------------------------------------------------------------------------------------------ sessions

    def prepare_or_wait_for_session(
        self,
        master: str = "",
        config: Config = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        start_standard_services: bool = True,
    ) -> TrainingSession:
        """A session that is ready: of the chief restored or initialized, of the others when the chief has done so."""
        self._coord.clear_stop()
        if self._summary_writer:
            self._summary_writer.reopen()
        if self._is_chief:
            sess = self._session_manager.prepare_session(
                master,
                init_op=self._init_op,
                saver=self._saver,
                checkpoint_dir=self._logdir,
                wait_for_checkpoint=wait_for_checkpoint,
                max_wait_secs=max_wait_secs,
                config=config,
                init_feed_dict=self._init_feed_dict,
                init_fn=self._init_fn,
            )
            self._write_graph()
            if start_standard_services:
                LOG.info("Starting standard services.")
                self.start_standard_services(sess)
        else:
            sess = self._session_manager.wait_for_session(master, config=config, max_wait_secs=max_wait_secs)
        if start_standard_services:
            LOG.info("Starting queue runners.")
            self.start_queue_runners(sess)
        return sess

    @contextmanager
    def managed_session(
        self,
        master: str = "",
        config: Config = None,
        start_standard_services: bool = True,
        close_summary_writer: bool = True,
    ) -> Iterator[TrainingSession]:
        """A session for a `with` statement: all stops at its end, and the first error of any thread is raised there."""
        sess: TrainingSession | None = None
        try:
            sess = self.prepare_or_wait_for_session(
                master=master, config=config, start_standard_services=start_standard_services
            )
            yield sess
        except Exception as error:
            self.request_stop(error)
        finally:
            try:
                self.stop(close_summary_writer=close_summary_writer)
            finally:
                if sess is not None:
                    sess.close()

    def _write_graph(self) -> None:
        if self._logdir:
            write_graph(export_graph(self._graph, True), self._logdir, "graph.pbtxt")
        if self._summary_writer and not self._graph_added_to_summary:
            self._summary_writer.add_graph(self._graph)
            self._summary_writer.add_meta_graph(self._meta_graph_def)
            self._graph_added_to_summary = True

    # ------------------------------------------------------------------------------------------ threads

    def start_standard_services(self, sess: TrainingSession) -> list[LooperThread] | None:
        """Starts the threads that summarize, count steps and save. Needs a `logdir`."""
        if not self._is_chief:
            raise FailedPreconditionError(
                "Only chief supervisor can start standard services. Because only chief supervisors can write events."
            )
        if not self._logdir:
            LOG.warning("Standard services need a 'logdir' passed to the SessionManager")
            return None
        if self._global_step is not None and self._summary_writer:
            step = step_value(sess, self._global_step)
            self._summary_writer.add_session_log(SessionLog(status=SessionLog.START), step)
        threads: list[LooperThread] = []
        if self._save_summaries_secs and self._summary_writer:
            if self._summary_op is not None:
                threads.append(SVSummaryThread(self, sess))
            if self._global_step is not None:
                threads.append(SVStepCounterThread(self, sess))
        if self._saver and self._save_model_secs:
            threads.append(SVTimerCheckpointThread(self, sess))
        for thread in threads:
            thread.start()
        return threads

    def start_queue_runners(
        self, sess: TrainingSession, queue_runners: Sequence[QueueRunner] | None = None
    ) -> list[threading.Thread]:
        """Starts the threads of queue runners, by default of all that the graph has."""
        runners = get_collection(self._graph, GraphKeys.QUEUE_RUNNERS) if queue_runners is None else queue_runners
        return [
            thread
            for runner in runners
            for thread in runner.create_threads(sess, coord=self._coord, daemon=True, start=True)
        ]

    def loop(
        self,
        timer_interval_secs: float | None,
        target: Callable[..., Any],
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> LooperThread:
        """Starts a thread that calls `target` once per interval until all stop."""
        return LooperThread.loop(self._coord, timer_interval_secs, target, args, kwargs)

    def stop(
        self,
        threads: Sequence[threading.Thread] | None = None,
        close_summary_writer: bool = True,
        ignore_live_threads: bool = False,
    ) -> None:
        """Stops all threads, and raises the first error of any."""
        self._coord.request_stop()
        try:
            self._coord.join(
                threads, stop_grace_period_secs=self._stop_grace_secs, ignore_live_threads=ignore_live_threads
            )
        finally:
            if close_summary_writer and self._summary_writer:
                self._summary_writer.add_session_log(SessionLog(status=SessionLog.STOP))
                self._summary_writer.close()
                self._graph_added_to_summary = False

    def request_stop(self, ex: BaseException | ExceptionInfo | None = None) -> None:
        self._coord.request_stop(ex=ex)

    def should_stop(self) -> bool:
        return self._coord.should_stop()

    def stop_on_exception(self) -> AbstractContextManager[None]:
        return self._coord.stop_on_exception()

    def wait_for_stop(self) -> None:
        self._coord.wait_for_stop()

    def summary_computed(self, sess: TrainingSession, summary: Summary | bytes, global_step: int | None = None) -> None:
        """Writes a summary that the program has computed itself."""
        if not self._summary_writer:
            raise FailedPreconditionError("Writing a summary requires a summary writer.")
        if global_step is None and self._global_step is not None:
            global_step = step_value(sess, self._global_step)
        self._summary_writer.add_summary(summary, global_step)

    PrepareSession = prepare_or_wait_for_session
    StartQueueRunners = start_queue_runners
    StartStandardServices = start_standard_services
    Stop = stop
    RequestStop = request_stop
    Loop = loop
    ShouldStop = should_stop
    StopOnException = stop_on_exception
    WaitForStop = wait_for_stop
    SummaryComputed = summary_computed


def _given_or_collected(given: Given | int, key: str, make: Callable[[], Given]) -> Given:
    """What was given; else the first of a collection of the graph being built; else one that is made and put there."""
    if not isinstance(given, int):
        return given
    graph = current_graph()
    listed = get_collection(graph, key)
    if len(listed) > 1:
        LOG.info("Found %d %s operations. Returning the first one.", len(listed), key)
    if listed:
        first: Given = listed[0]
        return first
    made = make()
    if made is not None:
        add_to_collection(graph, key, made)
    return made


def _default_local_init_op() -> Operation:
    return group(local_variables_initializer(), tables_initializer())


def _default_global_step() -> Tensor | None:
    try:
        found = current_graph().tensor("global_step:0")
    except NotFoundError:
        return None
    if found.dtype.base_dtype in (INT32, INT64):
        return found
    LOG.warning("Found 'global_step' is not an int type: %s", found.dtype)
    return None


def basic_train_loop(
    supervisor: Supervisor,
    train_step_fn: Callable[..., Any],
    args: Sequence[Any] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    master: str = "",
) -> None:
    """Calls `train_step_fn(sess, *args, **kwargs)` until the supervisor says stop; again if a session is lost."""
    while True:
        try:
            with supervisor.managed_session(master) as sess:
                while not supervisor.should_stop():
                    train_step_fn(sess, *(args or ()), **(kwargs or {}))
            return
        except AbortedError:
            continue
