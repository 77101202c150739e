"""Our messages beside TensorFlow's own: the same schemas, the same bytes, the same text, in one process."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pytest
import tensorflow as tf
from google.protobuf import descriptor_pool, text_format
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message_factory import GetMessageClass

from tensorkeep.proto import messages, serving, session_config
from tensorkeep.proto.messages import CheckpointState, CollectionDef, Message, VersionDef, parse, serialize
from tensorkeep.proto.text import format_text, parse_text
from tests.proto.golden_messages import binary_files
from tests.support.golden import ROOT

# Importing a module adds its messages, and those they are made of, to the default pool.
for _module in [
    "tensorflow.core.example.example_pb2",
    "tensorflow.core.framework.graph_pb2",
    "tensorflow.core.framework.variable_pb2",
    "tensorflow.core.protobuf.config_pb2",
    "tensorflow.core.protobuf.control_flow_pb2",
    "tensorflow.core.protobuf.fingerprint_pb2",
    "tensorflow.core.protobuf.named_tensor_pb2",
    "tensorflow.core.protobuf.queue_runner_pb2",
    "tensorflow.core.protobuf.saved_model_pb2",
    "tensorflow.core.protobuf.tensor_bundle_pb2",
    "tensorflow.core.util.event_pb2",
    "tensorflow.core.util.saved_tensor_slice_pb2",
    "tensorflow.python.training.checkpoint_state_pb2",
    "tensorflow_serving.apis.get_model_metadata_pb2",
    "tensorflow_serving.apis.get_model_status_pb2",
    "tensorflow_serving.apis.model_management_pb2",
    "tensorflow_serving.apis.prediction_log_pb2",
    "tensorflow_serving.config.platform_config_pb2",
]:
    importlib.import_module(_module)

THEIRS = descriptor_pool.Default()

# A placeholder that no file can hold.
LEFT_OUT = {"tensorflow.error.Code": {"DO_NOT_USE_RESERVED_FOR_FUTURE_EXPANSION_USE_DEFAULT_IN_SWITCH_INSTEAD_": 20}}

PATHS = ["plain", 'a"b', "a'b", "a\\b", "a\nb", "a\tb", "ünï → 漢 😀", "\x01\x7f\x85\u2028", "/absolute"]


def nested(descriptor: Descriptor) -> Iterator[Descriptor]:
    yield descriptor
    for inner in descriptor.nested_types:
        yield from nested(inner)


def exported() -> list[Any]:
    """Our messages and enums, without those that only DeepRec has, or that TensorFlow Serving ships no Python for."""
    return [
        getattr(module, name)
        for module in (messages, session_config, serving)
        for name in module.__all__
        if name not in NAMES_OF_DEEPREC and name not in NAMES_OF_THE_SERVER
    ]


def our_messages() -> dict[str, Descriptor]:
    outer = [each.DESCRIPTOR for each in exported() if isinstance(each, type) and each is not Message]
    return {each.full_name: each for descriptor in outer for each in nested(descriptor)}


def our_enums() -> dict[str, EnumDescriptor]:
    found = [getattr(each, "DESCRIPTOR", None) for each in exported()]
    outer = [each for each in found if isinstance(each, EnumDescriptor)]
    inner = [enum for descriptor in our_messages().values() for enum in descriptor.enum_types]
    return {each.full_name: each for each in outer + inner}


NAMES_OF_THE_SERVER = (
    *("BatchingParameters", "ModelWarmupOptions", "MonitoringConfig", "PrometheusConfig", "SSLConfig"),
    *("SavedModelBundleSourceAdapterConfig", "SessionBundleConfig", "HealthCheckRequest", "HealthCheckResponse"),
)
NAMES_OF_DEEPREC = (
    "AsyncEmbeddingOptions",
    "CudaGraphModeOptions",
    "ExecutorPolicy",
    "StageSubGraphThreadPoolOptionsProto",
)
OF_DEEPREC = (
    "incr_saver_def",
    *("is_hash_table", "hash_slice_begin", "hash_slice_length", "hash_slice_size"),
    *("cuda_graph_mode_compatible", "cuda_graph_enable_jit"),
    *("do_op_fusion", "micro_batch_num", "do_smart_stage", "do_smart_stage_gpu", "do_async_embedding"),
    *("async_embedding_options", "embedding_layer_device_placement_optimization", "stage_multi_stream"),
    *("tensor_fuse", "run_graph_mode", "run_graph_mode_lite", "executor_policy", "use_per_session_stream"),
    *("per_session_devices", "cuda_graph_mode_options", "session_stage_subgraph_thread_pool"),
    *("use_stage_subgraph_thread_pool", "stage_subgraph_thread_pool_id"),
)
"""Fields that only DeepRec's messages have, under numbers that TensorFlow's do not use."""


def fields(descriptor: Descriptor) -> dict[int, dict[str, object]]:
    return {field.number: describe(field) for field in descriptor.fields}


def describe(field: FieldDescriptor) -> dict[str, object]:
    return {
        "name": field.name,
        "type": field.type,
        "label": "required" if field.is_required else "repeated" if field.is_repeated else "optional",
        "packed": field.is_packed,
        "presence": field.has_presence,
        "default": field.default_value,
        "json name": field.json_name,
        "deprecated": field.GetOptions().deprecated,
        "oneof": field.containing_oneof and field.containing_oneof.name,
        "map": bool(field.message_type and field.message_type.GetOptions().map_entry),
        "message": field.message_type and field.message_type.full_name,
        "enum": field.enum_type and field.enum_type.full_name,
    }


def their_type(ours: type[Message]) -> Any:
    return GetMessageClass(THEIRS.FindMessageTypeByName(ours.DESCRIPTOR.full_name))


class TestSchemas:
    def test_are_compared_one_and_all(self):
        assert {"tensorflow.GraphDef", "tensorflow.TensorShapeProto.Dim"} < our_messages().keys()
        assert {"tensorflow.DataType", "tensorflow.SaverDef.CheckpointFormatVersion"} < our_enums().keys()
        assert (len(our_messages()), len(our_enums())) == (252, 26)

    @pytest.mark.parametrize("name", sorted(our_messages()))
    def test_a_message_has_the_same_fields(self, name):
        ours, theirs = our_messages()[name], THEIRS.FindMessageTypeByName(name)
        assert ours is not theirs
        assert {number: field for number, field in fields(ours).items() if field["name"] not in OF_DEEPREC} == fields(
            theirs
        )
        assert set(ours.nested_types_by_name) == set(theirs.nested_types_by_name)
        assert set(ours.enum_types_by_name) == set(theirs.enum_types_by_name)
        assert set(ours.oneofs_by_name) == set(theirs.oneofs_by_name)

    @pytest.mark.parametrize("name", sorted(our_enums()))
    def test_an_enum_has_the_same_values(self, name):
        ours, theirs = our_enums()[name], THEIRS.FindEnumTypeByName(name)
        wanted = {value.name: value.number for value in theirs.values}
        assert {value.name: value.number for value in ours.values} | LEFT_OUT.get(name, {}) == wanted


class TestExchange:
    @pytest.mark.parametrize(("name", "message_type"), binary_files())
    def test_text_is_the_same_and_goes_both_ways(self, name, message_type):
        ours = parse(message_type, (ROOT / name).read_bytes(), name)
        theirs = their_type(message_type).FromString(serialize(ours))
        text = text_format.MessageToString(theirs)
        assert format_text(ours) == text
        assert serialize(parse_text(message_type, text, name)) == serialize(ours)

    @pytest.mark.parametrize(("name", "message_type"), binary_files())
    def test_bytes_are_the_same_and_go_both_ways(self, name, message_type):
        theirs = their_type(message_type).FromString((ROOT / name).read_bytes())
        data = theirs.SerializeToString(deterministic=True)
        assert serialize(parse(message_type, data, name)) == data

    def test_any_goes_both_ways(self):
        theirs = their_type(CollectionDef)()
        theirs.any_list.value.add().Pack(their_type(VersionDef)(producer=3))
        ours = CollectionDef()
        ours.any_list.value.add().Pack(VersionDef(producer=3))
        assert ours.any_list.value[0].type_url == "type.googleapis.com/tensorflow.VersionDef"
        assert serialize(ours) == theirs.SerializeToString()
        text = text_format.MessageToString(theirs, descriptor_pool=THEIRS)
        assert format_text(ours) == text
        assert parse_text(CollectionDef, text, "collection") == ours

    def test_a_state_file_has_the_same_escapes(self, tmp_path):
        times = [1794725063.960991, 1e300, 0.1, 5.0, 1e-7, 0.0, 3.0, 1794725062.9256759, 1e16]
        tf.compat.v1.train.update_checkpoint_state(
            str(tmp_path), PATHS[-1], PATHS, all_model_checkpoint_timestamps=times, last_preserved_timestamp=1.0
        )
        written = (tmp_path / "checkpoint").read_bytes()
        state = parse_text(CheckpointState, written, "checkpoint")
        assert list(state.all_model_checkpoint_paths) == PATHS
        assert list(state.all_model_checkpoint_timestamps) == times
        assert format_text(state).encode("utf-8") == written

    def test_tensorflow_reads_a_state_file_of_ours(self, tmp_path):
        absolute = [f"/{path}" for path in PATHS]
        state = CheckpointState(model_checkpoint_path=absolute[-1], all_model_checkpoint_paths=absolute)
        (tmp_path / "checkpoint").write_text(format_text(state), encoding="utf-8")
        assert list(tf.train.get_checkpoint_state(str(tmp_path)).all_model_checkpoint_paths) == absolute
