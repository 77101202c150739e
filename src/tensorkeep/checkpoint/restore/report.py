"""A restore plan in words: the one error that says all that is wrong, and what can be done about it.

The first lines are TensorFlow's, for programs that look for its words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tensorkeep.checkpoint.restore.items import Action, RestoreItem, Status, compared_item
from tensorkeep.checkpoint.restore.name_rules import Cause, ScopeChange
from tensorkeep.checkpoint.restore.wanted_tensors import Adapt, Remedy, first_lines, remedies_of, shown_name
from tensorkeep.errors import InvalidArgumentError, NotFoundError
from tensorkeep.shapes import Shape

_MOST_LISTED: Final = 20
_MOST_MAPPED: Final = 40

_PREAMBLE: Final = (
    "Restoring from checkpoint failed. This is most likely due to {cause} from the checkpoint. Please ensure that you "
    "have not altered the graph expected based on the checkpoint. Original error:\n\n"
)
_TITLES: Final = {
    Status.MISSING: "Not in the checkpoint",
    Status.SHAPE: "Of another shape",
    Status.DTYPE: "Of another type",
}


@dataclass(frozen=True, slots=True)
class Findings:
    """All that a plan found out."""

    path: str
    items: tuple[RestoreItem, ...]
    unused: tuple[str, ...]
    stored: frozenset[str]
    scopes: tuple[ScopeChange, ...] = ()
    notes: tuple[str, ...] = ()
    """What is odd about the mapping that was given."""
    mapping: Mapping[str, str] | None = None
    """The mapping that was given."""

    def of(self, *statuses: Status) -> tuple[RestoreItem, ...]:
        return tuple(item for item in self.items if item.status in statuses)

    @property
    def suggested_mapping(self) -> dict[str, str]:
        """The given mapping and, for each problem that another name would solve, that name."""
        found = {item.wanted.key: item.mapped for item in self.items if item.mapped is not None}
        return {**(self.mapping or {}), **{name: key for name, key in found.items() if key is not None}}

    @property
    def suggested_policy(self) -> Adapt | None:
        """A policy by which what differs is adapted or, if it cannot be, skipped, as is what no mapping finds."""
        refused = (item for item in self.items if item.action is Action.REFUSE)
        return _adapting([item for item in refused if item.stored is not None or item.mapped is None])


def error_of(findings: Findings) -> NotFoundError | InvalidArgumentError | None:
    """The error for what is refused: that something is missing or, if nothing is, that shapes or types differ."""
    refused = [item for item in findings.items if item.action is Action.REFUSE]
    if not refused:
        return None
    missing = any(item.status is Status.MISSING for item in refused)
    return (NotFoundError if missing else InvalidArgumentError)(error_message(findings))


def error_message(findings: Findings) -> str:
    """The text of the error; a report only, if nothing is refused."""
    refused = [item for item in findings.items if item.action is Action.REFUSE]
    if not refused:
        return report(findings)
    missing = [item for item in refused if item.status is Status.MISSING]
    cause = "a Variable name or other graph key that is missing" if missing else _MISMATCH
    lines = [_PREAMBLE.format(cause=cause) + _original((missing or refused)[0]), "", report(findings)]
    return "\n".join([*lines, *_advice(findings)])


_MISMATCH: Final = "a mismatch between the current graph and the graph"


def _original(item: RestoreItem) -> str:
    """TensorFlow's words for a problem, of which it tells the first only."""
    wanted, stored = item.wanted, item.stored
    if stored is None:
        return f"Key {shown_name(wanted.key)} not found in checkpoint"
    if item.status is Status.DTYPE and wanted.dtype is not None:
        return (
            f"tensor_name = {shown_name(wanted.key)}; expected dtype {wanted.dtype.label} does not equal original "
            f"dtype {stored.dtype.label}"
        )
    return (
        "Assign requires shapes of both tensors to match. "
        f"lhs shape= {Shape(wanted.shape)} rhs shape= {Shape(stored.shape)} (tensor_name = {shown_name(wanted.key)})"
    )


