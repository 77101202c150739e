"""Signatures: the grammar, the OpDef it stands for, and the values attributes accept."""

from __future__ import annotations

import pytest

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.registry.opspec import find_op
from tensorkeep.graph.registry.schema import MISSING, OpSchema, parse_schema
from tensorkeep.proto.messages import OpDef
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

MATMUL = "MatMul(a: T, b: T) -> product: T; transpose_a: bool = false; T: {bfloat16, half, float}"


def test_a_signature_says_inputs_outputs_and_attributes() -> None:
    schema = parse_schema(MATMUL)
    assert schema.name == "MatMul"
    assert [arg.name for arg in schema.inputs] == ["a", "b"]
    assert [arg.type_attr for arg in (*schema.inputs, *schema.outputs)] == ["T", "T", "T"]
    assert schema.attr_by_name["transpose_a"].default is False
    assert schema.attr_by_name["T"].allowed == tuple(map(DType.of, ("bfloat16", "half", "float")))
    assert schema.attr_by_name["T"].default is MISSING


def test_clauses_may_come_one_by_one() -> None:
    assert parse_schema(*MATMUL.split("; ")) == parse_schema(MATMUL)


@pytest.mark.parametrize(
    "text",
    [
        MATMUL,
        "NoOp()",
        "Pack(values: N * T) -> output: T; N: int >= 1; T: type; axis: int = 0",
        "IdentityN(input: T) -> output: T; T: list(type) >= 1",
        "Assign(ref: Ref(T), value: T) -> output_ref: Ref(T); T: type; use_locking: bool = true; "
        "allows_uninitialized_input",
        "Conv(x: T) -> y: T; T: {half, float}; padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]",
        "V() -> h: resource; container: string = ''; shape: shape; dtype: type; stateful",
        "P() -> o: float; shape: shape = shape; other: shape = [2, ?]; rate: float = 0.01; f: func; g: list(func) = []",
        "L() -> h: variant :: ARRAY[TENSOR[$element_dtype]]; element_dtype: type; shape_type: {int32, int64}",
        "Old(x: float) -> y: float; deprecated 19 'Use \"New\" instead; it\\'s better'",
        "Sum(x: T) -> y: T; T: numbertype; Tidx: {int32, int64} = int32; S: realnumbertype; Q: quantizedtype",
        "Str() -> o: string; s: string = 'a\\n\\xff\\\\'; ss: list(string) = ['x', '']; fl: list(float) = [0.5, -1.0]",
        "Agg(x: N * T) -> y: T; N: int >= 1; T: numbertype; commutative; aggregate",
        "Types(x: Tin) -> y: Tout; Tin: list({int32, string}) >= 0 = []; Tout: list(type)",
    ],
)
def test_a_signature_survives_the_op_def_and_the_text(text: str) -> None:
    schema = parse_schema(text)
    assert str(schema) == text
    proto = OpDef.FromString(schema.to_op_def().SerializeToString())
    assert OpSchema.of_op_def(proto) == schema


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("A(x: T) -> y: T", '"T" is neither'),
        ("A(x: float", 'expected "\\)"'),
        ("A(x float)", 'expected ":"'),
        ("A(); colour: blue", "no kind of attribute"),
        ("A(); shiny", "neither an attribute nor a flag"),
        ("A() extra", "more than a signature"),
        ("A(); s: string = 3", "expected a string"),
        ("", "expected a word"),
        ("A(%)", "cannot read on"),
    ],
)
def test_what_is_no_signature_is_refused_with_the_place(text: str, why: str) -> None:
    with pytest.raises(InvalidArgumentError, match=why):
        parse_schema(text)


@pytest.mark.parametrize(
    ("kind", "value", "kept"),
    [
        ("int", True, 1),
        ("int", 7, 7),
        ("float", 1, 1.0),
        ("float", 0.1, 0.10000000149011612),
        ("bool", False, False),
        ("string", "SAME", b"SAME"),
        ("string", b"\xff", b"\xff"),
        ("type", "float32", DType.of("float32")),
        ("shape", None, UNKNOWN_SHAPE),
        ("shape", [2, None], Shape((2, None))),
        ("list(int)", [1, 2], (1, 2)),
        ("list(string)", ["a", b"b"], (b"a", b"b")),
    ],
)
def test_a_value_is_kept_as_its_kind_says(kind: str, value: object, kept: object) -> None:
    attr = parse_schema(f"A(); a: {kind}").attrs[0]
    assert attr.check(value, "A") == kept


@pytest.mark.parametrize(
    ("clause", "value", "why"),
    [
        ("a: int", 1.5, "cannot be 1.5"),
        ("a: int", 1 << 63, "64 bits"),
        ("a: int >= 2", 1, "wanted at least 2"),
        ("a: list(int) >= 2", [1], "length of attribute"),
        ("a: list(int)", 5, "expected a list"),
        ("a: list(string)", "abc", "expected a list"),
        ("a: bool", 1, "True or False"),
        ("a: string", 5, "text or bytes"),
        ("a: {'SAME', 'VALID'}", "FULL", "allowed are 'SAME', 'VALID'"),
        ("a: {half, float}", "double", "cannot be double"),
        ("a: list({half, float})", ["half", "double"], "cannot be double"),
        ("a: type", "flaot", "is not a data type"),
        ("a: tensor", 3, "TensorProto"),
        ("a: func", 3, "function"),
    ],
)
def test_a_value_that_may_not_be_kept_is_refused_by_name(clause: str, value: object, why: str) -> None:
    with pytest.raises(InvalidArgumentError, match=why) as caught:
        parse_schema(f"Op(); {clause}").attrs[0].check(value, "Op")
    assert '"a" of op Op' in str(caught.value)


def test_ops_without_a_paragraph_are_known_by_their_signature() -> None:
    spec = find_op("CudnnRNN")
    assert spec is not None
    assert spec.kernel_function is None
    assert spec.schema.is_stateful
    assert find_op("NoSuchOpAnywhere") is None
