"""Reading part of an array from only the bytes that are needed."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep import BundleReader, DataLossError, MemoryFileSystem, save_checkpoint
from tensorkeep.checkpoint.slices.regions import read_box, read_rows
from tensorkeep.io.files.filesystem import ON_DISK, RandomAccessFile
from tests.checkpoint.crafting import peak_memory, same

GAP = 4096  # bytes that are read along rather than skipped


class CountingFile:
    """Counts the calls, and the bytes they ask for."""

    cost = ON_DISK

    def __init__(self, data: bytes) -> None:
        self._file: RandomAccessFile = MemoryFileSystem({"file": data}).open("file")
        self.path = self._file.path
        self.size = self._file.size
        self.is_current = self._file.is_current
        self.close = self._file.close
        self.calls = self.bytes = 0

    def _count(self, length: int) -> None:
        self.calls += 1
        self.bytes += length

    def read(self, offset: int, length: int) -> memoryview:
        self._count(length)
        return self._file.read(offset, length)

    def read_into(self, offset: int, buffer: memoryview) -> None:
        self._count(len(buffer))
        self._file.read_into(offset, buffer)

    def expect(self, offset: int, length: int) -> None:
        raise AssertionError

    def map(self, offset: int, length: int) -> memoryview:
        self._count(length)
        return self._file.map(offset, length)


def file_of(array: np.ndarray, lead: bytes = b"lead") -> CountingFile:
    return CountingFile(lead + array.tobytes() + b"tail")


shapes = st.lists(st.integers(0, 9), min_size=0, max_size=4).map(tuple)
# Float8 and friends are types NumPy does not know by itself.
dtypes = st.sampled_from(
    [np.dtype(kind) for kind in ("u1", "<i2", "<f4", "<c16", ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, ml_dtypes.int4)]
)


@st.composite
def arrays(draw: st.DrawFn) -> np.ndarray:
    shape, dtype = draw(shapes), draw(dtypes)
    raw = np.random.default_rng(draw(st.integers(0, 99))).integers(0, 4, math.prod(shape) * dtype.itemsize, np.uint8)
    return raw.view(dtype).reshape(shape)


class TestBoxes:
    @given(arrays(), st.data())
    def test_equal_numpy(self, array, data):
        box = []
        for size in array.shape:
            start = data.draw(st.integers(0, size))
            box.append((start, data.draw(st.integers(start, size))))
        found = read_box(file_of(array), 4, array.shape, tuple(box), array.dtype)
        assert same(found, array[tuple(slice(*pair) for pair in box)])

    def test_of_a_scalar(self):
        array = np.array(3.5, np.float32)
        assert same(read_box(file_of(array), 4, (), (), array.dtype), array)

    def test_that_are_empty_read_nothing(self):
        array = np.zeros((4, 5), np.float32)
        file = file_of(array)
        assert read_box(file, 4, (4, 5), ((1, 1), (0, 5)), array.dtype).shape == (0, 5)
        assert file.calls == 0

    def test_whole_rows_are_one_read(self):
        array = np.arange(4000, dtype=np.float32).reshape(100, 40)
        file = file_of(array)
        assert same(read_box(file, 4, array.shape, ((20, 70), (0, 40)), array.dtype), array[20:70])
        assert (file.calls, file.bytes) == (1, 50 * 40 * 4)

    def test_runs_far_apart_are_read_one_by_one(self):
        array = np.arange(8 * 8192, dtype=np.float32).reshape(8, 8192)
        file = file_of(array)
        assert same(read_box(file, 4, array.shape, ((0, 8), (5, 9)), array.dtype), array[:, 5:9])
        assert (file.calls, file.bytes) == (8, 8 * 4 * 4)

    def test_runs_close_together_are_read_together(self):
        array = np.arange(1000 * 100, dtype=np.float32).reshape(1000, 100)
        file = file_of(array)
        assert same(read_box(file, 4, array.shape, ((0, 1000), (5, 9)), array.dtype), array[:, 5:9])
        assert file.calls == 1
        assert file.bytes <= array.nbytes

    def test_a_column_of_a_large_array_is_read_in_spans(self):
        array = np.zeros((20000, 100), np.float64)
        array[:, 7] = np.arange(20000)
        file = file_of(array)
        assert same(read_box(file, 4, array.shape, ((0, 20000), (7, 8)), array.dtype), array[:, 7:8])
        assert file.calls <= array.nbytes / (1 << 20) + 1
        assert file.bytes <= array.nbytes

    @given(st.data())
    def test_the_bytes_read_are_bounded(self, data):
        """Never more than what is wanted and a gap for each run, nor than lies from the first to the last of them."""
        shape = (data.draw(st.integers(1, 40)), data.draw(st.integers(1, 40)), data.draw(st.integers(1, 300)))
        box = []
        for size in shape:
            start = data.draw(st.integers(0, size - 1))
            box.append((start, data.draw(st.integers(start + 1, size))))
        array = np.zeros(shape, np.float32)
        file = file_of(array)
        found = read_box(file, 4, shape, tuple(box), array.dtype)
        runs = math.prod(stop - start for start, stop in box[:2])
        assert file.bytes <= found.nbytes + runs * GAP
        first = np.ravel_multi_index([start for start, _ in box], shape)
        last = np.ravel_multi_index([stop - 1 for _, stop in box], shape)
        assert file.bytes <= (last - first + 1) * 4
        assert file.calls <= runs

    def test_memory_stays_with_the_result_and_a_span(self):
        array = np.zeros((4000, 1000), np.float32)
        file = file_of(array)
        _, peak = peak_memory(lambda: read_box(file, 4, array.shape, ((0, 4000), (0, 2)), array.dtype))
        assert peak < 6 << 20  # of 16 MiB

    def test_millions_of_runs_are_taken_in_batches(self):
        array = np.zeros((600, 600, 3), np.uint8)
        array[..., 1] = np.arange(600)[:, None] % 251
        file = file_of(array)
        found, peak = peak_memory(lambda: read_box(file, 4, array.shape, ((0, 600), (0, 600), (1, 2)), array.dtype))
        assert same(found, array[..., 1:2])
        assert peak < 40 << 20

    def test_so_are_those_of_more_than_two_dimensions(self):
        array = np.zeros((2, 600, 600, 2), np.uint8)
        array[..., 1] = np.arange(600)[:, None] % 251
        array[1] += 1
        box = ((0, 2), (0, 600), (0, 600), (1, 2))
        assert same(read_box(file_of(array), 4, array.shape, box, array.dtype), array[..., 1:])

    def test_a_file_that_is_too_short(self):
        with pytest.raises(DataLossError, match='"file" is 12 bytes long, but bytes'):
            read_box(CountingFile(bytes(12)), 4, (4, 4), ((2, 4), (0, 4)), np.dtype(np.float32))


class TestRows:
    @given(arrays().filter(lambda array: array.ndim), st.data())
    def test_equal_numpy(self, array, data):
        count = array.shape[0]
        rows = np.array(data.draw(st.lists(st.integers(0, count - 1), max_size=12)) if count else [], np.int64)
        assert same(read_rows(file_of(array), 4, array.shape, rows, array.dtype), array[rows])

    def test_repeated_and_unsorted(self):
        array = np.arange(30, dtype=np.int16).reshape(10, 3)
        rows = np.array([9, 0, 9, 9, 4, 3, 4])
        assert same(read_rows(file_of(array), 4, array.shape, rows, array.dtype), array[rows])

    def test_far_apart_cost_their_own_bytes(self):
        array = np.arange(1000 * 2000, dtype=np.float32).reshape(1000, 2000)
        file = file_of(array)
        rows = np.array([900, 3, 500])
        assert same(read_rows(file, 4, array.shape, rows, array.dtype), array[rows])
        assert (file.calls, file.bytes) == (3, 3 * 8000)

    def test_close_together_are_read_together(self):
        array = np.arange(100000, dtype=np.float32).reshape(10000, 10)
        file = file_of(array)
        rows = np.arange(0, 10000, 7)
        assert same(read_rows(file, 4, array.shape, rows, array.dtype), array[rows])
        assert file.calls == 1

    def test_none(self):
        array = np.zeros((4, 5), np.float32)
        found = read_rows(file_of(array), 4, (4, 5), np.array([], np.int64), array.dtype)
        assert found.shape == (0, 5)
        assert read_rows(file_of(array), 4, (4, 0), np.array([1, 2]), array.dtype).shape == (2, 0)


class TestThroughAReader:
    """The same by way of a checkpoint: the types and byte orders it brings."""

    @pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "int4", "uint2", "complex128", "bool", "float16"])
    def test_parts_and_rows_of_every_kind_of_type(self, name):
        dtype = getattr(ml_dtypes, name, None) or np.dtype(name)
        array = np.arange(600).reshape(30, 20).astype(np.uint8).astype(dtype)
        fs = MemoryFileSystem()
        save_checkpoint("x", {"a": array}, fs=fs)
        with BundleReader("x", fs=fs) as reader:
            assert same(reader.read("a", np.s_[3:20, 5:9]), array[3:20, 5:9])
            assert same(reader.read_rows("a", [29, 2, 2, -1]), array[[29, 2, 2, -1]])
