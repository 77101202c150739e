"""A TF1 program as the two sides of a step: workers compute gradients, a server applies them.

A program is a function that builds a graph, in a graph that is made current for it, and says what a step is of:

    def program():
        ids, labels = tf.placeholder(...), tf.placeholder(...)
        table = tf.get_embedding_variable("user", 16, placement=placement)
        ...
        gradients = optimizer.compute_gradients(loss)
        train = optimizer.apply_gradients(gradients, tf.train.get_or_create_global_step())
        return TrainingProgram({"ids": ids, "labels": labels}, gradients, train, loss)

Both sides build the same graph. The server runs `train` with the gradients fed, so that of the graph only the
optimizers' updates are computed there: on the dense variables in its session, and on the tables wherever they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import building
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.ops.embedding.lookups import COUNTS
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.arrays.shapes import placeholder
from tensorkeep.tf1.variables.embedding_variables.handle import EmbeddingVariable
from tensorkeep.tf1.variables.listing import global_variables, global_variables_initializer

Gradients: TypeAlias = list[Array]
"""The values of a program's exchanged tensors, in their order."""


@dataclass(frozen=True)
class TrainingProgram:
    """What a step of a program is of."""

    inputs: Mapping[str, Tensor]
    """What batches are fed to, by the names that batches have for it."""
    gradients: Sequence[tuple[Any, Any]]
    """What `compute_gradients` gave."""
    train_op: Operation
    """What `apply_gradients` gave."""
    loss: Tensor | None = None
    """What is told of each step, if anything."""


@dataclass(frozen=True)
class Exchanged:
    """A tensor that goes from workers to the server: of a dense gradient, or of the rows of a sparse one."""

    tensor: Tensor
    is_dense: bool
    is_gradient: bool
    """Whether it is a gradient, and not keys or their counts."""


@dataclass
class BuiltProgram:
    """A program in its graph, with a session."""

    graph: Graph
    program: TrainingProgram
    session: Session
    exchanged: Sequence[Exchanged]
    dense: Mapping[str, Any]
    """The variables that are not tables, by name."""
    tables: Mapping[str, Any]
    """The embedding variables that are tables of their own, by name."""
    _loading: Mapping[str, tuple[Tensor, Operation]]
    _initializer: Operation
    needed: Sequence[str] = field(default_factory=tuple)
    """The dense variables that gradients are computed from."""

    @classmethod
    def of(cls, build: Callable[[], TrainingProgram]) -> BuiltProgram:
        """Builds a program in a graph of its own."""
        graph = Graph()
        with building(graph):
            program = build()
            if not isinstance(program, TrainingProgram):
                raise InvalidArgumentError(f"the program gave {program!r}, expected a TrainingProgram")
            variables = {variable.op.name: variable for variable in global_variables()}
            dense = {name: item for name, item in variables.items() if not isinstance(item, EmbeddingVariable)}
            tables = {name: item for name, item in variables.items() if _is_table(item)}
            loading = {name: _loading_of(variable) for name, variable in dense.items()}
            initializer = global_variables_initializer()
        exchanged = _exchanged_tensors(graph, program)
        _check_fed(program, exchanged)
        built = cls(graph, program, Session(graph), exchanged, dense, tables, loading, initializer)
        reached = _reached_operations([item.tensor for item in exchanged])
        built.needed = [name for name, variable in dense.items() if variable.op in reached]
        return built

    def initialize(self) -> None:
        """Runs all initializers: tables are made, or found."""
        self.session.run(self._initializer)

    def values(self, names: Sequence[str]) -> dict[str, Array]:
        """The values of dense variables."""
        found = self.session.run([self.dense[name].read_value() for name in names]) if names else []
        return {name: np.asarray(value) for name, value in zip(names, found, strict=True)}

    def load(self, values: Mapping[str, Array]) -> None:
        """Gives dense variables these values."""
        feeds = {self._loading[name][0]: value for name, value in values.items()}
        self.session.run([self._loading[name][1] for name in values], feeds)

    def gradients(self, batch: Mapping[str, Any]) -> tuple[Gradients, float]:
        """The exchanged tensors and the loss for a batch."""
        unknown = sorted(set(self.program.inputs) - set(batch))
        if unknown:
            raise InvalidArgumentError(f"a batch has no {', '.join(unknown)}; it has {', '.join(sorted(batch))}")
        feeds = {tensor: batch[name] for name, tensor in self.program.inputs.items()}
        fetches = [item.tensor for item in self.exchanged]
        losses = [] if self.program.loss is None else [self.program.loss]
        found = self.session.run([*fetches, *losses], feeds)
        return [np.asarray(value) for value in found[: len(fetches)]], float(found[-1]) if losses else float("nan")

    def apply(self, gradients: Gradients) -> None:
        """Runs the optimizers' updates with these gradients."""
        feeds = {item.tensor: value for item, value in zip(self.exchanged, gradients, strict=True)}
        self.session.run(self.program.train_op, feeds)

    def combined(self, several: Sequence[Gradients]) -> Gradients:
        """The gradients of one step that several workers computed: the mean, of sparse ones by their rows."""
        count = len(several)
        if count == 1:
            return several[0]
        found: Gradients = []
        for at, item in enumerate(self.exchanged):
            values = [gradients[at] for gradients in several]
            if not item.is_dense:
                joined = np.concatenate(values)
                found.append(joined / joined.dtype.type(count) if item.is_gradient else joined)
                continue
            total = values[0].copy()
            for value in values[1:]:
                total += value
            found.append(np.asarray(total / total.dtype.type(count)))
        return found


