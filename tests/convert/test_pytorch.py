"""PyTorch's files: those it wrote are read, and none of their code is run."""

from __future__ import annotations

import json
import pickle
import struct
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tensorkeep.checkpoint.finding.opening import load_tensors
from tensorkeep.checkpoint.saving import save_checkpoint
from tensorkeep.convert import ConvertOptions, convert, open_tensors
from tensorkeep.convert.pytorch import PYTORCH
from tensorkeep.convert.torch_pickles import Cursor, read_pickle
from tensorkeep.edit import Selection
from tensorkeep.errors import (
    AlreadyExistsError,
    DataLossError,
    InvalidArgumentError,
    PermissionDeniedError,
    TensorKeepError,
    UnimplementedError,
)
from tensorkeep.io.files.local import LOCAL
from tensorkeep.io.files.memory import MemoryFileSystem

FILES = Path(__file__).parent / "pytorch_files"  # made by PyTorch 2.13; see make.py there
WHOLE = np.arange(24).reshape(2, 3, 4)
EXPECTED = {
    "weight": np.arange(6, dtype=np.float32).reshape(2, 3),
    "transposed": np.arange(6, dtype=np.float32).reshape(2, 3).T,
    "parameter": np.float32([1.5, -2.0]),
    "rows": WHOLE[1:, 1:],
    "every_second": WHOLE[0, 0, ::2],
    "permuted": WHOLE.transpose(2, 0, 1),
    "expanded": np.int16([[7, 8]] * 3),
    "scalar": np.int64(3),
    "empty": np.zeros((0, 4), np.float32),
    "bfloat16": np.array([1.0, 2.5], ml_dtypes.bfloat16),
    "float16": np.float16([1.0, 2.5]),
    "float64": np.float64([1.0, 2.5]),
    "float8_e4m3fn": np.array([1.0, 2.5], ml_dtypes.float8_e4m3fn),
    "float8_e5m2": np.array([1.0, 2.5], ml_dtypes.float8_e5m2),
    "uint8": np.uint8([1, 255]),
    "uint16": np.uint16([1, 65535]),
    "int8": np.int8([1, -128]),
    "int32": np.int32([1, -(2**31)]),
    "bool": np.array([True, False]),
    "complex64": np.complex64([1 + 2j]),
    "complex128": np.complex128([1 + 2j]),
}


@pytest.mark.parametrize("name", ["zip.pt", "legacy.pt"])
def test_every_type_and_every_view_that_pytorch_wrote_is_read(name: str) -> None:
    with open_tensors(FILES / name) as found:
        assert list(found) == list(EXPECTED)
        for key, expected in EXPECTED.items():
            assert found[key].dtype == np.asarray(expected).dtype, key
            np.testing.assert_array_equal(found.read(key), expected, err_msg=key)
            np.testing.assert_array_equal(found.source(key).gather(), np.asarray(expected).reshape(-1), err_msg=key)


def test_parts_of_views_are_read(tmp_path: Path) -> None:
    with open_tensors(FILES / "zip.pt") as found:
        np.testing.assert_array_equal(found.read("permuted", np.s_[1:3, :, 2:]), WHOLE.transpose(2, 0, 1)[1:3, :, 2:])
        np.testing.assert_array_equal(found.read("rows", np.s_[:, 1:, 1:3]), WHOLE[1:, 2:, 1:3])
        np.testing.assert_array_equal(found.read("expanded", np.s_[1:2, 1:]), [[8]])


def test_numbers_beside_tensors_are_scalars_and_names_lead_to_them(tmp_path: Path) -> None:
    with open_tensors(FILES / "training.pt") as found:
        assert [name for name in found if not name.startswith("model.")] == [
            "epoch",
            "lr",
            "done",
            "steps.0",
            "steps.1",
        ]
        assert (int(found.read("epoch")), float(found.read("lr")), bool(found.read("done"))) == (3, 0.5, False)
        assert found["model.1.num_batches_tracked"].shape == ()
    with pytest.raises(InvalidArgumentError, match=r"\"name\" is no tensor: str 'run' .*only="):
        convert(FILES / "training.pt", tmp_path / "x.npz")
    convert(FILES / "training.pt", tmp_path / "x.npz", options=ConvertOptions(only=Selection(["model.*"])))
    with np.load(tmp_path / "x.npz") as arrays:
        assert arrays["model.0.weight"].shape == (2, 1, 2, 2)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("whole_model.pt", "makes an object of torch.nn.modules.container.Sequential, which is code"),
        ("sparse.pt", "calls torch.serialization._get_layout, which makes no tensor"),
    ],
)
def test_what_is_more_than_tensors_is_refused_by_name(name: str, message: str) -> None:
    with pytest.raises(PermissionDeniedError, match=message):
        open_tensors(FILES / name)


