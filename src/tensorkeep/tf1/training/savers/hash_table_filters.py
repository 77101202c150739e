"""Dropping keys of hash tables that are not worth keeping: DeepRec's hash_table/hash_filter.py.

A filter is a hook of lookups, in a `with` block. It adds operations to two collections of the graph: those that note,
in each step, what it will have to know, and those that drop keys. `HashFilterHook` has a session run both.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final

from tensorkeep.dtypes import INT64
from tensorkeep.errors import UnimplementedError
from tensorkeep.graph.arguments import SessionLike, emit, emit_operation
from tensorkeep.graph.building import current_graph, name_scope
from tensorkeep.graph.collections import add_to_collection, get_collection
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.function_graph import trace_function
from tensorkeep.graph.functions import function_def, numbered_name
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.messages.attrs import FunctionRef
from tensorkeep.tf1.functions.arrays.shapes import fill, identity, placeholder, reshape
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.control.grouping import group
from tensorkeep.tf1.functions.numbers.elementwise import cast, square
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum
from tensorkeep.tf1.training.loops.coordinator import Coordinator
from tensorkeep.tf1.training.loops.hooks import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from tensorkeep.tf1.training.loops.roles import TrainingSession
from tensorkeep.tf1.variables.global_step import get_or_create_global_step
from tensorkeep.tf1.variables.hash_tables.lookup import EmbeddingLookupContext, EmbeddingLookupHook
from tensorkeep.tf1.variables.hash_tables.table import HashTable
from tensorkeep.tf1.variables.initializers import Zeros

LOG: Final = logging.getLogger("tensorkeep")

_CHECKS: Final = "checks of filters of hash tables"  # in `graph.extras`
_STEP_SLOT: Final = "update_step"

Check = tuple[list[Any], Callable[..., Any]]
"""Tensors, and a function of their values that says whether all is as a filter leaves it."""


class HashFilterBase(EmbeddingLookupHook):
    """A filter: a class to derive from, with `update` and `filter`. `block_size` keys are looked at together."""

    UPDATE_OPS_COLLECTION_KEY: ClassVar = "_hash_filter_update_ops"
    FILTER_OPS_COLLECTION_KEY: ClassVar = "_hash_filter_filter_ops"

    def __init__(self, block_size: int = 1024 * 1024, parallel_num: int = 4) -> None:
        self._block_size = block_size
        self._hash_table: HashTable | None = None
        self._filtered: set[HashTable] = set()

    @property
    def table(self) -> HashTable:
        """The part of a table that `update`, `filter` and `check` are asked about."""
        assert self._hash_table is not None
        return self._hash_table

    def on_embedding_lookup(self, ctx: EmbeddingLookupContext) -> None:
        graph = current_graph()
        updates: list[Any] = []
        filters: list[Operation] = []
        for part, keys, ids in zip(ctx.partitions(), ctx.partitioned_keys(), ctx.ids(), strict=True):
            self._hash_table = part
            noted = self.update(keys, ids)
            updates += noted if isinstance(noted, list | tuple) else [noted]
            if part not in self._filtered:
                filters.append(self._filtering(part))
                self._filtered.add(part)
                graph.extras.setdefault(_CHECKS, []).append((part.name, self.check(*part.snapshot)))
        add_to_collection(graph, self.UPDATE_OPS_COLLECTION_KEY, group(*updates, name="hash_filter_update_op"))
        add_to_collection(graph, self.FILTER_OPS_COLLECTION_KEY, group(*filters, name="hash_filter_filter_op"))

    def _filtering(self, part: HashTable) -> Operation:
        graph = current_graph()
        arguments: list[Tensor] = []

        def build() -> Tensor:
            arguments.extend(placeholder(INT64, [None], name=name) for name in ("keys", "ids"))
            return self.filter(*arguments)

        body, mask = trace_function(build, graph)
        name = numbered_name("hash_table_filter", graph.functions)
        graph.functions[name] = function_def(name, body, [*arguments, *body.captured.values()], [mask])
        inputs = (part.hash_table.handle, list(body.captured))
        return emit_operation("HashTableFilterOp", *inputs, f=FunctionRef(name), block_size=self._block_size)

    def update(self, keys: Tensor, ids: Tensor) -> Operation | Sequence[Operation]:
        """Operations that note what `filter` will have to know of keys that are looked up."""
        raise UnimplementedError(f"{type(self).__name__} has no method `update`")

    def filter(self, keys: Tensor, ids: Tensor) -> Tensor:
        """For each key whether it is to be dropped."""
        raise UnimplementedError(f"{type(self).__name__} has no method `filter`")

    def check(self, keys: Tensor, ids: Tensor) -> Check:
        """How to see that nothing is left to be dropped."""
        return [], lambda: True


def update_op(graph: Graph | None = None) -> list[Any]:
    """The operations that filters have run with each step."""
    return get_collection(graph or current_graph(), HashFilterBase.UPDATE_OPS_COLLECTION_KEY)


def filter_op(graph: Graph | None = None) -> list[Any]:
    """The operations that drop keys."""
    return get_collection(graph or current_graph(), HashFilterBase.FILTER_OPS_COLLECTION_KEY)


class GlobalStepFilter(HashFilterBase):
    """Drops keys that have not been looked up for so many steps.

    When each was is a slot of the table. It is stored as "update_step", as in DeepRec, where that of a second table
    would be mixed up with it; here that is stored below the name of its table.
    """

    def __init__(self, filter_interval_steps: int) -> None:
        super().__init__()
        self._interval = filter_interval_steps
        self._global_step = get_or_create_global_step()

    def _step(self) -> Tensor:
        step: Tensor = cast(identity(self._global_step), INT64)
        return step

    def _slot(self) -> HashTable:
        table = self.table
        below = f"{table.distributed_name}/slots/{_STEP_SLOT}"
        names: dict[str, str] = table.graph.extras.setdefault(_STEP_SLOT, {})
        owner = names.setdefault(_STEP_SLOT, table.distributed_name)
        stored = _STEP_SLOT if owner == table.distributed_name else below
        return table.get_or_create_slot([1], INT64, stored, initializer=Zeros(dtype=INT64))

    def update(self, keys: Tensor, ids: Tensor) -> Operation | Sequence[Operation]:
        steps = reshape(fill(shape_of(ids), self._step()), [-1, 1])
        return self._slot().scatter_by_id("Update", reshape(ids, [-1]), steps)

    def _rest(self, ids: Tensor) -> Tensor:
        """How many steps ago ids were looked up."""
        steps: Tensor = reshape(self._step() - 1 - self._slot().lookup_by_id(ids), [-1])
        return steps

    def filter(self, keys: Tensor, ids: Tensor) -> Tensor:
        return self._rest(ids) >= convert(self._interval, INT64)

    def check(self, keys: Tensor, ids: Tensor) -> Check:
        return [self._rest(ids)], lambda rest: bool((rest < self._interval).all())


class L2WeightFilter(HashFilterBase):
    """Drops keys whose rows are small: the sum of squares, halved, is below a threshold."""

    def __init__(self, threshold: float) -> None:
        super().__init__()
        self._threshold = threshold

    def update(self, keys: Tensor, ids: Tensor) -> Operation | Sequence[Operation]:
        return []

    def _weights(self, ids: Tensor) -> Tensor:
        rows = reshape(self.table.lookup_by_id(ids), [-1, self.table.shape.num_elements()])
        found: Tensor = reduce_sum(square(rows) * 0.5, axis=1)
        return found

    def filter(self, keys: Tensor, ids: Tensor) -> Tensor:
        return self._weights(ids) < self._threshold

    def check(self, keys: Tensor, ids: Tensor) -> Check:
        return [self._weights(ids)], lambda weights: bool((weights >= self._threshold).all())


class HashFilterHook(SessionRunHook):
    """Has a session note what filters need with each run, and the chief drop keys: every so many steps, at the end."""

    def __init__(self, is_chief: bool, interval: int | None = None, run_at_session_close: bool | None = None) -> None:
        self._global_step = get_or_create_global_step()
        self._interval = interval
        self._runs_at_close = run_at_session_close
        self._is_chief = is_chief
        self._last_step = 0
        self._updates: list[Any] = []
        self._filters: list[Any] = []

    def after_create_session(self, session: TrainingSession, coord: Coordinator) -> None:
        self._updates, self._filters = update_op(session.graph), filter_op(session.graph)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        steps = [self._global_step] if self._interval else []
        return SessionRunArgs([*steps, *self._updates])

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if not self._is_chief or not self._interval:
            return
        step = int(run_values.results[0])
        if step - self._last_step >= self._interval:
            run_context.session.run(self._filters)
            self._last_step = step

    def end(self, session: TrainingSession) -> None:
        if self._runs_at_close and self._is_chief:
            session.run(self._filters)


def filter_once(sess: SessionLike) -> None:
    """Has all filters of a session's graph drop keys now."""
    _innermost(sess).run(filter_op(sess.graph))


