"""What modules below `tensorflow.python.keras` have besides `tf.keras`: shapes as tuples, groups of HDF5 files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from tensorkeep.graph.arguments import Structure
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.structures import flatten
from tensorkeep.tf1.keras.engine.saving.weight_files import read_layers, read_layers_by_name, write_layers


def count_params(weights: Sequence[Any]) -> int:
    """How many numbers there are in some variables, each counted once."""
    seen = {id(weight): weight for weight in flatten(list(weights))}
    return sum(weight.shape.num_elements() for weight in seen.values())


def convert_shapes(input_shape: Any, to_tuples: bool = True) -> Any:
    """Shapes in a structure, as tuples or as `TensorShape`s. A sequence of sizes is one shape."""
    if _is_shape(input_shape):
        shape = TensorShape(input_shape)
        return tuple(shape.as_list()) if to_tuples and shape.rank is not None else shape
    if isinstance(input_shape, dict):
        return {name: convert_shapes(item, to_tuples) for name, item in input_shape.items()}
    return type(input_shape)(convert_shapes(item, to_tuples) for item in input_shape)


def _is_shape(value: Any) -> bool:
    if value is None or isinstance(value, TensorShape):
        return True
    return isinstance(value, list | tuple) and all(item is None or isinstance(item, int) for item in value)


def shape_type_conversion(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator of methods such as `compute_output_shape`: they are told tuples, and what they give are
    `TensorShape`s.
    """

    @wraps(fn)
    def called(instance: Any, input_shape: Any) -> Any:
        told = None if input_shape is None else convert_shapes(input_shape, to_tuples=True)
        found = fn(instance, told)
        return None if found is None else convert_shapes(found, to_tuples=False)

    return called


def get_reachable_from_inputs(inputs: Structure, targets: Structure = None) -> set[Any]:
    """The tensors and operations that depend on some; no further than to all of `targets`, if there are any."""
    found: set[Any] = set(flatten(inputs))
    wanted = None if targets is None else set(flatten(targets))
    pending = list(found)
    while pending and (wanted is None or not wanted <= found):
        after = _next_after(pending.pop()) - found
        pending.extend(after)
        found |= after
    return found


def _next_after(item: Any) -> set[Any]:
    if isinstance(item, Operation):
        return {*item.outputs, *item.control_outputs}
    return set((item if isinstance(item, Tensor) else convert(item)).consumers())


def is_tensor_or_tensor_list(value: object) -> bool:
    """Whether a value, or the first of a list of them, can be a tensor: it is no name and no number."""
    first = flatten(value)[0] if flatten(value) else None
    return hasattr(first, "dtype") and hasattr(first, "shape")


def save_weights_to_hdf5_group(f: object, layers: Sequence[Any]) -> None:
    """Writes the variables of layers to an open file of h5py."""
    write_layers(f, layers)


def load_weights_from_hdf5_group(f: object, layers: Sequence[Any]) -> None:
    """Gives layers the values of an open file of h5py, in their order."""
    read_layers(f, layers, _name_of_file(f))


def load_weights_from_hdf5_group_by_name(f: object, layers: Sequence[Any], skip_mismatch: bool = False) -> None:
    """The same for those layers whose names are in the file."""
    read_layers_by_name(f, layers, _name_of_file(f), skip_mismatch)


def _name_of_file(group: object) -> str:
    return str(getattr(getattr(group, "file", group), "filename", group))


__all__ = [
    "convert_shapes",
    "count_params",
    "get_reachable_from_inputs",
    "is_tensor_or_tensor_list",
    "load_weights_from_hdf5_group",
    "load_weights_from_hdf5_group_by_name",
    "save_weights_to_hdf5_group",
    "shape_type_conversion",
]
