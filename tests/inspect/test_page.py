"""What a report tells, as data."""

from __future__ import annotations

import numpy as np

from tensorkeep.checkpoint.saving import save_checkpoint
from tensorkeep.embedding.stored.writing import table_tensors
from tensorkeep.embedding.table.embedding_table import EmbeddingTable
from tensorkeep.inspect.health import Ailment
from tensorkeep.inspect.page import gather
from tensorkeep.io.files.filesystem import atomic_write
from tensorkeep.io.files.memory import MemoryFileSystem
from tests.inspect.models import model_of


def test_every_tensor_has_its_numbers_and_every_graph_its_summary() -> None:
    data = gather("model", fs=model_of(["a/w", "b"]))
    assert [(item.name, item.maximum) for item in data.statistics] == [("a/w", 5.0), ("b", 5.0)]
    assert all(item.histogram is not None and item.histogram.total == 6 for item in data.statistics)
    assert [summary.nodes for summary in data.graphs] == [2]
    assert not data.findings


def test_what_is_wrong_is_told_and_the_rest_is_read() -> None:
    fs = MemoryFileSystem()
    save_checkpoint("m", {"w": np.array([1, np.nan, np.inf]), "x": np.zeros((3, 3)), "y": np.ones(100)}, fs=fs)
    data = bytearray(fs.open("m.data-00000-of-00001").read(0, fs.open("m.data-00000-of-00001").size))
    data[-1] ^= 1
    atomic_write(fs, "m.data-00000-of-00001", bytes(data))
    found = gather("m", fs=fs)
    assert {(item.ailment, item.tensor) for item in found.findings} == {
        (Ailment.DAMAGED, "y"),
        (Ailment.NOT_A_NUMBER, "w"),
        (Ailment.INFINITE, "w"),
        (Ailment.ALL_ZERO, "x"),
    }
    assert [item.name for item in found.statistics] == ["w", "x"]


def test_a_graph_alone_is_told_too() -> None:
    data = gather("model/saved_model.pb", fs=model_of(["x"]))
    assert data.listing is None
    assert data.graphs[0].nodes == 1


def test_progress_is_told_to_its_end() -> None:
    told: list[tuple[int, int]] = []
    gather("model", progress=lambda done, total: told.append((done, total)), fs=model_of(["w"]))
    assert told[-1][0] == told[-1][1]
    assert [done / total for done, total in told] == sorted(done / total for done, total in told)


def test_embedding_tables_are_told_with_their_keys() -> None:
    table = EmbeddingTable(4)
    table.lookup_or_create(np.arange(7))
    fs = MemoryFileSystem()
    save_checkpoint("m", table_tensors("user", table.snapshot()), fs=fs)
    assert gather("m", fs=fs).tables == {"user": "7 keys"}


def test_a_notebook_shows_what_was_found() -> None:
    fs = MemoryFileSystem()
    save_checkpoint("m", {"<b>": np.array([np.nan])}, fs=fs)
    assert "<td>not a number</td><td>&lt;b&gt;</td>" in gather("m", fs=fs)._repr_html_()
