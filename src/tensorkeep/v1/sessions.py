"""`tf.Session`: a session with TensorFlow 1's arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from types import SimpleNamespace, TracebackType
from typing import TYPE_CHECKING, Any, Final, cast
from weakref import WeakSet

from tensorkeep._lazy import later
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import Feeds, Fetches
from tensorkeep.graph.building import building, leave_graph, open_graph
from tensorkeep.graph.graph import Graph as CoreGraph
from tensorkeep.graph.messages.graph_def import export_graph
from tensorkeep.proto.messages import GraphDef
from tensorkeep.runtime.limits import Limits, within_limits
from tensorkeep.runtime.placement import Devices, LocalTask
from tensorkeep.runtime.session import Session as CoreSession
from tensorkeep.saved_model.load.engines import engine_of
from tensorkeep.v1 import defaults, settings
from tensorkeep.v1.graphs import Graph
from tensorkeep.v1.learning.servers import LocalTarget

if TYPE_CHECKING:
    from tensorkeep.tf1.training.loops import session_settings, timelines
else:  # messages that few programs need
    session_settings = later("tensorkeep.tf1.training.loops.session_settings")
    timelines = later("tensorkeep.tf1.training.loops.timelines")

if TYPE_CHECKING:
    from tensorkeep.proto.session_config import ConfigProto, RunMetadata, RunOptions
    from tensorkeep.tf1.training.loops.hooks import Named


def _devices(config: ConfigProto | None, target: str) -> Devices:
    """The devices that a session has by its settings, which may be a message of TensorFlow's as well."""
    if target and not isinstance(target, LocalTarget):
        raise InvalidArgumentError(f"a session runs in this process: there is no target {target!r}. Leave it out")
    task = target.task if isinstance(target, LocalTarget) else LocalTask()
    if config is None:
        return Devices({"CPU": 1}, False, task)
    if getattr(getattr(config, "DESCRIPTOR", None), "full_name", None) != "tensorflow.ConfigProto":
        raise WrongTypeError(f"Argument `config` must be a tf.ConfigProto, but got {type(config).__name__}")
    session_settings.check_settings(config)
    return Devices({"CPU": 1, **config.device_count}, config.allow_soft_placement, task)


def _threads(config: ConfigProto | None) -> int | None:
    """How many threads the runs of a session may use: as its settings say, without settings as the program says."""
    asked = settings.get_intra_op_parallelism_threads() if config is None else config.intra_op_parallelism_threads
    return asked if asked > 0 else None


def _limits_of(milliseconds: int) -> Limits:
    return Limits(seconds=milliseconds / 1000)


def _options(config: ConfigProto | None) -> dict[str, Any]:
    """What the core is told of a session's settings: threads, batches of a step, and how long a run may take."""
    found: dict[str, Any] = {"threads": _threads(config)}
    if config is not None:
        found["micro_batches"] = session_settings.batches_of_step(config)
        if config.operation_timeout_in_ms > 0:
            found["limits"] = _limits_of(config.operation_timeout_in_ms)
    return found


_LIVE: Final[WeakSet[Session]] = WeakSet()


