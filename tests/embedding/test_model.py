"""A table does what a dictionary of rows would do, whatever is asked of it in whatever order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from tensorkeep.embedding.table.admission import AdmitAll, CounterFilter
from tensorkeep.embedding.table.embedding_table import EmbeddingTable
from tensorkeep.embedding.table.eviction import GlobalStep
from tensorkeep.embedding.table.table_snapshots import TakenSnapshot
from tensorkeep.embedding.table.tiers import Cache, FileTier, Memory
from tests.embedding.implementations import IMPLEMENTATIONS
from tests.support.depth import examples

KEYS = st.sampled_from([0, 1, 2, 3, 1000, 1001, -1, -2, -1000, 2**63 - 1, -(2**63)])
LISTS = st.lists(KEYS, max_size=8)
DEFAULTS = np.arange(6, dtype=np.float32).reshape(3, 2)
Row = dict[str, Any]


class Model:
    """The same table, plainly: a dictionary of rows, and one of counts."""

    def __init__(self, threshold: int) -> None:
        self.threshold = threshold
        self.rows: dict[int, Row] = {}
        self.filtered: dict[int, list[int]] = {}

    def insert(self, key: int) -> Row:
        new = {"": DEFAULTS[key % 3].copy(), "slot": np.full(2, 0.5, np.float32), "freq": 0, "version": -1}
        self.filtered.pop(key, None)
        return self.rows.setdefault(key, new)

    def touch(self, keys: list[int], step: int | None) -> None:
        for key in dict.fromkeys(keys):
            count = keys.count(key)
            before, version = self.filtered.get(key, [0, -1])
            if key in self.rows:
                self.rows[key]["freq"] += count
            elif before + count >= self.threshold:
                self.insert(key).update(freq=before + count, version=version)
            else:
                self.filtered[key] = [before + count, version]
            if step is not None and key in self.rows:
                self.rows[key]["version"] = step
            elif step is not None:
                self.filtered[key][1] = step

    def train(self, keys: list[int]) -> None:
        for key in dict.fromkeys(keys):
            if key in self.rows:
                gradient = np.float32(keys.count(key))
                self.rows[key]["slot"] += gradient * gradient
                self.rows[key][""] -= gradient * np.float32(0.5) / np.sqrt(self.rows[key]["slot"])

    def evict(self, step: int, life: int) -> list[int]:
        gone = [key for key, row in self.rows.items() if row["version"] != -1 and step - row["version"] > life]
        for key in gone:
            del self.rows[key]
        for row in self.rows.values():
            row["version"] = step if row["version"] == -1 else row["version"]
        for key, (count, version) in list(self.filtered.items()):
            if version != -1 and step - version > life:
                del self.filtered[key]
            elif version == -1:
                self.filtered[key] = [count, step]
        return sorted(gone, key=_order)

    def contents(self) -> dict[str, Any]:
        keys, others = sorted(self.rows, key=_order), sorted(self.filtered, key=_order)
        return {
            "keys": keys,
            "": [self.rows[key][""].tolist() for key in keys],
            "slot": [self.rows[key]["slot"].tolist() for key in keys],
            "freqs": [self.rows[key]["freq"] for key in keys],
            "versions": [self.rows[key]["version"] for key in keys],
            "filtered": [[key, *self.filtered[key]] for key in others],
        }


def _order(key: int) -> tuple[int, int]:
    return key % 1000, key


def _contents(snapshot: TakenSnapshot) -> dict[str, Any]:
    assert snapshot.freqs is not None
    assert snapshot.versions is not None
    assert snapshot.filtered_versions is not None
    filtered = (snapshot.filtered_keys, snapshot.filtered_freqs, snapshot.filtered_versions)
    return {
        "keys": snapshot.keys.tolist(),
        "": snapshot.rows("", 0, len(snapshot.keys)).tolist(),
        "slot": snapshot.rows("slot", 0, len(snapshot.keys)).tolist(),
        "freqs": snapshot.freqs.tolist(),
        "versions": snapshot.versions.tolist(),
        "filtered": np.stack(filtered, axis=1).tolist(),
    }


class TableAndModel(RuleBasedStateMachine):
    options: dict[str, Any] = {}  # noqa: RUF012

    @initialize(threshold=st.sampled_from([0, 1, 3]))
    def make(self, threshold: int) -> None:
        self.table = EmbeddingTable(
            2,
            initial=DEFAULTS,
            admission=CounterFilter(threshold) if threshold else AdmitAll(),
            eviction=GlobalStep(2),
            keeps_frequencies=True,
            no_permission=-9,
            **self.options,
        )
        self.table.add_column("slot", 2, 0.5)
        self.model = Model(threshold)
        self.snapshots: list[tuple[TakenSnapshot, dict[str, Any]]] = []

    @rule(keys=LISTS, step=st.none() | st.integers(0, 9))
    def touch(self, keys: list[int], step: int | None) -> None:
        rows = self.table.touch(np.array(keys, np.int64), step=step).rows
        self.model.touch(keys, step)
        assert [row >= 0 for row in rows] == [key in self.model.rows for key in keys]

    @rule(keys=LISTS, step=st.none() | st.integers(0, 9))
    def train(self, keys: list[int], step: int | None) -> None:
        gradients = np.ones((len(keys), 2))
        self.table.apply("Adagrad", gradients, np.array(keys, np.int64), step=step, lr=0.5)
        self.model.touch(keys, step)
        self.model.train(keys)

    @rule(keys=LISTS)
    def look_up_or_create(self, keys: list[int]) -> None:
        rows = self.table.lookup_or_create(np.array(keys, np.int64))
        self.model.touch(keys, None)
        assert rows.tolist() == [self._expected(key) for key in keys]

    @rule(keys=LISTS, value=st.integers(1, 3), column=st.sampled_from(["", "slot"]))
    def assign(self, keys: list[int], value: int, column: str) -> None:
        new = [key for key in keys if key not in self.model.rows]
        self.table.assign(np.array(keys, np.int64), np.full((len(keys), 2), value), column)
        for key in keys:
            self.model.insert(key)[column] = np.full(2, value, np.float32)
        for key in new:
            self.model.rows[key]["freq"] = self.model.threshold

    @rule(keys=LISTS, counts=st.integers(0, 5))
    def assign_filtered(self, keys: list[int], counts: int) -> None:
        self.table.assign_filtered(np.array(keys, np.int64), counts, 1)
        if not self.model.threshold:
            return
        for key in dict.fromkeys(keys):
            if key not in self.model.rows and counts >= self.model.threshold:
                self.model.insert(key).update(freq=counts, version=1)
            elif key not in self.model.rows:
                self.model.filtered[key] = [counts, 1]

    @rule(keys=LISTS)
    def remove(self, keys: list[int]) -> None:
        gone = [key for key in dict.fromkeys(keys) if self.model.rows.pop(key, None) is not None]
        assert self.table.remove(np.array(keys, np.int64)) == len(gone)
        for key in keys:
            self.model.filtered.pop(key, None)

    @rule(keys=LISTS)
    def retain(self, keys: list[int]) -> None:
        self.table.retain(np.array(keys, np.int64))
        self.model.rows = {key: row for key, row in self.model.rows.items() if key in keys}
        self.model.filtered = {key: count for key, count in self.model.filtered.items() if key in keys}

    @rule(step=st.integers(0, 12))
    def evict(self, step: int) -> None:
        assert self.table.evict(step).tolist() == self.model.evict(step, 2)

    @rule()
    def take_a_snapshot(self) -> None:
        self.snapshots.append((self.table.snapshot(), self.model.contents()))

    @rule(is_closed=st.booleans())
    def end_a_snapshot(self, is_closed: bool) -> None:
        if self.snapshots:
            snapshot, _ = self.snapshots.pop(0)
            if is_closed:
                snapshot.close()

    def _expected(self, key: int) -> list[float]:
        if key in self.model.rows:
            return self.model.rows[key][""].tolist()  # type: ignore[no-any-return]
        return [-9, -9] if self.model.threshold else DEFAULTS[key % 3].tolist()

    @invariant()
    def both_hold_the_same(self) -> None:
        if not hasattr(self, "table"):
            return
        with self.table.snapshot() as snapshot:
            assert _contents(snapshot) == self.model.contents()
        for taken, contents in self.snapshots:
            assert _contents(taken) == contents
        asked = [0, 1, -1, 2**63 - 1, 77]
        assert self.table.lookup(asked).tolist() == [self._expected(key) for key in asked]
        assert (len(self.table), self.table.filtered_count) == (len(self.model.rows), len(self.model.filtered))


@pytest.mark.parametrize("cache", [None, Cache.LRU, Cache.LFU])
@pytest.mark.parametrize("is_native", IMPLEMENTATIONS)
def test_a_table_is_a_dictionary_of_rows(is_native: bool, cache: Cache | None, tmp_path: Path) -> None:
    storage = Memory() if cache is None else FileTier(str(tmp_path), 4 * 2 * 8, cache)  # four rows, two columns
    machine = type("Machine", (TableAndModel,), {"options": {"native": is_native, "storage": storage}})
    run_state_machine_as_test(machine, settings=examples(40, stateful_step_count=20))  # type: ignore[no-untyped-call]
