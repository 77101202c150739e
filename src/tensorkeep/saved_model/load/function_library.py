"""The functions of a stranger's model, looked at before any of them runs.

Functions that call themselves, and ones that call others so often that a single call would never end, are refused:
TensorFlow writes neither.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from tensorkeep.errors import InvalidArgumentError, PermissionDeniedError
from tensorkeep.graph.functions import called_functions
from tensorkeep.graph.graph import Operation
from tensorkeep.graph.registry.capabilities import Capability, capabilities_of_node, tensorflow_ops
from tensorkeep.graph.registry.opspec import find_op
from tensorkeep.proto.messages import FunctionDef, GraphDef, NodeDef
from tensorkeep.saved_model.load.permissions import Permissions

_MOST_NODES: Final = 50_000_000  # of a function with all that it calls written out


class FunctionLibrary:
    """The functions of a model by name, none of which calls itself."""

    def __init__(self, graph_def: GraphDef) -> None:
        self.functions: dict[str, FunctionDef] = {item.signature.name: item for item in graph_def.library.function}
        self._gradients = {item.function_name: item.gradient_func for item in graph_def.library.gradient}
        self._calls = {
            name: [called for node in item.node_def for called in self.called_by(node)]
            for name, item in self.functions.items()
        }
        self._check_sizes()

    def called_by(self, node: NodeDef) -> Iterator[str]:
        """The functions that a node runs: those that it refers to, and of gradients those that the library names."""
        for name in called_functions(node, self.functions):
            gradient = self._gradients.get(name) if node.op == "SymbolicGradient" else None
            yield gradient if gradient in self.functions else name

    def _check_sizes(self) -> None:
        sizes: dict[str, int] = {}
        for name in self._callees_first():
            size = len(self.functions[name].node_def) + sum(sizes[called] for called in self._calls[name])
            if size > _MOST_NODES:
                raise InvalidArgumentError(
                    f"function '{name}' and what it calls have more than {_MOST_NODES} nodes when written out: "
                    "no single call of it would end"
                )
            sizes[name] = size

    def _callees_first(self) -> Iterator[str]:
        """All functions, each after those that it calls; an error if one calls itself, by whatever way."""
        done: set[str] = set()
        for start in self.functions:
            open_: dict[str, Iterator[str]] = {}
            if start not in done:
                open_[start] = iter(dict.fromkeys(self._calls[start]))
            while open_:
                name = next(reversed(open_))
                called = next(open_[name], None)
                if called is None:
                    del open_[name]
                    done.add(name)
                    yield name
                elif called in open_:
                    raise InvalidArgumentError(f"function '{called}' calls itself, by way of '{name}'")
                elif called not in done:
                    open_[called] = iter(dict.fromkeys(self._calls[called]))

    def reachable(self, names: Iterable[str]) -> list[str]:
        """These functions and all that they call."""
        found = dict.fromkeys(name for name in names if name in self.functions)
        pending = list(found)
        while pending:
            for called in self._calls[pending.pop()]:
                if called not in found:
                    found[called] = None
                    pending.append(called)
        return list(found)

    # ----------------------------------------------------------------------------------------------- permissions

    def check_function(self, name: str, permissions: Permissions) -> None:
        """PermissionDeniedError if a function, or one that it calls, has operations that do what is not allowed."""
        problems = [
            f'"{node.name}" ({node.op}) of function {function} {needs.value}'
            for function in self.reachable([name])
            for node in self.functions[function].node_def
            if (needs := self._lacking(node, permissions)) is not None
        ]
        _raise(problems)

    def _lacking(self, node: NodeDef, permissions: Permissions) -> Capability | None:
        if node.op in self.functions and node.op not in tensorflow_ops():
            return None
        spec = find_op(node.op)
        if spec is None or spec.kernel_function is None:
            return None  # whoever runs it is told that it has no kernel
        return permissions.in_sessions.lacking(node.op, capabilities_of_node(node))

    def check_operations(self, operations: Iterable[Operation], permissions: Permissions) -> None:
        """PermissionDeniedError if operations of a graph, or of functions that they call, do what is not allowed."""
        problems = []
        for op in operations:
            if (needs := self._lacking(op.node_def, permissions)) is not None:
                problems.append(f'"{op.name}" ({op.type}) {needs.value}')
            for name in dict.fromkeys(self.called_by(op.node_def)):
                self.check_function(name, permissions)
        _raise(problems)


def _raise(problems: list[str]) -> None:
    if problems:
        listed = "; ".join(problems[:5]) + (f"; and {len(problems) - 5} more" if problems[5:] else "")
        raise PermissionDeniedError(
            f"the model does more than compute: {listed}. Nothing was run. If you trust it, load it with `allow=` "
            '(`--allow` of the command line) and what is meant, by type of operation ("PrintV2") or by class ("prints")'
        )
