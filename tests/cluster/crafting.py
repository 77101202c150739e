"""Checkpoints and programs that tests of clusters are about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tensorkeep as tk
from tensorkeep import cluster, embedding, inspect


def save_mixed(path: str, seed: int = 0, megabytes: int = 6) -> str:
    """A checkpoint with a tensor that is cut, small ones, one of strings, one in slices, and what is odd."""
    random = np.random.default_rng(seed)
    big = random.normal(size=(megabytes << 18,)).astype(np.float32)
    big[5] = np.nan
    sliced = random.normal(size=(40, 6)).astype(np.float32)
    halves = [(tk.TensorSlice(((0, 25), None)), sliced[:25]), (tk.TensorSlice(((25, 15), None)), sliced[25:])]
    tensors: dict[str, Any] = {f"small/{at}": random.normal(size=(30, at + 1)).astype(np.float32) for at in range(9)}
    tensors |= {"big": big, "words": np.array([b"a", b"bc"], object), "step": np.int64(seed), "empty": np.zeros((0, 3))}
    tensors["sliced"] = tk.PartitionedArray((40, 6), halves)
    return tk.save_checkpoint(path, tensors)


def save_tables(path: str, keys: int = 3000, shards: int = 3, seed: int = 0) -> str:
    """A checkpoint with a table in shards, with a slot, frequencies, versions and counted keys, and a plain tensor."""
    random = np.random.default_rng(seed)
    chosen = random.choice(10**9, keys, replace=False)
    counted = 10**9 + np.arange(50)
    snapshot = embedding.ArraySnapshot.of(
        chosen,
        {
            "": random.normal(size=(keys, 4)).astype(np.float32),
            "Adagrad": random.random((keys, 4)).astype(np.float32),
        },
        freqs=random.integers(1, 9, keys),
        versions=random.integers(0, 100, keys),
        filtered_keys=counted,
        filtered_freqs=np.ones(50, np.int64),
        filtered_versions=np.zeros(50, np.int64),
    )
    embedding.save_embeddings(f"{path}.one", {"user": snapshot}, {"dense/kernel": np.arange(6.0)})
    return embedding.repartition_checkpoint(f"{path}.one", path, shards)


def assert_same_tensors(first: str, second: str) -> None:
    """Two checkpoints have the same tensors, to the last bit, with the same checksums."""
    with tk.open_checkpoint(first) as one, tk.open_checkpoint(second) as other:
        assert list(one) == list(other)
        assert inspect.compare(one, other).is_same
        sums = [{name: [place.checksum for place in found] for name, found in item.places()} for item in (one, other)]
        assert sums[0] == sums[1]


def two_tower_program(
    home: str, *, partitions: int = 2, in_process: bool = False, filter_freq: int = 0
) -> Callable[[], Any]:
    """A TF1 program with a table and a dense variable, both updated by Adagrad."""

    def program() -> Any:
        from tensorkeep import v1 as tf

        placement = cluster.TablesOnRay(home, partitions=partitions, in_process=in_process, processors=0.1)
        ids = tf.placeholder(tf.int64, [None], name="ids")
        labels = tf.placeholder(tf.float32, [None], name="labels")
        option = tf.EmbeddingVariableOption(filter_option=tf.CounterFilter(filter_freq)) if filter_freq else None
        table = tf.get_embedding_variable(
            "user", 4, initializer=tf.constant_initializer(0.5), placement=placement, ev_option=option
        )
        weights = tf.get_variable("weights", [4], initializer=tf.constant_initializer(1.0))
        rows = tf.nn.embedding_lookup(table, ids)
        loss = tf.reduce_mean(tf.square(tf.reduce_sum(rows * weights, 1) - labels))
        optimizer = tf.train.AdagradOptimizer(0.1)
        gradients = optimizer.compute_gradients(loss)
        train = optimizer.apply_gradients(gradients, tf.train.get_or_create_global_step())
        return cluster.TrainingProgram({"ids": ids, "labels": labels}, gradients, train, loss)

    return program


def random_batches(count: int, seed: int = 0) -> list[dict[str, Any]]:
    random = np.random.default_rng(seed)
    return [
        {"ids": random.integers(0, 60, 16), "labels": random.normal(size=16).astype(np.float32)} for _ in range(count)
    ]
