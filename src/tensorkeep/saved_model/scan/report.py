"""What a scan found, as data and in three forms: text for people, JSON for programs, SARIF for code scanning."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tensorkeep._version import __version__
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.registry.capabilities import Capability
from tensorkeep.io.showing.html_tables import html_table

NOT_ALLOWED: Final = "not-allowed"
NOT_SCANNED: Final = "not-scanned"
RULES: Final[dict[str, str]] = {
    **{effect.identifier: f"The model {effect.value}" for effect in Capability},
    NOT_ALLOWED: "The model has an op that is not on the list of allowed ones",
    NOT_SCANNED: "A part of the model could not be looked at",
}
_BY_WORD: Final = {
    word: effect.identifier for effect in Capability for word in (effect.identifier, effect.value, effect.name.lower())
}
_MOST_OF_A_KIND: Final = 20
_MOST: Final = 10_000
_SARIF_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


@dataclass(frozen=True)
class ScanPolicy:
    """What a model may have.

    `allowed` are classes ("prints") and ops ("PrintV2") that are no findings. With `only`, every op that is not in it
    is a finding, whatever it does: the list that fails closed.
    """

    allowed: frozenset[str] = frozenset()
    only: frozenset[str] | None = None

    @classmethod
    def of(cls, allow: Iterable[str] = (), only: Iterable[str] | None = None) -> ScanPolicy:
        """A policy by names: classes as in a report ("reads-files") or as words ("reads files"), and ops."""
        return cls(
            frozenset(_BY_WORD.get(name, name) for name in allow), None if only is None else frozenset(only)
        ).checked()

    def checked(self) -> ScanPolicy:
        """This policy; an error if it names what it cannot allow."""
        wrong = sorted(name for name in self.allowed if name in (NOT_ALLOWED, NOT_SCANNED) or not name)
        if wrong:
            classes = ", ".join(effect.identifier for effect in Capability)
            raise InvalidArgumentError(f"{', '.join(map(repr, wrong))} cannot be allowed: name an op, or of {classes}")
        return self

    def is_allowed(self, rule: str, subject: str) -> bool:
        """Whether something that a model does is no finding."""
        return rule in self.allowed or subject in self.allowed


@dataclass(frozen=True)
class Finding:
    """One thing in a model that does more than compute, or that nobody could look at."""

    rule: str
    subject: str
    """The op, or what else it is."""
    file: str
    where: str
    """In which part of the file."""
    message: str
    on_load: bool = False
    """Whether it runs as soon as TensorFlow loads the model."""

    def __str__(self) -> str:
        place = f"{self.file}: {self.where}" if self.where else self.file
        return f"{place}: {self.message}" + (" (runs when TensorFlow loads the model)" if self.on_load else "")


@dataclass(frozen=True)
class ScanReport:
    """All that a scan found."""

    path: str
    findings: tuple[Finding, ...]
    accounted: tuple[Finding, ...]
    """What does more than compute as every model does: its own variables and assets."""
    counts: Mapping[str, int]
    """How many findings there are of each rule; the first of many are listed."""
    ops: Mapping[str, int]
    files: tuple[str, ...]

    @property
    def is_clean(self) -> bool:
        return not self.counts

    @property
    def is_complete(self) -> bool:
        """Whether all of the model could be looked at."""
        return NOT_SCANNED not in self.counts

    def _repr_html_(self) -> str:
        """What a notebook shows: how much was found, and the first of it."""
        found = [(item.rule, item.file, item.where, item.message) for item in self.findings]
        total = max(sum(self.counts.values()), len(found))
        caption = f"{str(self).partition(chr(10))[0]}; {sum(self.ops.values())} operations in {len(self.files)} files"
        return html_table(caption, ("rule", "file", "where", "what"), found, total)

    def __str__(self) -> str:
        total = sum(self.counts.values())
        lines = [f"{self.path}: {'nothing' if self.is_clean else total} found"]
        for rule, text in RULES.items():
            if rule in self.counts:
                lines.append(f"\n{text} ({rule}):")
                listed = [item for item in self.findings if item.rule == rule]
                lines += [f"  {item}" for item in listed]
                if self.counts[rule] > len(listed):
                    lines.append(f"  and {self.counts[rule] - len(listed)} more")
        if self.accounted:
            lines.append("\nOf the model's own files:")
            lines += [f"  {item}" for item in self.accounted]
        kinds, number = len(self.ops), sum(self.ops.values())
        lines.append(f"\n{number} operations of {kinds} kinds in {len(self.files)} files")
        return "\n".join(lines)

    def to_json(self) -> str:
        """The report as a JSON object, keys sorted."""
        found: dict[str, Any] = {
            "version": 1,
            "tool": {"name": "tensorkeep", "version": __version__},
            "path": self.path,
            "clean": self.is_clean,
            "complete": self.is_complete,
            "counts": dict(self.counts),
            "findings": [vars(item) for item in self.findings],
            "accounted": [vars(item) for item in self.accounted],
            "ops": dict(self.ops),
            "files": list(self.files),
        }
        return json.dumps(found, indent=2, sort_keys=True)

    def to_sarif(self) -> str:
        """The report in the static analysis results interchange format, version 2.1.0."""
        rules = list(RULES)
        results = [_sarif_result(item, rules.index(item.rule)) for item in self.findings]
        driver = {
            "name": "tensorkeep",
            "version": __version__,
            "rules": [{"id": rule, "shortDescription": {"text": text}} for rule, text in RULES.items()],
        }
        run = {"tool": {"driver": driver}, "results": results}
        return json.dumps({"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, sort_keys=True)


def _sarif_result(item: Finding, index: int) -> dict[str, Any]:
    location: dict[str, Any] = {"physicalLocation": {"artifactLocation": {"uri": item.file}}}
    if item.where:
        location["logicalLocations"] = [{"fullyQualifiedName": item.where}]
    return {
        "ruleId": item.rule,
        "ruleIndex": index,
        "level": "error",
        "message": {"text": item.message + (" It runs when TensorFlow loads the model." if item.on_load else "")},
        "locations": [location],
        "properties": {"subject": item.subject, "runsOnLoad": item.on_load},
    }


@dataclass
class Findings:
    """Findings as they come in: all are counted, of each kind the first are kept."""

    policy: ScanPolicy = field(default_factory=ScanPolicy)
    findings: list[Finding] = field(default_factory=list)
    accounted: list[Finding] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    ops: Counter[str] = field(default_factory=Counter)
    files: list[str] = field(default_factory=list)
    _kept: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def add(self, finding: Finding) -> None:
        """Takes a finding, unless the policy allows it."""
        if self.policy.is_allowed(finding.rule, finding.subject):
            return
        self.counts[finding.rule] += 1
        self._keep(self.findings, finding, "")

    def account(self, finding: Finding) -> None:
        """Takes something that does more than compute but is as it should be."""
        self._keep(self.accounted, finding, "accounted")

    def _keep(self, kept: list[Finding], finding: Finding, kind: str) -> None:
        key = (kind + finding.rule, finding.subject if len(kept) < _MOST else "", finding.file)
        self._kept[key] += 1
        if self._kept[key] <= _MOST_OF_A_KIND:
            kept.append(finding)

    def report(self, path: str) -> ScanReport:
        """What came in, in order."""
        return ScanReport(
            path,
            tuple(self.findings),
            tuple(self.accounted),
            dict(self.counts),
            dict(sorted(self.ops.items())),
            tuple(self.files),
        )
