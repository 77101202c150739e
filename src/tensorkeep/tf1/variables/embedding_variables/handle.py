"""Embedding variables: rows by key, behind a handle.

    emb                                     KvVarHandleOp               the handle
    emb/Initializer/…                       …                           the default rows
    emb/IsInitialized/KvVarIsInitializedOp  KvVarIsInitializedOp
    emb/InitializeKvVariableV2Op            InitializeKvVariableV2Op    the initializer: an empty table
    emb/InitializeKvVariableV2Op_1          InitializeKvVariableV2Op    builds the table for a restore

A slot of an optimizer is one too, and a column of the same table. What a variable was made with is read off its
initializer, so a graph that was imported has whole variables.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

from tensorkeep.arrays import Array
from tensorkeep.dtypes import FLOAT32, INT64, DType
from tensorkeep.errors import InvalidArgumentError, UnimplementedError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, Scalar, SessionLike, TensorLike, emit, emit_operation, emit_tensors
from tensorkeep.graph.building import (
    attr_scope,
    colocate_with,
    control_dependencies,
    current_graph,
    device,
    init_scope,
    name_scope,
)
from tensorkeep.graph.collections import GraphKeys, add_to_collections
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.saveable import Saveable
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.io.machine.resources import is_switched_on
from tensorkeep.ops.embedding.placements import MARK, TablePlacement, register_placement
from tensorkeep.ops.shared.expressions import constant
from tensorkeep.proto.messages import VariableDef
from tensorkeep.shapes import Shape
from tensorkeep.tf1.functions.control.grouping import group
from tensorkeep.tf1.variables.embedding_variables.options import (
    CBFFilter,
    CounterFilter,
    EmbeddingVariableOption,
    GlobalStepEvict,
    L2WeightEvict,
    StorageType,
)
from tensorkeep.tf1.variables.embedding_variables.saving import EmbeddingSaveable, empty_key, initializers_of
from tensorkeep.tf1.variables.modes import checked_modes
from tensorkeep.tf1.variables.options import CollectionNames, Constraint, InitializerLike
from tensorkeep.tf1.variables.resource import BaseResourceVariable
from tensorkeep.tf1.variables.slices import SaveSliceInfo
from tensorkeep.tf1.variables.variable import (
    checked_collections,
    checked_constraint,
    named_element,
    named_tensor,
    slice_info_of,
)

HANDLE: Final = "KvVarHandleOp"
KEY_DTYPES: Final = ("int64", "int32")
_LAST_PLAIN_STORAGE: Final = 5

Exported = namedtuple("Exported", ("keys", "values", "versions", "freqs"))
"""What an embedding variable holds: keys, rows, versions and frequencies, parallel to each other."""


@dataclass(frozen=True)
class TableRecipe:
    """How the table of a variable is made, apart from its default rows."""

    key_dtype: DType = INT64
    option: EmbeddingVariableOption = field(default_factory=EmbeddingVariableOption)
    record_freq: bool = False
    record_version: bool = False
    placement: TablePlacement | None = None
    """Where the table is, if not in the session."""

    @classmethod
    def of(
        cls, key_dtype: DTypeLike, option: EmbeddingVariableOption, placement: TablePlacement | None = None
    ) -> TableRecipe:
        """The recipe for these keys and options; TF_RECORD_FREQ and TF_RECORD_VERSION of the environment count too."""
        keys = DType.of(key_dtype)
        if keys.name not in KEY_DTYPES:
            raise WrongTypeError(f"key_dtype is {keys.name}, expected int64 or int32")
        by_storage = (option.storage_option.storage_type or 0) > _LAST_PLAIN_STORAGE
        return cls(
            keys,
            option,
            by_storage or is_switched_on("TF_RECORD_FREQ"),
            by_storage or is_switched_on("TF_RECORD_VERSION"),
            placement,
        )

    def attributes(self) -> dict[str, Any]:
        """The attributes of an initializer."""
        option, storage = self.option, self.option.storage_option
        found: dict[str, Any] = {
            "ht_type": option.ht_type,
            "ht_partition_num": option.ht_partition_num,
            "storage_type": int(storage.storage_type or StorageType.DEFAULT),
            "storage_path": storage.storage_path or ".",
            "storage_size": list(storage.storage_size),
            "layout": storage.layout or "",
            "default_value_dim": option.init_option.default_value_dim,
            "default_value_no_permission": option.init_option.default_value_no_permission,
            "record_freq": self.record_freq,
            "record_version": self.record_version,
            "embedding_variable_type": int(not is_inference()),
        }
        if isinstance(option.evict_option, GlobalStepEvict):
            found["steps_to_live"] = option.evict_option.steps_to_live or 0
        elif isinstance(option.evict_option, L2WeightEvict):
            found["l2_weight_threshold"] = option.evict_option.l2_weight_threshold
        chosen = option.filter_option
        if isinstance(chosen, CounterFilter | CBFFilter):
            found["filter_freq"] = chosen.filter_freq
        if isinstance(chosen, CBFFilter):
            found["max_element_size"] = chosen.max_element_size
            found["false_positive_probability"] = chosen.false_positive_probability
            found["counter_type"] = DType.of(chosen.counter_type)
        return found


def _placement_mark(recipe: TableRecipe) -> dict[str, bytes]:
    """What the handle says of where the table is; nothing, for a table in the session."""
    return {} if recipe.placement is None else {MARK: register_placement(recipe.placement).encode()}


def is_inference() -> bool:
    """Whether the user has set INFERENCE_MODE: then nothing inserts keys."""
    return is_switched_on("INFERENCE_MODE")


class EmbeddingVariable(BaseResourceVariable):
    """Rows by key. It has no value as a whole: rows are looked up, and optimizers change them.

    `initial_value` makes the default rows, a matrix of which a new key takes row `key mod rows`.
    """

    def __init__(
        self,
        initial_value: InitializerLike = None,
        embedding_dim: int | None = None,
        name: str | None = None,
        dtype: DTypeLike = FLOAT32,
        recipe: TableRecipe = TableRecipe(),
        trainable: bool | None = None,
        collections: CollectionNames | None = None,
        constraint: Constraint | None = None,
        primary: EmbeddingVariable | None = None,
        slot_index: int = 0,
        variable_def: VariableDef | None = None,
        import_scope: str | None = None,
    ) -> None:
        self._save_slice_info: SaveSliceInfo | None = None
        self._constraint = checked_constraint(constraint)
        self._caching_device = None
        self._cached_value = None
        self._validate_shape = True
        self._recipe = recipe
        self._inserts = recipe.option.inserts_on_lookup and not is_inference()
        if variable_def is not None:
            self._take_nodes(variable_def, import_scope)
            return
        if embedding_dim is None or embedding_dim < 1:
            raise InvalidArgumentError(
                f'embedding variable "{name}": embedding_dim is {embedding_dim}, expected at least 1'
            )
        self._synchronization, self._aggregation, self._trainable = checked_modes(None, None, trainable, name)
        keys = checked_collections(collections, self._trainable)
        with init_scope(), name_scope("EmbeddingVariable" if name is None else name) as scope:
            self._make_handle(initial_value, DType.of(dtype).base_dtype, embedding_dim, recipe, scope)
            self._make_initializers(recipe, primary, slot_index)
            add_to_collections(current_graph(), [*keys, GraphKeys.EMBEDDING_VARIABLES], self)

    # ------------------------------------------------------------------------------------------ nodes

    def _make_handle(
        self, initial_value: InitializerLike, dtype: DType, dim: int, recipe: TableRecipe, scope: str
    ) -> None:
        own_name = scope[:-1]
        with attr_scope({"_class": (f"loc:@{own_name}".encode(),)}):
            with name_scope("Initializer"), device(None):
                made = initial_value() if callable(initial_value) else initial_value
                self._initial_value = convert(made, dtype, name="initial_value")
            with attr_scope(_placement_mark(recipe)):
                self._handle = emit(
                    HANDLE, shape=Shape((dim,)), dtype=dtype, shared_name=own_name, Tkeys=recipe.key_dtype, name=scope
                )
        self._handle_name = f"{own_name}:0"
        self._shape = TensorShape([dim])
        self._dtype = dtype
        with name_scope("IsInitialized"):
            self._is_initialized_op = self.is_initialized()

    def _make_initializers(self, recipe: TableRecipe, primary: EmbeddingVariable | None, slot_index: int) -> None:
        owner = self._handle if primary is None else primary.handle
        attributes = recipe.attributes() | {"shape": Shape((self.dim,)), "slot_index": slot_index}
        with colocate_with(None, ignore_existing=True), device(self._handle.device):
            empty = empty_key(recipe.key_dtype)

            def initializing(buckets: int) -> Operation:
                arguments = (self._handle, owner, self._initial_value, empty)
                return emit_operation("InitializeKvVariableV2Op", *arguments, initial_num_buckets=buckets, **attributes)

            self._initializer_op = initializing(131072)
            initializing(0)
            if primary is None and attributes["storage_type"] > _LAST_PLAIN_STORAGE:
                with control_dependencies([self._initializer_op]):
                    kept = int(recipe.option.storage_option.cache_strategy)
                    strategy = emit_operation(
                        "KvResourceInitCacheStrategyOp", self._handle, cache_strategy=kept, **self._types()
                    )
                self._initializer_op = group(self._initializer_op, strategy, name="Initialize")

    def _take_nodes(self, proto: VariableDef, import_scope: str | None) -> None:
        """Finds the nodes that a VariableDef names."""
        self._handle = named_tensor(proto.variable_name, import_scope)
        if self._handle.op.type != HANDLE:
            raise InvalidArgumentError(
                f'"{self._handle.op.name}" is a {self._handle.op.type}, expected the handle of an embedding variable, '
                f"a {HANDLE}"
            )
        self._handle_name = self._handle.name
        self._recipe = TableRecipe(self.key_dtype)
        self._shape = TensorShape(self._handle.op.get_attr("shape"))
        self._dtype = self._handle.op.get_attr("dtype")
        self._initializer_op = named_element(proto.initializer_name, import_scope)
        named = proto.initial_value_name
        self._initial_value = named_tensor(named, import_scope) if named else self._initializing_op().inputs[2]
        self._synchronization, self._aggregation, self._trainable = checked_modes(
            proto.synchronization, proto.aggregation, proto.trainable, proto.variable_name
        )
        self._is_initialized_op = None
        self._save_slice_info = slice_info_of(proto, import_scope)

    def _initializing_op(self) -> Operation:
        """The operation that says what the table is made with."""
        for op in initializers_of(self._handle):
            return op
        raise InvalidArgumentError(f'embedding variable "{self._handle.op.name}" has no initializer in its graph')

    def to_proto(self, export_scope: str | None = None) -> VariableDef | None:
        """The VariableDef, with names below `export_scope`; None if the variable is not in that scope."""
        proto = self._description(self._handle, export_scope)
        if proto is not None:
            proto.is_resource = True
        return proto

    # ------------------------------------------------------------------------------------------ properties

    @property
    def dim(self) -> int:
        """How long a row is."""
        size = self._shape[0]
        return int(getattr(size, "value", size))

    @property
    def key_dtype(self) -> DType:
        keys: DType = self._handle.op.attr("Tkeys")
        return keys

    @property
    def recipe(self) -> TableRecipe:
        """How its table is made."""
        return self._recipe

    @property
    def owns_table(self) -> bool:
        """Whether it has a table of its own: a slot is a column of another variable's."""
        return self._initializing_op().inputs[1] is self._handle

    @property
    def partition(self) -> tuple[int, int]:
        """Which shard of how many it is."""
        info = self._save_slice_info
        if info is None or not info.full_shape or not info.var_offset:
            return 0, 1
        return info.var_offset[0], info.full_shape[0]

    @property
    def needs_counts(self) -> bool:
        """Whether it matters how often a key occurs in a step."""
        attr = self._initializing_op().attr
        return bool(attr("record_freq") or attr("filter_freq") > 0 or attr("storage_type") > _LAST_PLAIN_STORAGE)

    def initialized_value(self) -> Tensor:
        raise self._unsupported("initialized_value()")

    def _types(self) -> dict[str, Any]:
        """The types of keys and rows, for ops that cannot tell them by their inputs."""
        return {"Tkeys": self.key_dtype, "dtype": self._dtype}

    def is_initialized(self, name: str | None = None) -> Tensor:
        """Whether the variable was initialized or restored, found when run."""
        return emit("KvVarIsInitializedOp", self._handle, name=name, **self._types())

    # ------------------------------------------------------------------------------------------ reading

    def sparse_read(
        self,
        indices: TensorLike,
        name: str | None = None,
        ev_init_value: TensorLike | None = None,
        counts: TensorLike | None = None,
    ) -> Tensor:
        """The rows of keys. New keys begin as `ev_init_value`, a row for each, or as their default rows.

        `counts` says how often each occurred, for the optimizer that updates them.
        """
        with name_scope("Gather" if name is None else name) as scope:
            keys = convert(indices)
            if keys.dtype.base_dtype is not self.key_dtype:
                raise WrongTypeError(
                    f'embedding variable "{self._handle.op.name}" has keys of type {self.key_dtype.name}, was asked '
                    f"for keys of type {keys.dtype.name}; cast the ids, or give the variable this key_dtype"
                )
            given = constant(0, self._dtype, name="default_value") if ev_init_value is None else ev_init_value
            options: dict[str, Any] = {
                "dtype": self._dtype,
                "is_use_default_value_tensor": ev_init_value is not None,
                "is_inference": not self._inserts,
                "name": scope,
            }
            if counts is None:
                return emit("KvResourceGather", self._handle, keys, given, **options)
            return emit("KvResourceGatherV1", self._handle, keys, given, counts, **options)

    def total_count(self) -> Tensor:
        """How many keys there are, those that are only counted among them, and how long a row is."""
        return emit("KvVariableShape", self._handle, **self._types())

    def get_dynamic_shape(self) -> Tensor:
        """What `total_count` gives, by another name."""
        return self.total_count()

    def get_frequency(self, ids: TensorLike) -> Tensor:
        """How often each key occurred in steps of training; 0 where that is not kept."""
        return emit("EVGetFrequency", self._handle, convert(ids, self.key_dtype))

    def get_version(self, ids: TensorLike) -> Tensor:
        """The global step of each key's last update; -1 if there was none, or that is not kept."""
        return emit("EVGetVersion", self._handle, convert(ids, self.key_dtype))

    def lookup_tier(self, ids: TensorLike) -> Tensor:
        """In which place each key is, 0 being the fastest; -1 if it is in none."""
        return emit("KvResourceLookupTier", self._handle, convert(ids, self.key_dtype))

    def lookup_resource(self) -> Tensor:
        """The number under which a session knows the table."""
        return emit("KvResourceLookupResource", self._handle, **self._types())

    def export(self) -> Exported:
        """Everything in it, as tensors."""
        return Exported(*emit_tensors("KvResourceExport", self._handle, Tkeys=self.key_dtype, Tvalues=self._dtype))

    # ------------------------------------------------------------------------------------------ what it is not

    def _unsupported(self, what: str) -> UnimplementedError:
        return UnimplementedError(
            f'embedding variable "{self._handle.op.name}" has no {what}: it has no value as a whole. Look rows up with '
            "tf.nn.embedding_lookup, and have an optimizer change them"
        )

    def value(self) -> Tensor:
        raise self._unsupported("value()")

    def read_value(self) -> Tensor:
        raise self._unsupported("read_value()")

    def read_value_no_copy(self) -> Tensor:
        raise self._unsupported("value")

    def _as_graph_element(self) -> Tensor:
        raise self._unsupported("value")

    def _ref(self) -> Tensor:
        raise self._unsupported("value")

    def __iter__(self) -> Iterator[Tensor]:
        raise self._unsupported("rows in order")

    def gather_nd(self, indices: TensorLike, name: str | None = None) -> Tensor:
        raise self._unsupported("gather_nd()")

    def assign(
        self, value: TensorLike, use_locking: bool | None = None, name: str | None = None, read_value: bool = True
    ) -> NoReturn:
        raise self._unsupported("assign()")

    def assign_add(
        self, delta: TensorLike, use_locking: bool | None = None, name: str | None = None, read_value: bool = True
    ) -> NoReturn:
        raise self._unsupported("assign_add()")

    def assign_sub(
        self, delta: TensorLike, use_locking: bool | None = None, name: str | None = None, read_value: bool = True
    ) -> NoReturn:
        raise self._unsupported("assign_sub()")

    def load(self, value: Array | Scalar | Sequence[Any], session: SessionLike | None = None) -> NoReturn:
        raise self._unsupported("load()")

    # ------------------------------------------------------------------------------------------ saving

    def _saveables(self, name: str) -> Iterator[Saveable]:
        yield EmbeddingSaveable(self, name)

    def __repr__(self) -> str:
        return f"<tf.EmbeddingVariable '{self.name}' dim={self.dim} key={self.key_dtype.name} value={self.dtype.name}>"
