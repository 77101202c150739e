"""Did you mean: which stored tensors a program may mean by names that a checkpoint does not hold.

The ways in which names differ (`name_rules`) are tried from the surest to the vaguest. A stored tensor that fits in
type and shape is given away once, so that the suggestions together are a mapping; others are mentioned only.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tensorkeep.checkpoint.reader import TensorInfo
from tensorkeep.checkpoint.restore.name_rules import (
    Cause,
    ScopeChange,
    SpellingIndex,
    average_name,
    average_of,
    folded_name,
    folding_cause,
    numbers_in_name,
    other_spellings,
    same_endings,
    scope_changes,
    slot_of,
    unnumbered_name,
    whole_of_part,
    without_one_number,
)
from tensorkeep.checkpoint.restore.wanted_tensors import Wanted
from tensorkeep.dtypes import DType
from tensorkeep.shapes import Shape, element_count

_MOST_SCOPES: Final = 24
_MOST_HINTS: Final = 2
_MOST_SPELLED: Final = 5000  # names whose spelling is compared; if more are open, spelling is not the problem
_FOLLOWS: Final = "as its variable"
_MADE_AGAIN: Final = "made a second time in one graph"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What a program may have meant."""

    cause: Cause
    reason: str
    """The difference, in words."""
    key: str | None = None
    """The stored tensor; None if the reason is all there is to say."""
    fits: bool = False
    """Whether that tensor has the type and shape that are wanted, so that a mapping to it would do."""


@dataclass(frozen=True, slots=True)
class Suggestions:
    """What was found for all names together."""

    by_name: Mapping[str, tuple[Suggestion, ...]]
    scopes: tuple[ScopeChange, ...]
    """The changes of scope that explain several names each, the one that explains most first."""


def suggest_names(
    sought: Mapping[str, Wanted],
    stored: Mapping[str, TensorInfo],
    *,
    free: Iterable[str],
    own: Mapping[str, str] = {},
    aliases: Mapping[str, str] = {},
    present: Mapping[str, str] = {},
) -> Suggestions:
    """Suggestions for names that are missing, or whose own stored tensors (`own`) are of another type or shape.

    `free` are the stored tensors that no other name has; `aliases` are further names of stored tensors; `present` are
    the stored tensors of the names that are wanted and there.
    """
    search = _Search(sought, stored, set(free), own, aliases)
    search.try_second_copies(present)
    search.try_spellings()
    search.try_parts()
    search.try_foldings()
    search.try_common_scopes()
    search.try_averages()
    search.try_nearest()
    search.try_single_scopes()
    search.try_only_candidates()
    search.try_slots()
    return search.result()


