"""Embedding variables that take their rows from a checkpoint when they are initialized."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.embedding.stored.embeddings import stored_embeddings
from tensorkeep.embedding.stored.naming import KEYS, slot_stem
from tensorkeep.graph.arguments import emit_operation
from tensorkeep.graph.building import control_dependencies, device
from tensorkeep.graph.graph import Operation
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.shapes import Shape
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.variables.embedding_variables.handle import EmbeddingVariable
from tensorkeep.tf1.variables.embedding_variables.saving import INITIALIZERS, empty_key, primary_of

_SHARD: Final = re.compile(r"/part_[0-9]+(?=/)")


def embedding_shapes(checkpoint: str, shapes: Mapping[str, Sequence[int]], fs: FileSystem) -> dict[str, Sequence[int]]:
    """The embeddings of a checkpoint and their slots, by name without shards, with the number of keys and the width."""
    if not any(name.endswith(KEYS) for name in shapes):
        return {}
    found: dict[str, Sequence[int]] = {}
    with open_checkpoint(checkpoint, fs=fs) as reader:
        for name, entry in stored_embeddings(reader).items():
            for column in entry.columns:
                stored = entry.open(reader, column, fs=fs)
                found[slot_stem(name, column)] = [stored.count, stored.dim]
    return found


def slots_of_shards(scope: str, store: Mapping[str, Any]) -> Iterator[tuple[str, EmbeddingVariable]]:
    """The slots of embedding variables in shards that are in a scope, by their names without the shards."""
    for name, variable in store.items():
        if isinstance(variable, EmbeddingVariable) and (not scope or name.startswith(f"{scope}/")):
            whole = _SHARD.sub("", name.removesuffix("/"))
            if whole != name.removesuffix("/") and primary_of(variable.handle) is not variable.handle:
                yield whole, variable


def initialize_from(variable: EmbeddingVariable, checkpoint: str, name: str, reset_version: bool) -> None:
    """Gives a variable, or a slot, an initializer that also reads what a checkpoint holds under a name."""
    number, count = variable.partition
    with device(variable.device), control_dependencies(_initializers(variable)):
        variable._initializer_op = emit_operation(
            "KvResourceImportV3",
            constant(checkpoint, name="checkpoint"),
            variable.handle,
            name,
            empty_key(variable.key_dtype),
            shape=Shape((variable.dim,)),
            dtype=variable.dtype.base_dtype,
            partition_id=number,
            partition_num=count,
            reset_version=reset_version,
            name="checkpoint_initializer",
        )


def _initializers(variable: EmbeddingVariable) -> list[Operation]:
    """The operations that make the table and the columns of all its slots: a column is filled when all are there."""
    primary = primary_of(variable.handle)
    return [
        op
        for op in primary.consumers()
        if op.type in INITIALIZERS and op.inputs[1] is primary and op.attr("initial_num_buckets") != 0
    ]
