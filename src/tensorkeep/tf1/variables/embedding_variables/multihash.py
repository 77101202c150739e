"""Multi-hash variables: an id is looked up in two small tables, by quotient and by remainder.

    emb/multhash_Q       row id // rows of Q
    emb/multhash_R       row id mod rows of R

The two rows are added, multiplied, or stand one behind the other. Both tables are variables like others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DeviceLike, DTypeLike, TensorLike
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import concat, scope_of
from tensorkeep.tf1.functions.embedding.lookups import embedding_lookup
from tensorkeep.tf1.functions.numbers.elementwise import add, floordiv, floormod, multiply
from tensorkeep.tf1.variables.composed import ComposedVariable, Part
from tensorkeep.tf1.variables.initializers import TruncatedNormal
from tensorkeep.tf1.variables.modes import VariableAggregation, VariableSynchronization
from tensorkeep.tf1.variables.options import (
    AggregationLike,
    CollectionNames,
    Constraint,
    CustomGetter,
    InitializerLike,
    Partitioner,
    Regularizer,
    SynchronizationLike,
    VariableOptions,
)
from tensorkeep.tf1.variables.scope import get_with_options
from tensorkeep.tf1.variables.scopes import variable_scope
from tensorkeep.tf1.variables.store import variable_store

OPERATIONS: Final = ("add", "mul", "concat")


class MultiHashVariable(ComposedVariable):
    """Two tables of which every id has a row each."""

    def __init__(self, name: str, tables: Sequence[Part], dims: Sequence[Sequence[int]], operation: str) -> None:
        width = dims[0][1] + dims[1][1] if operation == "concat" else dims[0][1]
        super().__init__(name, tables, [width])
        self._tables = list(tables)
        self._dims = dims
        self._operation = operation

    @property
    def val_list(self) -> list[Part]:
        """The tables whose rows are combined."""
        return self._tables

    @property
    def operation(self) -> str:
        return self._operation

    def _embedding_lookup(
        self,
        ids: TensorLike,
        name: str | None = None,
        partition_strategy: str = "mod",
        blocknums: TensorLike | None = None,
    ) -> Tensor:
        with scope_of(name, "embedding_lookup", ids):
            keys = convert(ids)
            quotients = floordiv(keys, self._dims[0][0])
            remainders = floormod(keys, self._dims[1][0])
            first = embedding_lookup(self._tables[0], quotients, partition_strategy)
            second = embedding_lookup(self._tables[1], remainders, partition_strategy)
            if self._operation == "add":
                return add(first, second)
            if self._operation == "mul":
                return multiply(first, second)
            return concat([first, second], -1)


def get_multihash_variable(
    name: str,
    dims: Sequence[Sequence[int]],
    complementary_strategy: str = "Q-R",
    operation: str = "add",
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
) -> MultiHashVariable:
    """Two tables of the shapes `dims`, and how the rows of an id become one."""
    if complementary_strategy != "Q-R":
        raise InvalidArgumentError(f'complementary_strategy is {complementary_strategy!r}, expected "Q-R"')
    if operation not in OPERATIONS:
        raise InvalidArgumentError(f"operation is {operation!r}, expected one of {', '.join(OPERATIONS)}")
    if len(dims) != 2 or any(len(shape) != 2 for shape in dims):
        raise InvalidArgumentError(f"dims are {dims}, expected the shapes of two tables: [[rows, dim], [rows, dim]]")
    if operation != "concat" and dims[0][1] != dims[1][1]:
        raise InvalidArgumentError(
            f'rows of {dims[0][1]} and of {dims[1][1]} numbers can only stand one behind the other: operation="concat"'
        )
    options = VariableOptions(
        dtype=dtype, initializer=TruncatedNormal() if initializer is None else initializer, regularizer=regularizer,
        trainable=trainable, collections=collections, caching_device=caching_device, partitioner=partitioner,
        validate_shape=validate_shape, use_resource=use_resource, constraint=constraint,
        synchronization=synchronization, aggregation=aggregation,
    )  # fmt: skip
    with variable_scope(name) as scope:
        tables = []
        for letter, shape in zip("QR", dims, strict=True):
            of_table = replace(options, shape=list(shape))
            tables.append(get_with_options(scope, variable_store(), f"multhash_{letter}", of_table, custom_getter))
        return MultiHashVariable(scope.name, tables, dims, operation)
