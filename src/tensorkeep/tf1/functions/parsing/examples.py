"""Examples and SequenceExamples, parsed as features describe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.parsing import examples as parsing_ops
from tensorkeep.ops.parsing import sequence_examples as sequence_ops
from tensorkeep.tf1.functions.arrays.shapes import rank, scope_of
from tensorkeep.tf1.functions.control.control_flow import Assert
from tensorkeep.tf1.functions.control.grouping import with_dependencies
from tensorkeep.tf1.functions.numbers.elementwise import equal
from tensorkeep.tf1.functions.parsing.composite_features import ragged_tensors, with_composites
from tensorkeep.tf1.functions.parsing.feature_configs import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)
from tensorkeep.tf1.functions.parsing.feature_params import FeatureParams, feature_params

_OF_EXAMPLES = (VarLenFeature, SparseFeature, FixedLenFeature, FixedLenSequenceFeature, RaggedFeature)
_OF_CONTEXTS = (VarLenFeature, FixedLenFeature, RaggedFeature)
_OF_SEQUENCES = (VarLenFeature, FixedLenSequenceFeature, RaggedFeature)


def parse_example(
    serialized: TensorLike,
    features: Mapping[str, Any],
    name: str | None = None,
    example_names: TensorLike | None = None,
) -> dict[str, Any]:
    """The features of Examples, by key: of a vector of them as a batch, of a single one without that dimension."""
    if not features:
        raise InvalidArgumentError(f"Argument `features` cannot be None or falsy. Got {features}")
    features = {key: _with_rows(feature) for key, feature in features.items()}
    params = feature_params(features, _OF_EXAMPLES)
    with scope_of(name, "ParseExample", serialized, example_names):
        serialized = _serialized_tensor(serialized, bool(params.ragged))
        indices, values, shapes, dense, ragged, splits = parsing_ops.parse_example_v2(
            serialized,
            [] if example_names is None else example_names,
            list(params.sparse),
            list(params.dense),
            list(params.ragged),
            params.default_tensors(),
            num_sparse=len(params.sparse),
            sparse_types=list(params.sparse.values()),
            ragged_value_types=params.ragged_value_types,
            ragged_split_types=params.ragged_split_types,
            dense_shapes=params.dense_shapes,
            name=name,
        )
        made = ragged_tensors(serialized.static_shape, ragged, splits)
        sparse = [SparseTensor(*parts) for parts in zip(indices, values, shapes, strict=True)]
        parsed = dict(zip(params.keys, [*sparse, *dense, *made], strict=True))
    return with_composites(features, parsed)


def _with_rows(feature: Any) -> Any:
    """A sequence with the dimension along which its rows lie."""
    if not isinstance(feature, FixedLenSequenceFeature):
        return feature
    if not feature.allow_missing:
        raise InvalidArgumentError("Unsupported: FixedLenSequenceFeature requires allow_missing to be True.")
    return feature._replace(shape=[None, *feature.shape])


def _serialized_tensor(serialized: Any, has_ragged: bool) -> Tensor:
    tensor = convert(serialized, name="serialized")
    if has_ragged and tensor.static_shape.rank is None:
        raise InvalidArgumentError("serialized must have statically-known rank to parse ragged features.")
    return tensor


def parse_single_example(
    serialized: TensorLike,
    features: Mapping[str, Any],
    name: str | None = None,
    example_names: TensorLike | None = None,
) -> dict[str, Any]:
    """The features of one Example, by key."""
    if features is None:
        raise InvalidArgumentError("Invalid argument: features cannot be None.")
    if not features:
        raise InvalidArgumentError("Invalid argument: features cannot be empty.")
    with scope_of(name, "ParseSingleExample", serialized, example_names):
        scalar = _scalar(convert(serialized, name="serialized"))
        return parse_example(scalar, features, name, example_names)


def _scalar(serialized: Tensor) -> Tensor:
    known = serialized.static_shape.rank
    if known == 0:
        return serialized
    if known is not None:
        raise InvalidArgumentError("Input serialized must be a scalar")
    check = Assert(equal(rank(serialized), 0), ["Input serialized must be a scalar"], name="SerializedIsScalar")
    checked: Tensor = with_dependencies([check], serialized, name="serializedDependencies")
    checked.set_shape([])
    return checked


def parse_sequence_example(
    serialized: TensorLike,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_names: TensorLike | None = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The context and the lists of SequenceExamples, by key, and how long dense lists are."""
    if not (context_features or sequence_features):
        raise InvalidArgumentError(
            "Both `context_features` and `sequence_features` argument are None, but at least one should have values."
        )
    context = feature_params(context_features, _OF_CONTEXTS)
    lists = feature_params(sequence_features, _OF_SEQUENCES)
    with scope_of(name, "ParseSequenceExample", serialized, example_names):
        parsed, rows, lengths = _parsed_sequences(serialized, example_names, context, lists, name)
        return (
            _completed_features(context_features, context, parsed),
            _completed_features(sequence_features, lists, rows),
            lengths,
        )


