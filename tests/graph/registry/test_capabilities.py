"""What ops do besides computing: the table covers all ops, and agrees with what kernels are allowed to do."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

import tensorkeep.ops.every  # noqa: F401 - registers every op
from tensorkeep.dtypes import STRING
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.registry import opspec
from tensorkeep.graph.registry.capabilities import (
    Allowed,
    Capability,
    asked_attributes,
    capabilities_of_node,
    capabilities_of_op,
    classed_ops,
    possible_capabilities,
    state_capabilities,
    tensorflow_ops,
)
from tensorkeep.graph.registry.computing_ops import COMPUTING_OPS
from tensorkeep.graph.registry.effect_ops import EFFECT_GROUPS
from tensorkeep.graph.registry.op_families import OP_FAMILIES
from tensorkeep.graph.registry.opspec import find_op, get_op, op, registered_ops
from tensorkeep.graph.registry.stateful_ops import STATEFUL_OPS
from tensorkeep.proto.messages import NodeDef


def groups() -> list[tuple[frozenset[Capability], str, list[str]]]:
    """The table as it is written: what ops of a group do, why, and which they are."""
    computing = [*COMPUTING_OPS.items(), *STATEFUL_OPS.items()]
    plain = [(frozenset[Capability](), reason, names.split()) for reason, names in computing]
    return plain + [(frozenset(group.capabilities), group.reason, group.names.split()) for group in EFFECT_GROUPS]


LISTED = [name for _, _, names in groups() for name in names]
ONLY_COMPUTING = [name for capabilities, _, names in groups() for name in names if not capabilities]


def own_ops() -> set[str]:
    return {name for name in registered_ops() if not name.startswith("Test")}


def test_all_ops_of_tensorflow_are_known():
    assert len(tensorflow_ops()) >= 1850
    assert tensorflow_ops() >= own_ops()


def test_the_table_of_families_names_every_paragraph():
    listed = {name for names in OP_FAMILIES.values() for name in names.split()}
    assert own_ops() & tensorflow_ops() == listed, "run tools/compile_known_ops.py"


def test_every_op_is_classed_by_hand():
    assert (own_ops() | tensorflow_ops()) - set(LISTED) == set(), "see state_capabilities for what to do"


def test_an_op_stands_in_one_group_once():
    assert sorted(name for name, count in Counter(LISTED).items() if count > 1) == []


def test_nothing_is_classed_that_neither_tensorflow_nor_deeprec_has():
    assert set(LISTED) - tensorflow_ops() == set()


def test_the_table_is_what_is_written():
    assert classed_ops() == {name: capabilities for capabilities, _, names in groups() for name in names}


@pytest.mark.parametrize(("names", "reason"), [(names, reason) for _, reason, names in groups()])
def test_a_group_has_a_reason_and_is_in_order(names, reason):
    assert len(reason.split()) > 1
    assert names == sorted(names)


def test_what_keeps_state_is_said_why_it_only_computes():
    """An op that TensorFlow calls stateful stands with the reason why its state is not an effect."""
    explained = {name for names in STATEFUL_OPS.values() for name in names.split()}
    stateful = {name for name in ONLY_COMPUTING if get_op(name).schema.is_stateful}
    assert stateful - explained == set()


REFERENCES_PASSED_ON = {"DebugGradientRefIdentity", "RefEnter", "RefExit", "RefIdentity", "RefMerge"} | {
    "RefNextIteration",
    "RefSelect",
    "RefSwitch",
}


def test_what_takes_references_is_said_too_unless_it_passes_them_on():
    explained = {name for names in STATEFUL_OPS.values() for name in names.split()}
    takes = {name for name in ONLY_COMPUTING if any(item.is_ref for item in get_op(name).schema.inputs)}
    assert takes - explained == REFERENCES_PASSED_ON


def test_the_guide_tells_how_many_ops_there_are_of_each_class():
    text = (Path(__file__).parents[3] / "docs" / "guide" / "safety.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| `([a-z/_.-]+)` \|(?: [^|]+ \|)? (\d+) \|$", text, re.MULTILINE))
    counts = Counter(item.identifier for capabilities in classed_ops().values() for item in capabilities)
    counts["graph/registry/computing_ops.py"] = sum(len(names.split()) for names in COMPUTING_OPS.values())
    counts["graph/registry/stateful_ops.py"] = sum(len(names.split()) for names in STATEFUL_OPS.values())
    counts["graph/registry/effect_ops.py"] = sum(len(group.names.split()) for group in EFFECT_GROUPS)
    assert {name: int(number) for name, number in told.items()} == dict(counts)


# -------------------------------------------------------------------------------------- strings that could be addresses

HARMLESS_ATTRIBUTES = {
    "names under which the process keeps something in memory": """
        batching_queue children container containers frame_name sa_name shared_name shared_names stack_name table_name
        tensor_array_name var_name variables
    """,
    "names of tensors, nodes, keys and fields, that are compared or shown": """
        combiner combiners context_dense_keys context_sparse_keys debug_name dense_keys description display_name
        feature_list_dense_keys feature_list_dense_missing_assumed_empty feature_list_sparse_keys field_names id
        input_order io_of_node labels message message_type metadata mini_batch_in_csr mini_batch_splits op_name op_names
        ragged_keys source sparse_keys tensor_name tfdbg_context_id tfdbg_run_id
    """,
    "devices of the process, by their names": "allowed_devices device_name device_names devices",
    "one of a few words": """
        activation_mode bad_indices_policy compression_type data_format dct_method deterministic dst_format encoding
        fill_mode fused_ops ht_type input_encoding interpolation kernel_type layout message_format mode noise padding
        part_mode precision_config row_partition_types set_operation src_format step_marker_location
    """,
    "text that is worked with": """
        equation field_delim fill left_pad na_value pattern placeholder rewrite right_pad separator template
        xmp_metadata
    """,
    "messages that say how to compute: none has a field for a path or an address that computing opens": """
        cardinality_options config config_proto dimension_numbers embedding_partitions executor_type hbm_buffers_config
        host_compute_core manual_sharding optimization_configs padding_map serialized_options sharding
        stateful_whitelist topology tpu_compile_options_proto tpu_topology tuple_mask
    """,
    "paths that are used only if another attribute says so, which is asked": "storage_path",
}
HARMLESS_INPUTS = {
    "the content itself": """
        batch bytes contents data input input_bytes inputs json_examples records serialized serialized_sparse
        serialized_summary_metadata state string_tensor tree_ensemble_serialized
    """,
    "paths that become text": "basename works",
    "handles that the process gave": "handle string_handle",
    "names of keys, tensors, statistics and summaries": """
        context_dense_keys context_ragged_keys context_sparse_keys counter_prefix debug_name dense_keys
        feature_list_dense_keys feature_list_dense_missing_assumed_empty feature_list_ragged_keys
        feature_list_sparse_keys keys names ragged_keys sparse_keys tag tags tensor_names
    """,
    "text that is worked with": "delimiter pattern rewrite sep",
    "words that say how to compute": """
        compilation_status memory_configs method mode_override optimizations optimizations_default
        optimizations_disabled optimizations_enabled program_key rewrite_name split_types transformations
    """,
}


def words(groups: dict[str, str]) -> set[str]:
    return {name for names in groups.values() for name in names.split()}


def test_every_string_attribute_of_what_only_computes_was_looked_at():
    """A path or an address can only come by one of these, each of which is harmless or asked by its value."""
    found = {
        item.name
        for name in ONLY_COMPUTING
        for item in get_op(name).schema.attrs
        if item.kind in ("string", "list(string)") and not item.allowed and item.name not in asked_attributes(name)
    }
    assert found == words(HARMLESS_ATTRIBUTES)


def test_every_string_that_what_only_computes_is_given_was_looked_at():
    found = {
        item.name
        for name in ONLY_COMPUTING
        for item in get_op(name).schema.inputs
        if item.dtype is STRING and not item.is_ref
    }
    assert found == words(HARMLESS_INPUTS)


def test_an_attribute_that_is_asked_is_one_that_the_op_has():
    asked = [name for name in LISTED if asked_attributes(name)]
    assert len(asked) == 14
    for name in asked:
        assert asked_attributes(name) & {item.name for item in get_op(name).schema.attrs}, name


def test_an_op_of_tensorflow_without_a_class_cannot_be_registered(monkeypatch):
    monkeypatch.delitem(classed_ops(), "XlaDot")
    monkeypatch.delitem(opspec._REGISTRY, "XlaDot", raising=False)
    with pytest.raises(InvalidArgumentError, match=r"XlaDot is an op of TensorFlow that has no capability class"):
        op("XlaDot(lhs: float) -> output: float")
    assert "XlaDot" not in opspec._REGISTRY


def test_what_an_op_of_tensorflow_does_is_not_for_others_to_say():
    with pytest.raises(InvalidArgumentError, match="WriteFile is an op of TensorFlow"):
        state_capabilities("WriteFile", ())


def test_an_op_of_ones_own_does_what_its_program_says():
    state_capabilities("TestSilent", None)
    state_capabilities("TestHarmless", ())
    state_capabilities("TestChatty", Capability.PRINTS)
    assert capabilities_of_op("TestSilent") == {Capability.RUNS_UNKNOWN_CODE}
    assert capabilities_of_op("TestHarmless") == set()
    assert capabilities_of_node(node("TestChatty")) == {Capability.PRINTS}


def test_an_attribute_that_a_caller_fills_in_could_be_anything():
    given = NodeDef(name="n", op="InitializeKvVariableV2Op")
    given.attr["storage_type"].placeholder = "kind"
    assert capabilities_of_node(given) == {Capability.WRITES_FILES}
    other = NodeDef(name="n", op="Copy")
    other.attr["T"].placeholder = "T"
    assert capabilities_of_node(other) == set()


def test_what_attributes_can_make_of_an_op_is_known_without_them():
    assert possible_capabilities("PrintV2") == {Capability.PRINTS, Capability.WRITES_FILES}
    assert possible_capabilities("InitializeKvVariableOp") == {Capability.WRITES_FILES}
    assert possible_capabilities("MatMul") == set()


def test_what_is_allowed_by_class_or_by_type():
    both = frozenset((Capability.PRINTS, Capability.WRITES_FILES))
    assert Allowed(frozenset((Capability.PRINTS,))).lacking("PrintV2", both) is Capability.WRITES_FILES
    assert Allowed(operations=frozenset(("PrintV2",))).lacking("PrintV2", both) is None
    assert Allowed().lacking("MatMul", frozenset()) is None


@pytest.mark.parametrize(
    ("op", "effect"),
    [
        ("ReadFile", Capability.READS_FILES),
        ("MatchingFiles", Capability.READS_FILES),
        ("ImmutableConst", Capability.READS_FILES),
        ("LMDBReader", Capability.READS_FILES),
        ("TextLineDataset", Capability.READS_FILES),
        ("WriteFile", Capability.WRITES_FILES),
        ("SaveV2", Capability.WRITES_FILES),
        ("CreateSummaryFileWriter", Capability.WRITES_FILES),
        ("DumpTensor", Capability.WRITES_FILES),
        ("RpcCall", Capability.USES_NETWORK),
        ("CollectiveReduceV2", Capability.USES_NETWORK),
        ("DataServiceDatasetV4", Capability.USES_NETWORK),
        ("CrossReplicaSum", Capability.USES_NETWORK),
        ("NcclAllReduce", Capability.USES_NETWORK),
        ("DTensorAllReduce", Capability.USES_NETWORK),
        ("XlaAllReduce", Capability.USES_NETWORK),
        ("Relayout", Capability.USES_NETWORK),
        ("XlaSendToHost", Capability.USES_NETWORK),
        ("DistributedSave", Capability.USES_NETWORK),
        ("MergeV2Checkpoints", Capability.READS_FILES),
        ("FinalizeTPUEmbedding", Capability.CONTROLS_PROCESS),
        ("DeserializeIterator", Capability.RUNS_UNKNOWN_CODE),
        ("TPUReshardVariables", Capability.RUNS_UNKNOWN_CODE),
        ("_XlaRun", Capability.RUNS_UNKNOWN_CODE),
        ("PyFunc", Capability.CALLS_PYTHON),
        ("EagerPyFunc", Capability.CALLS_PYTHON),
        ("PrintV2", Capability.PRINTS),
        ("Abort", Capability.CONTROLS_PROCESS),
        ("DatasetFromGraph", Capability.RUNS_UNKNOWN_CODE),
        ("XlaCustomCallV2", Capability.RUNS_UNKNOWN_CODE),
        ("NobodysOp", Capability.RUNS_UNKNOWN_CODE),
        ("", Capability.RUNS_UNKNOWN_CODE),
    ],
)
def test_an_op_has_its_effect(op, effect):
    assert effect in capabilities_of_op(op)


@pytest.mark.parametrize(
    "op", ["MatMul", "Placeholder", "LookupTableFindV2", "RandomUniform", "Assert", "ParseExampleV2"]
)
def test_an_op_that_computes_has_no_effects(op):
    assert capabilities_of_op(op) == frozenset()


def test_an_op_that_does_two_things_has_both():
    assert capabilities_of_op("SqlDataset") == {Capability.READS_FILES, Capability.USES_NETWORK}


def node(op: str, **attributes: object) -> NodeDef:
    found = NodeDef(name="n", op=op)
    for name, value in attributes.items():
        if isinstance(value, list):
            found.attr[name].list.s.extend(value)
        elif isinstance(value, int):
            found.attr[name].i = value
        else:
            found.attr[name].s = value
    return found


@pytest.mark.parametrize(
    ("given", "effects"),
    [
        (node("DebugIdentity", debug_urls=[b"file:///tmp/x"]), {Capability.WRITES_FILES}),
        (node("DebugIdentityV3", debug_urls=[b"grpc://evil:80"]), {Capability.USES_NETWORK}),
        (node("DebugIdentity"), set()),
        (node("DebugIdentity", debug_urls=[b"GRPC://evil:80"]), {Capability.USES_NETWORK}),
        (node("DebugNumericSummary", debug_urls=[b"FILE:///tmp/x"]), {Capability.WRITES_FILES}),
        (node("DebugIdentity", debug_urls=[b"memcbk:///key"]), set()),
        (node("InitializeKvVariableV2Op", storage_type=1), set()),
        (node("InitializeKvVariableV2Op", storage_type=3), {Capability.WRITES_FILES}),
        (node("InitializeKvVariableV2Op", storage_type=11), {Capability.WRITES_FILES}),
        (node("InitializeKvVariableV2Op", storage_type=12), {Capability.WRITES_FILES}),
        (node("Copy", debug_ops_spec=[b"DebugIdentity;file:///tmp/x;0"]), {Capability.WRITES_FILES}),
        (node("CopyHost", debug_ops_spec=[b"DebugIdentity;grpc://evil:80;1"]), {Capability.USES_NETWORK}),
        (node("PrintV2", output_stream=b"file:///etc/motd"), {Capability.PRINTS, Capability.WRITES_FILES}),
        (node("PrintV2", output_stream=b"stderr"), {Capability.PRINTS}),
        (node("DecodeProtoV2", descriptor_source=b"/tmp/x"), {Capability.READS_FILES}),
        (node("DecodeProtoV2", descriptor_source=b"bytes://abc"), set()),
        (node("FixedUnigramCandidateSampler", vocab_file=b"/etc/passwd"), {Capability.READS_FILES}),
        (node("FixedUnigramCandidateSampler"), set()),
    ],
)
def test_attributes_can_make_an_op_do_more(given, effects):
    assert capabilities_of_node(given) == effects


def test_looking_at_attributes_leaves_the_node_as_it_is():
    given = node("PrintV2")
    capabilities_of_node(given)
    assert "output_stream" not in given.attr


def test_effects_have_one_word_each():
    assert Capability.READS_FILES.identifier == "reads-files"
    assert len({effect.identifier for effect in Capability}) == len(Capability)


def test_an_op_is_found_by_importing_its_family_only_when_asked():
    assert find_op("MatMul") is registered_ops()["MatMul"]
