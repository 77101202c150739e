"""Every format under the one suite, and how formats are found."""

from __future__ import annotations

import numpy as np
import pytest

from tensorkeep.convert.checkpoints import BUNDLE, SLICE_FILE
from tensorkeep.convert.converting import ConvertOptions
from tensorkeep.convert.formats import FORMATS, format_named, format_of_source, format_of_target
from tensorkeep.convert.graphs import FROZEN_GRAPH, SAVED_MODEL
from tensorkeep.convert.hdf5 import HDF5
from tensorkeep.convert.hub import TensorFormat
from tensorkeep.convert.npz import NPZ
from tensorkeep.convert.parquet import PARQUET
from tensorkeep.convert.pytorch import PYTORCH
from tensorkeep.convert.safetensors import SAFETENSORS
from tensorkeep.dtypes import STRING, DType
from tensorkeep.errors import InvalidArgumentError, MissingFileError, NotFoundError
from tensorkeep.io.memory import MemoryFileSystem
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
    file = fs.create("d/x.npz")
    file.write(b"hello, this is text" * 10)
    file.close()
    with pytest.raises(InvalidArgumentError, match="none of the formats"):
        format_of_source("d/x.npz", fs)


def test_a_source_is_told_by_its_contents_whatever_its_name() -> None:
    fs = MemoryFileSystem()
    for item in (SAFETENSORS, PYTORCH, NPZ, HDF5):
        suite = type("Suite", (TensorFormatConformance,), {"format": item, "path": f"d/{item.name}.dat"})()
        suite.write(fs, {"x": (DType.of("float32"), np.ones(3, np.float32))})
        assert format_of_source(suite.path, fs) is item
