"""Rows of tables for sequences and bags of words."""

from __future__ import annotations

from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.contrib.framework.variables import model_variable
from tensorkeep.tf1.contrib.layers.sparse_values import dense_to_sparse_tensor
from tensorkeep.tf1.functions.arrays.shapes import concat, reshape, unique
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.arrays.slicing import gather
from tensorkeep.tf1.functions.embedding.lookups import embedding_lookup, embedding_lookup_sparse
from tensorkeep.tf1.functions.numbers.reductions import reduce_mean
from tensorkeep.tf1.layers.arguments import Function
from tensorkeep.tf1.variables.options import InitializerLike
from tensorkeep.tf1.variables.scope import VariableScope
from tensorkeep.tf1.variables.scopes import variable_scope


def embed_sequence(
    ids: TensorLike,
    vocab_size: int | None = None,
    embed_dim: int | None = None,
    unique: bool = False,
    initializer: InitializerLike = None,
    regularizer: Function | None = None,
    trainable: bool = True,
    scope: str | VariableScope | None = None,
    reuse: bool | None = None,
) -> Tensor:
    """The rows of a table, "EmbedSequence/embeddings", for sequences of numbers."""
    if not (reuse or (vocab_size and embed_dim)):
        raise InvalidArgumentError(
            f"Must specify vocab size and embedding dimension when not reusing. Got vocab_size={vocab_size} and "
            f"embed_dim={embed_dim}"
        )
    with variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        shape = [vocab_size, embed_dim]
        if reuse and (vocab_size is None or embed_dim is None):
            shape = None  # type: ignore[assignment]
        table = model_variable(
            "embeddings", shape=shape, initializer=initializer, regularizer=regularizer, trainable=trainable
        )
        return embedding_lookup_unique(table, ids) if unique else embedding_lookup(table, ids)


def bow_encoder(
    ids: Tensor | SparseTensor,
    vocab_size: int,
    embed_dim: int,
    sparse_lookup: bool = True,
    initializer: InitializerLike = None,
    regularizer: Function | None = None,
    trainable: bool = True,
    scope: str | VariableScope | None = None,
    reuse: bool | None = None,
) -> Tensor:
    """The mean of the rows for the words of each text, as rows of a batch."""
    with variable_scope(scope, "bow_encoder", [ids], reuse=reuse):
        table = model_variable(
            "embeddings",
            shape=[vocab_size, embed_dim],
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
        )
        if sparse_lookup:
            words = ids if isinstance(ids, SparseTensor) else dense_to_sparse_tensor(ids)
            return embedding_lookup_sparse(table, words, None, combiner="mean")
        if isinstance(ids, SparseTensor):
            raise WrongTypeError(f"ids are expected to be dense Tensor, got: {ids}")
        return reduce_mean(embedding_lookup(table, ids), axis=1)


def embedding_lookup_unique(params: TensorLike, ids: TensorLike, name: str | None = None) -> Tensor:
    """The rows of a table, of which each is looked up only once."""
    with name_scope(name or "EmbeddingLookupUnique"):
        found = convert(ids)
        flat, places = unique(reshape(found, [-1]))
        rows = gather(embedding_lookup(params, flat), places)
        wanted = concat([shape_of(found), shape_of(rows)[1:]], axis=0)
        result = reshape(rows, wanted)
        result.set_shape(found.get_shape().concatenate(rows.get_shape()[1:]))
        return result
