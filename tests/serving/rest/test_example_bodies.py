"""Bodies of classify and regress requests: features of JSON objects become those of `tf.Example`."""

from __future__ import annotations

import pytest

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.native.json_tape import JsonLimits
from tensorkeep.proto.messages import Example, parse
from tensorkeep.serving.rest.example_bodies import read_examples_body


def features(text: str) -> Example:
    (serialized,) = read_examples_body(f'{{"examples": [{{"x": {text}}}]}}'.encode(), JsonLimits()).examples
    return parse(Example, serialized, "example").features.feature["x"]


def problem(body: str) -> str:
    with pytest.raises(InvalidArgumentError) as caught:
        read_examples_body(body.encode(), JsonLimits())
    return str(caught.value)


@pytest.mark.parametrize("text", ["2.0", "[2.0]", "[0.5, 1e3]", "[NaN]"])
def test_a_number_with_fraction_or_exponent_is_a_float(text: str) -> None:
    assert features(text).WhichOneof("kind") == "float_list"


@pytest.mark.parametrize(
    ("text", "numbers"), [("2", [2]), ("[2, -3]", [2, -3]), ("true", [1]), ("[true, false, 7]", [1, 0, 7])]
)
def test_a_whole_number_or_a_truth_value_is_an_int64(text: str, numbers: list[int]) -> None:
    assert list(features(text).int64_list.value) == numbers


def test_strings_and_base64_are_bytes() -> None:
    assert list(features('["a", {"b64": "/w=="}]').bytes_list.value) == [b"a", b"\xff"]
    assert list(features('{"b64": "/w=="}').bytes_list.value) == [b"\xff"]


def test_an_empty_list_is_a_feature_of_no_kind() -> None:
    assert features("[]").WhichOneof("kind") is None


def test_context_and_signature_are_read_too() -> None:
    body = read_examples_body(b'{"signature_name": "s", "context": {"c": 1}, "examples": [{}, {"x": 1}]}', JsonLimits())
    assert body.signature == "s"
    assert parse(Example, body.context, "context").features.feature["c"].int64_list.value[0] == 1
    assert len(body.examples) == 2


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('{"examples": 1}', "Expecting 'examples' value to be an list/array"),
        ('{"examples": []}', "'examples' value is an empty array"),
        ('{"examples": [3]}', "Example must be JSON object but got JSON Number"),
        ('{"examples": [{}, "x"]}', "Example must be JSON object but got JSON String"),
        ('{"examples": [[1]]}', "Example must be JSON object but got JSON Array"),
        ('{"examples": [{"x": [1.5, 1]}]}', "Unexpected element type in feature: x expecting type: float"),
        ('{"examples": [{"x": [1, 1.5]}]}', "Unexpected element type in feature: x expecting type: int64"),
        ('{"examples": [{"x": ["a", 1]}]}', "Unexpected element type in feature: x expecting type: bytes"),
        ('{"examples": [{"x": null}]}', "Feature: x has element with unexpected JSON type: Null"),
        ('{"examples": [{"x": [[1]]}]}', "Feature: x has element with unexpected JSON type: Array"),
        ('{"examples": [{"x": [1, [2]]}]}', "Feature: x has element with unexpected JSON type: Array"),
        ('{"examples": [{"x": {"a": 1}}]}', "Feature: x has element with unexpected JSON type: Object"),
        ('{"examples": [{"x": 9223372036854775808}]}', "Feature: x has uint64_t element. Only int64_t is supported."),
    ],
)
def test_what_is_wrong_is_told(body: str, message: str) -> None:
    assert problem(body) == message


def test_examples_are_required() -> None:
    assert problem("{}").endswith(" When method is classify, key 'examples' is expected and was not found")
