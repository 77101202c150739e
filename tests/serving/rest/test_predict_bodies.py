"""Bodies of predict requests: what is taken, what is refused, and the words of it."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tensorkeep.errors import InvalidArgumentError, TensorKeepError, UnimplementedError
from tensorkeep.native.json_tape import JsonLimits
from tensorkeep.proto.messages import SignatureDef
from tensorkeep.serving.rest.json_text import array_text
from tensorkeep.serving.rest.predict_bodies import read_predict_body
from tests.serving.rest.stand_in import signature
from tests.support.depth import examples

ROW = "Failed to process element: {} of 'instances' list. Error: INVALID_ARGUMENT: "
PER_TENSORINFO = "as multiple input tensors required as per tensorinfo_map"


def arrays(body: str | bytes, made: SignatureDef) -> tuple[dict[str, np.ndarray], bool]:
    return read_predict_body(body if isinstance(body, bytes) else body.encode(), JsonLimits()).arrays(made)


def array(body: str, dtype: str = "float32") -> np.ndarray:
    return arrays(body, signature({"x": dtype}))[0]["x"]


def problem(body: str, **inputs: str) -> str:
    with pytest.raises(InvalidArgumentError) as caught:
        arrays(body, signature(inputs or {"x": "float32"}))
    return str(caught.value)


def same(found: np.ndarray, expected: Any, dtype: str = "float32") -> None:
    wanted = np.array(expected, dtype)
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    assert found.tolist() == wanted.tolist()


# ------------------------------------------------------------------------------------------------------- What is taken


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('{"instances": [1, 2.5]}', [1, 2.5]),
        ('{"instances": [[1, 2], [3, 4]]}', [[1, 2], [3, 4]]),
        ('{"instances": [{"x": 1}, {"x": 2.5}]}', [1, 2.5]),
        ('{"instances": [{"x": [1, 2]}, {"x": [3, 4.5]}]}', [[1, 2], [3, 4.5]]),
        ('{"inputs": [1, 2]}', [1, 2]),
        ('{"inputs": {"x": [[1], [2]]}}', [[1], [2]]),
        ('{"inputs": 3}', 3),
        ('{"inputs": []}', []),
        ('{"inputs": [[], []]}', [[], []]),
        ('{"inputs": [Inf, -Inf, Infinity, -Infinity]}', [np.inf, -np.inf, np.inf, -np.inf]),
        ('{"inputs": [1e39, -1e39, 1e-60]}', [np.inf, -np.inf, 0]),
        ('{"inputs": [18446744073709551615, 1]}', [2**64 - 1, 1]),
        ('{"inputs": [1], "inputs": [2]}', [1]),
        ('{"inputs": [1], "unknown": {"a": null}} and more', [1]),
        ('{"signature_name": "serving_default", "inputs": [1]}', [1]),
    ],
)
def test_numbers_are_read_by_rows_and_by_columns(body: str, expected: Any) -> None:
    same(array(body), expected)


def test_rows_and_columns_are_told_apart() -> None:
    assert arrays('{"instances": [1]}', signature({"x": "float32"}))[1]
    assert not arrays('{"inputs": [1]}', signature({"x": "float32"}))[1]


def test_nan_is_a_number() -> None:
    assert np.isnan(array('{"inputs": [1, NaN]}')).tolist() == [False, True]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32"])
def test_narrow_integers_take_what_int32_takes_and_wrap(dtype: str) -> None:
    found = array('{"inputs": [1, 70000, -3]}', dtype)
    assert found.tolist() == np.array([1, 70000, -3]).astype(dtype).tolist()


@pytest.mark.parametrize(
    ("dtype", "numbers"),
    [
        ("int64", [-(2**63), 2**63 - 1]),
        ("uint64", [0, 2**64 - 1]),
        ("uint64", [2**63, 1]),
        ("uint32", [0, 2**32 - 1]),
        ("int32", [-(2**31), 2**31 - 1]),
    ],
)
def test_integers_are_exact_to_their_limits(dtype: str, numbers: list[int]) -> None:
    same(array(json.dumps({"inputs": numbers}), dtype), numbers, dtype)
    same(array(json.dumps({"instances": [{"x": n} for n in numbers]}), dtype), numbers, dtype)


def test_strings_are_their_utf8_bytes_or_base64() -> None:
    assert array('{"inputs": ["a", {"b64": "/+8="}, "\\u00e9\\n"]}', "string").tolist() == [
        b"a",
        b"\xff\xef",
        b"\xc3\xa9\n",
    ]
    assert array('{"instances": [{"b64": "YQ=="}, {"b64": "YmM"}]}', "string").tolist() == [b"a", b"bc"]
    assert array('{"instances": [{"x": {"b64": "YQ=="}}]}', "string").tolist() == [b"a"]
    assert array('{"inputs": {"b64": "YQ=="}}', "string")[()] == b"a"
    assert array('{"instances": [["a", "b"], ["c", "d"]]}', "string").tolist() == [[b"a", b"b"], [b"c", b"d"]]


def test_bytes_that_are_no_utf8_pass_through() -> None:
    found, _ = arrays(b'{"inputs": ["\xff\xfe"]}', signature({"x": "string"}))
    assert found["x"].tolist() == [b"\xff\xfe"]


def test_several_inputs_come_by_name_in_any_order() -> None:
    made = signature({"a": "float32", "b": "string", "c": "bool"})
    rows = '{"instances": [{"a": 1, "b": ["x", "y"], "c": true}, {"b": ["z", "w"], "c": false, "a": 2.5}]}'
    alike = '{"instances": [{"a": 1, "b": ["x", "y"], "c": true}, {"a": 2.5, "b": ["z", "w"], "c": false}]}'
    for body in (rows, alike):
        found, _ = arrays(body, made)
        same(found["a"], [1, 2.5])
        assert found["b"].tolist() == [[b"x", b"y"], [b"z", b"w"]]
        assert found["c"].tolist() == [True, False]
    columns, _ = arrays('{"inputs": {"a": [1, 2], "b": "s", "c": [], "extra": null}}', made)
    same(columns["a"], [1, 2])
    assert columns["b"][()] == b"s"
    assert columns["c"].shape == (0,)


def test_an_input_with_a_default_may_be_left_out_of_columns_and_not_of_rows() -> None:
    made = signature({"a": "float32", "b": "float32"}, defaults=["b"])
    assert arrays('{"inputs": {"a": [1]}}', made)[0].keys() == {"a"}
    with pytest.raises(InvalidArgumentError, match=r"keys must be equal to: a,b$"):
        arrays('{"instances": [{"a": 1}]}', made)


# ----------------------------------------------------------------------------------------------------- What is refused


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("", "JSON Parse error: The document is empty"),
        ("{", "JSON Parse error: Missing a name for object member. at offset: 1"),
        ('{"inputs": [1 2]}', "JSON Parse error: Missing a comma or ] after an array element. at offset: 14"),
        ("[1, 2]", "JSON Value: [1, 2] Is not object"),
        ("3", "JSON Value: 3 Is not object"),
        ("{}", "Missing 'inputs' or 'instances' key"),
        ('{"instances": 3}', "Expecting 'instances' to be an list/array"),
        ('{"instances": {"x": 1}}', "Expecting 'instances' to be an list/array"),
        ('{"instances": []}', "No values in 'instances' array"),
        ('{"instances": [{"x": 1}, 2]}', "Expecting object but got list at item 1 of input list"),
        ('{"instances": [2, {"x": 1}]}', "Expecting value/list but got object at item 1 of input list"),
        ('{"instances": [[1, 2], [1, 2, 3]]}', ROW.format(1) + "Expecting tensor size: 2 but got: 3"),
        ('{"instances": [[1, 2], [[1, 2]]]}', ROW.format(1) + "Expecting shape [2] but got: [1,2]"),
        ('{"instances": [{"z": 1}]}', ROW.format("0 key: z") + "JSON object: does not have named input: z"),
        ('{"instances": ["x"]}', ROW.format(0) + 'JSON Value: "x" Type: String is not of expected type: float'),
        ('{"instances": [1, null]}', ROW.format(1) + "JSON Value: null Type: Null is not of expected type: float"),
        ('{"inputs": [true]}', "JSON Value: true Type: True is not of expected type: float"),
        ('{"inputs": [false]}', "JSON Value: false Type: False is not of expected type: float"),
        ('{"inputs": [[1, 2], [3]]}', "Encountered list at unexpected size: 1 at level: 1 expected size: 2"),
        ('{"inputs": [1, [2]]}', "Encountered list at unexpected level: 1 expected < 1"),
        ('{"inputs": [[1], 3]}', "JSON Value: 3 found at incorrect level: 2 in the JSON DOM. Expected at level: 2"),
        ('{"inputs": {"y": 1}}', "Missing named input: x in 'inputs' object."),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_body_is_told(body: str, message: str) -> None:
    assert problem(body) == message


def test_both_forms_at_once_are_refused() -> None:
    assert problem('{"inputs": 1, "instances": [1]}').endswith(
        " Not formatted correctly expecting only one of 'inputs' or 'instances' keys to exist "
    )


def test_the_name_of_a_signature_is_a_string() -> None:
    assert problem('{"signature_name": 1}').endswith(
        " not formatted correctly. 'signature_name' key must be a string value."
    )


def test_the_keys_of_a_row_are_those_of_the_inputs() -> None:
    message = problem('{"instances": [{"a": 1, "b": 2, "c": 3}]}', a="float32", b="float32")
    assert message.startswith("Failed to process element: 0 of 'instances' list. JSON object: {")
    assert message.endswith("} keys must be equal to: a,b")


def test_plain_values_are_for_one_input_only() -> None:
    inputs = {"a": "float32", "b": "float32"}
    assert problem('{"instances": [1]}', **inputs) == (
        f"instances is a plain list, but expecting list of objects {PER_TENSORINFO}"
    )
    assert problem('{"inputs": [1]}', **inputs) == (
        f"inputs is a plain value/list, but expecting an object {PER_TENSORINFO}"
    )
    assert problem('{"inputs": {"a": 1}}', **inputs) == "Missing named input: b in 'inputs' object."


@pytest.mark.parametrize(
    ("dtype", "value", "message"),
    [
        ("int32", "1.0", "JSON Value: 1.0 Type: Number is not of expected type: int32"),
        ("int32", "1e3", "JSON Value: 1000.0 Type: Number is not of expected type: int32"),
        ("int32", "[1, 2147483648]", "JSON Value: 2147483648 Type: Number is not of expected type: int32"),
        ("uint8", "[1, 2.5, 3]", "JSON Value: 2.5 Type: Number is not of expected type: uint8"),
        (
            "int64",
            "[[1], [9223372036854775808]]",
            "JSON Value: 9223372036854775808 Type: Number is not of expected type: int64",
        ),
        ("uint32", "[1, -1]", "JSON Value: -1 Type: Number is not of expected type: uint32"),
        ("uint64", "[-1]", "JSON Value: -1 Type: Number is not of expected type: uint64"),
        ("bool", "1", "JSON Value: 1 Type: Number is not of expected type: bool"),
        ("bool", '"true"', 'JSON Value: "true" Type: String is not of expected type: bool'),
        ("string", "1", "JSON Value: 1 Type: Number is not of expected type: string"),
        ("string", '{"b64": "*"}', "Unable to base64 decode"),
        ("float64", "[[1, 2], [3, [4]]]", "Encountered list at unexpected level: 2 expected < 2"),
    ],
)
def test_each_type_takes_its_own_values(dtype: str, value: str, message: str) -> None:
    assert problem(f'{{"inputs": {value}}}', x=dtype) == message


def test_an_object_that_is_no_base64_is_no_string() -> None:
    message = problem('{"inputs": [{"b64": "YQ==", "c": 1}]}', x="string")
    assert message.startswith("JSON Value: {")
    assert message.endswith("} not formatted correctly for base64 data")


def test_base64_is_for_strings_only() -> None:
    assert problem('{"inputs": {"b64": "YQ=="}}').endswith("} Type: Object is not of expected type: float")


@pytest.mark.parametrize(("dtype", "label"), [("float16", "half"), ("bfloat16", "bfloat16"), ("uint16", "uint16")])
def test_types_that_json_has_no_form_for_are_not_implemented(dtype: str, label: str) -> None:
    with pytest.raises(UnimplementedError, match=f"^Conversion of JSON Value: 1.0 to type: {label}$"):
        array('{"inputs": 1.0}', dtype)
    assert problem('{"instances": [1.0]}', x=dtype) == (
        f"Failed to process element: 0 of 'instances' list. Error: UNIMPLEMENTED: "
        f"Conversion of JSON Value: 1.0 to type: {label}"
    )


def test_a_signature_without_inputs_cannot_be_asked() -> None:
    with pytest.raises(InvalidArgumentError, match=r"^Failed to get input map for signature: DEFAULT$"):
        arrays("{}", SignatureDef())
    with pytest.raises(InvalidArgumentError, match=r"^Failed to get input map for signature: s$"):
        arrays('{"signature_name": "s"}', SignatureDef())


def test_deep_nesting_ends_in_an_error() -> None:
    assert problem('{"inputs": ' + "[" * 100_000).startswith("JSON Parse error: Nested too deeply. at offset: ")
    assert "more than an array can be" in problem('{"inputs": ' + "[" * 100 + "]" * 100 + "}")


def test_a_long_value_is_cut_in_messages() -> None:
    message = problem(json.dumps({"inputs": ["x" * 5000]}))
    assert len(message) < 400
    wide = problem(json.dumps({"inputs": {"x": {"a": list(range(5000))}}}))
    assert len(wide) < 500


# ---------------------------------------------------------------------------------------------------------- Round trips


@given(
    hnp.arrays(
        st.sampled_from(
            [np.float32, np.float64, np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint32, np.uint64, np.bool_]
        ),
        hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
    )
)
@examples(300)
def test_what_is_written_is_read_back_bit_for_bit(values: np.ndarray) -> None:
    body = b'{"inputs": ' + array_text(values) + b"}"
    found, _ = arrays(body, signature({"x": values.dtype.name}))
    if values.size or values.ndim < 2:  # lists of nothing do not say what is in them
        np.testing.assert_array_equal(found["x"], values)
        assert found["x"].dtype == values.dtype
        assert found["x"].shape == values.shape
        if values.dtype.kind == "f":
            assert np.signbit(found["x"][~np.isnan(values)]).tolist() == np.signbit(values[~np.isnan(values)]).tolist()


@given(
    hnp.arrays(object, hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=3), elements=st.binary(max_size=6))
)
@examples(100)
def test_strings_are_read_back_as_text_and_as_base64(values: np.ndarray) -> None:
    for name in ("y", "y_bytes"):
        found, _ = arrays(b'{"inputs": ' + array_text(values, name) + b"}", signature({"x": "string"}))
        assert found["x"].tolist() == values.tolist()


@given(
    st.integers(1, 4).flatmap(
        lambda rows: st.tuples(
            hnp.arrays(np.float32, st.tuples(st.just(rows), st.integers(1, 3))),
            hnp.arrays(np.int64, st.just((rows,))),
        )
    )
)
@examples(100)
def test_rows_of_objects_are_read_back(values: tuple[np.ndarray, np.ndarray]) -> None:
    a, b = values
    rows = [b'{"a": ' + array_text(a[i]) + b', "b": ' + array_text(b[i]) + b"}" for i in range(len(a))]
    body = b'{"instances": [' + b",".join(rows) + b"]}"
    found, _ = arrays(body, signature({"a": "float32", "b": "int64"}))
    np.testing.assert_array_equal(found["a"], a)
    np.testing.assert_array_equal(found["b"], b)


@given(
    st.recursive(
        st.integers(-5, 300) | st.sampled_from([1.5, None, True, "s", {"b64": "YQ=="}, {"x": 1}, {}]),
        lambda inner: st.lists(inner, max_size=3),
        max_leaves=8,
    ),
    st.sampled_from(["float32", "int8", "uint32", "string", "bool", "float16"]),
    st.sampled_from(["instances", "inputs"]),
)
@examples(400)
def test_any_value_is_an_array_or_one_of_our_errors(value: Any, dtype: str, key: str) -> None:
    with suppress(TensorKeepError):
        assert array(json.dumps({key: value}), dtype).dtype == (object if dtype == "string" else np.dtype(dtype))
