"""Every public function that takes a path refuses one of a store that is not served, and makes nothing on the disk."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep as tk
import tensorkeep.v1 as tf
from tensorkeep.convert import ConvertOptions, convert
from tensorkeep.edit import EditOptions, Selection
from tensorkeep.embedding.stored.writing import table_tensors
from tensorkeep.embedding.table.tiers import FileTier
from tensorkeep.embedding.tools.pruning import KeepByNorm
from tensorkeep.errors import UnimplementedError
from tensorkeep.proto.messages import GraphDef, MetaGraphDef

PLACE = "gs://bucket/run/model-1"
MODULES = ("tensorkeep", "tensorkeep.edit", "tensorkeep.inspect", "tensorkeep.convert", "tensorkeep.embedding")
SEVERAL = ("paths", "prefixes", "sources")
KNOWN: dict[str, Any] = {
    "arrays": {"a": np.zeros(2, np.float32)},
    "directory": "run",
    "dtype": "float64",
    "first": "run/model",
    "form": tk.CheckpointFormat.V1,
    "graph": GraphDef(),
    "full": "run/model",
    "keys": [1],
    "meta_graph": MetaGraphDef(),
    "outputs": ["a"],
    "limit": 1 << 20,
    "name": "a",
    "plan": {},
    "policy": tk.KeepLatest(2),
    "precision": "bfloat16",
    "rule": KeepByNorm(0.0),
    "rules": [],
    "second": "run/model",
    "selection": None,
    "share": 0.5,
    "shards": 2,
    "tables": {"t": tk.EmbeddingTable(2).snapshot()},
    "tensors": {"a": np.zeros(2, np.float32)},
    "tree": {"a": np.zeros(2, np.float32)},
    "values": {"a": np.zeros(2, np.float32)},
    "wanted": {"a": np.zeros(2, np.float32)},
}


SPECIAL: dict[tuple[str, str], Any] = {
    ("average", "sources"): ["other/model", "other/model"],
    ("check_proof", "path"): "other.npz.proof.json",
    ("dedupe", "options"): EditOptions(overwrite=True),
    ("drop", "selection"): Selection("a"),
    ("keep", "selection"): Selection("a"),
    ("import_csv", "name"): "t",
    ("look_up", "name"): "t",
    ("objects_to_names", "source"): "objects/model",
}
NOT_HERE = {
    # Values that only say what `export_onnx` opens.
    ("tensorkeep.OnnxOptions", "checkpoint"),
    ("tensorkeep.OnnxOptions", "verify_inputs"),
    # Need a file that an extra writes, or an incremental checkpoint; both end in the same writer.
    ("tensorkeep.embedding.import_parquet", "target"),
    ("tensorkeep.embedding.compact_checkpoint", "target"),
}


def paths_taken() -> list[tuple[str, str]]:
    """The public functions and classes, each with one parameter that takes a path."""
    taken: dict[tuple[str, str], None] = {}
    seen: set[int] = set()
    for module in map(importlib.import_module, MODULES):
        for name in module.__all__:
            item = getattr(module, name)
            if not callable(item) or id(item) in seen or (inspect.isclass(item) and issubclass(item, Exception)):
                continue
            seen.add(id(item))
            try:
                parameters = inspect.signature(item).parameters.values()
            except ValueError:
                continue
            for parameter in parameters:
                if "PathLike" in str(parameter.annotation):
                    taken[f"{module.__name__}.{name}", parameter.name] = None
    return [each for each in taken if each not in NOT_HERE]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which a program works: with a checkpoint, an empty table and nothing else."""
    monkeypatch.chdir(tmp_path)
    table = tk.EmbeddingTable(2)
    table.add_column("Adagrad", 2, 0.1)
    table.assign(np.array([1]), np.ones((1, 2), np.float32))
    one = np.float32(1)
    two = np.zeros(2, np.float32)
    optimizer = dict.fromkeys(("a/Adam", "a/Adam_1", "a/ExponentialMovingAverage"), two)
    tk.save_checkpoint("run/model", {**KNOWN["tensors"], **optimizer, **table_tensors("t", table.snapshot())})
    tk.save_checkpoint("other/model", {"b": one})
    tk.save_objects("objects/model", KNOWN["tree"])
    Path("t.csv").write_text('id,embedding\n1,"0.5,1.5"\n')
    convert("other/model", "other.npz", options=ConvertOptions(prove=True))
    return tmp_path