class Evil:
    """Something that runs code when it is unpickled."""

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self._call = (function, arguments)

    def __reduce__(self) -> Any:
        return self._call


def archive(description: bytes, **members: bytes) -> MemoryFileSystem:
    """A file of PyTorch's kind with that pickle in it."""
    data = BytesIO()
    with zipfile.ZipFile(data, "w") as made:
        made.writestr("x/data.pkl", description)
        for name, content in members.items():
            made.writestr(f"x/data/{name}", content)
    return memory(data.getvalue())


def memory(data: bytes) -> MemoryFileSystem:
    fs = MemoryFileSystem()
    fs.make_directory("d")
    file = fs.create("d/x.pt")
    file.write(data)
    file.close()
    return fs


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4, 5])
def test_code_is_not_run_whatever_the_protocol(protocol: int, tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    fs = archive(pickle.dumps({"x": Evil(Path.touch, marker)}, protocol))
    with pytest.raises(TensorKeepError):
        PYTORCH.open_source("d/x.pt", fs)
    fs = archive(pickle.dumps({"x": Evil(eval, f"open({str(marker)!r}, 'w')")}, protocol))
    with pytest.raises(PermissionDeniedError, match=r"eval|which no file of tensors needs"):
        PYTORCH.open_source("d/x.pt", fs)
    assert not marker.exists()


@pytest.mark.parametrize(
    "program",
    [
        b"cos\nsystem\n(S'true'\ntR.",  # a call
        b"(S'true'\nios\nsystem\n.",  # by INST
        b"(cos\nsystem\nS'true'\no.",  # by OBJ
        b"\x80\x02cos\nsystem\n(X\x04\x00\x00\x00truet\x81.",  # by NEWOBJ
        b"ccollections\nOrderedDict\n)Rcos\nsystem\nb.",  # as the state of something
        b"\x82\x01.",  # by a number of the registry
        b"cos\nsystem\n(S'true'\ntRccollections\nOrderedDict\n)R.",  # and thrown away
        b"ctorch._tensor\n_rebuild_from_type_v2\n(cos\nsystem\nNtNtR.",  # inside a function that is known
    ],
)
def test_every_way_to_call_something_is_refused(program: bytes) -> None:
    with pytest.raises((PermissionDeniedError, DataLossError)):
        read_pickle(Cursor(memoryview(program)), "it")


@pytest.mark.parametrize(
    "program",
    [b"", b".", b"(", b"t.", b"K", b"h\x05.", b"(K\x01K\x02u.", b"]K\x01K\x02s.", b"K\x01a.", b"\x80", b"0.", b"(1."],
)
def test_a_damaged_pickle_is_data_loss(program: bytes) -> None:
    with pytest.raises(DataLossError):
        read_pickle(Cursor(memoryview(program)), "it")


TWICE = b"2\x86"  # makes a pair of the top of the stack and itself: 60 of these are 2 ** 60 things when spelled


@pytest.mark.parametrize(
    "program",
    [
        b"})" + b"\x85" * 200_000 + b"K\x01s.",
        b"})" + TWICE * 60 + b"K\x01s.",
        b")" + TWICE * 60 + b"Q.",
        b")" + b"\x85" * 200_000 + b"Q.",
        b")" + TWICE * 60 + b")R.",
        b"\x80\x04)" + TWICE * 60 + b"X\x01\x00\x00\x00a\x93.",
        b"ctorch._utils\n_rebuild_tensor\n(K\x00K\x00)" + TWICE * 60 + b")tR.",
        b"\x8b\x00\x00\x01\x00" + b"\x7f" * 65536 + b".",
    ],
    ids=["deep key", "wide key", "wide storage", "deep storage", "wide function", "wide name", "wide shape", "number"],
)
def test_what_is_small_in_a_pickle_and_huge_in_memory_is_refused_soon(program: bytes) -> None:
    with pytest.raises((PermissionDeniedError, DataLossError)) as caught:
        read_pickle(Cursor(memoryview(program)), "it")
    assert len(str(caught.value)) < 1000


def test_a_packed_description_which_may_unpack_to_anything_is_refused() -> None:
    data = BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("x/data.pkl", b"}" * (20 << 20))
    with pytest.raises(DataLossError, match="packed"):
        PYTORCH.open_source("d/x.pt", memory(data.getvalue()))


def test_names_that_are_long_and_many_do_not_fill_the_memory() -> None:
    several = [None] * 1000
    with pytest.raises(DataLossError, match="too long names"):
        PYTORCH.open_source("d/x.pt", archive(pickle.dumps({"x" * (1 << 20): several})))


@pytest.mark.parametrize("key", [b"]", b")" + b"\x85" * 200_000], ids=["list", "deep"])
def test_storages_of_old_files_go_by_text(key: bytes) -> None:
    start = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.}."
    fs = memory(start + described("I1\n", "I1\n") + b"]" + key + b"a." + bytes(24))
    with pytest.raises(DataLossError, match="of no tensor"):
        PYTORCH.open_source("d/x.pt", fs)


