"""Checkpoints seen in another way: under other names, or with other tensors, than they have in their files."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.errors import TensorKeepError


class ReaderView(CheckpointReader):
    """What all views of a reader share: they list names of their own. Closing one closes the reader within."""

    def __init__(self, reader: CheckpointReader, names: Collection[str]) -> None:
        self.path = reader.path
        self.format = reader.format
        self.options = reader.options
        self._reader = reader
        self._listed = names

    def __contains__(self, name: object) -> bool:
        return name in self._listed

    def __iter__(self) -> Iterator[str]:
        return iter(self._listed)

    def __len__(self) -> int:
        return len(self._listed)

    @property
    def damage(self) -> Sequence[TensorKeepError]:
        return self._reader.damage

    @property
    def intact_names(self) -> Sequence[str]:
        return list(self._listed)

    @property
    def files(self) -> Sequence[str]:
        return self._reader.files

    def close(self) -> None:
        self._reader.close()
