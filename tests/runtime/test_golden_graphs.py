"""Graphs that TensorFlow wrote run here and give what they gave there, and train on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorkeep as tk
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.messages.graph_def import import_graph
from tensorkeep.proto.messages import GraphDef, MetaGraphDef, VariableDef, parse
from tensorkeep.runtime.session import Session
from tests.ops.walking import import_all_ops
from tests.support.golden import decode, expected, golden

import_all_ops()


class Restored:
    """A meta graph in a session, its variables set to what the checkpoint holds."""

    def __init__(self, folder: Any, meta: str, prefix: str) -> None:
        proto = parse(MetaGraphDef, (folder / meta).read_bytes(), meta)
        self.graph = Graph()
        import_graph(proto.graph_def, self.graph, name="", producer_op_list=proto.meta_info_def.stripped_op_list)
        self.session = Session(self.graph)
        stored = proto.collection_def["variables"].bytes_list.value
        self.variables = [parse(VariableDef, item, "variable") for item in stored]
        values = tk.load_tensors(str(folder / prefix))
        for variable in self.variables:
            name = variable.variable_name.removesuffix(":0")
            if name in values:
                self.session.run(variable.initializer_name, {variable.initial_value_name: values[name]})

    def value(self, name: str) -> Any:
        variable = next(item for item in self.variables if item.variable_name == f"{name}:0")
        return self.session.run(variable.snapshot_name)


def _check(case: str, run: dict[str, Any], results: dict[str, Any], tolerance: float = 1e-5) -> None:
    for name, entry in run["outputs"].items():
        wanted = decode(case, entry, "outputs")
        np.testing.assert_allclose(results[name], wanted, rtol=tolerance, atol=1e-6, err_msg=f"{case}: {name}")


@pytest.mark.parametrize("case", ["g21_meta_mlp_adam", "g22_meta_conv_adagrad"])
def test_a_model_infers_and_trains_on(case: str) -> None:
    facts = expected(case)
    for run in facts["runs"]:
        if run["run"] == "frozen":
            continue
        model = Restored(golden(case), facts["meta"], facts["prefix"])
        feeds = {name: decode(case, entry, "inputs") for name, entry in run["inputs"].items()}
        steps = 0 if run["run"] == "infer" else int(run["run"].split("_")[1])
        for _ in range(steps):
            model.session.run(facts["train_op"], feeds)
        results = {
            name: model.value(name.removeprefix("var:")) if name.startswith("var:") else model.session.run(name, feeds)
            for name in run["outputs"]
        }
        _check(case, run, results, 1e-5 if steps == 0 else 1e-4)


def test_control_flow_runs() -> None:
    case = "g25_control_flow_v1"
    facts = expected(case)
    model = Restored(golden(case), facts["meta"], facts["prefix"])
    for run in facts["runs"]:
        feeds = {name: decode(case, entry, "inputs") for name, entry in run["inputs"].items()}
        _check(case, run, {name: model.session.run(name, feeds) for name in run["outputs"]})


@pytest.mark.parametrize(
    ("case", "file", "name"),
    [
        ("g24_graph_tools", "ref/frozen.pb", "ref"),
        ("g24_graph_tools", "res/frozen.pb", "res"),
        ("g22_meta_conv_adagrad", "frozen.pb", "frozen"),
    ],
)
def test_frozen_graphs_run(case: str, file: str, name: str) -> None:
    graph = Graph()
    import_graph(parse(GraphDef, (golden(case) / file).read_bytes(), "frozen"), graph, name="")
    session = Session(graph, allow_io=False)
    (run,) = (run for run in expected(case)["runs"] if run["run"] == name)
    feeds = {name: decode(case, entry, "inputs") for name, entry in run["inputs"].items()}
    _check(case, run, {name: session.run(name, feeds) for name in run["outputs"]})
