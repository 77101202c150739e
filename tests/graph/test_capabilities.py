"""What ops do besides computing: the table covers all ops, and agrees with what kernels are allowed to do."""

from __future__ import annotations

import pytest

import tensorkeep.ops.every  # noqa: F401 - registers every op
from tensorkeep.graph.capabilities import Effect, effects_of_node, effects_of_op, tensorflow_ops
from tensorkeep.graph.op_families import OP_FAMILIES
from tensorkeep.graph.opspec import find_op, registered_ops
from tensorkeep.proto.messages import NodeDef


def test_all_ops_of_tensorflow_are_known():
    assert len(tensorflow_ops()) >= 1908
    assert tensorflow_ops() >= set(registered_ops()) - {name for name in registered_ops() if name.startswith("Test")}


def test_the_table_of_families_names_every_paragraph():
    listed = {name for names in OP_FAMILIES.values() for name in names.split()}
    own = {name for name, spec in registered_ops().items() if not name.startswith("Test")}
    assert own & tensorflow_ops() == listed, "run tools/compile_known_ops.py"


def test_what_a_kernel_needs_is_in_the_table():
    differing = {
        name: (spec.needs, effects_of_op(name))
        for name, spec in registered_ops().items()
        if spec.needs is not None
        and not name.startswith("Test")
        and Effect(spec.needs.value) not in effects_of_op(name)
    }
    assert differing == {}


def test_a_kernel_that_does_more_than_compute_says_so():
    """`Abort` raises an error here, and ends nothing."""
    silent = {
        name
        for name, spec in registered_ops().items()
        if name in tensorflow_ops() and effects_of_op(name) and spec.needs is None and spec.kernel_function is not None
    }
    assert silent == {"Abort"}


@pytest.mark.parametrize(
    ("op", "effect"),
    [
        ("ReadFile", Effect.READS_FILES),
        ("MatchingFiles", Effect.READS_FILES),
        ("ImmutableConst", Effect.READS_FILES),
        ("LMDBReader", Effect.READS_FILES),
        ("TextLineDataset", Effect.READS_FILES),
        ("WriteFile", Effect.WRITES_FILES),
        ("SaveV2", Effect.WRITES_FILES),
        ("CreateSummaryFileWriter", Effect.WRITES_FILES),
        ("DumpTensor", Effect.WRITES_FILES),
        ("RpcCall", Effect.USES_NETWORK),
        ("CollectiveReduceV2", Effect.USES_NETWORK),
        ("DataServiceDatasetV4", Effect.USES_NETWORK),
        ("PyFunc", Effect.CALLS_PYTHON),
        ("EagerPyFunc", Effect.CALLS_PYTHON),
        ("PrintV2", Effect.PRINTS),
        ("Abort", Effect.CONTROLS_PROCESS),
        ("DatasetFromGraph", Effect.RUNS_UNKNOWN_CODE),
        ("XlaCustomCallV2", Effect.RUNS_UNKNOWN_CODE),
        ("NobodysOp", Effect.RUNS_UNKNOWN_CODE),
        ("", Effect.RUNS_UNKNOWN_CODE),
    ],
)
def test_an_op_has_its_effect(op, effect):
    assert effect in effects_of_op(op)


@pytest.mark.parametrize(
    "op", ["MatMul", "Placeholder", "LookupTableFindV2", "RandomUniform", "Assert", "ParseExampleV2"]
)
def test_an_op_that_computes_has_no_effects(op):
    assert effects_of_op(op) == frozenset()


def test_an_op_that_does_two_things_has_both():
    assert effects_of_op("SqlDataset") == {Effect.READS_FILES, Effect.USES_NETWORK}


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
        (node("DebugIdentity", debug_urls=[b"file:///tmp/x"]), {Effect.WRITES_FILES}),
        (node("DebugIdentityV3", debug_urls=[b"grpc://evil:80"]), {Effect.USES_NETWORK}),
        (node("DebugIdentity"), set()),
        (node("Copy", debug_ops_spec=[b"DebugIdentity;file:///tmp/x;0"]), {Effect.WRITES_FILES}),
        (node("CopyHost", debug_ops_spec=[b"DebugIdentity;grpc://evil:80;1"]), {Effect.USES_NETWORK}),
        (node("PrintV2", output_stream=b"file:///etc/motd"), {Effect.PRINTS, Effect.WRITES_FILES}),
        (node("PrintV2", output_stream=b"stderr"), {Effect.PRINTS}),
        (node("DecodeProtoV2", descriptor_source=b"/tmp/x"), {Effect.READS_FILES}),
        (node("DecodeProtoV2", descriptor_source=b"bytes://abc"), set()),
        (node("FixedUnigramCandidateSampler", vocab_file=b"/etc/passwd"), {Effect.READS_FILES}),
        (node("FixedUnigramCandidateSampler"), set()),
    ],
)
def test_attributes_can_make_an_op_do_more(given, effects):
    assert effects_of_node(given) == effects


def test_looking_at_attributes_leaves_the_node_as_it_is():
    given = node("PrintV2")
    effects_of_node(given)
    assert "output_stream" not in given.attr


def test_effects_have_one_word_each():
    assert Effect.READS_FILES.identifier == "reads-files"
    assert len({effect.identifier for effect in Effect}) == len(Effect)


def test_an_op_is_found_by_importing_its_family_only_when_asked():
    assert find_op("MatMul") is registered_ops()["MatMul"]
