"""Programs that tests start as processes of their own: `python -m tests.cluster.programs node|driver FOLDER SEED`.

node     trains on a cluster of three nodes, of which one is lost on the way
driver   trains on a cluster of its own, until it is done or somebody kills it
"""

from __future__ import annotations

import sys

import numpy as np

from tensorkeep import cluster
from tensorkeep.cluster.ray_start import ray_module
from tests.cluster.crafting import random_batches, two_tower_program

BATCHES = 40
EVERY = 3


def options(folder: str, name: str) -> cluster.TrainingOptions:
    return cluster.TrainingOptions(f"{folder}/{name}", workers=2, save_every=EVERY)


def train_and_lose_a_node(folder: str, seed: int) -> None:
    ray_module()
    from ray.cluster_utils import Cluster

    nodes = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 1, "object_store_memory": 80 << 20, "include_dashboard": False},
    )
    try:
        others = [nodes.add_node(num_cpus=2, object_store_memory=80 << 20) for _ in range(2)]
        cluster.connect(nodes.address)
        random = np.random.default_rng(seed)
        program = two_tower_program(f"{folder}/home", partitions=3)
        with cluster.Training(program, random_batches(BATCHES), options(folder, "lost"), processors=0.3) as training:
            server = cluster.training.running.RemoteServer(training.server)
            wanted = int(random.integers(1, 8))
            while server.ask("steps") < wanted:
                continue
            nodes.remove_node(others[random.integers(2)], allow_graceful=False)
            print(training.wait().checkpoint)
    finally:
        cluster.disconnect()
        nodes.shutdown()


def train_until_killed(folder: str, seed: int) -> None:
    cluster.connect("local", processors=4, store=80 << 20)
    program = two_tower_program(f"{folder}/home{seed}", partitions=2)
    print(cluster.train(program, random_batches(BATCHES), options(folder, "killed"), processors=0.3).checkpoint)
    cluster.disconnect()


def train_on_a_dataset(folder: str, seed: int) -> None:
    """Trains on rows of which each is to be seen once. Prints how many batches were applied, and the rows in them."""
    cluster.connect("local", processors=4, store=80 << 20)
    import ray.data

    rows = random_batches(4, seed)
    columns = {name: np.concatenate([batch[name] for batch in rows]) for name in rows[0]}
    items = [{"ids": i, "labels": y} for i, y in zip(columns["ids"], columns["labels"], strict=True)]
    batches = cluster.DatasetBatches(ray.data.from_items(items).materialize(), batch_size=7)
    seen = np.concatenate([batch["ids"] for part in batches.split(2) for batch in part])
    assert sorted(seen.tolist()) == sorted(columns["ids"].tolist())
    program = two_tower_program(f"{folder}/home", partitions=2)
    print(cluster.train(program, batches, options(folder, "dataset"), processors=0.3).checkpoint)
    cluster.disconnect()


PROGRAMS = {"node": train_and_lose_a_node, "driver": train_until_killed, "dataset": train_on_a_dataset}

if __name__ == "__main__":
    what, where, number = sys.argv[1:]
    PROGRAMS[what](where, int(number))
