"""Models as tables: their layers, the shapes of their outputs, and how many parameters they have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tensorkeep.tf1.functions.structures import flatten
from tensorkeep.tf1.keras.engine.input_layer import InputLayer
from tensorkeep.tf1.keras.engine.tensor_notes import history_of
from tensorkeep.tf1.keras.surroundings import surroundings

if TYPE_CHECKING:
    from tensorkeep.tf1.keras.engine.model import Model


def print_summary(
    model: Model,
    line_length: int | None = None,
    positions: Sequence[float] | None = None,
    print_fn: Callable[[str], Any] | None = None,
) -> None:
    """Prints the table, as TensorFlow 1.15 has it; `print_fn` is called with each line."""
    show = print_fn or (lambda line: surroundings().write_text(f"{line}\n"))
    for line in summary_lines(model, line_length, positions):
        show(line)


def summary_lines(model: Model, line_length: int | None = None, positions: Sequence[float] | None = None) -> list[str]:
    """The lines of the table."""
    is_chain = _is_chain(model)
    length = line_length or (65 if is_chain else 98)
    shares = positions or ([0.45, 0.85, 1.0] if is_chain else [0.33, 0.55, 0.67, 1.0])
    ends: list[Any] = [int(length * share) for share in shares] if shares[-1] <= 1 else list(shares)
    titles = ["Layer (type)", "Output Shape", "Param #", *([] if is_chain else ["Connected to"])]
    lines = [f'Model: "{model.name}"', "_" * length, _row(titles, ends), "=" * length]
    layers = model.layers
    for at, layer in enumerate(layers):
        cells = [f"{layer.name} ({type(layer).__name__})", _shape_text(layer), _count_text(layer)]
        if is_chain:
            lines.append(_row(cells, ends))
        else:
            sources = _connections(model, layer) or [""]
            lines.append(_row([*cells, sources[0]], ends))
            lines += [_row(["", "", "", source], ends) for source in sources[1:]]
        lines.append(("=" if at == len(layers) - 1 else "_") * length)
    trained = _count(
        model._collected_trainable_weights if "_collected_trainable_weights" in vars(model) else model.trainable_weights
    )
    fixed = _count(model.non_trainable_weights)
    lines += [
        f"Total params: {trained + fixed:,}",
        f"Trainable params: {trained:,}",
        f"Non-trainable params: {fixed:,}",
        "_" * length,
    ]
    return lines


def _row(cells: list[str], ends: list[int]) -> str:
    line = ""
    for at, cell in enumerate(cells):
        line = f"{line[:-1]} " if at else line
        line = (line + str(cell))[: ends[at]]
        line += " " * (ends[at] - len(line))
    return line


def _shape_text(layer: Any) -> str:
    try:
        shape = layer.output_shape
    except AttributeError:
        return "multiple"
    except RuntimeError:
        return "?"
    return f"[{shape}]" if isinstance(layer, InputLayer) else str(shape)


def _count_text(layer: Any) -> str:
    return str(layer.count_params()) if layer.built else "0 (unused)"


def _count(variables: list[Any]) -> int:
    found = {id(variable): variable for variable in variables}
    return sum(variable.get_shape().num_elements() or 0 for variable in found.values())


def _is_chain(model: Any) -> bool:
    """Whether the layers follow each other without branches; so are those that nobody knows the calls of."""
    if type(model).__name__ == "Sequential" or not model._is_graph_network:
        return True
    seen: set[int] = set()
    for node in model._nodes:
        if len(flatten(node.inputs)) > 1 or id(node.layer) in seen:
            return False
        seen.add(id(node.layer))
        users = [other for other in node.layer._outbound_nodes if other in model._nodes]
        if len(users) > 1:
            return False
    return len(model.inputs) == 1


def _connections(model: Any, layer: Any) -> list[str]:
    found = []
    for node in layer._inbound_nodes:
        if node in model._nodes:
            for tensor in node.tensors:
                history = history_of(tensor)
                assert history is not None
                found.append(f"{history.layer.name}[{history.node_index}][{history.tensor_index}]")
    return found
