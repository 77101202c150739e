"""Monitored sessions: hooks around every run, threads that stop together, and a new session where one is lost.

They are made of layers, each of which adds one thing to the one below:

    MonitoredSession → recovers → coordinated → hooked → a session

The layers, and what is recovered from, are those of TensorFlow's python/training/monitored_session.py.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from tensorkeep._lazy import later
from tensorkeep.errors import (
    AbortedError,
    FailedPreconditionError,
    InvalidArgumentError,
    OutOfRangeError,
    UnavailableError,
)
from tensorkeep.graph.arguments import Feeds, Fetches
from tensorkeep.graph.building import current_graph
from tensorkeep.graph.collections import GraphKeys, get_collection
from tensorkeep.graph.graph import Graph
from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.tf1.training.inputs.queue_runner import start_queue_runners
from tensorkeep.tf1.training.loops.coordinator import Coordinator
from tensorkeep.tf1.training.loops.hooks import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from tensorkeep.tf1.training.loops.roles import Config, Metadata, Options, TrainingSession
from tensorkeep.tf1.training.loops.scaffold import Scaffold
from tensorkeep.tf1.training.loops.session_creators import ChiefSessionCreator, SessionCreator

if TYPE_CHECKING:
    from tensorkeep.proto import session_config
else:  # messages that few programs need
    session_config = later("tensorkeep.proto.session_config")

LOG: Final = logging.getLogger("tensorkeep")

Own = TypeVar("Own", bound="BaseMonitoredSession")
Result = TypeVar("Result")

PREEMPTION_ERRORS: Final = (AbortedError, UnavailableError)
_LOST: Final = (
    "An error was raised. This may be due to a preemption in a connected worker or parameter server. The current "
    "session will be closed and a new session will be created. Error: %s"
)


class _CoordinatedCreator:
    """Makes sessions with hooks, whose queue runners are started."""

    def __init__(self, creator: SessionCreator, hooks: Sequence[SessionRunHook], stop_grace_period_secs: float) -> None:
        self._creator = creator
        self._hooks = hooks
        self._stop_grace_period_secs = stop_grace_period_secs
        self.coord: Coordinator | None = None
        self.inner: TrainingSession | None = None

    def create_session(self) -> _CoordinatedSession:
        self.inner = self._creator.create_session()
        self.coord = Coordinator(clean_stop_exception_types=[])
        if get_collection(current_graph(), GraphKeys.QUEUE_RUNNERS):
            start_queue_runners(self.inner, self.coord)
        for hook in self._hooks:
            hook.after_create_session(self.inner, self.coord)
        return _CoordinatedSession(_HookedSession(self.inner, self._hooks), self.coord, self._stop_grace_period_secs)


# ---------------------------------------------------------------------------------------------------- Layers


class _WrappedSession:
    """A session around another one. Once closed it has none."""

    def __init__(self, sess: Any) -> None:
        self._sess = sess

    @property
    def graph(self) -> Any:
        return self._sess.graph

    @property
    def sess_str(self) -> Any:
        return self._sess.sess_str

    def should_stop(self) -> bool:
        if self._check_stop() or not self._sess:
            return True
        return isinstance(self._sess, _WrappedSession) and self._sess.should_stop()

    def _check_stop(self) -> bool:
        """Whether this layer wants to stop, whatever those below it want."""
        return False

    def close(self) -> None:
        if self._sess:
            try:
                self._sess.close()
            except PREEMPTION_ERRORS as error:
                LOG.error(
                    "An error occurred when attempting to close the session. This may be due to a preemption in a "
                    "connected worker or parameter server. Error: %s",
                    error,
                )
            finally:
                self._sess = None

    def run(self, *args: Any, **kwargs: Any) -> Any:
        return self._sess.run(*args, **kwargs)

    def run_step_fn(
        self, step_fn: Callable[[StepContext], Any], raw_session: TrainingSession, run_with_hooks: Any
    ) -> Any:
        return step_fn(StepContext(raw_session, run_with_hooks or self.run))


class _HookedSession(_WrappedSession):
    """Calls hooks before and after each run."""

    def __init__(self, sess: Any, hooks: Sequence[SessionRunHook]) -> None:
        super().__init__(sess)
        self._hooks = hooks
        self._should_stop = False

    def _check_stop(self) -> bool:
        return self._should_stop

    def run(
        self, fetches: Fetches, feed_dict: Feeds | None = None, options: Options = None, run_metadata: Metadata = None
    ) -> Any:
        if self.should_stop():
            raise FailedPreconditionError("Run called even after should_stop requested.")
        context = SessionRunContext(SessionRunArgs(fetches, feed_dict), self._sess)
        requests = {hook: request for hook in self._hooks if (request := hook.before_run(context)) is not None}
        wanted: dict[Any, Any] = {"caller": fetches}
        wanted.update((hook, asked.fetches) for hook, asked in requests.items() if asked.fetches is not None)
        options, run_metadata = _traced_options([asked.options for asked in requests.values()], options, run_metadata)
        settings = [] if options is None and run_metadata is None else [options, run_metadata]
        outputs = self._sess.run(wanted, _merged_feeds(feed_dict, requests), *settings)
        for hook in self._hooks:
            hook.after_run(context, SessionRunValues(outputs.get(hook), options, run_metadata))
        self._should_stop = self._should_stop or context.stop_requested
        return outputs["caller"]


def _traced_options(asked: Sequence[Options], own: Options, metadata: Metadata) -> tuple[Options, Metadata]:
    """The settings of a run, and where it reports: those of the program, unless a hook asks for a trace."""
    wanted = [options for options in asked if options is not None]
    if not wanted:
        return own, metadata
    merged = session_config.RunOptions()
    if own is not None:
        merged.CopyFrom(own)
    for options in wanted:
        merged.trace_level = max(merged.trace_level, options.trace_level)
        merged.timeout_in_ms = max(merged.timeout_in_ms, options.timeout_in_ms)
    return merged, session_config.RunMetadata() if metadata is None else metadata


def _merged_feeds(own: Feeds | None, requests: Mapping[SessionRunHook, SessionRunArgs]) -> Feeds | None:
    """What the program and the hooks feed. A tensor that two of them feed is an error."""
    merged: dict[Any, Any] = {}
    for request in requests.values():
        _check_apart(merged, request.feed_dict or {}, "Same tensor is fed by two hooks.")
        merged.update(request.feed_dict or {})
    if not merged:
        return own
    _check_apart(own or {}, merged, "Same tensor is fed by a SessionRunHook and user.")
    return {**merged, **(own or {})}


def _check_apart(first: Mapping[Any, Any], second: Mapping[Any, Any], message: str) -> None:
    both = [key for key in first if key in second]
    if both:
        raise FailedPreconditionError(f"{message} Conflict(s): {both}")


class _CoordinatedSession(_WrappedSession):
    """Stops when a coordinator says so, and stops its threads when it is closed."""

    def __init__(self, sess: Any, coord: Coordinator, stop_grace_period_secs: float) -> None:
        super().__init__(sess)
        self._coord = coord
        self._stop_grace_period_secs = stop_grace_period_secs

    def _check_stop(self) -> bool:
        self._coord.raise_requested_exception()
        return self._coord.should_stop()

    def close(self) -> None:
        self._coord.request_stop()
        try:
            self._coord.join(stop_grace_period_secs=self._stop_grace_period_secs, ignore_live_threads=True)
        finally:
            try:
                super().close()
            except Exception as error:
                LOG.debug("Ignored exception: %s", error)  # `join` has raised what matters

    def run(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return self._sess.run(*args, **kwargs)
        except PREEMPTION_ERRORS:
            raise
        except Exception as error:
            # What failed here may only follow from what failed in a thread, which may be curable.
            try:
                self._coord.raise_requested_exception()
            except PREEMPTION_ERRORS:
                raise
            except Exception:
                raise error from None
            raise


class _RecoverableSession(_WrappedSession):
    """Makes a new session when one is lost, and runs again."""

    def __init__(self, creator: _CoordinatedCreator) -> None:
        self._creator = creator
        super().__init__(self._create_session())

    def _create_session(self) -> Any:
        while True:
            try:
                return self._creator.create_session()
            except PREEMPTION_ERRORS as error:
                LOG.info("An error was raised while a session was being created. A new session is made. %s", error)

    def _check_stop(self) -> bool:
        try:
            return self._sess._check_stop() if self._sess else True
        except PREEMPTION_ERRORS as error:
            LOG.info(_LOST, error)
            self.close()
            self._sess = self._create_session()
            return False
        except Exception:
            # `should_stop` does not raise: the next run does.
            return True

    def _recovering(self, action: Callable[[Any], Any]) -> Any:
        while True:
            try:
                if not self._sess:
                    self._sess = self._create_session()
                return action(self._sess)
            except PREEMPTION_ERRORS as error:
                LOG.info(_LOST, error)
                self.close()
                self._sess = None

    def run(self, *args: Any, **kwargs: Any) -> Any:
        return self._recovering(lambda sess: sess.run(*args, **kwargs))

    def run_step_fn(
        self, step_fn: Callable[[StepContext], Any], raw_session: TrainingSession, run_with_hooks: Any
    ) -> Any:
        return self._recovering(lambda sess: sess.run_step_fn(step_fn, raw_session, sess.run))


# ---------------------------------------------------------------------------------------------------- Sessions


class StepContext:
    """What a step function works with."""

    def __init__(self, session: TrainingSession, run_with_hooks_fn: Callable[..., Any]) -> None:
        self._session = session
        self._run_with_hooks_fn = run_with_hooks_fn

    @property
    def session(self) -> TrainingSession:
        """The session underneath, which calls no hooks."""
        return self._session

    def run_with_hooks(self, *args: Any, **kwargs: Any) -> Any:
        return self._run_with_hooks_fn(*args, **kwargs)

    def request_stop(self) -> None:
        """Ends the step, and training."""
        raise StopIteration("step_fn has requested the iterations to stop.")


class BaseMonitoredSession:
    """What monitored sessions share. Use one in a `with` statement, and run while `should_stop()` is false."""

    StepContext: ClassVar = StepContext
    creator_type: ClassVar[type[ChiefSessionCreator]] = ChiefSessionCreator

    def __init__(
        self,
        session_creator: SessionCreator | None,
        hooks: Sequence[SessionRunHook] | None,
        should_recover: bool,
        stop_grace_period_secs: float = 120,
    ) -> None:
        self._graph_being_built = current_graph()
        self._graph_was_finalized = self._graph_being_built.finalized
        self._hooks = hooks or []
        for hook in self._hooks:
            hook.begin()
        self._creator = _CoordinatedCreator(session_creator or self.creator_type(), self._hooks, stop_grace_period_secs)
        self._sess: Any = _RecoverableSession(self._creator) if should_recover else self._creator.create_session()

    @property
    def graph(self) -> Graph | None:
        return None if self._creator.inner is None else self._creator.inner.graph

    def _tf_sess(self) -> Any:
        """The session underneath. Programs call it, private as it is."""
        return self._creator.inner

    def run(
        self, fetches: Fetches, feed_dict: Feeds | None = None, options: Options = None, run_metadata: Metadata = None
    ) -> Any:
        """Runs with hooks. A session that is lost on the way is replaced, if this kind does so."""
        return self._open().run(fetches, feed_dict, options, run_metadata)

    def run_step_fn(self, step_fn: Callable[..., Result]) -> Result:
        """Calls `step_fn(step_context)`, whose `run_with_hooks` runs with hooks."""
        names = tuple(inspect.signature(step_fn).parameters)
        if names != ("step_context",):
            raise InvalidArgumentError(
                "`step_fn` may either have one `step_context` argument, or `self` and `step_context` arguments if "
                f"it's an instance method. Got {names} instead."
            )
        result: Result = self._open().run_step_fn(step_fn, self._creator.inner, run_with_hooks=None)
        return result

    def _open(self) -> Any:
        if self._sess is None:
            raise FailedPreconditionError("Session is already closed.")
        return self._sess

    def should_stop(self) -> bool:
        return self._sess is None or bool(self._sess.should_stop())

    def close(self) -> None:
        self._close(None)

    def __enter__(self: Own) -> Own:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if kind in (OutOfRangeError, StopIteration):
            kind = None  # the end of the input is not a failure
        self._close(kind)
        return kind is None

    def _close(self, kind: type[BaseException] | None) -> None:
        try:
            if kind is None:
                for hook in self._hooks:
                    hook.end(self._inner())
        finally:
            try:
                self._open().close()
            finally:
                self._sess = self._creator.inner = self._creator.coord = None
                if not self._graph_was_finalized:
                    self._graph_being_built.unfinalize()

    def _inner(self) -> TrainingSession:
        """The session underneath, while there is one."""
        assert self._creator.inner is not None
        return self._creator.inner

    def _is_closed(self) -> bool:
        return self._creator.inner is None


class MonitoredSession(BaseMonitoredSession):
    """Runs with hooks, and recovers from the loss of a session: from the last checkpoint, if there is one."""

    def __init__(
        self,
        session_creator: SessionCreator | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        stop_grace_period_secs: float = 120,
    ) -> None:
        super().__init__(session_creator, hooks, True, stop_grace_period_secs)


class SingularMonitoredSession(BaseMonitoredSession):
    """Runs with hooks, in one session: its loss is an error."""

    def __init__(
        self,
        hooks: Sequence[SessionRunHook] | None = None,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: Config = None,
        checkpoint_dir: PathLike | None = None,
        stop_grace_period_secs: float = 120,
        checkpoint_filename_with_path: PathLike | None = None,
    ) -> None:
        creator = self.creator_type(
            scaffold=scaffold,
            master=master,
            config=config,
            checkpoint_dir=checkpoint_dir,
            checkpoint_filename_with_path=checkpoint_filename_with_path,
        )
        super().__init__(creator, hooks, False, stop_grace_period_secs)

    def raw_session(self) -> TrainingSession | None:
        """The session underneath, which calls no hooks."""
        return self._creator.inner
