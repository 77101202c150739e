"""Tables in parts: what one table does, in one process and in several; saved, restored, lost and found."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorkeep as tk
from tensorkeep import cluster, embedding
from tensorkeep.embedding.table.update_rules import RULES
from tests.cluster.crafting import assert_same_tensors
from tests.support.depth import examples, thinned

MakeTable = Callable[..., cluster.ShardedEmbeddingTable]

NUMBERS: dict[str, dict[str, float]] = {
    "GradientDescent": {"alpha": 0.1},
    "Adagrad": {"lr": 0.1},
    "AdagradDecay": {"lr": 0.1, "decay_step": 3, "decay_rate": 0.5, "baseline": 0.1, "global_step": 7},
    "Adam": {"beta1_power": 0.9, "beta2_power": 0.99, "lr": 0.1, "beta1": 0.9, "beta2": 0.99, "epsilon": 1e-8},
    "Ftrl": {"lr": 0.1, "l1": 0.01, "l2": 0.01},
}
NUMBERS["AdamW"] = {**NUMBERS["Adam"], "weight_decay": 0.01}
NUMBERS["AdamAsync"] = NUMBERS["Adam"]
NUMBERS["FtrlV2"] = {**NUMBERS["Ftrl"], "l2_shrinkage": 0.01}

OPTIONS: dict[str, Any] = {"keeps_frequencies": True, "keeps_versions": True, "admission": embedding.CounterFilter(2)}
DEFAULTS = np.random.default_rng(0).normal(size=(16, 4)).astype(np.float32)

_names = (f"table-{number}" for number in itertools.count())


@pytest.fixture(params=["in this process", pytest.param("on ray", marks=pytest.mark.slow)])
def make_table(request: pytest.FixtureRequest, folder: str) -> Iterator[MakeTable]:
    """Makes tables in parts, and ends them."""
    in_process = request.param == "in this process"
    if not in_process:
        request.getfixturevalue("ray_cluster")
    made: list[cluster.ShardedEmbeddingTable] = []

    def make(partitions: int = 3, **options: Any) -> cluster.ShardedEmbeddingTable:
        options = {"initial": DEFAULTS, "name": next(_names), "home": f"{folder}/home", **OPTIONS, **options}
        made.append(
            cluster.ShardedEmbeddingTable(4, partitions=partitions, in_process=in_process, processors=0.1, **options)
        )
        return made[-1]

    yield make
    for table in made:
        table.close()


def one_table(**options: Any) -> tk.EmbeddingTable:
    return tk.EmbeddingTable(4, **{"initial": DEFAULTS, **OPTIONS, **options})


def step(tables: list[Any], seed: int, rule: str = "Adagrad") -> None:
    """One update of all tables, with keys that repeat and some that are negative."""
    random = np.random.default_rng(seed)
    keys = random.integers(-20, 300, (12, 5))
    gradients = random.normal(size=(12, 5, 4)).astype(np.float32)
    for table in tables:
        table.apply(rule, gradients, keys, step=seed, **NUMBERS[rule])


def assert_same_rows(one: Any, other: Any) -> None:
    keys = np.arange(-30, 320)
    assert len(one) == len(other)
    assert one.filtered_count == other.filtered_count
    for column in one.columns:
        np.testing.assert_array_equal(one.lookup(keys, column.name), other.lookup(keys, column.name))
    for told in ("contains", "frequencies", "versions", "tiers"):
        np.testing.assert_array_equal(getattr(one, told)(keys), getattr(other, told)(keys))


@pytest.mark.parametrize("rule", thinned(sorted(RULES), 3))
def test_every_optimizer_changes_rows_as_in_one_table(make_table: MakeTable, rule: str) -> None:
    tables = [one_table(), make_table()]
    for table, slot in itertools.product(tables, range(RULES[rule].slots)):
        table.add_column(f"slot{slot}", initial=0.1)
    for seed in range(4):
        step(tables, seed, rule)
    assert_same_rows(*tables)


def test_every_method_does_what_it_does_to_one_table(make_table: MakeTable) -> None:
    one, other = tables = [one_table(), make_table()]
    keys = np.array([[1, 2, 2], [3, 1, -7]])
    for table in tables:
        table.add_column("m", initial=0.25)
        table.touch(keys, step=3)
        table.assign([5, 6, 5], np.arange(12.0).reshape(3, 4), freqs=[4, 5, 6], versions=[1, 2, 3])
        table.assign_columns([6, 8], {"m": np.ones((2, 4)), "": np.zeros((2, 4))})
        assert table.assign_filtered([70, 71], [1, 9], [0, 4]) == 2
        table.lookup_or_create([[9, 9], [9, 10]], counts=[[1, 1], [1, 1]], initial=np.full((2, 2, 4), 3))
        table.reset_column("m", [6, 999])
        assert table.remove([8, 12345]) == 1
        table.reserve(100)
        table.settle()
    assert_same_rows(one, other)
    np.testing.assert_array_equal(one.touch(keys).admitted, other.touch(keys).admitted)
    with pytest.raises(tk.AlreadyExistsError):
        other.add_column("m")
    with pytest.raises(tk.InvalidArgumentError, match='no column "n"'):
        other.lookup([1], "n")
    for table in tables:
        table.drop_column("m")
        assert table.retain([1, 2, 9]) > 0
    assert_same_rows(one, other)
    for table in tables:
        table.clear()
    assert len(other) == other.filtered_count == 0
    assert other.lookup(np.zeros((2, 0), np.int64)).shape == (2, 0, 4)


def test_what_is_due_is_dropped(make_table: MakeTable) -> None:
    tables = [one_table(eviction=embedding.GlobalStep(2)), make_table(eviction=embedding.GlobalStep(2))]
    for seed in range(5):
        for table in tables:
            table.add_column("m") if not seed else None
        step(tables, seed)
    one, other = (table.evict(4) for table in tables)
    assert one.size
    np.testing.assert_array_equal(one, other)
    assert_same_rows(*tables)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=30), st.integers(1, 5))
@examples(60)
def test_any_keys_in_any_number_of_parts_are_looked_up_as_in_one_table(keys: list[int], parts: int) -> None:
    table = cluster.ShardedEmbeddingTable(4, name="any", partitions=parts, initial=DEFAULTS, in_process=True)
    one = tk.EmbeddingTable(4, initial=DEFAULTS)
    asked = np.array(keys, np.int64)
    np.testing.assert_array_equal(table.lookup_or_create(asked), one.lookup_or_create(asked))
    assert len(table) == len(one)


def test_wrong_arguments_are_refused_before_anything_travels(make_table: MakeTable) -> None:
    table = make_table()
    with pytest.raises(tk.InvalidArgumentError, match="has 1 slots"):
        table.apply("Adagrad", np.ones((1, 4)), [1], lr=0.1)
    with pytest.raises(tk.InvalidArgumentError, match="shape"):
        table.apply("GradientDescent", np.ones((1, 3)), [1], alpha=0.1)
    with pytest.raises(tk.WrongTypeError):
        table.lookup([0.5])
    with pytest.raises(tk.InvalidArgumentError, match="1 to 1000"):
        make_table(1001)
    assert len(table) == 0


# ---------------------------------------------------------------------------------------------------- Files


def test_what_is_saved_is_what_one_table_saves_in_so_many_parts(make_table: MakeTable, folder: str) -> None:
    one, other = tables = [one_table(), make_table(3, name="user")]
    for table in tables:
        table.add_column("Adagrad", initial=0.1)
    for seed in range(6):
        step(tables, seed)
    other.save(f"{folder}/model-6", {"dense": np.arange(3.0)}, step=6)
    with one.snapshot() as snapshot:
        embedding.save_embeddings(f"{folder}/one", {"user": snapshot}, {"dense": np.arange(3.0)})
    embedding.repartition_checkpoint(f"{folder}/one", f"{folder}/three", 3)
    assert_same_tensors(f"{folder}/model-6", f"{folder}/three")
    with other.snapshot() as gathered, one.snapshot() as snapshot:
        np.testing.assert_array_equal(gathered.keys, snapshot.keys)
        for column in ("", "Adagrad"):
            np.testing.assert_array_equal(gathered.rows(column, 3, 40), snapshot.rows(column, 3, 40))
    assert not any(name.endswith("-parts") for name in tk.LocalFileSystem().list(folder))


def test_it_is_restored_into_any_number_of_parts_with_deltas(make_table: MakeTable, folder: str) -> None:
    one, other = tables = [one_table(), make_table(3, name="user")]
    for table in tables:
        table.add_column("Adagrad", initial=0.1)
    with pytest.raises(tk.FailedPreconditionError, match="save that first"):
        other.save_delta(f"{folder}/early")
    step(tables, 0)
    other.save(f"{folder}/model-1", step=1)
    for seed in range(1, 4):
        step(tables, seed)
    for table in tables:
        table.remove(np.arange(0, 40))
    other.save_delta(f"{folder}/.incremental_checkpoint/incremental_model.ckpt-4", step=4)
    for parts in (1, 2, 5):
        found = make_table(parts, home=f"{folder}/home{parts}")
        found.add_column("Adagrad", initial=0.1)
        found.restore(f"{folder}/model-1", f"{folder}/.incremental_checkpoint/incremental_model.ckpt-4", stem="user")
        assert_same_rows(one, found)


def test_a_save_that_fails_leaves_nothing(make_table: MakeTable, folder: str) -> None:
    table = make_table(2)
    table.assign([1, 2], np.ones((2, 4)))
    with pytest.raises(tk.TensorKeepError):
        table.save(f"{folder}/model", {"": np.ones(3)})
    assert [name for name in tk.LocalFileSystem().list(folder) if name.startswith("model")] == []
    table.save(f"{folder}/model")
    assert table.saved_step is None


# ---------------------------------------------------------------------------------------------------- On Ray alone


def test_others_attach_to_a_table_and_see_the_same_rows(ray_cluster: Any, folder: str) -> None:
    with cluster.ShardedEmbeddingTable(
        4, name="shared", partitions=2, home=f"{folder}/home", initial=DEFAULTS, processors=0.1
    ) as table:
        table.add_column("m", initial=0.5)
        attached = cluster.ShardedEmbeddingTable.attached("shared")
        table.assign([1, 2], np.ones((2, 4)))
        assert [column.name for column in attached.columns] == ["", "m"]
        np.testing.assert_array_equal(attached.lookup([1, 2, 3]), table.lookup([1, 2, 3]))
        with pytest.raises(tk.AlreadyExistsError, match="attach"):
            cluster.ShardedEmbeddingTable(4, name="shared", partitions=2)

        def count(shared: Any) -> int:
            return len(shared)

        assert ray_cluster.get(ray_cluster.remote(count).remote(table)) == 2  # a table can be sent
    with pytest.raises(tk.NotFoundError, match="no table"):
        cluster.ShardedEmbeddingTable.attached("never")


def test_a_lost_part_says_what_it_is_back_with(ray_cluster: Any, folder: str) -> None:
    one, other = tables = [
        one_table(),
        cluster.ShardedEmbeddingTable(
            4, name="lost", partitions=2, home=f"{folder}/home", initial=DEFAULTS, processors=0.1, **OPTIONS
        ),
    ]
    try:
        for table in tables:
            table.add_column("Adagrad", initial=0.1)
        step(tables, 0)
        other.save(f"{folder}/model-1", step=1)
        step(tables, 1)
        other.save_delta(f"{folder}/.incremental_checkpoint/incremental_model.ckpt-2", step=2)
        step([other], 2)
        other.link.kill(1)
        with pytest.raises(
            cluster.PartitionLostError, match='part 1 of "lost" was lost, and is back as of step 2'
        ) as told:
            step([other], 3)
        assert (told.value.partition, told.value.step) == (1, 2)
        other.lookup([1])  # told once
        assert other.rollback() == 2
        assert_same_rows(one, other)
        step(tables, 3)
        assert_same_rows(one, other)
    finally:
        other.close()


def test_a_part_without_anything_saved_is_back_empty(ray_cluster: Any) -> None:
    with cluster.ShardedEmbeddingTable(4, name="bare", partitions=1, processors=0.1) as table:
        table.assign([1], np.ones((1, 4)))
        table.link.kill(0)
        with pytest.raises(cluster.PartitionLostError, match="empty, for nothing of it was saved"):
            table.lookup([1])
        assert len(table) == 0


def test_without_a_cluster_the_error_says_how_to_start_one() -> None:
    """In another process, for this one may be connected."""
    program = (
        "from tensorkeep import cluster, UnavailableError\n"
        "try:\n    cluster.RayExecutor('127.0.0.1:1')\n"
        "except UnavailableError as error:\n    print(error)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, timeout=200, check=True
    )
    assert 'no Ray cluster answers at "127.0.0.1:1"' in done.stdout
    assert "ray start --head" in done.stdout