def described(shape: str, strides: str, start: int = 0, count: int = 4, key: str = "0") -> bytes:
    """A pickle of one float32 tensor."""
    storage = f"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x00{key}X\x03\x00\x00\x00cpuI{count}\ntQ"
    call = f"ctorch._utils\n_rebuild_tensor_v2\n({storage}I{start}\n({shape}t({strides}t\x89}}tR"
    return f"}}X\x01\x00\x00\x00w{call}s.".encode("latin1")


def test_a_tensor_by_hand_is_read() -> None:
    fs = archive(described("I2\nI2\n", "I2\nI1\n"), **{"0": struct.pack("<4f", 1, 2, 3, 4)})
    with PYTORCH.open_source("d/x.pt", fs) as found:
        assert found.read("w").tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("description", "message"),
    [
        (described("I3\nI2\n", "I2\nI1\n"), "reaches to element 5 of a storage of 4"),
        (described("I2\nI2\n", "I2\nI1\n", start=1), "reaches to element 4 of a storage of 4"),
        (described("I2\nI2\n", "I2\nI-1\n"), "strides"),
        (described("I2\nI2\n", "I1\n"), "strides"),
        (described("I-2\nI2\n", "I2\nI1\n"), "strides"),
        (described("I2\nI2\n", "I2\nI1\n", key="7"), 'storage "7", which is not there'),
        (described("I99999999999\nI2\n", "I0\nI1\n"), "repeats 4 elements"),
    ],
)
def test_tensors_that_reach_out_of_their_storage_are_data_loss(description: bytes, message: str) -> None:
    fs = archive(description, **{"0": struct.pack("<4f", 1, 2, 3, 4)})
    with pytest.raises(DataLossError, match=message):
        PYTORCH.open_source("d/x.pt", fs)


def test_dicts_in_dicts_in_dicts_do_not_fill_the_memory() -> None:
    value: Any = {}
    for _ in range(40):
        value = {"a": value, "b": value}  # a few bytes each, and 2 ** 40 paths
    with pytest.raises(DataLossError, match="more than"):
        PYTORCH.open_source("d/x.pt", archive(pickle.dumps(value)))


def test_storages_of_unknown_kinds_are_refused_by_name() -> None:
    fs = archive(described("I1\n", "I1\n").replace(b"FloatStorage", b"QInt8Storage"), **{"0": bytes(4)})
    with pytest.raises(UnimplementedError, match=r"torch\.QInt8Storage"):
        PYTORCH.open_source("d/x.pt", fs)


def test_big_endian_files_are_read() -> None:
    data = BytesIO()
    with zipfile.ZipFile(data, "w") as made:
        made.writestr("x/data.pkl", described("I2\nI2\n", "I1\nI2\n"))
        made.writestr("x/byteorder", "big")
        made.writestr("x/data/0", struct.pack(">4f", 1, 2, 3, 4))
    fs = memory(data.getvalue())
    with PYTORCH.open_source("d/x.pt", fs) as found:
        assert found.read("w").tolist() == [[1, 3], [2, 4]]


@pytest.mark.parametrize("target", ["pytorch_model.bin", "pytorch_model.bin.index.json"])
def test_several_files_have_an_index_as_hugging_face_has_it(tmp_path: Path, target: str) -> None:
    save_checkpoint(tmp_path / "m", {f"t{number}": np.full(10, number, np.float32) for number in range(5)})
    done = convert(tmp_path / "m", tmp_path / target, options=ConvertOptions(shard_bytes=80, prove=True))
    files = [f"pytorch_model-0000{number}-of-00003.bin" for number in (1, 2, 3)]
    written = [*files, "pytorch_model.bin.index.json", f"{target}.proof.json"]
    assert sorted(path.name for path in tmp_path.glob("pytorch*")) == sorted(written)
    assert [Path(file).name for file in done.files] == written[:4]
    index = json.loads((tmp_path / "pytorch_model.bin.index.json").read_text())
    assert index["metadata"] == {"total_size": 200}
    for name, file in index["weight_map"].items():
        with open_tensors(tmp_path / file) as shard:
            assert shard.read(name).tolist() == [float(name[1])] * 10
    for path in (tmp_path, tmp_path / "pytorch_model.bin.index.json"):
        with open_tensors(path) as found:
            assert len(found) == 5
    with pytest.raises(AlreadyExistsError):
        convert(tmp_path / "m", tmp_path / target, options=ConvertOptions(shard_bytes=80))


