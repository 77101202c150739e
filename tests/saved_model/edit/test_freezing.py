"""SavedModels of TensorFlow 1 and 2 become graphs without variables, and give what they gave."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.messages.graph_def import import_graph
from tensorkeep.graph.rewriting.freezing import Selection, variables_of
from tensorkeep.runtime.session import Session
from tensorkeep.saved_model.edit.freezing import freeze_saved_model
from tensorkeep.saved_model.files.layout import meta_graph_with_tags, read_saved_model
from tensorkeep.saving.freezing import FreezeOptions
from tests.support.golden import decode, expected, golden

RUNNING = ["g26_tf1_simple_save", "g29_keras_dense", "g30_keras_conv_bn", "g31_keras_lstm", "g33_tf2_composite"]


def signature_of(case: str, run: dict[str, Any]) -> Any:
    model = read_saved_model(str(golden(case) / expected(case)["dir"]))
    return meta_graph_with_tags(model, run["tags"]).signature_def[run["signature"]]


def nodes(signature: Any) -> list[str]:
    return sorted({info.name.partition(":")[0] for info in signature.outputs.values()})


@pytest.mark.parametrize("case", RUNNING)
def test_a_frozen_model_gives_what_the_model_gave(case: str) -> None:
    folder = str(golden(case) / expected(case)["dir"])
    for run in expected(case)["runs"]:
        signature = signature_of(case, run)
        frozen = freeze_saved_model(folder, nodes(signature), run["tags"])
        assert not variables_of(frozen)
        graph = Graph()
        import_graph(frozen, graph, name="")
        with Session(graph) as session:
            feeds = {signature.inputs[name].name: decode(case, item, "inputs") for name, item in run["inputs"].items()}
            for name, item in run["outputs"].items():
                found = session.run(signature.outputs[name].name, feeds)
                np.testing.assert_allclose(found, decode(case, item, "outputs"), rtol=1e-4, atol=1e-5, err_msg=name)


def test_one_of_several_meta_graphs_is_frozen_with_assets_at_hand() -> None:
    case = "g27_tf1_multi"
    run = expected(case)["runs"][0]
    frozen = freeze_saved_model(str(golden(case) / "model"), nodes(signature_of(case, run)), run["tags"])
    assert not variables_of(frozen)
    assert any(node.op.startswith("HashTable") for node in frozen.node)


def test_a_model_that_counts_its_calls_can_be_frozen_but_for_the_count() -> None:
    case = "g28_tf2_module"
    run = next(item for item in expected(case)["runs"] if item.get("signature") == "loop")
    folder, outputs = str(golden(case) / "model"), nodes(signature_of(case, run))
    with pytest.raises(InvalidArgumentError, match=r"\(AssignAddVariableOp\) needs the variable 'count' itself"):
        freeze_saved_model(folder, outputs, run["tags"])
    frozen = freeze_saved_model(folder, outputs, run["tags"], FreezeOptions(Selection(keep=["count"])))
    assert [variable.name for variable in variables_of(frozen)] == ["count"]
    import_graph(frozen, Graph(), name="")
