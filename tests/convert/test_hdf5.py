"""HDF5: plain datasets, Keras layouts, and files that lead elsewhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

from tensorkeep.checkpoint.saving import save_checkpoint
from tensorkeep.convert import ConvertOptions, convert, open_tensors
from tensorkeep.edit import Selection
from tensorkeep.errors import DataLossError, InvalidArgumentError, UnimplementedError
from tensorkeep.io.files.memory import MemoryFileSystem

TENSORS = {
    "dense/kernel": np.arange(6, dtype=np.float32).reshape(2, 3),
    "dense/bias": np.float16([1, 2, 3]),
    "flags": np.array([True, False]),
    "step": np.int64(7),
    "vocabulary": np.array([b"a", "ä".encode(), b""], object),
}


def test_h5py_reads_what_is_written(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "m", TENSORS)
    convert(tmp_path / "m", tmp_path / "x.h5", options=ConvertOptions(prove=True))
    with h5py.File(tmp_path / "x.h5") as found:
        np.testing.assert_array_equal(found["dense/kernel"][()], TENSORS["dense/kernel"])
        assert found["dense/kernel"].dtype == np.float32
        assert found["flags"].dtype == np.bool_
        assert found["step"].shape == ()
        assert found["vocabulary"][()].tolist() == [b"a", "ä".encode(), b""]
    assert sorted(path.name for path in tmp_path.glob("x*")) == ["x.h5", "x.h5.proof.json"]


def test_large_tensors_go_through_in_pieces(tmp_path: Path) -> None:
    array = np.arange(9 << 20, dtype=np.float32).reshape(-1, 1024)
    save_checkpoint(tmp_path / "m", {"x": array})
    told: list[int] = []
    options = ConvertOptions(progress=lambda done, total: told.append(done))
    convert(tmp_path / "m", tmp_path / "x.h5", options=options)
    assert len(told) == 36
    assert told[-1] == array.nbytes
    convert(tmp_path / "x.h5", tmp_path / "n", options=ConvertOptions(prove=True))
    with h5py.File(tmp_path / "x.h5") as found:
        np.testing.assert_array_equal(found["x"][()], array)


def test_packed_and_cut_datasets_are_read(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("a/b", data=np.arange(1000).reshape(10, 100), chunks=(3, 7), compression="gzip")
        file.create_dataset("big", data=np.arange(5, dtype=">i4"))
        file.create_dataset("text", data=np.array([b"abc", b"d"], "S5"))
    with open_tensors(tmp_path / "x.h5") as found:
        assert sorted(found) == ["a/b", "big", "text"]
        np.testing.assert_array_equal(found.read("a/b", np.s_[2:4, 50:]), np.arange(1000).reshape(10, 100)[2:4, 50:])
        assert found.read("big").tolist() == [0, 1, 2, 3, 4]
        assert found.read("text").tolist() == [b"abc", b"d"]


@pytest.mark.parametrize("group", ["/", "model_weights"])
def test_weights_of_keras_before_3_have_the_names_of_their_variables(tmp_path: Path, group: str) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as file:
        root = file.require_group(group)
        root.attrs["layer_names"] = [b"dense", b"empty"]
        root.create_group("empty").attrs["weight_names"] = []
        layer = root.create_group("dense")
        layer.attrs["weight_names"] = [b"dense/kernel:0", b"dense/bias:0"]
        layer["dense/kernel:0"] = np.ones((2, 3), np.float32)
        layer["dense/bias:0"] = np.zeros(3, np.float32)
        if group != "/":
            file["optimizer_weights/m"] = np.zeros(3)
    with open_tensors(tmp_path / "x.h5") as found:
        assert {name: found[name].shape for name in found} == {"dense/kernel": (2, 3), "dense/bias": (3,)}


def test_weights_of_keras_3_have_the_paths_of_their_layers(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "m.weights.h5", "w") as file:
        file["layers/dense/vars/0"] = np.ones((2, 3), np.float32)
        file["layers/dense/vars/1"] = np.zeros(3, np.float32)
        file.create_group("optimizer/vars")
    with open_tensors(tmp_path / "m.weights.h5") as found:
        assert sorted(found) == ["layers/dense/vars/0", "layers/dense/vars/1"]


def test_names_that_hdf5_cannot_have_are_refused_with_all_others() -> None:
    fs = MemoryFileSystem()
    tensors = {"a": np.ones(1), "a/b": np.ones(1), "c//d": np.ones(1), "s": np.array([b"x\0y"], object)}
    save_checkpoint("in/m", tensors, fs=fs)
    with pytest.raises(InvalidArgumentError) as caught:
        convert("in/m", "out/x.h5", fs=fs)
    assert '"a/b" would lie in "a"' in str(caught.value)
    assert '"c//d" cannot be a path' in str(caught.value)
    assert '"s" has strings with zeros in them' in str(caught.value)


def test_a_tensor_of_more_dimensions_than_hdf5_has_is_refused_before_anything_is_written() -> None:
    fs = MemoryFileSystem()
    save_checkpoint("in/m", {"a": np.ones((1,) * 33)}, fs=fs)
    with pytest.raises(InvalidArgumentError, match=r'"a" has 33 dimensions, and HDF5 has 32 at most'):
        convert("in/m", "out/x.h5", fs=fs)


def test_what_is_no_tensor_is_named(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["pairs"] = np.zeros(2, [("a", "i4"), ("b", "f8")])
        file["nothing"] = h5py.Empty("f4")
        file["x"] = np.ones(2)
    with pytest.raises(InvalidArgumentError, match=r'"nothing" is no tensor.*"pairs" is no tensor'):
        convert(tmp_path / "x.h5", tmp_path / "y.npz")
    convert(tmp_path / "x.h5", tmp_path / "y.npz", options=ConvertOptions(only=Selection(["x"])))


def test_links_and_data_in_other_files_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(bytes(16))
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["out"] = h5py.ExternalLink("other.h5", "/x")
    with h5py.File(tmp_path / "b.h5", "w") as file:
        file.create_dataset("out", (2,), "f8", external=[(str(tmp_path / "secret"), 0, 16)])
    with h5py.File(tmp_path / "c.h5", "w") as file:
        layout = h5py.VirtualLayout((2,), "f8")
        layout[:] = h5py.VirtualSource(tmp_path / "other.h5", "x", (2,))
        file.create_virtual_dataset("out", layout)
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = np.ones(2)
    with h5py.File(tmp_path / "d.h5", "w") as file:
        file.attrs["layer_names"] = [b"dense"]
        file.create_group("dense").attrs["weight_names"] = [b"dense/kernel:0"]
        file["dense/dense/kernel:0"] = h5py.ExternalLink("other.h5", "/x")
    with h5py.File(tmp_path / "e.h5", "w") as file:
        file["model_weights"] = h5py.ExternalLink("d.h5", "/")
    links = [(name, "is a link to elsewhere") for name in "ade"]
    for name, message in (*links, ("b", "data in other files"), ("c", "data in other files")):
        with pytest.raises(DataLossError, match=message):
            open_tensors(tmp_path / f"{name}.h5")


def test_a_group_that_holds_itself_is_gone_into_once(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["g/x"] = np.ones(2)
        file["g/again"] = file["g"]
    with open_tensors(tmp_path / "x.h5") as found:
        assert list(found) == ["g/x"]


def test_a_dataset_of_which_nothing_is_stored_does_not_fill_the_disk(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("huge", (1 << 40,), "f8", chunks=(1024,))
    with pytest.raises(DataLossError, match=r"of shape \[1099511627776\] has only 0 bytes"):
        open_tensors(tmp_path / "x.h5")


def test_a_damaged_file_is_data_loss_and_a_missing_folder_is_made(tmp_path: Path) -> None:
    (tmp_path / "x.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    with pytest.raises(DataLossError, match="cannot be read as HDF5"):
        open_tensors(tmp_path / "x.h5")
    save_checkpoint(tmp_path / "m", {"x": np.ones(2)})
    convert(tmp_path / "m", tmp_path / "new/folder/x.h5")
    assert [path.name for path in (tmp_path / "new/folder").iterdir()] == ["x.h5"]


def test_without_h5py_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_checkpoint(tmp_path / "m", {"x": np.ones(2)})
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(UnimplementedError, match=r'pip install "tensorkeep\[convert\]"'):
        convert(tmp_path / "m", tmp_path / "x.h5")
    assert not (tmp_path / "x.h5").exists()


def test_h5py_is_imported_only_when_it_is_asked_for() -> None:
    program = "import sys, tensorkeep.convert; assert not {'h5py', 'pyarrow', 'torch'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_names_that_lie_in_tensors_are_told_once_with_the_remedy(tmp_path: Path) -> None:
    names = [f"d{at}/kernel" for at in range(9)]
    slots = [f"{name}/{slot}" for name in names for slot in ("Adam", "Adam_1")]
    save_checkpoint(tmp_path / "m", {name: np.ones(1, np.float32) for name in [*names, *slots]})
    with pytest.raises(InvalidArgumentError, match=r"and 17 more like it.*without-optimizer.*dots") as caught:
        convert(tmp_path / "m", tmp_path / "m.h5")
    assert len(str(caught.value)) < 500
    for preset, count in (("without-optimizer", 9), ("dots", 27)):
        assert len(convert(tmp_path / "m", tmp_path / f"{preset}.h5", [preset]).explanation.tensors) == count
