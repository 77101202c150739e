"""Work on a Ray cluster of this machine: checkpoints verified, tables looked up and saved, by one process and two."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import Contender, Report, medians, spread, table, take_turns
from tensorkeep import EmbeddingTable, check_checkpoint, cluster, save_checkpoint
from tensorkeep.checkpoint.saving import SaveOptions
from tensorkeep.embedding.stored.buckets import shards_of
from tensorkeep.io.files.filesystem import Durability

DIM = 16
LOOKED_UP = 1_000_000  # rows of the table that is looked up
BATCH = 100_000  # keys, half of them repeated
EXAMPLE = 100  # keys that belong together, and that a program without batches would ask for at once
AT_ONCE = 1_000_000  # rows that a table is filled with at a time
CASES = ("verify", "lookup", "save")


def clusters(folder: Path, size: int, keys: int, rounds: int, case: str = "") -> Report:
    folder.mkdir(parents=True)
    ray = cluster.connect("local", processors=2, store=1 << 30)
    runs = {
        "verify": lambda: verifying(folder, size, rounds),
        "lookup": lambda: looking_up(ray, rounds),
        "save": lambda: saving_in_memory(folder, keys, min(rounds, 5)),
    }
    try:
        return Report("\n\n".join(run() for name, run in runs.items() if case in name))
    finally:
        cluster.disconnect()


def verifying(folder: Path, size: int, rounds: int) -> str:
    count = 16
    values = np.random.default_rng(0).random(size // count // 4, np.float32)
    path = str(folder / "verified")
    save_checkpoint(path, {f"t{at:02d}": values for at in range(count)}, SaveOptions(durability=Durability.CACHE))
    executors = {workers: cluster.RayExecutor(workers=workers) for workers in (1, 2)}
    contenders = [
        Contender(f"{workers} worker{'s' if workers > 1 else ''}", lambda by=by: cluster.check_checkpoint(path, by))
        for workers, by in executors.items()
    ]
    contenders.append(Contender("one process, threads", lambda: check_checkpoint(path)))
    seconds = take_turns(contenders, rounds)
    found = medians(seconds)
    first = found["1 worker"]
    rows = [
        (name, f"{found[name]:.3f}", f"{size / found[name] / 1e9:.1f}", f"{first / found[name]:.2f}", spread(taken))
        for name, taken in seconds.items()
    ]
    return f"verify {size >> 20} MiB on Ray\n\n" + table(("by", "s", "GB/s", "times one worker", "spread"), rows)


def looking_up(ray: Any, rounds: int) -> str:
    random = np.random.default_rng(1)
    keys = random.choice(1 << 40, LOOKED_UP, replace=False)
    half = random.choice(keys, BATCH // 2, replace=False)
    batch = random.permutation(np.concatenate([half, half]))
    plain = [ray.remote(PlainPart).options(num_cpus=0.5).remote() for _ in range(2)]
    with cluster.ShardedEmbeddingTable(DIM, name="looked-up", partitions=2, processors=0.5) as sharded:
        for at in range(0, LOOKED_UP, 200_000):
            part = keys[at : at + 200_000]
            rows = random.random((part.size, DIM), dtype=np.float32)
            sharded.assign(part, rows)
            for number, actor in enumerate(plain):
                mine = shards_of(part, 2) == number
                ray.get(actor.assign.remote(part[mine], rows[mine]))
        few = batch[: BATCH // 20]
        assert np.array_equal(sharded.lookup(few), by_example(ray, plain, few))
        contenders = [
            Contender("ShardedEmbeddingTable", lambda: sharded.lookup(batch)),
            Contender("plain actors, all keys of a part by one call", lambda: by_part(ray, plain, batch)),
            Contender(f"plain actors, a call for {EXAMPLE} keys", lambda: by_example(ray, plain, few)),
        ]
        seconds = take_turns(contenders, rounds)
    found = medians(seconds)
    sizes = dict(zip(found, (BATCH, BATCH, few.size), strict=True))
    speeds = {name: sizes[name] / taken / 1e6 for name, taken in found.items()}
    ours = speeds["ShardedEmbeddingTable"]
    rows = [
        (
            name,
            f"{sizes[name]:,}",
            f"{found[name] * 1e3:.1f}",
            f"{speed:.3f}",
            f"{ours / speed:.1f}",
            spread(seconds[name]),
        )
        for name, speed in speeds.items()
    ]
    title = f"look up keys, half of them repeated, in {LOOKED_UP:,} rows of {DIM} float32, 2 actors"
    return f"{title}\n\n" + table(("by", "keys", "ms", "M keys/s", "ours is times as fast", "spread"), rows)


class PlainPart:
    """What somebody writes first: an actor with part of a table, which answers what it is asked."""

    def __init__(self) -> None:
        self._table = EmbeddingTable(DIM, threads=1)

    def assign(self, keys: Any, rows: Any) -> None:
        self._table.assign(keys, rows)

    def lookup(self, keys: Any) -> Any:
        return self._table.lookup(keys)


def by_part(ray: Any, actors: list[Any], keys: Any) -> Any:
    """One call for each part, with all its keys, one after the other."""
    rows = np.empty((keys.size, DIM), np.float32)
    shards = shards_of(keys, len(actors))
    for number, actor in enumerate(actors):
        rows[shards == number] = ray.get(actor.lookup.remote(keys[shards == number]))
    return rows


def by_example(ray: Any, actors: list[Any], keys: Any) -> Any:
    """A call to each part for each example, all of them under way at the same time."""
    asked = []
    for at in range(0, keys.size, EXAMPLE):
        part = keys[at : at + EXAMPLE]
        shards = shards_of(part, len(actors))
        for number, actor in enumerate(actors):
            places = np.flatnonzero(shards == number)
            asked.append((at + places, actor.lookup.remote(part[places])))
    rows = np.empty((keys.size, DIM), np.float32)
    for places, answer in asked:
        rows[places] = ray.get(answer)
    return rows


def saving_in_memory(folder: Path, count: int, rounds: int) -> str:
    """Saves to files in memory, where there are such: measured are the writers, and not a disk that they share."""
    memory = Path("/dev/shm")
    if not memory.is_dir():
        return saving(folder, count, rounds)
    with tempfile.TemporaryDirectory(prefix="bench-", dir=memory) as name:
        return saving(Path(name), count, rounds) + "\n\nThe files were in memory (/dev/shm)."


def saving(folder: Path, count: int, rounds: int) -> str:
    random = np.random.default_rng(2)
    rows_at_once = random.random((AT_ONCE, DIM), dtype=np.float32)
    contenders = []
    with ExitStack() as stack:
        for writers in (1, 2):
            sharded = stack.enter_context(
                cluster.ShardedEmbeddingTable(
                    DIM, name=f"saved-{writers}", partitions=writers, processors=0.5, capacity=count // writers
                )
            )
            for at in range(0, count, AT_ONCE):
                keys = np.arange(at, min(at + AT_ONCE, count)) * 2_654_435_761 % (1 << 50)
                sharded.assign(keys, rows_at_once[: keys.size])
            contenders.append(
                Contender(
                    f"{writers} writer{'s' if writers > 1 else ''}",
                    lambda table=sharded: table.save(folder / f"saved-{table.partitions}", durability=Durability.CACHE),
                )
            )
        seconds = take_turns(contenders, rounds)
    size = sum(file.stat().st_size for file in folder.glob("saved-1.data-*"))
    found = medians(seconds)
    rows = [
        (name, f"{taken:.2f}", f"{count / taken / 1e6:.1f}", f"{found['1 writer'] / taken:.2f}", spread(seconds[name]))
        for name, taken in found.items()
    ]
    title = f"save {count:,} rows of {DIM} float32 ({size >> 20} MiB), CACHE"
    return f"{title}\n\n" + table(("by", "s", "M rows/s", "times one writer", "spread"), rows)
