"""get_hash_table: hash tables by name, in scopes, in parts, found again or made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.variables.hash_table import SLICE_SIZE, DistributedHashTable, HashTable, checked_slicer
from tensorkeep.tf1.variables.modes import VariableSynchronization
from tensorkeep.tf1.variables.scope import GET_HASH_TABLE, Reuse, VariableScope, get_variable_scope
from tensorkeep.tf1.variables.store import VariableStore, variable_store

Table = HashTable | DistributedHashTable


def get_hash_table(
    name: str,
    embedding_dim: Any,
    dtype: Any = None,
    initializer: Any = None,
    collections: Any = None,
    trainable: bool = True,
    synchronization: Any = VariableSynchronization.AUTO,
    partitioner: Callable[[int], Sequence[int]] | None = None,
    children: Sequence[str] | None = None,
) -> Any:
    """The hash table of that name in the current scope, found or made as the scope says.

    `embedding_dim` is the shape of a row. With a partitioner, such as `tf.hash_table.FixedSizeHashTablePartitioner(4)`,
    here or of the scope, it is a `DistributedHashTable`, cut by key. `children` are the names of several tables that
    are in one.
    """
    return get_variable_scope().get_hash_table(
        variable_store(),
        name,
        shape=embedding_dim,
        dtype=dtype,
        initializer=initializer,
        collections=collections,
        trainable=trainable,
        synchronization=synchronization,
        partitioner=partitioner,
        children=children,
    )


def _of_scope(
    scope: VariableScope,
    store: VariableStore,
    name: str,
    *,
    shape: Any,
    dtype: Any,
    initializer: Any,
    reuse: Reuse,
    partitioner: Any,
    **arguments: Any,
) -> Any:
    """The hash table of that name in a scope, with what the scope says filled in."""
    full_name = f"{scope.name}/{name}" if scope.name else name
    chosen = scope.partitioner if partitioner is None else partitioner
    kind = DType.of(scope.dtype if dtype is None else dtype).base_dtype
    initializer = scope.initializer if initializer is None else initializer
    reuse = scope.reuse if reuse is None else reuse
    with name_scope(None):
        if chosen is None:
            found = _checked(store.variables.get(full_name), HashTable, full_name, shape, kind, reuse)
            if found is None:
                found = HashTable(shape, kind, full_name, initializer, name=full_name, **arguments)
                store.variables[full_name] = found
            return found
        return _in_parts(store, full_name, shape, kind, initializer, reuse, chosen, arguments)


def _in_parts(
    store: VariableStore,
    name: str,
    shape: Any,
    dtype: DType,
    initializer: Any,
    reuse: Reuse,
    partitioner: Any,
    arguments: dict[str, Any],
) -> DistributedHashTable:
    if name in store.variables:
        raise InvalidArgumentError(
            f"A distribute hashtable was provided, but an single version of the variable was found: {name}. Perhaps a "
            "variable of the same name was already created with single?"
        )
    known: DistributedHashTable | None = _checked(
        store.partitioned.get(name), DistributedHashTable, name, shape, dtype, reuse
    )
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
    made = DistributedHashTable(shape, dtype, initializer, slicer=slicer, name=name, **arguments)
    store.variables.update((f"{name}/HashTable_{at}", part) for at, part in enumerate(made.partitions))
    store.partitioned[name] = made
    return made


def _checked(found: Any, kind: type[Table], name: str, shape: Any, dtype: DType, reuse: Reuse) -> Any:
    """A table that exists already, if it is what is asked for and may be asked for again; None if there is none."""
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
    if not TensorShape(shape).is_compatible_with(found.shape):
        raise InvalidArgumentError(
            f"Trying to reuse hashtable variable {name}, but specified shape {TensorShape(shape)} and found shape "
            f"{found.shape}."
        )
    if dtype is not found.dtype:
        raise InvalidArgumentError(
            f"Trying to reuse hashtable variable {name}, but specified dtype {dtype.name} and found dtype "
            f"{found.dtype.name}."
        )
    return found


GET_HASH_TABLE.append(_of_scope)

__all__ = ["get_hash_table"]
