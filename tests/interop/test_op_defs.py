"""Every op of TensorFlow: its OpDef passes through our grammar unchanged, and is known here."""

from __future__ import annotations

import pytest
from tensorflow.python.client import pywrap_tf_session

from tensorkeep.graph.known_ops import KNOWN_OPS
from tensorkeep.graph.op_outputs import OUTPUT_COUNTS
from tensorkeep.graph.opspec import find_op, registered_ops
from tensorkeep.graph.schema import OpSchema, parse_schema
from tensorkeep.proto.messages import OpDef, OpList
from tests.ops.walking import import_all_ops

import_all_ops()
# TensorFlow registers two more when it first copies between devices, as other tests may have made it do.
LATER = ("_CopyFromGpuToHost", "_CopyFromHostToGpu")
LISTED = OpList.FromString(pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList())).op
ALL = [proto for proto in LISTED if proto.name not in LATER]


def stripped(proto: OpDef) -> OpDef:
    """An OpDef without its prose."""
    proto.summary = proto.description = ""
    for part in (*proto.input_arg, *proto.output_arg, *proto.attr):
        part.description = ""
    return proto


def test_there_are_as_many_as_we_think() -> None:
    assert len(ALL) > 1900


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
