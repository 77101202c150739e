"""A scaffold: the operations around a model that a training session needs, given by a program or made for it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn

import numpy as np

from tensorkeep.dtypes import STRING
from tensorkeep.errors import FailedPreconditionError, WrongTypeError
from tensorkeep.graph.arguments import Feeds, Fetches, emit
from tensorkeep.graph.building import current_graph, device, name_scope
from tensorkeep.graph.collections import GraphKeys, add_to_collection, get_collection
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.tf1.functions.arrays.shapes import concat, stack
from tensorkeep.tf1.functions.arrays.slicing import boolean_mask
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.grouping import group, no_op
from tensorkeep.tf1.functions.data.lookup_tables import tables_initializer
from tensorkeep.tf1.functions.data.summaries import merge_all
from tensorkeep.tf1.training.loops.roles import GraphSaver, TrainingSession
from tensorkeep.tf1.training.loops.session_manager import SAVED_MODEL_INITIALIZERS
from tensorkeep.tf1.variables.listing import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)

LOG: Final = logging.getLogger("tensorkeep")


def no_saver(**options: object) -> NoReturn:
    """Refuses to make a saver: the core has no graph to add its operations to unless it is told which."""
    raise FailedPreconditionError(
        f"no saver is given, and the collection {GraphKeys.SAVERS} of the graph has none: give one (saver=...)"
    )


class Scaffold:
    """What initializes a model, says whether it is ready, summarizes and saves it.

    What is not given is taken from the graph's collections by `finalize`, or else made and put there.
    """

    new_saver: Callable[..., GraphSaver] = staticmethod(no_saver)

    def __init__(
        self,
        init_op: Fetches = None,
        init_feed_dict: Feeds | None = None,
        init_fn: Callable[[Scaffold, TrainingSession], None] | None = None,
        ready_op: Fetches = None,
        ready_for_local_init_op: Fetches = None,
        local_init_op: Fetches = None,
        summary_op: Fetches = None,
        saver: GraphSaver | None = None,
        copy_from_scaffold: Scaffold | None = None,
        local_init_feed_dict: Feeds | None = None,
        *,
        incremental_save_restore: bool = False,
    ) -> None:
        if copy_from_scaffold is not None and not isinstance(copy_from_scaffold, Scaffold):
            raise WrongTypeError("copy_from_scaffold is not a Scaffold instance.")

        def given(value: Any, name: str) -> Any:
            return getattr(copy_from_scaffold, name, None) if value is None else value

        self._user_init_fn = given(init_fn, "_user_init_fn")
        self._init_op: Fetches = given(init_op, "init_op")
        self._init_feed_dict: Feeds | None = given(init_feed_dict, "init_feed_dict")
        self._ready_op: Fetches = given(ready_op, "ready_op")
        self._ready_for_local_init_op: Fetches = given(ready_for_local_init_op, "ready_for_local_init_op")
        self._local_init_op: Fetches = given(local_init_op, "local_init_op")
        self._local_init_feed_dict: Feeds | None = given(local_init_feed_dict, "local_init_feed_dict")
        self._summary_op: Fetches = given(summary_op, "summary_op")
        self._saver: GraphSaver | None = given(saver, "saver")
        self.incremental_save_restore = incremental_save_restore
        """Whether the saver that is made if none is given saves incrementally, too."""

    def finalize(self) -> Scaffold:
        """Makes what is missing in the graph being built, and lets nothing more be added to that."""
        either = self.get_or_default
        if self._init_op is None:
            self._init_op = either("init_op", GraphKeys.INIT_OP, _init_op)
        if self._ready_op is None:
            self._ready_op = either("ready_op", GraphKeys.READY_OP, _ready_op)
        if self._ready_for_local_init_op is None:
            self._ready_for_local_init_op = either(
                "ready_for_local_init_op", GraphKeys.READY_FOR_LOCAL_INIT_OP, _ready_for_local_init_op
            )
        if self._local_init_op is None:
            self._local_init_op = either("local_init_op", GraphKeys.LOCAL_INIT_OP, self.default_local_init_op)
        if self._summary_op is None:
            self._summary_op = either("summary_op", GraphKeys.SUMMARY_OP, merge_all)
        if self._saver is None:
            self._saver = self._saver_or_default()
        self._saver.build()
        current_graph().finalize()
        LOG.info("Graph was finalized.")
        return self

    def _saver_or_default(self) -> GraphSaver:
        savers = get_collection(current_graph(), GraphKeys.SAVERS)
        if len(savers) > 1:
            raise FailedPreconditionError(
                f"More than one item in collection {GraphKeys.SAVERS}. Please indicate which one to use by passing it "
                "to the constructor."
            )
        if savers:
            saver: GraphSaver = savers[0]
            return saver
        extra = {"incremental_save_restore": True} if self.incremental_save_restore else {}
        saver = self.new_saver(sharded=True, allow_empty=True, **extra)
        add_to_collection(current_graph(), GraphKeys.SAVERS, saver)
        return saver

    @property
    def init_fn(self) -> Callable[[TrainingSession], None] | None:
        """A function of the session, to be called after `init_op` was run."""
        function = self._user_init_fn
        return (lambda sess: function(self, sess)) if function else None

    @property
    def init_op(self) -> Fetches:
        return self._init_op

    @property
    def init_feed_dict(self) -> Feeds | None:
        return self._init_feed_dict

    @property
    def ready_op(self) -> Fetches:
        return self._ready_op

    @property
    def ready_for_local_init_op(self) -> Fetches:
        return self._ready_for_local_init_op

    @property
    def local_init_op(self) -> Fetches:
        return self._local_init_op

    @property
    def local_init_feed_dict(self) -> Feeds | None:
        return self._local_init_feed_dict

    @property
    def summary_op(self) -> Fetches:
        return self._summary_op

    @property
    def saver(self) -> GraphSaver | None:
        return self._saver

    @staticmethod
    def get_or_default(arg_name: str, collection_key: str, default_constructor: Callable[[], Fetches]) -> Fetches:
        """The one item of a collection of the graph being built; where there is none, one made and put there."""
        graph = current_graph()
        found = get_collection(graph, collection_key)
        if len(found) > 1:
            raise FailedPreconditionError(
                f'More than one item in the collection "{collection_key}". Please indicate which one to use by '
                f"passing it to the tf.Scaffold constructor as:  tf.Scaffold({arg_name}=item to use)"
            )
        if found:
            listed: Fetches = found[0]
            return listed
        made = default_constructor()
        if made is not None:
            add_to_collection(graph, collection_key, made)
        return made

    @staticmethod
    def default_local_init_op() -> Operation:
        """Initializes what is not saved: local variables, tables, local resources."""
        return group(local_variables_initializer(), tables_initializer(), initialize_resources(local_resources()))


def _init_op() -> Operation:
    return group(
        global_variables_initializer(),
        initialize_resources(shared_resources()),
        get_collection(current_graph(), SAVED_MODEL_INITIALIZERS),
    )


def _ready_op() -> Tensor:
    return concat([report_uninitialized_variables(), report_uninitialized_resources()], 0)


def _ready_for_local_init_op() -> Tensor:
    variables = report_uninitialized_variables(global_variables())
    return concat([variables, report_uninitialized_resources(shared_resources())], 0)


def shared_resources() -> list[Any]:
    return get_collection(current_graph(), GraphKeys.RESOURCES)


def local_resources() -> list[Any]:
    return get_collection(current_graph(), GraphKeys.LOCAL_RESOURCES)


def initialize_resources(resources: Sequence[Any], name: str = "init") -> Operation:
    """An operation that makes all of these; each has `handle`, `create` and `is_initialized`."""
    if resources:
        return group(*[resource.create for resource in resources], name=name)
    return no_op(name=name)


def report_uninitialized_resources(
    resources: Sequence[Any] | None = None, name: str = "report_uninitialized_resources"
) -> Tensor:
    """The names of the resources that are not there yet, found when run."""
    found = shared_resources() + local_resources() if resources is None else resources
    with name_scope(name), device("/cpu:0"):
        if not found:
            return constant(np.empty(0, object), STRING)
        without = emit("LogicalNot", stack([resource.is_initialized for resource in found]))
        return boolean_mask(constant([resource.handle.name for resource in found]), without)
