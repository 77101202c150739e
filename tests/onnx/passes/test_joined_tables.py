"""Rows of many tables side by side are looked up in one table, and what is in no table is in none still."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime
import pytest
from onnx import helper, numpy_helper
from onnx_ir.passes import common as tidying

from tensorkeep.onnx.passes import joined_tables
from tensorkeep.onnx.passes.joined_tables import join_tables

COLUMNS = 8
DENSE = np.arange(6, dtype=np.float32).reshape(2, 3)


def rows_of(column: int) -> int:
    return 3 + column


def table(column: int, width: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(column).normal(size=(rows_of(column), width)).astype(np.float32)


def lookup(column: int, is_stack: bool) -> list[onnx.NodeProto]:
    """A row of a table for each row of keys: as part of a row, or as a row of a matrix for each."""
    if is_stack:
        return [
            helper.make_node("Gather", ["keys", f"at{column}"], [f"k{column}"], axis=1),
            helper.make_node("Gather", [f"t{column}", f"k{column}"], [f"g{column}"]),
            helper.make_node("Unsqueeze", [f"g{column}", "one"], [f"c{column}"]),
        ]
    return [
        helper.make_node("Slice", ["keys", f"from{column}", f"from{column + 1}", "one"], [f"k{column}"]),
        helper.make_node("Gather", [f"t{column}", f"k{column}"], [f"g{column}"]),
        helper.make_node("Reshape", [f"g{column}", "flat"], [f"c{column}"]),
    ]


def model_of(
    columns: Sequence[int], *, is_stack: bool = False, dtype: Any = np.int32, outputs: Sequence[str] = ("y",)
) -> onnx.ModelProto:
    """Numbers that are given, and beside them what columns of keys look up, each in a table of its own."""
    width = 3 if is_stack else 2
    constants: dict[str, Any] = {"one": np.array([1]), "flat": np.array([0, width])}
    for column in range(COLUMNS + 1):
        constants[f"from{column}"], constants[f"at{column}"] = np.array([column]), np.array(column)
    constants |= {f"t{column}": table(column, width) for column in columns}
    nodes = [node for column in columns for node in lookup(column, is_stack)]
    first = ["dense"]
    if is_stack:
        nodes.append(helper.make_node("Unsqueeze", ["dense", "one"], ["row"]))
        first = ["row"]
    nodes.append(helper.make_node("Concat", [*first, *(f"c{column}" for column in columns)], ["y"], axis=1))
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    graph = helper.make_graph(
        nodes,
        "model",
        [
            helper.make_tensor_value_info("dense", onnx.TensorProto.FLOAT, ["n", 3]),
            helper.make_tensor_value_info("keys", kind, ["n", COLUMNS]),
        ],
        [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in outputs],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    return onnx.shape_inference.infer_shapes(made)


def joined(proto: onnx.ModelProto) -> onnx.ModelProto:
    model = ir.from_proto(proto)
    join_tables(model)
    tidying.TopologicalSortPass()(model)
    tidying.RemoveUnusedNodesPass()(model)
    return ir.to_proto(model)


def answers(proto: onnx.ModelProto, keys: np.ndarray[Any, Any]) -> Any:
    onnx.checker.check_model(proto, full_check=True)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, {"dense": DENSE[: len(keys)], "keys": keys})


def some_keys(dtype: Any = np.int32) -> np.ndarray[Any, Any]:
    """Of every table the last row, and the first counted from the end."""
    last = np.array([rows_of(column) - 1 for column in range(COLUMNS)])
    return np.stack([last, -last - 1]).astype(dtype)


def tables_looked_up(proto: onnx.ModelProto) -> int:
    names = {value.name for value in proto.graph.initializer if len(value.dims) == 2}
    return sum(node.op_type == "Gather" and node.input[0] in names for node in proto.graph.node)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("is_stack", [False, True])
@pytest.mark.parametrize("columns", [range(COLUMNS), (7, 2, 3, 0, 6, 5)])
def test_rows_of_many_tables_are_looked_up_at_once(columns: Sequence[int], is_stack: bool, dtype: Any) -> None:
    before = model_of(columns, is_stack=is_stack, dtype=dtype)
    after = joined(before)
    assert tables_looked_up(after) == 1
    np.testing.assert_array_equal(answers(after, some_keys(dtype))[0], answers(before, some_keys(dtype))[0])


@pytest.mark.parametrize("key", ["behind", "before", "largest", "smallest"])
def test_a_key_that_its_table_does_not_have_fails(key: str) -> None:
    """It is one of the joined table, for all but the first and the last column."""
    before = model_of(range(COLUMNS))
    after = joined(before)
    for column in range(COLUMNS):
        beyond = {"behind": rows_of(column), "before": -rows_of(column) - 1, "largest": 2**31 - 1, "smallest": -(2**31)}
        keys = some_keys()
        keys[1, column] = beyond[key]
        for proto in (before, after):
            with pytest.raises(Exception, match="out of data bounds"):
                answers(proto, keys)


def test_places_are_found_once_for_all_that_use_the_same_keys() -> None:
    one, other = model_of(range(COLUMNS)), model_of(range(COLUMNS), is_stack=True)
    both = onnx.compose.merge_graphs(
        onnx.compose.add_prefix_graph(one.graph, "a/"), onnx.compose.add_prefix_graph(other.graph, "b/"), []
    )
    for node in both.node:
        for at, name in enumerate(node.input):
            node.input[at] = {"b/keys": "a/keys", "b/dense": "a/dense"}.get(name, name)
    kept = [value for value in both.input if value.name.startswith("a/")]
    del both.input[:]
    both.input.extend(kept)
    found = ir.from_proto(helper.make_model(both, opset_imports=[helper.make_opsetid("", 20)], ir_version=9))
    join_tables(found)
    assert Counter(node.op_type for node in found.graph)["Or"] == 1


def test_few_lookups_stay_as_they_are() -> None:
    assert tables_looked_up(joined(model_of(range(5)))) == 5


def test_large_tables_are_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joined_tables, "_MOST_BYTES", 100)
    assert tables_looked_up(joined(model_of(range(COLUMNS)))) == COLUMNS


def test_a_lookup_that_something_else_takes_stays_one() -> None:
    before = model_of(range(COLUMNS), outputs=["y", "c7"])
    after = joined(before)
    assert tables_looked_up(after) == 2
    for found, wanted in zip(answers(after, some_keys()), answers(before, some_keys()), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_tables_by_other_keys_are_another() -> None:
    """What is cut from keys that were changed for some columns."""
    before = model_of(range(COLUMNS))
    before.graph.node.insert(0, helper.make_node("Abs", ["keys"], ["others"]))
    for node in before.graph.node:
        if node.output[0] in ("k0", "k1"):
            node.input[0] = "others"
    before.graph.value_info.append(helper.make_tensor_value_info("others", onnx.TensorProto.INT32, ["n", COLUMNS]))
    after = joined(before)
    assert tables_looked_up(after) == 3
    keys = np.abs(some_keys()) - 1
    keys[keys < 0] = 0
    np.testing.assert_array_equal(answers(after, keys)[0], answers(before, keys)[0])
