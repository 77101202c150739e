"""The golden cases of the format's specification, from a table to its file."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorkeep import MemoryFileSystem, load_tensors
from tensorkeep.embedding.stored.writing import StoredForm, save_embeddings
from tensorkeep.embedding.table.admission import CounterFilter
from tensorkeep.embedding.table.embedding_table import EmbeddingTable
from tensorkeep.embedding.table.eviction import GlobalStep, L2Weight

BATCH = [1, 1, 1, 2, 2, 3]


def trained(table: EmbeddingTable, *steps: list[int]) -> EmbeddingTable:
    for step, keys in enumerate(steps):
        table.apply("GradientDescent", np.ones((len(keys), table.dim)), keys, step=step, alpha=0.1)
    return table


def saved(table: EmbeddingTable, form: StoredForm = StoredForm()) -> dict[str, Any]:
    fs = MemoryFileSystem()
    with table.snapshot() as snapshot:
        save_embeddings("d/x", {"e": snapshot}, form=form, fs=fs)
    return {name.removeprefix("e-"): array.tolist() for name, array in load_tensors("d/x", fs=fs).items()}


def test_two_steps_of_a_batch_with_repetitions() -> None:
    found = saved(trained(EmbeddingTable(3, keeps_frequencies=True, keeps_versions=True), BATCH, BATCH))
    assert (found["keys"], found["freqs"], found["versions"]) == ([1, 2, 3], [6, 4, 2], [1, 1, 1])


def test_a_counter_filter_of_three() -> None:
    table = trained(EmbeddingTable(3, admission=CounterFilter(3), keeps_frequencies=True), BATCH)
    found = saved(table)
    assert found["keys"] == [1]
    assert (found["keys_filtered"], found["freqs_filtered"]) == ([2, 3], [2, 1])
    found = saved(table, StoredForm.as_upstream(filter_freq=3, save_filtered=False))
    assert (found["keys_filtered"], found["freqs_filtered"], found["freqs"]) == ([], [], [3])
    assert found["partition_filter_offset"] == [0] * 1001


def test_eviction_by_step() -> None:
    table = EmbeddingTable(3, eviction=GlobalStep(2))
    trained(table, [1, 2, 3], [2, 3], [2, 3], [2, 3])
    assert table.evict(4).tolist() == [1]
    found = saved(table)
    assert (found["keys"], found["versions"]) == ([2, 3], [3, 3])


def test_eviction_by_weight() -> None:
    table = EmbeddingTable(3, eviction=L2Weight(0.9))
    table.assign([1, 2], np.array([[0.7927] * 3, [0.7] * 3]))
    table.evict(0)
    assert saved(table)["keys"] == [1]