class _Search:
    """The names that are still open, the stored tensors that are still free, and what was found so far."""

    def __init__(
        self,
        sought: Mapping[str, Wanted],
        stored: Mapping[str, TensorInfo],
        free: set[str],
        own: Mapping[str, str],
        aliases: Mapping[str, str],
    ) -> None:
        self._open = dict(sought)
        self._stored = stored
        self._free = free
        self._own = own
        self._names = {**aliases, **{key: key for key in stored}}
        self._best: dict[str, Suggestion] = {}
        self._hints: dict[str, list[Suggestion]] = {}
        self._scopes: list[ScopeChange] = []

    def result(self) -> Suggestions:
        names = {*self._best, *self._hints}
        by_name = {
            name: (*([self._best[name]] if name in self._best else []), *self._hints.get(name, ())) for name in names
        }
        return Suggestions(by_name, tuple(sorted(self._scopes, key=lambda scope: -scope.count)))

    def _propose(self, name: str, key: str, cause: Cause, reason: str, *, shared: bool = False) -> bool:
        """Gives a stored tensor to a name if it fits and is free; if it does not fit, mentions it."""
        if key == self._own.get(name) or not (shared or key in self._free):
            return False
        if self._open[name].fits(self._stored[key]):
            self._best[name] = Suggestion(cause, reason, key, fits=True)
            del self._open[name]
            self._free.discard(key)
            return True
        hints = self._hints.setdefault(name, [])
        if name not in self._own and len(hints) < _MOST_HINTS and all(hint.key != key for hint in hints):
            hints.append(Suggestion(cause, reason, key))
        return False

    def _explain(self, name: str, suggestion: Suggestion) -> None:
        self._best[name] = suggestion
        del self._open[name]

    def try_second_copies(self, present: Mapping[str, str]) -> None:
        """Names that a graph built twice gave its variables the second time; they are mapped if all are there twice."""
        infos = {name: self._stored[key] for name, key in present.items()}
        copies = originals_of_copies(
            {name: wanted for name, wanted in self._open.items() if name not in self._own}, infos
        )
        is_whole = whole_graph_is_copied(copies, infos)
        for name, original in copies.items():
            if is_whole:
                self._propose(name, present[original], Cause.SECOND_COPY, _MADE_AGAIN, shared=True)
            else:
                reason = f'may be a second "{original}" of one graph, if it is not new'
                self._explain(name, Suggestion(Cause.SECOND_COPY, reason))

    def try_spellings(self) -> None:
        for name in list(self._open):
            for cause, other, reason in other_spellings(name):
                key = self._names.get(other)
                if key is not None and key != name and self._propose(name, key, cause, reason):
                    break

    def try_parts(self) -> None:
        for name in list(self._open):
            whole = whole_of_part(name)
            if name in self._own:
                continue
            if whole is not None and whole in self._stored:
                reason = f"a part of it; it is stored as one tensor {self._stored[whole]}"
                self._explain(name, Suggestion(Cause.PARTITION, reason, whole))
            elif (first := f"{name}/part_0") in self._stored:
                count = next(at for at in range(len(self._stored) + 1) if f"{name}/part_{at}" not in self._stored)
                reason = f"its parts are stored as {count} tensors of their own, to be joined"
                self._explain(name, Suggestion(Cause.PARTITION, reason, first))

    def try_foldings(self) -> None:
        """Names that differ in case, in the numbers of layers or in wording, matched in the order of their numbers."""
        forms = {name: folded_name(name) for name in self._open}
        needed = set(forms.values())
        rivals: dict[str, dict[_Kind, deque[str]]] = {}
        for key in sorted(self._free, key=lambda key: (numbers_in_name(key), key)):
            if (form := folded_name(key)) in needed:
                rivals.setdefault(form, {}).setdefault(_kind(self._stored[key]), deque()).append(key)
        for name in sorted(forms, key=lambda name: (numbers_in_name(name), name)):
            kinds = rivals.get(forms[name], {})
            known = _kind(self._open[name])
            for keys in [kinds[known]] if known in kinds else list(kinds.values())[:_MOST_HINTS]:
                if keys and name in self._open and self._propose(name, keys[0], *folding_cause(name, keys[0])):
                    keys.popleft()

    def try_common_scopes(self) -> None:
        """The change of scope that explains most, then the next, as long as they explain several names."""
        available = self._available()
        plain = {name: name.removesuffix(":0") for name in self._open}
        for change in scope_changes(same_endings(plain.values(), available))[:_MOST_SCOPES]:
            count = sum(self._try_scope(change, plain, available)) if change.count > 1 else 0
            if count > 1:
                self._scopes.append(ScopeChange(change.wanted, change.stored, count))

    def try_single_scopes(self) -> None:
        """Changes of scope that explain one name each, if there is one candidate, or one that fits."""
        available = self._available()
        plain = {name: name.removesuffix(":0") for name in self._open}
        for name, (length, rivals) in same_endings(plain.values(), available).items():
            wanted = [full for full in (name, f"{name}:0") if full in self._open]
            fitting = [
                other for other in rivals if wanted and self._open[wanted[0]].fits(self._stored[available[other]])
            ]
            for other in fitting if len(fitting) == 1 else rivals if len(rivals) == 1 else []:
                change = ScopeChange(name[: len(name) - length], other[: len(other) - length])
                if wanted:
                    self._propose_scope(wanted[0], available[other], change)

    def _try_scope(self, change: ScopeChange, plain: Mapping[str, str], available: Mapping[str, str]) -> list[bool]:
        start = len(change.wanted)
        pairs = [
            (name, key)
            for name in self._open
            if plain[name].startswith(change.wanted)
            and (key := available.get(change.stored + plain[name][start:])) is not None
        ]
        return [self._propose_scope(name, key, change) for name, key in pairs]

    def _propose_scope(self, name: str, key: str, change: ScopeChange) -> bool:
        is_average = average_of(key) is not None and average_of(name) is None
        return self._propose(name, key, Cause.SCOPE, change.reason + (", its moving average" if is_average else ""))

    def _available(self) -> dict[str, str]:
        """The free tensors by all their names; a moving average that is stored alone stands for its variable, too."""
        averages_alone = {
            variable: key
            for key in self._free
            if (variable := average_of(key)) is not None and variable not in self._stored
        }
        return averages_alone | {other: key for other, key in self._names.items() if key in self._free}

    def try_averages(self) -> None:
        """A variable and its average may both come from the one that is stored."""
        for name in list(self._open):
            cause, other, reason = average_name(name.removesuffix(":0"))
            if other in self._stored:
                self._propose(name, other, cause, reason, shared=True)

    def try_nearest(self) -> None:
        if not self._open or len(self._open) > _MOST_SPELLED:
            return
        index = SpellingIndex(sorted(self._free))
        for name in [name for name in self._open if slot_of(name) is None]:
            for key in index.nearest(name):
                if name in self._open:
                    self._propose(name, key, Cause.SPELLING, "spelled a little differently")

    def try_only_candidates(self) -> None:
        """Of names and tensors of one type and shape, if there is one of each left."""
        names: dict[_Kind, list[str]] = {}
        for name, wanted in self._open.items():
            if slot_of(name) is None:
                names.setdefault(_kind(wanted), []).append(name)
        keys: dict[_Kind, list[str]] = {}
        for key in self._free:
            dtype, shape = _kind(self._stored[key])
            for kind in ((dtype, shape), (None, shape)):
                keys.setdefault(kind, []).append(key)
        for kind, [name, *others] in names.items():
            rivals = keys.get(kind, [])
            if not others and len(rivals) == 1:
                self._propose(name, rivals[0], Cause.ONLY_CANDIDATE, "the only one left of that type and shape")

    def try_slots(self) -> None:
        """What an optimizer keeps for a variable follows the variable; if it is not there, the reason is told."""
        optimizers = sorted({slot[1] for key in self._stored if (slot := slot_of(key)) is not None})
        for name in list(self._open):
            slot = slot_of(name)
            if slot is None:
                continue
            variable = self._best.get(slot[0])
            if variable is not None:
                key = f"{variable.key}{name[len(slot[0]) :]}"
                if key in self._stored and self._propose(name, key, variable.cause, _FOLLOWS):
                    continue
            if name not in self._own:
                self._explain(name, Suggestion(Cause.SLOT, _why_no_slot(slot[1], optimizers)))


