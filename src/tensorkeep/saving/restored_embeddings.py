"""Which embedding variables an operation restores, read off the graph, and whether a checkpoint has them."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.checkpoint.restore.wanted_tensors import Policy, Wanted, mapped_name, policy_of
from tensorkeep.embedding.stored.embeddings import StoredEmbedding, looked_up_embedding, missing_embedding
from tensorkeep.embedding.stored.naming import DELTA_KEYS, KEYS, split_parts
from tensorkeep.embedding.stored.surveyed_checkpoints import SurveyedCheckpoint
from tensorkeep.errors import InvalidArgumentError, NotFoundError
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.graph import Operation
from tensorkeep.saving.restored_hash_tables import HashTablePlan

LOG: Final = logging.getLogger("tensorkeep")

_DELTA: Final = "KvResourceIncrImport"
IMPORTING: Final = {"KvResourceImportV2": 4, "KvResourceImportV3": 2, _DELTA: 2}
"""The ops that restore an embedding variable, and which of their inputs names it in a checkpoint."""


def stem_of(op: Operation) -> str:
    """Under which name an operation looks for an embedding variable."""
    name = constant_value(op.inputs[IMPORTING[op.type]])
    if name is None:
        raise InvalidArgumentError(f'what operation "{op.name}" reads is computed when it runs, and not known before')
    text: bytes = name.reshape(-1)[0]
    return text.decode()


@dataclass(frozen=True)
class EmbeddingPlan:
    """How embedding variables are restored: from which checkpoint, under which names, and which are left alone."""

    checkpoint: SurveyedCheckpoint
    mapping: Mapping[str, str] = field(default_factory=dict)
    absent: tuple[Operation, ...] = ()
    stems: frozenset[str] = frozenset()
    """What the graph calls the variables."""
    hash_tables: HashTablePlan = field(default_factory=HashTablePlan)

    @property
    def reader(self) -> CheckpointReader:
        """The checkpoint."""
        return self.checkpoint.reader

    def with_hash_tables(self, plan: HashTablePlan) -> EmbeddingPlan:
        """The same, with how hash tables are restored."""
        absent, stems = (*self.absent, *plan.absent), self.stems | plan.names
        return replace(self, absent=absent, stems=stems, hash_tables=plan)

    def other_names(self, wanted: Sequence[Wanted]) -> dict[str, str] | None:
        """For variables that are no embedding variables, the names that the checkpoint has for them; None if all have
        the same names there.

        A variable that each shard of an embedding variable has a copy of, such as a power of Adam's betas, may be
        stored under the name of another shard.
        """
        left = {name: target for name, target in self.mapping.items() if name not in self.stems}
        missing = [item.key for item in wanted if item.key not in self.reader and item.key not in left]
        stored = self.checkpoint.embeddings if missing else {}
        for key in missing if stored else ():
            found = next((name for name in _of_other_shards(key, stored) if name in self.reader), None)
            if found is not None:
                left[key] = found
        return left or None

    def renamed(self, stem: str) -> str:
        """The name under which the checkpoint stores a variable. A mapping names the variable by the tensor of its
        keys.
        """
        if not self.mapping:
            return stem
        suffix, names = self._names_of_keys
        return mapped_name(stem + suffix, names, self.reader).removesuffix(suffix)

    @cached_property
    def _names_of_keys(self) -> tuple[str, Mapping[str, str]]:
        """What the names of keys end in, and the mapping with theirs in it."""
        suffix = DELTA_KEYS if any(name.endswith(DELTA_KEYS) for name in self.reader) else KEYS
        names = {name + suffix: target + suffix for name, target in self.mapping.items() if not name.endswith("/")}
        return suffix, {**self.mapping, **names}

    def log(self) -> None:
        """Tells the log what is left alone."""
        for op in self.absent:
            if op.type not in IMPORTING:
                LOG.warning('"%s" does not hold what "%s" restores: it stays as it is', self.reader.path, op.name)
                continue
            LOG.warning('"%s" holds no embedding variable "%s": it stays as it is', self.reader.path, stem_of(op))


@dataclass(frozen=True)
class RestoredEmbeddings:
    """The operations that restore embedding variables and their slots."""

    ops: tuple[Operation, ...] = ()

    def plan(
        self, checkpoint: SurveyedCheckpoint, mapping: Mapping[str, str] | None, on_mismatch: Policy
    ) -> EmbeddingPlan:
        """How they are restored from a checkpoint; an error that names all that it does not have, if one must not.

        A slot that it does not have begins anew.
        """
        plan = EmbeddingPlan(checkpoint, mapping or {}, stems=frozenset(map(stem_of, self.ops)))
        wanted = [op for op in self.ops if not _is_slot(op)]
        missing = _missing(wanted, plan) if wanted else []
        if missing and not policy_of(on_mismatch).missing:
            raise _missing_error(missing, plan)
        return replace(plan, absent=tuple(missing))


def _stored_for(ops: Sequence[Operation], plan: EmbeddingPlan) -> Mapping[str, StoredEmbedding]:
    """The embeddings of the kind that operations restore."""
    return plan.checkpoint.deltas if any(op.type == _DELTA for op in ops) else plan.checkpoint.embeddings


def _missing(wanted: Sequence[Operation], plan: EmbeddingPlan) -> list[Operation]:
    """Those operations that restore embedding variables which the checkpoint does not have."""
    is_delta = any(op.type == _DELTA for op in wanted)
    stored = _stored_for(wanted, plan)
    missing = []
    for op in wanted:
        stem = plan.renamed(stem_of(op))
        if looked_up_embedding(stem, stored) is None and (is_delta or not _is_dense(plan.reader, stem)):
            missing.append(op)
    return missing


def _of_other_shards(key: str, stored: Mapping[str, StoredEmbedding]) -> Iterator[str]:
    """Other names that a variable beside an embedding variable may have: those it has if the embedding variable is in
    one part or not in parts.
    """
    parts = [(variable, rest) for variable, _, rest in split_parts(key)]
    parent, _, last = key.rpartition("/")
    for variable, rest in [*parts, (parent, f"/{last}")]:
        if variable in stored:
            yield from (f"{variable}{rest}", f"{variable}/part_0{rest}")


def _is_slot(op: Operation) -> bool:
    handle = op.inputs[1]
    made = [user for user in handle.consumers() if user.type.startswith("InitializeKvVariable")]
    own = [user for user in made if user.inputs[0] is handle and user.inputs[1] is not handle]
    return any(user.attr("slot_index") or not user.attr("emb_index") for user in own)


def _is_dense(reader: CheckpointReader, stem: str) -> bool:
    names = [stem, *(variable + rest for variable, _, rest in split_parts(stem))]
    return any(name in reader and len(reader[name].shape) == 2 for name in names)


def _missing_error(missing: Sequence[Operation], plan: EmbeddingPlan) -> NotFoundError:
    """One error for all embedding variables that a checkpoint does not have."""
    first = missing_embedding(plan.reader, plan.renamed(stem_of(missing[0])), _stored_for(missing, plan))
    if len(missing) == 1:
        return first
    names = ", ".join(f'"{stem_of(op)}"' for op in missing)
    return NotFoundError(f'"{plan.reader.path}" lacks {len(missing)} embedding variables: {names}. The first: {first}')
