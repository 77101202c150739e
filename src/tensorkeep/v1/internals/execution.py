"""How programs run: graphs in sessions, never eagerly, and in one replica.

So `tensorflow.python.eager` is answered, and `distribution_strategy_context`; the rest of them is refused with a word.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from enum import Enum
from types import SimpleNamespace
from typing import Any, Final, NoReturn

from tensorkeep.errors import FailedPreconditionError

GRAPH_MODE: Final = 0
EAGER_MODE: Final = 1
_NO_EAGER: Final = "there is no eager execution here: graphs are built, and run in sessions"


class GradientTape:
    """Raises: graphs have `tf.gradients`."""

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        raise FailedPreconditionError(f"tf.GradientTape: {_NO_EAGER}. Use tf.gradients(loss, variables)")


def in_eager_mode() -> bool:
    """Whether operations run as they are called: never."""
    return False


def in_graph_mode() -> bool:
    """Whether operations are added to graphs: always."""
    return True


def graph_mode() -> AbstractContextManager[None]:
    """A context in which graphs are built, as everywhere."""
    return nullcontext()


def eager_mode() -> NoReturn:
    """Raises: there is no eager execution."""
    raise FailedPreconditionError(_NO_EAGER)


def num_gpus() -> int:
    """None: everything runs on processors."""
    return 0


def context() -> Any:
    """What TensorFlow tells of its state."""
    return SimpleNamespace(
        executing_eagerly=in_eager_mode, in_eager_mode=in_eager_mode, in_graph_mode=in_graph_mode, num_gpus=num_gpus
    )


class ReduceOp(Enum):
    """How values of replicas are joined."""

    SUM = "SUM"
    MEAN = "MEAN"


class _Strategy:
    """The strategy of one replica."""

    num_replicas_in_sync = 1


class _Replica:
    """The one replica."""

    replica_id_in_sync_group = 0
    num_replicas_in_sync = 1

    @property
    def strategy(self) -> _Strategy:
        return _Strategy()

    def merge_call(self, merge_fn: Callable[..., Any], args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        """Calls a function as all replicas together."""
        return merge_fn(_Strategy(), *args, **(kwargs or {}))


def has_strategy() -> bool:
    """Whether the program is distributed by a strategy: never."""
    return False


def in_cross_replica_context() -> bool:
    """Whether the program is outside of its replicas: never."""
    return False


def get_strategy() -> _Strategy:
    """The strategy of one replica."""
    return _Strategy()


def get_replica_context() -> _Replica:
    """The one replica."""
    return _Replica()


def get_cross_replica_context() -> None:
    """None: the program is inside of its replica."""


def get_loss_reduction() -> str:
    """How losses of replicas are joined."""
    raise FailedPreconditionError("there are no replicas whose losses could be joined: sessions run in this process")
