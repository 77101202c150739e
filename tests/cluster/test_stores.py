"""Jobs, tables and trainings whose paths are URLs of object stores."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest

import tensorkeep as tk
from tensorkeep import cluster
from tensorkeep.io.files.everywhere import FILES
from tests.cluster.crafting import assert_same_tensors, random_batches, two_tower_program
from tests.support.stores import s3_bucket

_numbers = itertools.count()


@pytest.fixture
def url() -> str:
    """A place in a store of this process that nobody else uses."""
    return f"memory://cluster-{next(_numbers)}/run"


def test_files_everywhere_are_the_same_in_another_process() -> None:
    assert pickle.loads(pickle.dumps(FILES)) is FILES


def test_a_job_reads_and_writes_in_a_store_and_leaves_no_journal(url: str, small_parts: None) -> None:
    random = np.random.default_rng(0)
    path = tk.save_checkpoint(f"{url}/model", {f"t{at}": random.random((1 << 17) + at) for at in range(4)})
    assert cluster.check_checkpoint(path) == tk.check_checkpoint(path)
    cluster.split(path, f"{url}/split/model", 1000)
    assert_same_tensors(path, f"{url}/split/model")
    assert len(FILES.list(f"{url}/split")) == 5  # four data files and the index


def test_parts_of_a_table_are_saved_to_a_store_and_come_back_from_it(url: str) -> None:
    table = cluster.ShardedEmbeddingTable(4, name="user", partitions=3, home=f"{url}/home", in_process=True)
    table.assign(np.arange(100), np.ones((100, 4)))
    table.save(f"{url}/model-1", step=1)
    table.assign([5], np.full((1, 4), 7.0))
    table.save_delta(f"{url}/.incremental_checkpoint/incremental_model.ckpt-2", step=2)
    table.assign([6], np.full((1, 4), 7.0))
    assert table.rollback() == 2
    assert table.lookup([5, 6])[:, 0].tolist() == [7, 1]


def test_a_table_that_is_made_again_begins_with_what_was_saved_and_says_so(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    made = {"name": "user", "partitions": 2, "home": f"{url}/home", "in_process": True}
    table = cluster.ShardedEmbeddingTable(4, **made)
    table.assign(np.arange(10), np.ones((10, 4)))
    assert not caplog.records
    table.save(f"{url}/model-1", step=1)
    again = cluster.ShardedEmbeddingTable(4, **made)
    assert len(again) == 10
    assert f'is in "{url}/home" already, and begins as of step 1, from "{url}/model-1"' in caplog.text


def test_workers_reach_a_store_as_their_driver_was_told(executor: cluster.RayExecutor) -> None:
    random = np.random.default_rng(0)
    with s3_bucket() as bucket:
        path = tk.save_checkpoint(f"{bucket}/model", {f"t{at}": random.random(1 << 17) for at in range(4)})
        assert cluster.check_checkpoint(path, executor) == tk.check_checkpoint(path)
        cluster.split(path, f"{bucket}/split/model", 1000, executor=executor)
        assert_same_tensors(path, f"{bucket}/split/model")


def test_a_training_saves_to_a_store(url: str) -> None:
    options = cluster.TrainingOptions(f"{url}/trained", workers=2, save_every=2)
    program = two_tower_program(f"{url}/home", in_process=True)
    trained = cluster.train_serially(program, random_batches(8), options)
    assert tk.check_checkpoint(trained.checkpoint).is_intact
    assert tk.latest_checkpoint(f"{url}/trained") == trained.checkpoint
