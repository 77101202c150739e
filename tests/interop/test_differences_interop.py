"""Where we and TensorFlow part, on purpose. Each test shows both sides, so that what is written about it stays true.

What TensorFlow cannot read, we read          parts and slices of many types, V1 tensors in slices, odd prefixes
What TensorFlow spoils, we do not             merging into an input, merging what holds no tensors
What TensorFlow lets pass, we refuse          tensors that nobody could read again
What stops TensorFlow's process               is an error
What both refuse                              is refused
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tensorkeep
from tensorkeep import (
    BundleWriter,
    DataLossError,
    DType,
    InvalidArgumentError,
    MissingFileError,
    SliceFileWriter,
    TensorSlice,
    merge_bundles,
)
from tests.interop.samples import Samples
from tests.interop.tensorflow_oracle import (
    STITCHABLE,
    STORABLE,
    V1_GETTABLE,
    V1_STORABLE,
    Tensor,
    assert_same,
    files,
    in_parts,
    merge_v2,
    restore_one,
    save_slices,
    save_v2,
    whole,
)

FLOAT = DType.of("float32")
WEIGHTS = Tensor(FLOAT, np.arange(12, dtype=np.float32).reshape(4, 3))
OTHER = Tensor(FLOAT, np.float32([1, 2, 3]))
UPPER, LOWER = TensorSlice.parse("0,2:-"), TensorSlice.parse("2,2:-")
REFUSED = (tf.errors.OpError, ValueError)  # what its operations raise, and what its Python readers raise


def get_tensor(path: Path | str, name: str) -> Any:
    return tf.train.load_checkpoint(str(path)).get_tensor(name)


class TestTypes:
    @pytest.mark.parametrize("dtype", [dtype for dtype in STORABLE if dtype not in STITCHABLE], ids=str)
    def test_of_which_tensorflow_reads_no_parts_and_joins_no_slices(self, tmp_path, dtype):
        tensor = Tensor(dtype, Samples(dtype.number).array(dtype, (4, 3)))
        path, middle = tmp_path / "model", TensorSlice.parse("1,2:-")
        save_v2(path, [*whole({"whole": tensor}), *in_parts("sliced", tensor, [UPPER, LOWER])])
        for read in (
            lambda: restore_one(path, "whole", dtype, f"4 3 {middle}"),
            lambda: restore_one(path, "sliced", dtype, f"4 3 {middle}"),
            lambda: restore_one(path, "sliced", dtype),
            lambda: get_tensor(path, "sliced"),
        ):
            with pytest.raises(REFUSED, match=f"Dtype {dtype.label} not supported"):
                read()
        assert_same(restore_one(path, "whole", dtype), tensor.array, "a tensor as it is stored")
        assert_same(restore_one(path, "sliced", dtype, f"4 3 {UPPER}"), tensor.part(UPPER).array, "a slice as it is")
        with tensorkeep.open_checkpoint(path) as reader:
            for name in ("whole", "sliced"):
                assert_same(reader.read(name), tensor.array, name)
                assert_same(reader.read(name, middle), tensor.part(middle).array, name)

    @pytest.mark.parametrize("dtype", V1_STORABLE, ids=str)
    def test_that_get_tensor_does_not_read_from_the_old_format(self, tmp_path, dtype):
        tensor = Tensor(dtype, Samples(dtype.number).array(dtype, (4, 3)))
        save_slices(tmp_path / "model", [*whole({"whole": tensor}), *in_parts("sliced", tensor, [UPPER, LOWER])])
        with pytest.raises(tf.errors.UnimplementedError, match="Sliced checkpoints are not supported"):
            get_tensor(tmp_path / "model", "sliced")
        if dtype not in V1_GETTABLE:
            with pytest.raises(tf.errors.UnimplementedError, match="Data type not supported"):
                get_tensor(tmp_path / "model", "whole")
        with tensorkeep.open_checkpoint(tmp_path / "model") as reader:
            assert_same(reader.read("whole"), tensor.array, dtype)
            assert_same(reader.read("sliced"), tensor.array, dtype)

    @pytest.mark.parametrize("dtype", [dtype for dtype in STORABLE if dtype not in V1_STORABLE], ids=str)
    def test_that_neither_stores_in_the_old_format(self, tmp_path, dtype):
        tensor = Tensor(dtype, Samples(0).array(dtype, (2,)))
        with pytest.raises((tf.errors.UnimplementedError, tf.errors.InvalidArgumentError)):
            save_slices(tmp_path / "theirs", whole({"a": tensor}))
        with pytest.raises(tensorkeep.UnimplementedError), SliceFileWriter(tmp_path / "ours") as writer:
            writer.add("a", tensor.source)
        assert list(tmp_path.iterdir()) == []


class TestPrefixes:
    @pytest.mark.parametrize("name", ["a[1]", "a[!b]", "a\\b"])
    def test_that_tensorflow_saves_to_and_does_not_find_again(self, tmp_path, name):
        save_v2(tmp_path / name, whole({"w": WEIGHTS}))
        for read in (lambda: restore_one(tmp_path / name, "w", FLOAT), lambda: get_tensor(tmp_path / name, "w")):
            with pytest.raises(tf.errors.NotFoundError, match="Failed to find any matching files"):
                read()
        assert_same(tensorkeep.load_tensor(tmp_path / name, "w"), WEIGHTS.array, name)
        tensorkeep.save_checkpoint(tmp_path / name, {"w": OTHER.array})
        assert_same(tensorkeep.load_tensor(tmp_path / name, "w"), OTHER.array, name)

    @pytest.mark.parametrize("name", ["a*b", "a?b", "{a}", "a]", "a b", "ä", "'a\"", "a:b"])
    def test_that_both_find_again(self, tmp_path, name):
        save_v2(tmp_path / name, whole({"w": WEIGHTS}))
        for load in (tensorkeep.load_tensor, get_tensor):
            assert_same(load(tmp_path / name, "w"), WEIGHTS.array, name)

    @pytest.mark.parametrize("name", ["a*", "a?"])
    def test_that_tensorflow_takes_for_patterns_of_the_old_format(self, tmp_path, name):
        save_slices(tmp_path / "ab", whole({"w": OTHER}))
        assert_same(get_tensor(tmp_path / name, "w"), OTHER.array, "found, though it is another file")
        with pytest.raises(MissingFileError):
            tensorkeep.load_tensor(tmp_path / name, "w")
        save_slices(tmp_path / name, whole({"w": WEIGHTS}))
        with pytest.raises(REFUSED, match="Incompatible tensor shapes detected for tensor w"):
            get_tensor(tmp_path / name, "w")
        assert_same(tensorkeep.load_tensor(tmp_path / name, "w"), WEIGHTS.array, name)

    def test_an_index_file_is_an_empty_checkpoint_to_tensorflow(self, tmp_path):
        save_v2(tmp_path / "model", whole({"w": WEIGHTS}))
        assert tf.train.list_variables(f"{tmp_path}/model.index") == []
        with pytest.warns(UserWarning, match="is one file of a checkpoint"):
            found = tensorkeep.list_tensors(tmp_path / "model.index")
        assert list(found) == ["w"]

    def test_more_than_one_missing_folder_stops_tensorflow(self, tmp_path):
        tensors = [WEIGHTS.theirs]
        with pytest.raises(tf.errors.NotFoundError):
            tf.raw_ops.SaveV2(
                prefix=f"{tmp_path}/a/b/theirs", tensor_names=["w"], shape_and_slices=[""], tensors=tensors
            )
        tensorkeep.save_checkpoint(tmp_path / "a/b/ours", {"w": WEIGHTS.array})
        assert_same(get_tensor(tmp_path / "a/b/ours", "w"), WEIGHTS.array, "ours")


class TestFolders:
    def test_that_were_moved_with_a_state_file_of_absolute_paths(self, tmp_path):
        save_v2(tmp_path / "old/model-1", whole({"w": WEIGHTS}))
        tf.compat.v1.train.update_checkpoint_state(f"{tmp_path}/old", f"{tmp_path}/old/model-1")
        (tmp_path / "old").rename(tmp_path / "new")
        assert tf.train.latest_checkpoint(f"{tmp_path}/new") is None
        assert tensorkeep.latest_checkpoint(tmp_path / "new") == f"{tmp_path}/new/model-1"

    def test_without_a_state_file(self, tmp_path):
        save_v2(tmp_path / "model-1", whole({"w": WEIGHTS}))
        assert tf.train.latest_checkpoint(str(tmp_path)) is None
        assert tensorkeep.latest_checkpoint(tmp_path) == f"{tmp_path}/model-1"

    def test_with_a_state_file_that_is_damaged(self, tmp_path):
        (tmp_path / "checkpoint").write_text('model_checkpoint_path: "model')
        assert tf.train.latest_checkpoint(str(tmp_path)) is None
        with pytest.raises(DataLossError):
            tensorkeep.latest_checkpoint(tmp_path)


class TestMerging:
    @pytest.mark.parametrize("order", ["ab", "ba", "a"])
    def test_into_an_input_loses_the_index_in_tensorflow(self, tmp_path, order):
        for who, merge in (("theirs", merge_v2), ("ours", merge_bundles)):
            save_v2(tmp_path / who / "a", whole({"w": WEIGHTS}))
            save_v2(tmp_path / who / "b", whole({"v": OTHER}))
            merge([tmp_path / who / name for name in order], tmp_path / who / "a")
        assert not (tmp_path / "theirs/a.index").exists()
        found = tensorkeep.load_tensors(tmp_path / "ours/a")
        assert_same(found["w"], WEIGHTS.array, order)
        if "b" in order:
            assert_same(found["v"], OTHER.array, order)
            assert_same(get_tensor(tmp_path / "ours/a", "v"), OTHER.array, order)
        count = len(order)
        names = {"a.index", *(f"a.data-{number:05d}-of-{count:05d}" for number in range(count))}
        kept = set() if "b" in order else {"b.index", "b.data-00000-of-00001"}
        assert {path.name for path in (tmp_path / "ours").iterdir()} == names | kept

    @pytest.mark.parametrize("order", ["ea", "ae", "aeb"])
    def test_with_an_input_without_tensors_is_unreadable_in_tensorflow(self, tmp_path, order):
        """It counts all data files in the header, but names them by the number of those that hold a tensor."""
        for who, merge in (("theirs", merge_v2), ("ours", merge_bundles)):
            save_v2(tmp_path / who / "a", whole({"w": WEIGHTS}))
            save_v2(tmp_path / who / "b", whole({"v": OTHER}))
            BundleWriter(tmp_path / who / "e").commit()
            merge([tmp_path / who / name for name in order], tmp_path / who / "model")
        count = len(order)
        assert f".data-00000-of-{count - 1:05d}" in files(tmp_path / "theirs/model")
        with pytest.raises(tf.errors.OpError, match=rf"model\.data-0000.-of-{count:05d}; No such file"):
            get_tensor(tmp_path / "theirs/model", "w")
        for load in (tensorkeep.load_tensor, get_tensor):
            assert_same(load(tmp_path / "ours/model", "w"), WEIGHTS.array, order)

    def test_with_a_data_file_without_tensors_is_unreadable_in_tensorflow(self, tmp_path):
        for who, merge in (("theirs", merge_v2), ("ours", merge_bundles)):
            with BundleWriter(tmp_path / who / "a") as writer:
                writer.reserve(0, shard=0)
                writer.add("w", WEIGHTS.array, shard=1)
            save_v2(tmp_path / who / "b", whole({"v": OTHER}))
            merge([tmp_path / who / name for name in "ab"], tmp_path / who / "model")
        with pytest.raises(tf.errors.OpError, match=r"model\.data-0000.-of-00003; No such file"):
            get_tensor(tmp_path / "theirs/model", "w")
        for load in (tensorkeep.load_tensor, get_tensor):
            assert_same(load(tmp_path / "ours/model", "w"), WEIGHTS.array, "w")

    def test_of_nothing_but_inputs_without_tensors(self, tmp_path):
        for who, merge in (("theirs", merge_v2), ("ours", merge_bundles)):
            BundleWriter(tmp_path / who / "e").commit()
            merge([tmp_path / who / "e"], tmp_path / who / "model")
            assert tensorkeep.list_tensors(tmp_path / who / "model") == {}
            assert tf.train.list_variables(f"{tmp_path}/{who}/model") == []
        assert files(tmp_path / "ours/model") == files(tmp_path / "theirs/model")

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            (whole({"w": WEIGHTS}), whole({"w": WEIGHTS})),
            (whole({"w": WEIGHTS}), whole({"w": OTHER})),
            (whole({"w": WEIGHTS}), in_parts("w", WEIGHTS, [UPPER])),
            (in_parts("w", WEIGHTS, [UPPER]), whole({"w": WEIGHTS})),
            (in_parts("w", WEIGHTS, [UPPER]), in_parts("w", WEIGHTS, [UPPER])),
            (in_parts("w", WEIGHTS, [UPPER, LOWER]), in_parts("w", WEIGHTS, [LOWER])),
        ],
        ids=["twice", "other shape", "whole and slice", "slice and whole", "slice twice", "slices and slice"],
    )
    def test_what_holds_a_tensor_twice_is_refused_by_both(self, tmp_path, first, second):
        save_v2(tmp_path / "a", [*first, *whole({"x": OTHER})])
        save_v2(tmp_path / "b", [*second, *whole({"y": OTHER})])
        before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        prefixes = [tmp_path / "a", tmp_path / "b"]
        with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.InternalError), match="Duplicate tensor"):
            merge_v2(prefixes, tmp_path / "model")
        with pytest.raises(InvalidArgumentError, match="earlier"):
            merge_bundles(prefixes, tmp_path / "model")
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before

    def test_a_checkpoint_with_itself_is_refused_by_both(self, tmp_path):
        save_v2(tmp_path / "a", whole({"w": WEIGHTS}))
        with pytest.raises(tf.errors.InvalidArgumentError, match="Duplicate tensor"):
            merge_v2([tmp_path / "a"] * 2, tmp_path / "model")
        with pytest.raises(InvalidArgumentError, match="with itself"):
            merge_bundles([tmp_path / "a"] * 2, tmp_path / "model")

    def test_what_is_missing_is_refused_by_both(self, tmp_path):
        save_v2(tmp_path / "a", whole({"w": WEIGHTS}))
        prefixes = [tmp_path / "a", tmp_path / "b"]
        with pytest.raises(tf.errors.InvalidArgumentError, match="b did not exist"):
            merge_v2(prefixes, tmp_path / "model")
        with pytest.raises(MissingFileError, match=r"b\.index"):
            merge_bundles(prefixes, tmp_path / "model")
        for gone in ([], prefixes[1:]):
            with pytest.raises(tf.errors.InvalidArgumentError, match="At least one prefix checkpoint file must exist"):
                merge_v2(gone, tmp_path / "model", allow_missing_files=True)
            with pytest.raises((MissingFileError, InvalidArgumentError)):
                merge_bundles(gone, tmp_path / "model", allow_missing=True)
        assert list(files(tmp_path / "a")) == [".data-00000-of-00001", ".index"]

    def test_slices_that_overlap_pass_theirs_and_are_noticed_when_they_are_read(self, tmp_path):
        for who in ("theirs", "ours"):
            save_v2(tmp_path / who / "a", in_parts("w", WEIGHTS, [UPPER]))
            save_v2(tmp_path / who / "b", in_parts("w", WEIGHTS, [TensorSlice.parse("1,3:-")]))
        merge_v2([tmp_path / "theirs/a", tmp_path / "theirs/b"], tmp_path / "theirs/model")
        with pytest.raises(tf.errors.OpError, match="Overlapping slices"):
            get_tensor(tmp_path / "theirs/model", "w")
        with pytest.raises(DataLossError, match="overlap"):
            tensorkeep.load_tensor(tmp_path / "theirs/model", "w")
        with pytest.raises(InvalidArgumentError, match="overlap"):
            merge_bundles([tmp_path / "ours/a", tmp_path / "ours/b"], tmp_path / "ours/model")
        assert list(files(tmp_path / "ours/a")) == [".data-00000-of-00001", ".index"]

    def test_slices_of_other_shapes_or_types_stops_the_process_of_tensorflow(self, tmp_path):
        others = {
            "shape": Tensor(FLOAT, np.zeros((5, 3), np.float32)),
            "type": Tensor(DType.of("float64"), np.zeros((4, 3))),
        }
        running = []
        for what, other in others.items():
            save_v2(tmp_path / what / "a", in_parts("w", WEIGHTS, [UPPER]))
            save_v2(tmp_path / what / "b", in_parts("w", other, [LOWER]))
            prefixes = [f"{tmp_path}/{what}/{name}" for name in "ab"]
            with pytest.raises(InvalidArgumentError, match="earlier"):
                merge_bundles(prefixes, f"{tmp_path}/{what}/ours")
            program = (
                "import tensorflow as tf; tf.raw_ops.MergeV2Checkpoints("
                f"checkpoint_prefixes={prefixes}, destination_prefix='{tmp_path}/{what}/theirs')"
            )
            running.append(subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True))
        for process in running:
            _, errors = process.communicate()
            assert process.returncode < 0, "killed by a signal"
            assert "Check failed: " in errors


class TestWritingWhatNobodyCouldRead:
    def refuses(self, write: Callable[[Path], None], folder: Path) -> None:
        with pytest.raises(InvalidArgumentError):
            write(folder / "ours")
        assert files(folder / "ours") == {}

    def test_a_tensor_twice_in_the_old_format(self, tmp_path):
        save_slices(tmp_path / "theirs", [*whole({"w": WEIGHTS}), *whole({"w": WEIGHTS})])
        with pytest.raises(REFUSED, match="Overlapping slices"):
            get_tensor(tmp_path / "theirs", "w")

        def write(path: Path) -> None:
            with SliceFileWriter(path) as writer:
                writer.add("w", WEIGHTS.array)
                writer.add("w", WEIGHTS.array)

        self.refuses(write, tmp_path)

    @pytest.mark.parametrize("spellings", [("0,2:0,3", "0,2:-"), ("-:-", "0,4:0,3"), ("0,3:-", "2,2:-")])
    def test_slices_that_overlap(self, tmp_path, spellings):
        """The same slice spelled in two ways is two slices to TensorFlow, which it then finds to overlap."""
        parts = [TensorSlice.parse(spelling) for spelling in spellings]
        pieces = in_parts("w", WEIGHTS, parts)
        save_slices(tmp_path / "theirs-v1", pieces)
        with pytest.raises(REFUSED, match="Overlapping slices"):
            get_tensor(tmp_path / "theirs-v1", "w")
        if not parts[0].is_whole((4, 3)):
            save_v2(tmp_path / "theirs-v2", pieces)
            with pytest.raises(REFUSED, match="Overlapping slices"):
                get_tensor(tmp_path / "theirs-v2", "w")
        else:
            with pytest.raises(tf.errors.InvalidArgumentError, match="duplicate key"):
                save_v2(tmp_path / "theirs-v2", pieces)
        for make in (SliceFileWriter, BundleWriter):

            def write(path: Path, make: Callable[..., Any] = make) -> None:
                with make(path) as writer:
                    for part in parts:
                        writer.add_slice("w", (4, 3), part, WEIGHTS.part(part).array)

            self.refuses(write, tmp_path)

    def test_a_tensor_whole_and_then_a_slice_of_it(self, tmp_path):
        save_v2(tmp_path / "theirs", [*whole({"w": WEIGHTS}), *in_parts("w", WEIGHTS, [UPPER])])
        with pytest.raises(REFUSED, match="Does not have sufficient slices"):
            get_tensor(tmp_path / "theirs", "w")
        with pytest.raises(DataLossError):
            tensorkeep.load_tensor(tmp_path / "theirs", "w")

        def write(path: Path) -> None:
            with BundleWriter(path) as writer:
                writer.add("w", WEIGHTS.array)
                writer.add_slice("w", (4, 3), UPPER, WEIGHTS.part(UPPER).array)

        self.refuses(write, tmp_path)

    def test_a_tensor_twice_which_tensorflow_refuses_too(self, tmp_path):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Adding duplicate key: w"):
            save_v2(tmp_path / "theirs", [*whole({"w": WEIGHTS}), *whole({"w": OTHER})])

        def write(path: Path) -> None:
            with BundleWriter(path) as writer:
                writer.add("w", WEIGHTS.array)
                writer.add("w", OTHER.array)

        self.refuses(write, tmp_path)

    @pytest.mark.parametrize("missing", [UPPER, LOWER])
    def test_slices_that_leave_a_gap_which_only_reading_shows(self, tmp_path, missing):
        kept = LOWER if missing is UPPER else UPPER
        save_v2(tmp_path / "model", in_parts("w", WEIGHTS, [kept]))
        with pytest.raises(REFUSED, match="Does not have sufficient slices"):
            get_tensor(tmp_path / "model", "w")
        with pytest.raises(DataLossError, match="hold 6 of the 12 elements"):
            tensorkeep.load_tensor(tmp_path / "model", "w")
        assert_same(tensorkeep.load_tensor(tmp_path / "model", "w", kept), WEIGHTS.part(kept).array, kept)


def test_bits_above_those_of_a_narrow_type_are_dropped_when_we_write(tmp_path):
    """TensorFlow writes an int4 tensor's bytes as they lie in memory; where it made them, the upper bits are zero."""
    raw = np.uint8([0x0F, 0xF1, 0x7F, 0x80])
    dirty = Tensor(DType.of("int4"), raw.view(DType.of("int4").array_dtype))
    save_v2(tmp_path / "theirs", whole({"w": dirty}))
    tensorkeep.save_checkpoint(tmp_path / "ours", {"w": dirty.array})
    assert (tmp_path / "theirs.data-00000-of-00001").read_bytes() == raw.tobytes()
    assert (tmp_path / "ours.data-00000-of-00001").read_bytes() == (raw & 0x0F).tobytes()
    for name in ("theirs", "ours"):
        assert tensorkeep.load_tensor(tmp_path / name, "w").astype(int).tolist() == [-1, 1, -1, 0]
