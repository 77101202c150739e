"""What `tf.keras` uses where a program names nothing: its session, its settings, and its objects by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorkeep._lazy import later
from tensorkeep.graph.building import current_graph
from tensorkeep.tf1.keras.surroundings import Settings, Surroundings, install
from tensorkeep.v1 import defaults

if TYPE_CHECKING:
    from tensorkeep.tools import standard_output
    from tensorkeep.v1 import sessions
else:  # few programs use Keras
    standard_output = later("tensorkeep.tools.standard_output")
    sessions = later("tensorkeep.v1.sessions")


class _State:
    """The settings, and the session that Keras made or was given."""

    def __init__(self) -> None:
        self.settings = Settings()
        self.session: Any = None


_STATE = _State()


def _set_settings(settings: Settings) -> None:
    _STATE.settings = settings


def _session() -> Any:
    """The default session, if it is of the graph being built; else one of Keras's own."""
    default: Any = defaults.get_default_session()
    if default is not None and default.graph is current_graph():
        return default
    if _STATE.session is None or _STATE.session.graph is not current_graph():
        _STATE.session = sessions.Session(graph=current_graph(), allow_python=True)
    return _STATE.session


def _set_session(session: Any) -> None:
    _STATE.session = session


def _clear() -> None:
    if _STATE.session is not None:
        _STATE.session.close()
    _STATE.session = None
    defaults.reset_default_graph()


install(
    Surroundings(
        custom_objects={},
        settings=lambda: _STATE.settings,
        set_settings=_set_settings,
        session=_session,
        set_session=_set_session,
        clear=_clear,
        write_text=lambda text: standard_output.write_text(text),
        is_watched=lambda: standard_output.is_watched(),
    )
)
