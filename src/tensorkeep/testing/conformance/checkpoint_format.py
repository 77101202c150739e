"""What every checkpoint format has to do."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tensorkeep.checkpoint.reader import CheckpointReader, TensorInfo
from tensorkeep.checkpoint.slices.tensor_slice import TensorSlice
from tensorkeep.checkpoint.sources import PartitionedArray
from tensorkeep.dtypes import FLOAT32, STRING, DType
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError, TensorKeepError
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.testing.strategies import (
    STORABLE,
    Saveable,
    assert_identical,
    assert_saved,
    checkpoints,
    contents,
    cut_slice,
    partitioned_arrays,
    sources,
)

_USUAL_EXAMPLES: Final = 100  # of a property, unless a profile says otherwise
_LEAST_EXAMPLES: Final = 5


def _examples(count: int) -> settings:
    """So many examples; a share of them, where the profile of Hypothesis asks for fewer than it does by itself.

    One test, inherited, runs in several classes, of which Hypothesis would warn.
    """
    unfounded = [HealthCheck.differing_executors, HealthCheck.too_slow, HealthCheck.data_too_large]
    share = min(1.0, settings().max_examples / _USUAL_EXAMPLES)
    most = max(_LEAST_EXAMPLES, round(count * share))
    return settings(max_examples=min(count, most), deadline=None, suppress_health_check=unfounded)


def _plain_slices(size: int) -> st.SearchStrategy[slice]:
    """Slices as people write them, negative and out of bounds ones too, but without a step."""
    bound = st.none() | st.integers(-size - 2, size + 2)
    return st.builds(slice, bound, bound)


class CheckpointFormatConformance:
    """The promises of `CheckpointReader`, for what `save` has written.

    Subclasses give `save`, `open`, the types that can be stored, and whether whole numeric tensors can be mapped.
    """

    dtypes: Sequence[DType] = STORABLE
    maps_files: bool = True

    def save(self, fs: FileSystem, path: str, tensors: Mapping[str, Saveable]) -> None:
        """Writes a checkpoint to a folder that exists."""
        raise NotImplementedError

    def open(self, fs: FileSystem, path: str) -> CheckpointReader:
        raise NotImplementedError

    def folder(self) -> tuple[FileSystem, str]:
        """An empty folder to write to, and its store. In memory, unless a subclass says otherwise."""
        fs = MemoryFileSystem()
        fs.make_directory("folder")
        return fs, "folder"

    def saved(self, tensors: Mapping[str, Saveable]) -> CheckpointReader:
        fs, folder = self.folder()
        self.save(fs, f"{folder}/model", tensors)
        return self.open(fs, f"{folder}/model")

    # Round trips

    @_examples(35)
    @given(st.data())
    def test_what_is_saved_is_read(self, data: st.DataObject) -> None:
        tensors = data.draw(checkpoints(self.dtypes))
        with self.saved(tensors) as reader:
            assert_saved({name: reader.read(name) for name in reader}, tensors)
            assert_saved(reader.read_many(), tensors)

    @_examples(6)
    @given(st.data())
    def test_every_type_is_read_as_it_was_saved(self, data: st.DataObject) -> None:
        tensors = {dtype.name: data.draw(sources(dtype)) for dtype in self.dtypes}
        with self.saved(tensors) as reader:
            assert_saved(reader.read_many(), tensors)
            for dtype in self.dtypes:
                assert reader[dtype.name] == TensorInfo(dtype, contents(tensors[dtype.name])[1].shape)

    def test_a_type_that_cannot_be_stored_is_refused(self) -> None:
        for dtype in STORABLE:
            if dtype not in self.dtypes and not dtype.is_object and not dtype.quantized:
                with pytest.raises((NotImplementedError, InvalidArgumentError), match=dtype.name):
                    self.saved({"w": np.zeros(2, dtype.array_dtype)})

    @_examples(20)
    @given(st.data())
    def test_a_source_gives_what_was_saved_to_be_saved_again(self, data: st.DataObject) -> None:
        tensors = data.draw(checkpoints(self.dtypes))
        with (
            self.saved(tensors) as first,
            self.saved({name: first.source(name) for name in first}) as second,
        ):
            assert_saved(second.read_many(), tensors)

    def test_arrays_are_the_reader_s_to_keep_and_change(self) -> None:
        with self.saved({"w": np.arange(6.0), "s": np.array(2.0)}) as reader:
            for array in (reader.read("w"), reader.read("w", np.s_[:]), reader.read_many(["w"])["w"]):
                array[:] = -1
                assert reader.read("w").tolist() == [0, 1, 2, 3, 4, 5]
            for scalar in (reader.read("s"), reader.read("s", ()), reader.read_many(["s"])["s"]):
                scalar[...] = -1
                assert reader.read("s") == 2

    def test_a_large_tensor_is_read_whole(self) -> None:
        large = np.random.default_rng(1).integers(0, 1 << 60, 400_000)
        with self.saved({"large": large, "small": np.zeros(3)}) as reader:
            assert np.array_equal(reader.read("large"), large)
            assert np.array_equal(reader.read_many(["large"], threads=2)["large"], large)
            assert np.array_equal(reader.read("large", np.s_[123_456:123_459]), large[123_456:123_459])

    # Parts

    @_examples(35)
    @given(st.data())
    def test_every_part_is_what_numpy_s_slice_is(self, data: st.DataObject) -> None:
        dtype = data.draw(st.sampled_from(self.dtypes))
        value = data.draw(st.one_of(sources(dtype), partitioned_arrays(dtype)))
        _, array = contents(value)
        with self.saved({"w": value}) as reader:
            for _ in range(3):
                shown = data.draw(st.integers(0, array.ndim))
                index = tuple(data.draw(_plain_slices(size)) for size in array.shape[:shown])
                everything: tuple[Any, ...] = (*index, ...)
                assert_identical(reader.read("w", index), dtype, array[everything])

    @_examples(20)
    @given(st.data())
    def test_every_box_is_what_numpy_s_slice_is(self, data: st.DataObject) -> None:
        dtype = data.draw(st.sampled_from(self.dtypes))
        value = data.draw(st.one_of(sources(dtype), partitioned_arrays(dtype)))
        _, array = contents(value)
        extents: list[tuple[int, int] | None] = []
        for size in array.shape:
            start = data.draw(st.integers(0, size))
            extent = (start, data.draw(st.integers(0, size - start)))
            extents.append(data.draw(st.sampled_from((extent, None))))
        part = TensorSlice(tuple(extents))
        with self.saved({"w": value}) as reader:
            assert_identical(reader.read("w", part), dtype, cut_slice(array, part))

    @_examples(20)
    @given(st.data())
    def test_the_slices_that_were_saved_are_listed(self, data: st.DataObject) -> None:
        dtype = data.draw(st.sampled_from(self.dtypes))
        value = data.draw(partitioned_arrays(dtype))
        assume(len(value.parts) > 1)
        with self.saved({"w": value}) as reader:
            boxes = {part.box(value.shape) for part, _ in value.sources()}
            assert {part.box(value.shape) for part in reader["w"].slices} == boxes
            assert (reader["w"].dtype, reader["w"].shape) == (dtype, value.shape)

    @_examples(35)
    @given(st.data())
    def test_rows_are_what_numpy_s_rows_are(self, data: st.DataObject) -> None:
        dtype = data.draw(st.sampled_from(self.dtypes))
        value = data.draw(st.one_of(sources(dtype), partitioned_arrays(dtype)))
        _, array = contents(value)
        assume(array.ndim > 0)
        count = array.shape[0]
        rows = data.draw(st.lists(st.integers(-count, count - 1), max_size=8)) if count else []
        with self.saved({"w": value}) as reader:
            assert_identical(reader.read_rows("w", rows), dtype, array[np.array(rows, np.intp)])

    def test_parts_and_rows_out_of_bounds_are_refused(self) -> None:
        with self.saved({"w": np.zeros((4, 3)), "s": np.array(1.0)}) as reader:
            wrong: list[Any] = [np.s_[:, :, :], np.s_[::2], np.s_[::-1], (1,), TensorSlice(((3, 2), None))]
            for part in (*wrong, TensorSlice((None,))):
                with pytest.raises(InvalidArgumentError):
                    reader.read("w", part)
            for rows in ([4], [-5], [[0]], [0.5], 1):
                with pytest.raises(InvalidArgumentError, match="w"):
                    reader.read_rows("w", rows)
            with pytest.raises(InvalidArgumentError, match="s"):
                reader.read_rows("s", [0])
            assert reader.read("w", np.s_[2:100]).shape == (2, 3)
            assert reader.read("s", ()).shape == ()

    # The mapping

    def test_a_reader_is_a_mapping_in_order_of_name(self) -> None:
        names = ["b", "a", "a/b", "a.b", "Z", "é", "a" * 200]
        with self.saved({name: np.zeros(2, np.float32) for name in names}) as reader:
            assert list(reader) == sorted(names) == list(reader.keys())
            assert len(reader) == len(names)
            assert dict(reader) == dict.fromkeys(names, TensorInfo(FLOAT32, (2,)))
            assert ("a" in reader, "A" in reader, "" in reader) == (True, False, False)
            assert reader.get("nothing") is None
            assert list(reader.intact_names) == sorted(names)
            assert list(reader.damage) == []

    def test_a_name_that_is_not_there_is_said_with_names_that_are(self) -> None:
        with self.saved({"dense/kernel": np.zeros(2), "dense/bias": np.zeros(2)}) as reader:
            for ask in (
                lambda: reader["kernel"],
                lambda: reader.read("kernel"),
                lambda: reader.read("kernel", np.s_[:1]),
                lambda: reader.read_rows("kernel", [0]),
                lambda: reader.read_many(["dense/bias", "kernel"]),
                lambda: reader.source("kernel"),
            ):
                with pytest.raises(NotFoundError, match='no tensor "kernel"; it holds "dense/kernel", "dense/bias"'):
                    ask()
            with pytest.raises(KeyError):
                reader["kernel"]

    def test_reading_many_lists_all_that_is_missing(self) -> None:
        with (
            self.saved({"w": np.zeros(2)}) as reader,
            pytest.raises(NotFoundError, match='no tensor "x", "y"'),
        ):
            reader.read_many(["x", "w", "y"])

    def test_reading_many_keeps_the_order_asked_for(self) -> None:
        tensors: dict[str, Saveable] = {name: np.full(3, number) for number, name in enumerate("cabd")}
        with self.saved(tensors) as reader:
            assert list(reader.read_many(["d", "a", "d", "c"])) == ["d", "a", "c"]
            assert reader.read_many([]) == {}

    def test_strings_are_bytes(self) -> None:
        if STRING not in self.dtypes:
            pytest.skip("the format holds no strings")
        tensors: dict[str, Saveable] = {
            "text": np.array(["ä", ""]),
            "bytes": np.array([b"a", b"bc"]),
            "scalar": np.array(b"\0", dtype=object),
            "none": np.array([], dtype=object),
        }
        with self.saved(tensors) as reader:
            assert reader.read("text").tolist() == ["ä".encode(), b""]
            assert reader.read("bytes").tolist() == [b"a", b"bc"]
            assert reader.read("scalar").item() == b"\0"
            assert reader.read("none").shape == (0,)

    # Into arrays that are there

    @_examples(20)
    @given(st.data())
    def test_what_is_read_into_an_array_is_what_is_read(self, data: st.DataObject) -> None:
        tensors = data.draw(checkpoints(self.dtypes))
        with self.saved(tensors) as reader:
            filled = {name: np.zeros(info.shape, info.dtype.array_dtype) for name, info in reader.items()}
            for name, array in filled.items():
                reader.read_into(name, array)
            assert_saved(filled, tensors)
            reader.verify_many(reader)

    def test_an_array_that_does_not_fit_is_not_filled(self) -> None:
        wide = np.zeros((6, 2))
        wide.flags.writeable = False
        with self.saved({"w": np.arange(6.0)}) as reader:
            for array in (np.zeros(5), np.zeros(6, np.float32), np.zeros((6, 2))[:, 0], wide[:, 0].copy()[::-1]):
                with pytest.raises(InvalidArgumentError, match='cannot read "w"'):
                    reader.read_into("w", array)
                assert not array.any()

    def test_a_large_tensor_is_checked_and_filled_in_stretches(self) -> None:
        large = np.arange(9 << 20, dtype=np.float64)
        with self.saved({"large": large, "small": large[:3]}) as reader:
            reader.verify_many(["large", "small"], threads=2)
            filled = np.zeros_like(large)
            reader.read_into("large", filled)
            np.testing.assert_array_equal(filled, large)

    # Views

    @_examples(20)
    @given(st.data())
    def test_without_copies_arrays_are_the_same(self, data: st.DataObject) -> None:
        tensors = data.draw(checkpoints(self.dtypes))
        with self.saved(tensors) as reader:
            assert_saved({name: reader.read(name, copy=False) for name in reader}, tensors)
            assert_saved(reader.read_many(copy=False), tensors)

    def test_a_view_of_the_file_is_read_only_and_outlives_the_reader(self) -> None:
        if not self.maps_files:
            pytest.skip("the format does not store arrays as they are")
        with self.saved({"w": np.arange(6.0)}) as reader:
            views = [reader.read("w", copy=False), reader.read_many(copy=False)["w"]]
        for view in views:
            assert not view.flags.writeable
            with pytest.raises(ValueError, match="read-only"):
                view[0] = 1
            with pytest.raises(ValueError, match="WRITEABLE"):
                view.flags.writeable = True
            assert view.tolist() == [0, 1, 2, 3, 4, 5]

    # Closing and sharing

    @pytest.mark.parametrize("is_used", [False, True], ids=["unused", "used"])
    @pytest.mark.parametrize("name", ["whole", "split"])
    def test_a_closed_reader_reads_no_more(self, name: str, is_used: bool) -> None:
        array = np.arange(6.0).reshape(3, 2)
        reader = self.saved({"whole": array, "split": PartitionedArray.split(array, 3)})
        if is_used:
            reader.read_many()
        reader.close()
        reader.close()
        for ask in (
            lambda: reader.read(name),
            lambda: reader.read(name, copy=False),
            lambda: reader.read(name, np.s_[1:2]),
            lambda: reader.read_rows(name, [2, 0]),
            lambda: reader.read_many([name]),
        ):
            with pytest.raises(FailedPreconditionError, match="closed"):
                ask()

    def test_arrays_outlive_their_reader(self) -> None:
        with self.saved({"w": np.arange(6.0)}) as reader:
            arrays_read = [reader.read("w"), reader.read("w", np.s_[:]), reader.read_many()["w"]]
        for array in arrays_read:
            assert array.tolist() == [0, 1, 2, 3, 4, 5]

    def test_threads_may_share_a_reader(self) -> None:
        rng = np.random.default_rng(2)
        tensors: dict[str, Saveable] = {f"w{number}": rng.integers(0, 99, (40, 7)) for number in range(12)}
        tensors |= {f"p{number}": PartitionedArray.split(rng.random((40, 7)), 3) for number in range(4)}
        expected = {name: contents(value)[1] for name, value in tensors.items()}
        start = threading.Barrier(4)

        def read_all(seed: int) -> bool:
            order = np.random.default_rng(seed).permutation(sorted(tensors)).tolist()
            start.wait()
            return all(
                np.array_equal(reader.read(name), expected[name])
                and np.array_equal(reader.read(name, np.s_[5:9, 2:]), expected[name][5:9, 2:])
                and np.array_equal(reader.read_rows(name, [39, 0, 7]), expected[name][[39, 0, 7]])
                for name in order
            )

        with self.saved(tensors) as reader, ThreadPoolExecutor(4) as pool:
            assert all(pool.map(read_all, range(4)))

    # Damage

    @_examples(40)
    @given(st.data())
    def test_damage_is_noticed(self, data: st.DataObject) -> None:
        """Any changed bit, and any missing end, is an error of ours, or changes nothing that is read."""
        tensors: dict[str, Saveable] = {
            "empty": np.zeros(0, np.float32),
            "floats": np.arange(5, dtype=np.float32),
            "split": PartitionedArray.split(np.arange(6, dtype=np.int64), 2),
            "strings": np.array([b"one", b"", b"three"]),
        }
        fs = MemoryFileSystem()
        self.save(fs, "model", tensors)
        path, good = data.draw(st.sampled_from(sorted(fs.contents().items())))
        bad = bytearray(good)
        at = data.draw(st.integers(0, len(good) - 1))
        if data.draw(st.booleans()):
            bad[at] ^= 1 << data.draw(st.integers(0, 7))
        else:
            del bad[at:]
        fs.delete(path)
        file = fs.create(path)
        file.write(bad)
        file.close()
        try:
            with self.open(fs, "model") as reader:
                for name in reader.intact_names:
                    assert_unless_damaged(reader, name, tensors)
        except TensorKeepError:
            return


def assert_unless_damaged(reader: CheckpointReader, name: str, tensors: Mapping[str, Saveable]) -> None:
    """That a tensor is what was saved, or cannot be read."""
    try:
        array = reader.read(name)
    except TensorKeepError:
        return
    assert_identical(array, *contents(tensors[name]))
