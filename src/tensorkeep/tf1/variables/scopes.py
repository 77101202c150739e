"""Variable scopes and get_variable, as programs use them.

    with variable_scope("layer", reuse=AUTO_REUSE):
        weights = get_variable("weights", [3, 4])       # "layer/weights", made the first time, found afterwards

A variable scope also opens a name scope, whose name is made unique: entered again, the variables' names are the same
and those of other operations are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from tensorkeep.dtypes import BFLOAT16, FLOAT32, DType
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import DeviceLike, DTypeLike, ShapeLike
from tensorkeep.graph.building import building, current_graph, graph_of, name_scope
from tensorkeep.graph.collections import GraphKeys
from tensorkeep.graph.graph import Graph
from tensorkeep.tf1.functions.numbers.elementwise import cast
from tensorkeep.tf1.variables.modes import AUTO_REUSE, VariableAggregation, VariableSynchronization
from tensorkeep.tf1.variables.options import (
    AggregationLike,
    CollectionNames,
    Constraint,
    CustomGetter,
    InitializerLike,
    Partitioner,
    Regularizer,
    Reuse,
    SynchronizationLike,
    VariableOptions,
)
from tensorkeep.tf1.variables.partitioned import PartitionedVariable
from tensorkeep.tf1.variables.regularizers import no_regularizer
from tensorkeep.tf1.variables.scope import (
    VariableScope,
    full_name,
    get_variable_scope,
    get_with_options,
    variable_creator_scope,
    variable_state,
    with_defaults,
)
from tensorkeep.tf1.variables.store import variable_store
from tensorkeep.tf1.variables.variable import Variable


def get_variable(
    name: str,
    shape: ShapeLike = None,
    dtype: DTypeLike | None = None,
    initializer: InitializerLike = None,
    regularizer: Regularizer | None = None,
    trainable: bool | None = None,
    collections: CollectionNames | None = None,
    caching_device: DeviceLike = None,
    partitioner: Partitioner | None = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: CustomGetter | None = None,
    constraint: Constraint | None = None,
    synchronization: SynchronizationLike = VariableSynchronization.AUTO,
    aggregation: AggregationLike = VariableAggregation.NONE,
) -> Variable | PartitionedVariable:
    """The variable of that name in the current scope, found or made as the scope says."""
    options = VariableOptions(
        shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer, trainable=trainable,
        collections=collections, caching_device=caching_device, partitioner=partitioner, validate_shape=validate_shape,
        use_resource=use_resource, constraint=constraint, synchronization=synchronization, aggregation=aggregation,
    )  # fmt: skip
    return get_with_options(get_variable_scope(), variable_store(), name, options, custom_getter)


def get_local_variable(
    name: str,
    shape: ShapeLike = None,
    dtype: DTypeLike | None = None,
    initializer: InitializerLike = None,
    regularizer: Regularizer | None = None,
    trainable: bool | None = False,
    collections: CollectionNames | None = None,
    caching_device: DeviceLike = None,
    partitioner: Partitioner | None = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: CustomGetter | None = None,
    constraint: Constraint | None = None,
    synchronization: SynchronizationLike = VariableSynchronization.AUTO,
    aggregation: AggregationLike = VariableAggregation.NONE,
) -> Variable | PartitionedVariable:
    """`get_variable` for a variable that is neither saved nor trained."""
    collections = [*(collections or ()), GraphKeys.LOCAL_VARIABLES]
    options = VariableOptions(
        shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer, trainable=False,
        collections=collections, caching_device=caching_device, partitioner=partitioner, validate_shape=validate_shape,
        use_resource=use_resource, constraint=constraint, synchronization=synchronization, aggregation=aggregation,
    )  # fmt: skip
    return get_with_options(get_variable_scope(), variable_store(), name, options, custom_getter)


@dataclass(frozen=True)
class _Changes:
    """What a variable scope says otherwise than the one around it; None where it says nothing."""

    initializer: InitializerLike
    regularizer: Regularizer | None
    caching_device: DeviceLike
    partitioner: Partitioner | None
    custom_getter: CustomGetter | None
    reuse: Reuse
    dtype: DTypeLike | None
    use_resource: bool | None
    constraint: Constraint | None


class _PureScope(AbstractContextManager[VariableScope]):
    """A variable scope without the name scope."""

    def __init__(
        self, name_or_scope: str | VariableScope, graph: Graph, name_scope: str | None, changes: _Changes
    ) -> None:
        self._name_or_scope = name_or_scope
        self._state = variable_state(graph)
        self._name_scope = name_scope
        self._changes = changes
        self._entered: VariableScope | None = None
        self._old = self._state.scope
        self._opened: dict[str, int] = {}
        # Entered again through the same `with` object, an existing scope stays one and the same.
        self._again = self._derived(name_or_scope) if isinstance(name_or_scope, VariableScope) else None

    def _derived(self, base: VariableScope, name: str | None = None, name_scope: str | None = None) -> VariableScope:
        """A scope with the defaults of another one, but for the changes."""
        changes, scope = self._changes, copy(base)
        scope.reuse = changes.reuse or base.reuse
        scope.name = base.name if name is None else name
        scope.original_name_scope = base.original_name_scope if name_scope is None else name_scope
        scope.constraint = changes.constraint  # not the outer one's: `_pure_variable_scope` of variable_scope.py
        for key in ("initializer", "regularizer", "caching_device", "partitioner", "use_resource"):
            if getattr(changes, key) is not None:
                setattr(scope, key, getattr(changes, key))
        if changes.dtype is not None:
            scope.set_dtype(DType.of(changes.dtype))
        if changes.custom_getter is not None:
            scope.set_custom_getter(_inside(changes.custom_getter, base.custom_getter))
        return scope

    def __enter__(self) -> VariableScope:
        state = self._state
        self._old = state.scope
        if isinstance(self._name_or_scope, VariableScope):
            assert self._again is not None
            scope = self._again
            state.open(scope.name)
            self._opened = dict(state.opened)
        else:
            own = self._name_or_scope
            name = full_name(self._old, own)
            self._changes = replace(self._changes, reuse=self._changes.reuse or self._old.reuse)
            scope = self._derived(self._old, name, own if self._name_scope is None else self._name_scope)
            state.open(name)
        state.scope = self._entered = scope
        return scope

    def __exit__(self, *_: object) -> None:
        state = self._state
        if state.scope is not self._entered:
            raise FailedPreconditionError("Improper nesting of variable_scope.")
        if isinstance(self._name_or_scope, VariableScope):
            state.opened = self._opened
        else:
            state.close_inner(state.scope.name)
        state.scope = self._old


def _inside(inner: CustomGetter, outer: CustomGetter | None) -> CustomGetter:
    """A custom getter inside another: what it calls as the getter is the outer one."""
    if outer is None:
        return inner
    around = outer

    def nested(getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return inner(partial(around, getter), *args, **kwargs)

    return nested


def pure_variable_scope(
    name_or_scope: str | VariableScope,
    reuse: Reuse = None,
    initializer: InitializerLike = None,
    regularizer: Regularizer | None = None,
    caching_device: DeviceLike = None,
    partitioner: Partitioner | None = None,
    custom_getter: CustomGetter | None = None,
    old_name_scope: str | None = None,
    dtype: DTypeLike | None = None,
    use_resource: bool | None = None,
    constraint: Constraint | None = None,
) -> AbstractContextManager[VariableScope]:
    """Opens a variable scope without a name scope: `_pure_variable_scope` of TensorFlow's variable_scope.py."""
    changes = _Changes(
        initializer, regularizer, caching_device, partitioner, custom_getter, reuse, dtype, use_resource, constraint
    )
    return _PureScope(name_or_scope, current_graph(), old_name_scope, changes)