class Session:
    """Runs operations of a graph: the default one, unless another is given.

    Besides TensorFlow's arguments it takes those of our own sessions, `engine` as `tk.load_saved_model` has it.
    """

    def __init__(
        self, target: str = "", graph: CoreGraph | None = None, config: ConfigProto | None = None, **options: Any
    ) -> None:
        devices = _devices(config, target)
        logged = config is not None and config.log_device_placement
        options = {"allow_python": defaults.is_own_python_allowed(), **options}
        engine = engine_of(options.pop("engine", None) or defaults.get_default_engine())
        options = {**_options(config), **options}
        self._core = CoreSession(
            graph or defaults.get_default_graph(), devices=devices, logs_placement=logged, engine=engine, **options
        )
        _LIVE.add(self)
        self._default: AbstractContextManager[Any] | None = None
        self._building: AbstractContextManager[Any] | None = None

    @property
    def graph(self) -> Graph:
        return cast(Graph, self._core.graph)

    @property
    def graph_def(self) -> GraphDef:
        return export_graph(self._core.graph)

    @property
    def sess_str(self) -> bytes:
        return b""

    @property
    def core(self) -> CoreSession:
        """The session underneath, without ambient defaults."""
        return self._core

    def run(
        self,
        fetches: Fetches,
        feed_dict: Feeds | None = None,
        options: RunOptions | None = None,
        run_metadata: RunMetadata | None = None,
    ) -> Any:
        if options is not None and options.timeout_in_ms > 0:
            with within_limits(_limits_of(options.timeout_in_ms)):
                return self._run(fetches, feed_dict, options, run_metadata)
        return self._run(fetches, feed_dict, options, run_metadata)

    def _run(
        self, fetches: Fetches, feed_dict: Feeds | None, options: RunOptions | None, run_metadata: RunMetadata | None
    ) -> Any:
        if run_metadata is None or options is None or options.trace_level < options.SOFTWARE_TRACE:
            return self._core.run(fetches, feed_dict)
        result, times = self._core.run_timed(fetches, feed_dict)
        run_metadata.step_stats.CopyFrom(timelines.step_stats_of(times, self._core.devices))
        return result

    def partial_run_setup(self, fetches: Fetches, feeds: Sequence[Named] | None = None) -> str:
        return self._core.partial_run_setup(fetches, () if feeds is None else feeds)

    def partial_run(self, handle: str, fetches: Fetches, feed_dict: Feeds | None = None) -> Any:
        return self._core.partial_run(handle, fetches, feed_dict)

    def make_callable(
        self, fetches: Fetches, feed_list: Sequence[Named] | None = None, accept_options: bool = False
    ) -> Callable[..., Any]:
        found = self._core.make_callable(fetches, feed_list or ())
        if not accept_options:
            return found
        return lambda *values, options=None, run_metadata=None: found(*values)

    def list_devices(self) -> list[Any]:
        return [SimpleNamespace(name=name, device_type=name.split(":")[-2]) for name in self._core.devices.names()]

    def close(self) -> None:
        self._core.close()

    def as_default(self) -> AbstractContextManager[Any]:
        return defaults.default_session(self)

    def __enter__(self) -> Session:
        if self._default is not None:
            raise FailedPreconditionError("Session context managers are not re-entrant. Use `Session.as_default()`")
        self._building = building(self.graph)
        self._building.__enter__()
        self._default = self.as_default()
        self._default.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._default is not None
        assert self._building is not None
        self._default.__exit__(kind, error, trace)
        self._building.__exit__(kind, error, trace)
        self._default = self._building = None
        self.close()

    @staticmethod
    def reset(target: str, containers: Sequence[str] | None = None, config: ConfigProto | None = None) -> None:
        """Closes all sessions of this process, and forgets what they keep in some containers, or in all."""
        for session in list(_LIVE):
            session.core.resources.clear(containers)
            session.close()


def core_session(session: object) -> CoreSession:
    """The session underneath one that a program has, which may be a monitored one."""
    inner = getattr(session, "_tf_sess", lambda: session)()
    found = getattr(inner, "core", inner)
    if not isinstance(found, CoreSession):
        raise WrongTypeError(f"'sess' must be a Session; {session}")
    return found


class InteractiveSession(Session):
    """A session that is the default one from its making until it is closed."""

    def __init__(
        self, target: str = "", graph: CoreGraph | None = None, config: ConfigProto | None = None, **options: Any
    ) -> None:
        super().__init__(target, graph, config, **options)
        defaults.push_session(self)
        self._explicit = graph
        if graph is not None:
            open_graph(graph)

    def close(self) -> None:
        super().close()
        defaults.pop_session(self)
        if self._explicit is not None:
            leave_graph(self._explicit)
            self._explicit = None
