"""Answers as JSON: numbers, strings, rows and columns, and the lines they stand on."""

from __future__ import annotations

import json

import ml_dtypes
import numpy as np
import pytest

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.proto.serving import ClassificationResult, RegressionResult
from tensorkeep.serving.rest.answers import (
    classifications_body,
    error_body,
    outputs_body,
    predictions_body,
    regressions_body,
)
from tensorkeep.serving.rest.json_text import array_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float32(0.1), b"0.1"),
        (np.float32(1), b"1.0"),
        (np.float32(1 / 3), b"0.33333334"),
        (np.float64(1 / 3), b"0.3333333333333333"),
        (np.float32(16777216), b"16777216.0"),
        (np.float32(-0.0), b"-0.0"),
        (np.float32("nan"), b"NaN"),
        (np.float64("inf"), b"Infinity"),
        (np.float64("-inf"), b"-Infinity"),
        (np.int64(2**62 + 1), b"4611686018427387905"),
        (np.uint64(2**64 - 1), b"18446744073709551615"),
        (np.bool_(True), b"true"),
    ],
)
def test_values_without_dimensions(value: np.generic, text: bytes) -> None:
    assert array_text(np.asarray(value)) == text


@pytest.mark.parametrize("number", [1e6, 1e7, 1e-7, 1e16, 1e22, 3e38])
def test_whole_floats_have_a_point_or_an_exponent(number: float) -> None:
    for dtype in (np.float32, np.float64):
        text = array_text(np.array([number], dtype))
        assert b"." in text or b"e" in text
        assert dtype(text[1:-1]) == dtype(number)


def test_numbers_that_are_not_finite_are_tokens_wherever_they_are() -> None:
    array = np.array([[[np.nan, 1], [np.inf, 2]], [[-np.inf, np.nan], [3, 4]]], np.float32)
    assert array_text(array) == b"[[[NaN,1.0],[Infinity,2.0]],[[-Infinity,NaN],[3.0,4.0]]]"


def test_strings_are_raw_and_escaped_only_where_they_must() -> None:
    assert array_text(np.array(['"\\/\b\f\n\r\t\x01\x1f\x7fé'.encode()], object)) == (
        b'["\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001F\x7f\xc3\xa9"]'
    )
    assert array_text(np.array([b"\xff"], object)) == b'["\xff"]'


def test_names_that_end_in_bytes_are_written_as_base64() -> None:
    assert array_text(np.array([b"ab", b""], object), "y_bytes") == b'[{"b64": "YWI="}, {"b64": ""}]'
    assert array_text(np.array([1.5], np.float32), "y_bytes") == b"[1.5]"


@pytest.mark.parametrize(
    ("dtype", "label"), [(np.float16, "half"), (np.complex64, "complex64"), (ml_dtypes.bfloat16, "bfloat16")]
)
def test_types_that_json_has_no_form_for_are_refused(dtype: type, label: str) -> None:
    for write in (predictions_body, outputs_body):
        with pytest.raises(InvalidArgumentError, match=f"^Failed to write JSON value for tensor type: {label}$"):
            write({"y": np.ones(2, dtype)})


def test_rows_of_one_output_are_bare_values() -> None:
    assert predictions_body({"y": np.array([2.5, 3, 4.5], np.float32)}) == (
        b'{\n    "predictions": [2.5, 3.0, 4.5\n    ]\n}'
    )


def test_rows_of_several_outputs_are_objects() -> None:
    outputs = {
        "b": np.array([[1, 2], [3, 4]], np.int32),
        "a": np.array([0.5, np.nan], np.float32),
        "c_bytes": np.array([[b"x"], [b"y"]], object),
        "d": np.zeros((2, 3, 0), np.float32),
        "e": np.arange(12, dtype=np.float64).reshape(2, 1, 2, 3),
        "f": np.array([True, False]),
    }
    body = predictions_body(outputs)
    assert json.loads(body.replace(b"NaN", b'"NaN"')) == {
        "predictions": [
            {
                "a": 0.5,
                "b": [1, 2],
                "c_bytes": [{"b64": "eA=="}],
                "d": [[], [], []],
                "e": [[[0, 1, 2], [3, 4, 5]]],
                "f": True,
            },
            {
                "a": "NaN",
                "b": [3, 4],
                "c_bytes": [{"b64": "eQ=="}],
                "d": [[], [], []],
                "e": [[[6, 7, 8], [9, 10, 11]]],
                "f": False,
            },
        ]
    }
    assert body.startswith(b'{\n    "predictions": [\n        {\n            "a": 0.5,\n            "b": [1, 2],\n')


def test_no_rows_are_an_empty_list() -> None:
    assert json.loads(predictions_body({"y": np.zeros((0, 3))})) == {"predictions": []}
    assert json.loads(predictions_body({"y": np.zeros((0, 3)), "z": np.zeros(0)})) == {"predictions": []}


def test_rows_are_refused_where_outputs_have_none() -> None:
    with pytest.raises(InvalidArgumentError, match=r"^Tensor name: y has no shape information $"):
        predictions_body({"y": np.float32(1).reshape(())})


def test_rows_are_refused_where_outputs_differ_in_their_number() -> None:
    with pytest.raises(InvalidArgumentError, match=r"^Tensor name: z has inconsistent batch size: 2 expecting: 1$"):
        predictions_body({"y": np.zeros(1), "z": np.zeros(2)})


def test_columns_are_values_or_an_object() -> None:
    assert json.loads(outputs_body({"y": np.array(3, np.int64)})) == {"outputs": 3}
    assert json.loads(outputs_body({"y": np.array([[1], [2]], np.int64)})) == {"outputs": [[1], [2]]}
    assert json.loads(outputs_body({"b": np.array(1), "a": np.zeros(2)})) == {"outputs": {"a": [0.0, 0.0], "b": 1}}


@pytest.mark.parametrize("rows", [3, 20_000])
def test_large_answers_are_the_same_but_for_blanks(rows: int) -> None:
    a, b = np.random.default_rng(1).random((rows, 2)).astype(np.float32), np.arange(rows)
    found = json.loads(predictions_body({"a": a, "b": b}))["predictions"]
    np.testing.assert_array_equal(np.array([row["a"] for row in found], np.float32), a)
    assert [row["b"] for row in found] == b.tolist()
    np.testing.assert_array_equal(np.array(json.loads(predictions_body({"a": a}))["predictions"], np.float32), a)


def test_classifications_are_lists_of_labels_and_scores() -> None:
    result = ClassificationResult()
    row = result.classifications.add()
    row.classes.add(label='a"b', score=0.1)
    row.classes.add(label="", score=float("nan"))
    result.classifications.add()
    assert classifications_body(result) == b'{\n    "results": [[["a\\"b", 0.1], ["", NaN]], []\n    ]\n}'


def test_regressions_are_a_list_of_values() -> None:
    result = RegressionResult()
    for value in (0.1, 2):
        result.regressions.add(value=value)
    assert regressions_body(result) == b'{\n    "results": [0.1, 2.0]\n}'


def test_errors_are_objects_of_one_key() -> None:
    assert json.loads(error_body('a "b"\n\ud800')) == {"error": 'a "b"\n?'}
