"""Embedding tables: keys, rows, nearest rows, a map.

Keys are 64-bit numbers, which a page cannot hold as such: they travel as text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.embedding.stored.column import StoredColumn
from tensorkeep.embedding.stored.embeddings import stored_embeddings
from tensorkeep.embedding.stored.rows import ALL_FIELDS, Batch, Fields
from tensorkeep.embedding.tools.querying import look_up
from tensorkeep.embedding.tools.statistics import embedding_statistics
from tensorkeep.errors import InvalidArgumentError, NotFoundError
from tensorkeep.viewer.answers.arrays import histogram_data, numbers
from tensorkeep.viewer.asking import Asked

_MOST_KEYS: Final = 200  # that are listed
_NEAREST: Final = 20
_MAPPED: Final = 2000  # rows of a map
_MOST_ASKED: Final = 100
_SEED: Final = 7


def tables(asked: Asked) -> Mapping[str, Any]:
    """The embedding tables of a checkpoint: how many keys each has, how wide its rows are, and its slots."""
    source = asked.source
    found = stored_embeddings(source.reader, fs=source.fs)
    told = []
    for name, entry in found.items():
        column = entry.open(source.reader, fs=source.fs)
        told.append(
            {
                "name": name,
                "keys": column.count,
                "filtered": column.filtered_count,
                "dim": column.dim,
                "dtype": str(column.dtype),
                "shards": entry.shard_count,
                "slots": list(entry.slots),
                "has_freqs": column.has_freqs,
                "has_versions": column.has_versions,
                "problems": list(entry.problems),
            }
        )
    return {"tables": told}


def table(asked: Asked) -> Mapping[str, Any]:
    """What is in a table: how often keys occurred, how long rows are. Reads all of it."""
    name, source = asked.text("name"), asked.source
    found = embedding_statistics(source.reader.path, names=[name], progress=asked.progress, fs=source.fs)[name]
    frequencies = None if found.frequencies is None else found.frequencies.trimmed()
    return {
        "name": name,
        "bytes": found.nbytes,
        "keys_from": _key(found.keys_from),
        "keys_to": _key(found.keys_to),
        "versions_from": found.versions_from,
        "versions_to": found.versions_to,
        "zero_rows": found.zero_rows,
        "not_finite": found.not_finite,
        "frequencies": histogram_data(frequencies),
        "norms": histogram_data(found.norms.trimmed()),
    }


def _key(key: int | None) -> str | None:
    return None if key is None else str(key)


def _column(asked: Asked) -> StoredColumn:
    source, name = asked.source, asked.text("name")
    found = stored_embeddings(source.reader, fs=source.fs)
    if name not in found:
        raise NotFoundError(f'there is no embedding table "{name}"; there are {", ".join(found) or "none"}')
    return found[name].open(source.reader, asked.text("slot", ""), fs=source.fs)


def _batches(asked: Asked, column: StoredColumn, fields: Fields) -> Iterator[Batch]:
    done = 0
    for batch in column.scan(fields=fields):
        yield batch
        done += batch.keys.size
        asked.progress(min(done, column.count), column.count)


def table_keys(asked: Asked) -> Mapping[str, Any]:
    """The keys that occurred most often, or, where that is not stored, the first ones."""
    column = _column(asked)
    kept = Batch(np.empty(0, np.int64))
    by = asked.text("by", "frequency")
    for batch in _batches(asked, column, Fields(False, True, True)):
        kept = _most(_joined_batches(kept, batch), by)
        if kept.freqs is None and kept.versions is None and kept.keys.size >= _MOST_KEYS:
            break
    rows = [
        [str(key), None if kept.freqs is None else int(kept.freqs[at]),
         None if kept.versions is None else int(kept.versions[at])]
        for at, key in enumerate(kept.keys.tolist())
    ]  # fmt: skip
    return {"rows": rows, "keys": column.count}


def _joined_batches(first: Batch, second: Batch) -> Batch:
    if not first.keys.size:
        return second
    return Batch(*(None if a is None or b is None else np.concatenate([a, b]) for a, b in zip(first, second)))  # type: ignore[arg-type]  # noqa: B905


def _most(batch: Batch, by: str) -> Batch:
    """The keys that come first by what is asked for."""
    chosen = batch.versions if by == "version" else batch.freqs
    order = np.arange(batch.keys.size) if chosen is None else np.argsort(-chosen, kind="stable")
    return batch.taken(order[:_MOST_KEYS])


def table_lookup(asked: Asked) -> Mapping[str, Any]:
    """The rows of some keys."""
    keys = _asked_keys(asked)
    found = look_up(asked.source.reader.path, asked.text("name"), keys, asked.text("slot", ""), fs=asked.source.fs)
    rows = []
    for at, key in enumerate(keys):
        state = "stored" if found.is_stored[at] else "counted, without a row" if found.is_filtered[at] else "absent"
        is_there = state != "absent"
        rows.append(
            {
                "key": str(key),
                "state": state,
                "frequency": int(found.freqs[at]) if found.freqs is not None and is_there else None,
                "version": int(found.versions[at]) if found.versions is not None and is_there else None,
                "row": numbers(found.values[at]) if state == "stored" else None,
            }
        )
    return {"rows": rows}


def _asked_keys(asked: Asked) -> list[int]:
    words = asked.text("keys").replace(",", " ").split()
    try:
        keys = [int(word) for word in words]
    except ValueError:
        raise InvalidArgumentError(f"keys are whole numbers, and {asked.text('keys')[:100]!r} is none") from None
    if not keys or len(keys) > _MOST_ASKED or not all(-(1 << 63) <= key < 1 << 63 for key in keys):
        raise InvalidArgumentError(f"name 1 to {_MOST_ASKED} keys of 64 bits; {len(keys)} were given")
    return keys


# ------------------------------------------------------------------------------------------------------- nearest, a map


def table_nearest(asked: Asked) -> Mapping[str, Any]:
    """The rows that are nearest to that of a key, by the cosine of the angle or by the product. Reads all rows."""
    (key, *more) = _asked_keys(asked)
    if more:
        raise InvalidArgumentError("name one key, whose neighbours are looked for")
    column = _column(asked)
    places, own = column.look_up(np.asarray([key], np.int64))
    if not places.size or own.values is None:
        raise NotFoundError(f'"{column.name}" has no row for the key {key}')
    wanted, by = own.values[0].astype(np.float64), asked.text("by", "cosine")
    keys, scores = np.empty(0, np.int64), np.empty(0, np.float64)
    for batch in _batches(asked, column, Fields(values=True)):
        assert batch.values is not None
        found = _scores(batch.values.astype(np.float64), wanted, by)
        found[batch.keys == key] = -np.inf
        keys, scores = np.concatenate([keys, batch.keys]), np.concatenate([scores, found])
        best = np.argsort(-scores, kind="stable")[:_NEAREST]
        keys, scores = keys[best], scores[best]
    pairs = zip(keys.tolist(), scores.tolist(), strict=True)
    return {"key": str(key), "by": by, "rows": [[str(other), score] for other, score in pairs if score > -np.inf]}


def _scores(rows: Array, wanted: Array, by: str) -> Array:
    """How near each row is; a row that is not finite is nowhere."""
    with np.errstate(all="ignore"):
        found = rows @ wanted
        if by == "cosine":
            found = found / (np.linalg.norm(rows, axis=1) * np.linalg.norm(wanted))
    return np.where(np.isfinite(found), found, -np.inf)


def table_map(asked: Asked) -> Mapping[str, Any]:
    """A sample of rows in two dimensions, by their principal components. Reads all rows, in little memory."""
    column = _column(asked)
    keys, rows, freqs = _sample(asked, column)
    if not keys.size:
        return {"keys": [], "x": [], "y": [], "frequency": [], "share": [], "of": column.count}
    centred = rows - rows.mean(axis=0)
    _, sizes, axes = np.linalg.svd(centred, full_matrices=False)
    flat = centred @ axes[:2].T
    if flat.shape[1] < 2:
        flat = np.pad(flat, ((0, 0), (0, 2 - flat.shape[1])))
    total = float((sizes**2).sum())
    return {
        "keys": [str(key) for key in keys.tolist()],
        "x": numbers(flat[:, 0]),
        "y": numbers(flat[:, 1]),
        "frequency": None if freqs is None else freqs.tolist(),
        "share": [float(size**2 / total) if total else 0.0 for size in sizes[:2]],
        "of": column.count,
    }


def _sample(asked: Asked, column: StoredColumn) -> tuple[Array, Array, Array | None]:
    """Rows drawn at random, always the same: each is as likely as any other. Those that are not finite are left out."""
    random = np.random.default_rng(_SEED)
    kept = Batch(np.empty(0, np.int64))
    marks = np.empty(0, np.float64)
    for batch in _batches(asked, column, ALL_FIELDS):
        assert batch.values is not None
        sound = np.flatnonzero(np.isfinite(batch.values.astype(np.float64)).all(axis=1))
        kept = _joined_batches(kept, batch.taken(sound))
        marks = np.concatenate([marks, random.random(sound.size)])
        chosen = np.argsort(marks, kind="stable")[:_MAPPED]
        kept, marks = kept.taken(chosen), marks[chosen]
    values = np.zeros((0, column.dim)) if kept.values is None else kept.values.astype(np.float64)
    return kept.keys, values, kept.freqs
