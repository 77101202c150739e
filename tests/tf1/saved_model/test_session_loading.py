"""Loading SavedModels as TensorFlow 1 does it."""

from __future__ import annotations

import numpy as np
import pytest

from tensorkeep.errors import DataLossError, InvalidArgumentError, MissingFileError, NotFoundError
from tensorkeep.graph.graph import Graph
from tensorkeep.io.files.filesystem import atomic_write
from tensorkeep.proto.messages import serialize
from tensorkeep.runtime.session import Session
from tensorkeep.saved_model.files.layout import get_asset_tensors, read_saved_model
from tensorkeep.saved_model.files.tensor_info import tensor_names
from tensorkeep.tf1.saved_model.session_loading import SavedModelLoader, get_init_op, get_train_op, load
from tests.saved_model.models import build_model, run_model, store
from tests.support.golden import decode, expected, golden

GOLDEN = [(case, run) for case in ("g26_tf1_simple_save", "g27_tf1_multi") for run in expected(case)["runs"]]


@pytest.mark.parametrize(("case", "run"), GOLDEN, ids=lambda item: item if isinstance(item, str) else item["run"])
@pytest.mark.parametrize("scope", [None, "inner"])
def test_golden_models_give_tensorflows_results(case: str, run: dict, scope: str | None) -> None:
    prefix = f"{scope}/" if scope else ""
    with Session(Graph()) as session:
        meta_graph = load(session, run["tags"], golden(case) / expected(case)["dir"], scope)
        signature = meta_graph.signature_def[run["signature"]]
        feeds = {
            prefix + signature.inputs[name].name: decode(case, entry, "inputs") for name, entry in run["inputs"].items()
        }
        for name, entry in run["outputs"].items():
            key, _, part = name.partition(".")
            places = dict(zip(("values", "indices", "dense_shape"), tensor_names(signature.outputs[key]), strict=False))
            fetched = session.run(prefix + (places[part] if part else signature.outputs[key].name), feeds)
            wanted = decode(case, entry, "outputs")
            if wanted.dtype == object:
                assert fetched.tolist() == wanted.tolist()
            else:
                np.testing.assert_allclose(fetched, wanted, rtol=1e-5)


@pytest.mark.parametrize("name", ["missing_tag", "subset", "empty", "nodir"])
def test_what_is_missing_is_told_in_tensorflows_words(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = "g27_tf1_multi"
    tags = {"missing_tag": ["nope"], "subset": ["gpu"], "empty": [], "nodir": ["serve"]}[name]
    entry = expected(case)["errors"][name]
    directory = "nodir" if name == "nodir" else str(golden(case) / "model")
    kind = {"RuntimeError": RuntimeError, "OSError": OSError}[entry["class"]]
    with pytest.raises(kind) as refused, Session(Graph()) as session:
        load(session, tags, directory)
    theirs = entry["message"].replace("{'gpu', 'serve'}", str({"serve", "gpu"}))
    assert str(refused.value).startswith(theirs)
    assert isinstance(refused.value, NotFoundError)
    if name != "nodir":
        assert 'signature "regress": (inputs: string (?)) -> (outputs: float32 (?))' in str(refused.value)


def test_a_model_can_be_loaded_twice_into_scopes_of_one_graph() -> None:
    fs = store()
    build_model(fs)
    with Session(Graph(), filesystem=fs) as session:
        load(session, ["serve"], "m", "one")
        load(session, ["serve"], "m", "two")
        feeds = {f"{scope}/word:0": np.array([b"green"], object) for scope in ("one", "two")}
        assert session.run(["one/place:0", "two/place:0"], feeds) == [[1.0], [1.0]]


def test_assets_are_read_from_the_model_and_not_from_where_they_came() -> None:
    fs = store()
    build_model(fs)
    fs.delete("words/vocab.txt")
    assert run_model(fs, "m", "place:0", {"word:0": np.array([b"green", b"blue"], object)}).tolist() == [1, -1]


def test_assets_that_lead_out_of_the_model_are_refused() -> None:
    fs = store()
    build_model(fs)
    model = read_saved_model("m", fs)
    for filename in ("../../etc/passwd", "/etc/passwd", "a/../../b", ""):
        meta_graph = model.meta_graphs[0]
        del meta_graph.asset_file_def[:]
        meta_graph.asset_file_def.add(filename=filename, tensor_info={"name": "path:0"})
        with pytest.raises(DataLossError, match="leads out"):
            get_asset_tensors("m", meta_graph)


def test_operations_of_a_model_are_found_by_signature_or_collection() -> None:
    fs = store()
    build_model(fs)
    with Session(Graph(), filesystem=fs) as session:
        meta_graph = load(session, ["serve"], "m")
        init_op = get_init_op(meta_graph, session.graph)
        assert init_op is not None
        assert get_train_op(meta_graph, session.graph) is None
        meta_graph.collection_def["saved_model_train_op"].node_list.value.append("y:0")
        assert get_train_op(meta_graph, session.graph).name == "y:0"
        meta_graph.signature_def["__saved_model_init_op"].outputs["__saved_model_init_op"].name = "nowhere"
        with pytest.raises(NotFoundError, match="could not be found in the graph"):
            get_init_op(meta_graph, session.graph)
        del meta_graph.signature_def["__saved_model_init_op"]
        meta_graph.collection_def["saved_model_main_op"].node_list.value.append("second")
        with pytest.raises(RuntimeError, match=r"Expected exactly one SavedModel init op\. Found 2"):
            get_init_op(meta_graph, session.graph)


def test_steps_can_be_taken_one_by_one() -> None:
    fs = store()
    build_model(fs)
    loader = SavedModelLoader("m", fs)
    with Session(Graph(), filesystem=fs) as session:
        saver, elements = loader.load_graph(session.graph, ["serve"], return_elements=["y:0"])
        assert [item.name for item in elements or ()] == ["y:0"]
        with pytest.raises(InvalidArgumentError, match="a saver is required"):
            loader.restore_variables(session, None)
        loader.restore_variables(session, saver)
        loader.run_init_ops(session, ["serve"])
        assert session.run("y:0", {"x:0": np.ones((1, 2))}).tolist() == [[5, 7, 9]]


def test_another_file_in_the_place_of_the_model_is_named() -> None:
    fs = store()
    build_model(fs)
    graph = read_saved_model("m", fs).meta_graphs[0].graph_def
    atomic_write(fs, "m/saved_model.pb", serialize(graph))
    with pytest.raises(OSError, match=r"Cannot parse file m/saved_model\.pb.*it is a GraphDef") as refused:
        SavedModelLoader("m", fs)
    assert isinstance(refused.value, DataLossError)
    with pytest.raises(MissingFileError, match=r"that is a file: .* is not a SavedModel: it is a GraphDef"):
        SavedModelLoader("m/saved_model.pb", fs)
