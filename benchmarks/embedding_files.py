"""Embedding tables to files and back, beside plain checkpoints of the same bytes; and the offline tools.

As a program, `python -m benchmarks.embedding_files TOOL FOLDER`, it runs one tool and prints its seconds and the most
memory that the process took.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import tensorkeep.v1
from benchmarks.timing import Contender, Report, medians, spread, table, take_turns
from tensorkeep import EmbeddingTable, SaveOptions, embedding, load_tensors, open_checkpoint, save_checkpoint
from tensorkeep.embedding.stored.buckets import order_of
from tensorkeep.embedding.table.snapshot import ArraySnapshot
from tensorkeep.io.files.filesystem import Durability

DIM = 16
TOUCHED = 50  # one key in so many is in the delta
OPTIONS = SaveOptions(durability=Durability.CACHE)  # as TensorFlow saves
LEAST, MOST = 1.0, 512  # million keys per second; MiB
TABLES, SLOWEST = (100, 200, 400), 2.0  # restored at once; processor seconds for the last


def snapshot_of(count: int) -> ArraySnapshot:
    random = np.random.default_rng(6)
    keys = np.unique(random.integers(-(2**62), 2**62, count + count // 100 + 10))[:count]
    rows = random.random((count, DIM), dtype=np.float32)
    return ArraySnapshot(keys[order_of(keys)], {"": rows, "Adagrad": rows}, random.integers(1, 100, count))


def saving_and_restoring(folder: Path, count: int, rounds: int) -> str:
    made = snapshot_of(count)
    trained, restored = _filled(made, np.random.default_rng(7).permutation(count)), _filled(made)
    with restored.snapshot() as snapshot:
        embedding.save_embeddings(folder / "table", {"e": snapshot}, options=OPTIONS)
    plain = load_tensors(folder / "table")
    size = sum(array.nbytes for array in plain.values())

    def save(filled: EmbeddingTable) -> None:
        with filled.snapshot() as snapshot:
            embedding.save_embeddings(folder / "table", {"e": snapshot}, options=OPTIONS)

    def restore() -> None:
        fresh = _empty()
        with open_checkpoint(folder / "table") as reader:
            embedding.restore_table(fresh, reader, "e")

    pairs = [
        [
            Contender("save_checkpoint of the arrays", lambda: save_checkpoint(folder / "plain", plain, OPTIONS)),
            Contender("save_embeddings, keys as they came", lambda: save(trained)),
            Contender("save_embeddings, keys as restored", lambda: save(restored)),
        ],
        [
            Contender("load_tensors of the arrays", lambda: load_tensors(folder / "plain")),
            Contender("restore_table into a new one", restore),
        ],
    ]
    rows = []
    for pair in pairs:
        seconds = take_turns(pair, rounds, backed=2 * size)
        middle = medians(seconds)
        peer = middle[pair[0].name]
        rows += [
            [name, f"{size / taken / 1e9:.2f}", f"{peer / taken:.2f} x", f"{taken:.3f} ({spread(seconds[name])})"]
            for name, taken in middle.items()
        ]
    title = f"{count} keys, rows of {DIM} and Adagrad, {size / 1e9:.2f} GB (bar: half the speed of the arrays)"
    return f"{title}\n\n{table(['', 'GB/s', 'speed, to the arrays', 'seconds: median (range)'], rows)}"


def many_tables(counts: Sequence[int] = TABLES) -> str:
    """Restoring so many embedding variables with the slots of an optimizer by a saver."""
    rows = [
        [optimizer, str(count), f"{_restoring(optimizer, count):.2f}"]
        for optimizer in ("Adagrad", "Adam")
        for count in counts
    ]
    title = f"Saver.restore of many tables with their slots (bar: {SLOWEST:.1f} processor seconds for {counts[-1]})"
    return f"{title}\n\n{table(['', 'tables', 'processor seconds'], rows)}"


def _restoring(optimizer: str, count: int) -> float:
    """The processor seconds that a saver takes to restore so many tables into a new session."""
    tf: Any = tensorkeep.v1
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
        ids = tf.constant([1, 2, 3], tf.int64)
        tables = [tf.get_embedding_variable(f"table_{number}", embedding_dim=4) for number in range(count)]
        loss = tf.add_n([tf.reduce_sum(tf.nn.embedding_lookup(each, ids)) for each in tables])
        training = getattr(tf.train, f"{optimizer}Optimizer")(0.1).minimize(loss)
        saver = tf.train.Saver()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(training)
            saver.save(session, f"{folder}/model")
        with tf.Session() as session:
            start = time.process_time()
            saver.restore(session, f"{folder}/model")
            return time.process_time() - start


def _empty() -> EmbeddingTable:
    made = EmbeddingTable(DIM, keeps_frequencies=True)
    made.add_column("Adagrad", initial=0.1)
    return made


def _filled(snapshot: ArraySnapshot, order: npt.NDArray[np.int64] | slice = slice(None)) -> EmbeddingTable:
    """A table whose keys came in some order; else in that of a file."""
    made = _empty()
    keys = snapshot.keys[order]
    made.assign(keys, snapshot.values[""], "", None if snapshot.freqs is None else snapshot.freqs[order])
    made.assign(keys, snapshot.values["Adagrad"], "Adagrad")
    return made


def _prune(folder: Path) -> None:
    embedding.prune_checkpoint(folder / "x", folder / "z", embedding.KeepFrequent(50))


TOOLS: dict[str, Callable[[Path], object]] = {
    "repartition 1 to 4": lambda folder: embedding.repartition_checkpoint(folder / "x", folder / "y", 4),
    "repartition 4 to 3": lambda folder: embedding.repartition_checkpoint(folder / "y", folder / "z", 3),
    "prune by frequency": _prune,
    "compact a delta": lambda folder: embedding.compact_checkpoint(folder / "x", folder / "z", folder / "delta"),
    "quantise to int8": lambda folder: embedding.quantise_checkpoint(folder / "x", folder / "z", "int8"),
    "statistics": lambda folder: embedding.embedding_statistics(folder / "x"),
    "compare keys": lambda folder: embedding.compare_keys(folder / "x"),
}


def tools(folder: Path, count: int) -> str:
    snapshot = snapshot_of(count)
    embedding.save_embeddings(folder / "x", {"e": snapshot}, options=OPTIONS)
    touched = snapshot.keys[::TOUCHED]
    save_checkpoint(folder / "delta", embedding.table_delta_tensors("e", snapshot, touched), OPTIONS)
    del snapshot
    rows = [[name, f"{count / taken / 1e6:.2f}", f"{most:.0f}"] for name, taken, most in _runs(folder)]
    title = f"Tools on {count} keys, rows of {DIM} and Adagrad (bar: {LEAST:.0f} million keys per second, {MOST} MiB)"
    return f"{title}\n\n{table(['', 'million keys/s', 'most memory, MiB'], rows)}"


def _runs(folder: Path) -> Iterator[tuple[str, float, float]]:
    for name in TOOLS:
        command = [sys.executable, "-m", "benchmarks.embedding_files", name, str(folder)]
        taken, most = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        yield name, float(taken), float(most)


def embedding_files(folder: Path, count: int, rounds: int) -> Report:
    """Tables to files and back, the tools, and many tables at once."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = [saving_and_restoring(folder, count, rounds), tools(folder, count), many_tables()]
    return Report("\n\n".join(parts))


def main() -> int:
    start = time.perf_counter()
    TOOLS[sys.argv[1]](Path(sys.argv[2]))
    taken = time.perf_counter() - start
    # Not `ru_maxrss`: that is handed on from a parent process that was large.
    with open("/proc/self/status") as status:
        most = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    print(taken, most / 1024)
    return 0


if __name__ == "__main__":
    sys.exit(main())
