"""Running a model by its graph, as TensorFlow 1 and its servers do.

A session has what restoring, initialization and the signatures need of the graph: what was there for training or saving
is not even imported. Variables are restored by the graph's own operations, then the model's initialization runs, both
before the first signature does. A model that names no initialization has its tables filled, as TensorFlow 2 does it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence

from tensorkeep.arrays import Array
from tensorkeep.embedding.restore.finding_deltas import check_goes_over_model
from tensorkeep.embedding.stored.surveyed_checkpoints import SurveyedCheckpoint
from tensorkeep.errors import InvalidArgumentError, NotFoundError
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.messages.graph_def import import_graph
from tensorkeep.graph.rewriting.freezing import VariableNode, variables_of
from tensorkeep.graph.rewriting.pruning import extract_sub_graph, needed_nodes, source_of
from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.ops.files.checkpoint_access import CheckpointAccess
from tensorkeep.proto.messages import GraphDef, MetaGraphDef
from tensorkeep.runtime.plans.plan import make_plan
from tensorkeep.runtime.resources import VariableResource
from tensorkeep.runtime.session import Session
from tensorkeep.saved_model.files.layout import asset_files
from tensorkeep.saved_model.files.tensor_info import tensor_names
from tensorkeep.saved_model.load.signature import Run, SignatureSpec
from tensorkeep.saved_model.load.surroundings import ModelSurroundings, run_of_any_shapes
from tensorkeep.saved_model.load.table_fills import initial_operations


class GraphRunner:
    """The session of a model's graph, made, restored and initialized when it is first wanted."""

    def __init__(self, surroundings: ModelSurroundings) -> None:
        self._around = surroundings
        self._session: Session | None = None
        self._doubting: Session | None = None
        self._nodes: dict[str, VariableNode] | None = None

    def prepared_signature(self, spec: SignatureSpec) -> Run:
        """What computes the tensors of a signature's outputs from those of its inputs."""
        feeds = [name for names in spec.input_tensors.values() for name in names]
        fetches = [name for names in spec.output_tensors.values() for name in names]
        session = self._ready()
        fed, fetched = self._ends(session, feeds, fetches)
        run = session.make_callable(fetched, fed, checked=spec.flat_inputs, compiles=True)
        return lambda arrays: run(*arrays)

    def prepared_tensors(self, feeds: Sequence[str], fetches: Sequence[str]) -> Run:
        """What computes tensors from others, of any shapes; types are not checked."""
        session = self._ready()
        fed, fetched = self._ends(session, feeds, fetches)
        return run_of_any_shapes(fetched, fed, session, self._open_doubting)

    def _ends(
        self, session: Session, feeds: Sequence[str], fetches: Sequence[str]
    ) -> tuple[list[Tensor], list[Tensor]]:
        fed = [named_tensor(session.graph, name) for name in feeds]
        fetched = [named_tensor(session.graph, name) for name in fetches]
        self._check(fetched, (), fed)
        return fed, fetched

    def _open_doubting(self) -> Session:
        """A session that does not rely on the static shapes of the graph, for inputs of other shapes than the graph
        says.
        """
        with self._around.lock:
            if self._doubting is None:
                session = self._ready()
                self._doubting = self._around.open_session(session.graph, session.resources, trusts_shapes=False)
            return self._doubting

    @property
    def variables(self) -> Mapping[str, VariableNode]:
        """The variables of the graph, by name."""
        if self._nodes is None:
            self._nodes = {node.name: node for node in variables_of(self._around.meta_graph.graph_def)}
        return self._nodes

    def value(self, name: str) -> Array:
        """The value that a variable has now."""
        node = self.variables[name]
        found = self._ready().resources.find(node.container, node.resource_name)
        if not isinstance(found, VariableResource):
            raise NotFoundError(f'the variable "{name}" has no value: neither stored nor made by the initialization')
        return found.read()

    def places(self) -> dict[str, VariableResource]:
        """The places of the variables that have a value, by name."""
        resources = self._ready().resources
        found = {name: resources.find(node.container, node.resource_name) for name, node in self.variables.items()}
        return {name: item for name, item in found.items() if isinstance(item, VariableResource)}

    def apply_delta(self, path: PathLike) -> None:
        """Puts an incremental checkpoint over the variables and tables that the session has."""
        increments, stored = self._around.meta_graph.incr_saver_def, self._around.reader()
        if not increments.restore_op_name or stored is None:
            raise InvalidArgumentError(
                f'"{self._around.directory}" cannot take incremental checkpoints: it was exported without '
                "save_incr_model=True, which puts the operations for it into the graph"
            )
        prefix = check_goes_over_model(stored, path, self._around.fs)
        session = self._ready()
        # The caller names the checkpoint, so its folder may be read; nothing else may.
        with self._around.session_in(posixpath.dirname(prefix) or ".", session.graph, session.resources) as reading:
            self._run(reading, increments.restore_op_name, {increments.filename_tensor_name: prefix})

    def session(self) -> Session:
        """The session, with what restoring, initialization and the signatures need of the graph."""
        return self._ready()

    def whole_session(self) -> Session:
        """A session with all of the graph, also what nothing needs that the model names, and the same resources."""
        graph = Graph()
        meta_graph = self._around.meta_graph
        import_graph(meta_graph.graph_def, graph, name="", producer_op_list=meta_graph.meta_info_def.stripped_op_list)
        return self._around.open_session(graph, self._ready().resources)

    def _ready(self) -> Session:
        with self._around.lock:
            self._around.require_open()
            if self._session is None:
                self._session = self._open_session()
            return self._session

    def _open_session(self) -> Session:
        meta_graph = self._around.meta_graph
        graph = Graph()
        import_graph(
            needed_graph(meta_graph), graph, name="", producer_op_list=meta_graph.meta_info_def.stripped_op_list
        )
        session = self._around.open_session(graph, None)
        saver = meta_graph.saver_def
        prefix = self._around.variables_prefix
        variables = self._around.reader()
        if saver.restore_op_name and variables is not None:
            opened = SurveyedCheckpoint(variables)
            access = CheckpointAccess(
                open=lambda path: opened if path == prefix else None, checks_first=False, mapped=self._around.mapped
            )
            self._run(session, saver.restore_op_name, {saver.filename_tensor_name: prefix}, access)
        if inits := initial_operations(meta_graph):
            paths = {asset.tensor_info.name: self._around.asset_path(asset) for asset in asset_files(meta_graph)}
            for init in inits:
                self._run(session, init, paths)
        return session

    def _run(
        self, session: Session, operation: str, feeds: Mapping[str, str], access: CheckpointAccess | None = None
    ) -> None:
        op = session.graph.operation(operation.partition(":")[0])
        fed = {named_tensor(session.graph, name): value for name, value in feeds.items()}
        self._check((), (op,), tuple(fed))
        session.run(op, fed, checkpoints=access)

    def _check(self, fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Sequence[Tensor]) -> None:
        plan = make_plan(fetches, targets, feeds)
        self._around.library.check_operations(plan.ops, self._around.permissions)


