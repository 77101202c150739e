"""A node that is lost, and a driver that is killed: what is trained and what is written is what it would have been."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep as tk
from tensorkeep import cluster, edit
from tests.cluster.crafting import assert_same_tensors, random_batches, save_mixed, two_tower_program
from tests.cluster.programs import BATCHES, options

ROOT = Path(__file__).resolve().parents[2]
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.deep) for seed in range(1, 5))]
PATIENCE = 200  # seconds that a process may take


def started(*arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    environment.pop("RAY_ADDRESS", None)
    return subprocess.Popen(
        [sys.executable, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=ROOT,
        start_new_session=True,
    )


def expected(folder: str) -> str:
    program = two_tower_program(f"{folder}/serial-home", in_process=True, partitions=2)
    trained = cluster.train_serially(program, random_batches(BATCHES), options(folder, "serial"))
    return trained.checkpoint


def wait_until(is_so: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + PATIENCE
    while not is_so() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)


def repartitioned(source: str, target: str) -> str:
    return tk.embedding.repartition_checkpoint(source, target, 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_a_training_that_loses_a_node_comes_to_what_a_serial_run_comes_to(folder: str, seed: int) -> None:
    process = started("-m", "tests.cluster.programs", "node", folder, str(seed))
    printed, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors[-3000:]
    found = printed.splitlines()[-1]
    # Three parts there and two here: in one part they are alike.
    assert_same_tensors(repartitioned(found, f"{folder}/found"), repartitioned(expected(folder), f"{folder}/expected"))


@pytest.mark.slow
def test_workers_share_a_dataset_of_ray_data(folder: str) -> None:
    process = started("-m", "tests.cluster.programs", "dataset", folder, "0")
    printed, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors[-3000:]
    with tk.open_checkpoint(printed.splitlines()[-1]) as reader:
        applied = reader.read("tensorkeep_training/positions")
        assert applied.min() > 0
        assert 64 / 7 <= applied.sum() <= 64 / 7 + 2  # batches of 7 of 64 rows; the last of each part is smaller
        assert reader.read("global_step") == applied.max()


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_a_training_whose_driver_is_killed_goes_on_in_the_next_run(folder: str, seed: int) -> None:
    first = started("-m", "tests.cluster.programs", "driver", folder, str(seed))
    state = Path(f"{folder}/killed/model-{3 * (seed + 1)}.index")
    wait_until(state.exists, first)
    os.killpg(first.pid, signal.SIGKILL)  # the driver and what it has started, as when a machine goes
    first.communicate()
    latest = tk.latest_checkpoint(f"{folder}/killed")
    assert latest is not None
    assert tk.check_checkpoint(latest).is_intact
    program = two_tower_program(f"{folder}/next-home", in_process=True, partitions=2)
    trained = cluster.train_serially(program, random_batches(BATCHES), options(folder, "killed"))
    assert_same_tensors(trained.checkpoint, expected(folder))


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_parts_that_die_at_random_moments_of_saves_and_restores_lose_nothing_that_was_saved(
    ray_cluster: Any, folder: str, seed: int
) -> None:
    random = np.random.default_rng(seed)
    rows = random.normal(size=(20_000, 8)).astype(np.float32)
    keys = random.choice(1 << 40, 20_000, replace=False)
    name = f"dying-{seed}"
    with cluster.ShardedEmbeddingTable(8, name=name, partitions=2, home=f"{folder}/home", processors=0.1) as table:
        table.assign(keys, rows)
        first = table.save(f"{folder}/model-1", step=1)
        for turn in range(6):
            victim = ray_cluster.get_actor(f"table {name} {random.integers(2)}", "tensorkeep")
            killing = threading.Timer(random.uniform(0, 0.1), ray_cluster.kill, (victim,), {"no_restart": False})
            killing.start()
            with suppress(cluster.PartitionLostError):
                if turn % 2:
                    table.restore(first, step=1)
                else:
                    table.save(f"{folder}/again-{turn}", step=1)
            killing.join()
            if Path(f"{folder}/again-{turn}.index").exists():  # old or new, and never something between
                assert_same_tensors(first, f"{folder}/again-{turn}")
            assert not list(Path(folder).glob("*-parts"))
            np.testing.assert_array_equal(_rolled_back(table, keys), rows)


def _rolled_back(table: cluster.ShardedEmbeddingTable, keys: Any) -> Any:
    """The rows of a table that is taken back to step 1, whatever comes to light meanwhile of what died before."""
    while True:
        with suppress(cluster.PartitionLostError):
            assert table.rollback() == 1
            return table.lookup(keys)


JOB = """
import sys
from tensorkeep import cluster, edit
from tensorkeep.cluster.jobs import cutting
cutting._LEAST = 1 << 20
cluster.split(sys.argv[1], sys.argv[2], 500, edit.EditOptions())
"""


@pytest.mark.parametrize("parts", [0, 1, *(pytest.param(part, marks=pytest.mark.deep) for part in range(2, 6))])
def test_a_job_whose_driver_is_killed_leaves_nothing_and_goes_on(folder: str, parts: int, small_parts: None) -> None:
    path = save_mixed(f"{folder}/model", megabytes=24)
    target = f"{folder}/out/model"
    process = started("-c", JOB, path, target)
    journal = Path(f"{target}.tensorkeep-job")
    wait_until(lambda: len(list(journal.glob("*.done"))) > parts or Path(f"{target}.index").exists(), process)
    process.kill()
    process.communicate()
    if Path(f"{target}.index").exists():
        assert tk.check_checkpoint(target).is_intact
    cluster.split(path, target, 500, edit.EditOptions(overwrite=True))
    edit.split(path, f"{folder}/expected/model", 500)
    written, wanted = Path(f"{folder}/out"), Path(f"{folder}/expected")
    assert {file.name: file.read_bytes() for file in written.iterdir()} == {
        file.name: file.read_bytes() for file in wanted.iterdir()
    }
