"""Graphs in which constants take the place of variables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorkeep as tk
from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError, TensorKeepError, WrongTypeError
from tensorkeep.graph.messages.files import read_graph
from tensorkeep.graph.rewriting.freezing import Selection, VariableNode, convert_variables_to_constants, variables_of
from tensorkeep.graph.rewriting.pruning import extract_sub_graph
from tensorkeep.proto.messages import FunctionDef, GraphDef, NodeDef, parse, serialize
from tensorkeep.proto.tensors import array_of_tensor
from tensorkeep.shapes import Shape
from tests.ops.walking import import_all_ops
from tests.support.golden import expected, golden

import_all_ops()

CASE = "g24_graph_tools"
OUTPUTS = ["prob", "cls", "out2"]
FLOAT, BOOL, RESOURCE = 1, 10, 20
TWO = np.array([1.0, 2.0], np.float32)


def add(nodes: Any, op: str, name: str, *inputs: str, **types: int) -> NodeDef:
    node: NodeDef = nodes.add(name=name, op=op, input=inputs)
    for attr, dtype in types.items():
        node.attr[attr].type = dtype
    return node


def with_variable(op: str = "VarHandleOp", name: str = "v") -> GraphDef:
    proto = GraphDef()
    add(proto.node, op, name, dtype=FLOAT)
    return proto


def frozen_nodes(proto: GraphDef, values: dict[str, Any] | None = None) -> dict[str, NodeDef]:
    found = convert_variables_to_constants(proto, {"v": TWO} if values is None else values)
    return {node.name: node for node in found.node}


# ---------------------------------------------------------------------------------------------------- whole graphs


@pytest.mark.parametrize("kind", ["ref", "res"])
def test_a_frozen_graph_is_tensorflows_byte_for_byte(kind: str) -> None:
    folder = golden(CASE) / kind
    part = extract_sub_graph(read_graph(str(folder / "graph.pb")), OUTPUTS)
    values = tk.load_tensors(str(folder / "model.ckpt"))
    before = serialize(part)
    found = convert_variables_to_constants(part, values)
    assert [[node.name, node.op] for node in found.node] == expected(CASE)[kind]["frozen_nodes"]
    assert serialize(found) == (folder / "frozen.pb").read_bytes()
    assert serialize(part) == before


@pytest.mark.parametrize("kind", ["ref", "res"])
def test_a_variable_that_is_kept_stays_as_it_is(kind: str) -> None:
    folder = golden(CASE) / kind
    part = extract_sub_graph(read_graph(str(folder / "graph.pb")), ["prob"])
    values = tk.load_tensors(str(folder / "model.ckpt"))
    chosen = variables_of(part, Selection(keep=["logits/kernel"]))
    found = convert_variables_to_constants(part, {variable.name: values[variable.name] for variable in chosen})
    assert [[node.name, node.op] for node in found.node] == expected(CASE)[kind]["blacklist_nodes"]
    kept = {node.name: node for node in part.node}
    assert all(node == kept[node.name] for node in found.node if node.name.startswith("logits/kernel"))


def test_variables_are_found_with_all_that_a_session_or_checkpoint_needs_to_know() -> None:
    proto = with_variable()
    node = add(proto.node, "VariableV2", "w", dtype=DType.of("int32").number)
    node.attr["shape"].shape.dim.add(size=3)
    node.attr["container"].s = b"box"
    node.attr["shared_name"].s = b"other"
    first, second = variables_of(proto)
    assert first.is_resource
    assert first.resource_name == "v"
    assert first.shape.dims is None
    assert second == VariableNode("w", DType.of("int32"), Shape((3,)), False, "box", "other")
    assert second.resource_name == "other"


def test_a_variable_without_a_type_is_refused() -> None:
    proto = GraphDef()
    proto.node.add(name="v", op="VarHandleOp")
    with pytest.raises(InvalidArgumentError, match="'v' \\(VarHandleOp\\) lacks the attribute 'dtype'"):
        variables_of(proto)


@pytest.mark.parametrize(
    ("only", "keep", "wanted"),
    [
        (None, None, "abc"),
        (["a", "b"], None, "ab"),
        (None, ["a"], "bc"),
        (["a", "b"], {"b": 1}, "a"),
        ([], None, ""),
        ("a", None, "a"),
    ],
)
def test_what_is_chosen(only: Any, keep: Any, wanted: str) -> None:
    selection = Selection(only, keep)
    assert [name for name in "abc" if name in selection] == list(wanted)


@given(st.data())
def test_a_constant_is_what_the_variable_was_and_the_rest_is_untouched(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 5))
    proto = GraphDef()
    for i in range(count):
        add(proto.node, data.draw(st.sampled_from(["VarHandleOp", "VariableV2", "Variable"])), f"v{i}", dtype=FLOAT)
    add(proto.node, "NoOp", "end", *[f"^v{i}" for i in range(count)])
    chosen = data.draw(st.sets(st.sampled_from(range(count))))
    values = {f"v{i}": np.full(data.draw(st.lists(st.integers(0, 3), max_size=3)), i, np.float32) for i in chosen}
    found = convert_variables_to_constants(proto, values)
    assert [node.name for node in found.node] == [node.name for node in proto.node]
    for before, after in zip(proto.node, found.node, strict=True):
        if before.name in values:
            assert (after.op, sorted(after.attr)) == ("Const", ["dtype", "value"])
            array = array_of_tensor(after.attr["value"].tensor)
            np.testing.assert_array_equal(array, values[before.name])
            assert array.shape == values[before.name].shape
        else:
            assert after == before


@given(st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(0, 255)), min_size=1, max_size=4))
def test_a_damaged_graph_is_frozen_or_refused(damage: list[tuple[int, int]]) -> None:
    data = bytearray(_with_functions())
    for at, byte in damage:
        data[at % len(data)] = byte
    try:
        proto = parse(GraphDef, bytes(data), "damaged")
        chosen = variables_of(proto)
        values = {item.name: np.zeros(2, item.dtype.array_dtype) for item in chosen if not item.dtype.is_object}
        convert_variables_to_constants(proto, values)
    except TensorKeepError:
        pass


def _with_functions() -> bytes:
    proto, function = calling()
    add(function.node_def, "ReadVariableOp", "read", "handle", dtype=FLOAT)
    add(function.node_def, "ResourceGather", "gather", "handle", "read:value:0", dtype=FLOAT, Tindices=3)
    function.ret["result"] = "gather:output:0"
    loop = add(proto.node, "While", "loop", "v")
    loop.attr["T"].list.type.append(RESOURCE)
    loop.attr["body"].func.name = loop.attr["cond"].func.name = "f"
    add(proto.node, "IdentityN", "both", "v", "loop").attr["T"].list.type.extend([RESOURCE, RESOURCE])
    return serialize(proto)


# ------------------------------------------------------------------------------------------------------------ limits


def test_a_graph_past_the_limit_is_refused_before_memory_is_spent_on_it() -> None:
    proto = with_variable()
    add(proto.node, "VariableV2", "small", dtype=FLOAT)
    huge = np.broadcast_to(np.float32(0), (1 << 30,))  # four gigabytes, of which four bytes exist
    with pytest.raises(InvalidArgumentError, match=r"would take 42949\d+ bytes.* 2147483647 at most.*v \(4294967296"):
        convert_variables_to_constants(proto, {"v": huge, "small": TWO})


def test_the_limit_counts_the_graph_and_every_value() -> None:
    proto = with_variable()
    size = len(serialize(convert_variables_to_constants(proto, {"v": TWO})))
    words = np.array([b"x" * 1000, b""], object)
    with pytest.raises(InvalidArgumentError, match="Keep some as variables"):
        convert_variables_to_constants(proto, {"v": np.zeros(1000, np.float32)}, most_bytes=size)
    proto.node[0].attr["dtype"].type = 7
    with pytest.raises(InvalidArgumentError, match="SavedModel"):
        convert_variables_to_constants(proto, {"v": words}, most_bytes=900)
    assert convert_variables_to_constants(proto, {"v": words}, most_bytes=1100)


def test_a_value_of_another_type_is_refused() -> None:
    with pytest.raises(WrongTypeError, match="'v' is of type float32, and its value is of type float64"):
        convert_variables_to_constants(with_variable(), {"v": np.zeros(2)})


# ------------------------------------------------------------------------------------------------------------- nodes


def test_reads_become_copies_without_device_and_control_inputs() -> None:
    proto = with_variable()
    node = add(proto.node, "ReadVariableOp", "read", "v", "^other", dtype=FLOAT)
    node.device = "/gpu:0"
    node.attr["_class"].list.s.append(b"loc:@v")
    node.attr["_output_shapes"].list.shape.add()
    add(proto.node, "NoOp", "other")
    found = frozen_nodes(proto)["read"]
    assert (found.op, list(found.input), found.device) == ("Identity", ["v"], "")
    assert sorted(found.attr) == ["T", "_class"]
    assert found.attr["T"].type == FLOAT


def test_gathers_get_an_axis_at_the_end_under_a_name_that_is_free() -> None:
    proto = with_variable()
    add(proto.node, "Const", "ids", dtype=3)
    add(proto.node, "Const", "gather/axis", dtype=3)
    node = add(proto.node, "ResourceGather", "gather", "v", "ids", dtype=FLOAT, Tindices=3)
    node.attr["batch_dims"].i = 1
    add(proto.node, "ResourceGatherNd", "nd", "v", "ids", dtype=FLOAT, Tindices=3)
    nodes = frozen_nodes(proto)
    assert list(nodes) == ["v", "ids", "gather/axis", "gather", "nd", "gather/axis_1"]
    assert (nodes["gather"].op, list(nodes["gather"].input)) == ("GatherV2", ["v", "ids", "gather/axis_1"])
    assert {name: nodes["gather"].attr[name].type for name in ("Tparams", "Tindices", "Taxis")} == {
        "Tparams": FLOAT,
        "Tindices": 3,
        "Taxis": 3,
    }
    assert nodes["gather"].attr["batch_dims"].i == 1
    assert array_of_tensor(nodes["gather/axis_1"].attr["value"].tensor) == 1
    assert (nodes["nd"].op, list(nodes["nd"].input)) == ("GatherNd", ["v", "ids"])


def test_questions_about_a_variable_have_answers_now() -> None:
    proto = with_variable()
    add(proto.node, "VariableShape", "shape", "v", out_type=9)
    add(proto.node, "VarIsInitializedOp", "there", "v")
    nodes = frozen_nodes(proto)
    assert nodes["shape"].op == "Shape"
    assert (nodes["shape"].attr["T"].type, nodes["shape"].attr["out_type"].type) == (FLOAT, 9)
    assert nodes["there"].op == "Const"
    assert array_of_tensor(nodes["there"].attr["value"].tensor)


def test_references_that_control_flow_passes_on_become_values() -> None:
    proto = with_variable("VariableV2")
    add(proto.node, "Const", "which", dtype=BOOL)
    add(proto.node, "RefSwitch", "switch", "v", "which", T=FLOAT)
    add(proto.node, "RefMerge", "merge", "switch", "switch:1", T=FLOAT).attr["N"].i = 2
    add(proto.node, "RefIdentity", "end", "merge", T=FLOAT)
    add(proto.node, "Identity", "index", "merge:1", T=3)
    nodes = frozen_nodes(proto)
    assert [nodes[name].op for name in ("switch", "merge", "end")] == ["Switch", "Merge", "Identity"]
    assert nodes["index"].attr["T"].type == 3


def test_what_decides_on_a_branch_is_not_passed_on() -> None:
    proto = with_variable("VariableV2")
    proto.node[0].attr["dtype"].type = BOOL
    add(proto.node, "Identity", "pred", "v", T=BOOL)
    add(proto.node, "Placeholder", "x", dtype=FLOAT)
    add(proto.node, "Switch", "switch", "x", "pred", T=FLOAT)
    assert frozen_nodes(proto, {"v": np.array(True)})["switch"].attr["T"].type == FLOAT


def test_a_loop_that_carries_a_handle_ends() -> None:
    proto = with_variable()
    add(proto.node, "Enter", "enter", "v", T=RESOURCE)
    add(proto.node, "Merge", "merge", "enter", "next", T=RESOURCE)
    add(proto.node, "Identity", "copy", "merge", T=RESOURCE)
    add(proto.node, "NextIteration", "next", "copy", T=RESOURCE)
    add(proto.node, "ReadVariableOp", "read", "copy", dtype=FLOAT)
    nodes = frozen_nodes(proto)
    assert {nodes[name].attr["T"].type for name in ("enter", "merge", "copy", "next", "read")} == {FLOAT}


def test_a_long_chain_of_copies_is_no_obstacle() -> None:
    proto = with_variable()
    for i in range(20_000):
        add(proto.node, "Identity", f"n{i}", f"n{i - 1}" if i else "v", T=RESOURCE)
    nodes = frozen_nodes(proto)
    assert all(node.attr["T"].type == FLOAT for name, node in nodes.items() if name != "v")


def test_everything_that_changes_a_variable_is_named() -> None:
    proto = with_variable()
    add(proto.node, "VariableV2", "w", dtype=FLOAT)
    add(proto.node, "Const", "c", dtype=FLOAT)
    add(proto.node, "AssignVariableOp", "set_v", "v", "c", dtype=FLOAT)
    add(proto.node, "AssignAdd", "add_to_w", "w", "c", T=FLOAT)
    add(proto.node, "Neg", "fine", "w", T=FLOAT)
    with pytest.raises(InvalidArgumentError) as refused:
        frozen_nodes(proto, {"v": TWO, "w": TWO})
    assert "'set_v' (AssignVariableOp) needs the variable 'v' itself" in str(refused.value)
    assert "'add_to_w' (AssignAdd) needs the variable 'w' itself" in str(refused.value)
    assert "'fine'" not in str(refused.value)
    assert frozen_nodes(proto, {})["set_v"].op == "AssignVariableOp"


def test_an_input_from_nowhere_is_refused() -> None:
    proto = with_variable()
    add(proto.node, "Neg", "n", "nowhere:2", T=FLOAT)
    with pytest.raises(InvalidArgumentError, match="Node 'n': Unknown input node 'nowhere:2'"):
        frozen_nodes(proto)


# --------------------------------------------------------------------------------------------------------- functions


def calling(name: str = "f", op: str = "PartitionedCall") -> tuple[GraphDef, FunctionDef]:
    """A graph that calls a function, of one argument and one result, with a variable."""
    proto = with_variable()
    call = add(proto.node, op, "call", "v")
    if op == "PartitionedCall":
        call.attr["Tin"].list.type.append(RESOURCE)
        call.attr["Tout"].list.type.append(FLOAT)
        call.attr["f"].func.name = name
    function = proto.library.function.add()
    function.signature.name = name
    function.signature.input_arg.add(name="handle", type=RESOURCE)
    function.signature.output_arg.add(name="result", type=FLOAT)
    return proto, function


def test_a_function_that_is_changed_gets_a_new_name_and_its_outputs_new_ones_too() -> None:
    proto, function = calling("f_12")
    add(function.node_def, "ReadVariableOp", "read", "handle", dtype=FLOAT)
    add(function.node_def, "Neg", "neg", "read:value:0", T=FLOAT)
    function.ret["result"] = "read:value:0"
    function.attr["_input_shapes"].list.shape.add().dim.add(size=1)
    function.arg_attr[0].attr["_output_shapes"].list.shape.add().dim.add(size=1)
    found = convert_variables_to_constants(proto, {"v": TWO})
    (changed,) = found.library.function
    assert changed.signature.name == "f_frozen_1"
    assert found.node[1].attr["f"].func.name == "f_frozen_1"
    assert list(found.node[1].attr["Tin"].list.type) == [FLOAT]
    assert changed.signature.input_arg[0].type == FLOAT
    assert [(node.op, list(node.input)) for node in changed.node_def] == [
        ("Identity", ["handle"]),
        ("Neg", ["read:output:0"]),
    ]
    assert changed.ret["result"] == "read:output:0"
    for shape in (
        changed.attr["_input_shapes"].list.shape[0],
        changed.arg_attr[0].attr["_output_shapes"].list.shape[0],
    ):
        assert shape.unknown_rank
        assert not shape.dim


def test_a_node_whose_op_is_the_function_calls_the_new_one() -> None:
    proto, function = calling(op="f")
    add(function.node_def, "ReadVariableOp", "read", "handle", dtype=FLOAT)
    function.ret["result"] = "read:value:0"
    found = convert_variables_to_constants(proto, {"v": TWO})
    assert found.node[1].op == found.library.function[0].signature.name == "f_frozen_1"


def test_freezing_twice_gives_the_same_bytes() -> None:
    proto, function = calling()
    add(function.node_def, "ReadVariableOp", "read", "handle", dtype=FLOAT)
    function.ret["result"] = "read:value:0"
    first, second = (serialize(convert_variables_to_constants(proto, {"v": TWO})) for _ in range(2))
    assert first == second


def test_a_name_that_is_taken_is_not_taken_again() -> None:
    proto, function = calling()
    function.ret["result"] = "handle"
    proto.library.function.add().signature.name = "f_frozen_1"
    found = convert_variables_to_constants(proto, {"v": TWO})
    names = [item.signature.name for item in found.library.function]
    assert len(set(names)) == 2
    assert found.node[1].attr["f"].func.name == names[0]


def test_a_call_of_a_function_that_is_not_there_is_refused() -> None:
    proto, _ = calling()
    del proto.library.function[:]
    with pytest.raises(InvalidArgumentError, match="'call' calls f, which are not all in the library"):
        frozen_nodes(proto)


def test_calls_with_frozen_and_kept_variables_in_different_places_are_refused() -> None:
    proto, function = calling()
    function.signature.input_arg.add(name="second", type=RESOURCE)
    function.ret["result"] = "handle"
    add(proto.node, "VarHandleOp", "w", dtype=FLOAT)
    del proto.node[1].input[:]
    proto.node[1].input.extend(["v", "w"])
    proto.node[1].attr["Tin"].list.type.append(RESOURCE)
    other = proto.node.add()
    other.CopyFrom(proto.node[1])
    other.name = "other"
    del other.input[:]
    other.input.extend(["w", "v"])
    with pytest.raises(InvalidArgumentError, match="Freeze all of them or none"):
        frozen_nodes(proto)


def two_calls() -> tuple[GraphDef, FunctionDef]:
    """A graph that calls a function with the variable "v" and with the variable "w"."""
    proto, function = calling()
    add(proto.node, "VarHandleOp", "w", dtype=FLOAT)
    other = proto.node.add()
    other.CopyFrom(proto.node[1])
    other.name = "other"
    other.input[0] = "w"
    return proto, function


def functions_called(proto: GraphDef) -> dict[str, str]:
    return {node.name: node.attr["f"].func.name for node in proto.node if "f" in node.attr}


def test_what_is_called_with_a_kept_variable_stays_with_all_that_it_calls() -> None:
    proto, function = two_calls()
    inner = proto.library.function.add()
    inner.CopyFrom(function)
    inner.signature.name = "inner"
    add(inner.node_def, "ReadVariableOp", "read", "handle", dtype=FLOAT)
    inner.ret["result"] = "read:value:0"
    function.node_def.add().CopyFrom(proto.node[1])
    function.node_def[0].input[0] = "handle"
    function.node_def[0].attr["f"].func.name = "inner"
    function.ret["result"] = "call:output:0"
    found = convert_variables_to_constants(proto, {"v": TWO})
    assert functions_called(found) == {"call": "f_frozen_1", "other": "f"}
    library = {item.signature.name: item for item in found.library.function}
    assert sorted(library) == ["f", "f_frozen_1", "inner", "inner_frozen_2"]
    assert library["f"].node_def[0].attr["f"].func.name == "inner"
    assert library["f_frozen_1"].node_def[0].attr["f"].func.name == "inner_frozen_2"
    assert library["inner"].node_def[0].op == "ReadVariableOp"
    both = convert_variables_to_constants(proto, {"v": TWO, "w": TWO})
    assert functions_called(both) == {"call": "f_frozen_1", "other": "f_frozen_1"}
    assert [item.signature.name for item in both.library.function] == ["f_frozen_1", "inner_frozen_2"]


@pytest.mark.parametrize("frozen", [["v"], ["w"], ["v", "w"]])
def test_a_handle_that_a_function_gives_back_is_a_value_just_where_it_was_given_one(frozen: list[str]) -> None:
    proto, function = two_calls()
    function.signature.output_arg[0].type = RESOURCE
    function.ret["result"] = "handle"
    for call in (proto.node[1], proto.node[3]):
        call.attr["Tout"].list.type[0] = RESOURCE
        add(proto.node, "ReadVariableOp", f"{call.name}/read", call.name, dtype=FLOAT)
    nodes = frozen_nodes(proto, dict.fromkeys(frozen, TWO))
    for variable, call in (("v", "call"), ("w", "other")):
        is_frozen = variable in frozen
        assert list(nodes[call].attr["Tout"].list.type) == [FLOAT if is_frozen else RESOURCE]
        assert nodes[f"{call}/read"].op == ("Identity" if is_frozen else "ReadVariableOp")
