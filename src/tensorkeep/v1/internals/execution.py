"""How programs run: graphs in sessions, never eagerly, in one replica, and on no TPU.

So `tensorflow.python.eager`, `distribution_strategy_context` and `tpu_function` are answered; the rest of them is
refused with a word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
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


def context() -> SimpleNamespace:
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


class TpuContext:
    """Of how many cores a graph is built for: None, unless `tpu_shard_context` says it."""

    def __init__(self) -> None:
        self.number_of_shards: int | None = None

    def set_number_of_shards(self, number_of_shards: int | None) -> None:
        self.number_of_shards = number_of_shards


_CONTEXT: Final = TpuContext()


def get_tpu_context() -> TpuContext:
    """What is known of the TPU. There is none, and layers then do as on a CPU."""
    return _CONTEXT


@contextmanager
def tpu_shard_context(number_of_shards: int) -> Iterator[None]:
    """Says how many cores there are for the block. It cannot be in another such block."""
    if _CONTEXT.number_of_shards is not None:
        raise FailedPreconditionError("tpu_shard_context cannot be nested.")
    _CONTEXT.set_number_of_shards(number_of_shards)
    try:
        yield
    finally:
        _CONTEXT.set_number_of_shards(None)
