"""Samples of classes, for losses that look at a few of many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorkeep.graph.arguments import TensorLike, emit_tensors
from tensorkeep.graph.graph import Tensor
from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.io.files.places import text_of
from tensorkeep.ops.random import candidate_sampling as sampling_ops
from tensorkeep.tf1.functions.random.numbers import seed_attrs


def uniform_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> Sequence[Tensor]:
    """Classes below `range_max`, all alike, with how often they and the true ones were to be expected."""
    attrs: dict[str, Any] = {"num_true": num_true, "num_sampled": num_sampled, "unique": unique}
    return emit_tensors(
        sampling_ops.uniform_candidate_sampler,
        true_classes,
        range_max=range_max,
        name=name,
        **attrs,
        **seed_attrs(seed),
    )


def log_uniform_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> Sequence[Tensor]:
    """Classes below `range_max`, small ones more often: for classes in the order of how frequent they are."""
    attrs: dict[str, Any] = {"num_true": num_true, "num_sampled": num_sampled, "unique": unique}
    sampler = sampling_ops.log_uniform_candidate_sampler
    return emit_tensors(sampler, true_classes, range_max=range_max, name=name, **attrs, **seed_attrs(seed))


def fixed_unigram_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    vocab_file: PathLike = "",
    distortion: float = 1.0,
    num_reserved_ids: int = 0,
    num_shards: int = 1,
    shard: int = 0,
    unigrams: Sequence[float] = (),
    seed: int | None = None,
    name: str | None = None,
) -> Sequence[Tensor]:
    """Classes drawn by how often they were counted, raised to the power of `distortion`."""
    attrs: dict[str, Any] = {"num_true": num_true, "num_sampled": num_sampled, "unique": unique}
    return emit_tensors(
        sampling_ops.fixed_unigram_candidate_sampler,
        true_classes,
        range_max=range_max,
        vocab_file=text_of(vocab_file),
        distortion=distortion,
        num_reserved_ids=num_reserved_ids,
        num_shards=num_shards,
        shard=shard,
        unigrams=unigrams,
        name=name,
        **attrs,
        **seed_attrs(seed),
    )


def all_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    seed: int | None = None,
    name: str | None = None,
) -> Sequence[Tensor]:
    """All classes below `num_sampled`."""
    attrs: dict[str, Any] = {"num_true": num_true, "num_sampled": num_sampled, "unique": unique}
    return emit_tensors(sampling_ops.all_candidate_sampler, true_classes, name=name, **attrs, **seed_attrs(seed))


def compute_accidental_hits(
    true_classes: TensorLike,
    sampled_candidates: TensorLike,
    num_true: int,
    seed: int | None = None,
    name: str | None = None,
) -> Sequence[Tensor]:
    """Where true classes are among the samples: the row, the place of the sample, and a weight that removes it."""
    op = sampling_ops.compute_accidental_hits
    return emit_tensors(op, true_classes, sampled_candidates, num_true=num_true, name=name, **seed_attrs(seed))


__all__ = [
    "all_candidate_sampler",
    "compute_accidental_hits",
    "fixed_unigram_candidate_sampler",
    "log_uniform_candidate_sampler",
    "uniform_candidate_sampler",
]
