"""Messages: their encoding, their errors, and that they keep to themselves."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys

import pytest
from google.protobuf.message import EncodeError
from google.protobuf.unknown_fields import UnknownFieldSet
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.errors import DataLossError, InvalidArgumentError
from tensorkeep.proto import messages
from tensorkeep.proto.messages import (
    AttrValue,
    BundleEntryProto,
    CheckpointState,
    DataType,
    FullTypeDef,
    GraphDebugInfo,
    GraphDef,
    Message,
    MetaGraphDef,
    NodeDef,
    SavedModel,
    StructuredValue,
    TensorProto,
    TensorShapeProto,
    TrackableObjectGraph,
    VersionDef,
    parse,
    serialize,
)
from tests.proto.golden_messages import binary_files
from tests.support.golden import ROOT


def unknown_fields(message: Message, path: str = "") -> list[str]:
    """Where in a message, at any depth, there are fields that the schema does not know."""
    found = [f"{path}: {field.field_number}" for field in UnknownFieldSet(message)]
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        if field.message_type.GetOptions().map_entry:
            children = value.values() if field.message_type.fields_by_name["value"].message_type else []
        else:
            children = [value] if isinstance(value, Message) else value
        for child in children:
            found += unknown_fields(child, f"{path}.{field.name}")
    return found


class TestTheList:
    def test_is_sorted(self):
        first, *names = messages.__all__
        assert first == "MOST_BYTES"
        assert names == sorted(names)

    def test_names_every_message_and_enum_of_the_schemas(self):
        start = "tensorkeep.proto._generated."
        # These have modules of their own, which load them when they are asked for.
        own = [
            "boosted_trees", "chunks", "convolution_dimensions", "health", "profile", "projector", "reflection",
            "run_statistics", "serving", "serving_config", "serving_services", "session_config",
        ]  # fmt: skip
        apart = [f"{start}{name}_pb2" for name in own]
        modules = [value for name, value in sys.modules.items() if name.startswith(start) and name not in apart]
        assert len(modules) == 13
        defined = {
            name
            for module in modules
            for name in [*module.DESCRIPTOR.message_types_by_name, *module.DESCRIPTOR.enum_types_by_name]
        }
        of_messages = {
            "MOST_BYTES",
            "Message",
            "MessageType",
            "parse",
            "serialize",
            "is_any",
            "private_any",
            "public_any",
        }
        assert defined == set(messages.__all__) - of_messages


class TestEncoding:
    def test_an_unknown_dimension_is_a_ten_byte_varint(self):
        shape = TensorShapeProto(dim=[TensorShapeProto.Dim(size=-1)])
        assert serialize(shape) == bytes.fromhex("12 0b 08 ff ff ff ff ff ff ff ff ff 01")

    def test_an_empty_list_is_not_an_unset_value(self):
        assert serialize(AttrValue(list=AttrValue.ListValue())) == bytes.fromhex("0a 00")
        assert serialize(AttrValue()) == b""

    def test_a_structured_integer_is_zigzag(self):
        assert serialize(StructuredValue(int64_value=-2)) == bytes.fromhex("60 03")

    def test_a_checksum_has_fixed_width(self):
        assert serialize(BundleEntryProto(crc32c=0x04030201)) == bytes.fromhex("35 01 02 03 04")

    def test_lists_of_numbers_are_written_packed(self):
        assert serialize(VersionDef(bad_consumers=[1, 2])) == bytes.fromhex("1a 02 01 02")

    def test_lists_of_numbers_are_read_unpacked_too(self):
        assert parse(VersionDef, bytes.fromhex("18 01 18 02"), "v") == VersionDef(bad_consumers=[1, 2])

    def test_debug_info_knows_a_zero_from_nothing(self):
        assert serialize(GraphDebugInfo.FileLineCol(line=0)) == bytes.fromhex("10 00")

    @given(st.permutations(["", "seed", "seed2", "a", "Z", "é"]))
    def test_maps_have_one_order_however_they_were_filled(self, keys):
        node, other = NodeDef(), NodeDef()
        for key in keys:
            node.attr[key].i = 1
        for key in sorted(keys):
            other.attr[key].i = 1
        assert serialize(node) == serialize(other)

    def test_a_reference_type_is_a_hundred_above_its_base(self):
        references = {name: number for name, number in DataType.items() if name.endswith("_REF")}
        bases = {name: number for name, number in DataType.items() if number not in references.values()}
        assert references == {f"{name}_REF": number + 100 for name, number in bases.items() if name != "DT_INVALID"}

    def test_has_checkpoint_values_tells_false_from_unset(self):
        node = TrackableObjectGraph.TrackableObject()
        assert not node.HasField("has_checkpoint_values")
        node.has_checkpoint_values.value = False
        assert serialize(node) == bytes.fromhex("2a 00")


class TestGoldenFiles:
    @pytest.mark.parametrize(("name", "message_type"), binary_files())
    def test_are_written_again_byte_for_byte(self, name, message_type):
        data = (ROOT / name).read_bytes()
        assert serialize(parse(message_type, data, name)) == data

    @pytest.mark.parametrize(("name", "message_type"), binary_files())
    def test_hold_no_field_that_the_schemas_lack(self, name, message_type):
        assert unknown_fields(parse(message_type, (ROOT / name).read_bytes(), name)) == []

    def test_are_many(self):
        assert len(binary_files()) > 40


class TestParse:
    @pytest.mark.parametrize(
        "data",
        [
            pytest.param(b"\x0a\x05ab", id="cut off"),
            pytest.param(b"\x0f", id="no such wire type"),
            pytest.param(b"\xff" * 11, id="endless varint"),
            pytest.param(b"\x0a\x02\xff\xfe", id="string is not UTF-8"),
        ],
    )
    def test_bytes_that_are_no_message_are_data_loss(self, data):
        with pytest.raises(DataLossError, match=rf"^graph\.pb: not a valid NodeDef \({len(data)} bytes\)"):
            parse(NodeDef, data, "graph.pb")

    def test_bottomless_nesting_is_data_loss(self):
        nested = FullTypeDef()
        leaf = nested
        for _ in range(300):
            leaf = leaf.args.add()
        with pytest.raises(DataLossError, match="not a valid FullTypeDef"):
            parse(FullTypeDef, serialize(nested), "type")

    def test_a_view_is_as_good_as_bytes(self):
        assert parse(VersionDef, memoryview(b"xx\x08\x07xx")[2:4], "v") == VersionDef(producer=7)

    def test_fields_of_the_future_survive(self):
        data = serialize(VersionDef(producer=7)) + bytes.fromhex("a2 06 03 61 62 63")
        assert serialize(parse(VersionDef, data, "v")) == data

    @given(st.binary(max_size=200))
    def test_any_bytes_are_a_message_or_data_loss(self, data):
        for message_type in (SavedModel, TensorProto, GraphDebugInfo):
            with contextlib.suppress(DataLossError):
                serialize(parse(message_type, data, "fuzz"))

    @given(data=st.data())
    def test_any_damage_leaves_a_message_or_data_loss(self, data):
        whole = (ROOT / "g26_tf1_simple_save/model/saved_model.pb").read_bytes()
        damaged = bytearray(whole[: data.draw(st.integers(0, len(whole)), label="length")])
        for at in data.draw(st.lists(st.integers(0, len(whole) - 1), max_size=5), label="flipped"):
            if at < len(damaged):
                damaged[at] ^= 1 << data.draw(st.integers(0, 7), label="bit")
        with contextlib.suppress(DataLossError):
            parse(SavedModel, bytes(damaged), "fuzz")


class TestSerialize:
    def test_a_message_that_protobuf_refuses_is_an_invalid_argument(self):
        class TooLarge:  # A real one takes 2 GiB.
            DESCRIPTOR = TensorProto.DESCRIPTOR

            def SerializeToString(self, deterministic):  # noqa: N802
                raise EncodeError("Failed to serialize proto")

        with pytest.raises(InvalidArgumentError, match="TensorProto cannot be serialized; is it larger than 2 GiB"):
            serialize(TooLarge())


class TestPrivatePool:
    @pytest.mark.parametrize("implementation", ["upb", "python"])
    def test_the_default_pool_never_hears_of_our_messages(self, implementation):
        program = """
