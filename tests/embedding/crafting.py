"""Small tables and checkpoints for the tests of embeddings in files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tensorkeep import BundleWriter, MemoryFileSystem, open_checkpoint
from tensorkeep.checkpoint.bundle.reader import BundleReader
from tensorkeep.checkpoint.finding.file_names import data_path
from tensorkeep.embedding.stored.embeddings import stored_embeddings
from tensorkeep.embedding.stored.ordered_columns import in_order
from tensorkeep.embedding.stored.rows import ALL_FIELDS
from tensorkeep.embedding.stored.writing import StoredForm, save_embeddings
from tensorkeep.embedding.table.snapshot import ArraySnapshot

EXTREMES = [-(2**63), -1001, -1000, -2, -1, 0, 2**63 - 1]


def rows_for(keys: Any, dim: int, seed: int = 0) -> np.ndarray:
    """Rows that tell their key and their place."""
    keys = np.asarray(keys, np.int64)
    return (np.mod(keys, 977)[:, None] * 8 + np.arange(dim) + seed * 0.5).astype(np.float32)


def snapshot_of(keys: Any, dim: int = 3, slots: tuple[str, ...] = ("Adagrad",), **more: Any) -> ArraySnapshot:
    keys = np.asarray(keys, np.int64)
    columns = {name: rows_for(keys, dim, seed) for seed, name in enumerate(("", *slots))}
    return ArraySnapshot.of(keys, columns, **more)


def saved(
    fs: MemoryFileSystem,
    path: str,
    snapshot: ArraySnapshot,
    name: str = "emb",
    shards: int = 1,
    tensors: Mapping[str, Any] | None = None,
    form: StoredForm = StoredForm(),
) -> str:
    """A checkpoint of one table in so many shards."""
    parts = {name: snapshot} if shards == 1 else {f"{name}/part_{k}": s for k, s in enumerate(snapshot.split(shards))}
    return save_embeddings(path, parts, {"dense": np.arange(4.0)} if tensors is None else tensors, form, fs=fs)


def save_raw(fs: MemoryFileSystem, path: str, tensors: Mapping[str, Any]) -> str:
    """A checkpoint of just these tensors."""
    with BundleWriter(path, fs=fs) as writer:
        for name, value in tensors.items():
            writer.add(name, np.asarray(value))
    return path


def contents(fs: MemoryFileSystem, path: str, name: str = "emb", column: str = "") -> dict[int, tuple[Any, ...]]:
    """What a stored embedding holds, by key: row, frequency, version."""
    with open_checkpoint(path, fs=fs) as reader:
        found = stored_embeddings(reader, fs=fs)[name].open(reader, column, fs=fs)
        held: dict[int, tuple[Any, ...]] = {}
        for batch in in_order(found, fields=ALL_FIELDS):
            for at, key in enumerate(batch.keys.tolist()):
                freq = None if batch.freqs is None else int(batch.freqs[at])
                version = None if batch.versions is None else int(batch.versions[at])
                assert key not in held
                held[key] = (tuple(batch.values[at].tolist()), freq, version)
        return held


def held_by(snapshot: ArraySnapshot, column: str = "") -> dict[int, tuple[Any, ...]]:
    """The same of a snapshot."""
    return {
        key: (
            tuple(snapshot.values[column][at].tolist()),
            None if snapshot.freqs is None else int(snapshot.freqs[at]),
            None if snapshot.versions is None else int(snapshot.versions[at]),
        )
        for at, key in enumerate(snapshot.keys.tolist())
    }


def bytes_of(fs: MemoryFileSystem, path: str) -> dict[str, bytes]:
    """The files of a checkpoint, by what follows the prefix."""
    folder, _, base = path.rpartition("/")
    found = {}
    for name in fs.list(folder):
        if name.startswith(base + "."):
            file = fs.open(f"{folder}/{name}")
            found[name[len(base) :]] = bytes(file.read(0, file.size))
    return found


def damage(fs: MemoryFileSystem, tensor: str, path: str = "d/x") -> None:
    """Changes the last byte of a tensor of a checkpoint."""
    with BundleReader(path, fs=fs) as reader:
        entry = reader.entry(tensor)
        file_path = data_path(path, entry.shard, reader.shard_count)
        data = bytearray(reader.shard(entry.shard).read(0, reader.shard(entry.shard).size))
    data[entry.offset + entry.size - 1] ^= 1
    fs.delete(file_path)
    file = fs.create(file_path)
    file.write(bytes(data))
    file.close()
