"""Variables that a graph holds twice because it was built twice, as by a notebook cell that ran again.

TensorFlow numbers what it makes anew in one graph: "v1" comes back as "v1_1", "scope/v1" as "scope_1/v1", and the
layers "dense", "dense_1" as "dense_2", "dense_3".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tensorkeep.checkpoint.reader import TensorInfo
from tensorkeep.checkpoint.restore.name_rules import numbers, slot_of, unnumbered, without_one_number
from tensorkeep.checkpoint.restore.wanted_tensors import Wanted


def originals(missing: Mapping[str, Wanted], present: Mapping[str, TensorInfo]) -> dict[str, str]:
    """For each missing name that is a numbered one of a present name of that type and shape: the present name.

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
        if form in first and len(names) % len(first) == 0 and numbers(names[0]) > numbers(first[-1]):
            yield from ((name, first[at % len(first)]) for at, name in enumerate(names))


def _by_form(names: Mapping[str, object]) -> dict[str, list[str]]:
    forms: dict[str, list[str]] = {}
    for name in sorted(names, key=lambda name: (numbers(name), name)):
        forms.setdefault(unnumbered(name), []).append(name)
    return forms


def whole_graph_is_copied(copies: Mapping[str, str], present: Mapping[str, TensorInfo]) -> bool:
    """Whether every variable that is present has a copy, so that the copies cannot be new layers of a larger model.

    Not asked of counters, which a graph shares (`get_or_create_global_step`), nor of what an optimizer keeps.
    """
    built_anew = set(copies.values())
    return all(
        name in built_anew or info.dtype.is_integer or slot_of(name) is not None for name, info in present.items()
    )
