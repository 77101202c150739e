"""Whatever is done with a model on the command line, what it hides in loading and restoring is not run."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

import tensorkeep.v1 as tf
from tensorkeep.cli import catalog
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.proto.messages import GraphDef, MetaGraphDef, SavedModel, parse, serialize
from tensorkeep.saved_model.files.layout import init_op_name
from tensorkeep.saved_model.show.flag_values import limits_of_texts
from tensorkeep.tools.freeze_graph import run_main
from tests.cli.conftest import Program
from tests.support.hostile_graphs import doubling_functions

pytestmark = pytest.mark.slow  # all of them together

EXAMPLES = [example for name in catalog.COMMANDS for example in catalog.load_command(name).examples]
ON_MODELS = [example for example in EXAMPLES if "export/" in example or "run" in example]


@pytest.fixture
def marker(world: Path) -> Iterator[Path]:
    """A file that every model and meta graph of the world writes when it is restored or initialized."""
    path = world / "marker"
    for file in world.rglob("saved_model.pb"):
        model = parse(SavedModel, file.read_bytes(), str(file))
        for meta_graph in model.meta_graphs:
            poison(meta_graph, path)
        file.write_bytes(serialize(model))
    for file in world.rglob("*.meta"):
        meta_graph = parse(MetaGraphDef, file.read_bytes(), str(file))
        poison(meta_graph, path)
        file.write_bytes(serialize(meta_graph))
    for file in world.rglob("fingerprint.pb"):
        file.unlink()
    yield path
    assert not path.exists()


def poison(meta_graph: MetaGraphDef, path: Path) -> None:
    """Has what restores and what initializes a model write a file first."""
    graph = meta_graph.graph_def
    texts = {"evil/path": str(path).encode(), "evil/text": b"was here"}
    for name, text in texts.items():
        node = graph.node.add(name=name, op="Const")
        node.attr["dtype"].type = 7
        node.attr["value"].tensor.dtype = 7
        node.attr["value"].tensor.tensor_shape.SetInParent()
        node.attr["value"].tensor.string_val.append(text)
    graph.node.add(name="evil/write", op="WriteFile", input=texts)
    nodes = {node.name: node for node in graph.node}
    init = init_op_name(meta_graph)
    if not init:
        init = "evil/init"
        nodes[init] = graph.node.add(name=init, op="NoOp")
        meta_graph.collection_def["saved_model_main_op"].node_list.value.append(init)
    for name in (init, meta_graph.saver_def.restore_op_name):
        if name:
            nodes[name.partition(":")[0]].input.append("^evil/write")


@pytest.mark.parametrize("example", ON_MODELS)
def test_no_command_runs_what_a_model_hides(program: Program, marker: Path, example: str) -> None:
    program(*shlex.split(example))
    assert not marker.exists()


@pytest.mark.parametrize("source", ["export/1", "run/model-1000"])
def test_a_frozen_graph_is_made_without_running_the_model(
    program: Program, marker: Path, world: Path, source: str
) -> None:
    assert program("convert", source, "frozen.pb", "--outputs", "prob").code == 0
    frozen = parse(GraphDef, (world / "frozen.pb").read_bytes(), "frozen.pb")
    assert {node.op for node in frozen.node} & {"VariableV2", "VarHandleOp", "WriteFile"} == set()


def test_a_frozen_model_holds_its_values_and_runs(program: Program, marker: Path) -> None:
    assert program("saved-model", "freeze", "export/1", "--output", "frozen").code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["--input_saved_model_dir=export/1"],
        ["--input_meta_graph=run/model-1000.meta", "--input_checkpoint=run/model-1000", "--input_binary=true"],
    ],
)
def test_the_tool_of_tensorflow_1_runs_nothing_either(marker: Path, arguments: list[str]) -> None:
    assert run_main([*arguments, "--output_graph=frozen.pb", "--output_node_names=prob"]) == 0


def test_what_is_run_on_demand_may_still_write_nothing(program: Program, marker: Path) -> None:
    found = program("saved-model", "freeze", "export/1", "--output", "frozen", "--run-initializers")
    assert (found.code, "writes files" in found.err) == (1, True)


def export_loop(folder: Path) -> Path:
    """A model that counts for ever."""
    graph = tf.Graph()
    with graph.as_default(), tf.Session() as session:
        x = tf.placeholder(tf.int32, [], name="x")
        y = tf.while_loop(lambda i: tf.constant(True), lambda i: i + 1, [x])
        tf.saved_model.simple_save(session, str(folder), {"x": x}, {"y": y})
    return folder


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--max-steps", "1000"], "more than 1000 steps"),
        (["--max-seconds", "0.1"], "longer than 0.1 seconds"),
    ],
)
def test_a_model_that_never_ends_is_ended(program: Program, world: Path, flags: list[str], said: str) -> None:
    model = str(export_loop(world / "loop"))
    found = program("saved-model", "run", model, "--input_exprs", "x=1", *flags)
    assert found.code == 1
    assert said in found.err
    assert flags[0] in found.err


def test_a_model_runs_within_limits_unless_they_are_lifted() -> None:
    assert limits_of_texts(None, None, None).seconds == 300
    assert limits_of_texts(None, None, None).steps == 10_000_000
    assert limits_of_texts(None, None, None).bytes > 0
    assert limits_of_texts("none", "none", "none").is_none
    with pytest.raises(InvalidArgumentError, match="a number or none"):
        limits_of_texts("soon", None, None)


def test_functions_that_call_others_without_number_are_shown(program: Program, world: Path) -> None:
    (world / "chain.pb").write_bytes(serialize(doubling_functions(40)))
    assert program("graph", "chain.pb").code == 0
