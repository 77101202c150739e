"""The freeze_graph tool beside TensorFlow's: the same flags, the same bytes."""

from __future__ import annotations

import inspect
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.tools import freeze_graph as their_tool

import tensorkeep.v1 as tk
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.rewriting.freezing import variables_of
from tensorkeep.proto.messages import GraphDef
from tensorkeep.tools import freeze_graph as our_tool
from tests.interop.freezing_programs import PROGRAMS
from tests.interop.programs import tensorflow_1

v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def _quiet() -> None:
    v1.logging.set_verbosity(v1.logging.ERROR)


@dataclass(frozen=True)
class Saved:
    """A model that TensorFlow saved: graph, checkpoint, meta graph, saver; and what it freezes to in its session."""

    folder: Path
    outputs: str
    frozen: bytes

    def flags(self, *names: str, **more: str) -> list[str]:
        files = {
            "input_graph": "graph.pb",
            "input_meta_graph": "model.ckpt.meta",
            "input_saver": "saver.pb",
            "input_checkpoint": "model.ckpt",
            "input_saved_model_dir": "saved_model",
        }
        given = {name: str(self.folder / files[name]) for name in names}
        given.setdefault("output_node_names", self.outputs)
        return [f"--{name}={value}" for name, value in {**given, **more}.items()]


def save(folder: Path, name: str, version: int = v1.train.SaverDef.V2) -> Saved:
    with tensorflow_1(), tf.Graph().as_default() as graph:
        outputs, feeds = PROGRAMS[name](v1)
        saver = v1.train.Saver(write_version=version)
        inputs = {key.partition(":")[0]: graph.get_tensor_by_name(key) for key in feeds}
        with v1.Session(graph=graph) as session:
            session.run(v1.global_variables_initializer())
            saver.save(session, str(folder / "model.ckpt"), write_state=False)
            frozen = v1.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), outputs)
            v1.train.write_graph(graph, str(folder), "graph.pb", as_text=False)
            v1.train.write_graph(graph, str(folder), "graph.pbtxt")
            (folder / "saver.pb").write_bytes(saver.saver_def.SerializeToString())
            (folder / "saver.pbtxt").write_text(str(saver.saver_def))
            results = {key: graph.get_tensor_by_name(f"{key}:0") for key in outputs}
            v1.saved_model.simple_save(session, str(folder / "saved_model"), inputs, results)
    return Saved(folder, ",".join(outputs), frozen.SerializeToString(deterministic=True))


def theirs(flags: list[str], output: Path) -> bytes:
    """What TensorFlow's tool writes, run in this process as its command line would."""
    parsed, rest = our_tool.parser().parse_known_args(flags)
    assert not rest
    with tensorflow_1(), tf.Graph().as_default():
        their_tool.main(None, _with(parsed, output))
    return output.read_bytes()


def ours(flags: list[str], output: Path) -> bytes:
    assert our_tool.run_main([*flags, f"--output_graph={output}"]) == 0
    return output.read_bytes()


def _with(parsed: Any, output: Path) -> Any:
    parsed.output_graph = str(output)
    return parsed


BINARY = {"input_binary": "true"}


@pytest.mark.parametrize("name", ["perceptron", "embeddings", "convolutions", "branches_and_loops"])
def test_a_graph_and_a_checkpoint(name: str, tmp_path: Path) -> None:
    model = save(tmp_path, name)
    flags = model.flags("input_graph", "input_checkpoint", **BINARY)
    found = ours(flags, tmp_path / "ours.pb")
    assert found == theirs(flags, tmp_path / "theirs.pb")
    text = model.flags("input_checkpoint", input_graph=str(tmp_path / "graph.pbtxt"))
    assert ours(text, tmp_path / "text.pb") == found


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_meta_graph_and_a_checkpoint(name: str, tmp_path: Path) -> None:
    model = save(tmp_path, name)
    flags = model.flags("input_meta_graph", "input_checkpoint", **BINARY)
    assert ours(flags, tmp_path / "ours.pb") == theirs(flags, tmp_path / "theirs.pb")


@pytest.mark.parametrize("name", ["perceptron", "perceptron_of_resources", "partitioned_resources"])
def test_a_graph_a_saver_and_a_checkpoint(name: str, tmp_path: Path) -> None:
    model = save(tmp_path, name)
    flags = model.flags("input_graph", "input_saver", "input_checkpoint", **BINARY)
    found = ours(flags, tmp_path / "ours.pb")
    assert found == theirs(flags, tmp_path / "theirs.pb")
    text = {"input_graph": str(tmp_path / "graph.pbtxt"), "input_saver": str(tmp_path / "saver.pbtxt")}
    assert ours(model.flags("input_checkpoint", **text), tmp_path / "text.pb") == found