def check(sess: SessionLike, verbose: bool = True) -> bool:
    """Whether no table of a session has keys that a filter would drop; the log is told of each."""
    checks: Sequence[tuple[str, Check]] = sess.graph.extras.get(_CHECKS, [])
    is_right = True
    for name, (tensors, holds) in checks:
        values = _innermost(sess).run(tensors)
        if not holds(*values):
            LOG.warning("HashTable[%s] HashFilter PostCheck Failed: %s", name, values)
            is_right = False
        elif verbose:
            LOG.info("HashTable[%s] HashFilter PostCheck: %s", name, values)
    return is_right


def _innermost(sess: SessionLike) -> SessionLike:
    """The session that runs without hooks."""
    inner: SessionLike = sess._tf_sess() if hasattr(sess, "_tf_sess") else sess
    return inner


class BlackListAdmit(EmbeddingLookupHook):
    """Lets in all keys but those on lists, which `tf.raw_ops.InitBlackList` fills. There is one for each part."""

    def __init__(self) -> None:
        self.admit: dict[HashTable, Tensor] = {}

    def get_admit_strategy(self, ht: HashTable) -> Tensor:
        if ht not in self.admit:
            with name_scope("black_list"):
                self.admit[ht] = emit("BlackListHashTableAdmitStrategyOp")
        return self.admit[ht]
