"""What every model does is told from what an attacker makes look like it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tensorkeep.proto.messages import GraphDef, MetaGraphDef, NodeDef, SavedModel, VariableDef, serialize
from tensorkeep.saved_model.scan.model_scan import scan_graph_def, scan_model
from tests.saved_model.scan_samples import add_function, add_node, const_path, model_with, only, stored


def model_with_saver() -> tuple[SavedModel, MetaGraphDef]:
    """A model whose saver restores and saves at a path that the loader gives, and which is as it should be."""
    model = model_with()
    meta_graph = only(model)
    nodes = meta_graph.graph_def.node
    const_path(nodes, "save/default", "model")
    add_node(nodes, "PlaceholderWithDefault", "save/Const", "save/default")
    add_node(nodes, "RestoreV2", "save/RestoreV2", "save/Const")
    add_node(nodes, "SaveV2", "save/SaveV2", "save/Const")
    add_node(nodes, "Identity", "save/control", "save/Const", "^save/SaveV2").attr["T"].type = 7
    meta_graph.saver_def.filename_tensor_name = "save/Const:0"
    meta_graph.saver_def.save_tensor_name = "save/control:0"
    meta_graph.saver_def.restore_op_name = "save/RestoreV2"
    return model, meta_graph


def found_in(model: SavedModel) -> dict[str, int]:
    return dict(scan_model("m", fs=stored(model)).counts)


def node_named(meta_graph: MetaGraphDef, name: str) -> NodeDef:
    (node,) = (node for node in meta_graph.graph_def.node if node.name == name)
    return node


def test_a_saver_is_accounted_for():
    model, _ = model_with_saver()
    report = scan_model("m", fs=stored(model))
    assert report.is_clean, str(report)
    assert {item.subject for item in report.accounted} == {"RestoreV2", "SaveV2"}


def test_restoring_rows_of_an_embedding_variable_does_not_account_for_the_file_that_they_are_kept_in():
    model, meta_graph = model_with_saver()
    rows = add_node(meta_graph.graph_def.node, "KvResourceImportV2", "save/rows", "save/Const", "table")
    meta_graph.saver_def.restore_op_name = "save/rows"
    assert found_in(model) == {}
    rows.attr["storage_type"].i = 12
    report = scan_model("m", fs=stored(model))
    assert report.counts == {"writes-files": 1}
    assert "reads-files" in {item.rule for item in report.accounted if item.subject == "KvResourceImportV2"}


def test_an_asset_that_a_signature_reads_is_what_its_constant_holds():
    model, meta_graph = model_with_saver()
    nodes = meta_graph.graph_def.node
    const_path(nodes, "vocabulary", "/etc/shadow")
    add_node(nodes, "ReadFile", "read", "vocabulary")
    meta_graph.asset_file_def.add(filename="words.txt").tensor_info.name = "vocabulary:0"
    meta_graph.collection_def["saved_model_main_op"].node_list.value.append("read")
    assert found_in(model) == {}
    node_named(meta_graph, "evil").input.append("^read")
    (finding,) = scan_model("m", fs=stored(model)).findings
    assert "/etc/shadow" in finding.message


@pytest.mark.parametrize("entry", ["signature", "main operation"])
def test_the_savers_path_is_what_it_holds_where_no_loader_gives_one(entry: str):
    model, meta_graph = model_with_saver()
    node_named(meta_graph, "save/default").attr["value"].tensor.string_val[0] = b"/home/somebody/model"
    assert found_in(model) == {}  # whoever saves or restores gives another path
    if entry == "signature":
        node_named(meta_graph, "evil").input.append("^save/RestoreV2")
    else:
        meta_graph.collection_def["saved_model_main_op"].node_list.value.append("save/RestoreV2")
    (finding,) = scan_model("m", fs=stored(model)).findings
    assert "/home/somebody/model" in finding.message


@pytest.mark.parametrize("behind", ["/../../home/me/.bashrc", "_temp/../../x"])
def test_a_saver_that_leads_up_from_the_path_that_it_is_given_is_found(behind: str):
    model, meta_graph = model_with_saver()
    nodes = meta_graph.graph_def.node
    const_path(nodes, "behind", "_temp_0123/part")
    add_node(nodes, "StringJoin", "joined", "save/Const", "behind")
    node_named(meta_graph, "save/SaveV2").input[0] = "joined"
    assert found_in(model) == {}
    node_named(meta_graph, "behind").attr["value"].tensor.string_val[0] = behind.encode()
    assert found_in(model) == {"writes-files": 1}


def test_a_saver_with_something_computed_behind_its_path_is_found():
    model, meta_graph = model_with_saver()
    nodes = meta_graph.graph_def.node
    add_node(nodes, "StringLower", "behind", "save/default")
    add_node(nodes, "StringJoin", "joined", "save/Const", "behind")
    node_named(meta_graph, "save/SaveV2").input[0] = "joined"
    assert found_in(model) == {"writes-files": 1}


def test_merging_the_checkpoint_of_somebody_else_is_found():
    model, meta_graph = model_with_saver()
    nodes = meta_graph.graph_def.node
    add_node(nodes, "Pack", "parts", "save/Const", "save/Const")
    add_node(nodes, "MergeV2Checkpoints", "merge", "parts", "save/Const")
    assert found_in(model) == {}
    const_path(nodes, "victim", "/home/somebody/model")
    node_named(meta_graph, "parts").input[1] = "victim"
    assert found_in(model) == {"reads-files": 1, "writes-files": 1}


def saving_function(graph_def: GraphDef) -> None:
    function = add_function(graph_def, "saves", "Const", "SaveV2")
    function.node_def[0].attr["value"].tensor.string_val.append(b"model")
    function.node_def[1].input.append("n0:output:0")


def test_a_function_that_the_saver_calls_is_accounted_for():
    model, meta_graph = model_with_saver()
    saving_function(meta_graph.graph_def)
    call = add_node(meta_graph.graph_def.node, "StatefulPartitionedCall", "call")
    call.attr["f"].func.name = "saves"
    meta_graph.saver_def.save_tensor_name = "call:0"
    assert found_in(model) == {}


def test_a_function_that_nobody_is_seen_to_call_is_not():
    model, meta_graph = model_with_saver()
    saving_function(meta_graph.graph_def)
    assert found_in(model) == {"writes-files": 1}


@pytest.mark.parametrize("way", ["gradient", "registered gradient", "implementation"])
def test_a_function_that_runs_in_the_place_of_another_is_not_dormant(way: str):
    model, meta_graph = model_with_saver()
    library = meta_graph.graph_def.library
    saving_function(meta_graph.graph_def)
    call = add_node(meta_graph.graph_def.node, "StatefulPartitionedCall", "call")
    call.attr["f"].func.name = "saves"
    meta_graph.saver_def.save_tensor_name = "call:0"
    if way == "gradient":
        library.gradient.add(function_name="other", gradient_func="saves")
    elif way == "registered gradient":
        library.registered_gradients.add(gradient_func="saves", registered_op_type="CustomGradient-1")
    else:
        library.function[0].attr["api_implements"].s = b"lstm"
    assert found_in(model) == {"writes-files": 1}


def test_a_graph_whose_output_waits_for_a_saver_writes():
    graph_def = GraphDef()
    const_path(graph_def.node, "path", "model")
    add_node(graph_def.node, "SaveV2", "save", "path")
    assert scan_graph_def(graph_def).is_clean
    add_node(graph_def.node, "Placeholder", "x")
    add_node(graph_def.node, "Identity", "y", "x", "^save").attr["T"].type = 1
    assert scan_graph_def(graph_def).counts == {"writes-files": 1}


@pytest.mark.parametrize("name", ["assets.extra/requests", "notes.txt", "debug/saved_model_debug_info.pb"])
def test_any_file_that_is_a_link_out_of_the_model_is_found_and_not_opened(name: str, tmp_path: Path):
    (tmp_path / "secret.py").write_text("import os")
    path = tmp_path / "model" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "model" / "saved_model.pb").write_bytes(serialize(model_with()))
    path.symlink_to(tmp_path / "secret.py")
    report = scan_model(tmp_path / "model")
    assert [(item.rule, item.subject, item.file) for item in report.findings] == [("reads-files", "link", name)]
    assert name not in report.files


# ------------------------------------------------------------------------------------------------- paths in disguise


def test_a_constant_is_not_what_its_strings_say_if_it_has_bytes_beside_them():
    """TensorFlow takes the bytes, and never looks at the strings."""
    model, meta_graph = model_with_saver()
    nodes = meta_graph.graph_def.node
    const_path(nodes, "memory", "")
    add_node(nodes, "CacheDataset", "cache", "dataset", "memory")
    assert found_in(model) == {}
    node_named(meta_graph, "memory").attr["value"].tensor.tensor_content = b"\x06/tmp/x"
    assert found_in(model) == {"reads-files": 1, "writes-files": 1}


def test_what_is_put_behind_a_savers_path_is_not_what_its_strings_say_either():
    model, meta_graph = model_with_saver()
    nodes = meta_graph.graph_def.node
    const_path(nodes, "behind", "_temp/part")
    add_node(nodes, "StringJoin", "joined", "save/Const", "behind")
    node_named(meta_graph, "save/SaveV2").input[0] = "joined"
    node_named(meta_graph, "behind").attr["value"].tensor.tensor_content = b"\x05/../x"
    assert found_in(model) == {"writes-files": 1}


def model_with_asset(reader: str = "ReadFile") -> tuple[SavedModel, MetaGraphDef]:
    """A model that reads an asset while it is loaded, and is as it should be."""
    model, meta_graph = model_with_saver()
    nodes = meta_graph.graph_def.node
    const_path(nodes, "vocabulary", "/tmp/words.txt")
    add_node(nodes, reader, "read", "vocabulary")
    meta_graph.asset_file_def.add(filename="words.txt").tensor_info.name = "vocabulary:0"
    meta_graph.collection_def["saved_model_main_op"].node_list.value.append("read")
    return model, meta_graph


def test_an_asset_is_read_by_the_one_output_that_the_loader_gives():
    """It gives one of two; the other is what the node makes of its inputs."""
    model, meta_graph = model_with_asset()
    assert found_in(model) == {}
    meta_graph.asset_file_def[0].tensor_info.name = "split:1"
    add_node(meta_graph.graph_def.node, "Split", "split", "axis", "vocabulary")
    node_named(meta_graph, "read").input[0] = "split:0"
    assert found_in(model) == {"reads-files": 1}


def reading_function(meta_graph: MetaGraphDef, op: str, attribute: str) -> NodeDef:
    """Has a function read the asset that it is given; gives the node that calls it."""
    function = add_function(meta_graph.graph_def, "reads", "ReadFile")
    function.signature.input_arg.add(name="path")
    function.signature.output_arg.add(name="next")
    function.node_def[0].input.append("path")
    function.ret["next"] = "path"
    call = node_named(meta_graph, "read")
    call.op = op
    call.attr[attribute].func.name = "reads"
    return call


def test_a_loop_may_go_on_with_another_path_than_it_began_with():
    model, meta_graph = model_with_asset()
    reading_function(meta_graph, "While", "body")
    assert found_in(model) == {}
    function = meta_graph.graph_def.library.function[0]
    const_path(function.node_def, "other", "/etc/passwd")
    function.ret["next"] = "other:output:0"
    (finding,) = scan_model("m", fs=stored(model)).findings
    assert "/etc/passwd" in finding.message


def test_a_function_that_is_handed_on_gets_whatever_it_is_called_with():
    model, meta_graph = model_with_asset()
    call = reading_function(meta_graph, "PartitionedCall", "f")
    assert found_in(model) == {}
    outer = add_function(meta_graph.graph_def, "outer", "Const", "PartitionedCall")
    outer.node_def[1].attr["f"].placeholder = "what"
    call.attr["f"].func.name = "outer"
    call.attr["f"].func.attr["what"].func.name = "reads"
    assert found_in(model) == {"reads-files": 1}


@pytest.mark.parametrize("other", ["VarHandleOp", "_XlaAotOnlyVarHandleOp", "_VarHandlesOp", "Const"])
def test_a_variable_that_another_node_has_a_handle_of_may_hold_any_path(other: str):
    model, meta_graph = model_with_asset()
    nodes = meta_graph.graph_def.node
    add_node(nodes, "VarHandleOp", "variable", shared_name=b"path")
    add_node(nodes, "AssignVariableOp", "assign", "variable", "vocabulary")
    add_node(nodes, "ReadVariableOp", "held", "variable", "^assign")
    node_named(meta_graph, "read").input[0] = "held"
    assert found_in(model) == {}
    handle = add_node(nodes, other, "other")
    handle.attr["dtype"].type = 20 if other == "Const" else 7
    handle.attr["shared_name"].s = b"path"
    handle.attr["shared_names"].list.s.append(b"path")
    assert found_in(model) == {"reads-files": 1}


def test_what_sets_a_local_variable_runs_on_load_if_the_model_names_nothing_to_run():
    model, meta_graph = model_with_saver()
    local = VariableDef(variable_name="v:0", initializer_name="save/SaveV2")
    meta_graph.collection_def["local_variables"].bytes_list.value.append(serialize(local))
    (finding,) = scan_model("m", fs=stored(model)).findings
    assert (finding.rule, finding.on_load) == ("writes-files", True)
