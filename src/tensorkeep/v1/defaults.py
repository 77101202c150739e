"""The graph and the session in force when a program names none: the only ambient state of the package."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import local
from typing import Any, cast

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph import building
from tensorkeep.graph.arguments import SessionLike
from tensorkeep.graph.graph import EXTENSIONS, Operation, Tensor
from tensorkeep.v1.graphs import Graph


class _Defaults(local):
    """Stacks of sessions, one per thread; the graph at the bottom is one for all."""

    def __init__(self) -> None:
        self.sessions: list[SessionLike] = []


_DEFAULTS = _Defaults()
_GLOBAL: list[Graph] = []


def _global_graph() -> Graph:
    if not _GLOBAL:
        _GLOBAL.append(Graph())
    return _GLOBAL[0]


building.set_fallback_graph(_global_graph)

_OWN_PYTHON: list[bool] = []


def allow_own_python() -> None:
    """Lets the sessions of this process call the Python functions that its program has put into its graphs."""
    _OWN_PYTHON[:] = [True]


def is_own_python_allowed() -> bool:
    """Whether sessions call the program's Python functions without being told to."""
    return bool(_OWN_PYTHON)


_ENGINE: list[str] = []


def set_default_engine(name: str) -> None:
    """Has sessions that name no engine be run by another than our kernels."""
    _ENGINE[:] = [name]


def get_default_engine() -> str:
    """What runs sessions that name no engine."""
    return _ENGINE[0] if _ENGINE else "numpy"


def get_default_graph() -> Graph:
    """The graph being built: that of the innermost `with graph.as_default():`, else one that is always there."""
    return cast(Graph, building.current_graph())  # one of the core's, which has fewer methods, inside a function


def reset_default_graph() -> None:
    """Starts over with an empty global graph. Not while another one is being built."""
    if building.is_building():
        raise AssertionError("Do not use tf.reset_default_graph() to clear nested graphs.")
    _GLOBAL.clear()


def get_default_session() -> SessionLike | None:
    """The session of the innermost `with session.as_default():` of this thread."""
    return _DEFAULTS.sessions[-1] if _DEFAULTS.sessions else None


def push_session(session: SessionLike) -> None:
    _DEFAULTS.sessions.append(session)


def pop_session(session: SessionLike) -> None:
    if session in _DEFAULTS.sessions:
        _DEFAULTS.sessions.reverse()
        _DEFAULTS.sessions.remove(session)
        _DEFAULTS.sessions.reverse()


@contextmanager
def default_session(session: SessionLike) -> Iterator[SessionLike]:
    """`session` is the one in force inside."""
    push_session(session)
    try:
        yield session
    finally:
        pop_session(session)


def _session_for(item: Tensor | Operation, session: Any | None) -> Any:
    found = session or get_default_session()
    what = "evaluate tensor using `eval()`" if isinstance(item, Tensor) else "execute operation using `run()`"
    if found is None:
        method = "eval" if isinstance(item, Tensor) else "run"
        raise InvalidArgumentError(
            f"Cannot {what}: No default session is registered. Use `with sess.as_default()` or pass an explicit "
            f"session to `{method}(session=sess)`"
        )
    if found.graph is not item.graph:
        raise InvalidArgumentError(
            f"Cannot use the default session to {what}: the tensor's or operation's graph is different from the "
            "session's graph. Pass an explicit session"
        )
    return found


def _eval(item: Tensor, feed_dict: Mapping[Any, Any] | None, session: Any) -> Any:
    return _session_for(item, session).run(item, feed_dict)


def _run(item: Operation, feed_dict: Mapping[Any, Any] | None, session: SessionLike) -> None:
    _session_for(item, session).run(item, feed_dict)


EXTENSIONS["eval"] = _eval
EXTENSIONS["run"] = _run
