"""Which hash tables an operation restores, read off the graph, and whether a checkpoint has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np

from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.checkpoint.restore.items import RestoreOutcome
from tensorkeep.checkpoint.restore.wanted_tensors import Policy, mapped_name, policy_of
from tensorkeep.embedding.hash_table.files import StoredHashTable, TensorNames
from tensorkeep.errors import InvalidArgumentError, NotFoundError, TensorKeepError
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.graph import Operation

RESTORING: Final = frozenset(("RestoreHashTable", "RestoreBloomFilter"))
"""The ops that restore a hash table or a filter of one."""

_VARIABLE: Final = "TensibleVariableOp"


@dataclass(frozen=True)
class HashTablePlan:
    """How hash tables are restored: under which names, and which are left alone."""

    renamed: Callable[[str], str] = str
    names: frozenset[str] = frozenset()
    """What the graph calls the tensors of tables."""
    absent: tuple[Operation, ...] = ()

    def told(self, outcome: RestoreOutcome) -> RestoreOutcome:
        """The outcome of a restore, without the tensors of hash tables among those that nothing used."""
        used = {self.renamed(name) for name in self.names}
        return replace(outcome, unused=tuple(name for name in outcome.unused if name not in used)) if used else outcome


@dataclass(frozen=True)
class RestoredHashTables:
    """The operations that restore hash tables and their filters."""

    ops: tuple[Operation, ...] = ()

    def plan(self, reader: CheckpointReader, mapping: Mapping[str, str] | None, on_mismatch: Policy) -> HashTablePlan:
        """How they are restored from a checkpoint; one error for all that it does not have as it is wanted.

        A table of children is restored from those that are there, and slots that are not begin anew.
        """
        if not self.ops:
            return HashTablePlan()
        new_name: Callable[[str], str] = partial(mapped_name, mapping=mapping, stored=reader) if mapping else str
        problems = [(op, error) for op in self.ops for error in _problems(op, reader, new_name)]
        missing = {op: error for op, error in problems if isinstance(error, NotFoundError)}
        others = [error for _, error in problems if not isinstance(error, NotFoundError)]
        if others or (missing and not policy_of(on_mismatch).missing):
            raise _one_error([*others, *missing.values()])
        return HashTablePlan(new_name, frozenset(_all_names(self.ops)), tuple(missing))


def _texts(op: Operation) -> list[str]:
    names = constant_value(op.inputs[1])
    if names is None:
        raise InvalidArgumentError(f'what operation "{op.name}" reads is computed when it runs, and not known before')
    return [name.decode() for name in names.reshape(-1).tolist()]


def _all_names(ops: Sequence[Operation]) -> set[str]:
    return {name for op in ops for text in _texts(op) for name in text.split(";")}


def _problems(op: Operation, reader: CheckpointReader, renamed: Callable[[str], str]) -> list[TensorKeepError]:
    """What a checkpoint lacks, or has otherwise, of what an operation restores."""
    if op.type == "RestoreBloomFilter":
        names = [renamed(text) for text in _texts(op)]
        return [NotFoundError(f'"{reader.path}" holds no Bloom filter "{one}"') for one in names if one not in reader]
    found: list[TensorKeepError] = []
    tables = [TensorNames.parse(text).renamed(renamed) for text in _texts(op)]
    for table in tables:
        try:
            StoredHashTable.find(reader, table, _wanted_rows(op, table))
        except NotFoundError as error:
            if len(tables) == 1:  # of children those are restored that are there
                found.append(error)
        except TensorKeepError as error:
            found.append(error)
    return found


def _wanted_rows(op: Operation, names: TensorNames) -> list[tuple[np.dtype[Any], tuple[int, ...]]]:
    """The types and shapes of rows that the variables have, which stand in a list of handles."""
    handles = [tensor.op for tensor in op.inputs[3].op.inputs if tensor.op.type == _VARIABLE]
    if op.inputs[3].op.type != "Pack" or len(handles) != len(names.rows):
        raise InvalidArgumentError(
            f'operation "{op.name}" restores {len(names.rows)} variables of hash table "{names.table}", and is given '
            f"{len(handles)}"
        )
    return [(one.attr("dtype").array_dtype, one.attr("shape").as_tuple()[1:]) for one in handles]


def _one_error(errors: Sequence[TensorKeepError]) -> TensorKeepError:
    """One for all; of the kind of the first. Parts of a table have the same to say."""
    told = list(dict.fromkeys(map(str, errors)))
    return errors[0] if len(told) == 1 else type(errors[0])("; ".join(told))
