"""get_embedding_variable: embedding variables by name, in scopes, in parts, found again or made."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeVar

from tensorkeep.dtypes import INT64, DType
from tensorkeep.errors import InvalidArgumentError, UnimplementedError, WrongTypeError
from tensorkeep.graph.arguments import DeviceLike, DTypeLike, ShapeLike, TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.ops.embedding.placements import TablePlacement
from tensorkeep.tf1.functions.arrays.shapes import fill, reshape
from tensorkeep.tf1.variables.embedding_variables.handle import EmbeddingVariable, TableRecipe
from tensorkeep.tf1.variables.embedding_variables.options import (
    EmbeddingVariableOption,
    GlobalStepEvict,
    L2WeightEvict,
    require_integer,
)
from tensorkeep.tf1.variables.initializers import Constant, TruncatedNormal, made_initializer
from tensorkeep.tf1.variables.options import (
    CollectionNames,
    Constraint,
    CustomGetter,
    InitializerLike,
    Partitioner,
    Regularizer,
    VariableOptions,
)
from tensorkeep.tf1.variables.partitioned import PartitionedVariable
from tensorkeep.tf1.variables.regularizers import no_regularizer
from tensorkeep.tf1.variables.scope import (
    GET_EMBEDDING,
    VariableScope,
    full_name,
    get_variable_scope,
    with_defaults,
)
from tensorkeep.tf1.variables.slices import SaveSliceInfo
from tensorkeep.tf1.variables.store import VariableStore, variable_store

Found = TypeVar("Found", EmbeddingVariable, PartitionedVariable)

LOG: Final = logging.getLogger("tensorkeep")


@dataclass(frozen=True)
class EmbeddingRequest:
    """An embedding variable as a program asks for it. `options.shape` is not looked at: rows are as long as `dim`."""

    dim: int
    options: VariableOptions
    key_dtype: DTypeLike = INT64
    ev_option: EmbeddingVariableOption | None = None
    steps_to_live: int | None = None
    custom_getter: CustomGetter | None = None
    placement: TablePlacement | None = None


@dataclass(frozen=True)
class _Wanted:
    """An embedding variable as it is asked for, with what the scope says filled in."""

    dim: int
    initializer: InitializerLike
    recipe: TableRecipe
    options: VariableOptions

    @property
    def dtype(self) -> DType:
        return self.options.base_dtype


def get_embedding_variable(
    name: str,
    embedding_dim: int,
    key_dtype: DTypeLike = INT64,
    value_dtype: DTypeLike | None = None,
    initializer: InitializerLike = None,
    regularizer: Regularizer | None = None,
    trainable: bool = True,
    collections: CollectionNames | None = None,
    caching_device: DeviceLike = None,
    partitioner: Partitioner | None = None,
    validate_shape: bool = True,
    custom_getter: CustomGetter | None = None,
    constraint: Constraint | None = None,
    steps_to_live: int | None = None,
    init_data_source: object = None,
    ev_option: EmbeddingVariableOption | None = None,
    placement: TablePlacement | None = None,
) -> EmbeddingVariable | PartitionedVariable:
    """The embedding variable of that name in the current scope, found or made as the scope says.

    With a partitioner, here or of the scope, it is a PartitionedVariable of shards; a key is in shard
    `key mod 1000 mod shards`. New keys begin as rows of `initializer`, by default a truncated normal distribution.
    `placement` (our own) has the table somewhere else than in the session, where other processes use it too:
    `tensorkeep.cluster.TablesOnRay`.
    """
    refuse_data_source(init_data_source)
    options = VariableOptions(
        dtype=value_dtype, initializer=initializer, regularizer=regularizer, trainable=trainable,
        collections=collections, caching_device=caching_device, partitioner=partitioner,
        validate_shape=validate_shape, constraint=constraint,
    )  # fmt: skip
    request = EmbeddingRequest(embedding_dim, options, key_dtype, ev_option, steps_to_live, custom_getter, placement)
    return get_or_make_embedding(get_variable_scope(), variable_store(), name, request)


def refuse_data_source(source: object) -> None:
    """Refuses a source that the rows of a new variable would be read from; None is no source."""
    # DeepRec hands it to `feature_store_initializer` of paiio, a package that is not public.
    if source is not None:
        raise UnimplementedError(
            f"init_data_source={source!r}: DeepRec has a package that is not public (paiio) read such tables. Make a "
            "checkpoint of the table, by tensorkeep.embedding.import_parquet or import_csv, and restore that, or name "
            "it in tf.train.init_from_checkpoint"
        )


def get_or_make_embedding(
    scope: VariableScope, store: VariableStore, name: str, request: EmbeddingRequest
) -> EmbeddingVariable | PartitionedVariable:
    """The embedding variable of that name in a scope, found or made as `reuse` or the scope says."""
    require_integer(f'embedding_dim of "{name}"', request.dim)
    ev_option = request.ev_option
    if ev_option is not None and not isinstance(ev_option, EmbeddingVariableOption):
        raise WrongTypeError(f'ev_option of "{name}" is {ev_option!r}, expected an EmbeddingVariableOption')
    _check_regularizer(name, request.options.regularizer, scope.regularizer)
    _tell_without_effect(name, request.options)
    option = _with_steps(EmbeddingVariableOption() if ev_option is None else ev_option, request.steps_to_live)
    chosen = _chosen_initializer(name, request.options.initializer, option)
    wanted = _Wanted(
        request.dim,
        chosen if chosen is not None else TruncatedNormal() if scope.initializer is None else scope.initializer,
        TableRecipe.of(request.key_dtype, option, request.placement),
        with_defaults(request.options, scope),
    )
    if request.placement is not None and wanted.options.partitioner is not None:
        raise InvalidArgumentError(
            f'"{name}" has a placement, which cuts the table itself, and a partitioner: expected one of them'
        )
    getter = partial(_get_or_make, store, wanted)
    custom = scope.custom_getter if request.custom_getter is None else request.custom_getter
    with name_scope(None):
        if custom is None:
            return getter(full_name(scope, name))
        made: EmbeddingVariable | PartitionedVariable = custom(
            getter=lambda name, *_, **__: getter(name), name=full_name(scope, name), shape=[request.dim]
        )
        return made


def _tell_without_effect(name: str, options: VariableOptions) -> None:
    """Tells the log which options are given that an embedding variable has no use for: its rows are never cached on
    another device, have the length that they are asked for, and always are a resource."""
    given = {
        "caching_device": options.caching_device is not None,
        "validate_shape": not options.validate_shape,
        "use_resource": options.use_resource is False,
    }
    if told := [option for option, is_given in given.items() if is_given]:
        LOG.warning('%s of "%s": without effect on an embedding variable', ", ".join(told), name)


def _of_scope(
    scope: VariableScope,
    store: VariableStore,
    name: str,
    options: VariableOptions,
    custom_getter: CustomGetter | None,
    invalid_key: TensorLike | None,
    ev_option: EmbeddingVariableOption | None,
    ht_partition_num: int,
) -> EmbeddingVariable | PartitionedVariable:
    """What `VariableScope.get_embedding_variable` gives."""
    dim, keys = row_length(name, options.shape), dtype_of_keys(invalid_key)
    option = EmbeddingVariableOption(ht_partition_num=ht_partition_num) if ev_option is None else ev_option
    if isinstance(option, EmbeddingVariableOption) and ht_partition_num not in (1000, option.ht_partition_num):
        LOG.warning('ht_partition_num of "%s" is given twice; that of evconfig is taken', name)
    request = EmbeddingRequest(dim, options, keys, option, custom_getter=custom_getter)
    return get_or_make_embedding(scope, store, name, request)


def row_length(name: str, shape: ShapeLike) -> int:
    """The length of a row, from the `shape` given to DeepRec's scope: a number, or a list of one number."""
    sizes: list[Any] = list(TensorShape(shape).as_list()) if isinstance(shape, list | tuple | TensorShape) else [shape]
    if len(sizes) != 1:
        raise InvalidArgumentError(f'"{name}" has rows of one axis; expected a shape of one number, got {shape}')
    length: int = sizes[0]  # what is no whole number is refused along with `embedding_dim`
    return length


