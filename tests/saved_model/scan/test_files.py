"""Files beside a model: archives of Keras, HDF5, pickles in any form. What they would run is found, nothing is run."""

from __future__ import annotations

import json
import pickle
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.errors import DataLossError
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.saved_model.scan.files import is_pickle
from tensorkeep.saved_model.scan.hdf5_texts import attribute_texts
from tensorkeep.saved_model.scan.model_scan import scan_model
from tensorkeep.saved_model.scan.report import ScanReport
from tests.saved_model.scan_samples import model_with, stored, write

PLAIN = {"module": "keras", "class_name": "Sequential", "config": {"layers": [{"class_name": "Dense", "config": {}}]}}
CODE = {"class_name": "__lambda__", "config": {"code": "4wEAAA==", "defaults": None}}
LAMBDA = {
    "module": "keras",
    "class_name": "Sequential",
    "config": {"layers": [{"module": "keras.layers", "class_name": "Lambda", "config": {"function": CODE}}]},
}


class Opens:
    def __reduce__(self) -> Any:
        return open, ("/etc/passwd",)


def archive(files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    target = BytesIO()
    with zipfile.ZipFile(target, "w", method) as made:
        for name, data in files.items():
            made.writestr(name, data)
    return target.getvalue()


def keras(config: Any, **more: bytes) -> bytes:
    return archive({"metadata.json": b"{}", "config.json": json.dumps(config).encode(), **more})


def hdf5(text: bytes, *, version: int = 1, is_fixed: bool = True, user_block: int = 0) -> bytes:
    """As little of an HDF5 file as has an attribute model_config: a superblock, a message, a heap."""
    data = bytearray(user_block) + b"\x89HDF\r\n\x1a\n" + bytes([0, 0, 0, 0, 0, 8, 8, 0]) + bytes(80)

    def padded(part: bytes) -> bytes:
        return part + bytes(-len(part) % 8) if version == 1 else part

    name = b"model_config\0"
    kind = bytes([0x13 if is_fixed else 0x19, 0, 0, 0]) + (len(text) if is_fixed else 16).to_bytes(4, "little")
    space = bytes([1, 0, 0, 0, 0, 0, 0, 0])
    sizes = b"".join(len(part).to_bytes(2, "little") for part in (name, kind, space))
    data += bytes([version, 0]) + sizes + (b"\0" if version == 3 else b"") + padded(name) + padded(kind) + padded(space)
    if is_fixed:
        return bytes(data + text)
    at = len(data) + 16 - user_block
    data += len(text).to_bytes(4, "little") + at.to_bytes(8, "little") + (2).to_bytes(4, "little")
    other = (1).to_bytes(2, "little") + bytes(6) + (3).to_bytes(8, "little") + b"abc" + bytes(5)
    wanted = (2).to_bytes(2, "little") + bytes(6) + len(text).to_bytes(8, "little") + text + bytes(-len(text) % 8)
    size = 16 + len(other) + len(wanted)
    return bytes(data + b"GCOL\1\0\0\0" + size.to_bytes(8, "little") + other + wanted)


def scanned(**files: bytes) -> ScanReport:
    fs = stored(model_with())
    for name, data in files.items():
        write(fs, f"m/{name.replace('__', '.')}", data)
    return scan_model("m", fs=fs)


# --------------------------------------------------------------------------------------------------------- archives


def test_a_lambda_layer_in_an_archive_of_keras_is_found() -> None:
    report = scanned(model__keras=keras(LAMBDA))
    assert report.counts["calls-python"] >= 1
    (first, *_) = report.findings
    assert (first.file, first.where) == ("model.keras", "config.json")
    assert "compiled Python code" in first.message


def test_an_archive_of_keras_without_code_is_clean() -> None:
    weights = hdf5(json.dumps(LAMBDA).encode())  # Keras reads no configuration of these
    report = scanned(model__keras=keras(PLAIN, **{"model.weights.h5": weights}))
    assert report.is_clean, str(report)


def test_archives_are_told_by_their_content() -> None:
    assert not scanned(notes__txt=keras(LAMBDA)).is_clean
    assert not scanned(outer__bin=archive({"inner.dat": keras(LAMBDA)})).is_clean


@pytest.mark.parametrize(
    "config",
    [
        {"module": "os", "class_name": "function", "config": "system"},
        {"module": "builtins", "class_name": "function", "config": "exec"},
        {"module": "keras.utils", "class_name": "function", "config": "get_file"},
        {"module": "keras.config", "class_name": "function", "config": "enable_unsafe_deserialization"},
        {"module": "keras.layers", "class_name": "TorchModuleWrapper", "config": {"module": "gAJ9"}},
    ],
)
def test_objects_that_a_configuration_names_are_found(config: Any) -> None:
    assert scanned(model__keras=keras({"layers": [config]})).counts["calls-python"] >= 1


def test_a_model_of_keras_may_be_scanned_by_itself() -> None:
    fs = MemoryFileSystem()
    write(fs, "model.keras", keras(LAMBDA))
    write(fs, "model.h5", hdf5(json.dumps(LAMBDA).encode()))
    write(fs, "plain.keras", keras(PLAIN))
    assert not scan_model("model.keras", fs=fs).is_clean
    assert not scan_model("model.h5", fs=fs).is_clean
    assert scan_model("plain.keras", fs=fs).is_clean


def test_pickles_in_archives_are_found() -> None:
    report = scanned(model__pt=archive({"model/data.pkl": pickle.dumps(Opens()), "model/version": b"3\n"}))
    assert [(item.file, item.where) for item in report.findings] == [("model.pt", "model/data.pkl")]


def test_what_cannot_be_unpacked_is_a_finding() -> None:
    damaged = bytearray(archive({"config.json": bytes(1000)}))
    damaged[45:50] = b"\xff" * 5
    assert scanned(model__keras=bytes(damaged)).counts == {"not-scanned": 1}
    assert scanned(model__keras=archive({})[:10] + b"PK").counts == {"not-scanned": 1}
    deep = keras(PLAIN)
    for _ in range(6):
        deep = archive({"inner.zip": deep})
    assert scanned(deep__zip=deep).counts == {"not-scanned": 1}


def test_an_archive_that_unpacks_to_more_than_memory_holds_is_not_unpacked() -> None:
    bomb = archive({"config.json": bytes(300 << 20)})
    assert len(bomb) < 1 << 20
    report = scanned(model__keras=bomb)
    assert report.counts == {"not-scanned": 1}
    assert "when unpacked" in report.findings[0].message


def test_an_archive_of_many_archives_of_many_files_is_given_up_soon() -> None:
    inner = archive({str(number): b"" for number in range(500)})
    middle = archive({str(number): inner for number in range(100)})
    report = scanned(model__zip=archive({str(number): middle for number in range(5)}))
    assert report.counts == {"not-scanned": 1}
    assert "more than can be looked at" in str(report)


def test_rows_of_sarif_say_where_in_the_archive() -> None:
    report = scanned(model__keras=keras(LAMBDA), weights__h5=hdf5(json.dumps(LAMBDA).encode()))
    results = json.loads(report.to_sarif())["runs"][0]["results"]
    texts = json.dumps(results)
    assert "model.keras" in texts
    assert "config.json" in texts
    assert "weights.h5" in texts
    assert {item["ruleId"] for item in results} == {"calls-python"}


# ------------------------------------------------------------------------------------------------------------- HDF5


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("is_fixed", [True, False])
@pytest.mark.parametrize("user_block", [0, 1024])
def test_a_text_is_read_in_each_form_that_it_may_have(version: int, is_fixed: bool, user_block: int) -> None:
    data = hdf5(b'{"a": 1}', version=version, is_fixed=is_fixed, user_block=user_block)
    assert list(attribute_texts(data, "model_config", "x")) == ['{"a": 1}']


@pytest.mark.parametrize("is_fixed", [True, False])
def test_a_lambda_layer_in_an_hdf5_file_is_found_however_it_is_written(is_fixed: bool) -> None:
    text = json.dumps(LAMBDA).replace("Lambda", "\\u004cambda").replace("class_name", "class\\u005fname")
    report = scanned(old__h5=hdf5(text.encode(), is_fixed=is_fixed))
    assert report.counts["calls-python"] >= 1
    assert report.findings[0].where == "model_config"
    assert scanned(old__h5=hdf5(json.dumps(PLAIN).encode(), is_fixed=is_fixed)).is_clean


def test_an_attribute_that_cannot_be_read_is_a_finding() -> None:
    whole = hdf5(json.dumps(PLAIN).encode(), is_fixed=False)
    assert scanned(old__h5=whole.replace(b"GCOL", b"gcol")).counts == {"not-scanned": 1}
    assert scanned(old__h5=whole[: whole.index(b"GCOL") + 20]).counts == {"not-scanned": 1}


@given(data=st.binary(max_size=400), cut=st.integers(0, 500), version=st.sampled_from([1, 2, 3]), fixed=st.booleans())
def test_damaged_hdf5_is_an_error_and_nothing_else(data: bytes, cut: int, version: int, fixed: bool) -> None:
    whole = bytearray(hdf5(b'{"class_name": "Lambda"}', version=version, is_fixed=fixed))
    whole[cut : cut + len(data)] = data
    with suppress(DataLossError):
        list(attribute_texts(bytes(whole), "model_config", "x"))


# ---------------------------------------------------------------------------------------------------------- pickles


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_of_any_protocol_is_found_by_any_name(protocol: int) -> None:
    report = scanned(assets=b"", notes__md=pickle.dumps(Opens(), protocol))
    assert [(item.file, item.subject) for item in report.findings] == [("notes.md", "pickle")]


@pytest.mark.parametrize(
    "data",
    [
        b"cos\nsystem\n(S'ls'\ntR.",
        b"(S'ls'\nios\nsystem\n.",
        b"\x80\x04cos\nsystem\n(\x8c\x02lstR.",
        b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x02ls\x85R.",
        pickle.dumps({"a": [1, 2, 3]}),
    ],
)
def test_pickles_that_were_written_by_hand_are_pickles(data: bytes) -> None:
    assert is_pickle(data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"cats\ndogs\n",
        b"cats\ndogs\nRed\n",
        b"(a list)\n",
        b"Some words. And more.\n",
        b"}\n",
        b"\x80",
        b"I am\nhere.\n",
        b"0\n1\n",
    ],
)
def test_texts_are_no_pickles(data: bytes) -> None:
    assert not is_pickle(data)


@given(st.text(alphabet=st.characters(codec="ascii"), max_size=300))
def test_what_begins_like_a_pickle_ends_in_bounded_time(text: str) -> None:
    is_pickle(b"\x80\x04" + text.encode())
    is_pickle(b"(" * 200 + text.encode())


def test_an_array_of_objects_is_a_pickle() -> None:
    target = BytesIO()
    np.save(target, np.array([Opens()], object), allow_pickle=True)
    report = scanned(values__npy=target.getvalue())
    assert [item.subject for item in report.findings] == ["pickle"]
    target = BytesIO()
    np.savez(target, numbers=np.arange(3), names=np.array(["O", "|O"]))
    assert scanned(values__npz=target.getvalue()).is_clean