@pytest.mark.parametrize("version", [v1.train.SaverDef.V1, v1.train.SaverDef.V2])
def test_a_sharded_checkpoint_under_other_names(version: int, tmp_path: Path) -> None:
    with tensorflow_1(), tf.Graph().as_default() as graph:
        with tf.device("/cpu:0"):
            first = v1.get_variable("first", initializer=tf.constant([1.0, 2.0]), use_resource=False)
        with tf.device("/cpu:1"):
            second = v1.get_variable("second", initializer=tf.constant([3.0, 4.0]), use_resource=False)
        tf.add(first, second, name="output")
        saver = v1.train.Saver({"a": second, "b": first}, sharded=True, write_version=version)
        with v1.Session(graph=graph, config=v1.ConfigProto(device_count={"CPU": 2})) as session:
            session.run(v1.global_variables_initializer())
            path = saver.save(session, str(tmp_path / "model.ckpt"))
    meta = tmp_path / "model.ckpt.meta"
    flags = Saved(tmp_path, "output", b"").flags(input_meta_graph=str(meta), input_checkpoint=path, **BINARY)
    assert ours(flags, tmp_path / "ours.pb") == theirs(flags, tmp_path / "theirs.pb")


def test_a_graph_and_a_checkpoint_of_objects(tmp_path: Path) -> None:
    with tensorflow_1(), tf.Graph().as_default() as graph:
        variable = v1.get_variable("layer/kernel", initializer=tf.constant([1.0, 2.0]), use_resource=True)
        tf.negative(variable, name="output")
        with v1.Session(graph=graph) as session:
            session.run(v1.global_variables_initializer())
            prefix = v1.train.Checkpoint(model=variable).write(str(tmp_path / "objects"), session=session)
            wanted = v1.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), ["output"])
        v1.train.write_graph(graph, str(tmp_path), "graph.pb", as_text=False)
    flags = Saved(tmp_path, "output", b"").flags("input_graph", input_checkpoint=str(prefix), **BINARY)
    assert ours(flags, tmp_path / "ours.pb") == wanted.SerializeToString(deterministic=True)


@pytest.mark.parametrize("name", ["perceptron_of_resources", "partitioned", "embeddings_of_resources"])
def test_a_saved_model(name: str, tmp_path: Path) -> None:
    model = save(tmp_path, name)
    flags = model.flags("input_saved_model_dir")
    assert ours(flags, tmp_path / "ours.pb") == theirs(flags, tmp_path / "theirs.pb")


def test_a_checkpoint_of_the_first_version(tmp_path: Path) -> None:
    model = save(tmp_path, "perceptron", v1.train.SaverDef.V1)
    flags = model.flags("input_graph", "input_checkpoint", checkpoint_version="1", **BINARY)
    assert ours(flags, tmp_path / "ours.pb") == theirs(flags, tmp_path / "theirs.pb")


@pytest.mark.parametrize(
    "more",
    [
        {"variable_names_whitelist": "layer/kernel, layer/bias"},
        {"variable_names_denylist": "layer/bias"},
        {"clear_devices": "false"},
        {"initializer_nodes": "init"},
        {"output_node_names": "output, unused_output"},
    ],
)
def test_the_other_flags(more: dict[str, str], tmp_path: Path) -> None:
    model = save(tmp_path, "perceptron")
    flags = model.flags("input_graph", "input_checkpoint", **BINARY, **more)
    assert ours(flags, tmp_path / "ours.pb") == theirs(flags, tmp_path / "theirs.pb")


@pytest.mark.parametrize("name", ["perceptron_of_resources", "partitioned", "partitioned_resources"])
def test_a_graph_and_a_checkpoint_that_tensorflow_refuses(name: str, tmp_path: Path) -> None:
    model = save(tmp_path, name)
    flags = model.flags("input_graph", "input_checkpoint", **BINARY, clear_devices="false")
    with pytest.raises((IndexError, ValueError)):
        theirs(flags, tmp_path / "theirs.pb")
    assert ours(flags, tmp_path / "ours.pb") == model.frozen


@pytest.mark.parametrize(
    "name", ["perceptron", "perceptron_of_resources", "partitioned_resources", "branches_and_loops"]
)
def test_what_we_saved_tensorflow_freezes_to_the_same_bytes(name: str, tmp_path: Path) -> None:
    with tk.Graph().as_default() as graph:
        outputs, _ = PROGRAMS[name](tk)
        saver = tk.train.Saver()
        with tk.Session(graph=graph) as session:
            session.run(tk.global_variables_initializer())
            saver.save(session, str(tmp_path / "model.ckpt"))
    flags = Saved(tmp_path, ",".join(outputs), b"").flags("input_meta_graph", "input_checkpoint", **BINARY)
    assert ours(flags, tmp_path / "ours.pb") == theirs(flags, tmp_path / "theirs.pb")