def _completed_features(
    features: Mapping[str, Any] | None, params: FeatureParams, parsed: dict[str, Any]
) -> dict[str, Any]:
    return with_composites(features or {}, parsed) if params.ragged else parsed


def _parsed_sequences(
    serialized: Any, names: Any, context: FeatureParams, lists: FeatureParams, name: str | None
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    if not (context or lists):
        raise InvalidArgumentError("Must provide at least one feature key.")
    with scope_of(name, "ParseSequenceExample", serialized):
        for key, default in lists.dense_defaults.items():
            if default is not None:
                raise InvalidArgumentError(f"Value feature_list.dense_defaults[{key}] must be None")
        tensor = _serialized_tensor(serialized, bool(context.ragged or lists.ragged))
        outputs = _sequence_node(tensor, names, context, lists, name)
        shape = tensor.static_shape
        ragged = ragged_tensors(shape, outputs[4], outputs[5])
        list_ragged = ragged_tensors(shape, outputs[11], outputs[12], outputs[13])
        sparse = [SparseTensor(*parts) for parts in zip(*outputs[:3], strict=True)]
        list_sparse = [SparseTensor(*parts) for parts in zip(*outputs[6:9], strict=True)]
        parsed = dict(zip(context.keys, [*sparse, *outputs[3], *ragged], strict=True))
        rows = dict(zip(lists.keys, [*list_sparse, *outputs[9], *list_ragged], strict=True))
        return parsed, rows, dict(zip(lists.dense, outputs[10], strict=True))


def _sequence_node(
    serialized: Tensor, names: Any, context: FeatureParams, lists: FeatureParams, name: str | None
) -> Any:
    return sequence_ops.parse_sequence_example_v2(
        serialized,
        [] if names is None else names,
        list(context.sparse),
        list(context.dense),
        list(context.ragged),
        list(lists.sparse),
        list(lists.dense),
        list(lists.ragged),
        [key in lists.dense_defaults for key in lists.dense],
        context.default_tensors(),
        Ncontext_sparse=len(context.sparse),
        Nfeature_list_sparse=len(lists.sparse),
        Nfeature_list_dense=len(lists.dense),
        context_sparse_types=list(context.sparse.values()),
        context_ragged_value_types=context.ragged_value_types,
        context_ragged_split_types=context.ragged_split_types,
        feature_list_dense_types=list(lists.dense.values()),
        feature_list_sparse_types=list(lists.sparse.values()),
        feature_list_ragged_value_types=lists.ragged_value_types,
        feature_list_ragged_split_types=lists.ragged_split_types,
        context_dense_shapes=context.dense_shapes,
        feature_list_dense_shapes=lists.dense_shapes,
        name=name,
    )


def parse_single_sequence_example(
    serialized: TensorLike,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_name: TensorLike | None = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The context and the lists of one SequenceExample, by key."""
    if not (context_features or sequence_features):
        raise InvalidArgumentError(
            "Both context_features and sequence_features are None, but at least one should have values."
        )
    context = feature_params(context_features, _OF_CONTEXTS)
    lists = feature_params(sequence_features, _OF_SEQUENCES)
    with scope_of(name, "ParseSingleSequenceExample", serialized, example_name):
        with scope_of(name, "ParseSingleExample", serialized, example_name):
            scalar = _scalar(convert(serialized, name="serialized"))
        parsed, rows, _ = _parsed_sequences(scalar, example_name, context, lists, name)
        return _completed_features(context_features, context, parsed), _completed_features(
            sequence_features, lists, rows
        )


__all__ = [
    "parse_example",
    "parse_sequence_example",
    "parse_single_example",
    "parse_single_sequence_example",
]
