"""Lookup tables for programs: those that an initializer fills, and vocabularies; the others beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, Protocol, TypeVar
from uuid import uuid4

from tensorkeep.dtypes import INT64, STRING, DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, TensorLike, emit
from tensorkeep.graph.building import chosen_name, current_graph, device, graph_of, init_scope, name_scope
from tensorkeep.graph.collections import GraphKeys, add_to_collection, get_collection
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.ops.shared.expressions import cast, plain, size_of, span
from tensorkeep.ops.shared.indexing import static_value
from tensorkeep.ops.state import lookup_tables as lookup_ops
from tensorkeep.ops.state.lookup_table_values import LINE_NUMBER, WHOLE_LINE
from tensorkeep.tf1.functions import composites  # noqa: F401 - so that sessions fetch and feed sparse tensors
from tensorkeep.tf1.functions.constants import dtype_text
from tensorkeep.tf1.functions.control.grouping import group, no_op
from tensorkeep.tf1.functions.data.mutable_tables import DenseHashTable, MutableHashTable, TableSaveable
from tensorkeep.tf1.functions.parsing.strings import (
    as_string,
    string_to_hash_bucket,
    string_to_hash_bucket_fast,
    string_to_hash_bucket_strong,
)

_Keys = TypeVar("_Keys", Tensor, SparseTensor)


def tables_initializer(name: str = "init_all_tables") -> Operation:
    """An operation that fills all tables of the graph."""
    initializers = get_collection(current_graph(), GraphKeys.TABLE_INITIALIZERS)
    return group(*initializers, name=name) if initializers else no_op(name=name)


def initialize_all_tables(name: str = "init_all_tables") -> Operation:
    """The old name of `tables_initializer`."""
    return tables_initializer(name)


# ---------------------------------------------------------------------------------------------------- Initializers


class Table(Protocol):
    """What an initializer needs to know of a table."""

    @property
    def key_dtype(self) -> DType: ...

    @property
    def value_dtype(self) -> DType: ...

    @property
    def resource_handle(self) -> Tensor: ...


class Initializer(Protocol):
    """What fills a table."""

    key_dtype: DType
    value_dtype: DType

    @property
    def shared_name(self) -> str:
        """The name under which tables filled alike are one; empty if they are not."""

    def initialize(self, table: Table) -> Operation: ...


def _check_types(table: Table, key_dtype: DType, value_dtype: DType) -> None:
    for what, wanted, found in (("key", table.key_dtype, key_dtype), ("value", table.value_dtype, value_dtype)):
        if found.base_dtype is not wanted:
            raise WrongTypeError(
                f"Invalid {what} dtype for table, expected {dtype_text(wanted)} but got {dtype_text(found)}."
            )


class KeyValueTensorInitializer:
    """Fills a table from a tensor of keys and one of values."""

    def __init__(
        self,
        keys: TensorLike,
        values: TensorLike,
        key_dtype: DTypeLike | None = None,
        value_dtype: DTypeLike | None = None,
        name: str | None = None,
    ) -> None:
        self._keys = _outside(lambda: convert(keys, _dtype(key_dtype), "keys"))
        self._values = _outside(lambda: convert(values, _dtype(value_dtype), "values"))
        self._name = name if name is not None else "key_value_init"
        self.key_dtype = self._keys.dtype.base_dtype
        self.value_dtype = self._values.dtype.base_dtype

    @property
    def shared_name(self) -> str:
        return ""

    def initialize(self, table: Table) -> Operation:
        _check_types(table, self._keys.dtype, self._values.dtype)
        with name_scope(self._name, table.resource_handle.graph):
            made: Operation = lookup_ops.import_v2(table.resource_handle, self._keys, self._values)
        add_to_collection(made.graph, GraphKeys.TABLE_INITIALIZERS, made)
        return made


def _dtype(value: Any) -> DType | None:
    return None if value is None else DType.of(value)


def _outside(make: Callable[[], Any]) -> Any:
    """What is made outside of branches and loops, if one is being built."""
    if current_graph().scopes.control_flow is None:
        return make()
    with init_scope():
        return make()


class TextFileIndex:
    """Two values for a column number that mean no column: the whole line, and the number of the line."""

    WHOLE_LINE = WHOLE_LINE
    LINE_NUMBER = LINE_NUMBER


class TextFileInitializer:
    """Fills a table from the lines of a text file."""

    def __init__(
        self,
        filename: TensorLike,
        key_dtype: DTypeLike,
        key_index: int,
        value_dtype: DTypeLike,
        value_index: int,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = None,
        value_index_offset: int = 0,
    ) -> None:
        if not isinstance(filename, Tensor) and not filename:
            raise InvalidArgumentError("`filename` argument required for tf.lookup.TextFileInitializer")
        self.key_dtype = DType.of(key_dtype)
        self.value_dtype = DType.of(value_dtype)
        for what, index, dtype in (
            ("key", key_index, self.key_dtype),
            ("value", value_index, self.value_dtype),
        ):
            _check_column(what, index, dtype)
        if vocab_size is not None and vocab_size <= 0:
            raise InvalidArgumentError(f"`vocab_size` should be > 0, received: {vocab_size}")
        self._filename = filename
        self._columns = (key_index, value_index)
        self._vocab_size = vocab_size
        self._delimiter = delimiter
        self._name = name
        self._offset = value_index_offset
        with init_scope(), device("CPU"):
            self._path = convert(filename, STRING, "asset_path")

    def initialize(self, table: Table) -> Operation:
        _check_types(table, self.key_dtype, self.value_dtype)
        with name_scope(chosen_name(self._name, "text_file_init"), table.resource_handle.graph):
            made: Operation = lookup_ops.initialize_from_file_v2(
                table.resource_handle,
                self._path,
                key_index=self._columns[0],
                value_index=self._columns[1],
                vocab_size=-1 if self._vocab_size is None else self._vocab_size,
                delimiter=self._delimiter,
                offset=self._offset,
            )
        add_to_collection(made.graph, GraphKeys.TABLE_INITIALIZERS, made)
        if self._path.op.type == "Const":
            add_to_collection(made.graph, GraphKeys.ASSET_FILEPATHS, self._path)
        return made

    @property
    def shared_name(self) -> str:
        parts = [self._filename, self._vocab_size, *self._columns, self._offset]
        if not self._vocab_size:
            parts.pop(1)
        if not self._offset:
            parts.pop()
        return "_".join(["hash_table", *map(str, parts)])


def _check_column(what: str, index: int, dtype: DType) -> None:
    if index < WHOLE_LINE:
        raise InvalidArgumentError(f"`{what}_index` should be >= -2, received: {index}.")
    if index == LINE_NUMBER and dtype is not INT64:
        raise InvalidArgumentError(
            f"`{what}_dtype` must be int64 if `{what}_index` is {LINE_NUMBER}, received: {dtype_text(dtype)}"
        )
    if index == WHOLE_LINE and not dtype.is_integer and dtype is not STRING:
        raise InvalidArgumentError(
            f"`{what}_dtype` should be either integer or string for `{what}_index` {WHOLE_LINE}, "
            f"received: {dtype_text(dtype)}"
        )


class TextFileStringTableInitializer(TextFileInitializer):
    """Fills a table from line numbers to lines."""

    def __init__(
        self,
        filename: TensorLike,
        key_column_index: int = LINE_NUMBER,
        value_column_index: int = WHOLE_LINE,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str = "text_file_string_table_init",
    ) -> None:
        super().__init__(filename, INT64, key_column_index, STRING, value_column_index, vocab_size, delimiter, name)


class TextFileIdTableInitializer(TextFileInitializer):
    """Fills a table from lines to line numbers."""

    def __init__(
        self,
        filename: TensorLike,
        key_column_index: int = WHOLE_LINE,
        value_column_index: int = LINE_NUMBER,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str = "text_file_id_table_init",
        key_dtype: DTypeLike = STRING,
    ) -> None:
        super().__init__(filename, key_dtype, key_column_index, INT64, value_column_index, vocab_size, delimiter, name)


# ---------------------------------------------------------------------------------------------------- Static tables


def _values_of(keys: Tensor | SparseTensor) -> Tensor:
    return keys.values if isinstance(keys, SparseTensor) else keys


def _with_values(keys: _Keys, values: Tensor) -> _Keys:
    """The values in the place of the keys: of a sparse tensor of keys, a sparse tensor."""
    return keys.with_values(values) if isinstance(keys, SparseTensor) else values


def _check_keys(keys: Any, wanted: DType) -> None:
    if keys.dtype.base_dtype is not wanted:
        raise WrongTypeError(
            f"Dtype of argument `keys` must be {dtype_text(wanted)}, received: {dtype_text(keys.dtype)}"
        )


class StaticHashTable:
    """A table that its initializer fills and nothing changes; keys that it lacks have the default value."""

    def __init__(
        self,
        initializer: Initializer,
        default_value: TensorLike,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        self.key_dtype = initializer.key_dtype
        self.value_dtype = initializer.value_dtype
        self._initializer = initializer
        self.default_value = convert(default_value, self.value_dtype)
        if self.default_value.static_shape.rank not in (None, 0):
            raise InvalidArgumentError(f"the default value must be a scalar, got {self.default_value}")
        with init_scope():
            self.resource_handle = self._make(name or "hash_table", experimental_is_anonymous)
        self.name = self.resource_handle.op.name.rpartition("/")[2]
        self.initializer: Operation = _outside(lambda: initializer.initialize(self))

    def _make(self, name: str, is_anonymous: bool) -> Tensor:
        types: dict[str, Any] = {"key_dtype": self.key_dtype, "value_dtype": self.value_dtype}
        if is_anonymous:
            return emit(lookup_ops.anonymous_hash_table, name=name, **types)
        shared = self._initializer.shared_name or f"hash_table_{uuid4()}"
        return emit(lookup_ops.hash_table_v2, shared_name=shared, name=name, **types)

    @property
    def init(self) -> Operation:
        """The old name of `initializer`."""
        return self.initializer

    def size(self, name: str | None = None) -> Tensor:
        """How many entries the table has."""
        with name_scope(chosen_name(name, f"{self.name}_Size"), self.resource_handle.graph):
            return emit(lookup_ops.size_v2, self.resource_handle)

    def lookup(self, keys: _Keys, name: str | None = None) -> _Keys:
        """The values of keys; of a sparse tensor of keys, a sparse tensor."""
        _check_keys(keys, self.key_dtype)
        found = _values_of(keys)
        with name_scope(chosen_name(name, f"{self.name}_Lookup"), self.resource_handle.graph):
            values = emit(lookup_ops.find_v2, self.resource_handle, found, self.default_value)
        values.set_shape(found.get_shape())
        return _with_values(keys, values)

    def __getitem__(self, keys: _Keys) -> _Keys:
        return self.lookup(keys)

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """All keys and their values, in no order to rely on."""
        types: dict[str, Any] = {"Tkeys": self.key_dtype, "Tvalues": self.value_dtype}
        with name_scope(chosen_name(name, f"{self.name}_Export"), self.resource_handle.graph):
            keys, values = lookup_ops.export_v2(self.resource_handle, **types)
        values.set_shape(keys.static_shape.concatenate(self.default_value.static_shape))
        return keys, values


class HasherSpec(NamedTuple):
    """Which hash assigns unknown keys to buckets."""

    hasher: str
    key: Sequence[int] | None


FastHashSpec: Final = HasherSpec("fasthash", None)


def StrongHashSpec(key: Sequence[int]) -> HasherSpec:  # noqa: N802 - TensorFlow's name
    """The keyed hash, with a key of two numbers."""
    if len(key) != 2:
        raise InvalidArgumentError(f"`key` must have size 2, received {len(key)}")
    if not all(isinstance(part, int) for part in key):
        raise WrongTypeError(f"Invalid key {key}. Must be unsigned integer values.")
    return HasherSpec("stronghash", tuple(key))


class IdTableWithHashBuckets:
    """A table of ids that gives unknown keys ids behind its own, by their hash."""

    def __init__(
        self,
        table: StaticHashTable | None,
        num_oov_buckets: int,
        hasher_spec: HasherSpec = FastHashSpec,
        name: str | None = None,
        key_dtype: DTypeLike | None = None,
    ) -> None:
        if name:
            name = name.rstrip("/")
        wanted = _dtype(key_dtype)
        if table is not None:
            wanted = _checked_key_dtype(table, wanted)
            name = name or table.name
        else:
            if num_oov_buckets <= 0:
                raise InvalidArgumentError("`oov_buckets` must be > 0 if no `table` is supplied.")
            wanted = wanted or STRING
            name = name or "hash_bucket"
        if not wanted.is_integer and wanted is not STRING:
            raise WrongTypeError(f"Invalid `key_dtype`, expected integer or string, got {dtype_text(wanted)}.")
        if not isinstance(hasher_spec, HasherSpec):
            raise WrongTypeError(f"`hasher_spec` must be of type HasherSpec, got {type(hasher_spec)}.")
        self.key_dtype = wanted
        self.value_dtype = INT64
        self.name = name.rpartition("/")[2] if name else None
        self._table = table
        self._buckets = num_oov_buckets
        self._hasher = hasher_spec

    @property
    def initializer(self) -> Operation:
        if self._table is not None:
            return self._table.initializer
        with name_scope("init"):
            return no_op()

    @property
    def init(self) -> Operation:
        """The old name of `initializer`."""
        return self.initializer

    @property
    def resource_handle(self) -> Tensor | None:
        return None if self._table is None else self._table.resource_handle

    def size(self, name: str | None = None) -> Tensor:
        """How many ids there are."""
        with name_scope(chosen_name(name, f"{self.name}_Size")):
            known = self._table.size() if self._table is not None else convert(0, INT64)
            return plain("AddV2", known, self._buckets, "add")

    def lookup(self, keys: _Keys, name: str | None = None) -> _Keys:
        """The ids of keys; of a sparse tensor of keys, a sparse tensor."""
        _check_keys(keys, self.key_dtype)
        values = _values_of(keys)
        if self._table is not None and self._table.key_dtype is INT64:
            values = cast(values, INT64)
        if self._buckets == 0 and self._table is not None:
            return _with_values(keys, self._table.lookup(values, name=name))
        with name_scope(chosen_name(name, f"{self.name}_Lookup"), graph_of([values])):
            text = values if values.dtype.base_dtype is STRING else as_string(values)
            buckets = self._hash()(text, num_buckets=self._buckets, name="hash_bucket")
            ids = buckets if self._table is None else _known_or_bucket(self._table, values, buckets)
        return _with_values(keys, ids)

    def __getitem__(self, keys: _Keys) -> _Keys:
        return self.lookup(keys)

    def _hash(self) -> Callable[..., Tensor]:
        if self._hasher.hasher == "fasthash":
            return string_to_hash_bucket_fast
        if self._hasher.hasher == "legacy":
            return string_to_hash_bucket
        if self._hasher.hasher == "stronghash":
            return partial(string_to_hash_bucket_strong, key=self._hasher.key or ())
        raise InvalidArgumentError(f"Found unknown hasher {self._hasher.hasher} in `hasher_spec`")


def _checked_key_dtype(table: Any, key_dtype: DType | None) -> DType:
    wanted = key_dtype or table.key_dtype
    if table.key_dtype not in (INT64, STRING):
        raise WrongTypeError(
            f"Invalid `key_dtype`, expected one of {(dtype_text(INT64), dtype_text(STRING))}, "
            f"received {dtype_text(wanted)}."
        )
    if table.key_dtype.is_integer != wanted.is_integer:
        kind = "integer" if wanted.is_integer else "non-integer"
        raise WrongTypeError(f"Invalid `key dtype`, expected {kind} but got {dtype_text(table.key_dtype)}.")
    if table.value_dtype is not INT64:
        raise WrongTypeError(f"Invalid `value_dtype`: expected int64 but got {dtype_text(table.value_dtype)}.")
    return wanted


def _known_or_bucket(table: Any, values: Tensor, buckets: Tensor) -> Tensor:
    ids = table.lookup(values)
    behind = emit("AddV2", buckets, table.size(), name="Add")
    is_known = emit("NotEqual", ids, table.default_value)
    return emit("SelectV2", is_known, ids, behind)


class StaticVocabularyTable:
    """A table of ids, filled by an initializer, that gives unknown keys ids behind its own, by their hash."""

    def __init__(
        self,
        initializer: Initializer | None,
        num_oov_buckets: int,
        lookup_key_dtype: DTypeLike | None = None,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        if num_oov_buckets <= 0:
            raise InvalidArgumentError("`num_oov_buckets` must be > 0; use StaticHashTable.")
        wanted = _dtype(lookup_key_dtype)
        table = None
        if initializer is not None:
            wanted = _checked_key_dtype(initializer, wanted)
            table = StaticHashTable(initializer, -1, experimental_is_anonymous=experimental_is_anonymous)
        self._ids = IdTableWithHashBuckets(table, num_oov_buckets, name=name, key_dtype=wanted or STRING)
        self.key_dtype = self._ids.key_dtype
        self.value_dtype = INT64
        self.name = self._ids.name

    @property
    def initializer(self) -> Operation:
        return self._ids.initializer

    @property
    def resource_handle(self) -> Tensor | None:
        return self._ids.resource_handle

    def size(self, name: str | None = None) -> Tensor:
        """How many ids there are."""
        return self._ids.size(name)

    def lookup(self, keys: _Keys, name: str | None = None) -> _Keys:
        """The ids of keys; of a sparse tensor of keys, a sparse tensor."""
        return self._ids.lookup(keys, name)

    def __getitem__(self, keys: _Keys) -> _Keys:
        return self.lookup(keys)


# ---------------------------------------------------------------------------------------------------- Vocabularies


def index_table_from_file(
    vocabulary_file: TensorLike | None = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: TensorLike = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    key_dtype: DTypeLike = STRING,
    name: str | None = None,
    key_column_index: int = WHOLE_LINE,
    value_column_index: int = LINE_NUMBER,
    delimiter: str = "\t",
) -> StaticHashTable | IdTableWithHashBuckets:
    """A table from the lines of a file to their numbers."""
    vocabulary_file = _check_file(vocabulary_file)
    _check_buckets(num_oov_buckets)
    if vocab_size is not None and vocab_size < 1:
        shown = vocabulary_file
        if isinstance(vocabulary_file, Tensor):
            shown = static_value(vocabulary_file) or "?"
        raise InvalidArgumentError(
            f"`vocab_size` must be greater than 0, got {vocab_size} for vocabulary_file: {shown}."
        )
    dtype = DType.of(key_dtype)
    if not dtype.is_integer and dtype.base_dtype is not STRING:
        raise WrongTypeError("Dtype for `keys` should be either integer or string.")
    with name_scope(chosen_name(name, "string_to_index")):
        with name_scope("hash_table"):
            init = TextFileIdTableInitializer(
                vocabulary_file,
                key_column_index,
                value_column_index,
                vocab_size,
                delimiter,
                "table_init",
                INT64 if dtype.is_integer else dtype,
            )
            table = StaticHashTable(init, default_value)
        if num_oov_buckets:
            return IdTableWithHashBuckets(table, num_oov_buckets, hasher_spec, key_dtype=dtype)
        return table


def index_table_from_tensor(
    vocabulary_list: TensorLike,
    num_oov_buckets: int = 0,
    default_value: TensorLike = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    dtype: DTypeLike = STRING,
    name: str | None = None,
) -> StaticHashTable | IdTableWithHashBuckets:
    """A table from the elements of a vector to their places."""
    if vocabulary_list is None:
        raise InvalidArgumentError("`vocabulary_list` must be specified.")
    _check_buckets(num_oov_buckets)
    wanted = DType.of(dtype)
    if not wanted.is_integer and wanted.base_dtype is not STRING:
        raise WrongTypeError("`dtype` must either be integer or string.")
    with name_scope(chosen_name(name, "string_to_index")):
        keys = convert(vocabulary_list)
        found = keys.dtype.base_dtype
        if found.is_integer != wanted.is_integer or (not wanted.is_integer and found is not wanted):
            expected = (
                ("integer" if wanted.is_integer else "non-integer") if found.is_integer != wanted.is_integer else wanted
            )
            raise InvalidArgumentError(f"Invalid `dtype`: Expected {expected}, got {dtype_text(found)}.")
        places = cast(span(0, size_of(keys)), INT64)
        with name_scope("hash_table"):
            table_keys = cast(keys, INT64) if found.is_integer else keys
            init = KeyValueTensorInitializer(table_keys, places, table_keys.dtype.base_dtype, INT64, "table_init")
            table = StaticHashTable(init, default_value)
        if num_oov_buckets:
            return IdTableWithHashBuckets(table, num_oov_buckets, hasher_spec, key_dtype=wanted)
        return table


def index_to_string_table_from_file(
    vocabulary_file: TensorLike,
    vocab_size: int | None = None,
    default_value: TensorLike = "UNK",
    name: str | None = None,
    key_column_index: int = LINE_NUMBER,
    value_column_index: int = WHOLE_LINE,
    delimiter: str = "\t",
) -> StaticHashTable:
    """A table from line numbers to the lines of a file."""
    _check_file(vocabulary_file)
    if vocab_size is not None and vocab_size < 1:
        raise InvalidArgumentError(f"`vocab_size` must be greater than 0, got {vocab_size}.")
    with name_scope(chosen_name(name, "index_to_string")):
        init = TextFileStringTableInitializer(
            vocabulary_file, key_column_index, value_column_index, vocab_size, delimiter, "table_init"
        )
        return StaticHashTable(init, default_value)


def index_to_string_table_from_tensor(
    vocabulary_list: TensorLike, default_value: TensorLike = "UNK", name: str | None = None
) -> StaticHashTable:
    """A table from places to the elements of a vector."""
    if vocabulary_list is None:
        raise InvalidArgumentError("`vocabulary_list` argument must be specified.")
    with name_scope(chosen_name(name, "index_to_string")):
        values = convert(vocabulary_list, STRING)
        places = cast(span(0, size_of(values)), INT64)
        init = KeyValueTensorInitializer(places, values, INT64, STRING, "table_init")
        return StaticHashTable(init, default_value)


def _check_file(vocabulary_file: TensorLike | None) -> TensorLike:
    """The file, which must have been given."""
    if vocabulary_file is None or (isinstance(vocabulary_file, str) and not vocabulary_file):
        raise InvalidArgumentError("`vocabulary_file` must be specified and must not be empty.")
    return vocabulary_file


def _check_buckets(count: int) -> None:
    if count < 0:
        raise InvalidArgumentError(f"num_oov_buckets must be greater or equal than 0, got {count}.")


__all__ = [
    "DenseHashTable",
    "FastHashSpec",
    "HasherSpec",
    "IdTableWithHashBuckets",
    "KeyValueTensorInitializer",
    "MutableHashTable",
    "StaticHashTable",
    "StaticVocabularyTable",
    "StrongHashSpec",
    "TableSaveable",
    "TextFileIdTableInitializer",
    "TextFileIndex",
    "TextFileInitializer",
    "TextFileStringTableInitializer",
    "index_table_from_file",
    "index_table_from_tensor",
    "index_to_string_table_from_file",
    "index_to_string_table_from_tensor",
    "initialize_all_tables",
    "tables_initializer",
]