def _why_no_slot(wanted: str, optimizers: Sequence[str]) -> str:
    if not optimizers:
        return "the checkpoint holds no optimizer's values: it was stripped of them, or never had any"
    if wanted not in optimizers:
        return f"the checkpoint was written with another optimizer: {', '.join(optimizers)}"
    return f"the checkpoint holds {wanted}'s values for other variables, not for this one"


_Kind = tuple[DType | None, tuple[int | None, ...] | None]


def _kind(of: Wanted | TensorInfo) -> _Kind:
    return of.dtype, of.shape


def shape_suggestion(wanted: Wanted, key: str, stored: TensorInfo) -> Suggestion | None:
    """What the stored tensor of another shape has to do with the wanted one, if that can be told."""
    have, want = stored.shape, wanted.shape
    if want is None or not Shape(want).is_fully_known or wanted.fits_shape(stored):
        return None
    sizes = Shape(want).as_tuple()
    if len(sizes) > 1 and have == sizes[::-1]:
        reason = "stored transposed"
    elif [size for size in sizes if size != 1] == [size for size in have if size != 1]:
        reason = 'different only in sizes of 1; the remedy "reshape" allows that'
    elif element_count(sizes) == element_count(have):
        reason = 'of as many elements; the remedy "reshape" takes them row by row'
    elif len(sizes) != len(have):
        return None
    elif all(size <= other for size, other in zip(sizes, have, strict=True)):
        reason = 'larger; the remedy "crop" takes its leading part'
    elif all(size >= other for size, other in zip(sizes, have, strict=True)):
        reason = 'smaller; the remedy "grow" makes it the leading part'
    else:
        reason = 'larger in one direction, smaller in another; the remedies "crop" and "grow" together fit it'
    return Suggestion(Cause.SHAPE, reason, key)


def originals_of_copies(missing: Mapping[str, Wanted], present: Mapping[str, TensorInfo]) -> dict[str, str]:
    """For each missing name that is a numbered one of a present name of that type and shape: the present name.

    These are variables that a graph holds twice because it was built twice, as by a notebook cell that ran again.
    TensorFlow numbers what it makes anew in one graph: "v1" comes back as "v1_1", "scope/v1" as "scope_1/v1", and the
    layers "dense", "dense_1" as "dense_2", "dense_3".

    `present` are the names that the same program wants and the checkpoint holds, with what is stored for them.
    """
    paired = dict(_paired_in_order(missing, present))
    copies: dict[str, str] = {}
    for name, wanted in missing.items():
        for other in (*([paired[name]] if name in paired else []), *without_one_number(name)):
            if other in present and wanted.fits(present[other]):
                copies[name] = other
                break
    return copies


def _paired_in_order(missing: Mapping[str, Wanted], present: Mapping[str, TensorInfo]) -> Iterator[tuple[str, str]]:
    """Missing and present names that differ in numbers only, each once or as often as the graph was built anew."""
    built_first = _by_form(present)
    for form, names in _by_form(missing).items():
        first = built_first.get(form, [])
        if form in first and len(names) % len(first) == 0 and numbers_in_name(names[0]) > numbers_in_name(first[-1]):
            yield from ((name, first[at % len(first)]) for at, name in enumerate(names))


def _by_form(names: Mapping[str, object]) -> dict[str, list[str]]:
    forms: dict[str, list[str]] = {}
    for name in sorted(names, key=lambda name: (numbers_in_name(name), name)):
        forms.setdefault(unnumbered_name(name), []).append(name)
    return forms


def whole_graph_is_copied(copies: Mapping[str, str], present: Mapping[str, TensorInfo]) -> bool:
    """Whether every variable that is present has a copy, so that the copies cannot be new layers of a larger model.

    Not asked of counters, which a graph shares (`get_or_create_global_step`), nor of what an optimizer keeps.
    """
    built_anew = set(copies.values())
    return all(
        name in built_anew or info.dtype.is_integer or slot_of(name) is not None for name, info in present.items()
    )