def needed_graph(meta_graph: MetaGraphDef) -> GraphDef:
    """The part of a model's graph that restoring, initialization and the signatures need.

    It is the whole graph if that lacks one of the nodes they name, or has two of a name, so that whoever imports it or
    wants the node says what is wrong.
    """
    graph_def = meta_graph.graph_def
    wanted = {source_of(name) for name in _names_in_use(meta_graph)}
    names = {node.name for node in graph_def.node}
    if not wanted <= names or len(names) < len(graph_def.node):
        return graph_def
    kept = needed_nodes(graph_def, wanted)
    return graph_def if len(kept) == len(graph_def.node) else extract_sub_graph(graph_def, kept)


def _names_in_use(meta_graph: MetaGraphDef) -> Iterator[str]:
    """The tensors and operations that a model names, of those that are used here."""
    for saver in (meta_graph.saver_def, meta_graph.incr_saver_def):
        yield from (name for name in (saver.restore_op_name, saver.filename_tensor_name) if name)
    yield from initial_operations(meta_graph)
    for signature in meta_graph.signature_def.values():
        for info in (*signature.inputs.values(), *signature.outputs.values()):
            yield from filter(None, tensor_names(info))
    yield from (asset.tensor_info.name for asset in asset_files(meta_graph))


def named_tensor(graph: Graph, name: str) -> Tensor:
    """The tensor that a signature or asset names."""
    if not name:
        raise InvalidArgumentError("a signature or asset does not say which tensor of the graph it means")
    return graph.tensor(name if ":" in name else f"{name}:0")
