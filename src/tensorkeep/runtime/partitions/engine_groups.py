"""Which items of a plan an engine runs together, and what goes in and out of each group. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.ordering import topological
from tensorkeep.runtime.partitions.engines import ItemGraph, operations_in
from tensorkeep.runtime.partitions.partition import partition
from tensorkeep.runtime.plans.blocks import Choice, Item, Loop, Steps


@dataclass(frozen=True)
class Candidates:
    """What an engine knows of the items of a plan."""

    graph: ItemGraph
    wanted: frozenset[Tensor]
    """What is wanted when all has run."""
    is_free: Sequence[bool]
    """Of each item, whether its values are known beforehand, so that whoever wants them computes them for itself."""
    free: Collection[Tensor]
    """The values that are known beforehand, and variables."""
    weights: Sequence[float]
    """About how much each has to do."""
    crosses: Callable[[Tensor], bool]
    """Whether a value can be handed over between the engine and our kernels."""

    def groups(self, reasons: list[str], smallest: float) -> list[list[int]]:
        """The items of each part, with at least so much to do. Items that have a reason are in none; why others are in
        none is added to `reasons`.
        """
        units = self._units(reasons)
        steps = sorted({id(unit): unit for unit in units.values()}.values(), key=lambda unit: unit[0])
        step_of = {number: at for at, unit in enumerate(steps) for number in unit}
        waits = self.graph.sources_without({number for number, free in enumerate(self.is_free) if free})
        sources = [
            {step_of[source] for number in unit for source in waits[number]} - {at} for at, unit in enumerate(steps)
        ]
        order = topological([sorted(found) for found in sources])
        if len(order) < len(steps):  # what must stay together waits for what is in between: none of it goes elsewhere
            for unit in steps:
                if len(unit) > 1:
                    for number in unit:
                        reasons[number] = "it waits for something that waits for what it belongs together with"
            return self.groups(reasons, smallest)
        position = {step: at for at, step in enumerate(order)}
        weights = [sum(self.weights[number] for number in steps[step]) for step in order]
        found = partition(
            [sorted(position[source] for source in sources[step]) for step in order],
            [not any(reasons[number] for number in steps[step]) for step in order],
            lambda piece: sum(weights[at] for at in piece) >= smallest,
        )
        return [sorted(number for at in group for number in steps[order[at]]) for group in found]

    def _units(self, reasons: list[str]) -> dict[int, list[int]]:
        """The items that are in the same part or in none: what passes between them does not go over a border."""
        graph = self.graph
        units = {number: [number] for number, free in enumerate(self.is_free) if not free}

        def join(numbers: Sequence[int]) -> None:
            joined = sorted({member for number in numbers for member in units[number]})
            for member in joined:
                units[member] = joined

        for tensor, makers in graph.makers.items():
            if tensor in self.free:
                continue
            takers = [taker for taker in graph.takers.get(tensor, ()) if taker in units]
            if not self.crosses(tensor):
                ends = [*makers, *takers]
                if tensor in self.wanted:
                    for maker in makers:
                        reasons[maker] = reasons[maker] or f'its value "{tensor.name}" is {tensor.dtype.name}'
                if not all(reasons[number] for number in ends) and len(ends) > 1:
                    join(ends)
            elif len(makers) > 1 and not all(reasons[number] for number in makers):
                join(makers)
        for unit in {id(unit): unit for unit in units.values()}.values():
            reason = next((reasons[number] for number in unit if reasons[number]), "")
            if reason:
                for number in unit:
                    if not reasons[number]:
                        reasons[number] = "it belongs together with something that stays"
                    units[number] = [number]
        return units


@dataclass(frozen=True)
class Ends:
    """The items of a part, with those that it computes for itself, and what it takes and gives."""

    items: tuple[Item, ...]
    arrays: tuple[Tensor, ...]
    variables: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The operations of the items, in an order in which they can run."""
        return tuple(dict.fromkeys(op for item in self.items for op in operations_in(item)))


def ends_of(candidates: Candidates, members: Sequence[int], resources: Mapping[Tensor, object]) -> Ends:
    """The ends of a group of items. `resources` are what tensors lead to, as far as that is known."""
    graph, inside = candidates.graph, set(members)
    arrays: dict[Tensor, None] = {}
    variables: dict[Tensor, None] = {}
    pending, seen = list(members), set(members)
    while pending:
        number = pending.pop()
        for tensor in sorted(graph.takes[number], key=lambda tensor: (tensor.op.index, tensor.name)):
            makers = graph.makers.get(tensor, ())
            if any(maker in inside for maker in makers):
                continue
            if tensor in resources and tensor in candidates.free:
                variables[tensor] = None
            elif tensor in candidates.free and makers:
                new = [maker for maker in makers if maker not in seen]
                seen.update(new)
                pending.extend(new)
            else:
                arrays[tensor] = None
    outputs = {
        tensor: None
        for number in members
        for op in operations_in(graph.items[number])
        for tensor in op.outputs
        if tensor in graph.makers
        and (tensor in candidates.wanted or any(taker not in inside for taker in graph.takers.get(tensor, ())))
    }
    items = tuple(graph.items[number] for number in sorted(seen))
    return Ends(items, _in_order(arrays), _in_order(variables), _in_order(outputs))


def _in_order(tensors: Iterable[Tensor]) -> tuple[Tensor, ...]:
    return tuple(sorted(tensors, key=lambda tensor: (tensor.op.index, tensor.value_index)))


def made_in_every_run(items: Sequence[Item]) -> set[Tensor]:
    """The tensors that items make whichever branches are taken."""
    paths: dict[Tensor, list[Steps]] = {}

    def note(item: Item, path: Steps) -> None:
        if isinstance(item, Choice):
            for truth, block in ((True, item.then), (False, item.otherwise)):
                for inner in block.items:
                    note(inner, (*path, (item.predicate, truth)))
        elif isinstance(item, Loop):
            for inner in item.after.items:
                note(inner, path)
        else:
            for op in operations_in(item):
                for tensor in op.outputs:
                    paths.setdefault(tensor, []).append(path)

    for item in items:
        note(item, ())
    return {tensor for tensor, found in paths.items() if _is_every_case(found)}


def _is_every_case(paths: Sequence[Steps]) -> bool:
    """Whether one of several conditions holds, whatever the predicates in them are."""
    if () in paths:
        return True
    if not paths:
        return False
    asked = paths[0][0][0]
    cases = (
        [tuple(step for step in path if step[0] is not asked) for path in paths if (asked, not truth) not in path]
        for truth in (True, False)
    )
    return all(map(_is_every_case, cases))
