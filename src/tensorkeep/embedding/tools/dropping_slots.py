"""Leaving out the slots of optimizers: what is served does not need them, and they are half of the file or more."""

from __future__ import annotations

from collections.abc import Collection

from tensorkeep.embedding.tools.rewriting import Rewrite, opened_for_tools
from tensorkeep.errors import InvalidArgumentError, NotFoundError
from tensorkeep.io.files.filesystem import FileSystem, PathLike
from tensorkeep.io.files.local import LOCAL
from tensorkeep.io.showing.progress import Progress


def drop_slots(
    source: PathLike,
    target: PathLike,
    slots: Collection[str] | None = None,
    *,
    names: Collection[str] | None = None,
    progress: Progress | None = None,
    fs: FileSystem = LOCAL,
) -> dict[str, tuple[str, ...]]:
    """Writes a checkpoint without these slots of its embeddings, or without any; returns those that went, by embedding.

    Everything else is as it was. `names` are the embeddings whose slots are meant, if not all.
    """
    if isinstance(slots, str):
        raise InvalidArgumentError(f"slots: expected several names of slots, got the text {slots!r}")
    with opened_for_tools(source, fs) as reader:
        work = Rewrite.of(reader, fs, progress)
        entries = work.chosen(names)
        known = {slot for entry in entries for slot in entry.slots}
        if unknown := sorted(set(slots or ()) - known):
            listed = ", ".join(f'"{slot}"' for slot in sorted(known)) or "none at all"
            raise NotFoundError(f'no embedding has a slot "{unknown[0]}"; there are {listed}')
        gone: dict[str, tuple[str, ...]] = {}
        for entry in entries:
            gone[entry.name] = tuple(slot for slot in entry.slots if slots is None or slot in slots)
            if gone[entry.name]:
                work.drop(entry, entry.shard_count)
                for column in entry.columns:
                    if column not in gone[entry.name]:
                        work.put_shards(entry.name, column, entry.open(reader, column, fs=fs), entry.shard_count)
        work.write(target)
        return gone
