"""Parts of a model as graphs, for whoever translates them: a signature, or a function, with names for both its ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tensorkeep.errors import DataLossError
from tensorkeep.graph.flattening import copied_graph
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.scopes import free_name
from tensorkeep.runtime.session import Session
from tensorkeep.saved_model.files.structures import CompositeSpec
from tensorkeep.saved_model.load.signature import SignatureSpec, Spec
from tensorkeep.saved_model.load.tensor_values import TensorSpec
from tensorkeep.shapes import Shape

_PARTS: Final = {
    "SparseTensor": ("indices", "values", "dense_shape"),
    "IndexedSlices": ("values", "indices", "dense_shape"),
}


@dataclass(frozen=True)
class GraphPart:
    """Some of a graph: what goes in, what comes out, and a session that has what its operations keep."""

    session: Session
    inputs: Mapping[str, Tensor]
    outputs: Mapping[str, Tensor]
    captured: Mapping[Tensor, object] = field(default_factory=dict)
    """What tensors lead to that are given with the part and not to be given by anybody: variables, tables."""
    shapes: Mapping[str, Shape] = field(default_factory=dict)
    """What is said of the shapes of inputs, beyond what the graph says."""
    targets: tuple[Operation, ...] = ()
    """Operations that run whenever the function is called, whether or not an output needs them."""


def flat_part(part: GraphPart) -> GraphPart:
    """The part in a copy of its graph in which calls of functions are written out, so that operations have names."""
    copy = copied_graph(part.session.graph, flat=True)
    return GraphPart(
        part.session.beside(copy.graph),
        {name: copy.tensor(tensor) for name, tensor in part.inputs.items()},
        {name: copy.tensor(tensor) for name, tensor in part.outputs.items()},
        {copy.tensor(tensor): item for tensor, item in part.captured.items()},
        part.shapes,
        tuple(found for op in part.targets for found in _written_out(op, copy.graph)),
    )


def _written_out(op: Operation, graph: Graph) -> list[Operation]:
    """An operation in a copy with calls written out: itself, or what the function does that it calls."""
    if op.name in graph:
        return [graph.operation(op.name)]
    return [own for own in graph.operations if own.name.startswith(f"{op.name}/") and not own.outputs]


def named_components(specs: Mapping[str, Spec]) -> dict[str, TensorSpec]:
    """The tensors of what a signature takes or gives, by name: for a composite value x, those of its parts are x_values
    and the like.
    """
    found: dict[str, TensorSpec] = {}
    for key, spec in specs.items():
        if isinstance(spec, CompositeSpec):
            names = _part_names(spec)
            found.update((f"{key}_{name}", part) for name, part in zip(names, spec.components, strict=True))
        else:
            found[key] = spec
    return found


def _part_names(spec: CompositeSpec) -> Sequence[str]:
    count = len(spec.components)
    if spec.kind == "RaggedTensor":
        return ["values", *(f"row_splits_{number}" for number in range(count - 1))]
    return _PARTS.get(spec.kind, tuple(map(str, range(count))))[:count]


def signature_ends(spec: SignatureSpec) -> tuple[dict[str, TensorSpec], dict[str, TensorSpec]]:
    """The tensors that go in and come out of a signature, by name, in the order of the signature's tensors."""
    return named_components(spec.inputs), named_components(spec.outputs)


def argument_names(structure: tuple[Sequence[Any], Mapping[str, Any]], parameters: Sequence[str]) -> list[str]:
    """A name for each tensor that a function takes: what it was traced with, or what the parameter is called."""
    positional, named = structure
    names = [*parameters, *(f"args_{number}" for number in range(len(parameters), len(positional)))]
    pairs = [*zip(names, positional, strict=False), *((key, named[key]) for key in sorted(named))]
    return unique_names([found for name, item in pairs for found in _names_in(item, name, by_spec=True)])


def result_names(structure: object) -> list[str]:
    """A name for each tensor that a function gives: its key in a dict, or its place among them."""
    if isinstance(structure, Mapping):
        found = [name for key in sorted(structure) for name in _names_in(structure[key], str(key))]
    elif isinstance(structure, list | tuple):
        found = [name for at, item in enumerate(structure) for name in _names_in(item, f"output_{at}")]
    else:
        found = list(_names_in(structure, "output_0"))
    return unique_names(found)


def _names_in(structure: Any, name: str, *, by_spec: bool = False) -> Iterator[str]:
    if isinstance(structure, TensorSpec):
        yield structure.name if by_spec and structure.name else name
    elif isinstance(structure, CompositeSpec):
        yield from (f"{name}_{part}" for part in _part_names(structure))
    elif isinstance(structure, Mapping):
        for key in sorted(structure):
            yield from _names_in(structure[key], f"{name}_{key}", by_spec=by_spec)
    elif isinstance(structure, list | tuple):
        for at, item in enumerate(structure):
            yield from _names_in(item, f"{name}_{at}", by_spec=by_spec)


def unique_names(names: Sequence[str]) -> list[str]:
    """The names, each with a number added if it stood before in the list."""
    found: list[str] = []
    for name in names:
        found.append(free_name(name, found))
    return found


def named_tensors(names: Sequence[str], tensors: Sequence[Tensor], what: str) -> dict[str, Tensor]:
    """Tensors by their names; DataLossError if there are not as many names as tensors."""
    if len(names) != len(tensors):
        raise DataLossError(f"{what} has {len(tensors)} tensors, and {len(names)} are described")
    return dict(zip(names, tensors, strict=True))