def refusals(model: Saved) -> dict[str, list[str]]:
    frozen = model.folder / "frozen.pb"
    frozen.write_bytes(model.frozen)
    checkpoint = ["input_checkpoint"]
    return {
        "no checkpoint": model.flags("input_graph", input_checkpoint="nowhere", **BINARY),
        "no outputs": model.flags("input_graph", *checkpoint, output_node_names="", **BINARY),
        "no such output": model.flags("input_graph", *checkpoint, output_node_names="nothing", **BINARY),
        "no graph file": model.flags(*checkpoint, input_graph="nowhere", **BINARY),
        "no saver file": model.flags("input_graph", *checkpoint, input_saver="nowhere", **BINARY),
        "no meta graph file": model.flags(*checkpoint, input_meta_graph="nowhere", **BINARY),
        "no saved model": model.flags(input_saved_model_dir=str(model.folder)),
        "no such tags": model.flags("input_saved_model_dir", saved_model_tags="serve,tpu"),
        "frozen before": model.flags(*checkpoint, input_graph=str(frozen), **BINARY),
        "version": model.flags("input_graph", *checkpoint, checkpoint_version="3", **BINARY),
    }


def test_refusals_are_of_the_same_kind_and_begin_with_the_same_words(tmp_path: Path) -> None:
    for what, flags in refusals(save(tmp_path, "perceptron")).items():
        with pytest.raises(Exception) as refused:  # noqa: PT011 - whatever TensorFlow raises
            theirs(flags, tmp_path / "theirs.pb")
        with pytest.raises(type(refused.value)) as ours_refused:
            our_tool.main(None, our_tool.parser().parse_args(flags))
        words = str(refused.value).split("[")[0].rstrip(" .!")
        assert words in str(ours_refused.value), what


def test_the_command_line_tells_success_by_its_status(tmp_path: Path) -> None:
    model = save(tmp_path, "perceptron")
    command = [sys.executable, "-m", "tensorkeep.tools.freeze_graph"]
    output = f"--output_graph={tmp_path / 'out.pb'}"
    good = model.flags("input_graph", "input_checkpoint", **BINARY)
    done = subprocess.run([*command, *good, output], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert not variables_of(GraphDef.FromString((tmp_path / "out.pb").read_bytes()))
    for bad in (model.flags("input_graph", input_checkpoint="nowhere"), [*good, "--no_such_flag=1"]):
        done = subprocess.run([*command, *bad, output], capture_output=True, text=True, check=False)
        assert done.returncode != 0
        assert done.stderr


def test_tables_and_assets_of_a_saved_model_are_initialized_before_freezing(tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("a\nb\nc\n")
    with tensorflow_1(), tf.Graph().as_default() as graph:
        table = tf.lookup.StaticHashTable(
            tf.lookup.TextFileInitializer(
                str(words), tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER
            ),
            -1,
        )
        offset = v1.get_variable("offset", initializer=tf.constant(10, tf.int64), use_resource=True)
        word = v1.placeholder(tf.string, [None], name="word")
        tf.identity(table.lookup(word) + offset, name="output")
        with v1.Session(graph=graph) as session:
            session.run([v1.global_variables_initializer(), v1.tables_initializer()])
            builder = v1.saved_model.Builder(str(tmp_path / "saved_model"))
            assets = v1.get_collection(v1.GraphKeys.ASSET_FILEPATHS)
            builder.add_meta_graph_and_variables(
                session, ["serve"], assets_collection=assets, main_op=v1.tables_initializer()
            )
            builder.save()
    words.unlink()
    model = Saved(tmp_path, "output", b"")
    flags = model.flags("input_saved_model_dir")
    assert ours(flags, tmp_path / "ours.pb") == theirs(flags, tmp_path / "theirs.pb")


def test_a_saved_model_of_the_second_version(tmp_path: Path) -> None:
    class Model(tf.Module):
        def __init__(self) -> None:
            self.kernel = tf.Variable([[1.0], [2.0]], name="kernel")

        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
        def __call__(self, x: Any) -> Any:
            return tf.matmul(x, self.kernel)

    tf.saved_model.save(Model(), str(tmp_path / "saved_model"))
    flags = Saved(tmp_path, "StatefulPartitionedCall", b"").flags("input_saved_model_dir")
    found = GraphDef.FromString(ours(flags, tmp_path / "ours.pb"))
    assert not variables_of(found)
    proto = v1.GraphDef.FromString(found.SerializeToString())
    with tf.Graph().as_default() as graph:
        v1.import_graph_def(proto, name="")
        with v1.Session(graph=graph) as session:
            fed = {"serving_default_x:0": np.array([[1.0, 1.0]], np.float32)}
            np.testing.assert_allclose(session.run("StatefulPartitionedCall:0", fed), [[3.0]])


def test_signatures_are_tensorflows() -> None:
    for name in ("freeze_graph", "freeze_graph_with_def_protos"):
        mine, other = (inspect.signature(getattr(module, name)) for module in (our_tool, their_tool))
        assert [
            (item.name, item.default) for item in mine.parameters.values() if item.kind is not item.KEYWORD_ONLY
        ] == [(item.name, item.default) for item in other.parameters.values()]


def test_nothing_is_written_when_a_graph_is_missing(tmp_path: Path) -> None:
    model = save(tmp_path, "perceptron")
    with pytest.raises(InvalidArgumentError, match="--input_graph"):
        our_tool.main(None, our_tool.parser().parse_args(model.flags("input_checkpoint")))
