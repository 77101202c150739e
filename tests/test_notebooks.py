"""What a notebook shows of our objects, offers after a bracket, and sends to other processes."""

from __future__ import annotations

import multiprocessing
import pickle
import pydoc
import re
from pathlib import Path

import numpy as np
import pytest

import tensorkeep as tk
from tensorkeep.graph.graph import Graph
from tensorkeep.inspect.manifests import check_manifest, make_manifest
from tensorkeep.io.showing.html_tables import html_table
from tensorkeep.proto.messages import GraphDef
from tensorkeep.saved_model.scan.model_scan import scan_graph_def, scan_model
from tests.support.golden import golden

MODEL = golden("g29_keras_dense") / "model"


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    tk.save_checkpoint(tmp_path / "m-1", {"dense/kernel": np.ones((2, 3), np.float32), "<b>bold</b>": np.int64(1)})
    return tmp_path / "m-1"


# -------------------------------------------------------------------------------------------------------------- tables


def test_text_in_a_table_is_only_text() -> None:
    found = html_table("<script>", ["&"], [("<img onerror=x>", "\udcff")], 1)
    assert "<script>" not in found
    assert "<img" not in found
    found.encode()


def test_a_long_table_is_cut_and_says_so() -> None:
    found = html_table("many", ["n"], ((number,) for number in range(10**6)), 10**6)
    assert found.count("<tr>") == 26
    assert "and 999,975 more" in found
    assert len(html_table("wide", ["n"], [("x" * 10**6,)], 1)) < 1000


def test_a_reader_shows_its_tensors(prefix: Path) -> None:
    with tk.open_checkpoint(prefix) as reader:
        shown = reader._repr_html_()
    assert "<td>dense/kernel</td><td>float32</td><td>[2, 3]</td>" in shown
    assert "&lt;b&gt;bold" in shown


def test_views_show_what_they_show_elsewhere() -> None:
    with tk.named_variables(tk.open_checkpoint(MODEL)) as reader:
        assert "<td>h/kernel</td>" in reader._repr_html_()


def test_a_model_shows_what_its_signatures_take_and_give() -> None:
    with tk.load_saved_model(MODEL) as model:
        assert "<td>serving_default</td><td>takes</td><td>a</td>" in model._repr_html_()


def test_reports_show_their_verdicts(prefix: Path) -> None:
    assert "all 2 tensors are intact" in tk.check_checkpoint(prefix)._repr_html_()
    assert "healthy" in tk.inspect.examine(prefix)._repr_html_()
    assert "<td>dense/kernel</td>" in tk.inspect.list_checkpoint(prefix)._repr_html_()
    assert "<td>kind</td><td>checkpoint</td>" in tk.inspect.identify(prefix)._repr_html_()
    assert "checkpoint, 0 graphs" in tk.inspect.gather(prefix)._repr_html_()
    with tk.open_checkpoint(prefix) as reader:
        assert "2 tensors the same" in tk.inspect.compare(reader, reader)._repr_html_()
    assert "<td>Identity</td><td>49</td>" in tk.inspect.summarize_graphs(MODEL)[0]._repr_html_()


def test_a_manifest_tells_which_files_differ(prefix: Path) -> None:
    manifest = make_manifest(prefix)
    assert "all 2 files are as the manifest says" in check_manifest(manifest, prefix)._repr_html_()
    tk.save_checkpoint(prefix, {"<b>other</b>": np.int64(2)})
    assert "<td>m-1.index</td><td>changed</td>" in check_manifest(manifest, prefix)._repr_html_()


def test_a_scan_shows_what_it_found_and_where() -> None:
    assert "nothing found" in scan_model(MODEL)._repr_html_()
    graph = GraphDef()
    graph.node.add(name="<img src=x>", op="WriteFile")
    found = scan_graph_def(graph)._repr_html_()
    assert "1 found" in found
    assert "&lt;img src=x&gt;" in found
    assert "<img" not in found