def dtype_of_keys(invalid_key: TensorLike | None) -> DTypeLike:
    """The type of keys, from the `invalid_key` given to DeepRec's scope; int64 if that has no type."""
    dtype: DTypeLike = getattr(invalid_key, "dtype", INT64)
    return dtype


GET_EMBEDDING.append(_of_scope)


def _check_regularizer(name: str, own: Regularizer | None, of_scope: Regularizer | None) -> None:
    """Refuses a regularizer, which would need all rows at once; warns if only the scope has one."""
    if own is not None and own is not no_regularizer:
        raise UnimplementedError(
            f'embedding variable "{name}" cannot have a regularizer, which would need all of its rows: add one of the '
            "rows that are looked up to the loss"
        )
    if own is None and of_scope is not None and of_scope is not no_regularizer:
        LOG.warning("%s: the regularizer of the scope does not apply to an embedding variable", name)


def _with_steps(option: EmbeddingVariableOption, steps_to_live: int | None) -> EmbeddingVariableOption:
    """The option, with `steps_to_live` in it: the older argument for when keys are dropped."""
    if not steps_to_live:
        return option
    if isinstance(option.evict_option, L2WeightEvict) and option.evict_option.l2_weight_threshold > 0:
        raise InvalidArgumentError("steps_to_live and l2_weight_threshold can't be enabled at same time.")
    if option.evict_option is not None:
        LOG.warning("steps_to_live is given twice; that of ev_option is taken")
        return option
    return replace(option, evict_option=GlobalStepEvict(steps_to_live))


