"""The simplest training loop: steps until a supervisor says stop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tensorkeep.errors import AbortedError
from tensorkeep.tf1.training.loops.supervisor import Supervisor


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