from google.protobuf import descriptor_pool
from google.protobuf.internal import api_implementation
from tensorkeep.proto import messages, text
graph = messages.GraphDef(node=[messages.NodeDef(name="a", attr={"T": messages.AttrValue(type=1)})])
assert messages.parse(messages.GraphDef, messages.serialize(graph), "graph") == graph
assert text.parse_text(messages.GraphDef, text.format_text(graph), "graph") == graph
for name in messages.__all__:
    for symbol in (f"tensorflow.{name}", f"tensorflow.error.{name}"):
        try:
            descriptor_pool.Default().FindFileContainingSymbol(symbol)
        except KeyError:
            continue
        raise SystemExit(f"{symbol} is in the default pool")
print(api_implementation.Type())
"""
        environment = dict(os.environ, PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=implementation)
        result = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
        )
        assert (result.stdout, result.returncode) == (f"{implementation}\n", 0), result.stderr

    def test_messages_are_named_after_where_they_are_defined(self):
        assert repr(TensorShapeProto.Dim).endswith("tensor_pb2.TensorShapeProto.Dim'>")
        assert GraphDef.DESCRIPTOR.full_name == "tensorflow.GraphDef"

    def test_any_carries_our_messages_under_their_public_names(self):
        info = MetaGraphDef.MetaInfoDef()
        info.any_info.Pack(CheckpointState(model_checkpoint_path="m"))
        assert info.any_info.type_url == "type.googleapis.com/tensorflow.CheckpointState"
        unpacked = CheckpointState()
        assert info.any_info.Unpack(unpacked)
        assert unpacked.model_checkpoint_path == "m"