def _chosen_initializer(name: str, initializer: InitializerLike, option: EmbeddingVariableOption) -> InitializerLike:
    own: InitializerLike = option.init_option.initializer
    if own is None:
        return initializer
    if initializer is not None:
        LOG.warning("%s: an initializer is given twice; that of ev_option is taken", name)
    return own


# ---------------------------------------------------------------------------------------------------- Found or made


def _get_or_make(store: VariableStore, wanted: _Wanted, name: str) -> EmbeddingVariable | PartitionedVariable:
    if wanted.options.partitioner is not None:
        return _in_parts(store, wanted, wanted.options.partitioner, name)
    if wanted.options.reuse and name in store.partitioned:
        known: PartitionedVariable = _checked_variable(store.partitioned[name], wanted, name)
        return known
    if f"{name}/part_0" in store.variables:
        raise InvalidArgumentError(
            "No partitioner was provided, but a partitioned version of the variable was found: "
            f"{name}/part_0. Perhaps a variable of the same name was already created with partitioning?"
        )
    return _single(store, wanted, name)


def _single(store: VariableStore, wanted: _Wanted, name: str) -> EmbeddingVariable:
    found = store.variables.get(name)
    if found is not None:
        known: EmbeddingVariable = _checked_variable(found, wanted, name)
        return known
    _check_may_make(wanted, name)
    made = EmbeddingVariable(
        partial(_default_rows, wanted.initializer, wanted.recipe.option.init_option.default_value_dim, wanted),
        wanted.dim,
        name=name,
        dtype=wanted.dtype,
        recipe=wanted.recipe,
        trainable=wanted.options.trainable,
        collections=wanted.options.collections,
        constraint=wanted.options.constraint,
    )
    store.variables[name] = made
    return made


