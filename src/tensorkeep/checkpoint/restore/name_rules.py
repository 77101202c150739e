"""How TensorFlow's names come to differ between two programs: one small pure function per way."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import Enum
from typing import Final

from tensorkeep.checkpoint.objects.reader import VARIABLE_VALUE

TENSOR_SUFFIX: Final = ":0"
OBJECT_SUFFIX: Final = f"/.ATTRIBUTES/{VARIABLE_VALUE}"
AVERAGE_SUFFIX: Final = "/ExponentialMovingAverage"

_AVERAGE: Final = re.compile(r"(?P<variable>.+)/ExponentialMovingAverage(_[0-9]+)?")
_PART: Final = re.compile(r"(?P<whole>.+)/part_[0-9]+")
_SLOT: Final = re.compile(
    r"(?P<variable>.+)/(?P<optimizer>Adam|AdamW|AdamWeightDecay|Adagrad|AdagradDA|Adadelta|Momentum|RMSProp|Ftrl|"
    r"ProximalAdagrad|LARS|LAMB|adam_m|adam_v|accum|linear)(_[0-9]{1,4})?"
)
_POWER: Final = re.compile(r"(.+/)?beta[12]_power(_[0-9]{1,4})?")
_NUMBER: Final = re.compile(r"_[0-9]{1,9}(?=/|$)")

# What one API of layers calls "kernel" and "bias", another calls otherwise.
_WORDS: Final = {"weights": "kernel", "weight": "kernel", "biases": "bias"}

_MOST_RIVALS: Final = 4  # a suffix that more stored tensors share says nothing
_DEEPEST: Final = 16  # scopes that are looked at, from the innermost
_ALIKE: Final = 0.7
_MOST_COMPARED: Final = 8


class Cause(Enum):
    """Why a stored tensor may be the wanted one under another name."""

    TENSOR_NAME = "tensor name"
    OBJECT_PATH = "object path"
    PARTITION = "partition"
    MOVING_AVERAGE = "moving average"
    SECOND_COPY = "second copy"
    CASE = "case"
    NUMBERING = "numbering"
    WORDING = "wording"
    SCOPE = "scope"
    SLOT = "optimizer slot"
    SPELLING = "spelling"
    ONLY_CANDIDATE = "only candidate"
    SHAPE = "shape"


@dataclass(frozen=True, slots=True)
class ScopeChange:
    """A scope that has another name in the checkpoint; "" is no scope at all."""

    wanted: str
    stored: str
    count: int = 0
    """How many wanted tensors it explains."""

    @property
    def reason(self) -> str:
        if not self.stored:
            return f'without the scope "{self.wanted}"'
        return f'scope "{self.wanted}" is "{self.stored}" there' if self.wanted else f'in the scope "{self.stored}"'


def other_spellings(name: str) -> Iterator[tuple[Cause, str, str]]:
    """The other names that the same variable may go by, with the reason in words."""
    yield Cause.OBJECT_PATH, name, "the path of an object"
    if name.endswith(TENSOR_SUFFIX):
        yield Cause.TENSOR_NAME, name.removesuffix(TENSOR_SUFFIX), 'without ":0"; variables are stored by plain names'
    yield Cause.TENSOR_NAME, name + TENSOR_SUFFIX, 'with ":0"'
    yield Cause.OBJECT_PATH, name.removesuffix(TENSOR_SUFFIX) + OBJECT_SUFFIX, "the path of an object"
    if name.endswith(OBJECT_SUFFIX):
        yield Cause.OBJECT_PATH, name.removesuffix(OBJECT_SUFFIX), "saved by name, not as an object"
    yield average_name(name.removesuffix(TENSOR_SUFFIX))


def average_name(name: str) -> tuple[Cause, str, str]:
    """The variable of which a name is the moving average, or the reverse; as for `other_spellings`."""
    variable = average_of(name)
    if variable is not None:
        return Cause.MOVING_AVERAGE, variable, "the variable itself, not its moving average"
    return Cause.MOVING_AVERAGE, name + AVERAGE_SUFFIX, "its moving average"


def average_of(name: str) -> str | None:
    """The variable of which a name is the moving average."""
    found = _AVERAGE.fullmatch(name)
    return found["variable"] if found else None


def whole_of_part(name: str) -> str | None:
    """The partitioned variable that a name is a part of."""
    found = _PART.fullmatch(name)
    return found["whole"] if found else None


def slot_of(name: str) -> tuple[str, str] | None:
    """For the name of a value that an optimizer keeps: the variable, if any, it is kept for, and the optimizer."""
    if found := _SLOT.fullmatch(name):
        return found["variable"], found["optimizer"].replace("adam_m", "Adam").replace("adam_v", "Adam")
    return ("", "Adam") if _POWER.fullmatch(name) else None


def folded_name(name: str) -> str:
    """What is left of a name without case, the numbers of layers, and the wording of an API."""
    base, rest = _variable_and_rest(name)
    plain = _NUMBER.sub("", base.casefold())
    scope, slash, last = plain.rpartition("/")
    return scope + slash + _WORDS.get(last, last) + rest


def unnumbered_name(name: str) -> str:
    """A name without the last number of each step, as the first of that name in a graph is called."""
    base, rest = _variable_and_rest(name)
    return _NUMBER.sub("", base) + rest


def without_one_number(name: str) -> Iterator[str]:
    """A name without the last number of one step, for each step that has one, the outermost first."""
    base, rest = _variable_and_rest(name)
    yield from (base[: number.start()] + base[number.end() :] + rest for number in _NUMBER.finditer(base))


def _variable_and_rest(name: str) -> tuple[str, str]:
    """The variable, and what an optimizer calls what it keeps for it: its number tells one slot from another."""
    slot = _SLOT.fullmatch(name)
    return (slot["variable"], name[slot.end("variable") :]) if slot else (name, "")


def numbers_in_name(name: str) -> tuple[int, ...]:
    """The numbers in a name, by which names of one folded form are ordered as they were made."""
    found = (_NUMBER.search(step) for step in name.split("/"))
    return tuple(int(number[0][1:]) if number else 0 for number in found)


def folding_cause(wanted: str, stored: str) -> tuple[Cause, str]:
    """Why two names of one folded form differ."""
    if wanted.casefold() == stored.casefold():
        return Cause.CASE, "in other case"
    if _NUMBER.sub("", wanted) == _NUMBER.sub("", stored):
        return Cause.NUMBERING, "numbered otherwise"
    return Cause.WORDING, "worded as in another API of layers"


def name_ends(name: str) -> Iterator[int]:
    """Where a name's ends begin that are names in some scope, longest first.

    What is kept for a variable is not a name without the variable's.
    """
    kept = _SLOT.fullmatch(name) or _AVERAGE.fullmatch(name)
    last = kept.end("variable") if kept else len(name)
    starts = [0]
    at = name.find("/", 0, last)
    while at >= 0:
        starts.append(at + 1)
        at = name.find("/", at + 1, last)
    yield from starts[-_DEEPEST:]


def same_endings(wanted: Iterable[str], stored: Collection[str]) -> dict[str, tuple[int, list[str]]]:
    """For each wanted name, how long the longest end is that it shares with stored names, and which these are.

    Left out are names that share nothing, or something that too many share.
    """
    by_end: dict[str, list[str]] = {}
    for name in stored:
        for start in name_ends(name):
            rivals = by_end.setdefault(name[start:], [])
            if len(rivals) <= _MOST_RIVALS:
                rivals.append(name)
    found: dict[str, tuple[int, list[str]]] = {}
    for name in wanted:
        for start in name_ends(name):
            if rivals := by_end.get(name[start:], []):
                if len(rivals) <= _MOST_RIVALS and start < len(name):
                    found[name] = len(name) - start, rivals
                break
    return found


def scope_changes(endings: Mapping[str, tuple[int, list[str]]]) -> list[ScopeChange]:
    """The changes of scope that explain those endings, the most frequent first."""
    votes = Counter(
        (name[: len(name) - length], rival[: len(rival) - length])
        for name, (length, rivals) in endings.items()
        for rival in rivals
    )
    ordered = sorted(votes.items(), key=lambda item: (-item[1], item[0]))
    return [ScopeChange(*change, count) for change, count in ordered]


class SpellingIndex:
    """Stored names, to be found by names that are spelled a little differently in one step of the path."""

    def __init__(self, stored: Iterable[str]) -> None:
        self._buckets: dict[tuple[str, str, str], list[str]] = {}
        for name in stored:
            for bucket, _ in self._buckets_of(name):
                members = self._buckets.setdefault(bucket, [])
                if len(members) < _MOST_COMPARED:
                    members.append(name)

    def nearest(self, wanted: str) -> list[str]:
        """The stored names that are spelled most like it, the nearest first."""
        scores: dict[str, float] = {}
        for bucket, step in self._buckets_of(wanted):
            for name in self._buckets.get(bucket, ()):
                if name not in scores:
                    other = name[len(bucket[0]) : len(name) - len(bucket[1])]
                    scores[name] = SequenceMatcher(None, step, other, autojunk=False).ratio()
        alike = [name for name, score in scores.items() if score >= _ALIKE and name != wanted]
        return sorted(alike, key=lambda name: (-scores[name], name))

    @staticmethod
    def _buckets_of(name: str) -> Iterator[tuple[tuple[str, str, str], str]]:
        """What surrounds each step, with a few letters of the step, and the step."""
        for start in name_ends(name):
            end = name.find("/", start)
            end = len(name) if end < 0 else end
            step = name[start : min(end, start + 64)]
            yield (name[:start], name[end:], step[:3]), step
            yield (name[:start], name[end:], f"{step[:1]}/{step[-1:]}"), step
