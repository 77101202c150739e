"""What ONNX can do with strings, and what is said of ops that it cannot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tensorkeep.dtypes import FLOAT32, INT64, STRING
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.onnx.graphs import CannotTranslateError
from tensorkeep.onnx.not_in_onnx import NOT_IN_ONNX
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.runtime.session import Session
from tests.onnx.with_resources import assert_same, translated
from tests.ops.embedding_graphs import graph
from tests.ops.sample import strings


@pytest.fixture(autouse=True)
def made() -> Iterator[Graph]:
    with graph() as built:
        yield built


def texts(shape: Any = (None,)) -> Any:
    return placeholder(dtype=STRING, shape=shape)


def test_words_become_numbers_in_the_file(made: Graph) -> None:
    """As a layer of words does it: without capitals, split at spaces, looked up."""
    fed = texts()
    table = get_op("HashTableV2")(key_dtype=STRING, value_dtype=INT64)
    fill = get_op("InitializeTableV2")(table, strings([b"the", b"cat", b"sat"]), np.array([2, 3, 4]))
    places, words, size = get_op("StringSplitV2")(get_op("StringLower")(fed), strings(b""))
    ids = get_op("LookupTableFindV2")(table, words, np.int64(1))
    with Session(made) as session:
        session.run(fill)
        for given in ([b"The cat\tsat", b"", b" on  THE mat\n"], [b""], []):
            assert_same(session, {fed: strings(given)}, [places, ids, size])


def test_any_number_of_strings_is_joined(made: Graph) -> None:
    fed = texts((None, None))
    joined = [get_op("ReduceJoin")(fed, np.array(axes, np.int32), separator=b"-") for axes in ([0], [1], [1, 0])]
    with Session(made) as session:
        for given in ([[b"a", b"b"], [b"c", b"d"]], [[b"a"]], np.empty((0, 3), object), np.empty((2, 0), object)):
            assert_same(session, {fed: strings(given)}, joined)


def test_no_strings_at_all_are_no_trouble(made: Graph) -> None:
    fed = texts((None, 2))
    with Session(made) as session:
        assert_same(session, {fed: np.empty((0, 2), object)}, [get_op("StringUpper")(fed)])


@pytest.mark.parametrize(
    ("op", "attrs", "reason"),
    [
        ("StringLower", {"encoding": b"utf-8"}, "beyond ASCII"),
        ("StaticRegexFullMatch", {"pattern": b"\xff"}, "UTF-8"),
        ("StaticRegexReplace", {"pattern": b"a.b", "rewrite": b"b"}, r"'a\.b'.*--inputs.*--split"),
        ("StaticRegexReplace", {"pattern": b"a", "rewrite": rb"\0"}, "no patterns but"),
        ("StaticRegexReplace", {"pattern": b"[ab]", "rewrite": b"", "replace_global": False}, "no patterns but"),
        ("StringToHashBucketFast", {"num_buckets": 3}, "hash strings.*--inputs"),
    ],
)
def test_what_onnx_cannot_do_is_refused_with_the_reason(made: Graph, op: str, attrs: Any, reason: str) -> None:
    fed = texts()
    with Session(made) as session, pytest.raises(CannotTranslateError, match=reason):
        translated(session, [fed], [get_op(op)(fed, **attrs)])


def test_fractions_are_not_written_as_text(made: Graph) -> None:
    fed = placeholder(dtype=FLOAT32, shape=[None])
    with Session(made) as session, pytest.raises(CannotTranslateError, match="other digits"):
        translated(session, [fed], [get_op("AsString")(fed)])


def test_an_opset_that_is_too_old_is_told(made: Graph) -> None:
    fed = texts()
    with Session(made) as session, pytest.raises(CannotTranslateError, match="needs opset 20, and 13 is asked for"):
        translated(session, [fed], [get_op("StaticRegexFullMatch")(fed, pattern=b"a")], 13)


@pytest.mark.parametrize("op", ["StringLower", "StringToNumber"])
def test_the_engine_leaves_strings_to_our_kernels(made: Graph, op: str) -> None:
    fed = texts()
    with Session(made) as session, pytest.raises(CannotTranslateError, match="strings stay with our own kernels"):
        translated(session, [fed], [get_op(op)(fed)], is_for_engine=True)


def test_every_op_without_a_rule_says_what_to_do() -> None:
    for op, reason in NOT_IN_ONNX.items():
        assert get_op(op).name == op
        assert f"--custom-op {op}=DOMAIN" in reason
        assert "--inputs" in reason or "--outputs" in reason
