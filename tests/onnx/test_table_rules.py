"""Lookup tables in ONNX: what a table holds is in the file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tensorkeep.dtypes import FLOAT32, INT64, STRING, DType
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.onnx.graphs import CannotTranslateError
from tensorkeep.onnx.rules.strings import tables
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.runtime.session import Session
from tests.onnx.walking import OPSETS
from tests.onnx.with_resources import assert_same, translated
from tests.ops.embedding_graphs import graph
from tests.ops.sample import strings

WORDS = strings([b"a", "ö".encode(), b"", b"long word"])


@pytest.fixture(autouse=True)
def made() -> Iterator[Graph]:
    with graph() as built:
        yield built


def numbers(dtype: str, *items: float) -> Any:
    return np.array(items, dtype)


def table(kind: str, keys: Any, values: Any, **attrs: Any) -> Any:
    """A handle, and what fills the table."""
    types: dict[str, Any] = {"key_dtype": _dtype(keys), "value_dtype": _dtype(values)}
    handle = get_op(kind)(**types, **attrs)
    filler = "InitializeTable" if "Mutable" not in kind else "LookupTableInsert"
    return handle, get_op(f"{filler}{'' if handle.dtype.is_ref else 'V2'}")(handle, keys, values)


def _dtype(array: Any) -> DType:
    return STRING if array.dtype == object else DType.of(array.dtype)


def found(handle: Any, keys: Any, default: Any) -> Any:
    return get_op("LookupTableFind" if handle.dtype.is_ref else "LookupTableFindV2")(handle, keys, default)


TYPES = {
    "string": (WORDS, strings([[b"a", b"x"], [b"", b"long word"]]), strings(b"?")),
    "int64": (numbers("int64", 7, -1, 2**62, 0), numbers("int64", 0, 1, -1, 2**62), np.int64(-9)),
    "int32": (numbers("int32", 7, -1, 0, 5), numbers("int32", 5, 1, 2, 7), np.int32(-9)),
    "uint64": (numbers("uint64", 7, 1, 2**63, 5), numbers("uint64", 5, 2**63, 2, 7), np.uint64(2**63 + 2)),
    "float32": (numbers("float32", 0.5, -1, 3, np.inf), numbers("float32", 3, np.nan, -0.5, np.inf), np.float32(0.1)),
    "float64": (numbers("float64", 0.1, -1, 3, 4), numbers("float64", 3, np.nan, 0.1, 9), np.float64(0.1)),
    "bool": (None, None, np.bool_(True)),
}


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("value", TYPES)
@pytest.mark.parametrize("key", [name for name in TYPES if name != "bool"])
def test_keys_of_every_type_have_values_of_every_type(made: Graph, key: str, value: str, opset: int) -> None:
    values, default = TYPES[value][0], TYPES[value][2]
    values = np.array([True, False, True, True]) if values is None else values
    keys, asked, _ = TYPES[key]
    handle, fill = table("HashTableV2", keys, values)
    fed = placeholder(dtype=_dtype(keys), shape=[None] * asked.ndim)
    result = found(handle, fed, default)
    with Session(made) as session:
        session.run(fill)
        if key == "float64" and opset < 20:
            with pytest.raises(CannotTranslateError, match="float64 needs opset 20"):
                translated(session, [fed], [result], opset)
            return
        assert_same(session, {fed: asked}, [result], opset)


@pytest.mark.parametrize("kind", ["HashTable", "MutableHashTable", "HashTableV2", "MutableHashTableV2"])
def test_tables_of_all_kinds_and_both_generations_are_one_node(made: Graph, kind: str) -> None:
    handle, fill = table(kind, WORDS, numbers("int64", 1, 2, 3, 4), shared_name=b"t")
    fed = placeholder(dtype=STRING, shape=[None])
    result = found(handle, fed, np.int64(-1))
    with Session(made) as session:
        session.run(fill)
        assert assert_same(session, {fed: TYPES["string"][1].reshape(-1)}, [result]) == ["LabelEncoder"]


@pytest.mark.parametrize("default", [np.zeros(2, np.float32), np.arange(6, dtype=np.float32).reshape(3, 2), None])
def test_values_may_be_rows_and_each_key_may_have_its_own_default(made: Graph, default: Any) -> None:
    handle = get_op("MutableHashTableOfTensorsV2")(key_dtype=INT64, value_dtype=FLOAT32, value_shape=[2])
    rows = np.arange(10, 16, dtype=np.float32).reshape(3, 2)
    fill = get_op("LookupTableInsertV2")(handle, numbers("int64", 5, 3, -1), rows)
    fed = placeholder(dtype=INT64, shape=[None])
    fed_default = placeholder(dtype=FLOAT32, shape=[2])
    result = found(handle, fed, fed_default if default is None else default)
    feeds = {fed: numbers("int64", 3, 4, 5)} | ({fed_default: np.ones(2, np.float32)} if default is None else {})
    with Session(made) as session:
        assert_same(session, feeds, [result])  # nothing in it yet
        session.run(fill)
        assert_same(session, feeds, [result])


def test_a_table_that_reserves_keys_has_its_others(made: Graph) -> None:
    handle = get_op("MutableDenseHashTableV2")(np.int64(-1), np.int64(-2), value_dtype=INT64)
    fill = get_op("LookupTableInsertV2")(handle, numbers("int64", 5, 3), numbers("int64", 50, 30))
    fed = placeholder(dtype=INT64, shape=[None])
    with Session(made) as session:
        session.run(fill)
        assert_same(session, {fed: numbers("int64", 3, 4, 5)}, [found(handle, fed, np.int64(0))])


def test_how_many_keys_there_are_and_which_is_known(made: Graph) -> None:
    handle, fill = table("HashTableV2", WORDS, numbers("int64", 1, 2, 3, 4))
    asked = [get_op("LookupTableSizeV2")(handle), *get_op("LookupTableExportV2")(handle, Tkeys=STRING, Tvalues=INT64)]
    with Session(made) as session:
        session.run(fill)
        assert_same(session, {}, asked)


def test_keys_beyond_millions_are_searched(made: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_MOST_ENCODED", 3)
    most = 2**63 - 1
    for count in (4, 7, 8, 9):
        known = np.unique(np.random.default_rng(count).integers(-20, 20, 2 * count))[:count]
        handle, fill = table("HashTableV2", known, known.astype(np.float32) / 2, shared_name=f"t{count}".encode())
        fed = placeholder(dtype=INT64, shape=[None])
        with Session(made) as session:
            session.run(fill)
            nodes = assert_same(
                session, {fed: np.array([*range(-25, 25), most, -most])}, [found(handle, fed, np.float32(9))]
            )
            assert "LabelEncoder" not in nodes


def test_a_key_that_is_no_text_is_left_out_and_a_value_that_is_none_is_refused(made: Graph) -> None:
    odd = strings([b"\xff", b"a"])
    fed = placeholder(dtype=STRING, shape=[None])
    by_key, fill_keys = table("HashTableV2", odd, numbers("int64", 1, 2), shared_name=b"keys")
    by_value, fill_values = table("HashTableV2", strings([b"a", b"b"]), odd, shared_name=b"values")
    with Session(made) as session:
        session.run([fill_keys, fill_values])
        assert_same(session, {fed: strings([b"a", b"b"])}, [found(by_key, fed, np.int64(-1))])
        with pytest.raises(CannotTranslateError, match=r"a value of a table is b'\\xff'.*UTF-8"):
            translated(session, [fed], [found(by_value, fed, b"?")])


def test_a_table_that_is_empty_yet_is_refused_and_the_engine_takes_none(made: Graph) -> None:
    handle, fill = table("HashTableV2", WORDS, numbers("int64", 1, 2, 3, 4))
    fed = placeholder(dtype=STRING, shape=[None])
    result = found(handle, fed, np.int64(-1))
    with Session(made) as session:
        with pytest.raises(CannotTranslateError, match="initialize it first"):
            translated(session, [fed], [result])
        session.run(fill)
        with pytest.raises(CannotTranslateError, match="tables stay with our own kernels"):
            translated(session, [fed], [result], is_for_engine=True)
