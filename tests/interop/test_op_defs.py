"""Every op of TensorFlow: its OpDef passes through our grammar unchanged, and is known here."""

from __future__ import annotations

import pytest

from tensorkeep.graph.registry.known_ops import KNOWN_OPS
from tensorkeep.graph.registry.op_outputs import OUTPUT_COUNTS
from tensorkeep.graph.registry.opspec import find_op, registered_ops
from tensorkeep.graph.registry.schema import OpSchema, parse_schema
from tensorkeep.proto.messages import OpDef
from tests.ops.walking import import_all_ops
from tools import compile_known_ops

import_all_ops()
OPS = compile_known_ops.tensorflow_op_list()
ALL = OPS.op


def stripped(proto: OpDef) -> OpDef:
    """An OpDef without its prose."""
    proto.summary = proto.description = ""
    for part in (*proto.input_arg, *proto.output_arg, *proto.attr):
        part.description = ""
    return proto


def test_there_are_as_many_as_we_think() -> None:
    assert len(ALL) > 1800


def test_the_files_are_what_the_tool_writes() -> None:
    registered = set(registered_ops())
    written = {
        compile_known_ops.TARGET: compile_known_ops.render(OPS, registered),
        compile_known_ops.OUTPUTS: compile_known_ops.render_outputs(OPS),
        compile_known_ops.FAMILIES: compile_known_ops.render_families(compile_known_ops.op_families()),
    }
    stale = [path.name for path, text in written.items() if path.read_text("utf-8") != text]
    assert not stale, "run tools/compile_known_ops.py"


def test_ops_of_tensorflows_own_tests_are_not_listed() -> None:
    assert not {"Attr", "TwoIntInputs", "RefIn", "SleepOp"} & {proto.name for proto in ALL}


@pytest.mark.parametrize("letter", sorted({proto.name[0] for proto in ALL}))
def test_an_op_def_passes_through_the_grammar_unchanged(letter: str) -> None:
    for proto in ALL:
        if proto.name.startswith(letter):
            text = str(OpSchema.of_op_def(proto))
            again = parse_schema(text).to_op_def()
            assert again.SerializeToString(deterministic=True) == stripped(proto).SerializeToString(deterministic=True)


def test_every_op_is_known_by_its_true_signature() -> None:
    wrong = []
    for proto in ALL:
        spec = find_op(proto.name)
        if spec is None or str(spec.schema) != str(OpSchema.of_op_def(proto)):
            wrong.append(proto.name)
    assert not wrong


def test_no_op_is_described_in_two_places() -> None:
    described = {line.partition("(")[0] for line in KNOWN_OPS.splitlines() if line}
    both = described & set(registered_ops())
    assert not both, "run tools/compile_known_ops.py"


def test_how_many_tensors_an_op_gives_is_known_of_all() -> None:
    table = {name: parts for name, *parts in (line.split() for line in OUTPUT_COUNTS.splitlines() if line)}
    for proto in ALL:
        lists = [attr for arg in proto.output_arg if (attr := arg.number_attr or arg.type_list_attr)]
        single = len(proto.output_arg) - len(lists)
        wanted = [*([str(single)] if single else []), *lists]
        assert table.get(proto.name, ["1"]) == wanted, "run tools/compile_known_ops.py"
