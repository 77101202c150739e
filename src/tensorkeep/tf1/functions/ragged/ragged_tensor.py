"""Ragged tensors: tensors some of whose dimensions have rows of different lengths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Final, TypeAlias, Union

from tensorkeep.dtypes import INT32, INT64, VARIANT, DType
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, Feeds, SessionLike, ShapeLike, TensorLike, emit
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import EXTENSIONS, Graph, Operation, Tensor
from tensorkeep.graph.tensor_shape import TensorShape, plain_shape
from tensorkeep.ops.ragged.tensors import ragged_tensor_to_sparse, ragged_tensor_to_tensor
from tensorkeep.ops.ragged.variants import ragged_tensor_from_variant, ragged_tensor_to_variant
from tensorkeep.runtime.composite_values import RaggedTensorValue
from tensorkeep.runtime.fetches import register_fetch
from tensorkeep.tf1.functions import composites  # noqa: F401 - so that sessions fetch and feed the parts
from tensorkeep.tf1.functions.arrays.shapes import concat, ones, scope_of, stack, zeros
from tensorkeep.tf1.functions.arrays.shapes import reshape as reshaped
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.arrays.slicing import gather
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.assertions import assert_equal, assert_rank_at_least
from tensorkeep.tf1.functions.numbers.elementwise import cast, maximum
from tensorkeep.tf1.functions.numbers.reductions import reduce_max, reduce_prod
from tensorkeep.tf1.functions.ragged import row_partition
from tensorkeep.tf1.functions.ragged.row_partition import RowPartition, check_flag

Values: TypeAlias = Union[Tensor, "RaggedTensor"]
RaggedLike: TypeAlias = "TensorLike | RaggedTensorValue"
"""What a tensor, or a ragged one, is made of."""

RAGGED_OPERATORS: Final[dict[str, Callable[..., Any]]] = {}
"""What Python's operators do with ragged tensors, filled in by the modules that know: "add", "radd", "getitem", …"""

RAGGED_SOURCES: Final[dict[str, Callable[..., Any]]] = {}
"""What makes ragged tensors of dense and of sparse ones: "from_tensor", "from_sparse"."""


def _operator(word: str) -> Callable[..., Any]:
    def operate(self: RaggedTensor, *others: Any) -> Any:
        return RAGGED_OPERATORS[word](self, *others)

    return operate


