"""A scan finds whatever does more than compute, wherever it hides, and nothing in models that only compute."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.errors import InvalidArgumentError, MissingFileError
from tensorkeep.graph.registry.capabilities import tensorflow_ops
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.proto.messages import GraphDef, SavedModel, serialize
from tensorkeep.proto.text import format_text
from tensorkeep.proto.wire import encode_bytes_field
from tensorkeep.saved_model.scan.model_scan import scan_graph_def, scan_meta_graph, scan_model
from tensorkeep.saved_model.scan.report import ScanPolicy
from tests.saved_model.scan_samples import (
    LAMBDA_LAYER,
    add_function,
    add_node,
    const_path,
    graph_with,
    model_with,
    only,
    stored,
    write,
)
from tests.support.depth import examples
from tests.support.effort import at_most_lines
from tests.support.golden import ROOT

MODELS = sorted(path.parent for path in ROOT.glob("*/model/saved_model.pb"))
GRAPHS = sorted([*ROOT.glob("*/*.meta"), *ROOT.glob("g24*/*/*.meta"), *ROOT.glob("g24*/*/*.pb*")])


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.parent.name)
def test_models_made_by_tensorflow_are_clean(path: Path):
    report = scan_model(str(path))
    assert report.is_clean, str(report)
    assert report.ops
    assert report.accounted


@pytest.mark.parametrize("path", GRAPHS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_meta_graphs_and_frozen_graphs_made_by_tensorflow_are_clean(path: Path):
    report = scan_model(str(path))
    assert report.is_clean, str(report)


# ------------------------------------------------------------------------------------------------------------- samples


@pytest.mark.parametrize(
    ("op", "rule"),
    [
        ("PyFunc", "calls-python"),
        ("EagerPyFunc", "calls-python"),
        ("MatchingFiles", "reads-files"),
        ("ReadFile", "reads-files"),
        ("WriteFile", "writes-files"),
        ("PrintV2", "prints"),
        ("RestoreV2", "reads-files"),
        ("SaveV2", "writes-files"),
        ("TFRecordDataset", "reads-files"),
        ("RpcCall", "uses-network"),
        ("DataServiceDatasetV4", "uses-network"),
        ("Abort", "controls-process"),
        ("DatasetFromGraph", "runs-unknown-code"),
        ("MyCustomOp", "runs-unknown-code"),
    ],
)
def test_an_op_in_the_graph_is_found(op, rule):
    report = scan_model("m", fs=stored(model_with(op)))
    assert report.counts == {rule: 1}
    (finding,) = report.findings
    assert (finding.subject, finding.file, finding.where) == (op, "saved_model.pb", 'tags serve, node "evil"')


def test_a_path_that_is_known_is_told():
    (finding,) = scan_graph_def(graph_with("ReadFile")).findings
    assert finding.message == "ReadFile reads files: '/etc/passwd'"


def test_an_op_in_a_function_that_nothing_calls_is_found():
    model = model_with()
    add_function(only(model).graph_def, "hidden", "PyFunc")
    (finding,) = scan_model("m", fs=stored(model)).findings
    assert finding.where == 'tags serve, function hidden, node "n0"'


def test_an_op_in_a_function_that_only_an_attribute_names_is_found_and_runs_on_load():
    model = model_with()
    graph_def = only(model).graph_def
    add_function(graph_def, "deep", "EagerPyFunc")
    outer = add_function(graph_def, "outer", "MapDataset")
    outer.node_def[0].attr["f"].func.name = "deep"
    node = add_node(graph_def.node, "If", "init")
    node.attr["branches"].list.func.add().name = "outer"
    only(model).collection_def["saved_model_main_op"].node_list.value.append("init")
    (finding,) = scan_model("m", fs=stored(model)).findings
    assert finding.on_load
    assert "runs when TensorFlow loads the model" in str(finding)


def test_a_function_named_like_an_op_hides_nothing():
    graph_def = graph_with("ReadFile")
    add_function(graph_def, "ReadFile", "NoOp")
    assert scan_graph_def(graph_def).counts == {"reads-files": 1}


def test_a_call_of_a_function_by_its_name_is_not_a_custom_op():
    graph_def = graph_with("my_function")
    add_function(graph_def, "my_function", "Add")
    assert scan_graph_def(graph_def).is_clean


def test_debug_ops_with_addresses_are_found():
    graph_def = GraphDef()
    node = graph_def.node.add(op="DebugIdentity", name="spy")
    node.attr["debug_urls"].list.s.append(b"file:///home/me")
    assert scan_graph_def(graph_def).counts == {"writes-files": 1}


@pytest.mark.parametrize("name", ["harmless.txt", "saved_model.old", "weights.bin"])
def test_a_file_is_told_by_its_content(name):
    fs = MemoryFileSystem()
    write(fs, f"d/{name}", serialize(model_with("PyFunc")))
    assert scan_model(f"d/{name}", fs=fs).counts == {"calls-python": 1}


def test_a_graph_among_the_assets_is_scanned():
    report = scan_model("m", fs=stored(model_with(), **{"assets__vocab.txt": serialize(graph_with("WriteFile"))}))
    assert report.counts == {"writes-files": 1}
    assert report.findings[0].file == "assets/vocab.txt"


def test_a_model_as_text_is_scanned_too_even_where_loaders_prefer_the_other():
    fs = stored(model_with(), **{"saved_model.pbtxt": format_text(model_with("PyFunc")).encode()})
    assert scan_model("m", fs=fs).counts == {"calls-python": 1}


@pytest.mark.parametrize(
    ("name", "data", "rule"),
    [
        ("assets__x.txt", b"\x80\x04\x95\x00\x00\x00\x00\x00\x00\x00\x00.", "calls-python"),
        ("assets__x.txt", b"\x7fELF\x02\x01\x01" + bytes(100), "runs-unknown-code"),
        ("assets.extra__setup.py", b"import os\n", "calls-python"),
        ("keras_metadata.pb", encode_bytes_field(1, encode_bytes_field(5, LAMBDA_LAYER.encode())), "calls-python"),
        ("keras_metadata.pb", encode_bytes_field(1, encode_bytes_field(5, b"{not json")), "not-scanned"),
    ],
)
def test_other_files_that_are_programs_are_found(name, data, rule):
    assert scan_model("m", fs=stored(model_with(), **{name: data})).counts == {rule: 1}


@pytest.mark.parametrize("data", [b"red\ngreen\n", b"", b"\x00\x01\x02binary", b"MZ is how this text begins"])
def test_other_files_that_are_data_are_not(data):
    assert scan_model("m", fs=stored(model_with(), **{"assets__vocab.txt": data})).is_clean


def test_a_lambda_layer_in_the_object_graph_is_found():
    model = model_with()
    item = only(model).object_graph_def.nodes.add()
    item.user_object.identifier = "_tf_keras_network"
    item.user_object.metadata = LAMBDA_LAYER
    (finding,) = scan_model("m", fs=stored(model)).findings
    assert finding.subject == "Lambda"
    assert "compiled Python code" in finding.message


def test_a_pickle_in_a_collection_is_found():
    model = model_with()
    only(model).collection_def["mine"].bytes_list.value.append(b"\x80\x04\x95" + bytes(9))
    assert scan_model("m", fs=stored(model)).counts == {"calls-python": 1}


@pytest.mark.parametrize("filename", ["../../etc/passwd", "/etc/passwd", ""])
def test_an_asset_that_lies_elsewhere_is_found(filename):
    model = model_with()
    asset = only(model).asset_file_def.add(filename=filename)
    asset.tensor_info.name = "path:0"
    assert scan_model("m", fs=stored(model)).counts == {"reads-files": 1}


# ----------------------------------------------------------------------------------------------------------- own files


def own_asset(filename_source: str = "path") -> SavedModel:
    model = model_with()
    meta_graph = only(model)
    asset = meta_graph.asset_file_def.add(filename="vocab.txt")
    asset.tensor_info.name = "path:0"
    add_node(meta_graph.graph_def.node, "Identity", "same", filename_source)
    add_node(meta_graph.graph_def.node, "InitializeTableFromTextFileV2", "init", "table", "same")
    return model


def test_reading_an_asset_is_accounted_for():
    report = scan_model("m", fs=stored(own_asset()))
    assert report.is_clean
    assert [item.message for item in report.accounted] == ["InitializeTableFromTextFileV2 reads an asset of the model"]


def test_reading_another_file_as_if_it_were_an_asset_is_found():
    model = own_asset("other")
    const_path(only(model).graph_def.node, "other", "/etc/shadow")
    report = scan_model("m", fs=stored(model))
    assert report.findings[0].message == "InitializeTableFromTextFileV2 reads files: '/etc/shadow'"


def test_a_variable_that_somebody_else_may_assign_is_not_an_asset():
    model = own_asset("read")
    nodes = only(model).graph_def.node
    add_node(nodes, "VarHandleOp", "v")
    add_node(nodes, "AssignVariableOp", "assign", "v", "path")
    add_node(nodes, "ReadVariableOp", "read", "v")
    assert scan_model("m", fs=stored(model)).is_clean
    add_node(nodes, "StatefulPartitionedCall", "call", "v")
    assert scan_model("m", fs=stored(model)).counts == {"reads-files": 1}


def test_restoring_from_the_loaders_path_is_accounted_for_and_from_another_is_found():
    model = model_with()
    meta_graph = only(model)
    nodes = meta_graph.graph_def.node
    add_node(nodes, "Placeholder", "prefix")
    restore = add_node(nodes, "RestoreV2", "restore", "prefix")
    meta_graph.saver_def.filename_tensor_name = "prefix:0"
    meta_graph.saver_def.restore_op_name = "restore"
    assert scan_model("m", fs=stored(model)).is_clean
    add_node(nodes, "StringJoin", "escaping", "prefix", "path")
    restore.input[0] = "escaping"
    (finding,) = scan_model("m", fs=stored(model)).findings
    assert finding.on_load


def test_saving_that_a_signature_does_is_found():
    model = model_with("SaveV2")
    nodes = only(model).graph_def.node
    add_node(nodes, "Placeholder", "prefix")
    only(model).saver_def.filename_tensor_name = "prefix:0"
    nodes[1].input[0] = "prefix"
    assert scan_model("m", fs=stored(model)).counts == {"writes-files": 1}


# ------------------------------------------------------------------------------------------------------------- policies


def test_what_is_allowed_by_class_or_op_is_no_finding():
    fs = stored(model_with("PrintV2"))
    assert scan_model("m", ScanPolicy.of(["prints"]), fs).is_clean
    assert scan_model("m", ScanPolicy.of(["PrintV2"]), fs).is_clean
    assert not scan_model("m", ScanPolicy.of(["reads-files", "Print"]), fs).is_clean


def test_a_list_of_allowed_ops_fails_closed():
    fs = stored(model_with("MatMul"))
    assert scan_model("m", ScanPolicy.of(only=["MatMul", "Const"]), fs).is_clean
    assert scan_model("m", ScanPolicy.of(only=["MatMul"]), fs).counts == {"not-allowed": 1}
    assert scan_model("m", ScanPolicy.of(only=[]), fs).counts == {"not-allowed": 2}


def test_an_op_that_is_on_the_list_may_do_what_it_does():
    assert scan_model("m", ScanPolicy.of(only=["PyFunc", "Const"]), stored(model_with("PyFunc"))).is_clean


def test_what_could_not_be_looked_at_cannot_be_allowed():
    with pytest.raises(InvalidArgumentError, match="cannot be allowed"):
        ScanPolicy.of(["not-scanned"])


# --------------------------------------------------------------------------------------------------------------- forms


def test_the_report_as_json():
    report = scan_model("m", fs=stored(model_with("PyFunc")))
    found = json.loads(report.to_json())
    assert (found["clean"], found["complete"], found["counts"]) == (False, True, {"calls-python": 1})
    assert found["findings"][0]["subject"] == "PyFunc"
    assert found["ops"] == {"Const": 1, "PyFunc": 1}


def test_the_report_as_sarif():
    run = json.loads(scan_model("m", fs=stored(model_with("PyFunc"))).to_sarif())["runs"][0]
    (result,) = run["results"]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "calls-python"
    location = result["locations"][0]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "saved_model.pb"
    assert location["logicalLocations"][0]["fullyQualifiedName"] == 'tags serve, node "evil"'


def test_the_report_as_text():
    text = str(scan_model("m", fs=stored(model_with("PyFunc"))))
    assert "The model calls Python functions (calls-python):" in text
    assert 'saved_model.pb: tags serve, node "evil": PyFunc calls Python functions' in text


def test_many_findings_are_counted_and_the_first_are_listed():
    graph_def = GraphDef()
    for number in range(1000):
        graph_def.node.add(op="PyFunc", name=f"n{number}")
    report = scan_graph_def(graph_def)
    assert (report.counts, len(report.findings)) == ({"calls-python": 1000}, 20)
    assert "and 980 more" in str(report)


# ---------------------------------------------------------------------------------------------------- damage, hostility


def test_nothing_there_is_an_error():
    with pytest.raises(MissingFileError):
        scan_model("m", fs=MemoryFileSystem())


def test_a_folder_without_a_model_is_an_error():
    fs = MemoryFileSystem()
    write(fs, "d/readme.txt", b"hello")
    with pytest.raises(InvalidArgumentError, match="without a SavedModel"):
        scan_model("d", fs=fs)


@pytest.mark.parametrize("data", [b"", b"\xff\xff\xff", b"PK\x03\x04zip", b"hello"])
def test_a_damaged_model_is_a_finding(data):
    fs = MemoryFileSystem()
    write(fs, "m/saved_model.pb", data)
    report = scan_model("m", fs=fs)
    if data:
        assert not report.is_complete
    assert not report.ops


def test_functions_that_call_themselves_take_no_effort():
    graph_def = GraphDef()
    for number in range(2000):
        function = add_function(graph_def, f"f{number}", "StatefulPartitionedCall", "StatefulPartitionedCall")
        for at in range(2):
            function.node_def[at].attr["f"].func.name = f"f{(number + at) % 2000}"
    add_function(graph_def, "last", "PyFunc")
    graph_def.node.add(op="f0", name="a", input=["b"])
    graph_def.node.add(op="f1", name="b", input=["a"])
    with at_most_lines(1_000_000):
        report = scan_graph_def(graph_def)
    assert report.counts == {"calls-python": 1}


def test_paths_through_functions_that_call_each_other_take_no_effort():
    graph_def = GraphDef()
    for number in range(300):
        function = add_function(graph_def, f"f{number}", "ReadFile", *["PartitionedCall"] * 50)
        function.signature.input_arg.add(name="path")
        function.node_def[0].input.append("path")
        for at, node in enumerate(function.node_def[1:]):
            node.input.append("path")
            node.attr["f"].func.name = f"f{(number * 7 + at) % 300}"
    with at_most_lines(10_000_000):
        report = scan_graph_def(graph_def)
    assert report.counts == {"reads-files": 300}


def test_deep_attributes_are_refused_or_scanned():
    graph_def = graph_with("NoOp")
    value = graph_def.node[1].attr["f"]
    for _ in range(40):
        value.func.name = "g"
        value = value.func.attr["f"]
    value.func.name = "deep"
    add_function(graph_def, "deep", "PyFunc")
    assert scan_graph_def(graph_def).counts == {"calls-python": 1}


SEED = serialize(model_with("PyFunc"))


@examples(150, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(SEED) - 1), st.integers(0, 255)), min_size=1, max_size=6))
def test_damaged_bytes_give_a_report(changes):
    data = bytearray(SEED)
    for at, byte in changes:
        data[at] = byte
    fs = MemoryFileSystem()
    write(fs, "m/saved_model.pb", bytes(data))
    report = scan_model("m", fs=fs)
    json.loads(report.to_json())
    json.loads(report.to_sarif())
    assert str(report)


@examples(60, deadline=None)
@given(st.sampled_from(sorted(tensorflow_ops())), st.text(max_size=20))
def test_any_op_in_any_function_is_the_same_as_in_the_graph(op, name):
    inner = GraphDef()
    function = add_function(inner, f"f{name}")
    function.node_def.add(op=op, name="evil")
    outer = GraphDef()
    outer.node.add(op=op, name="evil")
    assert scan_graph_def(inner).counts == scan_graph_def(outer).counts


def test_a_meta_graph_is_scanned_by_itself():
    assert scan_meta_graph(only(model_with("PyFunc"))).counts == {"calls-python": 1}


# --------------------------------------------------------------------------------------------------------------- links


def on_disk(folder: Path) -> Path:
    model = folder / "model"
    (model / "assets").mkdir(parents=True)
    (model / "saved_model.pb").write_bytes(serialize(model_with()))
    return model


def test_an_asset_that_is_a_link_out_of_the_model_is_found(tmp_path: Path):
    model = on_disk(tmp_path)
    (model / "assets" / "vocabulary.txt").symlink_to("/etc/passwd")
    (model / "data").symlink_to("/etc")
    report = scan_model(model)
    assert {(item.rule, item.file, item.subject) for item in report.findings} == {
        ("reads-files", "assets/vocabulary.txt", "link"),
        ("reads-files", "data", "link"),
    }


def test_links_of_the_model_itself_are_followed(tmp_path: Path):
    kept = on_disk(tmp_path / "kept")
    (kept / "saved_model.pb").write_bytes(serialize(model_with("PyFunc")))
    model = tmp_path / "model"
    model.mkdir()
    (model / "saved_model.pb").symlink_to(kept / "saved_model.pb")
    (model / "variables").symlink_to(kept / "assets")
    assert dict(scan_model(model).counts) == {"calls-python": 1}


def test_links_in_a_circle_are_followed_once(tmp_path: Path):
    model = on_disk(tmp_path)
    for name in "abc":
        (model / "assets" / name).symlink_to("..")
    report = scan_model(model)
    assert report.is_clean
    assert report.files == ("saved_model.pb",)
