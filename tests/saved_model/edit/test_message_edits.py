"""SavedModels made from SavedModels: each change does what it says, and nothing else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tensorkeep.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError
from tensorkeep.proto.messages import SavedModel
from tensorkeep.proto.preserving import serialize_preserving
from tensorkeep.saved_model.edit.message_edits import (
    add_input,
    add_output,
    add_signature,
    asset_names,
    drop_input,
    drop_meta_graph,
    drop_objects,
    drop_output,
    drop_signature,
    rename_asset,
    rename_input,
    rename_output,
    rename_signature,
    replace_method_name,
    replace_tags,
    set_signature,
    strip_default_attrs,
    strip_devices,
)
from tensorkeep.saved_model.files.layout import NoSuchTagsError, describe_signature, read_saved_model, signature_keys
from tests.saved_model.models import build_model, store
from tests.support.golden import ROOT


@pytest.fixture(scope="module")
def model() -> SavedModel:
    fs = store()
    build_model(fs)
    return read_saved_model("m", fs)


def two(name: str = "g28_tf2_module") -> SavedModel:
    return SavedModel.FromString((ROOT / name / "model" / "saved_model.pb").read_bytes())


def keys(model: SavedModel) -> list[list[str]]:
    return [signature_keys(meta_graph) for meta_graph in model.meta_graphs]


def test_a_signature_is_added_with_the_dtypes_and_shapes_of_the_graph(model: SavedModel) -> None:
    changed = add_signature(model, "raw", {"rows": "x:0"}, {"product": "MatMul:0", "w": "w:0"}, "serve")
    assert keys(changed) == [["raw", "serving_default", "word"], ["loss"]]
    assert describe_signature(changed.meta_graphs[0].signature_def["raw"]) == (
        "(rows: float32 (?, 2)) -> (product: float32 (?, 3), w: float32_ref (2, 3))"
    )
    with pytest.raises(NotFoundError, match=r"rows: .*nowhere.*; out: .*lost"):
        add_signature(model, "raw", {"rows": "nowhere:0"}, {"out": "lost:0"}, "serve")


def test_a_signature_replaces_another_only_if_told_so(model: SavedModel) -> None:
    signature = model.meta_graphs[0].signature_def["word"]
    with pytest.raises(AlreadyExistsError, match="replace=True"):
        set_signature(model, "serving_default", signature, ["serve"])
    changed = set_signature(model, "serving_default", signature, ["serve"], replace=True)
    assert changed.meta_graphs[0].signature_def["serving_default"] == signature
    assert model.meta_graphs[0].signature_def["serving_default"] != signature


def test_signatures_are_renamed_and_dropped(model: SavedModel) -> None:
    assert keys(rename_signature(model, "word", "token")) == [["serving_default", "token"], ["loss"]]
    assert keys(drop_signature(model, "loss")) == [["serving_default", "word"], []]
    with pytest.raises(AlreadyExistsError):
        rename_signature(model, "word", "serving_default")
    with pytest.raises(KeyError, match="reserved"):
        rename_signature(model, "word", "__saved_model_init_op")
    with pytest.raises(NotFoundError, match=r'(?s)no meta graph has a signature "x".*serving_default'):
        drop_signature(model, "x")
    with pytest.raises(ValueError, match=r'signature "loss"\. Please choose from: serving_default, word'):
        drop_signature(model, "loss", "serve")


def test_signatures_of_a_model_with_objects_change_among_the_objects_too() -> None:
    before = two()
    (first, *_) = signature_keys(before.meta_graphs[0])
    changed = rename_signature(before, first, "renamed")
    nodes = changed.meta_graphs[0].object_graph_def.nodes
    (signatures,) = [child.node_id for child in nodes[0].children if child.local_name == "signatures"]
    assert "renamed" in [child.local_name for child in nodes[signatures].children]
    assert first not in [child.local_name for child in nodes[signatures].children]
    dropped = drop_signature(before, first).meta_graphs[0].object_graph_def.nodes[signatures]
    assert first not in [child.local_name for child in dropped.children]
    assert not drop_objects(before).meta_graphs[0].HasField("object_graph_def")


def test_inputs_and_outputs_are_added_renamed_and_dropped(model: SavedModel) -> None:
    def text(changed: SavedModel) -> str:
        return describe_signature(changed.meta_graphs[0].signature_def["serving_default"])

    whole = "(scale: float32 (), x: float32 (?, 2)) -> (y: float32 (?, 3))"
    assert text(model) == whole
    assert text(rename_input(model, "serving_default", "x", "rows")) == whole.replace("scale", "@").replace(
        "@: float32 (), x: float32 (?, 2)", "rows: float32 (?, 2), scale: float32 ()"
    )
    assert text(rename_output(model, "serving_default", "y", "z")) == whole.replace("y:", "z:")
    assert text(drop_input(model, "serving_default", "scale")) == whole.replace("scale: float32 (), ", "")
    assert text(add_output(model, "serving_default", "p", "MatMul:0")) == whole.replace("(y", "(p: float32 (?, 3), y")
    assert text(add_input(model, "serving_default", "k", "word:0")) == whole.replace("(scale", "(k: string (?), scale")
    more = add_output(model, "serving_default", "p", "MatMul:0")
    assert text(drop_output(more, "serving_default", "p")) == whole
    with pytest.raises(InvalidArgumentError, match="outputs depend on x, which has no value"):
        drop_input(model, "serving_default", "x")
    with pytest.raises(InvalidArgumentError, match="drop the signature instead"):
        drop_output(model, "serving_default", "y")
    with pytest.raises(NotFoundError, match='"q" is not among the inputs'):
        rename_input(model, "serving_default", "q", "r")
    with pytest.raises(AlreadyExistsError):
        rename_input(model, "serving_default", "x", "scale")


def test_method_names_are_replaced_as_tensorflow_replaces_them(model: SavedModel) -> None:
    changed = replace_method_name(model, "word", "tensorflow/serving/regress", "serve")
    assert changed.meta_graphs[0].signature_def["word"].method_name == "tensorflow/serving/regress"
    for arguments, words in {
        ("", "m", None): "`signature_key` must be defined",
        ("word", "", None): "`method_name` must be defined",
        ("word", "m", None): "does not have a signature_def with key: 'word'",
        ("word", "m", "gpu"): r"tags \['gpu'\] could not be found",
    }.items():
        with pytest.raises(ValueError, match=words):
            replace_method_name(model, *arguments)


def test_tags_are_replaced_and_meta_graphs_dropped(model: SavedModel) -> None:
    changed = replace_tags(model, "serve", ["serve", "tpu"])
    assert list(changed.meta_graphs[0].meta_info_def.tags) == ["serve", "tpu"]
    assert keys(drop_meta_graph(model, ["train"])) == [["serving_default", "word"]]
    with pytest.raises(AlreadyExistsError):
        replace_tags(model, "serve", "train")
    with pytest.raises(NoSuchTagsError, match="'serve'"):
        drop_meta_graph(model, "nope")
    with pytest.raises(InvalidArgumentError, match="no meta graph would be left"):
        drop_meta_graph(drop_meta_graph(model, "train"), "serve")


def test_devices_and_default_attributes_are_stripped(model: SavedModel) -> None:
    def devices(changed: SavedModel) -> set[str]:
        return {node.device for node in changed.meta_graphs[0].graph_def.node}

    assert devices(model) > {""}
    assert devices(strip_devices(model)) == {""}
    stripped = strip_default_attrs(model, "serve").meta_graphs[0]
    (product,) = [node for node in stripped.graph_def.node if node.op == "MatMul"]
    assert "transpose_a" not in product.attr
    assert stripped.meta_info_def.stripped_default_attrs


@pytest.mark.parametrize("case", ["g27_tf1_multi", "g28_tf2_module"])
def test_assets_are_renamed_in_the_field_and_in_the_collection(case: str) -> None:
    before = two(case)
    first, *others = asset_names(before)
    changed = rename_asset(before, first, "new.txt")
    assert asset_names(changed) == sorted(["new.txt", *others])
    with pytest.raises(NotFoundError, match=first):
        rename_asset(before, "nowhere.txt", "new.txt")
    with pytest.raises(AlreadyExistsError):
        rename_asset(before, first, first)


EDITS: dict[str, Callable[[SavedModel], SavedModel]] = {
    "rename": lambda model: rename_signature(model, "classify", "label"),
    "drop": lambda model: drop_signature(model, "regress", "serve"),
    "output": lambda model: rename_output(model, "serving_default", "index", "place"),
    "tags": lambda model: replace_tags(model, ["serve", "gpu"], ["gpu"]),
}


@pytest.mark.parametrize("name", EDITS)
def test_what_a_change_does_not_touch_keeps_its_bytes(name: str) -> None:
    data = (ROOT / "g27_tf1_multi" / "model" / "saved_model.pb").read_bytes()
    model = SavedModel.FromString(data)
    changed = serialize_preserving(EDITS[name](model), data)
    assert changed != data
    for meta_graph in model.meta_graphs:
        for part in (meta_graph.graph_def, meta_graph.saver_def, meta_graph.meta_info_def.stripped_op_list):
            assert part.SerializeToString(deterministic=True) in changed
    same = sum(1 for one, other in zip(data, changed, strict=False) if one == other)
    assert same > 100