def test_a_graph_that_runs_shows_what_can_be_fed_and_its_variables() -> None:
    with tk.open_graph(golden("g29_keras_dense") / "model") as graph:
        found = graph._repr_html_()
    assert re.search(r"<td>takes</td><td>serving_default_a</td><td>.*float32", found)
    assert "<td>variable</td><td>h/kernel</td>" in found


def test_graphs_and_tables_say_what_they_hold() -> None:
    assert repr(Graph()) == "<Graph: 0 operations>"
    table = tk.EmbeddingTable(4)
    table.lookup_or_create([1, 2])
    assert repr(table) == "<EmbeddingTable: 2 keys, dim 4 float32>"
    assert "<td>weights</td><td>4</td><td>float32</td>" in table._repr_html_()


def test_names_are_offered_after_a_bracket(prefix: Path) -> None:
    with tk.open_checkpoint(prefix) as reader:
        assert reader._ipython_key_completions_() == ["<b>bold</b>", "dense/kernel"]


def test_help_on_the_package_is_a_page() -> None:
    page = pydoc.render_doc(tk, renderer=pydoc.plaintext)
    assert len(page.splitlines()) < 150
    assert "TensorFlow's model files without TensorFlow" in page
    assert "open_checkpoint" in tk.__all__


def test_a_star_takes_every_public_name() -> None:
    space: dict[str, object] = {}
    exec("from tensorkeep import *", space)
    assert {name for name in tk.__all__ if name not in space} == set()


# ------------------------------------------------------------------------------------------------------------ pickling


def test_a_pickled_reader_opens_the_same_checkpoint(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(prefix.parent)
    with tk.open_checkpoint("m-1") as reader:
        data = pickle.dumps(reader)
    monkeypatch.chdir("/")
    with pickle.loads(data) as again:
        np.testing.assert_array_equal(again.read("dense/kernel"), np.ones((2, 3)))


@pytest.mark.parametrize("form", list(tk.CheckpointFormat))
def test_readers_of_both_formats_and_views_of_them_can_be_pickled(tmp_path: Path, form: tk.CheckpointFormat) -> None:
    tk.save_checkpoint(tmp_path / "m", {"a": np.arange(3)}, tk.SaveOptions(form))
    with tk.RenamedReader(tk.open_checkpoint(tmp_path / "m"), {"b": "a"}) as reader:
        data = pickle.dumps(reader)
    with pickle.loads(data) as again:
        assert again.read("b").tolist() == [0, 1, 2]


@pytest.mark.parametrize("form", list(tk.CheckpointFormat))
def test_another_checkpoint_in_its_place_is_refused(tmp_path: Path, form: tk.CheckpointFormat) -> None:
    tk.save_checkpoint(tmp_path / "m", {"a": np.arange(3)}, tk.SaveOptions(form))
    with tk.open_checkpoint(tmp_path / "m") as reader:
        data = pickle.dumps(reader)
    tk.save_checkpoint(tmp_path / "m", {"a": np.arange(4)}, tk.SaveOptions(form))
    with pytest.raises(tk.FailedPreconditionError, match="was replaced after its reader was pickled"):
        pickle.loads(data)


def test_a_reader_of_memory_says_that_it_cannot_be_pickled() -> None:
    fs = tk.MemoryFileSystem()
    tk.save_checkpoint("m", {"a": 1.0}, fs=fs)
    with tk.open_checkpoint("m", fs=fs) as reader, pytest.raises(tk.UnimplementedError, match="pass its path on"):
        pickle.dumps(reader)


def _total(reader: tk.CheckpointReader) -> float:
    return float(reader.read("dense/kernel").sum())


def test_another_process_reads_from_a_reader_that_it_is_given(prefix: Path) -> None:
    with tk.open_checkpoint(prefix) as reader, multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(_total, [reader]) == [6.0]


def test_the_picture_of_nothing_has_no_numbers_of_memory() -> None:
    assert not re.search("0x[0-9a-f]+", repr(Graph()) + repr(tk.EmbeddingTable(2)))
