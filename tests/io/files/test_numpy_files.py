"""NumPy's files: arrays are read, pickles are refused unless they are allowed."""

from __future__ import annotations

import pickle
from io import BytesIO

import numpy as np
import pytest

from tensorkeep.errors import DataLossError, MissingFileError, ResourceExhaustedError
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.io.files.numpy_files import PickleRefusedError, encode_npy, read_numpy_file, write_npy, write_npz


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


HEADER = "{'descr': '<f8', 'fortran_order': False, 'shape': %s, }\n"


def npy(header: str) -> bytes:
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(8)


@pytest.mark.parametrize(
    "header",
    [
        HEADER % "(True,)",
        HEADER % "(1, ",
        "{" + "(" * 5000,
        HEADER % "(2**60,)",
        HEADER % f"({2**62}, {2**62})",
        "\0" * 90,
    ],
    ids=["bool", "broken off", "deep", "expression", "huge", "zeros"],
)
def test_a_header_that_makes_no_sense_is_damage(header: str) -> None:
    with pytest.raises(DataLossError, match="damaged"):
        read_numpy_file("x", stored(npy(header)))


def test_a_packed_array_that_cannot_be_unpacked_is_damage() -> None:
    target = BytesIO()
    np.savez_compressed(target, a=np.arange(1000))
    data = bytearray(target.getvalue())
    data[60:90] = b"\xff" * 30
    with pytest.raises(DataLossError, match="damaged"):
        read_numpy_file("x", stored(bytes(data)))


def test_an_archive_that_unpacks_to_more_than_there_is_memory_for_is_not_unpacked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    target = BytesIO()
    np.savez_compressed(target, a=np.zeros(1 << 20))
    monkeypatch.setattr("tensorkeep.io.files.numpy_files.available_memory", lambda: 1 << 20)
    with pytest.raises(ResourceExhaustedError, match="no memory"):
        read_numpy_file("x", stored(target.getvalue()))
