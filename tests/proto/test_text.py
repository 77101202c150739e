"""Messages in text format."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.errors import DataLossError
from tensorkeep.proto.messages import CheckpointState, CollectionDef, FullTypeDef, MetaGraphDef, TensorProto, VersionDef
from tensorkeep.proto.text import format_text, parse_text
from tests.proto.golden_messages import text_files
from tests.support.golden import ROOT

STATE = """\
model_checkpoint_path: "run/model-7"
all_model_checkpoint_paths: "run/model-5"
all_model_checkpoint_paths: "run/model-7"
all_model_checkpoint_timestamps: 1794725062.5
all_model_checkpoint_timestamps: 1794725063.960991
last_preserved_timestamp: 5.0
"""

ANY = """\
any_list {
  value {
    [type.googleapis.com/tensorflow.VersionDef] {
      producer: 3
    }
  }
}
"""


def collection_with(type_url: str, value: bytes) -> CollectionDef:
    collection = CollectionDef()
    collection.any_list.value.add(type_url=type_url, value=value)
    return collection


def test_a_state_file_reads_as_tensorflow_writes_it():
    state = parse_text(CheckpointState, STATE, "checkpoint")
    assert list(state.all_model_checkpoint_paths) == ["run/model-5", "run/model-7"]
    assert list(state.all_model_checkpoint_timestamps) == [1794725062.5, 1794725063.960991]
    assert format_text(state) == STATE


@pytest.mark.parametrize(
    ("path", "written"),
    [
        ('a"b', r"a\"b"),
        ("a'b", r"a\'b"),
        ("a\\b", r"a\\b"),
        ("a\nb\tc\rd", r"a\nb\tc\rd"),
        ("ünï → 漢 😀", "ünï → 漢 😀"),
    ],
)
def test_strings_are_escaped_and_utf8_is_kept(path, written):
    state = CheckpointState(model_checkpoint_path=path)
    assert format_text(state) == f'model_checkpoint_path: "{written}"\n'
    assert parse_text(CheckpointState, format_text(state).encode("utf-8"), "checkpoint") == state


def test_bytes_are_escaped_beyond_ascii():
    assert format_text(TensorProto(string_val=["é".encode()])) == 'string_val: "\\303\\251"\n'


@pytest.mark.parametrize(("name", "message_type"), text_files())
def test_golden_files_are_written_again_byte_for_byte(name, message_type):
    data = (ROOT / name).read_bytes()
    assert format_text(parse_text(message_type, data, name)).encode("utf-8") == data


def test_golden_files_are_many():
    assert len(text_files()) > 20


@given(
    st.builds(
        CheckpointState,
        model_checkpoint_path=st.text(),
        all_model_checkpoint_paths=st.lists(st.text(), max_size=3),
        all_model_checkpoint_timestamps=st.lists(st.floats(allow_nan=False), max_size=3),
        last_preserved_timestamp=st.floats(allow_nan=False),
    )
)
def test_what_is_written_reads_back_equal(state):
    assert parse_text(CheckpointState, format_text(state), "checkpoint") == state


def test_an_any_of_ours_is_written_out():
    collection = collection_with("type.googleapis.com/tensorflow.VersionDef", bytes.fromhex("08 03"))
    assert format_text(collection) == ANY
    assert parse_text(CollectionDef, ANY, "collection") == collection


def test_an_any_of_others_keeps_its_bytes():
    collection = collection_with("type.googleapis.com/other.Thing", b"\x08\x03")
    assert 'type_url: "type.googleapis.com/other.Thing"' in format_text(collection)
    assert parse_text(CollectionDef, format_text(collection), "collection") == collection


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("no_such_field: 1", id="unknown field"),
        pytest.param('model_checkpoint_path: "a', id="open string"),
        pytest.param("model_checkpoint_path: 7", id="wrong type"),
        pytest.param("model_checkpoint_path", id="no value"),
        pytest.param('model_checkpoint_path: "\\377"', id="escape is not UTF-8"),
        pytest.param(b'model_checkpoint_path: "\xff"', id="bytes are not UTF-8"),
        pytest.param('model_checkpoint_path: "\ud800"', id="lone surrogate"),
        pytest.param("last_preserved_timestamp: 1.2.3", id="not a number"),
        pytest.param('model_checkpoint_path: "a" model_checkpoint_path: "b"', id="given twice"),
        pytest.param("\x00\x01", id="binary"),
    ],
)
def test_text_that_is_no_message_is_data_loss(text):
    with pytest.raises(DataLossError, match=r"^run/checkpoint: not a valid CheckpointState in text format: "):
        parse_text(CheckpointState, text, "run/checkpoint")


@pytest.mark.parametrize(
    ("message_type", "text"),
    [
        (VersionDef, "producer: 2147483648"),
        (TensorProto, "dtype: DT_NOTHING"),
        (TensorProto, "dtype: \ud800"),
        (CollectionDef, "any_list { value { [type.googleapis.com/other.Thing] { } } }"),
        (CollectionDef, "any_list { value { [type.googleapis.com/] { } } }"),
    ],
)
def test_values_that_no_field_can_hold_are_data_loss(message_type, text):
    with pytest.raises(DataLossError):
        parse_text(message_type, text, "fuzz")


@pytest.mark.parametrize("depth", [1_000, 100_000])
def test_bottomless_nesting_is_data_loss(depth):
    with pytest.raises(DataLossError):
        parse_text(FullTypeDef, "args {" * depth, "fuzz")


NAMES = ["node", "any_list", "value", "attr", "key", "graph_def", "meta_info_def", "any_info", "tags", "saver_def"]
VALUES = ["[type.googleapis.com/tensorflow.VersionDef]", "1e999", "nan", "0x", '"a"', "'\\"]
MARKS = list('{}[]<>:;,"-#\\\n')


@given(st.lists(st.one_of(st.sampled_from(NAMES + VALUES + MARKS), st.text(max_size=4))).map(" ".join))
def test_any_text_is_a_message_or_data_loss(text):
    with contextlib.suppress(DataLossError):
        parse_text(MetaGraphDef, text, "fuzz")


@given(data=st.data())
def test_any_damage_leaves_a_message_or_data_loss(data):
    damaged = bytearray(STATE.encode("utf-8")[: data.draw(st.integers(1, len(STATE)), label="length")])
    for at in data.draw(st.lists(st.integers(0, len(damaged) - 1), max_size=5), label="changed"):
        damaged[at] = data.draw(st.integers(0, 255), label="to")
    with contextlib.suppress(DataLossError):
        parse_text(CheckpointState, bytes(damaged), "fuzz")