def _is_table(variable: Any) -> bool:
    """Whether a variable is an embedding variable, and no slot of another one."""
    return isinstance(variable, EmbeddingVariable) and variable.owns_table


def _loading_of(variable: Any) -> tuple[Tensor, Operation]:
    given = placeholder(variable.dtype.base_dtype, variable.shape)
    assigned = variable.assign(given)
    return given, getattr(assigned, "op", assigned)


def _exchanged_tensors(graph: Graph, program: TrainingProgram) -> list[Exchanged]:
    counts = graph.extras.get(COUNTS, {})
    found: list[Exchanged] = []
    for gradient, _ in program.gradients:
        if gradient is None:
            continue
        if not isinstance(gradient, IndexedSlices):
            found.append(Exchanged(gradient, is_dense=True, is_gradient=True))
            continue
        found.append(Exchanged(gradient.values, is_dense=False, is_gradient=True))
        found.append(Exchanged(gradient.indices, is_dense=False, is_gradient=False))
        parts = [gradient.indices, *gradient.indices.op.inputs]
        found += [Exchanged(counts[part], is_dense=False, is_gradient=False) for part in parts if part in counts]
    return found


def _check_fed(program: TrainingProgram, exchanged: Sequence[Exchanged]) -> None:
    """InvalidArgumentError if updates need more of a batch than its gradients: a server has no batch."""
    fed = {item.tensor for item in exchanged}
    inputs = {tensor.op: name for name, tensor in program.inputs.items()}
    needed = sorted(inputs[op] for op in _reached_operations([program.train_op], fed) if op in inputs)
    if needed:
        raise InvalidArgumentError(
            f"the updates of the program need {', '.join(needed)} besides gradients: give all gradients that train_op "
            "applies, as compute_gradients gave them, and change them before apply_gradients only by what needs no "
            "batch"
        )


def _reached_operations(starts: Sequence[Any], fed: set[Tensor] | None = None) -> set[Operation]:
    """The operations that some tensors or operations are computed from, where some tensors are given."""
    known = fed or set()
    waiting = [start if isinstance(start, Operation) else start.op for start in starts]
    reached: set[Operation] = set()
    while waiting:
        op = waiting.pop()
        if op in reached:
            continue
        reached.add(op)
        waiting += [tensor.op for tensor in op.inputs if tensor not in known]
        waiting += op.control_inputs
    return reached
