"""Buckets: the 1000 residue classes of keys by which embeddings are stored, whatever the number of shards.

    bucket(key) = key mod 1000, never negative            shard(key) = bucket(key) mod the number of shards

Keys are *in order* if they are sorted by (bucket, key). Offsets are the 1001 sums of bucket sizes: those of bucket `b`
are `offsets[b]` up to `offsets[b + 1]`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.native.embedding import functions, place

BUCKETS: Final = 1000

Keys = npt.NDArray[np.int64]
Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]


def widened_keys(keys: npt.ArrayLike, what: str = "keys") -> Keys:
    """Keys as an int64 vector. Any integers that fit are taken."""
    array = np.asarray(keys)
    if array.size == 0 and array.dtype.kind == "f":
        array = array.astype(np.int64)  # an empty list
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InvalidArgumentError(f"{what}: expected a vector of integers, got {array.dtype} {list(array.shape)}")
    if array.dtype == np.uint64 and array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise InvalidArgumentError(f"{what}: {int(array.max())} is more than an int64 holds")
    return array.astype(np.int64, copy=False)


def buckets_of(keys: Keys) -> Integers:
    """The bucket of every key."""
    return _remainders(keys, BUCKETS)


def require_shards(name: str, count: int) -> None:
    """InvalidArgumentError unless a table can be cut into so many shards."""
    if not 1 <= count <= BUCKETS:
        raise InvalidArgumentError(
            f'"{name}" in {count} shards: expected 1 to {BUCKETS}, for shards are made of {BUCKETS} buckets'
        )


def shards_of(keys: Keys, count: int) -> Integers:
    """The shard of every key, of `count` shards."""
    return _remainders(buckets_of(keys), count)


def _remainders(numbers: Integers, divisor: int) -> Integers:
    """Never negative. NumPy divides by one number five times as fast as it takes remainders."""
    found = np.floor_divide(numbers, divisor)
    found *= -divisor
    found += numbers
    return found


def is_in_order(keys: Keys) -> bool:
    """Whether keys are sorted by (bucket, key), none twice."""
    if keys.size < 2:
        return True
    compiled = functions() if keys.dtype == np.int64 else None
    if compiled is not None:
        return bool(compiled.is_in_order(place(keys), keys.size))
    steps = np.diff(buckets_of(keys))
    return bool(np.all((steps > 0) | ((steps == 0) & (keys[1:] > keys[:-1]))))


def first_misplaced(keys: Keys, start: int, offsets: Integers) -> int | None:
    """The index of the first key that is in another bucket than the offsets state for its position; the first key has
    the position `start`. None if all are in place.
    """
    compiled = functions()
    if compiled is not None:
        found = int(compiled.first_misplaced(place(keys), keys.size, start, place(offsets)))
        return None if found < 0 else found
    expected = np.searchsorted(offsets, np.arange(start, start + keys.size), side="right") - 1
    wrong = np.flatnonzero(buckets_of(keys) != expected)
    return int(wrong[0]) if wrong.size else None


def order_of(keys: Keys) -> Integers:
    """The permutation that puts keys in order."""
    by_bucket = np.argsort(buckets_of(keys).astype(np.uint16), kind="stable")
    grouped = keys[by_bucket]
    if is_in_order(grouped):  # as it is when sorted shards are put together
        return by_bucket
    offsets = bucket_offsets(keys)
    order = np.empty(keys.size, np.int64)
    for bucket in np.flatnonzero(np.diff(offsets)).tolist():
        start, stop = int(offsets[bucket]), int(offsets[bucket + 1])
        order[start:stop] = by_bucket[start:stop][np.argsort(grouped[start:stop], kind="stable")]
    return order


def bucket_offsets(keys: Keys) -> Integers:
    """The offsets of keys, which need not be in order."""
    sizes = np.bincount(buckets_of(keys), minlength=BUCKETS)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])


def find_in_order(keys: Keys, wanted: Keys) -> tuple[Integers, Booleans]:
    """Where each wanted key lies among keys in order, and whether it does. `wanted` is in order too."""
    positions = np.zeros(wanted.size, np.int64)
    if not keys.size or not wanted.size:
        return positions, np.zeros(wanted.size, np.bool_)
    offsets, ends = bucket_offsets(keys), bucket_offsets(wanted)
    for bucket in np.flatnonzero(np.diff(ends)).tolist():
        low, high = int(ends[bucket]), int(ends[bucket + 1])
        start, stop = int(offsets[bucket]), int(offsets[bucket + 1])
        positions[low:high] = start + np.searchsorted(keys[start:stop], wanted[low:high])
    clipped = np.minimum(positions, keys.size - 1)
    return clipped, np.asarray(keys[clipped] == wanted)


def checked_partition(partition: Sequence[int]) -> tuple[int, int]:
    """A partition (k, P): part k of P."""
    number, count = (int(item) for item in partition)
    if count < 1 or not 0 <= number < count:
        raise InvalidArgumentError(f"partition ({number}, {count}): expected (k, P) with 0 <= k < P")
    return number, count


def buckets_of_partition(partition: Sequence[int]) -> Integers:
    """The buckets that belong to part k of P, ascending; none if k is 1000 or more."""
    number, count = checked_partition(partition)
    return np.arange(number, BUCKETS, count, dtype=np.int64)
