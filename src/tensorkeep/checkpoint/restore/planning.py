"""The restore doctor: compares what a program wants with what a checkpoint holds, before anything is changed.

    plan = plan_restore(wanted, checkpoint, mapping=..., on_mismatch=...)     reads names, types and shapes only
    plan.error()                          the one error for all that the policy refuses, or None; `check` raises it
    plan.reader(reader, initial)          the checkpoint as it is wanted: a CheckpointReader for RestoreV2 kernels
    plan.read(reader, initial)            the same, tensor by tensor: (Wanted, array), one in memory at a time
    plan.outcome()                        what is restored, adapted and left; `outcome().log()` tells the log

`wanted` are `Wanted(key, dtype, shape, part, variable)`, one for each slice of a partitioned variable, with the shape
of the whole. `initial(wanted)` gives the values that a tensor which grows has in the rest, in the shape of the part.
Names that are skipped are not in `plan.reader(...)`, unless `placeholders=True`: then they read as zeros, so that one
node that reads everything can run; what they feed must not. `plan.read` and `plan.reader` raise `plan.error()`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.finding.file_names import OBJECT_GRAPH_KEY
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.objects.reader import ObjectGraph
from tensorkeep.checkpoint.reader import CheckpointReader, TensorInfo
from tensorkeep.checkpoint.restore.adapted_reader import AdaptedReader, Initial, read_item
from tensorkeep.checkpoint.restore.items import Action, ExactItems, RestoreItem, RestoreOutcome, Status, compared_item
from tensorkeep.checkpoint.restore.name_rules import OBJECT_SUFFIX, ScopeChange
from tensorkeep.checkpoint.restore.report import Findings, error_message, error_of, mapping_literal, report
from tensorkeep.checkpoint.restore.suggestions import shape_suggestion, suggest_names
from tensorkeep.checkpoint.restore.wanted_tensors import (
    Adapt,
    OnMismatch,
    Policy,
    Remedy,
    Wanted,
    WantedTensors,
    mapped_name,
    policy_of,
    shown_name,
    wanted_tensors,
)
from tensorkeep.errors import InvalidArgumentError, TensorKeepError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike


@dataclass(frozen=True)
class RestorePlan:
    """How a program's tensors are restored from a checkpoint, or why they cannot be. `plan_restore` makes one.

    `str` is a report for people, `to_dict` one for programs.
    """

    findings: Findings

    @property
    def path(self) -> str:
        return self.findings.path

    @property
    def items(self) -> tuple[RestoreItem, ...]:
        """What becomes of each wanted tensor, in the order in which they were given."""
        return self.findings.items

    @property
    def exact(self) -> tuple[RestoreItem, ...]:
        """The items whose tensors are stored just as they are wanted."""
        return self.findings.of(Status.EXACT)

    @property
    def renamed(self) -> tuple[RestoreItem, ...]:
        """The items whose tensors are stored under other names, by the mapping or by the checkpoint's objects."""
        return self.findings.of(Status.RENAMED)

    @property
    def missing(self) -> tuple[RestoreItem, ...]:
        return self.findings.of(Status.MISSING)

    @property
    def mismatched(self) -> tuple[RestoreItem, ...]:
        """The items whose tensors are stored in another shape or type."""
        return self.findings.of(Status.SHAPE, Status.DTYPE)

    @property
    def unused(self) -> tuple[str, ...]:
        """The stored tensors that no wanted one is compared with."""
        return self.findings.unused

    @property
    def scope_change(self) -> ScopeChange | None:
        """The one change of scope that explains most of what is missing."""
        return self.findings.scopes[0] if self.findings.scopes else None

    @cached_property
    def suggested_mapping(self) -> dict[str, str]:
        """From wanted to stored names, for all problems that other names solve; holds the mapping that was given."""
        return self.findings.suggested_mapping

    @cached_property
    def suggested_policy(self) -> Adapt | None:
        """What would adapt all that differs, and skip what cannot be adapted or found; None if nothing can be."""
        return self.findings.suggested_policy

    @property
    def mapping_literal(self) -> str:
        """The suggested mapping as Python, with the reasons, and shortened where whole scopes moved."""
        return mapping_literal(self.findings)

    def message(self) -> str:
        """All that is wrong and what can be done, as the error says it; a report if nothing is refused."""
        return error_message(self.findings)

    def error(self) -> TensorKeepError | None:
        """NotFoundError if something is missing, else InvalidArgumentError if shapes or types differ, else None.

        What the policy lets pass is no error.
        """
        return error_of(self.findings)

    def check(self) -> None:
        """Raises the error, if there is one."""
        if (error := self.error()) is not None:
            raise error

    def reader(
        self, reader: CheckpointReader, initial: Initial | None = None, *, placeholders: bool = False
    ) -> AdaptedReader:
        """The open checkpoint as it is wanted: under the wanted names, in the wanted types and shapes."""
        self._check_all(initial)
        return AdaptedReader(reader, self.items, initial, placeholders=placeholders)

    def read(self, reader: CheckpointReader, initial: Initial | None = None) -> Iterator[tuple[Wanted, Array]]:
        """What is restored, in order, each tensor read when it is asked for."""
        self._check_all(initial)
        return (
            (item.wanted, read_item(reader, item, initial))
            for item in self.items
            if item.action in (Action.RESTORE, Action.ADAPT)
        )

    def _check_all(self, initial: Initial | None) -> None:
        self.check()
        growing = [item.name for item in self.items if Remedy.GROW in item.remedies]
        if growing and initial is None:
            raise InvalidArgumentError(f"{growing[:5]} grow; `initial` has to give their initial values")

    def outcome(self) -> RestoreOutcome:
        """What carrying out the plan restores, and what it does not."""

        def of(*actions: Action) -> tuple[RestoreItem, ...]:
            return tuple(item for item in self.items if item.action in actions)

        skipped = of(Action.SKIP, Action.REFUSE)
        return RestoreOutcome(
            self.path, of(Action.RESTORE), of(Action.ADAPT), skipped, self.unused, self.findings.notes
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        change = self.scope_change
        return {
            "path": self.path,
            "items": [item.to_dict() for item in self.items],
            "unused": list(self.unused),
            "notes": list(self.findings.notes),
            "scope_change": None
            if change is None
            else {"wanted": change.wanted, "stored": change.stored, "count": change.count},
            "suggested_mapping": self.suggested_mapping,
        }

    def __str__(self) -> str:
        return report(self.findings)


def plan_restore(
    wanted: WantedTensors,
    checkpoint: PathLike | CheckpointReader,
    *,
    mapping: Mapping[str, str] | None = None,
    on_mismatch: Policy = OnMismatch.STRICT,
    fs: FileSystem = FILES,
) -> RestorePlan:
    """Compares what is wanted with what a checkpoint holds. Reads no tensor, changes nothing, and raises for neither.

    `wanted` are `Wanted` or names; or a mapping from names to arrays, `TensorInfo` or shapes, or None for anything.
    `mapping` gives stored names for wanted ones, or scopes for scopes: `{"model/": "old/model/", "/": "all/"}`. Without
    an entry a name stands for itself and, in an object-based checkpoint, for the variable that had that name.
    """
    tensors = wanted_tensors(wanted)
    policy = policy_of(on_mismatch)
    given = _checked_mapping(mapping)
    with _opened_reader(checkpoint, fs) as reader:
        stored = dict(reader)
        objects = ObjectGraph.read(reader) if OBJECT_GRAPH_KEY in stored else None
    full_names = {} if objects is None else _stored_names(objects.keys_by_full_name(), stored)
    keys = [_key(item, given, full_names, stored) for item in tensors]
    items = [compared_item(item, key, stored.get(key), policy) for item, key in zip(tensors, keys, strict=True)]
    used = {item.key for item in items if item.key is not None}
    unused = tuple(sorted(key for key in stored if key not in used and key != OBJECT_GRAPH_KEY))
    findings = Findings(
        reader.path,
        tuple(items),
        unused,
        frozenset(stored),
        notes=_notes(given, tensors, stored),
        mapping=mapping,
    )
    paths = {} if objects is None else _stored_names(objects.keys_by_path(), stored)
    return RestorePlan(_with_suggestions(findings, stored, {**paths, **full_names}))


@contextmanager
def _opened_reader(checkpoint: PathLike | CheckpointReader, fs: FileSystem) -> Iterator[CheckpointReader]:
    """The reader of the checkpoint to plan with: a given one, which stays open, or one for a path, which is closed at
    the end.
    """
    if isinstance(checkpoint, CheckpointReader):
        yield checkpoint
        return
    with open_checkpoint(checkpoint, fs=fs) as reader:
        yield reader


def stored_exactly(wanted: Sequence[Wanted], reader: CheckpointReader) -> list[TensorInfo] | None:
    """What is stored for each wanted tensor, if everything is just as it is wanted; None if it takes a plan.

    What `plan_restore` would find in such a checkpoint, in a fraction of the time.
    """
    stored = reader.infos()
    if OBJECT_GRAPH_KEY in stored:
        return None
    infos: list[TensorInfo] = []
    for item in wanted:
        info = stored.get(item.key)
        if info is None or not ((item.dtype is info.dtype and item.shape == info.shape) or item.fits(info)):
            return None
        infos.append(info)
    return infos


def exact_outcome(wanted: Sequence[Wanted], stored: Sequence[TensorInfo], reader: CheckpointReader) -> RestoreOutcome:
    """The outcome of a restore of what is `stored_exactly`."""
    unused = set(reader).difference([item.key for item in wanted])
    return RestoreOutcome(reader.path, ExactItems(wanted, stored), (), (), tuple(sorted(unused)))


def _checked_mapping(mapping: Mapping[str, str] | None) -> Mapping[str, str]:
    if mapping is not None and not isinstance(mapping, Mapping):
        raise InvalidArgumentError(f"mapping: expected names for names, got {type(mapping).__name__}")
    for name, key in (mapping or {}).items():
        if not (isinstance(name, str) and isinstance(key, str)):
            raise InvalidArgumentError(f"mapping: expected a name for a name, got {name!r}: {key!r}")
        if name.endswith("/") != key.endswith("/"):
            raise InvalidArgumentError(
                f'mapping: a scope, which ends in "/", stands for a scope, a name for a name; got {name!r}: {key!r}'
            )
    return mapping or {}


def _stored_names(names: Mapping[str, str], stored: Mapping[str, TensorInfo]) -> dict[str, str]:
    return {name: key for name, key in names.items() if name and key in stored}


def _key(
    wanted: Wanted, mapping: Mapping[str, str], full_names: Mapping[str, str], stored: Mapping[str, TensorInfo]
) -> str:
    """The stored name that is looked up for a wanted one, by the mapping; a tensor of that name need not exist."""
    name = mapped_name(wanted.key, mapping, stored) if mapping else wanted.key
    return name if name in stored else full_names.get(name, name)


def _notes(mapping: Mapping[str, str], wanted: tuple[Wanted, ...], stored: Mapping[str, TensorInfo]) -> tuple[str, ...]:
    """What is odd about a mapping: names that nobody wants, and tensors that are not stored."""
    if not mapping:
        return ()
    names = {item.key for item in wanted}
    idle = [name for name in mapping if not (name in names or _is_scope_of(name, names))]
    absent = [key for name, key in mapping.items() if not key.endswith("/") and key not in stored and name in names]
    notes = []
    if idle:
        notes.append(f"The mapping has {len(idle)} names that are not wanted: {', '.join(map(shown_name, idle[:5]))}.")
    if absent:
        notes.append(
            f"The mapping leads to {len(absent)} names that are not stored: {', '.join(map(shown_name, absent[:5]))}."
        )
    return tuple(notes)


def _is_scope_of(scope: str, names: Collection[str]) -> bool:
    return scope == "/" or (scope.endswith("/") and any(name.startswith(scope) for name in names))


def _with_suggestions(findings: Findings, stored: Mapping[str, TensorInfo], aliases: Mapping[str, str]) -> Findings:
    problems = findings.of(Status.MISSING, Status.SHAPE, Status.DTYPE)
    if not problems:
        return findings
    sought = {item.wanted.key: item.wanted for item in reversed(problems)}
    own = {item.wanted.key: item.key for item in problems if item.key is not None}
    plain = {key.removesuffix(OBJECT_SUFFIX): key for key in stored if key.endswith(OBJECT_SUFFIX)}
    found = suggest_names(
        dict(sorted(sought.items())),
        {key: info for key, info in stored.items() if key != OBJECT_GRAPH_KEY},
        free={*findings.unused, *own.values()} - {item.key for item in findings.of(Status.EXACT, Status.RENAMED)},
        own=own,
        aliases={**plain, **aliases},
        present={
            item.wanted.key: item.key
            for item in findings.of(Status.EXACT, Status.RENAMED)
            if item.key is not None and item.wanted.key not in sought
        },
    )

    def completed(item: RestoreItem) -> RestoreItem:
        if item.status in (Status.EXACT, Status.RENAMED):
            return item
        others = found.by_name.get(item.wanted.key, ())
        about = shape_suggestion(item.wanted, item.key, item.stored) if item.key and item.stored else None
        return replace(item, suggestions=(*others, about) if about is not None else others)

    return replace(findings, items=tuple(map(completed, findings.items)), scopes=found.scopes)


def restore_arrays(
    checkpoint: PathLike | CheckpointReader,
    arrays: Mapping[str, npt.ArrayLike],
    *,
    mapping: Mapping[str, str] | None = None,
    on_mismatch: Policy = OnMismatch.STRICT,
    fs: FileSystem = FILES,
) -> tuple[dict[str, Array], RestoreOutcome]:
    """Arrays of the same names, types and shapes, with the values of a checkpoint, and what was restored of them.

    What the policy skips keeps the values given, as does the rest of what grows. The outcome is logged.
    """
    given = {name: np.asarray(array) for name, array in arrays.items()}
    with _opened_reader(checkpoint, fs) as reader:
        plan = plan_restore(given, reader, mapping=mapping, on_mismatch=on_mismatch)
        read = {wanted.key: array for wanted, array in plan.read(reader, lambda wanted: given[wanted.key])}
    outcome = plan.outcome()
    outcome.log()
    return {**given, **read}, outcome