def names_below(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


def sample(parameter: str, of: str) -> Any:
    if (of, parameter) in SPECIAL:
        return SPECIAL[of, parameter]
    if parameter in ("target", "destination"):
        return "out"
    if parameter in SEVERAL:
        return ["run/model", "other/model"]
    if parameter in ("path", "source", "prefix", "checkpoint", "latest"):
        return "t.csv" if "csv" in of and parameter == "path" else "run/model"
    return KNOWN[parameter]


def required(function: Any) -> list[str]:
    return [name for name, item in inspect.signature(function).parameters.items() if item.default is item.empty]


@pytest.mark.parametrize(("function", "parameter"), paths_taken(), ids=lambda value: str(value))
def test_a_function_refuses_a_store_that_is_not_served(function: str, parameter: str, folder: Path) -> None:
    module, _, name = function.rpartition(".")
    called = getattr(importlib.import_module(module), name)
    needed = [*required(called), *(each for of, each in SPECIAL if of == name)]
    given = {each: sample(each, name) for each in needed}
    several = parameter in SEVERAL or parameter == "all_paths"
    before = names_below(folder)
    with pytest.raises(UnimplementedError, match="File system scheme 'gs' not implemented"):
        called(**{**given, parameter: [PLACE, PLACE] if several else PLACE})
    assert names_below(folder) == before


@pytest.fixture
def graph() -> Any:
    with tf.Graph().as_default():
        tf.get_variable("a", initializer=np.zeros(2, np.float32))
        tf.train.create_global_step()
        yield


def in_session(work: Callable[[tf.Session], object]) -> None:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        work(session)


def monitored(**places: str) -> None:
    with tf.train.MonitoredTrainingSession(**places) as session:
        session.run("global_step:0")


CALLS: dict[str, Callable[[], object]] = {
    "Saver.save": lambda: in_session(lambda session: tf.train.Saver().save(session, PLACE)),
    "Saver.save, V1": lambda: in_session(
        lambda session: tf.train.Saver(write_version=tf.train.SaverDef.V1).save(session, PLACE)
    ),
    "Saver.save, sharded": lambda: in_session(lambda session: tf.train.Saver(sharded=True).save(session, PLACE)),
    "Saver.restore": lambda: in_session(lambda session: tf.train.Saver().restore(session, PLACE)),
    "Saver.export_meta_graph": lambda: tf.train.Saver().export_meta_graph(f"{PLACE}.meta"),
    "export_meta_graph": lambda: tf.train.export_meta_graph(f"{PLACE}.meta"),
    "import_meta_graph": lambda: tf.train.import_meta_graph(f"{PLACE}.meta"),
    "write_graph": lambda: tf.train.write_graph(tf.get_default_graph(), "gs://bucket/run", "graph.pbtxt"),
    "the save op": lambda: in_session(
        lambda session: session.run(
            tf.raw_ops.SaveV2(prefix=PLACE, tensor_names=["a"], shape_and_slices=[""], tensors=[tf.zeros(2)])
        )
    ),
    "write_file": lambda: in_session(lambda session: session.run(tf.io.write_file(PLACE, "text"))),
    "MonitoredTrainingSession": lambda: monitored(checkpoint_dir="gs://bucket/run"),
    "summaries of MonitoredTrainingSession": lambda: monitored(summary_dir="gs://bucket/run"),
    "SingularMonitoredSession": lambda: tf.train.SingularMonitoredSession(checkpoint_dir="gs://bucket/run"),
    "Supervisor": lambda: tf.train.Supervisor(logdir="gs://bucket/run"),
    "CheckpointSaverHook": lambda: tf.train.CheckpointSaverHook("gs://bucket/run", save_steps=1),
    "SummarySaverHook": lambda: tf.train.SummarySaverHook(
        1, output_dir="gs://bucket/run", summary_op=tf.no_op()
    ).begin(),
    "FileWriter": lambda: tf.summary.FileWriter("gs://bucket/run"),
    "FileWriterCache": lambda: tf.summary.FileWriterCache.get("gs://bucket/run"),
    "SavedModelBuilder": lambda: tf.saved_model.Builder("gs://bucket/export"),
    "simple_save": lambda: in_session(
        lambda session: tf.saved_model.simple_save(
            session, "gs://bucket/export", {"x": tf.zeros(1)}, {"a": tf.zeros(1)}
        )
    ),
    "loader.load": lambda: in_session(lambda session: tf.saved_model.loader.load(session, ["serve"], "gs://export")),
    "CheckpointManager": lambda: tf.train.CheckpointManager(tf.train.Checkpoint(), "gs://bucket/run", 1),
    "Checkpoint.save": lambda: in_session(
        lambda session: tf.train.Checkpoint(a=tf.train.get_global_step()).save(PLACE, session)
    ),
    "latest_checkpoint": lambda: tf.train.latest_checkpoint("gs://bucket/run"),
    "get_checkpoint_state": lambda: tf.train.get_checkpoint_state("gs://bucket/run"),
    "update_checkpoint_state": lambda: tf.train.update_checkpoint_state("gs://bucket/run", "model-1"),
    "checkpoint_exists": lambda: tf.train.checkpoint_exists(PLACE),
    "checkpoints_iterator": lambda: next(iter(tf.train.checkpoints_iterator("gs://bucket/run", timeout=0))),
    "remove_checkpoint": lambda: tf.train.remove_checkpoint(PLACE),
    "NewCheckpointReader": lambda: tf.train.NewCheckpointReader(PLACE),
    "init_from_checkpoint": lambda: tf.train.init_from_checkpoint(PLACE, {"a": "a"}),
    "warm_start": lambda: tf.train.warm_start(PLACE),
    "list_variables": lambda: tf.train.list_variables(PLACE),
    "TFRecordWriter": lambda: tf.io.TFRecordWriter(PLACE),
    "gfile": lambda: tf.io.gfile.makedirs("gs://bucket/run"),
    "rows on a disk": lambda: tk.EmbeddingTable(2, storage=FileTier("gs://bucket/rows", 1024)),
}


@pytest.mark.usefixtures("graph")
@pytest.mark.parametrize("name", list(CALLS))
def test_the_api_of_tensorflow_refuses_a_store_that_is_not_served(name: str, folder: Path) -> None:
    before = names_below(folder)
    with pytest.raises(UnimplementedError, match="File system scheme 'gs' not implemented"):
        CALLS[name]()
    assert names_below(folder) == before


def test_a_path_of_this_machine_may_be_spelled_with_its_scheme(folder: Path) -> None:
    tk.save_checkpoint(f"file://{folder}/other/model-2", KNOWN["tensors"])
    assert tk.latest_checkpoint(f"file://{folder}/run") == f"{folder}/run/model"
    assert list(tk.open_checkpoint(f"file://{folder}/other/model-2")) == ["a"]
    written = tk.edit.cast(f"file://{folder}/run/model", "file:///out", "float64", options=EditOptions(dry_run=True))
    assert written.path == "/out"
    assert not list(folder.rglob("file:*"))


def test_a_state_file_that_names_a_store_still_leads_to_the_files_beside_it(folder: Path) -> None:
    tk.save_checkpoint("copied/model-7", KNOWN["tensors"])
    Path("copied/checkpoint").write_text('model_checkpoint_path: "gs://bucket/run/model-7"\n')
    assert tk.latest_checkpoint("copied") == "copied/model-7"
