"""What every format has to do that tensors are converted to and from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.saving import save_checkpoint
from tensorkeep.checkpoint.sources import ArraySource
from tensorkeep.convert.converting import ConvertOptions, convert, open_tensors
from tensorkeep.convert.formats import FORMATS, format_of_source
from tensorkeep.convert.hub import SinkOptions, TensorFormat
from tensorkeep.dtypes import VARIANT, DType
from tensorkeep.edit.plan import Made
from tensorkeep.errors import AlreadyExistsError, InvalidArgumentError, TensorKeepError
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.testing.filesystems import CrashingFileSystem, SimulatedCrash
from tensorkeep.testing.strategies import STORABLE, arrays, assert_identical

_SHAPES = ((), (0,), (3,), (2, 3), (2, 0, 3), (4, 1, 5))
_SETTINGS = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow, HealthCheck.data_too_large],
)


class TensorFormatConformance:
    """The promises of a format. Subclasses name it, a path that ends as its files do, and the types that it holds."""

    format: TensorFormat
    path: str
    held: Sequence[DType]
    flips_bits: bool = True
    """Whether files with a wrong bit are tried, not only such as end early. Other libraries may not survive these."""

    def options(self) -> ConvertOptions:
        return ConvertOptions(to=self.format.name)

    @pytest.fixture
    def fs(self) -> MemoryFileSystem:
        made = MemoryFileSystem()
        save_checkpoint("in/m", {"a/x": np.arange(6.0).reshape(2, 3), "a/y": np.arange(3, dtype=np.int32)}, fs=made)
        return made

    @_SETTINGS
    @given(data=st.data())
    def test_what_is_written_is_read_bit_by_bit(self, data: st.DataObject) -> None:
        fs = MemoryFileSystem()
        dtypes = data.draw(st.lists(st.sampled_from(list(self.held)), min_size=1, max_size=4))
        tensors = {f"t/{number}": (dtype, data.draw(self.arrays(dtype))) for number, dtype in enumerate(dtypes)}
        self.write(fs, tensors)
        with open_tensors(self.path, fs=fs) as found:
            assert sorted(found) == sorted(tensors)
            for name, (dtype, array) in tensors.items():
                assert (found[name].dtype, found[name].shape) == (dtype, array.shape)
                assert_identical(found.read(name), dtype, array)
                assert_identical(found.source(name).gather().reshape(array.shape), dtype, array)

    def test_every_type_it_holds_survives_in_every_shape(self) -> None:
        fs = MemoryFileSystem()
        tensors = {
            f"{dtype.name}/{number}": (dtype, self.example(dtype, shape))
            for dtype in self.held
            for number, shape in enumerate(_SHAPES)
        }
        self.write(fs, tensors)
        with open_tensors(self.path, fs=fs) as found:
            for name, (dtype, array) in tensors.items():
                assert (found[name].dtype, found[name].shape) == (dtype, array.shape)
                assert_identical(found.read(name), dtype, array)

    def test_types_it_does_not_hold_are_refused_by_name_and_all_at_once(self) -> None:
        fs = MemoryFileSystem()
        unheld = [dtype for dtype in STORABLE if dtype not in self.held]
        if not unheld:
            assert set(self.held) == set(STORABLE)
            return
        tensors = {f"of/{dtype.name}": ArraySource.of(self.example(dtype, (2,)), dtype) for dtype in unheld}
        save_checkpoint("in/m", tensors, fs=fs)
        with pytest.raises((InvalidArgumentError, TensorKeepError)) as caught:
            convert("in/m", self.path, options=self.options(), fs=fs)
        assert [name for name in tensors if name not in str(caught.value)] == []
        assert not fs.exists(self.path.rpartition("/")[0])

    def test_parts_are_read_without_the_rest(self) -> None:
        fs = MemoryFileSystem()
        dtype = DType.of("float32")
        array = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
        self.write(fs, {"x": (dtype, array)})
        with open_tensors(self.path, fs=fs) as found:
            np.testing.assert_array_equal(found.read("x", np.s_[1:3, :2]), array[1:3, :2])
            np.testing.assert_array_equal(found.read("x", np.s_[:, :, 4:]), array[:, :, 4:])

    def test_it_is_told_by_its_contents(self, fs: MemoryFileSystem) -> None:
        convert("in/m", self.path, options=self.options(), fs=fs)
        found = self.found_at(self.path)
        assert format_of_source(found, fs) is self.format
        assert [item.name for item in FORMATS if item.holds(found, fs)] == [self.format.name]

    def test_equal_tensors_make_equal_files(self, fs: MemoryFileSystem) -> None:
        folder = self.path.rpartition("/")[0]
        convert("in/m", self.path, options=self.options(), fs=fs)
        first = {name: _contents(fs, f"{folder}/{name}") for name in fs.list(folder)}
        for name in fs.list(folder):
            fs.delete(f"{folder}/{name}")
        convert("in/m", self.path, options=self.options(), fs=fs)
        assert {name: _contents(fs, f"{folder}/{name}") for name in fs.list(folder)} == first

    def test_nothing_is_replaced_unless_it_may_be(self, fs: MemoryFileSystem) -> None:
        convert("in/m", self.path, options=self.options(), fs=fs)
        save_checkpoint("in/n", {"z": np.zeros(2)}, fs=fs)
        with pytest.raises(AlreadyExistsError, match="exists already"):
            convert("in/n", self.path, options=self.options(), fs=fs)
        assert self.names(fs) == ["a/x", "a/y"]
        convert("in/n", self.path, options=replace(self.options(), overwrite=True), fs=fs)
        assert self.names(fs) == ["z"]

    def test_a_dry_run_writes_nothing_and_says_the_same(self, fs: MemoryFileSystem) -> None:
        planned = convert("in/m", self.path, options=replace(self.options(), dry_run=True), fs=fs)
        assert not fs.exists(self.path.rpartition("/")[0])
        done = convert("in/m", self.path, options=self.options(), fs=fs)
        assert (planned.files, planned.nbytes, planned.explanation) == (done.files, done.nbytes, done.explanation)
        assert planned.is_dry_run
        assert not done.is_dry_run

    def test_a_source_that_fails_leaves_nothing_behind(self) -> None:
        fs = MemoryFileSystem()

        def failing() -> Iterator[Array]:
            yield np.zeros(1, np.float32)
            raise ConnectionError("the cable was pulled")

        tensors = {"x": Made(DType.of("float32"), (4,), failing)}
        sink = self.format.create_sink(self.path, tensors, SinkOptions(), fs)
        with pytest.raises(ConnectionError):  # noqa: PT012
            sink.write("x", ArraySource(tensors["x"].dtype, tensors["x"].shape, failing()))
            sink.commit()
        sink.abort()
        assert _files(fs, self.path.rpartition("/")[0]) == []

    def test_whenever_it_crashes_the_old_or_the_new_file_is_whole(self, fs: MemoryFileSystem) -> None:
        save_checkpoint("in/n", {"z": np.arange(2.0)}, fs=fs)
        overwrite = replace(self.options(), overwrite=True)
        for at in range(1000):
            convert("in/m", self.path, options=overwrite, fs=fs)
            crashing = CrashingFileSystem(fs, at)
            try:
                convert("in/n", self.path, options=overwrite, fs=crashing)
            except SimulatedCrash:
                assert self.names(fs) in (["a/x", "a/y"], ["z"])
            else:
                break
        assert self.names(fs) == ["z"]

    @_SETTINGS
    @given(data=st.data())
    def test_damage_is_an_error_of_ours_or_goes_unseen(self, data: st.DataObject) -> None:
        fs = MemoryFileSystem()
        self.write(fs, {"x": (DType.of("float32"), np.arange(6, dtype=np.float32).reshape(2, 3))})
        folder = self.path.rpartition("/")[0]
        name = data.draw(st.sampled_from(list(fs.list(folder))))
        whole = bytearray(_contents(fs, f"{folder}/{name}"))
        at = data.draw(st.integers(0, len(whole) - 1))
        if not self.flips_bits or data.draw(st.booleans()):
            del whole[at:]
        else:
            whole[at] ^= 1 << data.draw(st.integers(0, 7))
        fs.delete(f"{folder}/{name}")
        file = fs.create(f"{folder}/{name}")
        file.write(bytes(whole))
        file.close()
        try:
            with self.format.open_source(self.found_at(self.path), fs) as found:
                for tensor in found:
                    if found[tensor].size < 1000:
                        found.read(tensor)
        except TensorKeepError:
            pass

    def test_a_round_trip_is_proven(self, fs: MemoryFileSystem) -> None:
        done = convert("in/m", self.path, options=replace(self.options(), prove=True), fs=fs)
        back = convert(self.found_at(self.path), "out/m", options=ConvertOptions(prove=True), fs=fs)
        assert done.proof is not None
        assert back.proof is not None
        digests = {name: item.sha256 for name, item in done.proof.tensors.items()}
        assert {name: item.sha256 for name, item in back.proof.tensors.items()} == digests
        assert _contents(fs, "in/m.data-00000-of-00001") == _contents(fs, "out/m.data-00000-of-00001")

    # What the tests stand on

    def write(self, fs: FileSystem, tensors: dict[str, tuple[DType, Array]]) -> None:
        made = {name: Made(dtype, array.shape, _once(array)) for name, (dtype, array) in tensors.items()}
        assert self.format.problems(made) == []
        sink = self.format.create_sink(self.path, made, SinkOptions(), fs)
        for name in sink.order:
            sink.write(name, ArraySource(made[name].dtype, made[name].shape, made[name].chunks()))
        sink.commit()

    def found_at(self, path: str) -> str:
        """Where a file is that was written to `path`."""
        return path

    def names(self, fs: FileSystem) -> list[str]:
        with open_tensors(self.found_at(self.path), fs=fs) as found:
            return sorted(found)

    def arrays(self, dtype: DType) -> st.SearchStrategy[Array]:
        return arrays(dtype)

    def example(self, dtype: DType, shape: tuple[int, ...]) -> Array:
        """An array of that type with all kinds of bits in it."""
        count = int(np.prod(shape, dtype=np.int64))
        if dtype.is_object:
            texts = np.empty(count, object)
            texts[:] = [b"" if dtype is VARIANT else bytes([65 + at, 255, 13]) for at in range(count)]
            return texts.reshape(shape)
        raw = np.arange(1, count * dtype.itemsize + 1, dtype=np.uint8) * 37
        if dtype.bits:
            raw &= (1 << dtype.bits) - 1
        if dtype.is_bool:
            raw &= 1
        return raw.view(dtype.array_dtype).reshape(shape)


def _once(array: Array) -> Any:
    return lambda: iter((array,))


def _contents(fs: FileSystem, path: str) -> bytes:
    file = fs.open(path)
    try:
        return bytes(file.read(0, file.size))
    finally:
        file.close()


def _files(fs: FileSystem, folder: str) -> list[str]:
    return list(fs.list(folder)) if fs.is_directory(folder) else []