class RaggedTensor:
    """Values, and a partition of them into rows; the values may be ragged again."""

    def __init__(self, values: Values, row_partition: RowPartition, internal: bool = False) -> None:
        if not internal:
            raise InvalidArgumentError(
                "RaggedTensor constructor is private; please use one of the factory methods instead (e.g., "
                "RaggedTensor.from_row_lengths())"
            )
        if not isinstance(values, Tensor | RaggedTensor):
            raise WrongTypeError(f"type(values) must be one of: Tensor, RaggedTensor, got {values}.")
        values.shape.with_rank_at_least(1)
        self._values = values
        self._row_partition = row_partition

    # ------------------------------------------------------------------------------------------------ Making

    @classmethod
    def _from_row_partition(cls, values: Any, row_partition: RowPartition, validate: bool = True) -> RaggedTensor:
        check_flag(validate)
        values = as_values(values)
        if isinstance(values, RaggedTensor) and values._row_partition.dtype is not row_partition.dtype:
            raise InvalidArgumentError(
                "Argument `row_partition` of RaggedTensor with name: partition must have same dtype as Argument "
                f"`values`. ({row_partition.dtype} vs. {values._row_partition.dtype})."
            )
        if row_partition.rowids is not None:
            values.shape[:1].assert_is_compatible_with(row_partition.rowids.shape)
        if validate:
            message = "Arguments to _from_row_partition do not form a valid RaggedTensor"
            count = nrows(values, row_partition.dtype)
            parted = cast(row_partition.nvals(), row_partition.dtype)
            checks = [assert_equal(parted, count, message=message)]
            if not isinstance(values, RaggedTensor):
                checks.append(assert_rank_at_least(values, 1))
            row_partition = row_partition.after(checks)
        return cls(values, row_partition, internal=True)

    @classmethod
    def from_value_rowids(
        cls,
        values: RaggedLike,
        value_rowids: TensorLike,
        nrows: TensorLike | None = None,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Rows by the row of each value."""
        check_flag(validate)
        with scope_of(name, "RaggedFromValueRowIds", values, value_rowids, nrows):
            parted = row_partition.from_value_rowids(value_rowids, nrows, validate, _splits_dtype(values))
            return cls._from_row_partition(values, parted, validate)

    @classmethod
    def from_row_splits(
        cls, values: RaggedLike, row_splits: TensorLike, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Rows by where they end, after a zero."""
        check_flag(validate)
        with scope_of(name, "RaggedFromRowSplits", values, row_splits):
            parted = row_partition.from_row_splits(row_splits, validate, _splits_dtype(values))
            return cls._from_row_partition(values, parted, validate)

    @classmethod
    def from_row_lengths(
        cls, values: RaggedLike, row_lengths: TensorLike, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """The ragged tensor whose rows are values after one another, cut by the lengths of rows."""
        check_flag(validate)
        with scope_of(name, "RaggedFromRowLengths", values, row_lengths):
            parted = row_partition.from_row_lengths(row_lengths, validate, _splits_dtype(values))
            return cls._from_row_partition(values, parted, validate)

    @classmethod
    def from_row_starts(
        cls, values: RaggedLike, row_starts: TensorLike, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Rows by where they begin."""
        check_flag(validate)
        with scope_of(name, "RaggedFromRowStarts", values, row_starts):
            values = as_values(values)
            parted = row_partition.from_row_starts(row_starts, nrows(values), validate, _splits_dtype(values))
            return cls._from_row_partition(values, parted, validate)

    @classmethod
    def from_row_limits(
        cls, values: RaggedLike, row_limits: TensorLike, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Rows by where they end."""
        check_flag(validate)
        with scope_of(name, "RaggedFromRowLimits", values, row_limits):
            values = as_values(values)
            parted = row_partition.from_row_limits(row_limits, validate, _splits_dtype(values))
            return cls._from_row_partition(values, parted, validate)

    @classmethod
    def from_uniform_row_length(
        cls,
        values: RaggedLike,
        uniform_row_length: TensorLike,
        nrows: TensorLike | None = None,
        validate: bool = True,
        name: str | None = None,
    ) -> RaggedTensor:
        """Rows that all have one length."""
        check_flag(validate)
        with scope_of(name, "RaggedFromUniformRowLength", values, uniform_row_length, nrows):
            values = as_values(values)
            hint = _splits_dtype(values)
            length = row_partition.convert_row_partition(uniform_row_length, "UniformRowLength", hint)
            count = _value_count(values, length.dtype)
            parted = row_partition.from_uniform_row_length(length, count, nrows, validate, hint)
            return cls._from_row_partition(values, parted, validate)

    @classmethod
    def from_nested_value_rowids(
        cls,
        flat_values: RaggedLike,
        nested_value_rowids: Sequence[TensorLike],
        nested_nrows: Sequence[TensorLike | None] | None = None,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Rows of rows, by the row of each value, from the outermost dimension to the innermost."""
        check_flag(validate)
        _check_list("nested_value_rowids", nested_value_rowids)
        counts = [None] * len(nested_value_rowids) if nested_nrows is None else nested_nrows
        _check_list("nested_nrows", counts)
        if len(counts) != len(nested_value_rowids):
            raise InvalidArgumentError(
                "Argument `nested_nrows` must have the same length as argument `nested_value_rowids`. "
                f"len(nested_nrows) = {len(counts)} vs. len(nested_values_rowids) = {len(nested_value_rowids)}."
            )
        with scope_of(name, "RaggedFromNestedValueRowIds", flat_values, *nested_value_rowids, *counts):
            result: Any = flat_values
            for ids, count in reversed(list(zip(nested_value_rowids, counts, strict=True))):
                result = cls.from_value_rowids(result, ids, count, validate=validate)
            found: RaggedTensor = result
            return found

    @classmethod
    def from_nested_row_splits(
        cls,
        flat_values: RaggedLike,
        nested_row_splits: Sequence[TensorLike],
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Rows of rows, by splits, from the outermost dimension to the innermost."""
        check_flag(validate)
        _check_list("nested_row_splits", nested_row_splits)
        with scope_of(name, "RaggedFromNestedRowSplits", flat_values, *nested_row_splits):
            result: Any = flat_values
            for splits in reversed(list(nested_row_splits)):
                result = cls.from_row_splits(result, splits, validate=validate)
            found: RaggedTensor = result
            return found

    @classmethod
    def from_nested_row_lengths(
        cls,
        flat_values: RaggedLike,
        nested_row_lengths: Sequence[TensorLike],
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Rows of rows, by lengths, from the outermost dimension to the innermost."""
        check_flag(validate)
        _check_list("nested_row_lengths", nested_row_lengths)
        with scope_of(name, "RaggedFromNestedRowlengths", flat_values, *nested_row_lengths):
            result: Any = flat_values
            for lengths in reversed(list(nested_row_lengths)):
                result = cls.from_row_lengths(result, lengths, validate=validate)
            found: RaggedTensor = result
            return found

    @classmethod
    def _from_nested_row_partitions(cls, flat_values: Any, partitions: Sequence[RowPartition]) -> Values:
        with scope_of(None, "RaggedFromNestedRowPartitions", flat_values, *(part.splits for part in partitions)):
            result: Any = flat_values
            for parted in reversed(partitions):
                result = cls._from_row_partition(result, parted, validate=False)
            found: Values = result
            return found

    @classmethod
    def from_tensor(
        cls,
        tensor: TensorLike,
        lengths: TensorLike | None = None,
        padding: TensorLike | None = None,
        ragged_rank: int = 1,
        name: str | None = None,
        row_splits_dtype: DTypeLike = INT64,
    ) -> RaggedTensor:
        """The rows of a dense tensor, cut to lengths, or without the padding at their ends."""
        made: RaggedTensor = RAGGED_SOURCES["from_tensor"](
            tensor, lengths, padding, ragged_rank, name, row_splits_dtype
        )
        return made

    @classmethod
    def from_sparse(
        cls, st_input: SparseTensor, name: str | None = None, row_splits_dtype: DTypeLike = INT64
    ) -> RaggedTensor:
        """The rows of a sparse matrix, each of which must be filled from its beginning."""
        made: RaggedTensor = RAGGED_SOURCES["from_sparse"](st_input, name, row_splits_dtype)
        return made

    @classmethod
    def _from_variant(
        cls,
        variant: Any,
        dtype: Any,
        output_ragged_rank: int,
        input_ragged_rank: int | None = None,
        row_splits_dtype: Any = INT64,
        name: str | None = None,
    ) -> RaggedTensor:
        variant = convert(variant, VARIANT, "variant")
        with scope_of(name, "RaggedFromVariant", variant):
            result = ragged_tensor_from_variant(
                variant,
                input_ragged_rank=-1 if input_ragged_rank is None else input_ragged_rank,
                output_ragged_rank=max(output_ragged_rank, 0),
                Tvalues=DType.of(dtype),
                Tsplits=DType.of(row_splits_dtype),
                name=name,
            )
            return cls.from_nested_row_splits(result.output_dense_values, result.output_nested_splits, validate=False)

    # ------------------------------------------------------------------------------------------------- Parts

    @property
    def dtype(self) -> DType:
        return self._values.dtype

    @property
    def graph(self) -> Graph:
        return self._values.graph

    @property
    def shape(self) -> TensorShape:
        known = TensorShape([self._row_partition.static_nrows, self._row_partition.static_uniform_row_length])
        return known.concatenate(self._values.shape[1:])

    def get_shape(self) -> TensorShape:
        return self.shape

    @property
    def ragged_rank(self) -> int:
        return len(self._nested_row_partitions)

    @property
    def values(self) -> Values:
        return self._values

    @property
    def flat_values(self) -> Tensor:
        """The values of the innermost dimension that is ragged."""
        return self._values.flat_values if isinstance(self._values, RaggedTensor) else self._values

    @property
    def row_splits(self) -> Tensor:
        return self._row_partition.splits

    @property
    def uniform_row_length(self) -> Tensor | None:
        return self._row_partition.uniform_length

    @property
    def _nested_row_partitions(self) -> tuple[RowPartition, ...]:
        inner = self._values._nested_row_partitions if isinstance(self._values, RaggedTensor) else ()
        return (self._row_partition, *inner)

    @property
    def nested_row_splits(self) -> tuple[Tensor, ...]:
        return tuple(parted.splits for parted in self._nested_row_partitions)

    def value_rowids(self, name: str | None = None) -> Tensor:
        with scope_of(name, "RaggedValueRowIds", self):
            return self._row_partition.value_rowids()

    def nested_value_rowids(self, name: str | None = None) -> tuple[Tensor, ...]:
        with scope_of(name, "RaggedNestedValueRowIds", self):
            found, rest = [self.value_rowids()], self._values
            while isinstance(rest, RaggedTensor):
                found.append(rest.value_rowids())
                rest = rest._values
            return tuple(found)

    def nrows(self, out_type: DTypeLike | None = None, name: str | None = None) -> Tensor:
        with scope_of(name, "RaggedNRows", self):
            count = self._row_partition.nrows()
            return count if out_type is None else cast(count, out_type)

    def row_starts(self, name: str | None = None) -> Tensor:
        with scope_of(name, "RaggedRowStarts", self):
            return self.row_splits[:-1]

    def row_limits(self, name: str | None = None) -> Tensor:
        with scope_of(name, "RaggedRowLimits", self):
            return self.row_splits[1:]

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Values:
        """The lengths of the rows; of an inner axis, ragged."""
        if axis in (0, 1):
            return self._row_partition.row_lengths() if axis else self._row_partition.nrows()
        with scope_of(name, "RaggedRowLengths", self):
            axis = positive_axis(axis, self.shape.rank, ndims_name="rank(self)")
            if axis == 0:
                return self.nrows()
            if axis == 1:
                return self.row_splits[1:] - self.row_splits[:-1]
            if isinstance(self._values, RaggedTensor):
                return self.with_values(self._values.row_lengths(axis - 1))
            dtype = self._row_partition.dtype
            sizes = shape_of(self._values, out_type=dtype)
            return self.with_values(ones(sizes[: axis - 1], dtype) * sizes[axis - 1])

    def nested_row_lengths(self, name: str | None = None) -> tuple[Tensor, ...]:
        with scope_of(name, "RaggedNestedRowLengths", self):
            return tuple(parted.row_lengths() for parted in self._nested_row_partitions)

    def bounding_shape(
        self, axis: int | None = None, name: str | None = None, out_type: DTypeLike | None = None
    ) -> Tensor:
        """The shape of the smallest dense tensor that holds it."""
        own = self._row_partition.dtype
        dtype = own if out_type is None else DType.of(out_type)
        with scope_of(name, "RaggedBoundingBox", self, axis):
            if isinstance(axis, int) and axis == 0:
                return shape_of(self.row_splits, out_type=dtype)[0] - 1
            if isinstance(axis, int) and axis == 1:
                widest = maximum(reduce_max(self.row_lengths()), 0)
                return widest if dtype is own else cast(widest, dtype)
            rows = shape_of(self.row_splits, out_type=dtype)
            flat = shape_of(self.flat_values, out_type=dtype)
            outer: list[Any] = [rows[0] - 1]
            outer += [maximum(reduce_max(splits[1:] - splits[:-1]), 0) for splits in self.nested_row_splits]
            inner = flat[1:]
            if dtype is not own:
                outer = [cast(size, dtype) for size in outer]
            box = concat([stack(outer), inner], axis=0)
            return box if axis is None else gather(box, axis)

    # ------------------------------------------------------------------------------------------------ Changed

    def with_values(self, new_values: RaggedLike) -> RaggedTensor:
        """A ragged tensor with the same rows and other values."""
        values = as_values(new_values)
        values.shape.with_rank_at_least(1)
        self._values.shape[:1].assert_is_compatible_with(values.shape[:1])
        if isinstance(values, RaggedTensor) and self._row_partition.dtype is not values.row_splits.dtype:
            raise InvalidArgumentError(
                "self and new_values have mismatched row_splits dtypes; use RaggedTensor.with_row_splits_dtype() to "
                "convert them to compatible dtypes."
            )
        return RaggedTensor(values, self._row_partition, internal=True)

    def with_flat_values(self, new_values: RaggedLike) -> RaggedTensor:
        """The same rows, in all dimensions that are ragged, of other values."""
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.with_flat_values(new_values))
        return self.with_values(as_values(new_values))

    def with_row_splits_dtype(self, dtype: DTypeLike) -> RaggedTensor:
        dtype = DType.of(dtype)
        if dtype not in (INT32, INT64):
            raise InvalidArgumentError(f"Argument `row_splits` dtype must be int32 or int64. Received {dtype}.")
        if self._row_partition.dtype is dtype:
            return self
        values = self._values
        values = values.with_row_splits_dtype(dtype) if isinstance(values, RaggedTensor) else values
        return RaggedTensor(values, self._row_partition.with_dtype(dtype), internal=True)

    def merge_dims(self, outer_axis: int, inner_axis: int) -> Values:
        """The tensor with the dimensions from one axis to another merged into one."""
        rank = self.shape.rank
        outer_axis = positive_axis(outer_axis, rank, "outer_axis", "rank(self)")
        inner_axis = positive_axis(inner_axis, rank, "inner_axis", "rank(self)")
        if outer_axis > inner_axis:
            raise InvalidArgumentError(
                f"Expected outer_axis ({outer_axis}) to be less than or equal to inner_axis ({inner_axis})."
            )
        return merge_dims(self, outer_axis, inner_axis)

    def to_tensor(
        self, default_value: TensorLike | None = None, name: str | None = None, shape: ShapeLike = None
    ) -> Tensor:
        """The dense tensor, with a default value where rows are shorter than the longest."""
        with scope_of(name, "RaggedToTensor", self, default_value, shape):
            if default_value is not None:
                default_value = convert(default_value, self.dtype.base_dtype, "default_value")
            kinds, parts = _partition_parts(self)
            if default_value is None:
                default_value = zeros((), self.dtype)
            if isinstance(shape, list | tuple) and any(isinstance(size, Tensor) for size in shape):
                shape = stack(shape)
            sizes = _shape_as_tensor(shape, parts[0].dtype)
            attrs: dict[str, Any] = {"row_partition_types": kinds}
            dense = emit(ragged_tensor_to_tensor, sizes, self.flat_values, default_value, parts, **attrs)
            known = self.shape
            if known.rank is not None and not isinstance(shape, Tensor):
                asked = TensorShape(shape)
                if asked.rank is not None:
                    both = zip(asked.as_list(), known.as_list(), strict=False)
                    known = TensorShape([theirs if mine is None else mine for mine, theirs in both])
                dense.set_shape(known)
            return dense

    def to_sparse(self, name: str | None = None) -> SparseTensor:
        """The sparse tensor of the same elements."""
        with scope_of(name, "RaggedToSparse", self):
            return SparseTensor(*ragged_tensor_to_sparse(self.nested_row_splits, self.flat_values, name=name))

    def _to_variant(self, batched_input: bool = False, name: str | None = None) -> Tensor:
        with scope_of(name, "RaggedToVariant", self):
            return emit(
                ragged_tensor_to_variant,
                self.nested_row_splits,
                self.flat_values,
                batched_input=batched_input,
                name=name,
            )

    def to_list(self) -> list[Any]:
        raise InvalidArgumentError("to_list can only be used in eager mode.")

    def consumers(self) -> list[Operation]:
        """The operations that take one of its parts as an input."""
        parts = (self.flat_values, *self.nested_row_splits)
        return list(dict.fromkeys(op for part in parts for op in part.consumers()))

    def eval(self, feed_dict: Feeds | None = None, session: SessionLike | None = None) -> RaggedTensorValue:
        """The value, from `session` or from the session in force."""
        if "eval" not in EXTENSIONS:
            raise FailedPreconditionError("eval() needs a session: call session.run(...) instead")
        found: RaggedTensorValue = EXTENSIONS["eval"](self, feed_dict, session)
        return found

    def __repr__(self) -> str:
        return f"tf.RaggedTensor(values={self._values}, row_splits={self.row_splits})"

    def __bool__(self) -> bool:
        raise WrongTypeError("RaggedTensor may not be used as a boolean.")

    __getitem__ = _operator("getitem")
    __add__, __radd__ = _operator("add"), _operator("radd")
    __sub__, __rsub__ = _operator("sub"), _operator("rsub")
    __mul__, __rmul__ = _operator("mul"), _operator("rmul")
    __truediv__, __rtruediv__ = _operator("truediv"), _operator("rtruediv")
    __floordiv__, __rfloordiv__ = _operator("floordiv"), _operator("rfloordiv")
    __mod__, __rmod__ = _operator("mod"), _operator("rmod")
    __pow__, __rpow__ = _operator("pow"), _operator("rpow")
    __and__, __rand__ = _operator("and"), _operator("rand")
    __or__, __ror__ = _operator("or"), _operator("ror")
    __xor__, __rxor__ = _operator("xor"), _operator("rxor")
    __lt__, __le__ = _operator("lt"), _operator("le")
    __gt__, __ge__ = _operator("gt"), _operator("ge")
    __neg__, __abs__, __invert__ = _operator("neg"), _operator("abs"), _operator("invert")


# ------------------------------------------------------------------------------------------------ What it needs


def is_ragged(value: object) -> bool:
    return isinstance(value, RaggedTensor | RaggedTensorValue)


def as_values(value: RaggedLike) -> Values:
    """What rows can be made of: a tensor, or a ragged one."""
    return value if isinstance(value, Tensor | RaggedTensor) else as_ragged_or_tensor(value, name="values")


def as_ragged_or_tensor(
    value: RaggedLike, dtype: DType | None = None, preferred_dtype: DType | None = None, name: str | None = None
) -> Values:
    """A value as a tensor, or as a ragged one if it is ragged."""
    if isinstance(value, RaggedTensor):
        if dtype is not None and dtype.base_dtype is not value.dtype.base_dtype:
            raise InvalidArgumentError(
                f"Tensor conversion requested dtype {dtype.name} for RaggedTensor with dtype {value.dtype.name}: "
                f"{value}."
            )
        return value
    if isinstance(value, RaggedTensorValue):
        with scope_of(name, "ConvertToTensorOrRaggedTensor"):
            flat = convert(value.flat_values, dtype, "flat_values", preferred_dtype=preferred_dtype)
            return RaggedTensor.from_nested_row_splits(flat, value.nested_row_splits, validate=False)
    return convert(value, dtype, name, preferred_dtype=preferred_dtype)


def as_ragged(value: RaggedLike, name: str | None = None) -> RaggedTensor:
    """A ragged tensor, or the value of one, as a ragged tensor."""
    found = as_ragged_or_tensor(value, name=name)
    assert isinstance(found, RaggedTensor)
    return found


def match_row_splits(*tensors: object) -> DType:
    """The type of the splits of ragged tensors, which must have the same."""
    found = {tensor.row_splits.dtype for tensor in tensors if isinstance(tensor, RaggedTensor)}
    if len(found) > 1:
        raise InvalidArgumentError(
            "Input RaggedTensors have mismatched row_splits dtypes; use RaggedTensor.with_row_splits_dtype() to "
            "convert them to compatible dtypes."
        )
    return found.pop() if found else INT64


def nrows(tensor: Values, out_type: DType = INT32) -> Tensor:
    """How many rows there are."""
    if isinstance(tensor, RaggedTensor):
        return tensor.nrows(out_type)
    return shape_of(tensor, out_type=out_type)[0]


def positive_axis(axis: int, rank: int | None, axis_name: str = "axis", ndims_name: str = "ndims") -> int:
    """An axis counted from the beginning."""
    if not isinstance(axis, int):
        raise WrongTypeError(f"{axis_name} must be an int; got {type(axis).__name__}")
    if rank is not None:
        if not -rank <= axis < rank:
            raise InvalidArgumentError(f"{axis_name}={axis} out of bounds: expected {-rank}<={axis_name}<{rank}")
        return axis + rank if axis < 0 else axis
    if axis < 0:
        raise InvalidArgumentError(f"{axis_name}={axis} may only be negative if {ndims_name} is statically known.")
    return axis


def _check_list(name: str, value: Any) -> None:
    if isinstance(value, Tensor):
        raise WrongTypeError(f"Argument `{name}` must be a list of Tensors. Received {value}.")


def _splits_dtype(values: Any) -> DType | None:
    return values.row_splits.dtype if isinstance(values, RaggedTensor) else None


def _value_count(values: Any, dtype: DType) -> Tensor:
    known = plain_shape(values.shape).dims
    if known and known[0] is not None:
        return constant(known[0], dtype)
    return nrows(values, dtype)


def _shape_as_tensor(shape: Any, dtype: DType) -> Tensor:
    if isinstance(shape, Tensor):
        return shape if shape.dtype.base_dtype in (INT32, INT64) else cast(shape, dtype)
    sizes = TensorShape(shape)
    if sizes.rank is None or not sizes.rank:
        return constant(-1, dtype)
    return constant([-1 if size is None else size for size in sizes.as_list()], dtype)


def _partition_parts(ragged: RaggedTensor) -> tuple[list[str], list[Tensor]]:
    """What parts the rows of each dimension, as RaggedTensorToTensor has it."""
    first, *inner = ragged._nested_row_partitions
    pairs = [("ROW_SPLITS", first.splits)]
    if first.rowids is not None:
        pairs = [("FIRST_DIM_SIZE", first.nrows()), ("VALUE_ROWIDS", first.value_rowids())]
    for parted in inner:
        pairs.append(("ROW_SPLITS", parted.splits) if parted.rowids is None else ("VALUE_ROWIDS", parted.rowids))
    return [kind for kind, _ in pairs], [part for _, part in pairs]


def merge_dims(value: Values, outer_axis: int, inner_axis: int) -> Values:
    """Several dimensions of a tensor, ragged or not, as one."""
    if outer_axis == inner_axis:
        return value
    while outer_axis == 0 and isinstance(value, RaggedTensor):
        value, inner_axis = value.values, inner_axis - 1
        if inner_axis == 0:
            return value
    if not isinstance(value, RaggedTensor):
        if value.static_shape.is_fully_known:
            sizes = list(value.static_shape.as_tuple())
            return reshaped(value, [*sizes[:outer_axis], -1, *sizes[inner_axis + 1 :]])
        whole = shape_of(value)
        return reshaped(value, concat([whole[:outer_axis], [-1], whole[inner_axis + 1 :]], axis=0))
    if outer_axis > 1:
        return value.with_values(merge_dims(value.values, outer_axis - 1, inner_axis - 1))
    values, splits = value.values, value.row_splits
    for axis in range(outer_axis, inner_axis):
        if isinstance(values, RaggedTensor):
            splits, values = gather(values.row_splits, splits), values.values
            continue
        values, size = _flatten_dimensions(values, inner_axis - axis + 1, splits.dtype)
        splits = splits * size
        break
    return RaggedTensor.from_row_splits(values, splits)


def _flatten_dimensions(values: Tensor, count: int, dtype: DType) -> tuple[Tensor, Any]:
    """The first dimensions of a tensor as one, and how many elements each of the first has."""
    if values.static_shape.is_fully_known:
        sizes = values.static_shape.as_tuple()
        return reshaped(values, [-1, *sizes[count:]]), prod(sizes[1:count])
    whole = shape_of(values)
    shape = concat([[-1], whole[count:]], axis=0)
    size = cast(reduce_prod(whole[1:count]), dtype)
    return reshaped(values, shape), size


# ------------------------------------------------------------------------------------------------- In sessions


def _parts(ragged: Any) -> tuple[Any, ...]:
    return (*ragged.nested_row_splits, ragged.flat_values)


def _rebuilt(parts: list[Any]) -> RaggedTensorValue:
    *nested, flat = parts
    value: Any = flat
    for splits in reversed(nested):
        value = RaggedTensorValue(value, splits)
    rebuilt: RaggedTensorValue = value
    return rebuilt


def _expand(ragged: RaggedTensor) -> tuple[Sequence[Any], Callable[[list[Any]], Any]]:
    return _parts(ragged), _rebuilt


def _feed(ragged: RaggedTensor, value: Any) -> Sequence[tuple[Any, Any]]:
    if not isinstance(value, RaggedTensorValue):
        raise WrongTypeError(
            f"a ragged tensor is fed a RaggedTensorValue, got {type(value).__name__} {value!r}: make one of nested "
            "lists with tf.ragged.constant_value"
        )
    return list(zip(_parts(ragged), _parts(value), strict=True))


register_fetch(RaggedTensor, _expand, _feed)

__all__ = ["RaggedTensor", "RaggedTensorValue"]
