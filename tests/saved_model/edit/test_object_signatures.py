"""Signatures of models with objects: what is changed is changed among the objects too, and nothing else is."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import tensorkeep as tk
from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.graph.rewriting.freezing import Selection
from tensorkeep.io.files.local import LOCAL
from tensorkeep.proto.messages import MetaGraphDef, SavedModel, SignatureDef
from tensorkeep.proto.preserving import serialize_preserving
from tensorkeep.saved_model.edit.directory_edits import freeze_model, rewrite_model
from tensorkeep.saved_model.edit.message_edits import (
    add_input,
    add_output,
    add_signature,
    drop_objects,
    drop_output,
    rename_input,
    rename_output,
    set_signature,
)
from tensorkeep.saved_model.edit.meta_graph_pruning import prune_to_signature
from tensorkeep.saved_model.edit.object_signatures import object_signatures
from tensorkeep.saved_model.files.constants import INIT_OP_SIGNATURE_KEY
from tensorkeep.saved_model.files.layout import read_file, read_saved_model, signature_keys
from tests.support.golden import ROOT

MODEL = ROOT / "g28_tf2_module" / "model"
COMPOSITE = ROOT / "g33_tf2_composite" / "model"
X = np.arange(6, dtype=np.float32).reshape(2, 3)


def the_one(model: SavedModel) -> MetaGraphDef:
    (meta_graph,) = model.meta_graphs
    return meta_graph


def concrete(meta_graph: MetaGraphDef, key: str) -> Any:
    (number,) = [child.node_id for child in object_signatures(meta_graph) if child.local_name == key]
    bare = meta_graph.object_graph_def.nodes[number].bare_concrete_function
    return bare, meta_graph.object_graph_def.concrete_functions[bare.concrete_function_name]


def test_a_function_takes_and_gives_by_the_new_names_in_their_order() -> None:
    model = rename_output(rename_input(read_saved_model(MODEL), "loop", "x", "a"), "loop", "x", "zz")
    bare, saved = concrete(the_one(model), "loop")
    assert list(bare.argument_keywords) == ["a", "n"]
    assert sorted(saved.output_signature.dict_value.fields) == ["y", "zz"]
    (function,) = [
        item for item in the_one(model).graph_def.library.function if item.signature.name == bare.concrete_function_name
    ]
    assert [function.arg_attr[index].attr["_user_specified_name"].s for index in (0, 1)] == [b"a", b"n"]
    assert len(function.signature.input_arg) == 2 + len(saved.bound_inputs)
    outputs = [function.ret[argument.name] for argument in function.signature.output_arg]
    assert outputs == ["StatefulPartitionedCall:output:1", "StatefulPartitionedCall:output:0"]


def test_what_is_not_changed_keeps_its_bytes() -> None:
    before = read_file(str(MODEL / "saved_model.pb"), LOCAL)
    old = the_one(read_saved_model(MODEL))
    model = rename_input(read_saved_model(MODEL), "loop", "x", "a")
    after = the_one(SavedModel.FromString(serialize_preserving(model, before)))
    assert after.graph_def.node == old.graph_def.node
    assert after.graph_def.library.function[: len(old.graph_def.library.function)] == list(
        old.graph_def.library.function
    )
    for function in old.graph_def.library.function:
        assert function.SerializeToString(deterministic=True) in serialize_function(after)
    assert set(old.object_graph_def.concrete_functions) < set(after.object_graph_def.concrete_functions)
    assert len(after.object_graph_def.nodes) == len(old.object_graph_def.nodes)
    assert after.signature_def["words"] == old.signature_def["words"]


def serialize_function(meta_graph: MetaGraphDef) -> set[bytes]:
    return {item.SerializeToString(deterministic=True) for item in meta_graph.graph_def.library.function}


def test_changes_follow_each_other(tmp_path: Any) -> None:
    rewrite_model(
        MODEL,
        tmp_path / "n",
        partial(rename_input, key="loop", old="x", new="a"),
        partial(rename_input, key="loop", old="a", new="rows"),
        partial(drop_output, key="loop", name="x"),
        partial(add_output, key="loop", name="again", tensor="StatefulPartitionedCall:1"),
    )
    with tk.load_saved_model(MODEL) as model, tk.load_saved_model(tmp_path / "n") as changed:
        wanted = model.signatures["loop"](x=X, n=2)
        found = changed.signatures["loop"](rows=X, n=2)
    assert sorted(found) == ["again", "y"]
    np.testing.assert_array_equal(found["again"], wanted["y"])


def test_a_second_change_leaves_nothing_of_the_first_behind(tmp_path: Any) -> None:
    original = the_one(read_saved_model(str(MODEL)))
    once = rename_input(read_saved_model(str(MODEL)), "loop", "x", "first")
    twice = the_one(rename_input(rename_output(once, "loop", "y", "z"), "loop", "first", "second"))
    names = {item.signature.name for item in twice.graph_def.library.function}
    before = {item.signature.name for item in original.graph_def.library.function}
    bare, _ = concrete(twice, "loop")
    assert names - before == {bare.concrete_function_name}
    assert set(twice.object_graph_def.concrete_functions) <= names
    assert before <= names  # what the graph calls


def test_outputs_of_several_parts_stay_what_they_are(tmp_path: Any) -> None:
    values, splits = np.array([1, 2, 3], np.float32), np.array([0, 1, 3])
    rewrite_model(
        COMPOSITE,
        tmp_path / "n",
        partial(rename_input, key="ragged", old="r", new="values"),
        partial(rename_output, key="ragged", old="doubled", new="twice"),
        partial(drop_output, key="ragged", name="sums"),
    )
    with tk.load_saved_model(tmp_path / "n") as changed:
        found = changed.signatures["ragged"](values=values, r_1=splits)
    assert list(found) == ["twice"]
    assert found["twice"].to_list() == [[2.0], [4.0, 6.0]]
    before, after = (the_one(read_saved_model(path)) for path in (COMPOSITE, tmp_path / "n"))
    assert after.signature_def["ragged"].outputs["twice"] == before.signature_def["ragged"].outputs["doubled"]
    assert list(after.graph_def.node) == list(before.graph_def.node)
    assert after.graph_def.library.function[: len(before.graph_def.library.function)] == list(
        before.graph_def.library.function
    )


def test_inputs_of_several_parts_are_refused() -> None:
    model = read_saved_model(COMPOSITE)
    signature = SignatureDef(method_name="tensorflow/serving/predict")
    signature.outputs["y"].CopyFrom(the_one(model).signature_def["ragged"].outputs["sums"])
    signature.inputs["whole"].CopyFrom(the_one(model).signature_def["ragged"].outputs["doubled"])
    with pytest.raises(UnimplementedError, match=r"several parts \(whole\).*make each part an input.*drop_objects"):
        set_signature(model, "other", signature)
    assert "other" in the_one(set_signature(drop_objects(model), "other", signature)).signature_def


def test_a_word_of_python_is_no_name_of_an_input_for_tensorflow() -> None:
    with pytest.raises(InvalidArgumentError, match="the name in, which is a word of Python"):
        rename_input(read_saved_model(MODEL), "loop", "x", "in")


def test_a_signature_needs_all_inputs_that_its_outputs_need() -> None:
    model = read_saved_model(MODEL)
    with pytest.raises(InvalidArgumentError, match='outputs of "part" depend on loop_n, which has no value'):
        add_signature(model, "part", {"x": "loop_x:0"}, {"y": "StatefulPartitionedCall:0"})


def test_a_variable_that_no_function_captures_cannot_be_a_part_of_a_signature() -> None:
    model = read_saved_model(MODEL)
    the_one(model).graph_def.node.add().CopyFrom(
        next(node for node in the_one(model).graph_def.node if node.op == "VarHandleOp" and node.name == "count")
    )
    the_one(model).graph_def.node[-1].name = "stray"
    read = the_one(model).graph_def.node.add(name="read", op="ReadVariableOp", input=["stray"])
    read.attr["dtype"].CopyFrom(the_one(model).graph_def.node[-2].attr["dtype"])
    with pytest.raises(UnimplementedError, match=r"needs stray \(VarHandleOp\), which no function"):
        add_signature(model, "stray", {"x": "loop_x:0"}, {"y": "read:0"})


def test_an_input_that_nothing_needs_may_be_added() -> None:
    model = add_input(read_saved_model(MODEL), "words", "more", "loop_x:0")
    assert list(concrete(the_one(model), "words")[0].argument_keywords) == ["more", "w"]


def test_a_pruned_model_has_the_functions_of_its_signature_only() -> None:
    before = read_saved_model(MODEL)
    pruned = the_one(prune_to_signature(before, "words"))
    assert [child.local_name for child in object_signatures(pruned)] == ["words"]
    assert signature_keys(pruned) == ["words"]
    kinds = [node.WhichOneof("kind") for node in pruned.object_graph_def.nodes]
    assert kinds.count("variable") == 5
    assert kinds.count("bare_concrete_function") == 4  # the signature, and three functions of the table
    names = {item.signature.name for item in pruned.graph_def.library.function}
    assert not any("loop" in name or "poly" in name for name in names)
    assert set(pruned.object_graph_def.concrete_functions) <= names
    with tk.load_saved_model(MODEL) as model:
        assert len(model.functions) == 3


def test_without_objects_initialization_is_where_loaders_of_version_1_look() -> None:
    changed = the_one(drop_objects(read_saved_model(MODEL)))
    assert INIT_OP_SIGNATURE_KEY not in changed.signature_def
    assert list(changed.collection_def["saved_model_main_op"].node_list.value) == ["NoOp"]


def test_a_kept_variable_has_its_value_when_the_frozen_model_is_loaded(tmp_path: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="AssignAddVariableOp"):
        freeze_model(MODEL, tmp_path / "n")
    assert not (tmp_path / "n").exists()
    freeze_model(MODEL, tmp_path / "n", selection=Selection(keep=["count"]))
    assert not (tmp_path / "n" / "variables").exists()
    with tk.load_saved_model(MODEL) as model, tk.load_saved_model(tmp_path / "n") as frozen:
        for _ in range(2):  # the function counts its calls
            wanted = model.signatures["loop"](x=X, n=2)
            found = frozen.signatures["loop"](x=X, n=2)
            np.testing.assert_allclose(found["y"], wanted["y"], rtol=1e-6)
        words = np.array([b"red", b"?"], object)
        assert frozen.signatures["words"](w=words)["output_0"].tolist() == (
            model.signatures["words"](w=words)["output_0"].tolist()
        )
