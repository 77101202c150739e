"""The variables of meta graphs that TensorFlow wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.messages.graph_def import import_graph
from tensorkeep.proto.messages import MetaGraphDef, VariableDef
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.variables.variable import Variable

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
META_GRAPHS = sorted(
    str(path.relative_to(GOLDEN))
    for path in GOLDEN.glob("*/*.meta")
    if not path.name.endswith(".text.meta") and path.name != "tower.meta"  # whose inputs are left open
)


@pytest.mark.parametrize("name", META_GRAPHS)
def test_variable_defs_come_back_as_they_were_and_initializers_run(name: str) -> None:
    meta = MetaGraphDef.FromString((GOLDEN / name).read_bytes())
    graph = Graph()
    with building(graph):
        import_graph(meta.graph_def, graph, name="", producer_op_list=meta.meta_info_def.stripped_op_list)
        definitions = [
            VariableDef.FromString(data)
            for key in ("variables", "local_variables")
            for data in meta.collection_def[key].bytes_list.value
        ]
        variables = [Variable.from_proto(definition) for definition in definitions]
    assert [variable.to_proto() for variable in variables] == definitions
    session = Session(graph)
    session.run([variable.initializer for variable in variables])
    for variable in variables:
        assert variable.shape.is_compatible_with(session.run(variable).shape)
