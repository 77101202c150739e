"""Patterns of operations, found in graphs from their last operation backwards."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Final, TypeAlias

from tensorkeep.graph.graph import Graph, Operation, Tensor


@dataclass(frozen=True, eq=False)
class Pattern:
    """An operation of one of some types, and patterns of what makes its inputs. Without types, any operation."""

    types: frozenset[str]
    inputs: tuple[Pattern | OneOf, ...] | None = None
    in_any_order: bool = False


@dataclass(frozen=True, eq=False)
class OneOf:
    """The first of some patterns that is found."""

    patterns: tuple[Pattern | OneOf, ...]


Match: TypeAlias = "dict[Pattern, Operation]"
"""The operations that were found, by their patterns."""

ANY: Final = Pattern(frozenset())


def of(types: str, *inputs: Pattern | OneOf, in_any_order: bool = False) -> Pattern:
    """A pattern of operations of these types, separated by spaces."""
    return Pattern(frozenset(types.split()), inputs or None, in_any_order)


def one_of(*patterns: Pattern | OneOf) -> OneOf:
    return OneOf(patterns)


def match(pattern: Pattern | OneOf, op: Operation) -> Match | None:
    """What is found where the operation is the last of the pattern; None if it is not."""
    if isinstance(pattern, OneOf):
        found = (match(choice, op) for choice in pattern.patterns)
        return next((one for one in found if one is not None), None)
    if pattern.types and op.type not in pattern.types:
        return None
    if pattern.inputs is None:
        return {pattern: op}
    if len(pattern.inputs) != len(op.inputs):
        return None
    orders = permutations(pattern.inputs) if pattern.in_any_order else [pattern.inputs]
    matched = (_match_inputs(order, op.inputs) for order in orders)
    inner = next((one for one in matched if one is not None), None)
    return None if inner is None else {pattern: op, **inner}


def _match_inputs(patterns: Sequence[Pattern | OneOf], tensors: Iterable[Tensor]) -> Match | None:
    found: Match = {}
    for pattern, tensor in zip(patterns, tensors, strict=True):
        inner = match(pattern, tensor.op)
        if inner is None:
            return None
        found.update(inner)
    return found


def matches(pattern: Pattern | OneOf, graph: Graph) -> list[Match]:
    """What is found anywhere, in the order in which the last operations were added."""
    found = (match(pattern, op) for op in graph.get_operations())
    return [one for one in found if one is not None]


def reroute(old: Tensor, new: Tensor, consumers: Iterable[Operation]) -> int:
    """Gives operations one tensor in the place of another; says how many inputs these were."""
    places = [(op, i) for op in dict.fromkeys(consumers) for i, tensor in enumerate(op.inputs) if tensor is old]
    for op, i in places:
        op.set_input(i, new)
    return len(places)
