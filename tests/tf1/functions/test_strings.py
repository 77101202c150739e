"""String functions."""

from __future__ import annotations

from typing import Any

import pytest

from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.parsing import strings


def ran(make: Any) -> Any:
    with building(Graph()) as graph:
        made = make()
    return Session(graph).run(made)


def test_a_prefix_is_told_from_its_scheme_as_savers_do() -> None:
    names = ["s3://bucket/model", "/local/model"]
    assert ran(lambda: strings.regex_full_match(names, "^s3://.*")).tolist() == [True, False]
    parts = ran(lambda: strings.string_join([["/model"], "_temp/part"], name="join"))
    assert parts.tolist() == [b"/model_temp/part"]


def test_numbers_become_text_and_back() -> None:
    assert ran(lambda: strings.as_string([1.5, -2.0], precision=2)).tolist() == [b"1.50", b"-2.00"]
    assert ran(lambda: strings.string_to_number(["3", " 4 "], "int32")).tolist() == [3, 4]
    with pytest.raises(InvalidArgumentError, match="StringToNumberOp could not correctly convert string: x"):
        ran(lambda: strings.string_to_number("x"))


def test_words_are_split_into_a_sparse_matrix() -> None:
    found = ran(lambda: strings.string_split(["a b", "", "c"]))
    assert found.indices.tolist() == [[0, 0], [0, 1], [2, 0]]
    assert found.values.tolist() == [b"a", b"b", b"c"]
    assert found.dense_shape.tolist() == [3, 2]
    assert ran(lambda: strings.strings_split("x y  z", maxsplit=1)).values.tolist() == [b"x", b"y  z"]
    with pytest.raises(UnimplementedError, match="ragged"):
        ran(lambda: strings.string_split(["a"], result_type="RaggedTensor"))


def test_hash_buckets_are_tensorflows_for_all_time() -> None:
    words = ["Hello", "TensorFlow", "2.x"]
    assert ran(lambda: strings.string_to_hash_bucket_fast(words, 3)).tolist() == [0, 2, 2]
    assert ran(lambda: strings.string_to_hash_bucket_strong(words, 3, [1, 2])).tolist() == [2, 2, 1]
    assert ran(lambda: strings.string_to_hash_bucket(words, 1000)).tolist() == [941, 232, 300]


def test_templates_must_have_a_place_for_every_tensor() -> None:
    assert ran(lambda: strings.string_format("{}: {}", [constant("k"), constant([1, 2])])) == b'"k": [1 2]'
    with building(Graph()), pytest.raises(InvalidArgumentError, match="The template expects 1 tensors"):
        strings.string_format("{}", [])


def test_all_axes_are_joined_in_order() -> None:
    assert ran(lambda: strings.reduce_join([["a", "b"], ["c", "d"]])) == b"abcd"
    with building(Graph()), pytest.raises(InvalidArgumentError, match="Cannot specify both"):
        strings.reduce_join([["a"]], axis=0, reduction_indices=0)


def test_an_expression_that_would_take_for_ever_does_not() -> None:
    assert ran(lambda: strings.regex_replace("a" * 500, "(a*)*b", "")) == b"a" * 500