def report(findings: Findings) -> str:
    """What matches, what does not, and what may be meant."""
    lines = [_summary(findings)]
    if findings.scopes and findings.scopes[0].count > 1:
        first = findings.scopes[0]
        lines.append(f"One change explains {first.count} of them: {shown_name(first.reason)}.")
    if count := _second_copies(findings):
        lines.append(
            f"{count} of them {'is named' if count == 1 else 'are named'} as a second one of a variable of the same "
            "graph, which is there: the graph may have been built twice, as by a notebook cell that ran again."
        )
    lines += findings.notes
    for status, title in _TITLES.items():
        if items := findings.of(status):
            lines += ["", f"{title} ({len(items)}):"]
            lines += first_lines([_line(item) for item in items[:_MOST_LISTED]], _MOST_LISTED, len(items))
    if findings.unused:
        is_used = any(item.key is not None for item in findings.items)
        title = "In the checkpoint, and not wanted" if is_used else "Nothing in the checkpoint is wanted; it holds"
        some = [f"  {shown_name(name)}" for name in findings.unused[:_MOST_LISTED]]
        lines += ["", f"{title} ({len(findings.unused)}):", *first_lines(some, _MOST_LISTED, len(findings.unused))]
    return "\n".join(lines)


def _second_copies(findings: Findings) -> int:
    """How many of the missing tensors seem to be of variables that the graph holds twice."""
    causes = ([suggestion.cause for suggestion in item.suggestions] for item in findings.of(Status.MISSING))
    return sum(Cause.SECOND_COPY in found for found in causes)


def _summary(findings: Findings) -> str:
    matching = len(findings.of(Status.EXACT, Status.RENAMED))
    counts = [f"{matching} of {len(findings.items)} wanted tensors are there as they are wanted"]
    if renamed := findings.of(Status.RENAMED):
        counts.append(f"{len(renamed)} of these under other names")
    counts += [
        f"{len(items)} {words}"
        for status, words in (
            (Status.MISSING, "missing"),
            (Status.SHAPE, "of another shape"),
            (Status.DTYPE, "of another type"),
        )
        if (items := findings.of(status))
    ]
    if findings.unused:
        counts.append(f"{len(findings.unused)} stored tensors are not wanted")
    return f'"{shown_name(findings.path)}": {"; ".join(counts)}.'


def _line(item: RestoreItem) -> str:
    wanted = item.wanted
    name = shown_name(item.name) + (
        f" (for {shown_name(wanted.variable)})" if wanted.variable not in (None, wanted.key) else ""
    )
    about = item.difference if item.stored is not None else wanted.description
    stored = f' (as "{shown_name(item.key)}")' if item.key not in (None, wanted.key) else ""
    marks = {Action.SKIP: " [left as it is]", Action.ADAPT: f" [adapted: {item.how}]"}
    lines = [f"  {name}: {about}{stored}{marks.get(item.action, '')}"]
    for suggestion in item.suggestions:
        if suggestion.key is None:
            lines.append(f"      {shown_name(suggestion.reason)}")
        elif suggestion.key == item.key:
            lines.append(f"      it is {shown_name(suggestion.reason)}")
        else:
            but = "" if suggestion.fits else "; its type or shape differs"
            lines.append(f'      did you mean "{shown_name(suggestion.key)}"? ({shown_name(suggestion.reason)}{but})')
    return "\n".join(lines)


def _advice(findings: Findings) -> list[str]:
    """What can be done: a mapping that solves what other names solve, and a policy that lets the rest pass."""
    lines = ["", "What can be done:"]
    if _second_copies(findings):
        lines.append("* If the graph was built twice: call tf.reset_default_graph() before you build it again")
    if any(item.mapped is not None for item in findings.items):
        lines.append("* If these names are meant, read them so:  mapping=" + mapping_literal(findings))
    lines.append('* To restore what matches and leave the rest as it is:  on_mismatch="report"')
    policy = findings.suggested_policy
    if policy is not None:
        lines.append(f"* {_purpose(policy)}:  on_mismatch={_policy_literal(policy)}")
    return lines


