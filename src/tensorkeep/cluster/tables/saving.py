"""Saving a table in parts: every part writes a checkpoint of its own, and one step makes one of them all."""

from __future__ import annotations

import posixpath
import time
import uuid
from collections.abc import Callable, Mapping
from typing import Any, Final

from tensorkeep.checkpoint.bundle.merging import merge_bundles
from tensorkeep.checkpoint.bundle.writer import delete_quietly
from tensorkeep.checkpoint.saving import SaveOptions, save_checkpoint
from tensorkeep.cluster.tables.links import PartitionLink, PartitionLostError, Request
from tensorkeep.errors import TensorKeepError
from tensorkeep.io.files.filesystem import Durability, FileSystem, PathLike, path_text, prepare_directory
from tensorkeep.io.machine.parallel import in_parallel

_ENDING: Final = ".tensorkeep-parts"
_ABANDONED: Final = 3600  # seconds


class TableFiles:
    """Writes the parts of a table."""

    def __init__(self, link: PartitionLink) -> None:
        self._link = link
        self._fs = link.spec.fs

    def place(self, path: PathLike) -> str:
        """A path as all machines spell it."""
        folder, slash, name = path_text(path).rpartition("/")
        return f"{self._fs.canonical(folder + slash if slash else '.').rstrip('/')}/{name}"

    def save(
        self,
        prefix: PathLike,
        tensors: Mapping[str, Any],
        *,
        step: int | None,
        is_delta: bool,
        durability: Durability,
    ) -> str:
        """Writes all parts, and other tensors, as one checkpoint: whole, or not at all."""
        return save_parts(
            [self._link], self.place(prefix), tensors, step=step, is_delta=is_delta, durability=durability
        )


def save_parts(
    links: list[PartitionLink],
    target: str,
    tensors: Mapping[str, Any],
    *,
    step: int | None,
    is_delta: bool,
    durability: Durability,
    check: Callable[[], None] = lambda: None,
    clock: Callable[[], float] = time.time,
) -> str:
    """Writes the parts of tables, and other tensors, as one checkpoint: whole, or not at all.

    First all parts keep what they hold, which takes a moment; then they write it, while others change them. `check` may
    raise when all is written: then nothing appears.
    """
    fs = links[0].spec.fs
    token = uuid.uuid4().hex
    folder = f"{target}.{token}{_ENDING}"  # of this save alone: another writer of the same name may be alive
    is_saved = False
    try:
        for link in links:
            link.ask(_all(link, "freeze_quietly", token, step))
        prepare_directory(fs, folder, durability)
        _remove_abandoned(fs, posixpath.dirname(target), clock())
        named = {"delta": is_delta, "durability": durability.value}
        places = [
            [f"{folder}/{table}-{number}" for number in range(link.spec.partitions)] for table, link in enumerate(links)
        ]

        def write(table: int) -> None:
            asked = {number: Request("write", (token, place), named) for number, place in enumerate(places[table])}
            links[table].ask(asked)

        in_parallel(write, range(len(links)), threads=len(links))
        written = [place for parts in places for place in parts]
        if tensors:
            written.append(save_checkpoint(f"{folder}/others", tensors, SaveOptions(durability=durability), fs=fs))
        check()
        merge_bundles(written, target, durability=durability, fs=fs)
        is_saved = not is_delta
    finally:
        _remove_parts(fs, folder)
        for link in links:
            _release_part(link, token, is_saved)
    return target


def _release_part(link: PartitionLink, token: str, is_saved: bool) -> None:
    """Lets parts forget what they kept. One that died meanwhile has forgotten it, and is told to who asks next."""
    try:
        link.ask(_all(link, "release", token, is_saved))
    except PartitionLostError:
        if is_saved:
            raise


def _all(link: PartitionLink, method: str, *arguments: Any) -> dict[int, Request]:
    return {number: Request(method, arguments) for number in range(link.spec.partitions)}


def _remove_abandoned(fs: FileSystem, directory: str, now: float) -> None:
    """Removes what saves have left that died: folders of parts in which nothing was written for an hour."""
    for name in fs.list(directory):
        folder = posixpath.join(directory, name)
        if not name.endswith(_ENDING) or not fs.is_directory(folder):
            continue
        try:
            times = [fs.modified(posixpath.join(folder, item)) for item in fs.list(folder)]
            if times and max(times) < now - _ABANDONED:
                _remove_parts(fs, folder)
        except TensorKeepError:
            continue  # its own writer, or another one, was quicker


def _remove_parts(fs: FileSystem, folder: str) -> None:
    """Removes a folder of parts with what is in it."""
    if fs.is_directory(folder):
        delete_quietly(fs, [posixpath.join(folder, name) for name in fs.list(folder)])
        try:
            fs.remove_directory(folder)
        except TensorKeepError:
            return