class variable_scope:  # noqa: N801 - used as a function
    """Opens a variable scope, and a name scope with it. One object may be entered several times."""

    def __init__(
        self,
        name_or_scope: str | VariableScope | None,
        default_name: str | None = None,
        values: Sequence[Any] | None = None,
        initializer: InitializerLike = None,
        regularizer: Regularizer | None = None,
        caching_device: DeviceLike = None,
        partitioner: Partitioner | None = None,
        custom_getter: CustomGetter | None = None,
        reuse: Reuse = None,
        dtype: DTypeLike | None = None,
        use_resource: bool | None = None,
        constraint: Constraint | None = None,
        auxiliary_name_scope: bool = True,
    ) -> None:
        if default_name is None and name_or_scope is None:
            raise WrongTypeError("If default_name is None then name_or_scope is required")
        reuse = None if reuse is False else reuse
        if not (reuse is True or reuse is None or reuse is AUTO_REUSE):
            raise InvalidArgumentError("The reuse parameter must be True or False or None.")
        if not isinstance(auxiliary_name_scope, bool):
            raise WrongTypeError(
                f"The auxiliary_name_scope must be `True` or `False`, while get {auxiliary_name_scope}"
            )
        self._name_or_scope = name_or_scope
        self._default_name = default_name
        self._graph = graph_of(values or ())
        self._changes = _Changes(
            initializer, regularizer, caching_device, partitioner, custom_getter, reuse, dtype, use_resource, constraint
        )
        self._auxiliary_name_scope = auxiliary_name_scope
        self._building: list[AbstractContextManager[Any]] = []
        self._names: name_scope | None = None
        self._pure: _PureScope | None = None

    def keep_weights(self, dtype: DTypeLike = FLOAT32) -> variable_scope:
        """Has variables that are asked for as bfloat16 kept in another type, and read as bfloat16, as DeepRec does."""
        kept = DType.of(dtype)

        def wider(getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            if DType.of(kwargs.get("dtype") or FLOAT32).base_dtype is not BFLOAT16:
                return getter(*args, **kwargs)
            variable = getter(*args, **{**kwargs, "dtype": kept})
            # A name without ":0" is that of a partitioned variable, whose cast has no name of its own in DeepRec.
            name, colon, _ = variable.name.rpartition(":")
            return cast(variable, BFLOAT16, name=f"{name}/cast" if colon else None)

        self._changes = replace(self._changes, custom_getter=wider)
        return self

    def __enter__(self) -> VariableScope:
        around = building(self._graph)
        around.__enter__()
        self._building.append(around)
        try:
            if self._pure is not None:
                if self._names is not None:
                    self._names.__enter__()
                return self._pure.__enter__()
            return self._enter_first()
        except BaseException:
            self._building.pop().__exit__(None, None, None)
            raise

    def _enter_first(self) -> VariableScope:
        given = self._name_or_scope
        current = None if self._auxiliary_name_scope else self._current_names()
        if given is None:
            assert self._default_name is not None
            if self._changes.reuse:
                raise InvalidArgumentError("reuse=True cannot be used without a name_or_scope")
            self._names = current or name_scope(self._default_name, self._graph)
            name = self._names.__enter__()
            unique = variable_state(self._graph).unique_scope_name(self._default_name)
            return self._enter_pure(unique, name)
        if not isinstance(given, str | VariableScope):
            raise WrongTypeError("VariableScope: name_or_scope must be a string or VariableScope.")
        own = given if isinstance(given, str) else given.name.rsplit("/", 1)[-1]
        if not own and current is None:
            return self._enter_pure(given, None)
        self._names = current or name_scope(own, self._graph)
        name = self._names.__enter__()
        return self._enter_pure(given, name if isinstance(given, str) else given.original_name_scope)

    def _current_names(self) -> name_scope:
        """The name scope that is open already, to be entered again."""
        name = self._graph.scopes.name
        return name_scope(f"{name}/" if name else name, self._graph)

    def _enter_pure(self, name_or_scope: str | VariableScope, old_name_scope: str | None) -> VariableScope:
        try:
            self._pure = _PureScope(name_or_scope, self._graph, old_name_scope, self._changes)
            return self._pure.__enter__()
        except BaseException:
            if self._names is not None:
                self._names.__exit__(None, None, None)
            raise

    def __exit__(self, *_: object) -> None:
        assert self._pure is not None
        try:
            self._pure.__exit__()
        finally:
            if self._names is not None:
                self._names.__exit__()
            self._building.pop().__exit__(None, None, None)


@contextmanager
def variable_op_scope(
    values: Sequence[Any],
    name_or_scope: str | VariableScope | None,
    default_name: str | None = None,
    initializer: InitializerLike = None,
    regularizer: Regularizer | None = None,
    caching_device: DeviceLike = None,
    partitioner: Partitioner | None = None,
    custom_getter: CustomGetter | None = None,
    reuse: Reuse = None,
    dtype: DTypeLike | None = None,
    use_resource: bool | None = None,
    constraint: Constraint | None = None,
) -> Iterator[VariableScope]:
    """An old spelling of `variable_scope`."""
    with variable_scope(
        name_or_scope, default_name, values, initializer, regularizer, caching_device, partitioner, custom_getter,
        reuse, dtype, use_resource, constraint,
    ) as scope:  # fmt: skip
        yield scope


def create_partitioned_variables(
    shape: Sequence[int],
    slicing: Sequence[int],
    initializer: InitializerLike,
    dtype: DTypeLike = FLOAT32,
    trainable: bool = True,
    collections: CollectionNames | None = None,
    name: str | None = None,
    reuse: Reuse = None,
) -> list[Variable]:
    """The parts of a variable that is cut as `slicing` says, one number for each axis."""
    if len(shape) != len(slicing):
        raise InvalidArgumentError(
            "The 'shape' and 'slicing' of a partitioned Variable must have the length: shape: "
            f"{shape}, slicing: {slicing}"
        )
    if len(shape) < 1:
        raise InvalidArgumentError(f"A partitioned Variable must have rank at least 1: shape: {shape}")
    with variable_scope(name, "PartitionedVariable", reuse=reuse) as scope:
        if scope.custom_getter is not None:
            raise InvalidArgumentError(
                "Private access to _get_partitioned_variable is not allowed when a custom getter is set.  Current "
                f"custom getter: {scope.custom_getter}.  It is likely that you're using create_partitioned_variables.  "
                "If so, consider instead using get_variable with a non-empty partitioner parameter instead."
            )
        with name_scope(None):
            options = VariableOptions(
                shape, DType.of(dtype).base_dtype, initializer, trainable=trainable, collections=collections,
                partitioner=lambda **_: slicing,
            )  # fmt: skip
            whole = variable_store().get_partitioned(scope.name, with_defaults(options, scope))
    return list(whole)


__all__ = [
    "AUTO_REUSE",
    "VariableAggregation",
    "VariableScope",
    "VariableSynchronization",
    "create_partitioned_variables",
    "get_local_variable",
    "get_variable",
    "get_variable_scope",
    "no_regularizer",
    "variable_creator_scope",
    "variable_op_scope",
    "variable_scope",
]