def test_one_file_is_enough_for_what_fits(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "m", {"w": np.ones(3)})
    for target, written in (("a.pt", "a.pt"), ("b.bin.index.json", "b.bin")):
        done = convert(tmp_path / "m", tmp_path / target, options=ConvertOptions(shard_bytes=1000))
        assert list(done.files) == [str(tmp_path / written)]
        assert (tmp_path / written).exists()


def test_of_several_files_none_is_left_after_an_error(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "m", {f"t{number}": np.full(10, number, np.float32) for number in range(5)})
    data = tmp_path / "m.data-00000-of-00001"
    data.write_bytes(data.read_bytes()[:-4] + b"oops")
    with pytest.raises(DataLossError):
        convert(tmp_path / "m", tmp_path / "n.bin", options=ConvertOptions(shard_bytes=80))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.data-00000-of-00001", "m.index"]


def test_shards_are_read_by_their_index(tmp_path: Path) -> None:
    for number, name in enumerate(("a", "b"), 1):
        save_checkpoint(tmp_path / "m", {name: np.full(3, number, np.float32)})
        convert(tmp_path / "m", tmp_path / f"pytorch_model-{number:05d}-of-00002.bin")
    index = '{"weight_map": {"a": "pytorch_model-00001-of-00002.bin", "b": "pytorch_model-00002-of-00002.bin"}}'
    (tmp_path / "pytorch_model.bin.index.json").write_text(index)
    for path in (tmp_path, tmp_path / "pytorch_model.bin.index.json"):
        with PYTORCH.open_source(str(path), LOCAL) as found:
            assert {name: found.read(name).tolist() for name in found} == {"a": [1.0] * 3, "b": [2.0] * 3}


def test_what_is_written_is_a_state_dict_as_pytorch_writes_it(tmp_path: Path) -> None:
    """PyTorch loads it with weights_only=True; here its pickle is loaded with stand-ins for PyTorch's functions."""
    tensors = {"w": np.arange(6, dtype=np.float32).reshape(2, 3), "n": np.uint16([1, 2]), "s": np.float64(0.5)}
    save_checkpoint(tmp_path / "m", tensors)
    convert(tmp_path / "m", tmp_path / "x.pt")
    with zipfile.ZipFile(tmp_path / "x.pt") as found:
        assert found.namelist() == ["x/data.pkl", "x/byteorder", "x/data/0", "x/data/1", "x/data/2", "x/version"]
        assert found.testzip() is None
        assert all(info.compress_type == zipfile.ZIP_STORED for info in found.infolist())
        loaded = StandIn(BytesIO(found.read("x/data.pkl"))).load()
        assert found.read("x/data/2") == tensors["w"].tobytes()
    assert isinstance(loaded, OrderedDict)
    assert list(loaded) == ["n", "s", "w"]
    storage = ("storage", "torch.FloatStorage", "2", "cpu", 6)
    assert loaded["w"] == ("torch._utils._rebuild_tensor_v2", storage, 0, (2, 3), (3, 1), False, OrderedDict())
    untyped = ("storage", "torch.storage.UntypedStorage", "0", "cpu", 4)
    expected = ("torch._utils._rebuild_tensor_v3", untyped, 0, (2,), (1,), False, OrderedDict(), "torch.uint16")
    assert loaded["n"] == expected


def test_the_data_of_written_tensors_is_aligned_for_mapping(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "m", {f"t{number}": np.arange(number, dtype=np.int8) for number in range(1, 9)})
    convert(tmp_path / "m", tmp_path / "x.pt")
    data = (tmp_path / "x.pt").read_bytes()
    with zipfile.ZipFile(tmp_path / "x.pt") as found:
        for info in found.infolist():
            name, extra = struct.unpack_from("<HH", data, info.header_offset + 26)
            assert (info.header_offset + 30 + name + extra) % 64 == 0


def test_to_a_checkpoint_and_back_the_views_are_arrays(tmp_path: Path) -> None:
    convert(FILES / "zip.pt", tmp_path / "m.ckpt", options=ConvertOptions(prove=True))
    found = load_tensors(tmp_path / "m.ckpt")
    for name, expected in EXPECTED.items():
        np.testing.assert_array_equal(found[name], expected, err_msg=name)


class StandIn(pickle.Unpickler):
    """Loads a description; PyTorch's functions become the tuples of their arguments."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        text = f"{module}.{name}"
        return (lambda *arguments: (text, *arguments)) if name.startswith("_rebuild") else text

    def persistent_load(self, found: Any) -> Any:
        return found
