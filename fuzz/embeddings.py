"""Targets for stored embeddings: tensors under their names that do not fit each other, in sound checkpoints.

input  = tensor*
tensor = name(1) type(1) rank(1) size(2)* data          data that is missing is zero
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import ml_dtypes
import numpy as np

from tensorkeep import BundleWriter, CheckpointReader, MemoryFileSystem, TensorKeepError, open_checkpoint
from tensorkeep.embedding.restore.incremental import StoredDelta, delta_tensors
from tensorkeep.embedding.restore.restoring_rows import restore_table
from tensorkeep.embedding.stored.embeddings import StoredEmbedding, stored_deltas, stored_embeddings
from tensorkeep.embedding.stored.naming import NINE, SCALES
from tensorkeep.embedding.stored.ordered_columns import filtered_in_order, in_order
from tensorkeep.embedding.stored.rows import ALL_FIELDS
from tensorkeep.embedding.stored.writing import embedding_tensors
from tensorkeep.embedding.table.admission import CounterFilter
from tensorkeep.embedding.table.embedding_table import EmbeddingTable
from tensorkeep.embedding.table.snapshot import ArraySnapshot
from tensorkeep.embedding.tools.compacting import compact_checkpoint
from tensorkeep.embedding.tools.querying import look_up
from tensorkeep.embedding.tools.repartitioning import repartition_checkpoint

STEMS = ("e", "e/Adagrad", "e/part_0", "e/part_1", "e-1of2", "e-2of2")
DELTAS = tuple(
    name.removeprefix("e") for name in delta_tensors("e", ArraySnapshot.of([], np.zeros((0, 1))), np.zeros(0, np.int64))
)
NAMES = [stem + suffix for stem in STEMS for suffix in (*NINE, SCALES, *DELTAS)]
DTYPES = [np.dtype(kind) for kind in (np.int64, np.int32, np.float32, np.int8, ml_dtypes.bfloat16, np.float64)]
MOST = 1 << 14  # elements of a tensor


def decode(data: bytes) -> Iterator[tuple[str, np.ndarray]]:
    at = 0
    while at + 3 <= len(data):
        name, dtype, rank = NAMES[data[at] % len(NAMES)], DTYPES[data[at + 1] % len(DTYPES)], data[at + 2] % 4
        at += 3
        shape = [int.from_bytes(data[at + 2 * axis : at + 2 * axis + 2], "little") for axis in range(rank)]
        at += 2 * rank
        count = int(np.prod(shape))
        if count > MOST:
            return
        body = data[at : at + count * dtype.itemsize].ljust(count * dtype.itemsize, b"\0")
        at += count * dtype.itemsize
        yield name, np.frombuffer(body, dtype).reshape(shape)


def encode(tensors: Mapping[str, np.ndarray]) -> bytes:
    parts = []
    for name, array in tensors.items():
        sizes = b"".join(size.to_bytes(2, "little") for size in array.shape)
        parts.append(bytes((NAMES.index(name), DTYPES.index(array.dtype), array.ndim)) + sizes + array.tobytes())
    return b"".join(parts)


def stored_tensors(data: bytes) -> None:
    """Any tensors for those of an embedding."""
    fs = MemoryFileSystem()
    with BundleWriter("d/x", fs=fs) as writer:
        for name, array in dict(decode(data)).items():
            writer.add(name, array)
    with suppress(TensorKeepError), open_checkpoint("d/x", fs=fs) as reader:
        for entry in stored_embeddings(reader, fs=fs).values():
            use_embedding(fs, reader, entry)
        for entry in stored_deltas(reader).values():
            with suppress(TensorKeepError):
                delta = StoredDelta(reader, entry)
                assert sum(batch.keys.size for batch in in_order(delta.rows, fields=ALL_FIELDS)) == delta.rows.count
                assert len(set(delta.removed.tolist())) == delta.removed.size
    with suppress(TensorKeepError):
        repartition_checkpoint("d/x", "d/y", 3, fs=fs)
    with suppress(TensorKeepError):
        compact_checkpoint("d/x", "d/z", "d/x", fs=fs)


def use_embedding(fs: MemoryFileSystem, reader: CheckpointReader, entry: StoredEmbedding) -> None:
    for name in entry.columns:
        with suppress(TensorKeepError):
            column = entry.open(reader, name, fs=fs)
            keys = [key for batch in in_order(column, fields=ALL_FIELDS) for key in batch.keys.tolist()]
            assert keys == sorted(set(keys), key=lambda key: (key % 1000, key))
            assert len(keys) == column.count
            assert column.filtered_count == sum(batch.keys.size for batch in filtered_in_order(column))
            found = look_up("d/x", entry.name, [*keys[:5], 7], name, fs=fs)
            assert found.is_stored[:-1].all()
    with suppress(TensorKeepError):
        table = EmbeddingTable(2, admission=CounterFilter(2), keeps_frequencies=True)
        table.add_column("Adagrad")
        reports = restore_table(table, reader, entry.name, extend="zero", fs=fs)
        assert len(table) == reports[0].restored + reports[0].filtered_admitted


def seeds() -> list[bytes]:
    made = []
    for keys in ([], [1], [3, 1003, -7, 2**63 - 1], list(range(50))):
        rows = np.arange(len(keys) * 2, dtype=np.float32).reshape(len(keys), 2)
        snapshot = ArraySnapshot.of(
            keys, rows, freqs=range(len(keys)), versions=range(len(keys)), filtered_keys=[88, 87], filtered_freqs=[1, 2]
        )
        nine = _gathered(embedding_tensors("e", snapshot))
        made += [nine, {name: nine[name] for name in ("e-keys", "e-values")}]
        made.append(nine | _gathered(embedding_tensors("e/Adagrad", snapshot)))
        parts = enumerate(snapshot.split(2))
        made.append({n: t for k, part in parts for n, t in _gathered(embedding_tensors(f"e/part_{k}", part)).items()})
        made.append(nine | _gathered(delta_tensors("e", snapshot, snapshot.keys)))
        made.append(nine | {"e-values": rows.astype(np.int8), "e-scales": np.ones(2, np.float32)})
    return [encode(tensors) for tensors in made]


def _gathered(tensors: Mapping[str, Any]) -> dict[str, np.ndarray]:
    return {name: source.gather().reshape(source.shape) for name, source in tensors.items()}


EMBEDDING_TARGETS: dict[str, tuple[Callable[[bytes], None], Callable[[], list[bytes]]]] = {
    "stored_embeddings": (stored_tensors, seeds),
}
