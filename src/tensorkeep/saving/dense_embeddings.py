"""Embedding variables of a checkpoint as dense tensors, for variables of the same name that are dense in the graph.

The keys of such an embedding are the numbers of the rows, 0 to n - 1, all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.reader import CheckpointReader, TensorInfo
from tensorkeep.checkpoint.restore.wanted_tensors import Wanted
from tensorkeep.checkpoint.slices.tensor_slice import TensorSlice
from tensorkeep.checkpoint.sources import ArraySource
from tensorkeep.checkpoint.views import ReaderView
from tensorkeep.dtypes import dtype_of_array
from tensorkeep.embedding.stored.embeddings import looked_up_embedding, read_dense
from tensorkeep.embedding.stored.surveyed_checkpoints import SurveyedCheckpoint
from tensorkeep.io.files.filesystem import FileSystem


def with_dense_embeddings(checkpoint: SurveyedCheckpoint, wanted: Sequence[Wanted], fs: FileSystem) -> CheckpointReader:
    """The checkpoint, with those of its embeddings as tensors that are wanted so; itself if there are none."""
    reader = checkpoint.reader
    missing = [item for item in wanted if item.key not in reader and len(item.shape or ()) == 2]
    stored = checkpoint.embeddings if missing else {}
    found: dict[str, TensorInfo] = {}
    for item in missing if stored else ():
        looked_up = looked_up_embedding(item.key, stored)
        if looked_up is None:
            continue
        name, column = looked_up
        source = stored[name].open(reader, column, fs=fs)
        rows = (item.shape or (None,))[0]
        shape = (source.count if rows is None else rows, source.dim)
        found[item.key] = TensorInfo(dtype_of_array(source.dtype), shape)
    return DenseEmbeddings(checkpoint, found, fs) if found else reader


class DenseEmbeddings(ReaderView):
    """A checkpoint in which some embeddings are dense tensors as well. Closing it closes the reader within."""

    def __init__(self, checkpoint: SurveyedCheckpoint, dense: Mapping[str, TensorInfo], fs: FileSystem) -> None:
        super().__init__(checkpoint.reader, dict.fromkeys(sorted({*checkpoint.reader, *dense})))
        self._checkpoint = checkpoint
        self._dense = dense
        self._fs = fs

    def __getitem__(self, name: str) -> TensorInfo:
        return self._dense[name] if name in self._dense else self._reader[name]

    def source(self, name: str) -> ArraySource:
        return ArraySource.of(self.read(name)) if name in self._dense else self._reader.source(name)

    def verify(self, name: str) -> None:
        if name in self._dense:
            self.read(name)
        else:
            self._reader.verify(name)

    def _read_whole(self, name: str, info: TensorInfo, copy: bool) -> Array:
        if name not in self._dense:
            return self._reader.read(name, copy=copy)
        return read_dense(self._reader, name, info.shape[0], stored=self._checkpoint.embeddings, fs=self._fs)

    def _read_part(self, name: str, info: TensorInfo, part: TensorSlice, copy: bool) -> Array:
        if name not in self._dense:
            return self._reader.read(name, part, copy=copy)
        found: Array = self._read_whole(name, info, copy)[tuple(slice(*extent) for extent in part.box(info.shape))]
        return found

    def _read_rows(self, name: str, info: TensorInfo, rows: npt.NDArray[np.int64]) -> Array:
        if name not in self._dense:
            return self._reader.read_rows(name, rows)
        found: Array = self._read_whole(name, info, copy=True)[rows]
        return found

    def _read_many(self, names: list[str], threads: int | None, copy: bool) -> dict[str, Array]:
        plain = self._reader.read_many([name for name in names if name not in self._dense], threads=threads, copy=copy)
        return {name: plain[name] if name in plain else self._read_whole(name, self[name], copy) for name in names}
