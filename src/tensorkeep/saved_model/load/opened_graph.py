"""Graphs that somebody else wrote, opened to be run: fed and fetched by name, restored, trained on, saved.

What a graph may do is as for a loaded SavedModel: compute, and what it is allowed by name. Where it has operations that
restore and save, they do so; they may then read or write the folder of the checkpoint, and nothing else.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final

import tensorkeep.ops.every  # noqa: F401 - a graph may use any op
from tensorkeep.arrays import Array
from tensorkeep.checkpoint.finding.file_names import meta_path
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.restore.items import RestoreOutcome
from tensorkeep.checkpoint.restore.wanted_tensors import OnMismatch, Policy
from tensorkeep.checkpoint.saving import save_checkpoint
from tensorkeep.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    UnimplementedError,
    WrongTypeError,
)
from tensorkeep.graph.graph import PLACEHOLDERS, Graph, Operation, Tensor
from tensorkeep.graph.messages.graph_def import import_graph
from tensorkeep.graph.registry.capabilities import Capability
from tensorkeep.graph.rewriting.freezing import variables_of
from tensorkeep.graph.rewriting.frozen_tables import tables_of
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import Durability, FileSystem, PathLike, path_text, prepare_directory
from tensorkeep.io.showing.amounts import amount_of, some_of
from tensorkeep.io.showing.html_tables import html_table
from tensorkeep.metagraph.files import write_meta_graph_file
from tensorkeep.proto.messages import MetaGraphDef, VariableDef, parse
from tensorkeep.runtime.limits import NO_LIMITS, Limits
from tensorkeep.runtime.partitions.engines import Engine
from tensorkeep.runtime.plans.plan import Plan, make_plan
from tensorkeep.runtime.resources import ResourceManager, VariableResource
from tensorkeep.runtime.session import Session
from tensorkeep.saved_model.load.engines import EngineName, engine_of
from tensorkeep.saved_model.load.function_library import FunctionLibrary
from tensorkeep.saved_model.load.graph_sources import FoundGraph, GraphSource, find_graph
from tensorkeep.saved_model.load.permissions import ModelFiles, Permissions
from tensorkeep.saved_model.load.tensor_values import TensorSpec
from tensorkeep.saving.named_restoring import restore_by_name
from tensorkeep.saving.retention import KeepAll
from tensorkeep.saving.saver import GraphFile, Saver, SaverOptions

_ASSIGNING: Final = frozenset(("Assign", "AssignVariableOp"))
_VARIABLES: Final = ("variables", "local_variables", "model_variables", "metric_variables")  # collections of variables
_TABLES: Final = "table_initializer"  # the collection of operations that fill tables
_SAVING: Final = frozenset(("Save", "SaveSlices", "SaveV2", "SaveV3", "MergeV2Checkpoints"))
_NEAR: Final = 3  # names that are offered for one that is not there
_LISTED: Final = 5


def open_graph(
    source: GraphSource,
    tags: Iterable[str] | str | None = None,
    *,
    allow: Iterable[Capability | str] = (),
    limits: Limits = NO_LIMITS,
    engine: EngineName = "numpy",
    fs: FileSystem = FILES,
) -> OpenedGraph:
    """A graph, ready to be run.

    `source` is a file with a graph (`.pb`, `.pbtxt`, `.meta`), the prefix of a checkpoint with a `.meta` beside it, a
    folder of checkpoints, for the latest, a SavedModel, of which `tags` choose the graph, or a `GraphDef`,
    `MetaGraphDef` or `Graph`. Nothing of it runs until it is asked for something, and its variables have no values
    until `restore` or `initialize` gives them some. `allow`, `limits` and `engine` are as for `load_saved_model`.
    """
    permissions = Permissions.of(allow)
    runs_by = engine_of(engine)
    return OpenedGraph(find_graph(source, tags, fs), permissions, limits, fs, runs_by)


class OpenedGraph:
    """A graph that is run by the names in it. Close it when done, best by `with`."""

    def __init__(
        self,
        found: FoundGraph,
        permissions: Permissions,
        limits: Limits,
        fs: FileSystem,
        engine: Engine | None = None,
    ) -> None:
        self._found = found
        self._engine = engine
        self._fs = fs
        self._limits = limits
        self._permissions = permissions
        self._meta_graph = found.meta_graph
        self._library = FunctionLibrary(found.meta_graph.graph_def)
        self._nodes = {node.name: node for node in variables_of(found.meta_graph.graph_def)}
        self.graph = found.graph if found.graph is not None else _imported_graph(found)
        """The graph itself."""
        self._resources = ResourceManager()
        self._session = self._session_in(found.directory, permissions)
        self._ready: set[tuple[tuple[Tensor, ...], tuple[Operation, ...], tuple[Tensor, ...]]] = set()
        self._saver: Saver | None = None

    # ----------------------------------------------------------------------------------------------- what there is

    @property
    def inputs(self) -> dict[str, TensorSpec]:
        """The placeholders: what can be fed, by name, with types and shapes."""
        holders = [op for op in self.graph.operations if op.type in PLACEHOLDERS]
        return {op.name: _spec(op.outputs[0]) for op in holders}

    @property
    def variables(self) -> dict[str, Array]:
        """Copies of the values that variables have now, by name. Those without a value are not among them."""
        return {name: place.read().copy() for name in self._nodes if (place := self._value(name)) is not None}

    @property
    def uninitialized(self) -> tuple[str, ...]:
        """The names of variables that have no value."""
        return tuple(name for name in self._nodes if self._value(name) is None)

    def _value(self, name: str) -> VariableResource | None:
        node = self._nodes[name]
        place = self._resources.find(node.container, node.resource_name)
        return place if isinstance(place, VariableResource) and place.is_initialized else None

    @property
    def where(self) -> str:
        """What the graph was opened from, for messages."""
        return self._found.where

    @property
    def meta_graph(self) -> MetaGraphDef:
        """The graph as a message, with all that was stored along with it. Not to be changed."""
        return self._meta_graph

    @property
    def checkpoint(self) -> str | None:
        """The prefix of the checkpoint that goes with it, if there is one."""
        return self._found.checkpoint

    @property
    def session(self) -> Session:
        """The session that runs it, which has the values of its variables."""
        return self._session

    # --------------------------------------------------------------------------------------------------- running

    def run(self, fetches: Any, feeds: Mapping[Any, Any] | None = None) -> Any:
        """Computes what is named, and gives it in the structure of names that was asked for: one, a list, a dict.

        "loss" is the output of the operation of that name, "split:1" one of several; of an operation without outputs,
        such as one that trains, the result is None. `feeds` has values by the names of placeholders, or of any tensors.
        """
        wanted = self._elements(fetches)
        if not isinstance(feeds, Mapping | None):
            raise WrongTypeError(f"feeds: expected a mapping from names to values, got {type(feeds).__name__}")
        fed = {self._fed_tensor(name): value for name, value in (feeds or {}).items()}
        self._prepare(list(_leaves(wanted)), tuple(fed))
        try:
            return self._session.run(wanted, fed)
        except FailedPreconditionError as error:
            if "uninitialized" in str(error) and self.uninitialized:
                raise self._without_values() from error
            raise

    def _without_values(self) -> FailedPreconditionError:
        names = self.uninitialized
        return FailedPreconditionError(
            f"{amount_of(len(names), 'variable')} of {self._found.where} without a value: {some_of(names, _LISTED)}. "
            "Restore a checkpoint, `restore(prefix)`, or begin with initial values, `initialize()`"
        )

    def _elements(self, fetches: Any) -> Any:
        """The same structure, with tensors and operations in the place of names."""
        if isinstance(fetches, str):
            return self._element(fetches)
        if isinstance(fetches, Mapping):
            return {key: self._elements(item) for key, item in fetches.items()}
        if isinstance(fetches, list | tuple):
            return [self._elements(item) for item in fetches]
        if isinstance(fetches, Tensor | Operation):
            return fetches
        raise WrongTypeError(f"what is fetched is named by text, in lists and dicts; got {type(fetches).__name__}")

    def _element(self, name: str) -> Tensor | Operation:
        """The tensor that a name means; of an operation without outputs, the operation."""
        op = self._operation(name)
        if ":" in name:
            return self._output(op, name)
        if len(op.outputs) > 1:
            listed = ", ".join(f'"{tensor.name}"' for tensor in op.outputs[:_LISTED])
            raise InvalidArgumentError(f'"{name}" has {len(op.outputs)} outputs: say which, {listed}')
        return op.outputs[0] if op.outputs else op

    def _operation(self, name: str) -> Operation:
        wanted = name.partition(":")[0]
        if wanted in self.graph:
            return self.graph.operation(wanted)
        near = get_close_matches(wanted, [op.name for op in self.graph.operations], _NEAR)
        near += [op.name for op in self.graph.operations if op.name.endswith(f"/{wanted}")][:_NEAR]
        meant = f"; did you mean {' or '.join(map(repr, dict.fromkeys(near)))}?" if near else ""
        raise NotFoundError(f'{self._found.where} has no operation "{wanted}"{meant}')

    def _output(self, op: Operation, name: str) -> Tensor:
        number = name.partition(":")[2]
        if not number.isdecimal() or int(number) >= len(op.outputs):
            raise NotFoundError(f'"{op.name}" ({op.type}) has {len(op.outputs)} outputs, and no "{name}"')
        return op.outputs[int(number)]

    def _fed_tensor(self, name: Any) -> Tensor:
        element = name if isinstance(name, Tensor) else self._element(name) if isinstance(name, str) else None
        if not isinstance(element, Tensor):
            raise InvalidArgumentError(
                f"{name!r} cannot be fed: values are given by the names of tensors. The placeholders are "
                f"{some_of(list(self.inputs), _LISTED) or 'none'}"
            )
        return element

    def _prepare(self, fetches: Sequence[Tensor | Operation], feeds: tuple[Tensor, ...]) -> None:
        """Raises before anything runs if something is to be fed, or not allowed. Looks at each plan once."""
        tensors = tuple(item for item in fetches if isinstance(item, Tensor))
        ops = tuple(item for item in fetches if isinstance(item, Operation))
        key = (tensors, ops, feeds)
        if key not in self._ready:
            plan = make_plan(tensors, ops, feeds)
            self._require_fed(plan)
            self._library.check_operations(plan.ops, self._permissions)
            self._ready.add(key)

    def _require_fed(self, plan: Plan) -> None:
        missing = [op for op in plan.ops if op.type in PLACEHOLDERS and op.outputs[0] not in plan.feeds]
        if missing:
            listed = ", ".join(f'"{op.name}" ({_spec(op.outputs[0])})' for op in missing)
            raise InvalidArgumentError(f"values have to be fed for {listed}")

    # --------------------------------------------------------------------------------------------- values

    def initialize(self) -> None:
        """Gives variables without a value their initial ones, and fills tables, by the graph's own operations."""
        initializers = self._initializers()
        lacking = self.uninitialized
        if unknown := [name for name in lacking if name not in initializers]:
            raise FailedPreconditionError(
                f"nothing in {self._found.where} gives {some_of(unknown, _LISTED)} an initial value. Restore a "
                "checkpoint, `restore(prefix)`"
            )
        started = {name for name in self._nodes if name not in lacking}
        ops = [op for name, op in initializers.items() if name not in started]
        tables = self._meta_graph.collection_def.get(_TABLES)
        ops += [self._operation(name) for name in (tables.node_list.value if tables is not None else ())]
        if ops:
            self._prepare(ops, ())
            self._session.run(ops)

    def _initializers(self) -> dict[str, Operation]:
        """The operation that gives each variable its initial value: the one it names, else the first that assigns."""
        named = {
            variable.variable_name.partition(":")[0]: self._operation(variable.initializer_name)
            for variable in self._described_variables()
            if variable.initializer_name.partition(":")[0] in self.graph
        }
        for op in self.graph.operations:
            if op.type in _ASSIGNING and op.inputs[0].op.name in self._nodes:
                named.setdefault(op.inputs[0].op.name, op)
        return named

    def _described_variables(self) -> Iterator[VariableDef]:
        for key in _VARIABLES:
            collection = self._meta_graph.collection_def.get(key)
            for data in collection.bytes_list.value if collection is not None else ():
                yield parse(VariableDef, data, f"{self._found.where}, collection {key}")

    def restore(
        self,
        checkpoint: PathLike | None = None,
        *,
        mapping: Mapping[str, str] | None = None,
        on_mismatch: Policy = OnMismatch.STRICT,
    ) -> RestoreOutcome:
        """Sets the variables to what a checkpoint holds, and says which were set: by default its own, if it has one.

        If something is missing or does not fit, one error says all of it, and nothing is changed; `on_mismatch` says
        what may be done about it, and `mapping` under which names the checkpoint has what the graph calls otherwise.
        """
        prefix = self._found.checkpoint if checkpoint is None else self._prefix(path_text(checkpoint))
        if prefix is None:
            raise InvalidArgumentError(f"no checkpoint goes with {self._found.where}: name the one to restore")
        saver = self._own_saver()
        if saver is None:
            self._require_no_tables()
            nodes = list(self._nodes.values())
            return restore_by_name(
                self._session, nodes, self._meta_graph, prefix, mapping=mapping, on_mismatch=on_mismatch, fs=self._fs
            )
        op, fed = saver.saver_def.restore_op_name, saver.saver_def.filename_tensor_name
        self._check_saver(op, fed, self._permissions)
        with self._session_in(posixpath.dirname(prefix) or ".", self._permissions) as session:
            return saver.restore(session, prefix, mapping=mapping, on_mismatch=on_mismatch)

    def _prefix(self, path: str) -> str:
        """The prefix of the checkpoint that a path stands for: that of a folder is the latest in it."""
        if not self._fs.is_directory(path):
            return path
        with open_checkpoint(path, fs=self._fs) as reader:
            return reader.path

    def save(self, prefix: PathLike) -> str:
        """Saves the variables as a checkpoint, with the graph beside it; gives its prefix. Deletes nothing."""
        path = path_text(prefix)
        folder = posixpath.dirname(path) or "."
        saver = self._own_saver()
        if saver is None:
            self._save_by_name(path)
            return path
        permissions = Permissions(self._permissions.allowed | _SAVING)
        self._check_saver(saver.saver_def.save_tensor_name, saver.saver_def.filename_tensor_name, permissions)
        prepare_directory(self._fs, folder, Durability.DISK)
        with self._session_in(folder, permissions, may_write=True) as session:
            try:
                saver.save(session, path, state_file=None, graph_file=GraphFile(is_written=False))
            except FailedPreconditionError as error:
                if "uninitialized" in str(error) and self.uninitialized:
                    raise self._without_values() from error
                raise
        write_meta_graph_file(self._meta_graph, meta_path(path), durability=Durability.DISK, fs=self._fs)
        return path

    def _save_by_name(self, path: str) -> None:
        self._require_no_tables()
        if not self._nodes:
            raise FailedPreconditionError(f"{self._found.where} has no variables to save")
        if self.uninitialized:
            raise self._without_values()
        save_checkpoint(path, self.variables, fs=self._fs)
        write_meta_graph_file(self._meta_graph, meta_path(path), durability=Durability.DISK, fs=self._fs)

    def _require_no_tables(self) -> None:
        """Raises if there are embedding variables, which do not go by name."""
        if tables := [node.name for node in tables_of(self._meta_graph.graph_def)]:
            raise UnimplementedError(
                f"{self._found.where} was stored without a saver, and the rows of its embedding variables "
                f"{some_of(tables, _LISTED)} can be restored and saved by one only. Open the .meta file"
            )

    def _own_saver(self) -> Saver | None:
        """The saver that the graph was stored with, if it is in it."""
        saver_def = self._meta_graph.saver_def
        names = (saver_def.restore_op_name, saver_def.save_tensor_name, saver_def.filename_tensor_name)
        if self._saver is None and all(name and name.partition(":")[0] in self.graph for name in names):
            self._saver = Saver(self.graph, saver_def, SaverOptions(retention=KeepAll()))
        return self._saver

    def _check_saver(self, name: str, fed: str, permissions: Permissions) -> None:
        """Raises if what saves or restores does more than that."""
        plan = make_plan((), (self._operation(name),), (self._output(self._operation(fed), _numbered_name(fed)),))
        self._library.check_operations(plan.ops, permissions)

    def _session_in(self, directory: str | None, permissions: Permissions, *, may_write: bool = False) -> Session:
        """A session with the graph's variables that reads the files of a directory, or also writes there."""
        files = permissions.files(self._fs, directory)
        files_of = permissions.files_of(self._fs, directory)
        if may_write:
            assert directory is not None
            shared = files = ModelFiles(self._fs, directory, may_write=True)
            files_of = lambda op: shared  # noqa: E731
        return Session(
            self.graph,
            resources=self._resources,
            filesystem=files,
            write_line=permissions.write_line,
            allowed=permissions.in_sessions,
            files_of=files_of,
            limits=self._limits,
            engine=self._engine,
        )

    # -------------------------------------------------------------------------------------------------- the end

    def close(self) -> None:
        """Gives the values of variables up. Nothing can be run any more."""
        self._session.close()
        self._resources.clear()

    def __enter__(self) -> OpenedGraph:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _repr_html_(self) -> str:
        """What a notebook shows: what can be fed, and the variables, with types and shapes."""
        fed = [("takes", name, spec) for name, spec in self.inputs.items()]
        kept = [("variable", name, TensorSpec(node.dtype, node.shape, name)) for name, node in self._nodes.items()]
        caption = f"OpenedGraph {self.where}: {amount_of(len(self.graph.operations), 'operation')}"
        return html_table(caption, ("", "name", "type and shape"), [*fed, *kept], len(fed) + len(kept))

    def __repr__(self) -> str:
        counts = f"{len(self.graph.operations)} operations, {len(self._nodes)} variables"
        return f"<OpenedGraph {self._found.where}: {counts}>"


def _imported_graph(found: FoundGraph) -> Graph:
    graph, proto = Graph(), found.meta_graph
    ops = proto.meta_info_def.stripped_op_list if proto.meta_info_def.HasField("stripped_op_list") else None
    import_graph(proto.graph_def, graph, name="", producer_op_list=ops)
    return graph


def _spec(tensor: Tensor) -> TensorSpec:
    return TensorSpec(tensor.dtype.base_dtype, tensor.static_shape, tensor.name)


def _numbered_name(name: str) -> str:
    return name if ":" in name else f"{name}:0"


def _leaves(structure: Any) -> Iterator[Tensor | Operation]:
    if isinstance(structure, Tensor | Operation):
        yield structure
    else:
        for item in structure.values() if isinstance(structure, dict) else structure:
            yield from _leaves(item)
