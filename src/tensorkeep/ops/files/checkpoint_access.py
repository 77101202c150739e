"""How the kernels of a run reach checkpoints: what whoever runs a graph knows of them, and hands down.

Left to themselves, kernels write at once, and open what they read. A saver that has looked at a checkpoint before hands
its reader to the run (`Session.run(..., checkpoints=)`); one that saves takes what is to be written, and writes it when
it is time. Kernels find it in their context.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.embedding.stored.surveyed_checkpoints import SurveyedCheckpoint
from tensorkeep.io.files.filesystem import Durability, FileSystem
from tensorkeep.runtime.context import KernelContext


def _at_once(job: Callable[[], None]) -> None:
    job()


def _not_open(path: str) -> None:
    """Always None: a run without open checkpoints has none for any path."""


@dataclass(frozen=True)
class CheckpointAccess:
    """How the kernels of a run reach checkpoints."""

    durability: Durability = Durability.DISK
    submit: Callable[[Callable[[], None]], None] = _at_once
    """Is given everything that writes, in order."""
    records: bool = False
    """Whether rows on an SSD tier are written beside the checkpoint; else all rows are in it."""
    open: Callable[[str], SurveyedCheckpoint | None] = _not_open
    """The checkpoint of a path, if it stays open until the run is over. None: kernels open and close it."""
    large: frozenset[str] | None = None
    """The names of large tensors, if it is known that everything asked for is there as it is asked for."""
    whole: SurveyedCheckpoint | None = None
    """All that is stored, for kernels that find by themselves what they need. None: what `open` gives."""
    renamed: Callable[[str], str] = str
    """Under which name such a kernel finds what the graph calls otherwise."""
    renamed_tensor: Callable[[str], str] = str
    """The same for a tensor, where that is not found under the name of something that it is a part of."""
    checks_first: bool = True
    """Whether large tensors are checked before any is assigned, which reads them twice; else when they are read."""

    mapped: bool = False
    """Whether tensors of a checkpoint that stays open are read-only views of its files, which are not copied."""

    @contextmanager
    def opened(self, path: str, fs: FileSystem) -> Iterator[CheckpointReader]:
        """The reader of a checkpoint: the one that the run has open, or one for the moment."""
        checkpoint = self.open(path)
        if checkpoint is not None:
            yield checkpoint.reader
            return
        with open_checkpoint(path, fs=fs) as own:
            yield own

    @contextmanager
    def opened_whole(self, path: str, fs: FileSystem) -> Iterator[SurveyedCheckpoint]:
        """The same with all that is stored, for kernels that find by themselves what they need."""
        checkpoint = self.whole or self.open(path)
        if checkpoint is not None:
            yield checkpoint
            return
        with open_checkpoint(path, fs=fs) as own:
            yield SurveyedCheckpoint(own)


_PLAIN: Final = CheckpointAccess()


def access_of(ctx: KernelContext) -> CheckpointAccess:
    """How a kernel reaches checkpoints: as its run was told to, else by itself."""
    access = ctx.checkpoints
    if access is None:
        return _PLAIN
    assert isinstance(access, CheckpointAccess), f"a run was told to reach checkpoints by {access!r}"
    return access