def _in_parts(store: VariableStore, wanted: _Wanted, partitioner: Partitioner, name: str) -> PartitionedVariable:
    if not callable(partitioner):
        raise InvalidArgumentError(f"Partitioner must be callable, but received: {partitioner}")
    if name in store.variables:
        raise InvalidArgumentError(
            "A partitioner was provided, but an unpartitioned version of the variable was found: "
            f"{name}.  Perhaps a variable of the same name was already created without partitioning?"
        )
    found = store.partitioned.get(name)
    if found is not None:
        known: PartitionedVariable = _checked_variable(found, wanted, name)
        return known
    _check_may_make(wanted, name)
    count = shard_count(partitioner, wanted.dim, wanted.dtype)
    parts = []
    for number in range(count):
        part = _single(store, wanted, f"{name}/part_{number}")
        part._set_save_slice_info(SaveSliceInfo(name, [count, wanted.dim], [number, 0], [1, wanted.dim]))
        parts.append(part)
    whole = PartitionedVariable(name, TensorShape([count, wanted.dim]), wanted.dtype, parts, [count, 1])
    store.partitioned[name] = whole
    return whole


def shard_count(partitioner: Partitioner, dim: int, dtype: DType) -> int:
    """Into how many shards a partitioner cuts a table without end."""
    counts = partitioner(shape=TensorShape([sys.maxsize, dim]), dtype=dtype)
    if not isinstance(counts, Sequence) or len(counts) != 2 or counts[1] != 1 or counts[0] < 1:
        raise InvalidArgumentError(
            f"an embedding variable is cut by keys, so a partitioner gives [shards, 1]; this one gave {counts}"
        )
    return int(counts[0])


def _check_may_make(wanted: _Wanted, name: str) -> None:
    if wanted.options.reuse is True:
        raise InvalidArgumentError(
            f"EmbeddingVariable {name} does not exist, or was not created with tf.get_embedding_variable(). Did you "
            "mean to set reuse=tf.AUTO_REUSE in VarScope?"
        )


def _checked_variable(found: Found, wanted: _Wanted, name: str) -> Found:
    """A variable that exists already, if it is what is asked for and may be asked for again."""
    if not wanted.options.reuse:
        raise InvalidArgumentError(
            f"EmbeddingVariable {name} already exists, disallowed. Did you mean to set reuse=True or "
            "reuse=tf.AUTO_REUSE in VarScope?"
        )
    part = next(iter(found)) if isinstance(found, PartitionedVariable) else found
    if not isinstance(part, EmbeddingVariable):
        raise InvalidArgumentError(f"{name} is a variable already, and no embedding variable")
    if part.dim != wanted.dim:
        raise InvalidArgumentError(
            f"Trying to share variable {name}, but specified embedding_dim {wanted.dim} and found embedding_dim "
            f"{part.dim}."
        )
    if part.dtype.base_dtype is not wanted.dtype or part.key_dtype is not wanted.recipe.key_dtype:
        raise InvalidArgumentError(
            f"Trying to share variable {name}, but specified dtypes {wanted.recipe.key_dtype.name} and "
            f"{wanted.dtype.name} and found {part.key_dtype.name} and {part.dtype.name}."
        )
    return found


# ---------------------------------------------------------------------------------------------------- Default rows


def _default_rows(initializer: InitializerLike, rows: int, wanted: _Wanted) -> Tensor:
    """The matrix of which new keys take rows: one row where an initializer says that all are the same."""
    if callable(initializer):
        make = made_initializer(initializer)
        count = 1 if type(make) is Constant else rows
        return convert(make([count, wanted.dim], dtype=wanted.dtype), wanted.dtype)
    value = convert(initializer, wanted.dtype)
    size = value.static_shape.rank
    if size == 0:
        filled: Tensor = fill([1, wanted.dim], value)
        return filled
    if size not in (1, 2):
        raise WrongTypeError(
            f"the initial value of an embedding variable has the shape {value.static_shape}, expected "
            f"[{wanted.dim}] or [rows, {wanted.dim}]"
        )
    matrix: Tensor = reshape(value, [-1, wanted.dim])
    return matrix
