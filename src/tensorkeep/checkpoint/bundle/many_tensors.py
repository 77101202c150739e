"""Many tensors read at once: small ones that lie together by one call, large ones in stretches by several threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.bundle.data_files import DataFiles, Locating
from tensorkeep.checkpoint.bundle.entry_columns import Columns
from tensorkeep.checkpoint.bundle.format import Entry
from tensorkeep.checkpoint.bundle.index import BundleIndex
from tensorkeep.checkpoint.bundle.small_tensors import SMALL, Kind, SmallTensors, Span, spans_of_tensors
from tensorkeep.checkpoint.bundle.stored_tensors import StoredTensors
from tensorkeep.checkpoint.reader import TensorInfo
from tensorkeep.errors import DataLossError
from tensorkeep.io.machine.large_arrays import empty_array
from tensorkeep.io.machine.parallel import fetched_ahead, in_parallel

_MOST_SHARING: Final = 16
_SLACK: Final = 64 << 20


class ManyTensors:
    """Tensors of one checkpoint that are wanted together, given by their names and their entries, encoded."""

    def __init__(
        self, names: Sequence[str], values: Sequence[bytes], index: BundleIndex, files: DataFiles, stored: StoredTensors
    ) -> None:
        self._names = names
        self._values = values
        self._index = index
        self._files = files
        self._stored = stored
        self._found: list[Any] = [None] * len(names)

    def read(
        self, read_one: Callable[[str], Array], *, threads: int | None, copy: bool, is_checked: bool
    ) -> dict[str, Array]:
        """All tensors by name: small ones together, large ones in stretches, the others one by one by `read_one`."""
        small = SmallTensors(self._values, lambda at: self._small_kind(at) if copy else None)
        large: list[tuple[int, Entry]] = []
        other: list[int] = []
        for at in small.others:
            if copy and self._is_plain(self._info(at)):
                large.append((at, self._entry(at)))
                self._files.check_extent(large[-1][1])
            else:
                other.append(at)
        for at in small.first_of_each_file():  # first: a file that is missing is told with a tensor in it
            self._files.check_extent(self._entry(at))
        for at in small.misfits(lambda shard: self._files.file(shard).size):
            self._files.check_extent(self._entry(at))
        self._check_total(small.columns, [entry for _, entry in large])
        self._read_small(small, is_checked)
        self._read_large(large, threads)
        rest = in_parallel(read_one, [self._names[at] for at in other], threads)
        for at, array in zip(other, rest, strict=True):
            self._found[at] = array
        return dict(zip(self._names, self._found, strict=True))

    def _info(self, at: int) -> TensorInfo:
        return self._index.info(self._names[at], self._values[at])

    def _entry(self, at: int) -> Entry:
        return self._index.decode(self._names[at], self._values[at])

    def _is_plain(self, info: TensorInfo) -> bool:
        """Whether a tensor lies in one piece, and as it is in memory."""
        return not (info.slices or info.dtype.is_object) and self._stored.is_native(info.dtype)

    def _small_kind(self, at: int) -> Kind | None:
        """What a tensor has in common with others of its type and shape; None if it is not small, or not plain."""
        info = self._info(at)
        if not self._is_plain(info) or info.nbytes > SMALL:
            return None
        return Kind(info.shape, info.dtype.array_dtype, info.nbytes)

    def _check_total(self, small: Columns, large: list[Entry]) -> None:
        """Refuses entries that share their bytes so often that what they ask for is out of all proportion."""
        total = int(small.sizes.sum()) + sum(entry.size for entry in large)
        shards = {*small.shards.tolist(), *(entry.shard for entry in large)}
        there = sum(self._files.file(number).size for number in shards)
        if total > _MOST_SHARING * there + _SLACK:
            raise DataLossError(
                f'"{self._files.index_path}": the tensors asked for take {total} bytes, but the data files have '
                f"{there}: entries overlap"
            )

    def _read_small(self, small: SmallTensors, is_checked: bool) -> None:
        """Reads small tensors, many by one call, each to its place."""
        spans = list(spans_of_tensors(small.columns, lambda shard: self._files.file(shard).cost))
        in_flight = max((self._files.file(shard).cost.in_flight for shard in {span.shard for span in spans}), default=1)
        for span, data in fetched_ahead(lambda span: self._span_bytes(small, span), spans, in_flight):
            places = small.positions[span.members].tolist()
            if is_checked:
                for at, crc in small.wrong_checksums(data, span):
                    entry = self._entry(at)
                    with Locating(self._files, entry):
                        self._stored.compare(entry, crc)
            for at, array in zip(places, small.arrays(data, span), strict=True):
                self._found[at] = array

    def _span_bytes(self, small: SmallTensors, span: Span) -> memoryview:
        with Locating(self._files, self._entry(int(small.positions[span.members[-1]]))):
            return self._files.file(span.shard).read(span.start, span.end - span.start)

    def _read_large(self, large: list[tuple[int, Entry]], threads: int | None) -> None:
        arrays = [(entry, empty_array(entry.shape, entry.dtype.array_dtype, entry.offset)) for _, entry in large]
        self._stored.fill(arrays, threads)
        for (at, _), (_, array) in zip(large, arrays, strict=True):
            self._found[at] = array
