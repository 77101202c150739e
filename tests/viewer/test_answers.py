"""What a page can ask, without a page."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep as tk
from tensorkeep.errors import CancelledError, InvalidArgumentError, NotFoundError, TensorKeepError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import atomic_write
from tensorkeep.io.files.numpy_files import decode_npy
from tensorkeep.viewer.answers.arrays import picks
from tensorkeep.viewer.answers.catalog import LONG, SHORT
from tensorkeep.viewer.answers.tensors import npy_file
from tensorkeep.viewer.asking import Asked
from tensorkeep.viewer.page import answer_text
from tensorkeep.viewer.sources import Sources
from tests.support.golden import golden
from tests.support.stores import memory_bucket
from tests.viewer.worlds import layered_graph, write_graph, write_run, write_sounds, write_tables

Ask = Callable[..., Any]


def asking(*paths: Path | str) -> Ask:
    sources = Sources([str(path) for path in paths])

    def ask(question: str, /, **given: Any) -> Any:
        answer = SHORT.get(question) or LONG[question]
        return json.loads(answer_text(answer(Asked(sources, given))))

    return ask


@pytest.fixture(scope="module")
def conv() -> Ask:
    return asking(golden("g30_keras_conv_bn") / "model")


def views_of(path: Path) -> list[str]:
    found: list[str] = asking(path)("sources")["sources"][0]["views"]
    return found


# ------------------------------------------------------------------------------------------------------------- sources


def test_what_lies_in_a_store_is_looked_at_as_on_a_disk() -> None:
    bucket, model = memory_bucket(), golden("g30_keras_conv_bn") / "model"
    tk.save_checkpoint(f"{bucket}/run/m-1", {"a": np.arange(6, dtype=np.float32).reshape(2, 3)})
    for file in filter(Path.is_file, model.rglob("*")):
        atomic_write(FILES, f"{bucket}/model/{file.relative_to(model).as_posix()}", file.read_bytes())
    ask = asking(f"{bucket}/run/m-1", f"{bucket}/model", f"{bucket}/run", f"{bucket}/nothing")
    told = ask("sources")["sources"]
    assert [item["views"] for item in told[:2]] == [["weights", "checks"], ["graph", "weights", "run", "checks"]]
    assert "history" in told[2]["views"]
    assert told[3]["error"]
    assert ask("weights")["name"] == ["a"]
    here = asking(model)
    for question in ("weights", "signatures"):
        text = json.dumps(here(question))
        assert ask(question, source=1) == json.loads(text.replace(str(model), f"{bucket}/model"))
    assert ask("graph", source=1)["names"] == here("graph")["names"]


def test_a_saved_model_has_a_graph_weights_signatures_and_checks() -> None:
    assert views_of(golden("g30_keras_conv_bn") / "model") == ["graph", "weights", "run", "checks"]


def test_a_run_has_a_history(tmp_path: Path) -> None:
    assert views_of(write_run(tmp_path)) == ["graph", "weights", "history", "checks"]


def test_a_checkpoint_of_embeddings_has_tables(tmp_path: Path) -> None:
    assert views_of(write_tables(tmp_path / "m")) == ["weights", "tables", "checks"]


def test_an_unknown_file_says_what_it_is_not_and_what_could_be(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("hello, hello")
    (told,) = asking(tmp_path / "x.txt")("sources")["sources"]
    assert (told["views"], told["error"]) == ([], "")
    assert told["kind"] == "text of another kind"
    assert any("SavedModel" in text for text in told["could_be"])
    assert any(".safetensors" in text for text in told["could_be"])


def test_nothing_at_a_path_is_an_error_that_is_told(tmp_path: Path) -> None:
    (told,) = asking(tmp_path / "nothing")("sources")["sources"]
    assert "there is nothing at" in told["error"]
    assert told["views"] == []


@pytest.mark.parametrize("name", sorted(path.stem for path in golden("g35_corrupt_v2").glob("*.index")))
def test_a_damaged_checkpoint_is_shown_as_far_as_it_goes(name: str) -> None:
    ask = asking(golden("g35_corrupt_v2") / name)
    (told,) = ask("sources")["sources"]
    if "weights" not in told["views"]:
        assert told["error"]
        return
    found = ask("weights")
    assert found["name"]
    for tensor in found["name"]:
        with suppress(TensorKeepError):
            ask("slice", name=tensor)


def test_tensors_whose_bytes_are_not_there_are_marked(tmp_path: Path) -> None:
    tk.save_checkpoint(tmp_path / "m", {"a": np.ones(100, np.float32), "z": np.ones(100, np.float32)})
    data = tmp_path / "m.data-00000-of-00001"
    data.write_bytes(data.read_bytes()[:500])
    found = asking(tmp_path / "m")("weights")
    assert list(found["broken"]) == ["z"]
    assert found["problems"]


def test_only_what_is_in_a_folder_that_is_looked_at_can_be_opened(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    tk.save_checkpoint(tmp_path / "in" / "m-1", {"a": np.ones(1)})
    ask = asking(tmp_path / "in")
    assert ask("open", source=0, name="m-1") == {"source": 1}
    assert ask("open", source=0, name="m-1") == {"source": 1}
    for name in ("../x", "/etc/passwd", "..", "", "a/b"):
        with pytest.raises(InvalidArgumentError):
            ask("open", source=0, name=name)
    with pytest.raises(InvalidArgumentError):
        ask("open", source=1, name="m-1")


@pytest.mark.parametrize("question", sorted({*SHORT, *LONG} - {"sources"}))
@pytest.mark.parametrize("number", ["x", 9, -1, None, True, 1.5])
def test_a_source_that_is_not_there_is_one_of_our_errors(conv: Ask, question: str, number: Any) -> None:
    with pytest.raises(InvalidArgumentError):
        conv(question, source=number, name="w", node=0)


@pytest.mark.parametrize("question", sorted({*SHORT, *LONG} - {"sources", "checks"}))
@pytest.mark.parametrize("given", [{"name": 3}, {"name": "no such"}, {"graph": 99}, {"node": -4, "axes": [0, 0]}])
def test_a_wrong_question_raises_nothing_but_our_errors(conv: Ask, question: str, given: dict[str, Any]) -> None:
    with suppress(TensorKeepError):
        assert isinstance(conv(question, **given), dict)


# --------------------------------------------------------------------------------------------------------------- graph


def test_a_graph_is_columns_and_its_signatures_lead_to_nodes(conv: Ask) -> None:
    found = conv("graph")
    assert len(found["names"]) == len(found["op"]) == 174
    (default,) = [item for item in found["signatures"] if item["name"] == "serving_default"]
    assert found["names"][default["inputs"][0]["node"]] == "serving_default_img"
    assert found["names"][default["outputs"][0]["node"]].endswith("Identity")
    kernel = [int(node) for node, size in found["bytes"].items() if size == 648]
    assert "conv2d" in found["names"][kernel[0]]
    assert max(found["edges"][::3] + found["edges"][1::3]) < 174


def test_a_node_tells_its_attributes_and_the_function_that_has_it(conv: Ask) -> None:
    names = conv("graph")["names"]
    (number,) = [at for at, name in enumerate(names) if name.endswith("conv2d_1/convolution")]
    found = conv("node", node=number)
    assert (found["op"], bool(found["function"]), len(found["calls"])) == ("Conv2D", True, len(found["calls"]))
    assert ["padding", "SAME"] in found["attributes"] or ["padding", "VALID"] in found["attributes"]


def test_attributes_are_searched(conv: Ask) -> None:
    nodes = conv("graph_search", text="padding")["nodes"]
    ops = {conv("node", node=node)["op"] for node in nodes}
    assert "Conv2D" in ops
    assert conv("graph_search", text="no such thing")["nodes"] == []


def test_shapes_and_costs_are_told_by_node(conv: Ask) -> None:
    names, costs = conv("graph")["names"], conv("graph_costs")
    (number,) = [at for at, name in enumerate(names) if name.endswith("conv2d_1/convolution")]
    assert costs["outputs"][number] == ["float32 [?,12,12,6]"] or costs["outputs"][number][0].startswith("float32 [?,")
    assert costs["operations"][number] > 1000


def test_how_graphs_differ_is_told_by_nodes(tmp_path: Path) -> None:
    old = write_graph(tmp_path / "a.pb", layered_graph(2, 4))
    new = write_graph(tmp_path / "b.pb", layered_graph(3, 4))
    found = asking(old, new)("graph_difference", source=1, before=0)
    assert all(name.startswith("block_0/layer_2") for name, _, _ in found["added"])
    assert [name for name, _, _ in found["changed"]] == ["output"]
    names = asking(new)("graph")["names"]
    assert all(names[node] == name for name, _, node in found["added"])


# ------------------------------------------------------------------------------------------------------------- tensors


@pytest.fixture(scope="module")
def arrays(tmp_path_factory: pytest.TempPathFactory) -> tuple[Ask, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("arrays")
    random = np.random.default_rng(1)
    stored: dict[str, Any] = {
        "odd": np.array([[1, np.nan], [np.inf, -2]], np.float32),
        "cube": random.standard_normal((5, 7, 9)).astype(np.float32),
        "wide": np.arange(600 * 700, dtype=np.int32).reshape(600, 700),
        "scalar": np.float64(2.5),
        "none": np.zeros((0, 3), np.float32),
        "text": np.array([b"a", b"<b>"], object),
        "kernel": random.standard_normal((3, 3, 3, 10)).astype(np.float32),
        "whole": np.array([1 << 62], np.int64),
    }
    tk.save_checkpoint(folder / "m", stored)
    return asking(folder / "m"), stored


def test_statistics_and_extremes_are_those_of_the_numbers(arrays: tuple[Ask, dict[str, Any]]) -> None:
    ask, stored = arrays
    found = ask("tensor", name="cube")
    cube = stored["cube"]
    assert found["statistics"]["mean"] == pytest.approx(float(cube.mean()), rel=1e-4)
    assert sum(found["statistics"]["histogram"]["counts"]) == cube.size
    value, place = found["largest"][0]
    assert (value, tuple(place)) == (pytest.approx(float(cube.max())), np.unravel_index(cube.argmax(), cube.shape))
    assert [value for value, _ in found["smallest"]] == pytest.approx(np.sort(cube, None)[:8].tolist())


def test_numbers_that_are_not_finite_are_texts(arrays: tuple[Ask, dict[str, Any]]) -> None:
    ask, _ = arrays
    assert ask("slice", name="odd")["values"] == [1, "NaN", "Infinity", -2]
    assert ask("tensor", name="odd")["statistics"]["nans"] == 1


@pytest.mark.parametrize("axes", [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)])
def test_a_map_shows_any_two_axes(arrays: tuple[Ask, dict[str, Any]], axes: tuple[int, int]) -> None:
    ask, stored = arrays
    found = ask("slice", name="cube", axes=list(axes), index=[2, 3, 4])
    (rest,) = {0, 1, 2} - set(axes)
    plane = np.take(stored["cube"], [2, 3, 4][rest], axis=rest)
    expected = plane if axes[0] < axes[1] else plane.T
    assert found["values"] == pytest.approx(expected.reshape(-1).tolist())


def test_of_a_large_plane_rows_and_columns_are_evenly_spread(arrays: tuple[Ask, dict[str, Any]]) -> None:
    ask, stored = arrays
    found = ask("slice", name="wide")
    rows, columns = found["row_places"], found["column_places"]
    assert (rows[0], rows[-1], columns[-1]) == (0, 599, 699)
    assert found["values"] == stored["wide"][np.ix_(rows, columns)].reshape(-1).tolist()


def test_a_window_of_values_is_exact(arrays: tuple[Ask, dict[str, Any]]) -> None:
    ask, stored = arrays
    found = ask("values", name="wide", row=595, column=3)
    assert (found["rows"], found["columns"]) == (5, 8)
    assert found["values"] == stored["wide"][595:, 3:11].reshape(-1).tolist()
    assert ask("values", name="scalar")["values"] == [2.5]
    assert ask("values", name="none")["values"] == []
    assert ask("values", name="whole")["values"] == [str(1 << 62)]


def test_texts_are_texts(arrays: tuple[Ask, dict[str, Any]]) -> None:
    assert arrays[0]("tensor", name="text")["texts"] == ["a", "<b>"]


def test_filters_come_one_after_the_other(arrays: tuple[Ask, dict[str, Any]]) -> None:
    ask, stored = arrays
    found = ask("filters", name="kernel")
    assert (found["count"], found["depth"]) == (10, 3)
    assert found["values"][:27] == pytest.approx(stored["kernel"][..., 0].reshape(-1).tolist())


def test_a_tensor_is_a_file_of_numpy(tmp_path: Path) -> None:
    array = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    tk.save_checkpoint(tmp_path / "m", {"a": array})
    size, chunks = npy_file(Asked(Sources([str(tmp_path / "m")]), {"name": "a"}))
    data = b"".join(chunks)
    assert len(data) == size
    np.testing.assert_array_equal(decode_npy(data, "a"), array)


def test_work_ends_when_it_is_cancelled(tmp_path: Path) -> None:
    tk.save_checkpoint(tmp_path / "m", {"a": np.zeros(1 << 20)})

    def progress(done: int, total: int) -> None:
        raise CancelledError("enough")

    with pytest.raises(CancelledError):
        LONG["tensor"](Asked(Sources([str(tmp_path / "m")]), {"name": "a"}, progress))


def test_places_along_an_axis_begin_at_the_first_and_end_at_the_last() -> None:
    assert picks(3, 10) == [0, 1, 2]
    assert picks(1000, 3) == [0, 500, 999] or picks(1000, 3)[::2] == [0, 999]


# ---------------------------------------------------------------------------------------------- tables, history, checks


def test_tables_give_rows_and_nearest_rows_by_key(tmp_path: Path) -> None:
    ask = asking(write_tables(tmp_path / "m"))
    (table,) = ask("tables")["tables"]
    assert (table["name"], table["keys"], table["dim"]) == ("users", 300, 8)
    (row,) = ask("table_lookup", name="users", keys="1000003")["rows"]
    assert (row["state"], len(row["row"])) == ("stored", 8)
    assert ask("table_lookup", name="users", keys="5")["rows"][0]["state"] == "absent"
    nearest = ask("table_nearest", name="users", keys="0")["rows"]
    assert {key for key, _ in nearest[:2]} == {"1000003", "2000006"}
    assert len(ask("table_map", name="users")["x"]) == 300
    assert sum(ask("table", name="users")["norms"]["counts"]) == 300
    with pytest.raises(NotFoundError, match="no row"):
        ask("table_nearest", name="users", keys="5")
    with pytest.raises(InvalidArgumentError):
        ask("table_lookup", name="users", keys="seven")


def test_a_history_has_metrics_and_differences(tmp_path: Path) -> None:
    ask = asking(write_run(tmp_path))
    found = ask("history")["checkpoints"]
    assert [item["step"] for item in found] == [100, 200, 300, 400, 500]
    assert found[-1]["is_latest"]
    assert found[0]["metrics"] == {"loss": 1.0, "accuracy": 0.6}
    compared = ask("comparison", first="model-100", second="model-200")
    assert {item[0] for item in compared["changed"]} == {"dense/kernel", "step"}
    assert compared["same"] == ["dense/bias"]
    assert ask("drift")["labels"] == [item["name"] for item in found]
    assert ask("health", name="model-100")["is_healthy"]


def test_checks_tell_where_something_is_wrong(tmp_path: Path) -> None:
    tk.save_checkpoint(tmp_path / "m", {"w": np.array([1, np.nan], np.float32), "b": np.ones(2)})
    found = asking(tmp_path / "m")("checks")
    (finding,) = found["findings"]
    assert (finding["what"], finding["place"], finding["kind"]) == ("not a number", "w", "tensor")
    assert found["statistics"]["name"] == ["b", "w"]


def test_checks_tell_what_a_model_does_besides_computing(tmp_path: Path) -> None:
    graph = layered_graph(1, 4)
    graph.node.add(name="steal", op="WriteFile", input=["input", "input"])
    found = asking(write_graph(tmp_path / "g.pb", graph))("checks")["findings"]
    scanned = [item for item in found if item["group"] == "scan"]
    assert [(item["place"], item["kind"]) for item in scanned] == [("steal", "node")]


# ------------------------------------------------------------------------------------------------------------- running


def picture() -> dict[str, Any]:
    return {"kind": "list", "value": np.ones((1, 12, 12, 3)).tolist()}


def test_a_signature_runs_and_gives_what_the_model_gives(conv: Ask) -> None:
    found = conv("run", signature="serving_default", values={"img": picture()})
    (output,) = found["outputs"]
    with tk.load_saved_model(golden("g30_keras_conv_bn") / "model") as model:
        expected = model.signatures["serving_default"](img=np.ones((1, 12, 12, 3), np.float32))[output["name"]]
    assert output["values"] == pytest.approx(expected.reshape(-1).tolist())
    assert output["shape"] == list(expected.shape)


def test_values_on_the_way_lead_to_the_answer(conv: Ask) -> None:
    names = conv("graph")["names"]
    values = {"img": picture()}
    (number,) = [at for at, name in enumerate(names) if name.endswith("conv2d_1/convolution")]
    found = conv("node_value", signature="serve", values=values, node=number)
    assert found["outputs"][0]["shape"][-1] == 6
    last = next(item for item in conv("graph")["signatures"] if item["name"] == "serve")["outputs"][0]["node"]
    told = conv("node_value", signature="serve", values=values, node=last)["outputs"][0]["values"]
    assert told == pytest.approx(conv("run", signature="serve", values=values)["outputs"][0]["values"])


@pytest.mark.parametrize(
    "value",
    [
        {"kind": "list", "value": [[1, 2], [3]]},
        {"kind": "list", "value": "x"},
        {"kind": "npy", "data": "!!!"},
        {"kind": "npy", "data": "AAAA"},
        {"kind": "floats", "data": "", "shape": [-1]},
        {"kind": "floats", "data": "AAAAAA==", "shape": [7]},
        {"kind": "other"},
        None,
    ],
)
def test_values_that_do_not_fit_are_told(conv: Ask, value: Any) -> None:
    with pytest.raises(InvalidArgumentError, match='input "img"'):
        conv("run", signature="serving_default", values={"img": value})


def test_a_missing_value_is_told(conv: Ask) -> None:
    with pytest.raises(InvalidArgumentError, match="missing"):
        conv("run", signature="serving_default", values={})


def test_a_run_that_does_not_end_is_cancelled(tmp_path: Path) -> None:
    times: list[int] = []

    def progress(done: int, total: int) -> None:
        times.append(done)
        if len(times) == 3:
            raise CancelledError("enough")

    values = {"sound": {"kind": "list", "value": [[0.5] * 8000]}}
    sources = Sources([str(write_sounds(tmp_path / "sounds"))])
    with pytest.raises(CancelledError, match="enough"):
        LONG["run"](Asked(sources, {"signature": "forever", "values": values}, progress))
