"""What the JSON of commands says of a checkpoint in a folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class Kept(Protocol):
    """A checkpoint of a folder, with what is known of it."""

    @property
    def path(self) -> str: ...

    @property
    def step(self) -> int | None: ...

    @property
    def time(self) -> float: ...

    @property
    def nbytes(self) -> int | None: ...

    @property
    def metrics(self) -> Mapping[str, float]: ...


def checkpoint_data(item: Kept) -> dict[str, Any]:
    """The fields that every command gives of a checkpoint."""
    return {
        "path": item.path,
        "step": item.step,
        "time": item.time,
        "bytes": item.nbytes,
        "metrics": dict(item.metrics),
    }
