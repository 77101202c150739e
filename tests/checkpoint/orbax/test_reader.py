"""Checkpoints of Orbax: what it has written is read, what is damaged says so, and what is hostile takes no memory."""

from __future__ import annotations

import json
import pickle
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import tensorstore

import tensorkeep as tk
from tensorkeep import (
    DataLossError,
    FailedPreconditionError,
    MemoryFileSystem,
    NotFoundError,
    ReadOptions,
    ResourceExhaustedError,
    UnimplementedError,
    check_checkpoint,
    load_tensors,
    open_checkpoint,
)
from tensorkeep.checkpoint.layouts.table import layout_of
from tensorkeep.checkpoint.orbax import stores
from tensorkeep.checkpoint.orbax.reader import OrbaxReader
from tensorkeep.dtypes import STRING
from tensorkeep.io.files.local import LOCAL
from tests.checkpoint.crafting import put, same
from tests.checkpoint.orbax.fixtures import FIXTURES, expected

TREES = ["tree_ocdbt_zarr3", "tree_ocdbt_zarr2", "tree_files_zarr3", "tree_files_zarr2"]
ALL = [*TREES, "types_zarr3", "types_zarr2", "sharded", "sharded_in_chunks", "steps", "items"]
OF_TREES = pytest.mark.parametrize("name", TREES)


