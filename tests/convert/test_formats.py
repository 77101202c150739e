"""Every format under the one suite, and how formats are found."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tensorkeep.checkpoint.saving import save_checkpoint
from tensorkeep.convert import convert, open_tensors
from tensorkeep.convert.checkpoints import BUNDLE, SLICE_FILE
from tensorkeep.convert.converting import ConvertOptions
from tensorkeep.convert.formats import FORMATS, format_named, format_of_source, format_of_target
from tensorkeep.convert.graphs import FROZEN_GRAPH, SAVED_MODEL
from tensorkeep.convert.hdf5 import HDF5
from tensorkeep.convert.hub import TensorFormat
from tensorkeep.convert.keras_shards import KERAS_SHARDS
from tensorkeep.convert.npz import NPZ
from tensorkeep.convert.parquet import PARQUET
from tensorkeep.convert.pytorch import PYTORCH
from tensorkeep.convert.safetensors import SAFETENSORS
from tensorkeep.dtypes import STRING, DType
from tensorkeep.errors import DataLossError, InvalidArgumentError, MissingFileError, NotFoundError
from tensorkeep.io.files.filesystem import atomic_write
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.testing.conformance import TensorFormatConformance
from tensorkeep.testing.strategies import STORABLE

PLAIN = [
    DType.of(name)
    for name in (
        *("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"),
        *("float16", "float32", "float64", "complex64"),
    )
]
COMPLEX128 = DType.of("complex128")
HALVES = [DType.of(name) for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz")]


class TestSafetensors(TensorFormatConformance):
    format, path, held = SAFETENSORS, "out/x.safetensors", (*PLAIN, *HALVES)


class TestSafetensorsInSeveralFiles(TensorFormatConformance):
    format, path, held = SAFETENSORS, "out/x.safetensors", (*PLAIN, *HALVES)

    def options(self) -> ConvertOptions:
        return ConvertOptions(to=self.format.name, shard_bytes=16)


class TestPyTorch(TensorFormatConformance):
    format, path, held = PYTORCH, "out/x.pt", (*PLAIN, COMPLEX128, *HALVES)


class TestNpz(TensorFormatConformance):
    format, path, held = NPZ, "out/x.npz", (*PLAIN, COMPLEX128)


class TestHdf5(TensorFormatConformance):
    format, path, held = HDF5, "out/x.h5", (*PLAIN, COMPLEX128, STRING)
    flips_bits = False

    def arrays(self, dtype):  # type: ignore[no-untyped-def]
        found = super().arrays(dtype)
        if dtype is not STRING:
            return found
        return found.filter(lambda array: all(b"\0" not in _bytes(item) for item in array.reshape(-1)))


class TestV2(TensorFormatConformance):
    format, path, held = BUNDLE, "out/x.ckpt", STORABLE


class TestV1(TensorFormatConformance):
    format, path = SLICE_FILE, "out/x"
    held = tuple(
        DType.of(name)
        for name in (
            *("float32", "float64", "int32", "int16", "int8", "int64", "qint8", "qint32", "uint8", "quint8"),
            *("uint16", "float16", "bool", "complex64", "complex128", "string"),
        )
    )


def _bytes(item: object) -> bytes:
    return item.encode() if isinstance(item, str) else bytes(item)  # type: ignore[call-overload,no-any-return]


def test_every_format_that_tensors_are_written_to_is_tested_here() -> None:
    tested = {item.format for item in globals().values() if isinstance(item, type) and hasattr(item, "held")}
    assert {item for item in FORMATS if isinstance(item, TensorFormat)} == tested


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a/model.safetensors", SAFETENSORS),
        ("a/model.SafeTensors", SAFETENSORS),
        ("a/model.safetensors.index.json", SAFETENSORS),
        ("m.pt", PYTORCH),
        ("m.pth", PYTORCH),
        ("pytorch_model.bin", PYTORCH),
        ("m.npz", NPZ),
        ("m.h5", HDF5),
        ("m.weights.h5", HDF5),
        ("m.weights.json", KERAS_SHARDS),
        ("m.parquet", PARQUET),
        ("m.pb", FROZEN_GRAPH),
        ("m.pbtxt", FROZEN_GRAPH),
        ("export/1/", SAVED_MODEL),
        ("run/model.ckpt", BUNDLE),
        ("run/model.ckpt-1000", BUNDLE),
        ("run/model-1000", BUNDLE),
        ("run.2/model", BUNDLE),
        ("run/model.index", BUNDLE),
    ],
)
def test_the_end_of_a_name_says_what_a_target_shall_be(path: str, expected: object) -> None:
    assert format_of_target(path) is expected


def test_a_misspelled_end_is_not_taken_for_a_checkpoint() -> None:
    with pytest.raises(InvalidArgumentError, match=r"x\.safetensor\" does not say .*\.safetensors \(safetensors\)"):
        format_of_target("x.safetensor")


def test_a_format_is_found_by_its_name_and_others_are_listed() -> None:
    assert format_named("checkpoint-v1") is SLICE_FILE
    with pytest.raises(NotFoundError, match="there are safetensors, pytorch, npz"):
        format_named("gguf")


def test_what_is_not_there_and_what_is_nothing_known_are_different_errors() -> None:
    fs = MemoryFileSystem()
    fs.make_directory("d")
    with pytest.raises(MissingFileError, match=r'nothing at "d/x\.npz"'):
        format_of_source("d/x.npz", fs)
    atomic_write(fs, "d/x.dat", b"hello, this is text" * 10)
    with pytest.raises(InvalidArgumentError, match="none of the formats"):
        format_of_source("d/x.dat", fs)


@pytest.mark.parametrize("item", [SAFETENSORS, NPZ, HDF5, PYTORCH], ids=lambda item: item.name)
def test_a_file_that_is_only_called_like_one_of_a_format_is_told_to_be_none(item: TensorFormat) -> None:
    fs = MemoryFileSystem()
    fs.make_directory("d")
    path = f"d/x{item.endings[0]}"
    atomic_write(fs, path, b"hello, this is text" * 10)
    with pytest.raises(DataLossError, match=re.escape(path)):
        open_tensors(path, fs=fs)


def test_a_source_is_told_by_its_contents_whatever_its_name() -> None:
    fs = MemoryFileSystem()
    for item in (SAFETENSORS, PYTORCH, NPZ, HDF5):
        suite = type("Suite", (TensorFormatConformance,), {"format": item, "path": f"d/{item.name}.dat"})()
        suite.write(fs, {"x": (DType.of("float32"), np.ones(3, np.float32))})
        assert format_of_source(suite.path, fs) is item


@pytest.mark.parametrize("format", [SAFETENSORS, NPZ, HDF5, PYTORCH], ids=lambda item: item.name)
def test_a_name_that_is_no_text_is_refused_before_anything_is_written(format: TensorFormat) -> None:
    fs = MemoryFileSystem()
    save_checkpoint("in/m", {b"caf\xe9".decode("utf-8", "surrogateescape"): np.ones(2)}, fs=fs)
    with pytest.raises(InvalidArgumentError, match="bytes that are no text"):
        convert("in/m", f"out/x{format.endings[0]}", fs=fs)
    assert not fs.exists("out")


def test_a_name_that_is_too_long_for_an_archive_is_refused() -> None:
    fs = MemoryFileSystem()
    save_checkpoint("in/m", {"x" * 70_000: np.ones(2)}, fs=fs)
    with pytest.raises(InvalidArgumentError, match="too long"):
        convert("in/m", "out/x.npz", fs=fs)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(3000, dtype=np.float32),
        np.asfortranarray(np.arange(3000.0).reshape(30, 100)),
        np.arange(3000, dtype=">i4"),
        np.arange(3000).astype(">c8"),
    ],
)
def test_damage_in_an_archive_of_arrays_is_found(tmp_path: Path, array: np.ndarray) -> None:
    path = tmp_path / "m.npz"
    np.savez(path, w=array)
    with open_tensors(path) as tensors:
        assert tensors.read("w").tolist() == array.tolist()
        chunks = np.concatenate([np.ravel(chunk) for chunk in tensors.source("w").chunks])
        assert chunks.tolist() == array.ravel().tolist()
    data = bytearray(path.read_bytes())
    data[-2000] ^= 1
    path.write_bytes(data)
    with open_tensors(path) as tensors:
        with pytest.raises(DataLossError, match=r'the checksum of "w.npy" is .*: the file is damaged'):
            tensors.read("w")
        with pytest.raises(DataLossError, match=r'the checksum of "w.npy" is .*: the file is damaged'):
            list(tensors.source("w").chunks)


@pytest.mark.parametrize("ending", [".npz", ".safetensors", ".h5", ".pt"])
def test_a_file_that_was_cut_short_is_told_to_be_damaged_by_its_format(tmp_path: Path, ending: str) -> None:
    target = str(tmp_path / f"m{ending}")
    save_checkpoint(str(tmp_path / "m"), {"w": np.ones(100, np.float32)})
    convert(str(tmp_path / "m"), target)
    Path(target).write_bytes(Path(target).read_bytes()[:60])
    with pytest.raises(DataLossError):
        open_tensors(target)
