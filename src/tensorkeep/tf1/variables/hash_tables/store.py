"""get_hash_table: hash tables by name, in scopes, in parts, found again or made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, ShapeLike, TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.variables.hash_tables.keys import SLICE_SIZE
from tensorkeep.tf1.variables.hash_tables.table import DistributedHashTable, HashTable, checked_slicer
from tensorkeep.tf1.variables.modes import VariableSynchronization
from tensorkeep.tf1.variables.options import (
    CollectionNames,
    InitializerLike,
    Partitioner,
    SynchronizationLike,
    VariableOptions,
)
from tensorkeep.tf1.variables.scope import (
    GET_HASH_TABLE,
    VariableScope,
    full_name,
    get_variable_scope,
    with_defaults,
)
from tensorkeep.tf1.variables.store import VariableStore, variable_store

Table: TypeAlias = HashTable | DistributedHashTable
Kind = TypeVar("Kind", HashTable, DistributedHashTable)


def get_hash_table(
    name: str,
    embedding_dim: ShapeLike,
    dtype: DTypeLike | None = None,
    initializer: InitializerLike = None,
    collections: CollectionNames | None = None,
    trainable: bool = True,
    synchronization: SynchronizationLike = VariableSynchronization.AUTO,
    partitioner: Callable[[int], Sequence[int]] | None = None,
    children: Sequence[str] | None = None,
) -> Table:
    """The hash table of that name in the current scope, found or made as the scope says.

    `embedding_dim` is the shape of a row. With a partitioner, such as `tf.hash_table.FixedSizeHashTablePartitioner(4)`,
    here or of the scope, it is a `DistributedHashTable`, cut by key. `children` are the names of several tables that
    are in one.
    """
    options = VariableOptions(
        shape=embedding_dim, dtype=dtype, initializer=initializer, trainable=trainable, collections=collections,
        partitioner=partitioner,
    )  # fmt: skip
    return _of_scope(get_variable_scope(), variable_store(), name, options, children)


def _of_scope(
    scope: VariableScope,
    store: VariableStore,
    name: str,
    options: VariableOptions,
    children: Sequence[str] | None,
) -> Table:
    """The hash table of that name in a scope, with what the scope says filled in."""
    name, options = full_name(scope, name), with_defaults(options, scope)
    with name_scope(None):
        if options.partitioner is not None:
            return _in_parts(store, name, options, options.partitioner, children)
        known = _checked_table(store.variables.get(name), HashTable, name, options)
        if known is not None:
            return known
        made = HashTable(
            options.shape, options.base_dtype, name, _initializer(options), collections=options.collections,
            trainable=options.trainable, children=children, name=name,
        )  # fmt: skip
        store.variables[name] = made
        return made


def _initializer(options: VariableOptions) -> Callable[..., TensorLike] | None:
    """What makes rows: not a value, since how many rows there will be is not known."""
    given = options.initializer
    if given is not None and not callable(given):
        raise WrongTypeError(f"the initializer of a hash table is {given!r}, expected one that makes rows of a shape")
    return given


def _in_parts(
    store: VariableStore,
    name: str,
    options: VariableOptions,
    partitioner: Partitioner,
    children: Sequence[str] | None,
) -> DistributedHashTable:
    if name in store.variables:
        raise InvalidArgumentError(
            f"A distribute hashtable was provided, but an single version of the variable was found: {name}. Perhaps a "
            "variable of the same name was already created with single?"
        )
    known = _checked_table(store.partitioned.get(name), DistributedHashTable, name, options)
    slicer = checked_slicer(None, partitioner, SLICE_SIZE)
    if known is not None:
        if slicer != known.slicer:
            raise InvalidArgumentError(
                f"Trying to reuse distribute hashtable variable {name}, but specified partitioner split result is not "
                f"equal to origin: {slicer}, {known.slicer}"
            )
        return known
    taken = [part for number in range(len(slicer)) if (part := f"{name}/HashTable_{number}") in store.variables]
    if taken:
        raise InvalidArgumentError(
            f"Hashtable variable with name {taken[0]} already exists. Conflict when create distribute hashtable."
        )
    made = DistributedHashTable(
        options.shape, options.base_dtype, _initializer(options), collections=options.collections,
        trainable=options.trainable, slicer=slicer, children=children, name=name,
    )  # fmt: skip
    store.variables.update((f"{name}/HashTable_{at}", part) for at, part in enumerate(made.partitions))
    store.partitioned[name] = made
    return made


def _checked_table(found: object, kind: type[Kind], name: str, options: VariableOptions) -> Kind | None:
    """A table that exists already, if it is what is asked for and may be asked for again; None if there is none."""
    shape, dtype, reuse = TensorShape(options.shape), options.base_dtype, options.reuse
    if found is None:
        if reuse is True:
            raise InvalidArgumentError(
                f"Hashtable {name} does not exist, or was not created with tf.get_hash_table(). Did you mean to set "
                "reuse=False or reuse=tf.AUTO_REUSE in VarScope?"
            )
        return None
    if reuse is False:
        raise InvalidArgumentError(
            f"Hashtable variable with name {name} already exists. Did you mean to set reuse=True or "
            "reuse=tf.AUTO_REUSE in VarScope?"
        )
    if not isinstance(found, kind):
        raise InvalidArgumentError(
            f"Trying to reuse hashtable variable {name}, but an existing variable is not a {kind.__name__}, can not "
            "reuse it."
        )
    if not shape.is_compatible_with(found.shape):
        raise InvalidArgumentError(
            f"Trying to reuse hashtable variable {name}, but specified shape {shape} and found shape {found.shape}."
        )
    if dtype is not found.dtype:
        raise InvalidArgumentError(
            f"Trying to reuse hashtable variable {name}, but specified dtype {dtype.name} and found dtype "
            f"{found.dtype.name}."
        )
    return found


GET_HASH_TABLE.append(_of_scope)
