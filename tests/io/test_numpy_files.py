"""NumPy's files: arrays are read, pickles are refused unless they are allowed."""

from __future__ import annotations

import pickle
from io import BytesIO

import numpy as np
import pytest

from tensorkeep.errors import DataLossError, MissingFileError
from tensorkeep.io.memory import MemoryFileSystem
from tensorkeep.io.numpy_files import PickleRefusedError, encode_npy, read_numpy_file, write_npy, write_npz


def stored(data: bytes) -> MemoryFileSystem:
    fs = MemoryFileSystem()
    file = fs.create("x")
    file.write(data)
    file.close()
    return fs


def npz(**arrays: np.ndarray) -> bytes:
    target = BytesIO()
    np.savez(target, **arrays)
    return target.getvalue()


class Bomb:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was run",))


def test_an_array_comes_back():
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    fs = MemoryFileSystem()
    write_npy("x", array, fs)
    assert np.array_equal(read_numpy_file("x", fs), array)


def test_an_archive_gives_its_arrays_by_name():
    found = read_numpy_file("x", stored(npz(a=np.ones(2), b=np.zeros(3))))
    assert sorted(found) == ["a", "b"]
    assert np.array_equal(found["b"], np.zeros(3))


@pytest.mark.parametrize(
    "data",
    [pickle.dumps(Bomb()), encode_npy(np.array([Bomb()], object)), npz(a=np.array([Bomb()], object)), b"hello", b""],
    ids=["pickle", "npy", "npz", "text", "empty"],
)
def test_a_pickle_is_refused_without_being_run(data):
    with pytest.raises(PickleRefusedError, match="pickle"):
        read_numpy_file("x", stored(data))


def test_a_pickle_is_loaded_if_that_is_allowed():
    assert read_numpy_file("x", stored(pickle.dumps({"a": 1})), allow_pickle=True) == {"a": 1}
    strings = np.array([b"red", b""], object)
    assert read_numpy_file("x", stored(encode_npy(strings)), allow_pickle=True).tolist() == [b"red", b""]


@pytest.mark.parametrize("cut", [7, 20, 60, 130])
def test_a_file_that_breaks_off_is_damaged(cut):
    with pytest.raises(DataLossError, match="damaged"):
        read_numpy_file("x", stored(encode_npy(np.ones(4))[:cut]))
    with pytest.raises(DataLossError, match="damaged"):
        read_numpy_file("x", stored(npz(a=np.ones(4))[:cut]))


def test_a_file_that_is_not_there_is_missing():
    with pytest.raises(MissingFileError):
        read_numpy_file("y", MemoryFileSystem())


def test_an_npz_file_takes_any_names() -> None:
    fs = MemoryFileSystem()
    arrays = {"file": np.arange(3), "allow_pickle": np.ones((2, 2), np.float32), "a/b": np.array(b"x")}
    write_npz("several.npz", arrays, fs)
    found = read_numpy_file("several.npz", fs)
    assert list(found) == list(arrays)
    assert all(np.array_equal(found[name], arrays[name]) for name in arrays)
