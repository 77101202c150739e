"""Incremental checkpoints by DeepRec's ops, as its graphs have them: recorded, saved, restored."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.dtypes import FLOAT32
from tensorkeep.errors import DataLossError, FailedPreconditionError, InvalidArgumentError, NotFoundError
from tensorkeep.graph.messages.graph_def import export_graph, import_graph
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.io.files.memory import MemoryFileSystem
from tests.ops.embedding_graphs import gathered, graph, handle, initializer, keys, session

ROWS = [[0.0, 10.0], [1.0, 11.0], [2.0, 12.0]]
NO_SLICES = np.array([], object)


class Graph:
    """A plain variable and an embedding variable, with ops that record, save and restore what changes in them."""

    def __init__(self) -> None:
        self.plain = get_op("VarHandleOp")(dtype=FLOAT32, shape=[6, 2], shared_name="v", name="v")
        self.table = handle("e")
        first = np.arange(12, dtype=np.float32).reshape(6, 2)
        self.init = [get_op("AssignVariableOp")(self.plain, first), initializer(self.table, ROWS)]
        self.value = get_op("ReadVariableOp")(self.plain, dtype=FLOAT32)
        self.rows = gathered(self.table, keys(1, 2), is_inference=True)
        self.insert = gathered(self.table, keys(1, 9))
        self.activate = get_op("ActivateSparseRecorder")(["v", "e"])
        self.change = get_op("ResourceScatterUpdate")(self.plain, keys(1, 4), np.full((2, 2), 7, np.float32))
        self.replace = get_op("AssignVariableOp")(self.plain, -first)
        self.train = get_op("KvResourceSparseApplyGradientDescent")(
            self.table, np.float32(1), np.ones((1, 2), np.float32), keys(2), np.int64(0)
        )
        self.record = [get_op("RecordSparseIndices")(keys(3), var_name=name) for name in ("v", "e", "nobody")]
        both = [self.value, self.table]
        self.save = get_op("IncrSave")("d", ["v", "e"], NO_SLICES, [True, True], both)
        self.save_plain = get_op("IncrSave")("p", ["v"], [""], [False], [self.value])
        read = get_op("IncrRestore")("d", ["v"], NO_SLICES, [True], [self.value])[0]
        self.restore = [
            get_op("AssignVariableOp")(self.plain, read),
            get_op("KvResourceIncrImport")("d", self.table, "e", np.int64(-1), np.float32(0)),
        ]


def _stored(files: MemoryFileSystem, prefix: str) -> dict[str, Any]:
    with open_checkpoint(prefix, fs=files) as reader:
        return {name: reader.read(name).tolist() for name in reader}


def test_what_was_recorded_since_the_recorder_was_activated_is_saved_and_restored() -> None:
    files = MemoryFileSystem()
    with graph() as made:
        model = Graph()
    with session(made, files) as run:
        run.run(model.init)
        run.run(model.insert)
        run.run(model.activate)
        run.run([model.change, model.train])
        run.run(model.record)
        run.run(model.save)
        wanted = [value.tolist() for value in run.run([model.value, model.rows])]
    stored = _stored(files, "d")
    assert stored["v-sparse_incr_keys"] == [1, 3, 4]
    assert stored["v-sparse_incr_values"] == [[7, 7], [6, 7], [7, 7]]
    assert stored["e-sparse_incr_keys"] == [2]
    with session(made, files) as run:
        run.run(model.init)
        run.run(model.restore)
        assert [value.tolist() for value in run.run([model.value, model.rows])] == wanted


def test_a_variable_that_is_not_sparse_or_changed_otherwise_is_saved_whole() -> None:
    files = MemoryFileSystem()
    with graph() as made:
        model = Graph()
    with session(made, files) as run:
        run.run(model.init)
        run.run(model.activate)
        run.run(model.change)
        run.run(model.save_plain)
        run.run(model.replace)
        run.run(model.save)
        wanted = run.run(model.value).tolist()
        assert list(_stored(files, "p")) == ["v"]
        assert _stored(files, "d")["v"] == wanted
        run.run(model.init)
        run.run(model.restore)
        assert run.run(model.value).tolist() == wanted


def test_tables_need_a_full_checkpoint_first() -> None:
    with graph() as made:
        model = Graph()
    with session(made) as run:
        run.run(model.init)
        with pytest.raises(FailedPreconditionError, match="has not been saved whole yet"):
            run.run(model.save)


def test_the_tensors_of_a_table_can_be_read_as_they_are() -> None:
    files = MemoryFileSystem()
    with graph() as made:
        model = Graph()
        names = ["e-keys", "e-values", "e-versions"]
        raw = get_op("IncrRestore")("d", names, NO_SLICES, [True], [keys(0), np.zeros((1, 2), np.float32), keys(0)])
    with session(made, files) as run:
        run.run(model.init)
        run.run(model.activate)
        run.run(model.train)
        run.run(model.save)
        found, rows, versions = run.run(raw)
    assert (found.tolist(), rows.tolist(), versions.tolist()) == ([2], [[1, 11]], [0])


def test_rows_that_do_not_fit_are_refused() -> None:
    files = MemoryFileSystem()
    with graph() as made:
        model = Graph()
        other = get_op("IncrRestore")("d", ["v"], NO_SLICES, [True], [np.zeros((2, 2), np.float32)])[0]
        absent = get_op("IncrRestore")("d", ["x"], NO_SLICES, [True], [np.zeros((2, 2), np.float32)])[0]
        flags = get_op("IncrSave")("d", ["v"], NO_SLICES, [True, False], [model.value])
    with session(made, files) as run:
        run.run(model.init)
        run.run(model.activate)
        run.run(model.change)
        run.run(model.save)
        with pytest.raises(DataLossError, match='rows of "v"'):
            run.run(other)
        with pytest.raises(NotFoundError, match="x not found"):
            run.run(absent)
        with pytest.raises(InvalidArgumentError, match="sparse or not"):
            run.run(flags)


def test_such_a_graph_is_imported_and_runs() -> None:
    with graph() as made:
        model = Graph()
        get_op("CollectSparseIndices")(tensor_name="v", ktype="int64")
    with graph() as again:
        import_graph(export_graph(made), again, name="")
    with session(again) as run:
        run.run([again.operation(op.name) for op in model.init])
        run.run(again.operation(model.activate.name))
        run.run(again.operation(model.save.name))
        assert run.run(again.tensor(model.value.name)).shape == (6, 2)
