"""What `tensorflow.python.eager` says of a world of graphs; the rest of it is refused with a word."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
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
    """Never."""
    return False


def in_graph_mode() -> bool:
    """Always."""
    return True


def graph_mode() -> AbstractContextManager[None]:
    """A context in which graphs are built, as everywhere."""
    return nullcontext()


def eager_mode() -> NoReturn:
    """Raises."""
    raise FailedPreconditionError(_NO_EAGER)


def num_gpus() -> int:
    """None: everything runs on processors."""
    return 0


def context() -> Any:
    """What TensorFlow tells of its state."""
    return SimpleNamespace(
        executing_eagerly=in_eager_mode, in_eager_mode=in_eager_mode, in_graph_mode=in_graph_mode, num_gpus=num_gpus
    )
