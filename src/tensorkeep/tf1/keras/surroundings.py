"""The session, the settings and the objects by name that are in force for Keras: `tensorkeep.v1` says which.

Without it settings are those that Keras begins with, there are no objects of a program's own, and no session.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from tensorkeep.errors import FailedPreconditionError
from tensorkeep.graph.arguments import Feeds, Fetches
from tensorkeep.graph.graph import Graph


@dataclass(frozen=True)
class Settings:
    """What programs set once: the type of numbers, the least number, and where images have their channels."""

    floatx: str = "float32"
    epsilon: float = 1e-7
    image_data_format: str = "channels_last"


class SessionInForce(Protocol):
    """What runs the graph being built."""

    @property
    def graph(self) -> Graph: ...

    def run(self, fetches: Fetches, feed_dict: Feeds | None = None) -> Any: ...


@dataclass(frozen=True)
class Surroundings:
    """What Keras asks for where a program names nothing."""

    custom_objects: dict[str, Any]
    """The classes and functions of a program's own, by name; programs change the dictionary."""
    settings: Callable[[], Settings]
    set_settings: Callable[[Settings], None]
    session: Callable[[], SessionInForce]
    """The session in force for the graph being built, made if there is none."""
    set_session: Callable[[SessionInForce], None]
    clear: Callable[[], None]
    """Forgets the session, and begins a new graph."""
    write_text: Callable[[str], None]
    """Shows text to whoever runs the program."""
    is_watched: Callable[[], bool]
    """Whether that is a person at a terminal, where a line can be written over."""


_BEGINNING: Final = Settings()
_INSTALLED: list[Surroundings] = []


def install(surroundings: Surroundings) -> None:
    """Sets where Keras has its session, its settings and its terminal from here on."""
    _INSTALLED[:] = [surroundings]


def surroundings() -> Surroundings:
    """What `install` was given last. FailedPreconditionError if nothing was."""
    if not _INSTALLED:
        raise FailedPreconditionError(
            "Keras needs a session, and settings that can be changed: use it as tensorkeep.v1.keras"
        )
    return _INSTALLED[0]


def settings() -> Settings:
    """The settings in force."""
    return _INSTALLED[0].settings() if _INSTALLED else _BEGINNING


def known_custom_objects() -> Mapping[str, Any]:
    """The classes and functions of a program's own, by name."""
    return _INSTALLED[0].custom_objects if _INSTALLED else {}
