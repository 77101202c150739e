"""What `tensorflow.python.tpu.tpu_function` knows of the TPU that a graph is built for: layers ask it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from tensorkeep.errors import FailedPreconditionError


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
