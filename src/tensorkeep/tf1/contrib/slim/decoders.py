"""Records that become tensors: `tfexample_decoder`.

A decoder parses a record into features by key, and has a handler make each item, such as an image, of those that it
needs. What a handler is asked for are the keys of its features.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from tensorkeep.dtypes import INT64
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import ShapeLike, TensorLike
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import concat, reshape, stack
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.arrays.slicing import slice as slice_of
from tensorkeep.tf1.functions.control.control_flow import cond
from tensorkeep.tf1.functions.numbers.elementwise import cast, equal
from tensorkeep.tf1.functions.numbers.reductions import reduce_prod
from tensorkeep.tf1.functions.parsing.examples import parse_single_example, parse_single_sequence_example
from tensorkeep.tf1.functions.parsing.feature_configs import FixedLenFeature
from tensorkeep.tf1.functions.sparse.tensors import sparse_reshape, sparse_tensor_to_dense


class DataDecoder(ABC):
    """Makes items of records."""

    @abstractmethod
    def decode(self, data: TensorLike, items: Sequence[str] | None = None) -> list[Any]:
        """The items that are wanted, in that order."""

    @abstractmethod
    def list_items(self) -> list[str]:
        """The names of the items that can be had."""


class ItemHandler(ABC):
    """Makes one item of the features that it needs."""

    def __init__(self, keys: str | Sequence[str]) -> None:
        self._keys = list(keys) if isinstance(keys, list | tuple) else [keys]

    @property
    def keys(self) -> list[Any]:
        return self._keys

    @abstractmethod
    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Tensor | SparseTensor:
        """The item, of features by key."""


class ItemHandlerCallback(ItemHandler):
    """Makes an item by a function of the features."""

    def __init__(self, keys: str | Sequence[str], func: Callable[[Mapping[str, Any]], Any]) -> None:
        super().__init__(keys)
        self._func = func

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Tensor | SparseTensor:
        item: Tensor | SparseTensor = self._func(keys_to_tensors)
        return item


class TensorHandler(ItemHandler):
    """A feature as a dense tensor, of a shape that is given or that other features have."""

    def __init__(
        self,
        tensor_key: str,
        shape_keys: str | Sequence[str] | None = None,
        shape: ShapeLike = None,
        default_value: TensorLike = 0,
    ) -> None:
        if shape_keys and shape is not None:
            raise InvalidArgumentError("Cannot specify both shape_keys and shape parameters.")
        sizes = [shape_keys] if isinstance(shape_keys, str) else list(shape_keys or ())
        super().__init__([tensor_key, *sizes])
        self._tensor_key = tensor_key
        self._shape_keys = sizes
        self._shape = shape
        self._default_value = default_value

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Tensor | SparseTensor:
        tensor: Any = keys_to_tensors[self._tensor_key]
        shape: Any = self._shape
        if self._shape_keys:
            sizes = [_dense(keys_to_tensors[key]) for key in self._shape_keys]
            shape = reshape(stack(sizes), [-1])
        if isinstance(tensor, SparseTensor):
            if shape is not None:
                tensor = sparse_reshape(tensor, shape)
            return sparse_tensor_to_dense(tensor, self._default_value)
        return tensor if shape is None else reshape(tensor, shape)


def _dense(value: Any) -> Any:
    return sparse_tensor_to_dense(value) if isinstance(value, SparseTensor) else value


class LookupTable(Protocol):
    """What finds values by keys."""

    def lookup(self, keys: Any, /) -> Any: ...


class LookupTensor(TensorHandler):
    """A feature that is looked up in a table."""

    def __init__(
        self,
        tensor_key: str,
        table: LookupTable,
        shape_keys: str | Sequence[str] | None = None,
        shape: ShapeLike = None,
        default_value: TensorLike = "",
    ) -> None:
        self._table = table
        super().__init__(tensor_key, shape_keys, shape, default_value)

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Tensor | SparseTensor:
        found: Tensor | SparseTensor = self._table.lookup(super().tensors_to_item(keys_to_tensors))
        return found


class BackupHandler(ItemHandler):
    """An item, or if that has no elements another one."""

    def __init__(self, handler: ItemHandler, backup: ItemHandler) -> None:
        for name, given in (("Primary", handler), ("Backup", backup)):
            if not isinstance(given, ItemHandler):
                raise InvalidArgumentError(f"{name} handler is of type {type(given)} instead of ItemHandler")
        super().__init__(handler.keys + backup.keys)
        self._handler, self._backup = handler, backup

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Tensor | SparseTensor:
        item = self._handler.tensors_to_item(keys_to_tensors)
        found: Tensor | SparseTensor = cond(
            equal(reduce_prod(shape_of(item)), 0),
            lambda: self._backup.tensors_to_item(keys_to_tensors),
            lambda: item,
        )
        return found


class SparseTensorHandler(ItemHandler):
    """A sparse tensor, whose indices and values are features."""

    def __init__(
        self,
        indices_key: str | None = None,
        values_key: str | None = None,
        shape_key: str | None = None,
        shape: ShapeLike = None,
        densify: bool = False,
        default_value: TensorLike = 0,
    ) -> None:
        self._indices_key, self._values_key = indices_key or "indices", values_key or "values"
        super().__init__([self._indices_key, self._values_key, *([shape_key] if shape_key else [])])
        self._shape_key, self._shape = shape_key, shape
        self._densify, self._default_value = densify, default_value

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Tensor | SparseTensor:
        indices, values = keys_to_tensors[self._indices_key], keys_to_tensors[self._values_key]
        shape: Any = self._shape or indices.dense_shape
        if self._shape_key:
            shape = _dense(keys_to_tensors[self._shape_key])
        rank = shape_of(indices.indices)[1]
        kept = slice_of(indices.indices, [0, 0], stack([-1, rank - 1]))
        places = concat([kept, reshape(cast(indices.values, INT64), [-1, 1])], 1)
        found = SparseTensor(places, values.values, shape)
        return sparse_tensor_to_dense(found, self._default_value) if self._densify else found


# ---------------------------------------------------------------------------------------------------- Decoders


def _make_items(
    handlers: Mapping[str, ItemHandler], items: Sequence[str] | None, features: Mapping[str, Any]
) -> list[Any]:
    wanted = list(items) if items else list(handlers)
    found = []
    for item in wanted:
        if item not in handlers:
            raise InvalidArgumentError(f"there is no item {item!r}; known: {', '.join(handlers)}")
        handler = handlers[item]
        found.append(handler.tensors_to_item({key: features[key] for key in handler.keys}))
    return found


def _reshape_features(features: dict[str, Any], configs: Mapping[str, Any]) -> dict[str, Any]:
    for key in sorted(configs):
        if isinstance(configs[key], FixedLenFeature):
            features[key] = reshape(features[key], configs[key].shape)
    return features


class TFExampleDecoder(DataDecoder):
    """Makes items of examples."""

    def __init__(self, keys_to_features: Mapping[str, Any], items_to_handlers: Mapping[str, ItemHandler]) -> None:
        self._keys_to_features = dict(keys_to_features)
        self._items_to_handlers = dict(items_to_handlers)

    def list_items(self) -> list[str]:
        return list(self._items_to_handlers)

    def decode(self, serialized_example: TensorLike, items: Sequence[str] | None = None) -> list[Any]:
        parsed = dict(parse_single_example(serialized_example, self._keys_to_features))
        return _make_items(self._items_to_handlers, items, _reshape_features(parsed, self._keys_to_features))


class TFSequenceExampleDecoder(DataDecoder):
    """Makes items of examples with sequences."""

    def __init__(
        self,
        keys_to_context_features: Mapping[str, Any],
        keys_to_sequence_features: Mapping[str, Any],
        items_to_handlers: Mapping[str, ItemHandler],
    ) -> None:
        both = sorted(set(keys_to_context_features) & set(keys_to_sequence_features))
        if both:
            raise InvalidArgumentError(f"Context and sequence keys are not unique: {', '.join(both)}")
        self._context = dict(keys_to_context_features)
        self._sequence = dict(keys_to_sequence_features)
        self._items_to_handlers = dict(items_to_handlers)

    def list_items(self) -> list[str]:
        return list(self._items_to_handlers)

    def decode(self, serialized_example: TensorLike, items: Sequence[str] | None = None) -> list[Any]:
        context, sequences = parse_single_sequence_example(serialized_example, self._context, self._sequence)
        features = {**dict(sequences), **_reshape_features(dict(context), self._context)}
        return _make_items(self._items_to_handlers, items, features)
