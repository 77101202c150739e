"""Comparing the keys of weights and slots, which must be the same and, as DeepRec saves them, may not be."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tensorkeep.embedding.stored.buckets import find_in_order
from tensorkeep.embedding.stored.embeddings import StoredColumn
from tensorkeep.embedding.stored.ordered_columns import (
    AlignedColumn,
    ChosenColumn,
    OrderedColumn,
    SelectedKeys,
    Selection,
    grouped_buckets,
)
from tensorkeep.embedding.stored.rows import Batch, Fields
from tensorkeep.embedding.tools.rewriting import Rewrite, opened_for_tools, require_slots
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike
from tensorkeep.io.showing.progress import Progress

Keys = npt.NDArray[np.int64]

_EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class SlotKeys:
    """The keys of a slot beside those of the weights."""

    slot: str
    count: int
    missing: int
    """Keys that the weights have and the slot has not."""
    surplus: int
    """Keys that the slot has and the weights have not."""
    examples: tuple[int, ...] = ()
    """Some keys that only one of the two has."""


@dataclass(frozen=True, slots=True)
class KeyComparison:
    """The keys of an embedding's weights and slots, compared."""

    name: str
    count: int
    slots: tuple[SlotKeys, ...]

    @property
    def is_consistent(self) -> bool:
        """Whether all have the same keys."""
        return not any(slot.missing or slot.surplus for slot in self.slots)

    def __str__(self) -> str:
        if self.is_consistent:
            return f'"{self.name}": {self.count} keys, the same in weights and {len(self.slots)} slots'
        parts = [
            f'"{slot.slot}" lacks {slot.missing} and has {slot.surplus} more ({", ".join(map(str, slot.examples))} …)'
            for slot in self.slots
            if slot.missing or slot.surplus
        ]
        return f'"{self.name}": {self.count} keys; ' + "; ".join(parts)


def compare_keys(
    source: PathLike, *, names: Collection[str] | None = None, fs: FileSystem = FILES
) -> dict[str, KeyComparison]:
    """Compares the keys of weights and slots of every embedding of a checkpoint, or of those that are named."""
    with opened_for_tools(source, fs) as reader:
        found = {}
        for entry in Rewrite.of(reader, fs).chosen_embeddings(names):
            weights = entry.open(reader, fs=fs)
            slots = tuple(_compare_keys(weights, entry.open(reader, slot, fs=fs), slot) for slot in entry.slots)
            found[entry.name] = KeyComparison(entry.name, weights.count, slots)
        return found


def repair_checkpoint(
    source: PathLike,
    target: PathLike,
    *,
    fill: Mapping[str, float] | None = None,
    names: Collection[str] | None = None,
    progress: Progress | None = None,
    fs: FileSystem = FILES,
) -> dict[str, KeyComparison]:
    """Writes a checkpoint in which weights and slots have the same keys; returns what was wrong before.

    Keys that only slots have go. Rows that a slot lacks are made of the number that `fill` gives for the slot
    (0.1 for an accumulator of Adagrad, say); keys that lack a row in a slot without such a number go too.
    """
    with opened_for_tools(source, fs) as reader:
        work = Rewrite.of(reader, fs, progress)
        entries = work.chosen_embeddings(names)
        require_slots(entries, fill or (), "fill: ")
        found = {}
        for entry in entries:
            weights = entry.open(reader, fs=fs)
            slots = {slot: entry.open(reader, slot, fs=fs) for slot in entry.slots}
            compared = tuple(_compare_keys(weights, column, slot) for slot, column in slots.items())
            found[entry.name] = KeyComparison(entry.name, weights.count, compared)
            strict = [column for slot, column in slots.items() if slot not in (fill or {})]
            kept = _in_all(weights, strict)
            work.drop(entry)
            for name, column in {"": None, **slots}.items():
                repaired = kept if column is None else AlignedColumn(kept, column, (fill or {}).get(name))
                work.put_shards(entry.name, name, repaired, entry.shard_count)
        work.write(target)
        return found


def _in_all(weights: StoredColumn, slots: Sequence[StoredColumn]) -> OrderedColumn:
    """The weights of the keys that all these slots have."""

    def choose(batch: Batch) -> npt.NDArray[np.bool_]:
        buckets = np.unique(np.remainder(batch.keys, 1000))
        there = np.ones(batch.keys.size, np.bool_)
        for slot in slots:
            there &= find_in_order(slot.read_buckets(buckets).keys, batch.keys)[1]
        return there

    return ChosenColumn(weights, SelectedKeys(Selection.of(weights, choose, Fields()))) if slots else weights


def _compare_keys(weights: StoredColumn, slot: StoredColumn, name: str) -> SlotKeys:
    missing = surplus = 0
    examples: list[int] = []
    for group in grouped_buckets(weights.bucket_sizes + slot.bucket_sizes, np.arange(1000)):
        mine, theirs = weights.read_buckets(group).keys, slot.read_buckets(group).keys
        if np.array_equal(mine, theirs):
            continue
        lacking, extra = _only_first(mine, theirs), _only_first(theirs, mine)
        missing += lacking.size
        surplus += extra.size
        examples += [*lacking[:_EXAMPLES].tolist(), *extra[:_EXAMPLES].tolist()][: _EXAMPLES - len(examples)]
    return SlotKeys(name, slot.count, missing, surplus, tuple(examples))


def _only_first(first: Keys, second: Keys) -> Keys:
    return first[~find_in_order(second, first)[1]]
