"""Graphs that somebody else wrote: opened from anything, run by name, restored, trained on, saved."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep as tk
import tensorkeep.v1 as tf
from tensorkeep.dtypes import STRING
from tensorkeep.graph.messages.files import write_graph
from tensorkeep.metagraph.files import read_meta_graph_file
from tensorkeep.proto.tensors import tensor_of_array
from tests.saved_model.models import build_model, store

X = np.array([[1.0, 2.0]], np.float32)


def trained_graph() -> Any:
    """A regression that learns: its loss, and what trains it by a step."""
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    wanted = tf.placeholder(tf.float32, [None, 1], name="wanted")
    weights = tf.get_variable("weights", [2, 1], initializer=tf.ones_initializer())
    loss = tf.reduce_mean(tf.square(tf.matmul(x, weights, name="predicted") - wanted), name="loss")
    tf.split(x, 2, axis=1, name="halves")
    return tf.train.GradientDescentOptimizer(0.05).minimize(loss, name="train")


@pytest.fixture
def prefix(tmp_path: Path) -> str:
    """A checkpoint with the graph beside it, after one step."""
    with tf.Graph().as_default(), tf.Session() as session:
        train = trained_graph()
        session.run(tf.global_variables_initializer())
        session.run(train, {"x:0": X, "wanted:0": [[0.0]]})
        saved: str = tf.train.Saver().save(session, str(tmp_path / "model"))
        return saved


@pytest.fixture
def graph(prefix: str) -> Iterator[tk.OpenedGraph]:
    with tk.open_graph(prefix) as opened:
        yield opened


AFTER_ONE = [[0.7], [0.4]]  # 1 - 0.05 * 2 * 3 * x


class TestOpening:
    @pytest.mark.parametrize("suffix", ["", ".meta", ".index"])
    def test_a_checkpoint_is_opened_by_its_prefix_or_a_file_of_it(self, prefix: str, suffix: str) -> None:
        with tk.open_graph(prefix + suffix) as graph:
            graph.restore()
            np.testing.assert_allclose(graph.variables["weights"], AFTER_ONE, rtol=1e-6)

    def test_a_folder_stands_for_its_latest_checkpoint(self, prefix: str) -> None:
        with tk.open_graph(Path(prefix).parent) as graph:
            graph.restore()
            assert graph.uninitialized == ()

    @pytest.mark.parametrize("as_text", [False, True])
    def test_a_plain_graph_is_opened_and_restored_by_the_names_of_its_variables(
        self, prefix: str, tmp_path: Path, as_text: bool
    ) -> None:
        with tk.open_graph(prefix) as graph:
            path = write_graph(graph.graph, str(tmp_path), "plain.pb", as_text)
        with tk.open_graph(path) as graph:
            graph.restore(prefix)
            np.testing.assert_allclose(graph.run("predicted", {"x": X}), [[1.5]], rtol=1e-6)

    def test_messages_and_graphs_are_opened(self, prefix: str) -> None:
        with tf.Graph().as_default() as built:
            tf.constant(5, name="five")
            graph_def, meta_graph = built.as_graph_def(), tf.train.export_meta_graph()
        for source in (built, graph_def, meta_graph):
            with tk.open_graph(source) as graph:
                assert graph.run("five") == 5

    def test_a_model_is_opened_by_its_folder(self) -> None:
        files = store()
        build_model(files)
        with tk.open_graph("m", "serve", fs=files) as graph:
            graph.restore()
            np.testing.assert_array_equal(graph.run("y", {"x": [[1, 1]], "scale": 1}), [[5, 7, 9]])

    def test_what_is_not_there_is_told_with_what_was_looked_for(self, tmp_path: Path) -> None:
        with pytest.raises(
            tk.MissingFileError, match="neither a file with a graph, nor a SavedModel, nor a checkpoint"
        ):
            tk.open_graph(tmp_path / "nothing")
        with pytest.raises(tk.MissingFileError, match="neither a SavedModel nor a checkpoint"):
            tk.open_graph(tmp_path)

    def test_a_file_of_another_kind_is_told(self, tmp_path: Path) -> None:
        np.save(tmp_path / "array.npy", X)
        with pytest.raises(tk.DataLossError, match="NumPy"):
            tk.open_graph(tmp_path / "array.npy")

    def test_a_message_of_another_kind_is_told(self) -> None:
        with pytest.raises(tk.WrongTypeError, match="SaverDef"):
            tk.open_graph(tf.train.SaverDef())


class TestRunning:
    def test_results_have_the_structure_of_the_names(self, graph: tk.OpenedGraph) -> None:
        graph.initialize()
        feeds = {"x": X, "wanted:0": [[0.0]]}
        found = graph.run({"loss": "loss", "all": ["predicted:0", "train"]}, feeds)
        assert found["loss"] == 9
        np.testing.assert_array_equal(found["all"][0], [[3]])
        assert found["all"][1] is None

    def test_an_operation_with_several_outputs_needs_a_number(self, graph: tk.OpenedGraph) -> None:
        np.testing.assert_array_equal(graph.run("halves:1", {"x": X}), [[2]])
        with pytest.raises(tk.InvalidArgumentError, match='"halves" has 2 outputs: say which, "halves:0", "halves:1"'):
            graph.run("halves", {"x": X})
        with pytest.raises(tk.NotFoundError, match='has 2 outputs, and no "halves:7"'):
            graph.run("halves:7", {"x": X})

    def test_a_name_that_is_not_there_is_told_with_those_near_it(self, graph: tk.OpenedGraph) -> None:
        with pytest.raises(tk.NotFoundError, match="no operation \"predictd\"; did you mean 'predicted'"):
            graph.run("predictd")

    def test_all_that_has_to_be_fed_is_told_at_once(self, graph: tk.OpenedGraph) -> None:
        with pytest.raises(tk.InvalidArgumentError, match=r'fed for "x" \(float32 \[\?, 2\]\), "wanted" \('):
            graph.run("loss")

    def test_what_cannot_be_fed_is_told_with_the_placeholders(self, graph: tk.OpenedGraph) -> None:
        with pytest.raises(tk.InvalidArgumentError, match=r"'train' cannot be fed.*x.*wanted"):
            graph.run("loss", {"train": 1})

    def test_feeds_without_names_are_told(self, graph: tk.OpenedGraph) -> None:
        with pytest.raises(tk.WrongTypeError, match="feeds: expected a mapping from names to values, got ndarray"):
            graph.run("loss", X)

    def test_what_is_no_name_is_told(self, graph: tk.OpenedGraph) -> None:
        with pytest.raises(tk.WrongTypeError, match="named by text"):
            graph.run(5)

    def test_inputs_are_listed_with_types_and_shapes(self, graph: tk.OpenedGraph) -> None:
        assert {name: str(spec) for name, spec in graph.inputs.items()} == {
            "x": "float32 [?, 2]",
            "wanted": "float32 [?, 1]",
        }

    def test_a_graph_that_is_closed_runs_nothing(self, prefix: str) -> None:
        graph = tk.open_graph(prefix)
        graph.close()
        with pytest.raises(tk.FailedPreconditionError, match="closed"):
            graph.run("halves:0", {"x": X})


class TestValues:
    def test_variables_without_values_are_told_with_what_to_do(self, graph: tk.OpenedGraph) -> None:
        assert graph.uninitialized == ("weights",)
        assert graph.variables == {}
        with pytest.raises(
            tk.FailedPreconditionError, match=r"without a value: \"weights\"\..*restore\(prefix\).*initialize"
        ):
            graph.run("predicted", {"x": X})

    def test_initializing_leaves_values_alone_that_are_there(self, graph: tk.OpenedGraph) -> None:
        graph.restore()
        graph.initialize()
        np.testing.assert_allclose(graph.variables["weights"], AFTER_ONE, rtol=1e-6)

    def test_a_plain_graph_is_initialized_by_its_first_assignments(self, graph: tk.OpenedGraph) -> None:
        with tk.open_graph(graph.graph) as plain:
            plain.initialize()
            np.testing.assert_array_equal(plain.variables["weights"], [[1], [1]])

    def test_a_restore_tells_what_was_set(self, graph: tk.OpenedGraph) -> None:
        assert [item.wanted.key for item in graph.restore().restored] == ["weights"]

    def test_a_checkpoint_that_does_not_fit_changes_nothing(self, graph: tk.OpenedGraph, tmp_path: Path) -> None:
        graph.initialize()
        tk.save_checkpoint(tmp_path / "other", {"weights": np.zeros((3, 1), np.float32)})
        with pytest.raises(tk.TensorKeepError, match="weights"):
            graph.restore(tmp_path / "other")
        np.testing.assert_array_equal(graph.variables["weights"], [[1], [1]])

    @pytest.mark.parametrize("has_saver", [True, False])
    def test_names_may_differ(self, graph: tk.OpenedGraph, has_saver: bool, tmp_path: Path) -> None:
        tk.save_checkpoint(tmp_path / "other", {"w": np.full((2, 1), 7, np.float32)})
        opened = graph if has_saver else tk.open_graph(graph.graph)
        opened.restore(tmp_path / "other", mapping={"weights": "w"})
        np.testing.assert_array_equal(opened.variables["weights"], [[7], [7]])

    def test_a_graph_without_a_checkpoint_asks_for_one(self, graph: tk.OpenedGraph) -> None:
        with (
            tk.open_graph(graph.graph) as plain,
            pytest.raises(tk.InvalidArgumentError, match="name the one to restore"),
        ):
            plain.restore()

    def test_what_is_trained_on_is_saved_and_opened_again(self, graph: tk.OpenedGraph, tmp_path: Path) -> None:
        graph.restore()
        feeds = {"x": X, "wanted": [[5.0]]}
        losses = [graph.run(["loss", "train"], feeds)[0] for _ in range(3)]
        assert losses == sorted(losses, reverse=True)
        saved = graph.save(tmp_path / "new" / "out")
        with tk.open_graph(saved) as again:
            again.restore()
            np.testing.assert_array_equal(again.variables["weights"], graph.variables["weights"])
            assert again.run("loss", feeds) < losses[-1]

    def test_a_graph_without_a_saver_is_saved_by_the_names_of_its_variables(
        self, graph: tk.OpenedGraph, tmp_path: Path
    ) -> None:
        with tk.open_graph(graph.graph) as plain:
            plain.initialize()
            plain.save(tmp_path / "out")
        assert list(tk.list_tensors(tmp_path / "out")) == ["weights"]
        with tk.open_graph(tmp_path / "out") as again:
            again.restore()
            np.testing.assert_array_equal(again.variables["weights"], [[1], [1]])

    @pytest.mark.parametrize("has_saver", [True, False])
    def test_variables_without_values_are_not_saved(
        self, graph: tk.OpenedGraph, has_saver: bool, tmp_path: Path
    ) -> None:
        opened = graph if has_saver else tk.open_graph(graph.graph)
        with pytest.raises(tk.FailedPreconditionError, match='without a value: "weights"'):
            opened.save(tmp_path / "out")
        assert not (tmp_path / "out.index").exists()

    def test_a_graph_without_variables_has_nothing_to_save(self, tmp_path: Path) -> None:
        with tf.Graph().as_default() as built:
            tf.constant(5, name="five")
        with tk.open_graph(built) as graph, pytest.raises(tk.FailedPreconditionError, match="no variables to save"):
            graph.save(tmp_path / "out")


class TestEmbeddingVariables:
    @pytest.fixture
    def prefix(self, tmp_path: Path) -> str:
        with tf.Graph().as_default(), tf.Session() as session:
            table = tf.get_embedding_variable("table", 2, initializer=tf.ones_initializer())
            rows = tf.nn.embedding_lookup(table, tf.placeholder(tf.int64, [None], name="keys"), name="rows")
            total = tf.reduce_sum(rows, name="total")
            train = tf.train.AdagradOptimizer(0.1).minimize(total, name="train")
            session.run(tf.global_variables_initializer())
            session.run(train, {"keys:0": [1, 2]})
            saved: str = tf.train.Saver().save(session, str(tmp_path / "model"))
            return saved

    def test_their_rows_are_restored_trained_on_and_saved(self, prefix: str, tmp_path: Path) -> None:
        with tk.open_graph(prefix) as graph:
            graph.restore()
            before = graph.run("total", {"keys": [1, 2]})
            graph.run("train", {"keys": [1, 2]})
            after = graph.run("total", {"keys": [1, 2]})
            saved = graph.save(tmp_path / "out" / "model")
        assert after < before < 4
        with tk.open_graph(saved) as again:
            again.restore()
            assert again.run("total", {"keys": [1, 2]}) == after

    def test_they_begin_anew(self, prefix: str) -> None:
        with tk.open_graph(prefix) as graph:
            graph.initialize()
            assert graph.run("total", {"keys": [1, 2]}) == 4

    def test_without_a_saver_they_are_neither_restored_nor_saved(self, prefix: str, tmp_path: Path) -> None:
        with tk.open_graph(prefix) as graph, tk.open_graph(graph.graph) as plain:
            for act in (plain.save, plain.restore):
                with pytest.raises(tk.UnimplementedError, match='embedding variables "table"'):
                    act(tmp_path / "model")


class TestRestraint:
    def test_a_graph_that_does_more_than_compute_is_refused_before_it_runs(self, tmp_path: Path) -> None:
        with tf.Graph().as_default() as built:
            tf.write_file(str(tmp_path / "written"), "x", name="write")
        with (
            tk.open_graph(built) as graph,
            pytest.raises(tk.PermissionDeniedError, match=r"writes files.*Nothing was run"),
        ):
            graph.run("write")
        with tk.open_graph(built, allow=["writes files"]) as graph:
            graph.run("write")
        assert (tmp_path / "written").read_text() == "x"

    def test_a_graph_reads_no_file_that_it_was_not_given(self, tmp_path: Path) -> None:
        (tmp_path / "secret").write_text("x")
        with tf.Graph().as_default() as built:
            tf.read_file(str(tmp_path / "secret"), name="read")
        with tk.open_graph(built) as graph, pytest.raises(tk.PermissionDeniedError, match="no directory of its own"):
            graph.run("read")
        with tk.open_graph(built, allow=["reads files"]) as graph:
            assert graph.run("read") == b"x"

    def test_a_saver_that_writes_elsewhere_is_refused(self, prefix: str, tmp_path: Path) -> None:
        meta_graph = read_meta_graph_file(f"{prefix}.meta")
        (save,) = [node for node in meta_graph.graph_def.node if node.op == "SaveV2"]
        save.input[0] = "elsewhere"
        path = meta_graph.graph_def.node.add(name="elsewhere", op="Const")
        path.attr["dtype"].type = STRING.number
        path.attr["value"].tensor.CopyFrom(
            tensor_of_array(np.array(f"{tmp_path}/elsewhere/model".encode(), object), STRING)
        )
        with tk.open_graph(meta_graph) as graph:
            graph.initialize()
            with pytest.raises(tk.PermissionDeniedError, match=r'which is not in its directory ".*here"'):
                graph.save(tmp_path / "here" / "model")
        assert not (tmp_path / "elsewhere").exists()

    def test_a_saver_that_does_more_than_save_is_refused(self, prefix: str, tmp_path: Path) -> None:
        meta_graph = read_meta_graph_file(f"{prefix}.meta")
        (save,) = [node for node in meta_graph.graph_def.node if node.op == "SaveV2"]
        meta_graph.graph_def.node.add(name="write", op="WriteFile", input=[save.input[0], save.input[0]])
        save.input.append("^write")
        with tk.open_graph(meta_graph) as graph:
            graph.initialize()
            with pytest.raises(tk.PermissionDeniedError, match=r'"write" \(WriteFile\) writes files.*Nothing was run'):
                graph.save(tmp_path / "out")
