"""The graphs, sessions and savers that estimators use: `tensorkeep.v1` says which.

An estimator makes a graph for each thing it does. Programs expect that to be the graph in force, and what they are
handed to be the classes of `tf.train`; these are above this layer, and installed from there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tensorkeep.errors import FailedPreconditionError
from tensorkeep.graph.graph import Graph


@dataclass(frozen=True)
class Surroundings:
    """What estimators call to make graphs, sessions, savers and scaffolds."""

    graph: Callable[[], Graph]
    session: Callable[..., Any]
    """Called with `graph` and `config`."""
    core_session: Callable[[Any], Any]
    saver: Callable[..., Any]
    scaffold: type
    chief_creator: Callable[..., Any]
    monitored_session: Callable[..., Any]
    training_session: Callable[..., Any]


_INSTALLED: list[Surroundings] = []


def install(surroundings: Surroundings) -> None:
    """Sets the graphs, sessions and savers that estimators use from here on."""
    _INSTALLED[:] = [surroundings]


def surroundings() -> Surroundings:
    """The graphs, sessions and savers that were installed. FailedPreconditionError if none were."""
    if not _INSTALLED:
        raise FailedPreconditionError(
            "estimators need the graphs and sessions of TensorFlow 1: use them as tensorkeep.v1.estimator"
        )
    return _INSTALLED[0]
