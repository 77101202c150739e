"""`graph_matcher` of `tf.contrib.quantize`: parts of graphs found by what their operations are and take.

pattern = OpTypePattern("BiasAdd", inputs=[OpTypePattern("Conv2D|MatMul", name="product"), "*"])
for result in GraphMatcher(pattern).match_graph(graph):
    result.get_op("product")
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations
from typing import TypeAlias

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Graph, Operation, Tensor

_Found: TypeAlias = "dict[Pattern, tuple[Operation, Tensor | None]]"


class Pattern:
    """What an operation has to be. `name` is by what its result is asked for."""

    name: str | None = None

    def find(self, op: Operation, tensor: Tensor | None) -> _Found | None:
        """The operations that were found, where this is the last one; None if it is not."""
        raise NotImplementedError


class OpTypePattern(Pattern):
    """An operation of one of some types, "Conv2D|MatMul", or of any, "*"; and patterns of what makes its inputs."""

    def __init__(
        self,
        op_type: str,
        name: str | None = None,
        inputs: Sequence[Pattern | str] | None = None,
        ordered_inputs: bool = True,
    ) -> None:
        self._types = None if op_type == "*" else frozenset(op_type.split("|"))
        self.name = name
        self._is_ordered = ordered_inputs
        self._inputs = (
            None if inputs is None else [OpTypePattern(item) if isinstance(item, str) else item for item in inputs]
        )
        if not ordered_inputs and self._inputs is not None and len(self._inputs) > 8:
            raise InvalidArgumentError("Only < 8 inputs are allowed when not ordered.")

    def find(self, op: Operation, tensor: Tensor | None) -> _Found | None:
        if self._types is not None and op.type not in self._types:
            return None
        if self._inputs is None:
            return {self: (op, tensor)}
        if len(self._inputs) != len(op.inputs):
            return None
        orders = [self._inputs] if self._is_ordered else permutations(self._inputs)
        for order in orders:
            inner = _found_inputs(order, op.inputs)
            if inner is not None:
                return {self: (op, tensor), **inner}
        return None


class OneofPattern(Pattern):
    """The first of some patterns that is found."""

    def __init__(self, sub_patterns: Sequence[Pattern]) -> None:
        self._choices = tuple(sub_patterns)

    def find(self, op: Operation, tensor: Tensor | None) -> _Found | None:
        for choice in self._choices:
            if (inner := choice.find(op, tensor)) is not None:
                return inner
        return None


def _found_inputs(patterns: Iterable[Pattern], inputs: Sequence[Tensor]) -> _Found | None:
    found: _Found = {}
    for pattern, tensor in zip(patterns, inputs, strict=True):
        inner = pattern.find(tensor.op, tensor)
        if inner is None:
            return None
        found.update(inner)
    return found


class MatchResult:
    """The operations that a pattern was found to be, by their patterns or the names of these."""

    def __init__(self, found: _Found) -> None:
        self._found = found
        self._named = {pattern.name: pattern for pattern in found if pattern.name is not None}

    def _of(self, pattern_or_name: Pattern | str) -> tuple[Operation | None, Tensor | None]:
        if isinstance(pattern_or_name, str):
            pattern = self._named.get(pattern_or_name)
        elif isinstance(pattern_or_name, Pattern):
            pattern = pattern_or_name
        else:
            raise InvalidArgumentError(f"pattern_or_name has type {type(pattern_or_name)}. Expect Pattern or str.")
        return (None, None) if pattern is None else self._found.get(pattern, (None, None))

    def get_op(self, pattern_or_name: Pattern | str) -> Operation | None:
        """The operation of a pattern; None if it was not met."""
        return self._of(pattern_or_name)[0]

    def get_tensor(self, pattern_or_name: Pattern | str) -> Tensor | None:
        """Which of the operation's outputs was taken; None if it was not met, or is the last one."""
        return self._of(pattern_or_name)[1]


class GraphMatcher:
    """Looks for a pattern."""

    def __init__(self, pattern: Pattern) -> None:
        self._pattern = pattern

    def match_op(self, op: Operation) -> MatchResult | None:
        """What is found where an operation is the last one of the pattern."""
        found = self._pattern.find(op, None)
        return None if found is None else MatchResult(found)

    def match_ops(self, ops: Iterable[Operation]) -> Iterator[MatchResult]:
        """What is found in some operations, in their order."""
        for op in ops:
            result = self.match_op(op)
            if result is not None:
                yield result

    def match_graph(self, graph: Graph) -> Iterator[MatchResult]:
        """What is found in a graph."""
        return self.match_ops(graph.get_operations())