_SHAPES: Final = (Remedy.RESHAPE, Remedy.CROP, Remedy.GROW)
_DTYPES: Final = (Remedy.WIDEN, Remedy.CAST)


def _mending(item: RestoreItem) -> frozenset[Remedy]:
    """The remedies that would adapt a tensor, were they allowed; to be reshaped only if nothing else helps."""
    if item.stored is None:
        return frozenset()
    for shapes in (_SHAPES[1:], _SHAPES):
        found = compared_item(item.wanted, item.key, item.stored, Adapt(shape=shapes, dtype=_DTYPES)).remedies
        if found:
            return found
    return frozenset()


def _adapting(refused: Sequence[RestoreItem]) -> Adapt | None:
    """One policy that adapts what can be adapted, and skips what cannot; None if nothing can."""
    used = frozenset[Remedy]().union(*(_mending(item) for item in refused))
    if not used:
        return None
    kinds = {Status.MISSING: frozenset[Remedy](), Status.SHAPE: used & {*_SHAPES}, Status.DTYPE: used & {*_DTYPES}}
    for status in kinds:
        policy = Adapt(*kinds.values())
        left = [item for item in refused if item.status is status]
        if any(compared_item(item.wanted, item.key, item.stored, policy).action is Action.REFUSE for item in left):
            kinds[status] |= {Remedy.SKIP}
    return Adapt(*kinds.values())


def _purpose(policy: Adapt) -> str:
    missing, shape, dtype = map(remedies_of, (policy.missing, policy.shape, policy.dtype))
    what = "To fit tensors of another shape" if shape & {*_SHAPES} else "To convert numbers of another type"
    if shape & {*_SHAPES} and dtype & {*_DTYPES}:
        what += " and convert numbers of another type"
    return f"{what}, and leave the rest as it is" if Remedy.SKIP in missing | shape | dtype else what


def _policy_literal(policy: Adapt) -> str:
    """The policy as Python, to be pasted."""
    kinds = {name: remedies_of(getattr(policy, name)) for name in ("missing", "shape", "dtype")}
    given = [f"{name}={[remedy.value for remedy in Remedy if remedy in kinds[name]]}" for name in kinds if kinds[name]]
    return f"Adapt({', '.join(given)})".replace("'", '"')


def mapping_literal(findings: Findings) -> str:
    """The suggested mapping as Python, to be pasted: whole scopes on one line where that means the same."""
    mapping = findings.suggested_mapping
    reasons = {item.wanted.key: item.suggestions[0].reason for item in findings.items if item.mapped is not None}
    entries: list[tuple[str, str, str]] = []
    for scope in findings.scopes:
        covered = _covered_names(scope, mapping, findings)
        if len(covered) > 1:
            entries.append((scope.wanted or "/", scope.stored or "/", f"{len(covered)} tensors"))
            mapping = {name: key for name, key in mapping.items() if name not in covered}
    entries += [(name, key, reasons.get(name, "")) for name, key in mapping.items()]
    lines = [
        f"      {name!r}: {key!r},{f'  # {shown_name(reason)}' if reason else ''}" for name, key, reason in entries
    ]
    if len(lines) > _MOST_MAPPED:
        more = f"      # ... and {len(lines) - _MOST_MAPPED} more, in the plan's suggested_mapping"
        lines = [*lines[:_MOST_MAPPED], more]
    return "\n".join(["{", *lines, "  }"])


def _covered_names(scope: ScopeChange, mapping: Mapping[str, str], findings: Findings) -> set[str]:
    """The names that an entry for the whole scope would map as the mapping does; none if it would map others too."""
    covered: set[str] = set()
    for name in {item.wanted.key for item in findings.items}:
        if name.startswith(scope.wanted):
            key = scope.stored + name[len(scope.wanted) :]
            if mapping.get(name) == key:
                covered.add(name)
            elif key in findings.stored and name not in mapping:
                return set()
    return covered
