"""`distribution_strategy_context`: there is one replica, the program itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorkeep.errors import FailedPreconditionError


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
    """Never: nothing is distributed."""
    return False


def in_cross_replica_context() -> bool:
    """Never."""
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