@pytest.fixture
def copied(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of the fixture that a test names, to be damaged."""
    target = tmp_path / request.param
    shutil.copytree(FIXTURES / request.param, target)
    return target


class TestWhatOrbaxHasWritten:
    @pytest.mark.parametrize("name", ALL)
    def test_every_array_has_its_values_type_and_shape(self, name: str) -> None:
        wanted = expected(name)
        found = load_tensors(FIXTURES / name)
        assert list(found) == sorted(wanted)
        for leaf, array in wanted.items():
            assert same(found[leaf], array), leaf

    @OF_TREES
    def test_what_has_no_value_is_told_and_not_listed(self, name: str) -> None:
        with open_checkpoint(FIXTURES / name) as reader:
            assert reader.format == "Orbax"
            assert "nothing" not in reader
            assert reader.remarks == (
                'leaves without a value are left out: "empty" (an empty dictionary), "no_items" (an empty list), '
                '"nothing" (None)',
            )

    @OF_TREES
    def test_text_is_a_string(self, name: str) -> None:
        with open_checkpoint(FIXTURES / name) as reader:
            assert reader["name"].dtype is STRING
            assert reader.read("name")[()].decode() == "adam, größer"

    def test_all_types_that_orbax_saves_are_among_the_fixtures(self) -> None:
        found = {*expected("types_zarr3"), *expected("types_zarr2")}
        assert {"bool", "bfloat16", "float8_e4m3fn", "int4", "complex64", "uint64", "float16"} <= found

    @pytest.mark.parametrize("name", ["sharded", "sharded_in_chunks"])
    def test_parts_and_rows_are_put_together_from_chunks(self, name: str) -> None:
        wanted = expected(name)["both"]
        with open_checkpoint(FIXTURES / name) as reader:
            assert same(reader.read("both", np.s_[3:13, 1:5]), wanted[3:13, 1:5])
            assert same(reader.read_rows("both", [15, 0, -1, 7]), wanted[[15, 0, -1, 7]])
            assert reader.read("both", np.s_[4:4, :]).shape == (0, 6)
            array = np.zeros((16, 6), np.float32)
            reader.read_into("both", array)
            assert same(array, wanted)

    def test_a_tensor_is_streamed_in_bands_of_whole_chunks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(stores, "_BAND", 100)
        wanted = expected("sharded")["both"]
        with open_checkpoint(FIXTURES / "sharded") as reader:
            chunks = [np.array(chunk) for chunk in reader.source("both").chunks]
            assert [len(chunk) for chunk in chunks] == [4, 4, 4, 4]  # one device in four has the same rows
            assert same(np.concatenate(chunks), wanted)

    def test_a_folder_of_steps_stands_for_its_latest_by_number(self) -> None:
        with open_checkpoint(FIXTURES / "steps") as reader:
            assert reader.path == str(FIXTURES / "steps/10")
        with open_checkpoint(FIXTURES / "steps/9") as reader:
            assert reader.read("w").tolist() == [9] * 4
        with open_checkpoint(FIXTURES / "steps/0/default") as reader:
            assert reader.read("w").tolist() == [0] * 4

    def test_a_step_that_is_being_written_is_passed_over(self, tmp_path: Path) -> None:
        shutil.copytree(FIXTURES / "steps", tmp_path / "steps")
        (tmp_path / "steps/10").rename(tmp_path / "steps/10.orbax-checkpoint-tmp-123")
        (tmp_path / "steps/11").mkdir()
        with open_checkpoint(tmp_path / "steps") as reader:
            assert reader.path == str(tmp_path / "steps/9")

    def test_several_items_go_by_their_names_and_others_are_told(self) -> None:
        with open_checkpoint(FIXTURES / "items") as reader:
            assert list(reader) == ["params/w", "state/count"]
            assert reader.remarks == ('items that are no trees of arrays are left out: "notes"',)

    def test_without_a_description_arrays_go_by_the_names_of_the_store(self, tmp_path: Path) -> None:
        for name in ("tree_ocdbt_zarr3", "tree_ocdbt_zarr2"):
            shutil.copytree(FIXTURES / name, tmp_path / name)
            (tmp_path / name / "_METADATA").unlink()
            with open_checkpoint(tmp_path / name) as reader:
                assert same(reader.read("params.dense.kernel"), expected(name)["params/dense/kernel"])
                assert 'no "_METADATA"' in reader.remarks[0]


class TestAsACheckpoint:
    def test_it_is_told_by_its_files(self) -> None:
        for path in (
            FIXTURES / "steps",
            FIXTURES / "steps/10",
            FIXTURES / "items/run_3",
            FIXTURES / "tree_files_zarr2",
        ):
            layout = layout_of(str(path), LOCAL)
            assert layout is not None
            assert layout.format == "Orbax"

    def test_other_folders_are_not_taken_for_it(self, tmp_path: Path) -> None:
        (tmp_path / "1" / "variables").mkdir(parents=True)
        (tmp_path / "2").mkdir()
        assert layout_of(str(tmp_path), LOCAL) is None
        tk.save_checkpoint(tmp_path / "1" / "variables" / "variables", {"x": np.ones(2)})
        assert layout_of(str(tmp_path), LOCAL) is None
        with pytest.raises(NotFoundError, match="holds no checkpoint"):
            open_checkpoint(tmp_path)

    def test_a_folder_of_tensorflow_stays_one_whatever_else_is_in_it(self, tmp_path: Path) -> None:
        shutil.copytree(FIXTURES / "steps/10", tmp_path / "10")
        tk.save_checkpoint(tmp_path / "model-1", {"x": np.ones(2)})
        tk.write_checkpoint_state(tmp_path, "model-1")
        with open_checkpoint(tmp_path) as reader:
            assert list(reader) == ["x"]

    def test_it_is_listed_with_files_and_remarks(self) -> None:
        listing = tk.inspect.list_checkpoint(FIXTURES / "items")
        assert listing.format == "Orbax"
        assert [(tensor.name, tensor.nbytes) for tensor in listing.tensors] == [("params/w", 12), ("state/count", 8)]
        assert all(size is not None for size in listing.files.values())
        assert {Path(path).name for path in listing.files} >= {"_METADATA", "manifest.ocdbt"}
        assert listing.remarks

    @OF_TREES
    def test_it_is_converted_to_a_checkpoint_of_tensorflow_and_to_others(self, name: str, tmp_path: Path) -> None:
        with pytest.warns(UserWarning, match=r'left out: .*"nothing" \(None\)'):
            tk.convert.convert(FIXTURES / name, tmp_path / "model.ckpt")
        found = load_tensors(tmp_path / "model.ckpt")
        wanted = expected(name)
        assert found.keys() == wanted.keys()
        assert all(same(found[leaf], array) for leaf, array in wanted.items())
        tk.convert.convert(FIXTURES / "steps", tmp_path / "w.safetensors")
        with tk.convert.open_tensors(tmp_path / "w.safetensors") as tensors:
            assert tensors.read("w").tolist() == [10] * 4

    def test_it_is_checked_from_end_to_end(self) -> None:
        report = check_checkpoint(FIXTURES / "sharded")
        assert report.is_intact
        assert report.intact == ("both", "columns", "replicated", "rows")

    def test_a_reader_is_pickled_and_refuses_another_checkpoint_in_its_place(self, tmp_path: Path) -> None:
        shutil.copytree(FIXTURES / "steps", tmp_path / "steps")
        with OrbaxReader(tmp_path / "steps", ReadOptions()) as reader:
            data = pickle.dumps(reader)
        with pickle.loads(data) as again:
            assert again.read("w").tolist() == [10] * 4
        shutil.rmtree(tmp_path / "steps/10")
        shutil.copytree(FIXTURES / "steps/9", tmp_path / "steps/10")
        with pytest.raises(FailedPreconditionError, match="was replaced"):
            pickle.loads(data)

    def test_a_closed_reader_reads_nothing(self) -> None:
        reader = open_checkpoint(FIXTURES / "steps")
        reader.close()
        with pytest.raises(FailedPreconditionError, match="is closed"):
            reader.read("w")

    def test_names_that_are_not_there_are_told_with_some_that_are(self) -> None:
        with open_checkpoint(FIXTURES / "items") as reader, pytest.raises(NotFoundError, match="params/w"):
            reader.read("w")

    def test_it_lies_in_local_files(self) -> None:
        fs = MemoryFileSystem()
        put(fs, "d/_METADATA", b'{"tree_metadata": {}}')
        with pytest.raises(UnimplementedError, match="from local files alone"):
            open_checkpoint("d", fs=fs)

    def test_without_tensorstore_the_error_names_the_extra(self) -> None:
        program = (
            "import sys; sys.modules['tensorstore'] = None\n"
            "import tensorkeep\n"
            "try: tensorkeep.open_checkpoint(sys.argv[1])\n"
            "except tensorkeep.errors.UnimplementedError as error: print(error)"
        )
        found = subprocess.run(
            [sys.executable, "-c", program, str(FIXTURES / "steps")], capture_output=True, text=True, check=True
        )
        assert 'pip install "tensorkeep[orbax]"' in found.stdout


class TestDamage:
    @pytest.mark.parametrize("copied", ["tree_files_zarr2", "tree_files_zarr3"], indirect=True)
    def test_a_chunk_that_should_be_there_and_is_not_is_an_error(self, copied: Path) -> None:
        chunk = next(
            path for path in (copied / "params.dense.kernel").rglob("*") if path.is_file() and "z" not in path.name
        )
        chunk.unlink()
        with open_checkpoint(copied) as reader:
            with pytest.raises(DataLossError, match='tensor "params/dense/kernel"'):
                reader.read("params/dense/kernel")
            assert reader.read("step") == 7  # what lies elsewhere is read all the same
        problems = check_checkpoint(copied).problems
        assert [problem.tensor for problem in problems] == ["params/dense/kernel"]

    @pytest.mark.parametrize("copied", TREES, indirect=True)
    def test_whatever_is_cut_off_or_flipped_nothing_but_our_errors_is_raised(self, copied: Path) -> None:
        wanted = expected(copied.name)
        files = [path for path in copied.rglob("*") if path.is_file()]
        for path in files:
            data = path.read_bytes()
            for damaged in (data[: len(data) // 2], data[:-1], b"", data[:5] + bytes([data[5] ^ 0x55]) + data[6:]):
                path.write_bytes(damaged)
                try:
                    found = load_tensors(copied)
                except tk.errors.TensorKeepError:
                    continue
                else:
                    assert found.keys() <= {*wanted, *(leaf.replace("/", ".") for leaf in wanted)}
            path.write_bytes(data)

    @pytest.mark.parametrize("copied", ["tree_ocdbt_zarr3"], indirect=True)
    @pytest.mark.parametrize(
        "metadata",
        [
            b"[]",
            b"{}",
            b"{",
            b"[" * 100_000,
            b'{"tree_metadata": []}',
            b'{"tree_metadata": {"x": 1}}',
            b'{"tree_metadata": {"x": {"key_metadata": [], "value_metadata": {"value_type": "x"}}}}',
            b'{"tree_metadata": {"x": {"key_metadata": [{"key": ".."}], "value_metadata": {"value_type": "x"}}}}',
        ],
    )
    def test_a_description_that_is_none_is_refused(self, copied: Path, metadata: bytes) -> None:
        (copied / "_METADATA").write_bytes(metadata)
        with pytest.raises(DataLossError, match="_METADATA"):
            open_checkpoint(copied)

    @pytest.mark.parametrize("copied", ["tree_ocdbt_zarr3"], indirect=True)
    def test_keys_that_lead_out_of_the_folder_lead_nowhere(self, copied: Path) -> None:
        leaf = {"key_metadata": [{"key": "../../secret"}], "value_metadata": {"value_type": "jax.Array"}}
        (copied / "_METADATA").write_text(json.dumps({"tree_metadata": {"x": leaf}}))
        with pytest.raises(DataLossError, match="_METADATA"):
            open_checkpoint(copied)

    @pytest.mark.parametrize("copied", ["tree_files_zarr2"], indirect=True)
    def test_two_leaves_of_one_name_are_refused(self, copied: Path) -> None:
        leaves = [["a/b"], ["a", "b"]]
        said = {
            str(keys): {"key_metadata": [{"key": key} for key in keys], "value_metadata": {"value_type": "jax.Array"}}
            for keys in leaves
        }
        (copied / "_METADATA").write_text(json.dumps({"tree_metadata": said}))
        with pytest.raises(DataLossError, match='"a/b"'):
            open_checkpoint(copied)

    @pytest.mark.parametrize("copied", ["tree_files_zarr2"], indirect=True)
    def test_text_that_is_missing_is_told(self, copied: Path) -> None:
        (copied / "_strings.json").unlink()
        with pytest.raises(DataLossError, match=r"_strings\.json"):
            open_checkpoint(copied)


def write_zarr(folder: Path, shape: list[int], chunks: list[int], values: npt.NDArray[Any] | None = None) -> None:
    """A tree of one array "x" as older versions wrote it: without the chunks that are nothing but fill values."""
    spec = {
        "driver": "zarr",
        "kvstore": {"driver": "file", "path": f"{folder}/x/"},
        "metadata": {"shape": shape, "chunks": chunks, "dtype": "<f4", "fill_value": 2.5, "compressor": None},
    }
    store = tensorstore.open(spec, create=True).result()
    if values is not None:
        store[: len(values)].write(values).result()
    leaf = {"key_metadata": [{"key": "x"}], "value_metadata": {"value_type": "jax.Array"}}
    (folder / "_METADATA").write_text(json.dumps({"tree_metadata": {"x": leaf}, "use_zarr3": False}))


class TestChunksThatWereLeftOut:
    def test_they_are_the_fill_value(self, tmp_path: Path) -> None:
        write_zarr(tmp_path, [6, 2], [2, 2], np.full((2, 2), 7, np.float32))
        with open_checkpoint(tmp_path) as reader:
            assert reader.read("x").tolist() == [[7, 7]] * 2 + [[2.5, 2.5]] * 4

    def test_more_of_them_than_there_is_memory_are_refused_before_they_are_made(self, tmp_path: Path) -> None:
        write_zarr(tmp_path, [1 << 44], [1 << 26])
        with open_checkpoint(tmp_path) as reader:
            assert reader["x"].shape == (1 << 44,)
            with pytest.raises(ResourceExhaustedError, match="does not fit in memory"):
                reader.read("x")
            assert reader.read("x", np.s_[5:8]).tolist() == [2.5] * 3

    def test_a_chunk_larger_than_memory_is_refused(self, tmp_path: Path) -> None:
        write_zarr(tmp_path, [4], [1 << 44])
        with open_checkpoint(tmp_path) as reader, pytest.raises(ResourceExhaustedError, match="a chunk takes"):
            reader.read("x")

    def test_more_chunks_than_any_array_has_are_refused(self, tmp_path: Path) -> None:
        write_zarr(tmp_path, [1 << 30], [1])
        with open_checkpoint(tmp_path) as reader, pytest.raises(DataLossError, match="more than any has"):
            reader.read("x")
