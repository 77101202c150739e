"""Embedding tables beside TensorFlow's hash tables, a dense variable, pandas and a dictionary."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from benchmarks.timing import Contender, Report, back_memory, medians, spread, table, take_turns
from tensorkeep.embedding.table.embedding_table import EmbeddingTable
from tensorkeep.embedding.table.native_kernels import kernels_for

DIM = 16
ASKED = 1_000_000
BATCH = 1 << 16  # keys that are inserted at a time
DICTIONARY = 2_000_000  # keys of a dictionary: more take long to build
BACKED = 3 << 29  # bytes of memory that a table of all keys takes
EMPTY, DELETED = -(2**63), -(2**63) + 1  # keys that TensorFlow's dense table needs for itself

Keys = npt.NDArray[np.int64]

# DeepRec's own benchmark.
IDS, BATCHES, BATCH_IDS, SKEW, WIDE = 5_000_000, 100, 131_072, 0.8, 32


def random_keys(count: int) -> Keys:
    """Different keys in random order, from the whole range."""
    random = np.random.default_rng(6)
    keys = np.unique(random.integers(-(2**62), 2**62, count + count // 100 + 10))
    return random.permutation(keys)[:count]


def asked_of(keys: Keys) -> Keys:
    """A million keys, a tenth of which are not there."""
    random = np.random.default_rng(7)
    asked = keys[random.integers(0, len(keys), ASKED)]
    asked[random.permutation(ASKED)[: ASKED // 10]] = random.integers(2**62, 2**63 - 1, ASKED // 10)
    return asked


def batches_of(keys: Keys) -> Iterator[Keys]:
    for start in range(0, len(keys), BATCH):
        yield keys[start : start + BATCH]


def _speeds(title: str, head: str, seconds: dict[str, list[float]], counts: dict[str, int], peer: str) -> str:
    """Millions per second of each, and how many times the speed of a peer that is."""
    middle = medians(seconds)
    rate = {name: counts.get(name, counts[""]) / middle[name] for name in seconds}
    rows = [
        [name, f"{rate[name] / 1e6:.1f}", f"{rate[name] / rate[peer]:.2f} x", f"{middle[name]:.4f} ({spread(taken)})"]
        for name, taken in seconds.items()
    ]
    return f"{title}\n\n{table(['', head, f'speed, to {peer}', 'seconds: median (range)'], rows)}"


def _hash_table(kind: Any, keys: Keys, **options: Any) -> Any:
    made = kind(key_dtype=tf.int64, value_dtype=tf.int64, default_value=tf.constant(-1, tf.int64), **options)
    made.insert(tf.constant(keys), tf.range(len(keys), dtype=tf.int64))
    return made


def _dense_hash_table(keys: Keys, **options: Any) -> Any:
    kind = tf.lookup.experimental.DenseHashTable
    return _hash_table(kind, keys, empty_key=EMPTY, deleted_key=DELETED, **options)


def lookups(keys: Keys, rounds: int) -> tuple[str, float]:
    """From keys to whether, and where, they are."""
    asked = asked_of(keys)
    ours = {number: EmbeddingTable(1, capacity=len(keys), threads=number) for number in (1, 2)}
    for made in ours.values():
        made.touch(keys)
    dense, mutable = _dense_hash_table(keys), _hash_table(tf.lookup.experimental.MutableHashTable, keys)
    tensor = tf.constant(asked)
    contenders = [
        Contender("tensorkeep, 1 thread", lambda: ours[1].contains(asked)),
        Contender("tensorkeep, 2 threads", lambda: ours[2].contains(asked)),
        Contender("TensorFlow, MutableDenseHashTable", lambda: dense.lookup(tensor).numpy()),
        Contender("TensorFlow, MutableHashTable", lambda: mutable.lookup(tensor).numpy()),
    ]
    counts = {"": ASKED}
    if importlib.util.find_spec("pandas") is not None:
        import pandas

        index = pandas.Index(keys)
        contenders.append(Contender("pandas, Index.get_indexer", lambda: index.get_indexer(asked)))
    words = {key: row for row, key in enumerate(keys[:DICTIONARY].tolist())}
    few = keys[np.random.default_rng(8).integers(0, len(words), ASKED // 10)].tolist()
    name = f"a dictionary of {len(words) / 1e6:g} million"
    contenders.append(Contender(name, lambda: [words.get(key, -1) for key in few]))
    counts[name] = len(few)
    seconds = take_turns(contenders, rounds)
    peer = "TensorFlow, MutableDenseHashTable"
    title = f"Looking up {ASKED / 1e6:g} million keys of {len(keys) / 1e6:g} million (bars: 30 and 50; 3 x TensorFlow)"
    middle = medians(seconds)
    return _speeds(title, "million keys/s", seconds, counts, peer), middle[peer] / middle["tensorkeep, 1 thread"]


def _inserted(insert: Callable[[Keys], object], keys: Keys) -> tuple[float, float]:
    """Seconds that inserting keys takes, batch by batch, and the longest batch."""
    longest, start = 0.0, time.perf_counter()
    for batch in batches_of(keys):
        begun = time.perf_counter()
        insert(batch)
        longest = max(longest, time.perf_counter() - begun)
    return time.perf_counter() - start, longest


def _into_tensorflow(kind: str, keys: Keys) -> Callable[[Keys], object]:
    if kind == "dense":
        buckets = 1 << int(np.ceil(np.log2(len(keys) * 1.5)))
        made = _dense_hash_table(keys[:1], initial_num_buckets=buckets)
    else:
        made = _hash_table(tf.lookup.experimental.MutableHashTable, keys[:1])
    numbers = tf.range(BATCH, dtype=tf.int64)
    return lambda batch: made.insert(tf.constant(batch), numbers[: len(batch)])


def inserts(keys: Keys, rounds: int) -> str:
    """New keys, in batches, and how long the longest batch takes."""

    def index(capacity: int) -> Callable[[Keys], object]:
        made = kernels_for(None).new_index()
        made.reserve(capacity)
        return made.find_or_insert

    makers: dict[str, Callable[[], Callable[[Keys], object]]] = {
        "tensorkeep, keys alone, presized": lambda: index(len(keys)),
        "tensorkeep, keys alone, growing": lambda: index(0),
        f"tensorkeep, rows of {DIM}, presized": lambda: EmbeddingTable(DIM, capacity=len(keys)).touch,
        f"tensorkeep, rows of {DIM}, growing": lambda: EmbeddingTable(DIM).touch,
        "TensorFlow, MutableDenseHashTable, presized": lambda: _into_tensorflow("dense", keys),
        "TensorFlow, MutableHashTable, growing": lambda: _into_tensorflow("mutable", keys),
    }
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in makers}
    for _ in range(max(rounds // 2, 2)):
        for name, make in makers.items():
            back_memory(BACKED)
            taken[name].append(_inserted(make(), keys))
    rows = []
    for name, results in taken.items():
        seconds = sorted(each[0] for each in results)
        middle = seconds[len(seconds) // 2]
        stall = min(each[1] for each in results)
        cells = [f"{len(keys) / middle / 1e6:.1f}", f"{stall * 1e3:.1f}", f"{middle:.2f} ({spread(seconds)})"]
        rows.append([name, *cells])
    title = f"Inserting {len(keys) / 1e6:g} million new keys, {BATCH} at a time (bars: 10 presized, 6 growing, 100 ms)"
    head = ["", "million keys/s", "longest batch, ms (best round)", "seconds: median (range)"]
    return f"{title}\n\n{table(head, rows)}"


def gathers(keys: Keys, rounds: int) -> tuple[str, float]:
    """From keys to rows."""
    asked = asked_of(keys)
    ours = {}
    for number in (1, 2):
        ours[number] = EmbeddingTable(DIM, capacity=len(keys), threads=number)
        ours[number].touch(keys)
    dense, variable = _dense_hash_table(keys), tf.Variable(tf.zeros([len(keys), DIM]))
    rows = tf.lookup.experimental.DenseHashTable(
        key_dtype=tf.int64,
        value_dtype=tf.float32,
        default_value=tf.zeros([DIM]),
        empty_key=EMPTY,
        deleted_key=DELETED,
    )
    for batch in batches_of(keys):
        rows.insert(tf.constant(batch), tf.zeros([len(batch), DIM]))
    tensor = tf.constant(asked)
    peer = "TensorFlow, rows in a MutableDenseHashTable"
    seconds = take_turns(
        [
            Contender("tensorkeep, 1 thread", lambda: ours[1].lookup(asked)),
            Contender("tensorkeep, 2 threads", lambda: ours[2].lookup(asked)),
            Contender(peer, lambda: rows.lookup(tensor).numpy()),
            Contender(
                "TensorFlow, hash table and gather",
                lambda: tf.gather(variable, tf.maximum(dense.lookup(tensor), 0)).numpy(),
            ),
        ],
        rounds,
    )
    title = f"Looking up {ASKED / 1e6:g} million rows of {DIM} among {len(keys) / 1e6:g} million (bar: 2 x TensorFlow)"
    middle = medians(seconds)
    ratio = min(middle[peer], middle["TensorFlow, hash table and gather"]) / middle["tensorkeep, 2 threads"]
    return _speeds(title, "million rows/s", seconds, {"": ASKED}, peer), ratio


def steps(keys: Keys, rounds: int) -> tuple[str, float]:
    """Adagrad on rows, none of them named twice. TensorFlow is given row numbers, and need not look for keys."""
    random = np.random.default_rng(9)
    chosen = random.permutation(len(keys))[:ASKED]
    unique, gradient = keys[chosen], random.normal(size=(ASKED, DIM)).astype(np.float32)
    ours = {}
    for number in (1, 2):
        ours[number] = EmbeddingTable(DIM, capacity=len(keys), threads=number)
        ours[number].add_column("Adagrad", DIM, 0.1)
        ours[number].touch(keys)
    variable, slot = tf.Variable(tf.zeros([len(keys), DIM])), tf.Variable(tf.fill([len(keys), DIM], 0.1))
    indices, tensor = tf.constant(chosen), tf.constant(gradient)

    def theirs() -> None:
        tf.raw_ops.ResourceSparseApplyAdagrad(
            var=variable.handle, accum=slot.handle, lr=0.01, grad=tensor, indices=indices
        )

    seconds = take_turns(
        [
            Contender("tensorkeep, 1 thread", lambda: ours[1].apply("Adagrad", gradient, unique, lr=0.01)),
            Contender("tensorkeep, 2 threads", lambda: ours[2].apply("Adagrad", gradient, unique, lr=0.01)),
            Contender("TensorFlow, dense variable", theirs),
        ],
        rounds,
    )
    title = (
        f"Adagrad on {ASKED / 1e6:g} million rows of {DIM}, of {len(keys) / 1e6:g} million (bars: 15; 2 x TensorFlow)"
    )
    middle = medians(seconds)
    ratio = middle["TensorFlow, dense variable"] / middle["tensorkeep, 2 threads"]
    return _speeds(title, "million rows/s", seconds, {"": ASKED}, "TensorFlow, dense variable"), ratio


def skewed(ids: int, batches: int) -> list[Keys]:
    """Batches of ids of which some are asked for much more often than others."""
    random = np.random.default_rng(10)
    weights = np.cumsum(np.arange(1, ids + 1, dtype=np.float64) ** -SKEW)
    names = random.permutation(ids)
    return [names[np.searchsorted(weights, random.random(BATCH_IDS) * weights[-1])] for _ in range(batches)]


def _shared_out(work: Callable[[Keys], object], batches: Sequence[Keys], threads: int) -> float:
    """Seconds until threads, each with its share, have done all batches."""
    mine = [list(batches[number::threads]) for number in range(threads)]
    started = [threading.Thread(target=lambda part=part: [work(batch) for batch in part]) for part in mine]
    start = time.perf_counter()
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    return time.perf_counter() - start


def deep_rec(ids: int, count: int, rounds: int) -> str:
    """DeepRec's own benchmark: batches of skewed ids, one or two threads at a table."""
    batches = skewed(ids, count)
    rows = []
    for threads in (1, 2):
        looked, created = [], []
        for _ in range(max(rounds // 2, 2)):
            made = EmbeddingTable(WIDE, threads=1)
            created.append(_shared_out(made.lookup_or_create, batches, threads))
            looked.append(_shared_out(made.lookup, batches, threads))
        for name, taken in (("lookup_or_create, from an empty table", created), ("lookup", looked)):
            total = count * BATCH_IDS
            rows.append([f"{name}, {threads} at a time", f"{total / min(taken) / 1e6:.1f}", spread(taken)])
    title = (
        f"DeepRec's benchmark: {ids / 1e6:g} million ids, {count} batches of {BATCH_IDS}, skew {SKEW}, rows of {WIDE}"
    )
    return f"{title}\n\n{table(['', 'million ids/s', 'seconds: range'], rows)}"


_CHILD = """
import sys
import numpy as np
from benchmarks.embedding import BATCH, DIM, batches_of, random_keys
from tensorkeep.embedding.table.embedding_table import EmbeddingTable

def anonymous():
    with open("/proc/self/smaps_rollup") as lines:
        return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Anonymous:"))

keys = random_keys(int(sys.argv[1]))
warm = EmbeddingTable(DIM)
warm.touch(keys[:BATCH])
del warm
before = anonymous()
table = EmbeddingTable(DIM)
for batch in batches_of(keys):
    table.touch(batch)
print(anonymous() - before)
"""


def memory(count: int) -> str:
    """What a table that grew takes, as the system sees it."""
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, str(count)], check=True, capture_output=True, text=True, timeout=600
    )
    taken, least = int(done.stdout), count * (8 + 4 * DIM)
    rows = [[f"{count / 1e6:g} million", f"{taken >> 20} MiB", f"{least >> 20} MiB", f"{taken / least:.2f}"]]
    title = f"Memory of a table that grew, rows of {DIM} (bar: 1.3)"
    return f"{title}\n\n{table(['keys', 'taken', 'rows and keys', 'ratio'], rows)}"


def embeddings(count: int, rounds: int) -> Report:
    keys = random_keys(count)
    looked, lookup_ratio = lookups(keys, rounds)
    gathered, gather_ratio = gathers(keys, rounds)
    stepped, step_ratio = steps(keys, rounds)
    scale = min(1.0, count / 10_000_000)
    shaped = deep_rec(int(IDS * scale), max(int(BATCHES * scale), 4), rounds)
    bars = {"Embedding lookup": lookup_ratio, "Embedding gather": gather_ratio, "Embedding Adagrad": step_ratio}
    return Report("\n\n".join([looked, inserts(keys, rounds), gathered, stepped, shaped, memory(count)]), bars)
