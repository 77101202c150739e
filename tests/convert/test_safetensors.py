"""safetensors: what its own library reads and writes, and headers that mean harm."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy
from safetensors import safe_open

from tensorkeep.checkpoint.saving import save_checkpoint
from tensorkeep.convert import ConvertOptions, convert, open_tensors
from tensorkeep.convert.safetensors import SAFETENSORS
from tensorkeep.errors import AlreadyExistsError, DataLossError, UnimplementedError
from tensorkeep.io.files.memory import MemoryFileSystem

TENSORS = {
    "b/float64": np.arange(3.0),
    "a/float32": np.arange(6, dtype=np.float32).reshape(2, 3),
    "bool": np.array([True, False, True]),
    "int8": np.int8([1, -1]),
    "scalar": np.array(7),
    "empty": np.zeros((0, 2), np.float16),
}


def test_its_own_library_reads_what_is_written(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "m", {**TENSORS, "bfloat16": np.ones(5, ml_dtypes.bfloat16)})
    convert(tmp_path / "m", tmp_path / "x.safetensors")
    found = safetensors.numpy.load_file(tmp_path / "x.safetensors")
    assert sorted(found) == sorted([*TENSORS, "bfloat16"])
    for name, array in TENSORS.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)
    assert found["bfloat16"].astype(float).tolist() == [1.0] * 5


def test_types_without_a_numpy_type_are_read_by_its_library_bit_by_bit(tmp_path: Path) -> None:
    bits = np.arange(256, dtype=np.uint8)
    kinds = {
        "F8_E4M3": ml_dtypes.float8_e4m3fn,
        "F8_E5M2": ml_dtypes.float8_e5m2,
        "F8_E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    }
    save_checkpoint(tmp_path / "m", {label: bits.view(kind) for label, kind in kinds.items()})
    convert(tmp_path / "m", tmp_path / "x.safetensors")
    found = dict(safetensors.deserialize((tmp_path / "x.safetensors").read_bytes()))
    assert {name: (item["dtype"], bytes(item["data"])) for name, item in found.items()} == {
        label: (label, bits.tobytes()) for label in kinds
    }


def test_what_its_own_library_writes_is_read(tmp_path: Path) -> None:
    safetensors.numpy.save_file(TENSORS, tmp_path / "x.safetensors", {"made by": "its library"})
    with open_tensors(tmp_path / "x.safetensors") as found:
        assert sorted(found) == sorted(TENSORS)
        for name, array in TENSORS.items():
            assert found[name].dtype == array.dtype
            np.testing.assert_array_equal(found.read(name), array)


def test_the_file_is_byte_for_byte_that_of_its_library(tmp_path: Path) -> None:
    tensors = {"b": np.arange(3.0), "a": np.arange(4, dtype=np.float32), "c": np.int8([1])}
    save_checkpoint(tmp_path / "m", tensors)
    convert(tmp_path / "m", tmp_path / "ours.safetensors")
    safetensors.numpy.save_file(tensors, tmp_path / "theirs.safetensors", {"format": "pt"})
    assert (tmp_path / "ours.safetensors").read_bytes() == (tmp_path / "theirs.safetensors").read_bytes()


def test_several_files_have_an_index_as_hugging_face_has_it(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "m", {f"t{number}": np.full(10, number, np.float32) for number in range(5)})
    done = convert(tmp_path / "m", tmp_path / "model.safetensors", options=ConvertOptions(shard_bytes=80, prove=True))
    assert sorted(path.name for path in tmp_path.glob("model*")) == [
        "model-00001-of-00003.safetensors",
        "model-00002-of-00003.safetensors",
        "model-00003-of-00003.safetensors",
        "model.safetensors.index.json",
        "model.safetensors.proof.json",
    ]
    index = json.loads((tmp_path / "model.safetensors.index.json").read_text())
    assert index["metadata"] == {"total_size": 200}
    for name, file in index["weight_map"].items():
        with safe_open(tmp_path / file, "numpy") as shard:
            assert shard.get_tensor(name).tolist() == [float(name[1])] * 10
    assert done.files[-1] == str(tmp_path / "model.safetensors.index.json")
    for path in (tmp_path, tmp_path / "model.safetensors", tmp_path / "model.safetensors.index.json"):
        with open_tensors(path) as found:
            assert len(found) == 5
    with pytest.raises(AlreadyExistsError):
        convert(tmp_path / "m", tmp_path / "model.safetensors")


def opened(data: bytes, name: str = "x.safetensors", **others: bytes) -> Any:
    fs = MemoryFileSystem()
    fs.make_directory("d")
    for path, content in {name: data, **others}.items():
        file = fs.create(f"d/{path}")
        file.write(content)
        file.close()
    return SAFETENSORS.open_source(f"d/{name}", fs)


def headed(header: Any, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def entry(begin: int = 0, end: int = 8, shape: Any = (2,), dtype: Any = "F32") -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "promise a header"),
        (b"\xff" * 8 + b"{}", "promise a header of 18446744073709551615"),
        ((50).to_bytes(8, "little") + b"{}", "promise a header of 50 bytes"),
        (headed(b"{"), "header cannot be read"),
        (headed(b"[]"), "its header is list"),
        (headed(b"\xff{}"), "header cannot be read"),
        (headed(b'{"a":' * 100_000 + b"1" + b"}" * 100_000), "header cannot be read"),
        (headed(b'{"x": {"dtype": "F32"}, "x": {"dtype": "F32"}}'), "stands in it twice"),
        (headed({"x": 3}), 'tensor "x" is described as 3'),
        (headed({"x": entry(dtype="F99")}, bytes(8)), 'of type "F99"; known are BOOL'),
        (headed({"x": entry(shape=[-2])}, bytes(8)), "is described as"),
        (headed({"x": entry(shape=[2.0])}, bytes(8)), "is described as"),
        (headed({"x": entry(shape=[True])}, bytes(8)), "is described as"),
        (headed({"x": entry(shape="2")}, bytes(8)), "is described as"),
        (headed({"x": entry(shape=[3])}, bytes(8)), r"has 8 bytes, expected those of float32 \[3\]"),
        (headed({"x": entry(shape=[1 << 62, 1 << 62])}, bytes(8)), "has 8 bytes"),
        (headed({"x": entry()}, bytes(7)), "but tensor"),
        (headed({"x": entry(8, 16)}, bytes(16)), "expected at"),
        (headed({"x": entry(), "y": entry(4, 12)}, bytes(12)), 'tensor "y" lies at'),
        (headed({"x": entry()}, bytes(9)), "its tensors end at byte"),
        (headed({"__metadata__": {"a": 3}, "x": entry()}, bytes(8)), "not text by name"),
        (headed({"__metadata__": []}), "not text by name"),
        (headed(b'{"\\ud800": {"dtype": "U8", "shape": [], "data_offsets": [0, 1]}}', b"x"), "no text"),
    ],
)
def test_headers_that_are_wrong_or_mean_harm_are_data_loss(data: bytes, message: str) -> None:
    with pytest.raises(DataLossError, match=message):
        opened(data)


def test_more_dimensions_than_an_array_can_have_are_not_multiplied() -> None:
    shape = b",".join([b"9" * 4000] * 2000)
    with pytest.raises(UnimplementedError, match="2000 dimensions"):
        opened(headed(b'{"x": {"dtype": "U8", "shape": [' + shape + b'], "data_offsets": [0, 1]}}', b"x"))


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ({"weight_map": {"x": "../../etc/passwd"}}, "does not lie beside it"),
        ({"weight_map": {"x": "/etc/passwd"}}, "does not lie beside it"),
        ({"weight_map": {"x": ".."}}, "does not lie beside it"),
        ({"weight_map": ["x"]}, 'expected a "weight_map"'),
        ({}, 'expected a "weight_map"'),
        ({"weight_map": {"y": "a.safetensors"}}, 'has no tensor "y"'),
    ],
)
def test_an_index_that_is_wrong_or_leads_elsewhere_is_data_loss(index: Any, message: str) -> None:
    shard = headed({"x": entry()}, bytes(8))
    with pytest.raises(DataLossError, match=message):
        opened(json.dumps(index).encode(), "m.safetensors.index.json", **{"a.safetensors": shard})
