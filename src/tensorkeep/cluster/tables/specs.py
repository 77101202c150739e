"""What a table in parts is made with, and what is known of it outside its processes.

A part that dies comes back in another process, which has to know what the table is and what was saved of it. That is
kept in a small checkpoint in the table's home, a folder that all machines reach, replaced in one step:

    HOME/NAME.table.index     columns/0/name, columns/0/default, ...; full, delta, step
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.checkpoint.saving import save_checkpoint
from tensorkeep.embedding.stored.writing import StoredForm
from tensorkeep.embedding.table.embedding_table import EmbeddingTable
from tensorkeep.errors import InvalidArgumentError, NotFoundError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem


@dataclass(frozen=True, eq=False)
class TableSpec:
    """What a table in parts is made with."""

    name: str
    """What it is stored as: the stem of its tensors."""
    partitions: int
    dim: int
    default: Array
    """The default rows of the weights."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The other arguments of EmbeddingTable, by name."""
    form: StoredForm = field(default_factory=StoredForm)
    home: str | None = None
    """The folder in which what is saved of it is noted; None if a part that dies comes back empty."""
    fs: FileSystem = FILES
    threads: int = 1
    """How many threads of a part work on one batch."""

    def __post_init__(self) -> None:
        if not 1 <= self.partitions <= 1000:
            raise InvalidArgumentError(f'"{self.name}" in {self.partitions} parts: expected 1 to 1000')

    def table(self) -> EmbeddingTable:
        """An empty table of one part, without slots."""
        return EmbeddingTable(self.dim, initial=self.default, threads=self.threads, **self.options)


@dataclass(frozen=True, eq=False)
class TableState:
    """What is known of a table outside its processes: its slots, and what was saved of it last."""

    columns: tuple[tuple[str, Array], ...] = ()
    """The slots: names and default rows, in the order in which they were added."""
    full: str | None = None
    """The full checkpoint that the table was saved to, or restored from, last."""
    delta: str | None = None
    """The incremental one that goes over it, if there is one."""
    step: int | None = None

    @property
    def saved_text(self) -> str:
        """What was saved last, in words."""
        if self.full is None:
            return "empty, for nothing of it was saved"
        over = f' with "{self.delta}" over it' if self.delta else ""
        return f'as of step {"?" if self.step is None else self.step}, from "{self.full}"{over}'


def state_path(spec: TableSpec) -> str | None:
    """The prefix of the checkpoint that holds the state of a table."""
    return None if spec.home is None else posixpath.join(spec.home, f"{spec.name.replace('/', '_')}.table")


def read_state(spec: TableSpec) -> TableState:
    """What is known of a table; nothing, if nothing was noted."""
    path = state_path(spec)
    if path is None:
        return TableState()
    try:
        with open_checkpoint(path, fs=spec.fs) as reader:
            count = int(reader.read("columns"))
            columns = [
                (_text(reader, f"columns/{at}/name"), reader.read(f"columns/{at}/default")) for at in range(count)
            ]
            texts = {what: _text(reader, what) or None for what in ("full", "delta")}
            step = int(reader.read("step"))
            return TableState(tuple(columns), texts["full"], texts["delta"], None if step < 0 else step)
    except NotFoundError:
        return TableState()


def _text(reader: CheckpointReader, name: str) -> str:
    stored: bytes = reader.read(name).item()
    return stored.decode()


def write_state(spec: TableSpec, state: TableState) -> None:
    """Notes what is known of a table, in one step."""
    path = state_path(spec)
    if path is None:
        return
    tensors: dict[str, Any] = {"columns": np.int64(len(state.columns))}
    for at, (name, default) in enumerate(state.columns):
        tensors[f"columns/{at}/name"] = np.array(name.encode(), object)
        tensors[f"columns/{at}/default"] = default
    for what in ("full", "delta"):
        tensors[what] = np.array((getattr(state, what) or "").encode(), object)
    tensors["step"] = np.int64(-1 if state.step is None else state.step)
    save_checkpoint(path, tensors, fs=spec.fs)


def with_column(state: TableState, name: str, default: Array | None) -> TableState:
    """The state with a slot more; or without that slot, if there are no default rows for it."""
    kept = tuple(item for item in state.columns if item[0] != name)
    return replace(state, columns=kept if default is None else (*kept, (name, default)))
