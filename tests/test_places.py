"""Every public function that takes a path takes the URL of a store, or refuses it; none makes a folder `s3:`."""

from __future__ import annotations

import importlib
import inspect
import shutil
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
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.proto.messages import GraphDef, MetaGraphDef
from tests.support.stores import memory_bucket

UNSERVED = "hdfs://bucket/run/model-1"
MODULES = ("tensorkeep", "tensorkeep.edit", "tensorkeep.inspect", "tensorkeep.convert", "tensorkeep.embedding")
SEVERAL = ("paths", "prefixes", "sources")
KNOWN: dict[str, Any] = {
    "arrays": {"a": np.zeros(2, np.float32)},
    "directory": "run",
    "dtype": "float64",
    "first": "run/model",
    "form": tk.CheckpointFormat.V1,
    "graph": GraphDef(),
    "delta": "run/model",
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
    "to": "numpy",
    "tree": {"a": np.zeros(2, np.float32)},
    "values": {"a": np.zeros(2, np.float32)},
    "wanted": {"a": np.zeros(2, np.float32)},
}


SPECIAL: dict[tuple[str, str], Any] = {
    ("average", "sources"): ["other/model", "other/model"],
    ("view", "what"): "run/model",
    ("check_proof", "path"): "other.npz.proof.json",
    ("dedupe", "options"): EditOptions(overwrite=True),
    ("drop", "selection"): Selection("a"),
    ("keep", "selection"): Selection("a"),
    ("import_csv", "name"): "t",
    ("look_up", "name"): "t",
    ("objects_to_names", "source"): "objects/model",
}
NOT_HERE = {
    # Says something of a URL, and opens nothing.
    ("tensorkeep.storage", "url"),
    ("tensorkeep.storage", "cache"),
    # Values that only say what `export_onnx` opens.
    ("tensorkeep.OnnxOptions", "checkpoint"),
    ("tensorkeep.OnnxOptions", "verify_inputs"),
    # Is read once a graph with variables is open, of which there is none here, by what `open_graph` gives (`restore`).
    ("tensorkeep.to_jax", "checkpoint"),
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


REFUSED = {("tensorkeep.edit.dedupe", "sources"): "cannot share any"}


def called_with(function: str, parameter: str, place: Callable[[str], str]) -> Any:
    """What a function gives if one of its paths is replaced by what `place` makes of it."""
    module, _, name = function.rpartition(".")
    called = getattr(importlib.import_module(module), name)
    needed = [*required(called), *(each for of, each in SPECIAL if of == name)]
    given = {each: sample(each, name) for each in needed}
    usual = given.get(parameter, sample(parameter, name) if parameter != "all_paths" else ["run/model"])
    changed = [place(each) for each in usual] if isinstance(usual, list) else place(usual)
    return called(**{**given, parameter: changed})


@pytest.mark.parametrize(("function", "parameter"), paths_taken(), ids=lambda value: str(value))
def test_a_function_refuses_a_store_that_is_not_served(function: str, parameter: str, folder: Path) -> None:
    before = names_below(folder)
    with pytest.raises(UnimplementedError, match="File system scheme 'hdfs' not implemented"):
        called_with(function, parameter, lambda path: UNSERVED)
    assert names_below(folder) == before


@pytest.fixture
def bucket(folder: Path) -> str:
    """A store with the same files as the folder."""
    url = memory_bucket()
    for path in folder.rglob("*"):
        if path.is_file():
            FILES.link(str(path), f"{url}/{path.relative_to(folder).as_posix()}")
    return url


def outcome(action: Callable[[], object], *roots: str) -> str:
    """What became of a call: that it worked, or the error, without the folder or bucket that it names."""
    try:
        action()
    except tk.MissingFileError:
        return "something is missing"  # the disk says it in the words of the system
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        for root in roots:
            text = text.replace(f"{root}/", "")
        return text
    return "it works"


@pytest.mark.parametrize(("function", "parameter"), paths_taken(), ids=lambda value: str(value))
def test_a_function_does_with_a_path_in_a_store_what_it_does_with_one_on_the_disk(
    function: str,
    parameter: str,
    folder: Path,
    bucket: str,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = tmp_path_factory.mktemp("other") / "copy"
    shutil.copytree(folder, other)
    found = outcome(lambda: called_with(function, parameter, lambda path: f"{bucket}/{path}"), bucket)
    assert not list(folder.rglob("memory:*"))
    if (function, parameter) in REFUSED:
        assert REFUSED[function, parameter] in found
        return
    monkeypatch.chdir(other)
    assert found == outcome(lambda: called_with(function, parameter, str))


@pytest.fixture
def graph() -> Any:
    with tf.Graph().as_default():
        _model()
        yield


def _model() -> None:
    tf.get_variable("a", initializer=np.zeros(2, np.float32))
    tf.train.create_global_step()


def in_session(work: Callable[[tf.Session], object]) -> None:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        work(session)


def monitored(**places: str) -> None:
    with tf.train.MonitoredTrainingSession(**places) as session:
        session.run("global_step:0")


CALLS: dict[str, Callable[[str], object]] = {
    "Saver.save": lambda root: in_session(lambda session: tf.train.Saver().save(session, f"{root}/run/model-1")),
    "Saver.save, V1": lambda root: in_session(
        lambda session: tf.train.Saver(write_version=tf.train.SaverDef.V1).save(session, f"{root}/run/model-1")
    ),
    "Saver.save, sharded": lambda root: in_session(
        lambda session: tf.train.Saver(sharded=True).save(session, f"{root}/run/model-1")
    ),
    "Saver.restore": lambda root: in_session(lambda session: tf.train.Saver().restore(session, f"{root}/run/model-1")),
    "Saver.export_meta_graph": lambda root: tf.train.Saver().export_meta_graph(f"{root}/run/model-1.meta"),
    "export_meta_graph": lambda root: tf.train.export_meta_graph(f"{root}/run/model-1.meta"),
    "import_meta_graph": lambda root: tf.train.import_meta_graph(f"{root}/run/model-1.meta"),
    "write_graph": lambda root: tf.train.write_graph(tf.get_default_graph(), f"{root}/run", "graph.pbtxt"),
    "the save op": lambda root: in_session(
        lambda session: session.run(
            tf.raw_ops.SaveV2(
                prefix=f"{root}/run/model-1", tensor_names=["a"], shape_and_slices=[""], tensors=[tf.zeros(2)]
            )
        )
    ),
    "write_file": lambda root: in_session(lambda session: session.run(tf.io.write_file(f"{root}/run/model-1", "text"))),
    "MonitoredTrainingSession": lambda root: monitored(checkpoint_dir=f"{root}/run"),
    "summaries of MonitoredTrainingSession": lambda root: monitored(summary_dir=f"{root}/run"),
    "SingularMonitoredSession": lambda root: tf.train.SingularMonitoredSession(checkpoint_dir=f"{root}/run"),
    "Supervisor": lambda root: tf.train.Supervisor(logdir=f"{root}/run"),
    "CheckpointSaverHook": lambda root: tf.train.CheckpointSaverHook(f"{root}/run", save_steps=1),
    "SummarySaverHook": lambda root: tf.train.SummarySaverHook(
        1, output_dir=f"{root}/run", summary_op=tf.no_op()
    ).begin(),
    "FileWriter": lambda root: tf.summary.FileWriter(f"{root}/run"),
    "FileWriterCache": lambda root: tf.summary.FileWriterCache.get(f"{root}/run"),
    "SavedModelBuilder": lambda root: tf.saved_model.Builder(f"{root}/export"),
    "simple_save": lambda root: in_session(
        lambda session: tf.saved_model.simple_save(session, f"{root}/export", {"x": tf.zeros(1)}, {"a": tf.zeros(1)})
    ),
    "loader.load": lambda root: in_session(
        lambda session: tf.saved_model.loader.load(session, ["serve"], f"{root}/export")
    ),
    "CheckpointManager": lambda root: tf.train.CheckpointManager(tf.train.Checkpoint(), f"{root}/run", 1),
    "Checkpoint.save": lambda root: in_session(
        lambda session: tf.train.Checkpoint(a=tf.train.get_global_step()).save(f"{root}/run/model-1", session)
    ),
    "latest_checkpoint": lambda root: tf.train.latest_checkpoint(f"{root}/run"),
    "get_checkpoint_state": lambda root: tf.train.get_checkpoint_state(f"{root}/run"),
    "update_checkpoint_state": lambda root: tf.train.update_checkpoint_state(f"{root}/run", "model-1"),
    "checkpoint_exists": lambda root: tf.train.checkpoint_exists(f"{root}/run/model-1"),
    "checkpoints_iterator": lambda root: next(iter(tf.train.checkpoints_iterator(f"{root}/run", timeout=0))),
    "remove_checkpoint": lambda root: tf.train.remove_checkpoint(f"{root}/run/model-1"),
    "NewCheckpointReader": lambda root: tf.train.NewCheckpointReader(f"{root}/run/model-1"),
    "init_from_checkpoint": lambda root: tf.train.init_from_checkpoint(f"{root}/run/model-1", {"a": "a"}),
    "warm_start": lambda root: tf.train.warm_start(f"{root}/run/model-1"),
    "list_variables": lambda root: tf.train.list_variables(f"{root}/run/model-1"),
    "TFRecordWriter": lambda root: tf.io.TFRecordWriter(f"{root}/run/model-1"),
    "gfile": lambda root: tf.io.gfile.makedirs(f"{root}/run"),
    "rows on a disk": lambda root: tk.EmbeddingTable(2, storage=FileTier(f"{root}/rows", 1024)),
}


@pytest.mark.usefixtures("graph")
@pytest.mark.parametrize("name", list(CALLS))
def test_the_api_of_tensorflow_refuses_a_store_that_is_not_served(name: str, folder: Path) -> None:
    before = names_below(folder)
    with pytest.raises(UnimplementedError, match="File system scheme 'hdfs' not implemented"):
        CALLS[name]("hdfs://bucket")
    assert names_below(folder) == before


REFUSED_CALLS = {"rows on a disk": "a path of this machine is wanted here"}


@pytest.mark.parametrize("name", list(CALLS))
def test_the_api_of_tensorflow_does_with_a_store_what_it_does_with_the_disk(name: str, folder: Path) -> None:
    bucket, plain = memory_bucket(), str(folder / "plain")
    Path(plain, "run").mkdir(parents=True)
    FILES.make_directory(f"{bucket}/run")
    with tf.Graph().as_default():
        _model()
        found = outcome(lambda: CALLS[name](bucket), bucket)
    assert not list(folder.rglob("memory:*"))
    if name in REFUSED_CALLS:
        assert REFUSED_CALLS[name] in found
        return
    with tf.Graph().as_default():
        _model()
        assert found == outcome(lambda: CALLS[name](plain), plain)


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
