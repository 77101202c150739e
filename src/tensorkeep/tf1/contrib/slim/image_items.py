"""Images, boxes and points of a record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tensorkeep.dtypes import INT64, UINT8
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike, ShapeLike
from tensorkeep.graph.building import control_dependencies
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.contrib.slim.decoders import ItemHandler
from tensorkeep.tf1.functions.arrays.shapes import concat, expand_dims, identity, pad, reshape, transpose
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.assertions import assert_equal
from tensorkeep.tf1.functions.control.cases import case
from tensorkeep.tf1.functions.control.control_flow import cond
from tensorkeep.tf1.functions.control.higher_order import map_fn
from tensorkeep.tf1.functions.images.files import decode_image, decode_jpeg, is_jpeg
from tensorkeep.tf1.functions.numbers.elementwise import cast, equal, logical_or
from tensorkeep.tf1.functions.numbers.reductions import reduce_max
from tensorkeep.tf1.functions.parsing.decoding import decode_raw
from tensorkeep.tf1.functions.sparse.tensors import sparse_concat, sparse_reshape, sparse_tensor_to_dense

_SIDES: Final = ("ymin", "xmin", "ymax", "xmax")


def _prefixed_keys(keys: Sequence[str] | None, default: Sequence[str], prefix: str | None, kind: str) -> list[str]:
    wanted = default if keys is None else keys
    if len(wanted) != len(default):
        raise InvalidArgumentError(f"{kind} expects {len(default)} keys but got {len(wanted)}")
    return [f"{prefix or ''}{key}" for key in wanted]


class BoundingBox(ItemHandler):
    """Boxes, a row of four sides for each, of four features."""

    def __init__(self, keys: Sequence[str] | None = None, prefix: str | None = "") -> None:
        super().__init__(_prefixed_keys(keys, _SIDES, prefix, "BoundingBox"))

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Tensor:
        sides = [keys_to_tensors[key] for key in self.keys]
        rows = [side.values if isinstance(side, SparseTensor) else side for side in sides]
        return transpose(concat([expand_dims(row, 0) for row in rows], 0))


class Image(ItemHandler):
    """An image, of its bytes and the name of their format; "raw" bytes are the pixels themselves."""

    def __init__(
        self,
        image_key: str | None = None,
        format_key: str | None = None,
        shape: ShapeLike = None,
        channels: int = 3,
        dtype: DTypeLike = UINT8,
        repeated: bool = False,
        dct_method: str = "",
    ) -> None:
        self._image_key, self._format_key = image_key or "image/encoded", format_key or "image/format"
        super().__init__([self._image_key, self._format_key])
        self._shape = shape
        self._channels = channels
        self._dtype = dtype
        self._repeated = repeated
        self._dct_method = dct_method

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Tensor | SparseTensor:
        data, kind = keys_to_tensors[self._image_key], keys_to_tensors[self._format_key]
        if self._repeated:
            images: Tensor = map_fn(lambda item: self._decoded(item, kind), data, dtype=self._dtype)
            return images
        return self._decoded(data, kind)

    def _decoded(self, data: Tensor, kind: Tensor) -> Tensor:
        def of_any_format() -> Tensor:
            return cast(decode_image(data, channels=self._channels), self._dtype)

        def of_jpeg() -> Tensor:
            found = decode_jpeg(data, channels=self._channels, dct_method=self._dct_method)
            return cast(found, self._dtype)

        def encoded() -> Any:
            return cond(is_jpeg(data), of_jpeg, of_any_format, name="cond_jpeg")

        is_raw = logical_or(equal(kind, "raw"), equal(kind, "RAW"))
        image: Tensor = case(
            [(is_raw, lambda: decode_raw(data, out_type=self._dtype))], default=encoded, exclusive=True
        )
        image.set_shape([None, None, self._channels])
        return image if self._shape is None else reshape(image, self._shape)


def _side_by_side(
    keys: Sequence[str], features: Mapping[str, Any], default_value: Any, is_dense: bool
) -> Tensor | SparseTensor:
    """Sparse features as the last dimension of one tensor."""
    parts = []
    for key in keys:
        value = features[key]
        longer = concat([cast(shape_of_sparse(value), INT64), constant([1], INT64)], 0)
        parts.append(sparse_reshape(value, longer))
    joined = sparse_concat(2, parts)
    return sparse_tensor_to_dense(joined, default_value=default_value) if is_dense else joined


def shape_of_sparse(value: SparseTensor) -> Tensor:
    """The shape of a sparse tensor, as a tensor."""
    shape: Tensor = value.dense_shape
    return shape


class BoundingBoxSequence(ItemHandler):
    """Sequences of boxes, of four features."""

    def __init__(
        self,
        keys: Sequence[str] | None = None,
        prefix: str | None = None,
        return_dense: bool = True,
        default_value: float = -1.0,
    ) -> None:
        super().__init__(_prefixed_keys(keys, _SIDES, prefix, "BoundingBoxSequence"))
        self._return_dense, self._default_value = return_dense, default_value

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Tensor | SparseTensor:
        return _side_by_side(self.keys, keys_to_tensors, self._default_value, self._return_dense)


class KeypointsSequence(ItemHandler):
    """Sequences of points, of two features."""

    def __init__(
        self,
        keys: Sequence[str] | None = None,
        prefix: str | None = None,
        return_dense: bool = True,
        default_value: float = -1.0,
    ) -> None:
        super().__init__(_prefixed_keys(keys, ("y", "x"), prefix, "KeypointsSequence"))
        self._return_dense, self._default_value = return_dense, default_value

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Tensor | SparseTensor:
        return _side_by_side(self.keys, keys_to_tensors, self._default_value, self._return_dense)


class NumBoxesSequence(ItemHandler):
    """How many boxes each element of a sequence has, which must be the same in all features."""

    def __init__(self, keys: str | Sequence[str] | None = None, check_consistency: bool = True) -> None:
        if not keys:
            raise InvalidArgumentError("keys must not be empty.")
        super().__init__(keys)
        self._check_consistency = check_consistency

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Tensor:
        first, *others = [_counts(keys_to_tensors[key]) for key in self.keys]
        checks = [assert_equal(first, other) for other in others] if self._check_consistency else []
        with control_dependencies(checks):
            return identity(first)


def _counts(value: Any) -> Tensor:
    if not isinstance(value, SparseTensor):
        raise InvalidArgumentError(f"tensor must be of type tf.SparseTensor, not {value}")
    numbers = SparseTensor(value.indices, value.indices[:, 1], value.dense_shape)
    dense = sparse_tensor_to_dense(numbers, default_value=-1)
    return reduce_max(pad(dense + 1, [[0, 0], [0, 1]]), axis=1)
