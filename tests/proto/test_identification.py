"""Telling what a file is."""

from __future__ import annotations

import gzip
import pickle
import struct
import zipfile
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.errors import DataLossError
from tensorkeep.io.coding.records import encode_record
from tensorkeep.io.files.local import LOCAL
from tensorkeep.proto.identification import FileKind, contents_of, identify_proto, kind_of_file, wrong_file
from tensorkeep.proto.messages import (
    FingerprintDef,
    GraphDef,
    MetaGraphDef,
    SavedModel,
    SaverDef,
    TensorProto,
    serialize,
)
from tensorkeep.proto.text import format_text
from tests.support.golden import ROOT
from tests.support.riegeli import RiegeliWriter

MODELS = sorted(ROOT.glob("*/model*/saved_model.pb"))
GRAPHS = sorted(path for path in ROOT.glob("g*/*.pb") if path.name != "fingerprint.pb")
METAS = sorted(path for path in ROOT.glob("g*/*.meta") if ".text." not in path.name)


def numpy_file() -> bytes:
    file = BytesIO()
    np.save(file, np.ones(3))
    return file.getvalue()


def zip_file() -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("config.json", "{}")
    return file.getvalue()


def varint_field(number: int, value: int) -> bytes:
    return bytes([number << 3, value])


def text_field(number: int, value: bytes) -> bytes:
    return bytes([number << 3 | 2, len(value)]) + value


ONNX = b"".join(
    (varint_field(1, 8), text_field(2, b"pytorch"), text_field(7, text_field(2, b"graph")), text_field(8, b"\x10\x11"))
)
HLO = text_field(1, b"jit_f") + text_field(2, b"main") + text_field(3, text_field(1, b"main.4")) + varint_field(5, 4)

OTHERS = {
    FileKind.EMPTY: b"",
    FileKind.HDF5: b"\x89HDF\r\n\x1a\n" + bytes(100),
    FileKind.ZIP: zip_file(),
    FileKind.GZIP: gzip.compress(b"x"),
    FileKind.NUMPY: numpy_file(),
    FileKind.PICKLE: pickle.dumps({"a": [1, 2, 3] * 10}, protocol=4),
    FileKind.TENSORFLOW_LITE: b"\x1c\0\0\0TFL3" + bytes(50),
    FileKind.TFRECORD: encode_record(b"a record"),
    FileKind.RIEGELI: bytes(RiegeliWriter().data),
    FileKind.SAFETENSORS: struct.pack("<Q", 16) + b'{"__metadata__":' + bytes(20),
    FileKind.LFS_POINTER: b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
    FileKind.HTML: b"<!DOCTYPE html><html>",
    FileKind.JSON: b'{"a": 1}',
    FileKind.TEXT: b"hello, world\n",
    FileKind.UNKNOWN: b"\xff\xfe\xfd\xfc" * 10,
    FileKind.ONNX: ONNX,
    FileKind.HLO: HLO,
    FileKind.FINGERPRINT: serialize(FingerprintDef(saved_model_checksum=1 << 60, graph_def_program_hash=3, uuid="5")),
    FileKind.TENSOR: serialize(TensorProto(dtype=1, tensor_shape={"dim": [{"size": 2}]}, float_val=[1, 2])),
    FileKind.SAVER: serialize(SaverDef(filename_tensor_name="save/Const:0", max_to_keep=5, version=2)),
    FileKind.CHECKPOINT_STATE: b'model_checkpoint_path: "m-1"\n',
}


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.parts[-3])
def test_models_are_models(path) -> None:
    assert identify_proto(path.read_bytes()).kind is FileKind.SAVED_MODEL


@pytest.mark.parametrize("path", METAS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_meta_graphs_are_meta_graphs(path) -> None:
    data = path.read_bytes()
    assert identify_proto(data).kind is FileKind.META_GRAPH
    graph = MetaGraphDef.FromString(data).graph_def
    assert identify_proto(serialize(graph)).kind is FileKind.GRAPH


@pytest.mark.parametrize("path", GRAPHS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_graphs_are_graphs(path) -> None:
    assert identify_proto(path.read_bytes()).kind is FileKind.GRAPH


@pytest.mark.parametrize("path", MODELS[:3], ids=lambda path: path.parts[-3])
def test_messages_as_text_are_told_apart(path) -> None:
    model = SavedModel.FromString(path.read_bytes())
    found = [
        identify_proto(format_text(message).encode())
        for message in (model, model.meta_graphs[0], model.meta_graphs[0].graph_def)
    ]
    assert [item.kind for item in found] == [FileKind.SAVED_MODEL, FileKind.META_GRAPH, FileKind.GRAPH]
    assert all(item.is_text for item in found)


@pytest.mark.parametrize("path", sorted(ROOT.glob("g0*/*.index"))[:5], ids=lambda path: path.parent.name)
def test_the_index_of_a_checkpoint_is_one(path) -> None:
    assert identify_proto(path.read_bytes()).kind is FileKind.CHECKPOINT_TABLE


@pytest.mark.parametrize("kind", OTHERS, ids=lambda kind: kind.name)
def test_other_files_are_known_by_what_they_are(kind: FileKind) -> None:
    assert identify_proto(OTHERS[kind]).kind is kind


def test_a_model_that_was_cut_off_is_a_damaged_model() -> None:
    data = MODELS[0].read_bytes()
    found = identify_proto(data[: len(data) // 2])
    assert found.kind in (FileKind.SAVED_MODEL, FileKind.UNKNOWN)
    graph = serialize(SavedModel.FromString(data).meta_graphs[0].graph_def)
    cut = identify_proto(graph[:-3])
    assert cut.kind is FileKind.GRAPH
    assert "but the data ends" in cut.damage
    assert "damaged" in wrong_file("f.pb", graph[:-3], FileKind.GRAPH)


def test_a_sentence_says_what_a_file_is_instead() -> None:
    graph = serialize(GraphDef(node=[{"name": "a", "op": "NoOp"}]))
    assert wrong_file("f.pb", graph, FileKind.GRAPH) == ""
    assert wrong_file("f.pb", graph, FileKind.SAVED_MODEL) == (
        '"f.pb" is not a SavedModel: it is a GraphDef (a frozen or plain graph)'
    )


@given(st.binary(max_size=300))
def test_any_bytes_are_something(data: bytes) -> None:
    assert isinstance(identify_proto(data).kind, FileKind)
    assert str(identify_proto(data))


def test_a_message_of_millions_of_fields_is_not_gone_through_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tensorkeep.proto.identification._MOST_FIELDS", 1000)
    assert identify_proto(b"\x98\x06\x01" * 2000 + b"\xff").damage == ""


def test_a_file_that_shrinks_while_it_is_looked_at_is_an_error_and_not_the_end(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(bytes(100_000))
    file = LOCAL.open(str(path))
    path.write_bytes(b"")
    with pytest.raises(DataLossError, match="did it shrink"):
        identify_proto(contents_of(file))
    assert kind_of_file(str(path), LOCAL) is FileKind.EMPTY
