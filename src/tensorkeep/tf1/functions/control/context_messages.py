"""Branches and loops as messages of a meta graph, so that gradients can be taken of imported ones.

A context lists the tensors that it knows by name, and for those from outside what stands for them inside. A scope that
is exported is stripped from all names, and one that is imported into put before them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tensorkeep.graph.building import current_graph
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.proto.messages import CondContextDef, ControlFlowContextDef, ValuesDef, WhileContextDef
from tensorkeep.tf1.functions.control.contexts import CondContext, Context, WhileContext, inside_context, is_enter


def context_to_proto(context: Context, export_scope: str | None = None) -> CondContextDef | WhileContextDef | None:
    """The context as a message; None if it is not part of the scope that is exported."""
    if export_scope is not None and not context.name.startswith(export_scope):
        return None
    writer = _Writer(export_scope)
    return writer.loop(context) if isinstance(context, WhileContext) else writer.branch(context)


def cond_context_from_proto(
    context_def: CondContextDef, import_scope: str | None = None, graph: Graph | None = None
) -> CondContext:
    """The branch that operations belong to which have been imported into `import_scope`, and all inside it."""
    return _Reader(graph or current_graph(), import_scope).branch(context_def)


def while_context_from_proto(
    context_def: WhileContextDef, import_scope: str | None = None, graph: Graph | None = None
) -> WhileContext:
    """The loop that operations belong to which have been imported into `import_scope`, and all inside it.

    In a scope the loop has another name than it had, and so has its frame.
    """
    return _Reader(graph or current_graph(), import_scope).loop(context_def)


class _Writer:
    """Writes contexts without the scope that is exported."""

    def __init__(self, export_scope: str | None) -> None:
        self._prefix = f"{export_scope.rstrip('/')}/" if export_scope else ""

    def _name(self, name: str) -> str:
        prefix = self._prefix
        return name[len(prefix) :].lstrip("/") if prefix and name.startswith(prefix) else name

    def branch(self, context: CondContext) -> CondContextDef:
        proto = CondContextDef()
        proto.context_name = self._name(context.name)
        proto.pred_name = self._name(context.pred.name)
        proto.pivot_name = self._name(context.pivot.name)
        proto.branch = context.branch
        self._write_values(context, proto.values_def)
        self._write_nested(context, proto.nested_contexts)
        return proto

    def loop(self, context: WhileContext) -> WhileContextDef:
        assert context.pivot_for_pred is not None
        assert context.pivot_for_body is not None
        proto = WhileContextDef()
        proto.context_name = self._name(context.name)
        proto.parallel_iterations = context.parallel_iterations
        if context.maximum_iterations is not None:
            proto.maximum_iterations_name = self._name(context.maximum_iterations.name)
        proto.back_prop = context.back_prop
        proto.swap_memory = context.swap_memory
        proto.pivot_for_pred_name = self._name(context.pivot_for_pred.name)
        proto.pivot_for_body_name = self._name(context.pivot_for_body.name)
        proto.pivot_name = self._name(context.pivot.name)
        proto.loop_exit_names.extend(self._name(tensor.name) for tensor in context.loop_exits)
        proto.loop_enter_names.extend(self._name(tensor.name) for tensor in context.loop_enters)
        self._write_values(context, proto.values_def)
        self._write_nested(context, proto.nested_contexts)
        return proto

    def _write_values(self, context: Context, proto: ValuesDef) -> None:
        proto.values.extend(self._name(name) for name in sorted(context.values))
        for name, tensor in context.external_values.items():
            proto.external_values[self._name(name)] = self._name(tensor.name)

    def _write_nested(self, context: Context, nested: Any) -> None:
        for inner in context.nested_contexts:
            # TensorFlow leaves the names inside nested contexts as they are.
            writer = _Writer(None)
            if isinstance(inner, WhileContext):
                nested.add().while_ctxt.CopyFrom(writer.loop(inner))
            else:
                nested.add().cond_ctxt.CopyFrom(writer.branch(inner))


class _Reader:
    """Reads contexts of operations that are in the graph already, each inside the one in force."""

    def __init__(self, graph: Graph, import_scope: str | None) -> None:
        self._graph = graph
        self._scope = import_scope
        self._prefix = f"{import_scope.rstrip('/')}/" if import_scope else ""

    def _tensor(self, name: str) -> Tensor:
        return self._graph.tensor(self._prefix + name)

    def branch(self, proto: CondContextDef) -> CondContext:
        context = CondContext(
            self._tensor(proto.pred_name),
            self._tensor(proto.pivot_name),
            proto.branch,
            self._prefix + proto.context_name,
        )
        self._read_values(context, proto.values_def)
        self._read_nested(context, proto.nested_contexts)
        return context

    def loop(self, proto: WhileContextDef) -> WhileContext:
        limit = proto.maximum_iterations_name
        context = WhileContext(
            self._graph,
            self._prefix + proto.context_name,
            maximum_iterations=self._tensor(limit) if limit else None,
            parallel_iterations=proto.parallel_iterations,
            back_prop=proto.back_prop,
            swap_memory=proto.swap_memory,
        )
        context.pivot_for_pred = self._tensor(proto.pivot_for_pred_name)
        context.pivot_for_body = self._tensor(proto.pivot_for_body_name)
        context.pivot = self._tensor(proto.pivot_name)
        context.loop_exits = [self._tensor(name) for name in proto.loop_exit_names]
        context.loop_enters = [self._tensor(name) for name in proto.loop_enter_names]
        self._read_values(context, proto.values_def)
        if self._prefix:
            for name in context.values:
                op = self._graph.tensor(name).op
                if is_enter(op):
                    op.set_attr("frame_name", context.name.encode())
        self._read_nested(context, proto.nested_contexts)
        return context

    def _read_values(self, context: Context, proto: ValuesDef) -> None:
        context.values = {self._prefix + name for name in proto.values}
        context.external_values = {
            self._prefix + name: self._tensor(inside) for name, inside in proto.external_values.items()
        }
        for name in {name.partition(":")[0] for name in context.values - set(context.external_values)}:
            self._graph.operation(name).control_flow_context = context

    def _read_nested(self, context: Context, nested: Iterable[ControlFlowContextDef]) -> None:
        with inside_context(context):
            for part in nested:
                if part.WhichOneof("ctxt") == "while_ctxt":
                    self.loop(part.while_ctxt)
                else:
                    self.branch(part.cond_ctxt)
