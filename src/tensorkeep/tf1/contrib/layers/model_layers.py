"""What layers here share: scopes whose variables are model variables, then a normalizer and an activation.

A layer of `tf.layers` calls its variables "kernel" and "bias"; here they are "weights" and "biases". The getter of the
scope renames them and adds them to the collection of model variables. Losses of regularizers keep the names that
`tf.layers` gives them, such as "Conv/kernel/Regularizer/l2_regularizer": so does TensorFlow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from tensorkeep.graph.arguments import Structure
from tensorkeep.graph.building import current_graph
from tensorkeep.graph.collections import add_to_collection
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.contrib.framework.variables import model_variable
from tensorkeep.tf1.contrib.layers.collecting import (
    VariableCollections,
    collect_named_outputs,
    get_variable_collections,
)
from tensorkeep.tf1.layers.base import Layer, parts_of
from tensorkeep.tf1.variables.options import CollectionNames
from tensorkeep.tf1.variables.scope import VariableScope
from tensorkeep.tf1.variables.scopes import variable_scope

KERNEL_AND_BIAS: Final = {"bias": "biases", "kernel": "weights"}


def model_variable_getter(rename: Mapping[str, str] | None = None) -> Callable[..., Any]:
    """A getter of variables that makes them model variables, with the last part of the name replaced."""
    names = rename or {}

    def getter(getter: Callable[..., Any], name: str, **kwargs: Any) -> Any:
        head, slash, last = name.rpartition("/")
        for unused in ("reuse", "validate_shape", "constraint"):
            kwargs.pop(unused, None)
        return model_variable(f"{head}{slash}{names.get(last, last)}", custom_getter=getter, **kwargs)

    return getter


@contextmanager
def model_scope(
    scope: str | VariableScope | None,
    default: str,
    inputs: Structure,
    reuse: bool | None,
    rename: Mapping[str, str] | None = None,
) -> Iterator[VariableScope]:
    """The variable scope of a layer whose variables are model variables."""
    with variable_scope(scope, default, [inputs], reuse=reuse, custom_getter=model_variable_getter(rename)) as opened:
        yield opened


def collect_variables(layer: Layer, kinds: Mapping[str, str], collections: VariableCollections) -> None:
    """Adds the variables of a layer, by the names of its attributes, to the collections of their kinds."""
    for attribute, kind in kinds.items():
        item = getattr(layer, attribute)
        if item is not None:
            for part in parts_of(item):
                for name in get_variable_collections(collections, kind) or ():
                    add_to_collection(current_graph(), name, part)


def finish_outputs(
    outputs: Tensor,
    name: str,
    collections: CollectionNames | None,
    activation_fn: Callable[[Any], Any] | None,
    normalizer_fn: Callable[..., Any] | None = None,
    normalizer_params: Mapping[str, Any] | None = None,
) -> Tensor:
    """The outputs of a layer, normalized, activated and collected."""
    if normalizer_fn is not None:
        outputs = normalizer_fn(outputs, **(normalizer_params or {}))
    if activation_fn is not None:
        outputs = activation_fn(outputs)
    return collect_named_outputs(collections, name, outputs)
