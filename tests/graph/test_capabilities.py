"""What ops do besides computing: the table covers all ops, and agrees with what kernels are allowed to do."""

from __future__ import annotations

import pytest

import tensorkeep.ops.every  # noqa: F401 - registers every op
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph import opspec
from tensorkeep.graph.capabilities import (
    Allowed,
    Capability,
    capabilities_of_node,
    capabilities_of_op,
    classed_ops,
    possible_capabilities,
    state_capabilities,
    tensorflow_ops,
)
from tensorkeep.graph.computing_ops import COMPUTING_OPS
from tensorkeep.graph.op_families import OP_FAMILIES
from tensorkeep.graph.opspec import find_op, op, registered_ops
from tensorkeep.proto.messages import NodeDef


def test_all_ops_of_tensorflow_are_known():
    assert len(tensorflow_ops()) >= 1850
    assert tensorflow_ops() >= set(registered_ops()) - {name for name in registered_ops() if name.startswith("Test")}


def test_the_table_of_families_names_every_paragraph():
    listed = {name for names in OP_FAMILIES.values() for name in names.split()}
    own = {name for name, spec in registered_ops().items() if not name.startswith("Test")}
    assert own & tensorflow_ops() == listed, "run tools/compile_known_ops.py"


def test_every_op_is_classed_by_hand():
    own = {name for name in registered_ops() if not name.startswith("Test")}
    assert (own | tensorflow_ops()) - set(classed_ops()) == set(), "see state_capabilities for what to do"


def test_no_op_both_computes_only_and_does_more():
    twice = [name for name in COMPUTING_OPS.split() if classed_ops()[name]]
    assert twice == []
    assert len(COMPUTING_OPS.split()) == len(set(COMPUTING_OPS.split()))


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
        else:
            found.attr[name].s = value
    return found


@pytest.mark.parametrize(
    ("given", "effects"),
    [
        (node("DebugIdentity", debug_urls=[b"file:///tmp/x"]), {Capability.WRITES_FILES}),
        (node("DebugIdentityV3", debug_urls=[b"grpc://evil:80"]), {Capability.USES_NETWORK}),
        (node("DebugIdentity"), set()),
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
