"""DeepRec's older tables by key, `tf.hash_table`: ops under its names, with its inputs and attributes.

A lookup gives ids for keys, new ones for new keys, and -1 for those that are not let in. Rows are read and changed by
these ids. DeepRec has registered more than it has kernels for (HashTableMapOp, HashTableDeleteKeyOp,
HashTableDirectRestoreOp, TensibleVariableDirectRestoreOp); nothing makes these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.embedding.hash_table.admission import AdmitFrequent, AdmitNobody, AdmitUnlisted
from tensorkeep.embedding.hash_table.table import NOT_ADMITTED, places_of
from tensorkeep.errors import DataLossError, InvalidArgumentError
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.graph import HandleShape, Operation, Tensor
from tensorkeep.graph.messages.attrs import FunctionRef
from tensorkeep.graph.registry.opspec import OpSpec, not_differentiable, op
from tensorkeep.ops.embedding.session_hash_tables import (
    AdmissionResource,
    HashTableResource,
    TensibleResource,
    admission_of,
    rows_to_change,
    table_of,
    variable_of,
)
from tensorkeep.ops.shared.expressions import constant
from tensorkeep.ops.shared.kernel_types import Array, Gradients, Handle
from tensorkeep.ops.shared.shape_rules import SCALAR
from tensorkeep.ops.state.variables import element_shape
from tensorkeep.ops.training.optimizer_steps import rounds
from tensorkeep.runtime.context import KernelContext
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

_NAMED: Final = ("shared_name: string = ''", "container: string = ''")


def _nothing(*tensors: Tensor) -> tuple[()]:
    return ()


# ---------------------------------------------------------------------------------------------------- Tables

hash_table = op("HashTableOp() -> hashtable: resource", *_NAMED, "stateful")
hash_table.kernel_lasts = True


@hash_table.shape
def hash_table_shape() -> Shape:
    return SCALAR


@hash_table.stateful_kernel
def hash_table_kernel(ctx: KernelContext, *, shared_name: bytes, container: bytes) -> HashTableResource:
    return ctx.shared(container, shared_name, HashTableResource, HashTableResource)


hash_table_initialize = op(
    "HashTableInitializeOp(hashtable: resource)",
    "initialized: bool",
    "concurrent_read: bool = true",
    "children: list(string) = []",
    "stateful",
)
hash_table_initialize.shape(_nothing)


@hash_table_initialize.kernel
def hash_table_initialize_kernel(hashtable: Handle, *, initialized: bool, children: tuple[bytes, ...]) -> tuple[()]:
    table_of(hashtable).initialize([child.decode() for child in children], initialized)
    return ()


hash_table_lookup = op("HashTableLookupOp(hashtable: resource, keys: int64) -> ids: int64")


@hash_table_lookup.shape
def hash_table_lookup_shape(hashtable: Tensor, keys: Tensor) -> Shape:
    return keys.static_shape


@hash_table_lookup.kernel
def hash_table_lookup_kernel(hashtable: Handle, keys: Array) -> Array:
    asked = np.asarray(keys)
    return table_of(hashtable).table.ids(asked.reshape(-1)).reshape(asked.shape)


hash_table_lookup_with_admit = op(
    "HashTableLookupWithAdmitOp(hashtable: resource, keys: int64, admit_strategy: resource, freq: int32) -> ids: int64"
)


@hash_table_lookup_with_admit.shape
def hash_table_lookup_with_admit_shape(hashtable: Tensor, keys: Tensor, admit_strategy: Tensor, freq: Tensor) -> Shape:
    return keys.static_shape


@hash_table_lookup_with_admit.kernel
def hash_table_lookup_with_admit_kernel(hashtable: Handle, keys: Array, admit_strategy: Handle, freq: Array) -> Array:
    asked, counts = np.asarray(keys), np.asarray(freq).reshape(-1)
    if counts.size not in (0, asked.size):  # DeepRec reads behind the end
        raise InvalidArgumentError(f"{counts.size} frequencies are given for {asked.size} keys; expected one for each")
    admission = admission_of(admit_strategy).admission
    table = table_of(hashtable).table
    return table.ids(asked.reshape(-1), admission, counts if counts.size else None).reshape(asked.shape)


hash_table_size = op("HashTableSizeOp(hashtable: resource) -> size: int64")


@hash_table_size.shape
def hash_table_size_shape(hashtable: Tensor) -> Shape:
    return SCALAR


@hash_table_size.kernel
def hash_table_size_kernel(hashtable: Handle) -> np.int64:
    return np.int64(len(table_of(hashtable).table))


hash_table_snapshot = op("HashTableSnapshotOp(hashtable: resource) -> keys: int64, ids: int64", "stateful")


@hash_table_snapshot.shape
def hash_table_snapshot_shape(hashtable: Tensor) -> tuple[Shape, Shape]:
    return Shape((None,)), Shape((None,))


@hash_table_snapshot.kernel
def hash_table_snapshot_kernel(hashtable: Handle) -> tuple[Array, Array]:
    return table_of(hashtable).table.items()


hash_table_filter = op(
    "HashTableFilterOp(hashtable: resource, other_arguments: Targuments)",
    "f: func",
    "Targuments: list(type) >= 0",
    "block_size: int",
    "stateful",
)


@hash_table_filter.shape
def hash_table_filter_shape(hashtable: Tensor, other_arguments: list[Tensor]) -> tuple[()]:
    return ()


@hash_table_filter.stateful_kernel
def hash_table_filter_kernel(
    ctx: KernelContext, hashtable: Handle, other_arguments: list[Array], *, f: FunctionRef, block_size: int
) -> tuple[()]:
    if block_size < 1:
        raise InvalidArgumentError(f"block_size {block_size}: expected at least 1")
    table, is_unwanted = table_of(hashtable).table, ctx.function(f)
    keys, ids = table.items()
    for at in range(0, len(keys), block_size):
        some = slice(at, at + block_size)
        mask = np.asarray(is_unwanted(keys[some], ids[some], *other_arguments)[0])
        if mask.shape != keys[some].shape or mask.dtype != np.bool_:
            raise InvalidArgumentError(
                f"the function of a filter gave {mask.dtype} {list(mask.shape)} for {len(keys[some])} keys, expected a "
                "truth value for each"
            )
        table.remove(keys[some][mask])
    return ()


# ---------------------------------------------------------------------------------------------------- Rows

tensible_variable = op("TensibleVariableOp() -> resource: resource", *_NAMED, "dtype: type", "shape: shape", "stateful")
tensible_variable.kernel_lasts = True


@tensible_variable.shape
def tensible_variable_shape(*, dtype: DType, shape: Shape) -> Shape:
    return HandleShape((), dtype, shape)


@tensible_variable.stateful_kernel
def tensible_variable_kernel(
    ctx: KernelContext, *, shared_name: bytes, container: bytes, dtype: DType, shape: Shape
) -> TensibleResource:
    return ctx.shared(container, shared_name, TensibleResource, lambda name: TensibleResource(name, dtype, shape))


tensible_variable_initialize = op(
    "TensibleVariableInitializeOp(resource: resource, hashtable: resource)",
    "dtype: type",
    "shape: shape",
    "factory: func",
    "initialized: bool",
    "stateful",
)
tensible_variable_initialize.shape(_nothing)


@tensible_variable_initialize.stateful_kernel
def tensible_variable_initialize_kernel(
    ctx: KernelContext, resource: Handle, hashtable: Handle, *, factory: FunctionRef, initialized: bool
) -> tuple[()]:
    make = ctx.function(factory)
    variable_of(resource).initialize(table_of(hashtable), lambda: np.asarray(make()[0]), initialized)
    return ()


def _asking_op(signature: str, is_initialized: Callable[[Any], bool]) -> OpSpec:
    spec = op(signature)

    @spec.shape
    def asking_shape(resource: Tensor) -> Shape:
        return SCALAR

    @spec.kernel
    def asking_kernel(resource: Any) -> np.bool_:
        return np.bool_(is_initialized(resource))

    return spec


tensible_variable_is_initialized = _asking_op(
    "TensibleVariableIsInitializedOp(resource: resource) -> is_initialized: bool",
    lambda resource: variable_of(resource).is_initialized,
)

tensible_variable_gather = op(
    "TensibleVariableGather(resource: resource, indices: Tindices, default_value: dtype) -> output: dtype",
    "validate_indices: bool = true",
    "dtype: type",
    "Tindices: {int32, int64}",
)


def _row_shape(resource: Tensor) -> Shape:
    dims = element_shape(resource).dims
    return UNKNOWN_SHAPE if not dims else Shape(dims[1:])


@tensible_variable_gather.shape
def tensible_variable_gather_shape(resource: Tensor, indices: Tensor, default_value: Tensor) -> Shape:
    row = _row_shape(resource)
    return UNKNOWN_SHAPE if row.dims is None else indices.static_shape.concatenate(row)


@tensible_variable_gather.kernel
def tensible_variable_gather_kernel(resource: Handle, indices: Array, default_value: Array) -> Array:
    if np.ndim(default_value):
        raise InvalidArgumentError(f"default_value should be scalar, got the shape {list(np.shape(default_value))}")
    return variable_of(resource).read(np.asarray(indices, np.int64), default_value)


@tensible_variable_gather.gradient
def tensible_variable_gather_gradient(op: Operation, dy: Tensor) -> Gradients:
    handle, indices = op.inputs[:2]
    row = _row_shape(handle).as_tuple()
    values = emit("Reshape", dy, constant(np.array([-1, *row], np.int32)))
    flat = emit("Reshape", indices, constant(np.array([-1], np.int32)))
    return IndexedSlices(values, flat), None, None


def _quotient(rows: Array, values: Array) -> Array:
    """As C++ divides: whole numbers towards zero."""
    if rows.dtype.kind not in "iu":
        return np.divide(rows, values, dtype=rows.dtype)
    if not values.all():
        raise InvalidArgumentError("Integer division by zero")
    exact = np.floor_divide(np.abs(rows), np.abs(values))
    return np.where((rows < 0) != (values < 0), -exact, exact).astype(rows.dtype)


def _scatter_op(name: str, types: str, change: Callable[[Array, Array], Array]) -> OpSpec:
    """An op that changes rows, those of an id that is there several times one after the other."""
    spec = op(
        f"TensibleVariableScatter{name}(resource: resource, indices: Tindices, updates: dtype)",
        f"dtype: {types}",
        "Tindices: {int32, int64}",
    )

    @spec.shape
    def scatter_shape(resource: Tensor, indices: Tensor, updates: Tensor) -> tuple[()]:
        row = _row_shape(resource)
        if row.dims is not None and indices.static_shape.dims is not None:
            updates.static_shape.merge(indices.static_shape.concatenate(row))
        return ()

    @spec.kernel
    def scatter_kernel(resource: Any, indices: Array, updates: Array) -> tuple[()]:
        variable, ids, given = variable_of(resource), np.asarray(indices, np.int64), np.asarray(updates)
        wanted = (*ids.shape, *variable.rows.row_shape)
        if given.shape != wanted:
            raise InvalidArgumentError(f"Data Shape Error {list(wanted)} vs {list(given.shape)}")
        flat = ids.reshape(-1)
        is_known = flat != NOT_ADMITTED
        flat, values = flat[is_known], given.reshape(len(flat), variable.rows.row_size)[is_known]
        with rows_to_change([variable], flat) as (rows,), np.errstate(all="ignore"):
            for chosen in rounds(flat):
                rows.write(flat[chosen], change(rows.read(flat[chosen]), values[chosen]))
        return ()

    not_differentiable(spec)
    return spec


tensible_variable_scatter_add = _scatter_op("Add", "numbertype", np.add)
tensible_variable_scatter_sub = _scatter_op("Sub", "numbertype", np.subtract)
tensible_variable_scatter_mul = _scatter_op("Mul", "numbertype", np.multiply)
tensible_variable_scatter_div = _scatter_op("Div", "numbertype", _quotient)
tensible_variable_scatter_update = _scatter_op("Update", "type", lambda rows, values: values)


hash_slice = op("HashSlice(slicer: int32, keys: int64) -> slice_id: int32", "segment_size: int")


@hash_slice.shape
def hash_slice_shape(slicer: Tensor, keys: Tensor) -> Shape:
    return keys.static_shape


@hash_slice.kernel
def hash_slice_kernel(slicer: Array, keys: Array, *, segment_size: int) -> Array:
    begins = np.asarray(slicer)
    if segment_size < 1:
        raise InvalidArgumentError("Hash Slice segment size should more than 0")
    if begins.ndim != 1 or not begins.size:
        raise InvalidArgumentError(f"Slicer should be rank-1, of at least one; got the shape {list(begins.shape)}")
    places = places_of(np.asarray(keys).reshape(-1), segment_size)
    return (np.searchsorted(begins, places, side="right") - 1).astype(np.int32).reshape(np.shape(keys))


copy_tensor = op("CopyTensor(src: T) -> dst: T", "T: type", "stateful")


@copy_tensor.shape
def copy_tensor_shape(src: Tensor) -> Shape:
    return src.static_shape


@copy_tensor.kernel
def copy_tensor_kernel(src: Array) -> Array:
    return np.array(src)


# ---------------------------------------------------------------------------------------------------- Who lets keys in


def _admission_op(signature: str, make: Callable[[], Any]) -> OpSpec:
    spec = op(signature, *_NAMED, "stateful")
    spec.kernel_lasts = True

    @spec.shape
    def admission_shape() -> Shape:
        return SCALAR

    @spec.stateful_kernel
    def admission_kernel(ctx: KernelContext, *, shared_name: bytes, container: bytes) -> AdmissionResource:
        return ctx.shared(container, shared_name, AdmissionResource, lambda name: AdmissionResource(name, make()))

    return spec


read_only_admission = _admission_op("ReadOnlyHashTableAdmitStrategyOp() -> strategy: resource", AdmitNobody)
black_list_admission = _admission_op("BlackListHashTableAdmitStrategyOp() -> strategy: resource", AdmitUnlisted)
bloom_filter_admission = _admission_op("BloomFilterAdmitStrategyOp() -> admit_strategy: resource", lambda: None)

bloom_filter_is_initialized = _asking_op(
    "BloomFilterIsInitializedOp(resource: resource) -> is_initialized: bool",
    lambda resource: admission_of(resource).is_initialized,
)

bloom_filter_initialize = op(
    "BloomFilterInitializeOp(admit_strategy: resource)",
    "min_frequency: int",
    "num_hash_func: int",
    "slice_offset: int = 0",
    "max_slice_size: int = 1",
    "dtype: {uint8, uint16, uint32}",
    "shape: shape",
    "initialized: bool",
    "stateful",
)
bloom_filter_initialize.shape(_nothing)


@bloom_filter_initialize.kernel
def bloom_filter_initialize_kernel(
    admit_strategy: Handle,
    *,
    min_frequency: int,
    num_hash_func: int,
    slice_offset: int,
    max_slice_size: int,
    dtype: DType,
    shape: Shape,
    initialized: bool,
) -> tuple[()]:
    sizes = shape.as_tuple()
    if len(sizes) != 2:
        raise InvalidArgumentError(f"Invalid shape, must be 2-dimensional: {shape}")

    def made() -> AdmitFrequent:
        where = (slice_offset, max_slice_size)
        return AdmitFrequent(min_frequency, num_hash_func, (sizes[0], sizes[1]), dtype.array_dtype, *where)

    admission_of(admit_strategy).initialize(made, initialized)
    return ()


bloom_filter_admit = op(
    "BloomFilterAdmitOp(admit_strategy: resource, keys: int64, frequencies: T) -> admit: bool",
    "T: {uint8, uint16, uint32}",
    "stateful",
)


@bloom_filter_admit.shape
def bloom_filter_admit_shape(admit_strategy: Tensor, keys: Tensor, frequencies: Tensor) -> Shape:
    return frequencies.static_shape


@bloom_filter_admit.kernel
def bloom_filter_admit_kernel(admit_strategy: Handle, keys: Array, frequencies: Array) -> Array:
    asked, counts = np.asarray(keys).reshape(-1), np.asarray(frequencies)
    if counts.size != asked.size:
        raise InvalidArgumentError(f"keys size {asked.size} not match to frequency size {counts.size}")
    admitted = admission_of(admit_strategy).admission.admits(asked, counts.reshape(-1).astype(np.int64))
    return admitted.reshape(counts.shape)


init_black_list = op(
    "InitBlackList(strategies: resource, fea_names: string, slices: int64, thresholds: double, file_names: string)",
    "stateful",
)
init_black_list.shape(_nothing)


@init_black_list.stateful_kernel
def init_black_list_kernel(
    ctx: KernelContext, strategies: Handle, fea_names: Array, slices: Array, thresholds: Array, file_names: Array
) -> tuple[()]:
    """Reads files of keys that are to be kept out of a table: of each feature, those whose number is below the
    feature's threshold, in the feature's range of keys.

    DeepRec's kernel copies what it knows of a feature before it fills it in, and so keeps no key out; this does what
    its loop over the files means (black_list_op.cc).
    """
    lists = [admission_of(one).as_kind(AdmitUnlisted) for one in np.asarray(strategies, object).reshape(-1)]
    names = np.asarray(fea_names).reshape(-1).tolist()
    ranges, limits = np.asarray(slices).reshape(-1, 2), np.asarray(thresholds).reshape(-1)
    if not len(lists) == len(names) == len(ranges) == len(limits):
        raise InvalidArgumentError(
            f"{len(lists)} lists, {len(names)} names of features, {len(ranges)} ranges and {len(limits)} thresholds: "
            "expected as many of each"
        )
    of_features = dict(zip(names, zip(lists, ranges.tolist(), limits.tolist(), strict=True), strict=True))
    for file_name in np.asarray(file_names).reshape(-1).tolist():
        path = file_name.decode()
        file = ctx.filesystem.open(path)
        try:
            _keep_out(bytes(file.read(0, file.size)), path, of_features)
        finally:
            file.close()
    return ()


def _keep_out(data: bytes, path: str, of_features: dict[bytes, Any]) -> None:
    """Has the tables of features keep out the keys of a file whose number is below the feature's threshold.

    record = length of a name (int32)  name  key (int64)  number (double)
    """
    keys: dict[bytes, list[int]] = {}
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at : at + 4], "little", signed=True)
        end = at + 4 + size + 16
        if size < 0 or end > len(data):
            raise DataLossError(f'"{path}": the record at byte {at} of a list of keys is cut off or damaged')
        feature = of_features.get(data[at + 4 : at + 4 + size])
        key = int.from_bytes(data[end - 16 : end - 8], "little", signed=True)
        number = float(np.frombuffer(data[end - 8 : end], np.float64)[0])
        if feature is not None and number < feature[2] and feature[1][0] <= key & 0xFF < feature[1][1]:
            keys.setdefault(data[at + 4 : at + 4 + size], []).append(key)
        at = end
    for name, found in keys.items():
        of_features[name][0].keep_out(np.array(found, np.int64))


not_differentiable(hash_table_lookup, hash_table_lookup_with_admit, hash_table_size, hash_table_snapshot)
not_differentiable(hash_slice, bloom_filter_admit, bloom_filter_is_initialized, tensible_variable_is_initialized)
