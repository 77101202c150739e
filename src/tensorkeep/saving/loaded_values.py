"""The values that loading a model gives its variables and tables, read from its checkpoint: nothing of the model runs.

loaded = LoadedValues(graph_def, op_list)
loaded.restore(saver_def, reader)
loaded.initialize(["init"], {"path:0": "assets/words.txt"})
loaded.values(variables)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    ResourceExhaustedError,
    TensorKeepError,
)
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.graph.messages.graph_def import import_graph
from tensorkeep.graph.registry.opspec import flatten, group, kernel_of, keyword_names
from tensorkeep.graph.rewriting.freezing import VariableNode
from tensorkeep.graph.rewriting.frozen_tables import TableNode, TableRows
from tensorkeep.ops.files.checkpoints import SliceSpec, checked_info
from tensorkeep.proto.messages import GraphDef, OpList, SaverDef
from tensorkeep.saving.embedding_loads import EmbeddingLoads
from tensorkeep.saving.following import (
    EMBEDDING_LOADS,
    PATH,
    Arranged,
    Fed,
    Followed,
    Handle,
    Known,
    Step,
    Stored,
    Unknown,
    Value,
)
from tensorkeep.shapes import Shape

_REMEDY = (
    "Nothing of a model runs to freeze it. If you trust the model, have its restore and init operations run "
    "(--run-initializers, FreezeOptions(run_initializers=True)), or keep these as variables"
)


class LoadedValues:
    """What restoring and initializing a graph sets variables and tables to."""

    def __init__(self, graph_def: GraphDef, op_list: OpList | None = None) -> None:
        graph = Graph()
        import_graph(graph_def, graph, name="", producer_op_list=op_list)
        self._graph = graph
        self._followed = Followed(graph)
        self._reader: CheckpointReader | None = None

    def restore(self, saver_def: SaverDef, reader: CheckpointReader) -> None:
        """Takes in what the restore operation of a saver reads from a checkpoint, which stays open for as long."""
        self._reader = reader
        path = require_saver(self._graph, saver_def)
        self._followed.follow([self._graph.operation(saver_def.restore_op_name.partition(":")[0])], {path: PATH})

    def initialize(self, operations: Sequence[str], feeds: Mapping[str, str] | None = None) -> None:
        """Takes in what operations do that run after restoring, with some tensors fed."""
        given: dict[Tensor, Value] = {self._tensor(name): Fed(text) for name, text in (feeds or {}).items()}
        self._followed.follow([self._graph.operation(name.partition(":")[0]) for name in operations], given)

    def _tensor(self, name: str) -> Tensor:
        return self._graph.tensor(name if ":" in name else f"{name}:0")

    def values(self, variables: Sequence[VariableNode]) -> dict[str, Array]:
        """The values of variables. FailedPreconditionError, with all names, if some have none or only running tells."""
        lacking: list[str] = []
        unknown: list[str] = []
        last: dict[str, Step] = {}
        for variable in variables:
            steps = self._followed.steps.get(Handle(variable.container, variable.resource_name), [])
            if not steps:
                lacking.append(variable.name)
            elif (reason := steps[-1].unknown) is not None:
                unknown.append(f'"{variable.name}" by {reason}')
            else:
                last[variable.name] = steps[-1]
        _require_known(lacking, unknown)
        return {item.name: self._fitting(item, last[item.name].values[0]) for item in variables}

    def known(self, variables: Sequence[VariableNode]) -> list[VariableNode]:
        """Those variables whose values after loading can be told without running the graph."""
        steps = (self._followed.steps.get(Handle(item.container, item.resource_name)) for item in variables)
        return [item for item, done in zip(variables, steps, strict=True) if done and done[-1].unknown is None]

    def table(self, name: str) -> tuple[Array, Array]:
        """The keys and values that a table which can be changed holds; `name` is that of its node."""
        handle, free = self._table_handle(name)
        steps = self._followed.steps.get(handle, [])
        if (reason := next((step.unknown for step in steps if step.unknown), None)) is not None:
            _require_known([], [f'the table "{name}" by {reason}'])
        held: dict[Any, tuple[Any, Any]] = {}
        for step in steps:
            keys, values = self._key_value_rows(name, free, step)
            if step.op.type.startswith("LookupTableImport"):
                held.clear()
            held.update((_hashable(key), (key, value)) for key, value in zip(keys, values, strict=True))
        unused = {_hashable(key) for key in free}
        return _columns(self._graph, name, [pair for key, pair in held.items() if key not in unused])

    def tables(self, nodes: Sequence[TableNode]) -> dict[str, TableRows]:
        """What embedding variables hold. Only what loads their rows is done, in a session that may but read."""
        found: dict[str, TableRows] = {}
        for node in nodes:
            handle = Handle(node.container, node.resource_name)
            steps = [step for step in self._followed.steps.get(handle, ()) if step.op.type in EMBEDDING_LOADS]
            if not steps:
                _require_known([node.name], [])
            if changed := [step for step in self._followed.steps[handle] if step not in steps]:
                _require_known([], [f'"{node.name}" by {step.unknown}' for step in changed])
            found[node.name] = EmbeddingLoads(self._followed, self._evaluate_value, self._reader).rows(handle, steps)
        return found

    # ------------------------------------------------------------------------------------------------ one value

    def _key_value_rows(self, name: str, free: Sequence[Array], step: Step) -> tuple[Array, Array]:
        """What a step puts into a table. A dense table stores keys and values as matrices, whatever their shapes."""
        keys, values = (np.asarray(self._evaluate_value(value)) for value in step.values)
        if not free:
            return keys, values
        return keys.reshape(-1, *free[0].shape), values.reshape(-1, *_value_sizes(self._graph, name))

    def _table_handle(self, name: str) -> tuple[Handle, list[Array]]:
        op = self._graph.operation(name)
        texts = [(op.attr(key) or b"").decode("utf-8", "replace") for key in ("container", "shared_name")]
        handle = Handle(texts[0], texts[1] or name)
        free = self._followed.free_keys.get(handle, ())
        return handle, [np.asarray(self._evaluate_value(value)) for value in free]

    def _fitting(self, variable: VariableNode, value: Value) -> Array:
        array = self._evaluate_value(value)
        if not variable.shape.is_compatible(Shape(np.shape(array))):
            raise InvalidArgumentError(
                f'the variable "{variable.name}" has the shape {variable.shape}, and what it is set to has '
                f"{list(np.shape(array))}"
            )
        return array

    def _evaluate_value(self, value: Value) -> Array:
        if isinstance(value, Known):
            return _constant(value)
        if isinstance(value, Stored):
            return self._read_stored(value)
        if isinstance(value, Arranged):
            return self._arrange_inputs(value)
        if isinstance(value, Fed):
            return np.array(value.text.encode(), object)
        if isinstance(value, Unknown):
            _require_known([], [value.reason])
        raise InvalidArgumentError(f"a variable is set to what is no value: {value}")

    def _read_stored(self, value: Stored) -> Array:
        assert self._reader is not None
        key = _text(self._evaluate_value(value.key), value.index)
        text = "" if value.spec is None else _text(self._evaluate_value(value.spec), value.index)
        spec = SliceSpec.parse(text)
        checked_info(self._reader, key, value.dtype, spec)
        return self._reader.read(key) if spec is None else self._reader.read(key, spec.part)

    def _arrange_inputs(self, value: Arranged) -> Array:
        op = value.op
        arrays: list[Any] = [self._evaluate_value(item) for item in value.inputs]
        kernel = kernel_of(op.spec)
        arguments = group(op.spec.schema.inputs, arrays, op.attr) if op.spec.has_list_inputs else arrays
        try:
            results = kernel(*arguments, **{name: op.attr(name) for name in keyword_names(kernel)})
        except TensorKeepError:
            raise
        except MemoryError as error:
            raise ResourceExhaustedError(f'no memory is left for "{op.name}" ({op.type}): {error}') from error
        except (ValueError, TypeError) as error:
            raise InvalidArgumentError(f'"{op.name}" ({op.type}): {error}') from error
        found: Array = np.asarray(flatten(results)[value.index])
        return found


def require_saver(graph: Graph, saver_def: SaverDef) -> Tensor:
    """The tensor that a saver takes its path from. NotFoundError if the graph does not have what the saver names."""
    names = (saver_def.filename_tensor_name, saver_def.restore_op_name)
    missing = [name for name in names if name.partition(":")[0] not in graph]
    if missing:
        raise NotFoundError(
            f"the saver restores by {' and '.join(map(repr, missing))}, which the graph does not have. Give the graph "
            "that the saver belongs to, or no saver"
        )
    path = saver_def.filename_tensor_name
    return graph.tensor(path if ":" in path else f"{path}:0")


def _require_known(lacking: Sequence[str], unknown: Sequence[str]) -> None:
    if unknown:
        raise FailedPreconditionError(
            f"what the model sets variables to is not known without running it: {', '.join(unknown)}. {_REMEDY}"
        )
    if lacking:
        raise FailedPreconditionError(
            f"Attempting to use uninitialized value {', '.join(lacking)}. Initialize or restore all variables that the "
            "outputs depend on, or keep those out of the frozen graph"
        )


def _constant(value: Known) -> Array:
    found = constant_value(value.tensor)
    if found is None:
        raise InvalidArgumentError(f'the constant "{value.tensor.op.name}" cannot be read')
    return np.asarray(found)


def _text(array: Array, index: int) -> str:
    items = np.asarray(array).reshape(-1)
    if not 0 <= index < items.size:
        raise InvalidArgumentError(f"a restore operation names {items.size} tensors and gives at least {index + 1}")
    found: bytes = items[index]
    return found.decode()


def _hashable(key: Any) -> Any:
    array = np.asarray(key)
    return array.item() if array.ndim == 0 else tuple(array.reshape(-1).tolist())


def _columns(graph: Graph, name: str, pairs: Sequence[tuple[Any, Any]]) -> tuple[Array, Array]:
    """Keys and values as two arrays, of the types and shapes that the table has, also if there are none."""
    op = graph.operation(name)
    types = [op.attr("key_dtype").array_dtype, op.attr("value_dtype").array_dtype]
    if pairs:
        return tuple(np.array([pair[i] for pair in pairs], types[i]) for i in (0, 1))  # type: ignore[return-value]
    return np.empty((0,), types[0]), np.empty((0, *_value_sizes(graph, name)), types[1])


def _value_sizes(graph: Graph, name: str) -> tuple[int, ...]:
    shape = graph.operation(name).attr("value_shape")
    return () if shape is None else tuple(size or 0 for size in shape.dims or ())
